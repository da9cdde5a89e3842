"""What the Runs page changes: runs are stopped, deleted, restored and erased, and get names, notes and tags.

Each function takes `ids`, the runs it is about, and says of those that it could not change why.
"""

from collections.abc import Callable
from typing import Any

from groupwise.app.core import format, worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.ui.live import Payload, answer, text
from groupwise.app.ui.run_labels import LABELLERS, runs_asked, say_gone
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry, trash
from groupwise.storage.registry.commands import Refused

NAMED = 3  # of those that could not be changed


@answer
def stop_runs(payload: Payload) -> dict[str, Any]:
    """Ask the runs among `ids` that train or wait to stop; the others have ended already."""
    active = {run.id for run in registry.list_runs(only={states.QUEUED, *states.LIVE})}
    ids = [run_id for run_id in runs_asked(payload) if run_id in active]
    if not ids:
        raise Unanswerable("None of these runs trains or waits.")
    reply = _each(ids, lambda run_id: commands.ask_of_run(run_id, commands.STOP))
    worker_process.wake_worker()
    return reply


@answer
def delete_runs(payload: Payload) -> dict[str, Any]:
    """Delete the runs, for a day so that they can be restored."""
    return _each(runs_asked(payload), trash.delete_run)


@answer
def restore_runs(payload: Payload) -> dict[str, Any]:
    """Put deleted runs back. One that is put back already needs nothing more."""
    if text(payload, "called"):
        gone = say_gone(payload)
        if not gone.get("deleted"):
            return gone or {"done": 1, "runs": runs_asked(payload)}
    reply = _each(runs_asked(payload), trash.restore_run)
    if any(run.id in reply["runs"] for run in registry.list_runs(only={states.QUEUED}, curves=False)):
        worker_process.wake_worker()
    return reply


@answer
def erase_runs(payload: Payload) -> dict[str, Any]:
    """Remove deleted runs for good: their disk is free at once."""
    ids = runs_asked(payload)
    return {"done": trash.erase(set(ids)), "runs": ids}


def _each(ids: list[str], change: Callable[[str], None]) -> dict[str, Any]:
    """Change each run: how many were, which, and why the others were not. Raises Refused where none was."""
    done, refused = [], []
    for run_id in ids:
        try:
            change(run_id)
            done.append(run_id)
        except (Refused, ValueError) as reason:
            refused.append(str(reason))
    if not done:
        raise Refused(refused[0] if len(refused) == 1 else f"No run was changed. {_say_refused(refused)}")
    left = f"{format.plural(len(refused), 'run')} not changed. {_say_refused(refused)}" if refused else ""
    return {"done": len(done), "runs": done, "left": left}


def _say_refused(reasons: list[str]) -> str:
    """Why runs were not changed: the first of them, and how many more there are."""
    more = [f"{format.count(len(reasons) - NAMED)} more were not changed either."] if len(reasons) > NAMED else []
    return " ".join([*reasons[:NAMED], *more])


FUNCTIONS = (*LABELLERS, stop_runs, delete_runs, restore_runs, erase_runs)
