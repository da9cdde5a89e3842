"""How much the supervisor's helpers give way to a run: not at all where none trains, most while one is being loaded.

Each helper has a session of its own. Where Linux gives each session an equal share of the processors (autogroup, see
sched(7)), a process's niceness counts only among those of its session; the session has one of its own, which anyone
may set back. Elsewhere the processes' own counts, which only an administrator may set back: those get no more than
they can live with for good.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from groupwise.storage.record import states
from groupwise.storage.registry.registry import Run

# Measured beside two processes that keep two processors busy: 10 leaves a helper a tenth of one, 5 a fifth to a third.
LOADING = 10  # while someone who clicked on Launch waits for the first step
TRAINING = 5


def beside(ahead: Run | None) -> int:
    """The niceness of helpers beside the run that trains, or is about to."""
    if ahead is None:
        return 0
    return LOADING if ahead.state in (states.QUEUED, states.STARTING) else TRAINING


def set_of_session(leader: int, niceness: int) -> bool:
    """Give this niceness, beyond our own, to the session of a helper, which leads it; False where it is to be tried
    again. A helper that is gone is no error."""
    with contextlib.suppress(OSError):
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PGRP, leader, own + min(niceness, TRAINING))
    try:
        Path(f"/proc/{leader}/autogroup").write_text(str(niceness))
    except BlockingIOError:  # only an administrator may set several within a tenth of a second
        return False
    except OSError:
        return True  # it is gone, or sessions have no share here
    return True
