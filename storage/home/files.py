"""Small files written whole or not at all, files read as if an enemy had written them, and whether files were written
to.

What lies in a run's folder may have been copied from anywhere. All of it is read through `open_file`: a regular file
of that folder, never a link, a device, or a pipe that nobody writes to; and no more of it than it may have.
"""

import errno
import json
import os
import secrets
import stat
import time
from io import BufferedReader
from pathlib import Path
from typing import Any

from groupwise.storage.home.redaction import redact, redact_all, to_json

# Nanoseconds. The time of a file is that of the last tick of the kernel's clock: some milliseconds apart.
TICK = 20_000_000
MOST_JSON = 16 * 2**20  # bytes of a JSON file
Stamp = tuple[tuple[int, int, int] | None, ...]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader, or a crash, sees the old text or the new, never a part; without secrets."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("x", encoding="utf-8") as file:  # never through a link that someone had put there
            file.write(redact(text))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, as `write_whole` writes."""
    write_whole(path, to_json(value, indent=1))


class Reserved:
    """A small JSON file whose room on the disk is taken beforehand, so that it can be written when the disk is full.

    Raises OSError where not even that room is there.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path, self._draft = path, reserved_for(path)
        self._draft.unlink(missing_ok=True)
        with self._draft.open("xb") as file:
            file.write(b" " * size)
            file.flush()
            os.fsync(file.fileno())

    def write_json(self, value: Any) -> None:
        """Write the file, whole or not at all, where its room is. ASCII only: no text can fail to be encoded."""
        with self._draft.open("r+b") as file:
            file.write(json.dumps(redact_all(value), indent=1).encode("ascii"))
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        self._draft.replace(self._path)


def reserved_for(path: Path) -> Path:
    """Where the room of a Reserved file is kept until it is written."""
    return path.with_name(f".{path.name}.reserved")


def open_file(path: Path, *, follow: bool = False) -> BufferedReader:
    """A regular file, for reading. `follow`: it may be a link. Raises OSError, also for what is no file; nothing is
    waited for, whatever it is."""
    links = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file", str(path))
    return open(descriptor, "rb")


def read_bytes(path: Path, most: int) -> bytes:
    """The whole of a file. Raises OSError; EFBIG where it has more than `most` bytes."""
    with open_file(path) as file:
        found = file.read(min(most, os.fstat(file.fileno()).st_size) + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"larger than {most / 2**20:,.1f} MB", str(path))
    return found


def read_text(path: Path, most: int) -> str:
    """The whole of a text file. Raises OSError, and UnicodeDecodeError (a ValueError)."""
    return read_bytes(path, most).decode("utf-8")


def read_json(path: Path, most: int = MOST_JSON) -> Any | None:
    """The file's value, of any form (see storage.home.value_types); None where it is missing or not JSON (a copied or
    damaged folder)."""
    try:
        return json.loads(read_text(path, most))
    except (OSError, ValueError, RecursionError):
        return None


def exists(path: Path) -> bool:
    """Whether anything is there, be it a link that leads nowhere; False where nobody may look."""
    return os.path.lexists(path)


def is_file(path: Path) -> bool:
    """Whether a regular file is there, and no link; False where nobody may look."""
    return _is(path, stat.S_ISREG)


def is_folder(path: Path) -> bool:
    """Whether a folder is there, and no link; False where nobody may look."""
    return _is(path, stat.S_ISDIR)


def _is(path: Path, kind: Any) -> bool:
    try:
        return bool(kind(path.lstat().st_mode))
    except (OSError, ValueError):
        return False


def stamp(*paths: Path) -> Stamp | None:
    """What the disk says of these files and folders: something else as soon as one of them was written to.

    None just after a write, as the next one could leave the same time and size.
    """
    now = time.time_ns()
    found = tuple(_mark(path) for path in paths)
    return found if all(mark is None or now - mark[2] > TICK for mark in found) else None


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
