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


def is_at(path: Path, descriptor: int) -> bool:
    """Whether the file that `hold` took the lock of is still the one of this path: a folder that was removed, moved or
    made anew leaves a lock that keeps nobody out."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def is_held(path: Path, *, at: int | None = None) -> bool:
    """Whether some other process holds the lock, shared or not. Only asks: the lock is never taken."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # asking needs no more, and the disk may be read-only
    except FileNotFoundError:
        return False
    try:
        return _blocking(descriptor, *_locked_range(at)) is not None
    finally:
        os.close(descriptor)


def bytes_held(path: Path) -> list[int]:
    """The numbers of the bytes that other processes hold the lock of, as `hold` takes it with `at`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    found, at = [], 0
    try:
        while (lock := _blocking(descriptor, 0, at)) is not None:
            length, start = lock
            found.append(max(start, at))
            if not length:  # up to the end, wherever that is
                break
            at = start + length
    finally:
        os.close(descriptor)
    return found


def _blocking(descriptor: int, length: int, start: int) -> tuple[int, int] | None:
    """The first lock of another process in this range: its (length, start). None where there is none."""
    question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    kind, _, begins, extent, _ = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    return None if kind == fcntl.F_UNLCK else (extent, begins)


def _locked_range(at: int | None) -> tuple[int, int]:
    """(length, start) of what is locked; a length of 0 means all of the file."""
    return (0, 0) if at is None else (1, at)
