"""What a new run waits for: one run of a home trains at a time."""

import sqlite3
from functools import lru_cache

from groupwise.app.core import format
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry


def wait_sentence() -> str:
    """Which runs go first, in a sentence; "" where none does."""
    try:
        return _wait_sentence(str(paths.registry_path()), *registry.change_stamp())
    except (OSError, sqlite3.Error):
        return ""


@lru_cache(maxsize=4)
def _wait_sentence(registry_at: str, *stamp: int) -> str:
    """Read again only when the registry was written to: the page asks at every keystroke."""
    ahead = registry.list_runs(only={states.QUEUED, *states.LIVE}, curves=False)
    now = next((run for run in ahead if run.state in states.LIVE), None)
    queued = len(ahead) - (now is not None)
    if now is None:
        return f"It begins after the {format.plural(queued, 'run')} in the queue." if queued else ""
    more = f", and after the {format.plural(queued, 'run')} in the queue" if queued else ""
    return f"“{format.shorten(now.name, 60)}” is training now: this run begins when that has ended{more}."
