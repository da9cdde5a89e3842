"""How much the supervisor's helpers give way to a run: not at all where none trains, most while one is being loaded.

Each helper has a session of its own. Where Linux gives each session an equal share of the processors (autogroup, see
sched(7)), a process's niceness counts only among those of its session; the session has one of its own, which anyone
may set back. Elsewhere the processes' own counts, which only an administrator may set back: those get no more than
they can live with for good.
"""

import contextlib
import os
import resource
from pathlib import Path

from groupwise.storage.record import states
from groupwise.storage.registry.registry import Run

# Measured beside two processes that keep two processors busy: 10 leaves a helper a tenth of one, 5 a fifth to a third.
LOADING = 10  # while someone who clicked on Launch waits for the first step
TRAINING = 5
LOWEST = 19  # that there is: two hundredths of a processor, for what only gets ready for later beside a run
_CAP_SYS_NICE = 23  # the bit of it (capabilities(7))


def beside(ahead: Run | None) -> int:
    """The niceness of helpers beside the run that trains, or is about to."""
    if ahead is None:
        return 0
    return LOADING if ahead.state in (states.QUEUED, states.STARTING) else TRAINING


def set_of_session(leader: int, niceness: int) -> bool:
    """Give this niceness, beyond our own, to the session of a helper, which leads it; False where it is to be tried
    again. A helper that is gone is no error."""
    _set_of_processes(leader, os.getpriority(os.PRIO_PROCESS, 0) + min(niceness, TRAINING))
    return _set_share(leader, niceness)


def park(leader: int, ahead: Run | None) -> bool:
    """Give a session that was just begun, to get ready for later, a low niceness, as far as that can be taken back: the
    lowest beside a run. False where it is to be tried again."""
    niceness = LOADING if ahead is None else LOWEST
    if _may_take_back():
        _set_of_processes(leader, niceness)
    return _set_share(leader, niceness)


def unpark(leader: int) -> bool:
    """Give the one process of a parked session our own niceness again; False where it is to be tried again. Each of
    its threads has a niceness of its own, from the thread that began it."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{leader}/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), os.getpriority(os.PRIO_PROCESS, 0))
    return _set_share(leader, 0)


def _may_take_back() -> bool:
    """Whether we may give a process our own niceness after it had a lower one."""
    if resource.getrlimit(resource.RLIMIT_NICE)[0] >= 20 - os.getpriority(os.PRIO_PROCESS, 0):
        return True
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> _CAP_SYS_NICE & 1)


def _set_of_processes(leader: int, niceness: int) -> None:
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PGRP, leader, niceness)


def _set_share(leader: int, niceness: int) -> bool:
    """That of a whole session among the others; False where it is to be tried again."""
    try:
        Path(f"/proc/{leader}/autogroup").write_text(str(niceness))
    except BlockingIOError:  # only an administrator may set several within a tenth of a second
        return False
    except OSError:
        return True  # it is gone, or sessions have no share here
    return True
