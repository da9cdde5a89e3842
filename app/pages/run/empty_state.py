"""Why a part of a run's page that shows what the model wrote has nothing to show yet, or never will."""

from groupwise.app.pages.run.overview import WAITS
from groupwise.app.ui.live import say_missing_folder
from groupwise.storage.record import states
from groupwise.storage.registry import registry


def why_empty(run: registry.Run, mode: str, stored: str, ended: str, *, what: str = "group") -> str:
    """`stored`: what to say of a run that trained and has none in its record; `ended`: of one that ended before
    there was any."""
    if not run.folder.path.is_dir():
        return say_missing_folder(run)
    if mode == "eval" and run.state in states.ENDED:
        return "No held-out group was scored: this run had no evaluation (eval_strategy, data.holdout)."
    if mode == "eval":
        return "No held-out group has been scored yet: they come with each evaluation (eval_strategy, eval_steps)."
    if run.state in WAITS:
        return f"No {what} has been scored yet. {WAITS[run.state]}"
    return stored if run.step else ended
