"""Lines of our own in a run's log, between what its process prints: when it began, saved, was asked to stop, ended."""

import contextlib
import os
import re
import time
from pathlib import Path

from groupwise.storage.home import redaction
from groupwise.storage.record import states

NOTE = re.compile(r"— \d{4}-\d\d-\d\d [\d:]{8} (.*) —")
ERROR = "Error: "  # what a line begins with, behind the time, that tells of something that failed while it trained
ERROR_KINDS = {"reward"}  # of events: a reward function failed
_ENDS = tuple(states.LABELS[state] for state in (states.FAILED, states.KILLED, states.INTERRUPTED))


def note_text(said: str, kind: str = "") -> str:
    """Such a line, with the time: “— 2025-03-01 16:52:03 Checkpoint saved at step 10. —”. `kind`: that of the event
    that it tells of."""
    mark = ERROR if kind in ERROR_KINDS else ""
    return f"— {time.strftime('%Y-%m-%d %H:%M:%S')} {mark}{' '.join(said.split())} —"


def is_note(line: str) -> bool:
    """Whether a line of a log is one of these."""
    return NOTE.fullmatch(line) is not None


def is_error(line: str) -> bool:
    """Whether it is one that tells of an error: of a failure, or that the run ended by one (endings.end_words)."""
    found = NOTE.fullmatch(line)
    return found is not None and found[1].startswith((ERROR, *_ENDS))


def append_note(log: Path, said: str) -> None:
    """Append such a line to a log that a training process prints to as well, on a line of its own. Where there is no
    room for it, or no file to write to, it is left out: nothing hangs on it."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        descriptor = os.open(log, flags, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            cut_off = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            text = f"{note_text(said)}\n".encode("utf-8", "backslashreplace")
            os.write(descriptor, b"\n" * cut_off + redaction.current().clean(text))
        finally:
            os.close(descriptor)
