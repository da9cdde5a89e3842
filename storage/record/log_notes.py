"""Lines of our own in a run's log, between what its process prints: when it began, saved, was asked to stop, ended."""

import contextlib
import os
import re
import time
from pathlib import Path

from groupwise.storage.home import redaction

NOTE = re.compile(r"— \d{4}-\d\d-\d\d [\d:]{8} .* —")


def note_text(said: str) -> str:
    """Such a line, with the time: “— 2025-03-01 16:52:03 Checkpoint saved at step 10. —”."""
    return f"— {time.strftime('%Y-%m-%d %H:%M:%S')} {' '.join(said.split())} —"


def is_note(line: str) -> bool:
    """Whether a line of a log is one of these."""
    return NOTE.fullmatch(line) is not None


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
