"""What the supervisor has done beside the runs, each in a thread: deleted runs are removed after a day, and what runs
came to is worked out once they have ended."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable

from groupwise.storage.analysis import outcome
from groupwise.storage.registry import trash

log = logging.getLogger("groupwise.supervisor")

ERASE_EVERY = 60.0  # seconds between looks for deleted runs that are a day old
JUDGE_EVERY = 1.0  # seconds between looks at runs that have ended, while there are some to look at


class Chores:
    """Looked after at each tick of the supervisor; no run waits for any of them."""

    def __init__(self) -> None:
        self.unjudged = True  # whether there may be ended runs of which it is not known what they came to
        self._eraser = Chore("eraser", ERASE_EVERY, self._erase)
        self._judge = Chore("judge", JUDGE_EVERY, self._work_out)

    def look(self) -> None:
        """Begin what is due."""
        self._eraser.begin_if_due()
        if self.unjudged:
            self._judge.begin_if_due()

    def _erase(self) -> None:
        found = trash.erase_old()
        if found:
            log.info("%d runs that were deleted a day ago were removed", found)

    def _work_out(self) -> None:
        self.unjudged = False  # before it looks: a run that ends meanwhile is looked at next time
        self.unjudged = outcome.work_out_some() or self.unjudged


class Chore:
    """Something that is done in a thread now and then, never twice at a time."""

    def __init__(self, name: str, every: float, does: Callable[[], None]) -> None:
        self._name, self._every, self._does = name, every, does
        self._thread: threading.Thread | None = None
        self._begun = -every

    def begin_if_due(self) -> None:
        """Begin it where it was not begun for so many seconds."""
        if time.monotonic() - self._begun < self._every or (self._thread is not None and self._thread.is_alive()):
            return
        self._begun = time.monotonic()
        self._thread = threading.Thread(target=self._do, name=self._name, daemon=True)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._does()
        except (sqlite3.Error, OSError) as error:
            log.warning("the %s could not do its work this time: %s", self._name, error)
