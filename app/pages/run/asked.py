"""What a run's page says from a wish of a person until the worker has taken it up."""

from collections.abc import Sequence

from groupwise.app.core import format, run_query
from groupwise.storage.record import checkpoint_files, states
from groupwise.storage.registry import commands, registry


def begins_at(run: registry.Run) -> int:
    """The step that a run goes on from which was asked to resume: the one that was chosen, or the newest whole
    checkpoint's; 0: it starts again."""
    chosen = next((one.step for one in reversed(commands.open_commands()) if one.run == run.id), None)
    newest = checkpoint_files.latest_sealed(run.folder.checkpoints)
    return chosen if chosen is not None else checkpoint_files.step_of(newest) if newest else 0


def meanwhile(
    run: registry.Run, busy: Sequence[registry.Run], pace: float | None, begins: int | None = None
) -> dict[str | None, tuple[str, str]]:
    """By what can be asked, the label and the sentence to show until the worker has taken it up. `begins`: the step
    that a resume goes on from, once it was asked."""
    if run.state == states.QUEUED:
        return {commands.STOP: ("Removing…", "Removing it from the queue…")}
    goes_on = _goes_on_words(run, begins) if run.state in states.RESUMABLE else ""
    takes = f" A step takes about {format.duration(pace, roughly=True)}." if pace else ""
    when = "after its first step" if run.state == states.STARTING else "at the end of this step"
    return {
        commands.STOP: ("Stopping", f"Stopping… It saves a checkpoint {when}.{takes}"),
        commands.KILL: ("Stopping", "Stopping now, without saving…"),
        commands.RESUME: (goes_on.partition(" from ")[0], f"{goes_on}… {run_query.turn_words(run, busy)}"),
    }


def _goes_on_words(run: registry.Run, begins: int | None) -> str:
    if begins:
        return f"Resuming from step {format.count(begins)}"
    # Which checkpoint it will be is chosen with the wish.
    is_to_choose = begins is None and checkpoint_files.latest_sealed(run.folder.checkpoints)
    return "Resuming" if is_to_choose else "Starting again"
