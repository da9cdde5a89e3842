"""What the command prints, without what would move, colour or turn round a terminal: names may hold anything."""

import contextlib
import errno
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from groupwise.storage.spec.words.unseen_signs import NAMES

# Control characters but tab and line feed, and the signs that turn the direction of text or draw nothing.
UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{''.join(NAMES)}]")


class OutputError(Exception):
    """What was printed could not be written; the message says why. `gone`: its reader has left, as `| head` does."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"Standard output could not be written: {error.strerror or error}.")
        self.gone = isinstance(error, BrokenPipeError)


class _Closed(io.StringIO):
    """Stands in for a stream that was closed before the command began: what is written fails as it is flushed."""

    def flush(self) -> None:
        """Raise OSError where anything was written."""
        if self.getvalue():
            raise OSError(errno.EBADF, "it is closed")


class _SafeStream:
    """A stream that writes each unsafe character as JSON does: \\u001b. Raises OutputError where it cannot write, or
    nothing if it is `optional`: an error that nobody can read ends no command."""

    def __init__(self, stream: Any, *, optional: bool) -> None:
        self._stream = _Closed() if stream is None else stream
        self._optional = optional

    def write(self, text: str) -> int:
        """Write it, made safe; the characters of the text."""
        with self._told():
            self._stream.write(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what waits."""
        with self._told():
            self._stream.flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._drop()
            if not self._optional:
                raise OutputError(error) from error

    def _drop(self) -> None:
        """Let all that waits go, and what comes: Python flushes at exit, where nobody would understand the error."""
        if isinstance(self._stream, _Closed):
            self._stream = io.StringIO()
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def safe_output() -> Iterator[None]:
    """For all that is printed meanwhile, also of errors in the arguments."""
    _hold_closed_numbers()
    out: Any = _SafeStream(sys.stdout, optional=False)
    errors: Any = _SafeStream(sys.stderr, optional=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield
        errors.flush()


def _hold_closed_numbers() -> None:
    """Keep the numbers of closed standard streams from files such as the registry, into which a child would print."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number that is free


def print_outcome(text: str, done: str) -> None:
    """Print what came of something that is done by now; `done`, on standard error, where that cannot be written: the
    command has not failed, and whoever repeats it would do it twice."""
    try:
        print(text, flush=True)
    except OutputError as error:
        print(f"groupwise: {done} {error}", file=sys.stderr)
