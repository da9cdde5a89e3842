"""Starts runs, and keeps a spare training process beside the supervisor, so that the next launch need not wait for
torch and TRL.

The spare is an optimisation: without it every run starts all the same, some seconds later. So it is started only when
nobody waits for the processors, and given up as soon as its memory could be missed.
"""

import logging
import subprocess
import time

from groupwise.storage.home import locks, paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages import facts
from groupwise.storage.registry.registry import Run
from groupwise.worker import niceness
from groupwise.worker.capabilities import hardware
from groupwise.worker.launchers import local
from groupwise.worker.launchers.spare import Spare

log = logging.getLogger("groupwise.supervisor")

# A spare holds 0.4 GB (RssAnon, measured with torch 2.13 for CPUs) that cannot be swapped in for a run. As much again
# is what a run of the starter model grows by after its imports. Twice both must be free to start one; where less than
# half of that is left, a run or another program is growing into what remains.
TO_START = 2 * 2**30  # bytes
TO_KEEP = 1 * 2**30
CALM = 20.0  # seconds for which a run has trained before another spare takes processor time from it
LOOK_EVERY = 1.0  # seconds between looks at memory and at who is there
PAUSE, LONGEST_PAUSE = 10.0, 600.0  # seconds before another is started where one ended unused; twice as many each time


class WarmStart:
    """Looked after at each tick of the supervisor. No error here may keep a run from being watched."""

    def __init__(self) -> None:
        self.spare: Spare | None = None
        self._looked_at = 0.0
        self._not_before = 0.0
        self._pause = PAUSE
        self._trains: tuple[str, int] | None = None  # the run (id, attempt) that was seen training, since `_since`
        self._since = 0.0
        self._to_park: int | None = None  # the session that is still to be given a low niceness
        self._to_free: int | None = None  # the one that is still to be given ours again

    def look(self, ahead: Run | None, busy: bool) -> None:
        """Start a spare, or give it up. `ahead`: the run that trains or is about to; `busy`: whether a helper of the
        supervisor works. Raises sqlite3.Error only."""
        self._set_niceness(ahead)
        self._note_training(ahead)
        if self.spare is not None and self.spare.becomes_ready():
            log.info("a spare training process is ready: process %d", self.spare.child.pid)
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = time.monotonic()
        if self.spare is not None:
            self._give_up_if_unwanted(self.spare)
        elif not busy and self._is_calm(ahead) and time.monotonic() > self._not_before and is_wanted(TO_START):
            self._start_spare(ahead)

    def begin(self, run: Run, tag: str, processes: int) -> subprocess.Popen[bytes]:
        """Start a run's process, in its folder and with its tag: of the spare, or cold. Raises OSError where none can
        be made."""
        return self._take_spare(run, tag, processes) or local.start(run.folder, tag, processes)

    def _take_spare(self, run: Run, tag: str, processes: int) -> subprocess.Popen[bytes] | None:
        """None where no spare is ready that fits. One that is not, or does not, is ended: it would only compete."""
        spare, self.spare, self._to_park = self.spare, None, None
        if spare is None:
            return None
        if not spare.ready or not spare.fits(tag, processes):
            spare.end()
            return None
        self._to_free = spare.child.pid
        self._set_niceness(run)
        if spare.give(run.id, tag):
            log.info("%s starts warm", run.id)
            self._pause = PAUSE
            return spare.child
        self._to_free = None
        log.info("the spare training process was stale or did not answer; %s starts cold", run.id)
        return None

    def end(self) -> None:
        """End the warm process, since the supervisor leaves."""
        if self.spare is not None:
            self.spare.end()
            self.spare = None

    def _start_spare(self, ahead: Run | None) -> None:
        self._not_before = time.monotonic() + PAUSE
        try:
            self.spare = Spare()
        except OSError as error:
            log.warning("no spare training process could be started: %s", error)
            return
        self._to_park = self.spare.child.pid
        self._set_niceness(ahead)

    def _give_up_if_unwanted(self, spare: Spare) -> None:
        """Give it up where it is not wanted any more; note where it has gone by itself."""
        if not spare.lives():
            log.info("the spare training process ended with code %d", spare.child.returncode)
        elif not is_wanted(TO_KEEP):
            log.info("the spare training process is given up: memory is short, or it is not wanted")
        else:
            return
        self.end()
        self._not_before = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _note_training(self, ahead: Run | None) -> None:
        """Since when the run ahead trains: from its first step on, which others may be waiting to see."""
        trains = ahead is not None and ahead.state == states.RUNNING and ahead.step > 0
        now = (ahead.id, ahead.attempt) if ahead is not None and trains else None
        if now != self._trains:
            self._trains, self._since = now, time.monotonic()

    def _is_calm(self, ahead: Run | None) -> bool:
        return ahead is None or (self._trains is not None and time.monotonic() - self._since > CALM)

    def _set_niceness(self, ahead: Run | None) -> None:
        """Until it is done: the system may refuse for a moment."""
        if self._to_park is not None and niceness.park(self._to_park, ahead):
            self._to_park = None
        if self._to_free is not None and niceness.unpark(self._to_free):
            self._to_free = None


def is_wanted(memory: int) -> bool:
    """Whether a spare is of use here: a dashboard is open, in which someone may click on Launch, nobody said that none
    is wanted, and this much memory (bytes) is free."""
    free = hardware.free_memory()
    enough = free is not None and free >= memory
    said = registry.read_fact(facts.WarmStart)
    return enough and locks.is_held(paths.app_lock()) and (said is None or said.wanted)
