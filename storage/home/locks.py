"""POSIX locks on a file, or on one byte of it: held for a process's life, gone with it however it ends."""

import fcntl
import os
import struct
from pathlib import Path

_FLOCK = "hhqqi4x"  # struct flock on 64-bit Linux: type, whence, start, length, pid


def hold(path: Path, *, shared: bool = False, at: int | None = None) -> int | None:
    """Take the lock for as long as this process lives; its descriptor, or None when another process has it. `at`: only
    on the byte of this number, which need not be there.

    POSIX locks belong to the process: closing any descriptor of the file would drop it, so a holder must not
    open the file again (`is_held` is for other processes to ask).
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB, *_locked_range(at))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def is_held(path: Path, *, at: int | None = None) -> bool:
    """Whether some other process holds the lock, shared or not. Only asks: the lock is never taken."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        length, start = _locked_range(at)
        question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, question)
        return struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK
    finally:
        os.close(descriptor)


def _locked_range(at: int | None) -> tuple[int, int]:
    """(length, start) of what is locked; a length of 0 means all of the file."""
    return (0, 0) if at is None else (1, at)
