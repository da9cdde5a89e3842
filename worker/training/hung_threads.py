"""Whether a thread of this process hangs in a library that was given up: what libraries do at exit would hang, too."""

import os
import sys
import threading

_HUNG = threading.Event()


def note() -> None:
    """There is one."""
    _HUNG.set()


def leave_process(code: int) -> int:
    """The exit code; where a thread hangs the process is ended here and now instead."""
    if _HUNG.is_set():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
