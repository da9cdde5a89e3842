"""What a new run waits for: one run of a home trains at a time."""

import sqlite3

from groupwise.app.core import format
from groupwise.app.core.until_written import until_written
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.registry import Run


def wait_sentence() -> str:
    """Which runs go first, in a sentence; "" where none does."""
    try:
        ahead = _runs_ahead()
    except (OSError, sqlite3.Error):
        return ""
    now = next((run for run in ahead if run.state in states.LIVE), None)
    queued = len(ahead) - (now is not None)
    if now is None:
        return f"It begins after the {format.plural(queued, 'run')} in the queue." if queued else ""
    more = f", and after the {format.plural(queued, 'run')} in the queue" if queued else ""
    return f"“{format.shorten(now.name, 60)}” is training now: this run begins when that has ended{more}."


@until_written
def _runs_ahead() -> list[Run]:
    return registry.list_runs(only={states.QUEUED, *states.LIVE}, curves=False)
