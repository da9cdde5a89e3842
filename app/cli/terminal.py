"""What the command prints, without what would move, colour or turn round a terminal: names may hold anything."""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from groupwise.storage.spec.words.unseen_signs import NAMES

# Control characters but tab and line feed, and the signs that turn the direction of text or draw nothing.
UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{''.join(NAMES)}]")


class _SafeStream:
    """A stream that writes each unsafe character as JSON does: \\u001b."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write it, made safe; the characters of the text."""
        self._stream.write(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def safe_output() -> Iterator[None]:
    """For all that is printed meanwhile, also of errors in the arguments."""
    out: Any = _SafeStream(sys.stdout)
    errors: Any = _SafeStream(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield
