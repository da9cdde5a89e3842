"""What a process of ours prints, to a log that the operating system appends to: without secrets, and never a reason to
end.

No pipe and no reader in between, on which a training would depend. So what passes here is what Python prints, its
libraries included; what a library's C code, or a program that it starts, writes by itself is looked at once the process
has ended (`scrub`).
"""

import atexit
import contextlib
import errno
import io
import os
import re
import resource
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groupwise.storage.home import redaction

HELD = 8192  # bytes of a word that may go on in the next write
LINE_ENDS = (b"\n", b"\r")
SPACES = (*LINE_ENDS, b" ", b"\t")
GOES_ON = re.compile(rb"(?<=[\n\r])(?=[^\n\r])")  # where a line begins, in what goes on with one,
BEGINS = re.compile(rb"\A(?=[^\n\r])|(?<=[\n\r])(?=[^\n\r])")  # or begins with one
BLOCK = 1 << 20  # bytes of a log that are looked at together
MOST_HOLES = 100  # times as large as what it takes on the disk is no log, however well it is compressed there


def keep_secrets(name: str = "") -> None:
    """From now on nothing that this process prints shows a secret, and no crash leaves its memory on the disk. `name`
    begins each line of one process among several that print to the same log.

    What cannot be written (a full disk) is left out: nothing that prints may end a training.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for stream in ("stdout", "stderr"):
        held: Any = _Redacting(getattr(sys, f"__{stream}__").fileno(), name.encode())
        setattr(sys, stream, io.TextIOWrapper(held, encoding="utf-8", errors="backslashreplace", write_through=True))
        atexit.register(held.finish)
        os.register_at_fork(after_in_child=held.begin)


class _Redacting(io.BufferedIOBase):
    """Writes to a descriptor what is whole: a word that may go on is held until it ends, so that a secret which comes
    in pieces is still seen. With a name, a line is held, which then begins with it: lines of several processes do not
    mix."""

    def __init__(self, descriptor: int, name: bytes = b"") -> None:
        self._descriptor, self._name = descriptor, name
        self.begin()

    def begin(self) -> None:
        """Begin with nothing held: in a child process that is the parent's to write."""
        self._words, self._lock, self._lost = _Words(LINE_ENDS if self._name else SPACES), threading.RLock(), 0
        self._at_start = True

    def write(self, data: Any) -> int:
        with self._lock:
            self._write_or_count(self._words.take(bytes(data)))
        return len(data)

    def finish(self) -> None:
        """Write what is held."""
        with self._lock:
            self._write_or_count(self._words.rest())

    def _write_or_count(self, data: bytes) -> None:
        """Write it, or count what finds no room, to be said once there is some."""
        data = self._named(redaction.current().clean(data))
        if self._lost:
            note = f"\n… {self._lost:,} bytes could not be written here …\n".encode()
            self._lost = 0 if self._write_some(note) == len(note) else self._lost
        self._lost += len(data) - (0 if self._lost else self._write_some(data))

    def _named(self, data: bytes) -> bytes:
        """With the name at the beginning of each line in it, and of what a progress bar writes over a line."""
        if not self._name or not data:
            return data
        begins, self._at_start = BEGINS if self._at_start else GOES_ON, data.endswith(LINE_ENDS)
        return begins.sub(self._name, data)

    def _write_some(self, data: bytes) -> int:
        """How many of these bytes the file took."""
        done = 0
        with contextlib.suppress(OSError):
            while done < len(data):
                done += os.write(self._descriptor, data[done:])
        return done

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)


class _Words:
    """Bytes as they come, given on up to the last break between words, or lines."""

    def __init__(self, breaks: tuple[bytes, ...] = SPACES) -> None:
        self._held, self._breaks = b"", breaks

    def take(self, data: bytes) -> bytes:
        whole = self._held + data
        last = max(whole.rfind(space) for space in self._breaks)
        end = max(last + 1, len(whole) - HELD)
        self._held = whole[end:]
        return whole[:end]

    def rest(self) -> bytes:
        rest, self._held = self._held, b""
        return rest


def scrub(path: Path) -> bool:
    """Take the secrets out of a log that nobody writes to any more; whether there were any. The file is replaced whole,
    or not at all. Raises OSError, also for what is no log: a pipe, a device, or a file that is mostly a hole, of which
    there is no end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_HOLES * (found.st_blocks * 512 + BLOCK):
            raise OSError(errno.EINVAL, "it is no log", str(path))
        if all(_clean(block) is block for block in _blocks(file)):
            return False
        file.seek(0)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with draft.open("wb") as cleaned:
            cleaned.writelines(clean_blocks(file))
            cleaned.flush()
            os.fsync(cleaned.fileno())
    draft.replace(path)
    return True


def clean_blocks(file: Any) -> Iterator[bytes]:
    """All of a log that may still be written to, block by block and without secrets."""
    return map(_clean, _blocks(file))


def _clean(block: bytes) -> bytes:
    return redaction.current().clean(block)


def _blocks(file: Any) -> Iterator[bytes]:
    """All of a file, cut between words."""
    words = _Words()
    while data := file.read(BLOCK):
        if ready := words.take(data):
            yield ready
    if rest := words.rest():
        yield rest
