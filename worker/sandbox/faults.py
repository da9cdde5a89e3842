"""What went wrong inside a reward function, in words a person can act on. Standard library only."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

# sys.exit() is the function's failure too; Ctrl+C is not.
CAUGHT = (Exception, SystemExit, GeneratorExit)

LONGEST_MESSAGE = 600  # characters
LONGEST_TRACEBACK = 6000
WITH_TRACEBACK = 20  # failures of one call that keep theirs: a thousand rows mostly fail alike

# Where the sandbox said no, by the standard library's file that asked.
_REFUSALS = {
    "socket.py": "Reward functions have no network, unless ‘may use the network’ is on for this one.",
    "subprocess.py": "Reward functions cannot start processes.",
    "popen_fork.py": "Reward functions cannot start processes.",
    "popen_spawn_posix.py": "Reward functions cannot start processes.",
}


def describe(
    error: BaseException, function: Callable[..., Any] | None = None, source: str | None = None
) -> dict[str, Any]:
    """{"message", "line", "traceback"} of an exception. `line` is the deepest one in the function's own file (or the
    file named `source`); the traceback begins there and leaves out how Groupwise got to it."""
    source = source or _source_of(function)
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == source else _line(error, source)
    return {"row": None, "message": message_of(error), "line": line, "traceback": _traceback(error, source)}


def message_of(error: BaseException) -> str:
    """One or two sentences for a person."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"It needs the package ‘{package[:80]}’, which is not installed where reward functions run."
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SyntaxError):
        return f"It cannot be read as Python: {error.msg}."[:LONGEST_MESSAGE]
    hint = _hint(error)
    return f"{text[:LONGEST_MESSAGE]}{'. ' + hint if hint else ''}"


def shortened(failures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The failures of one call, of which only the first keep their traceback."""
    return [fault if at < WITH_TRACEBACK else {**fault, "traceback": ""} for at, fault in enumerate(failures)]


def _hint(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "It wanted more memory than a reward function may use."
    if isinstance(error, OSError):
        files = {frame.filename.rpartition("/")[2] for frame in traceback.extract_tb(error.__traceback__, limit=-8)}
        return next((hint for file, hint in _REFUSALS.items() if file in files), "")
    return ""


def _source_of(function: Callable[..., Any] | None) -> str | None:
    try:
        code = getattr(inspect.unwrap(function), "__code__", None) if function else None
    except ValueError:  # wrappers that go in circles
        return None
    return code.co_filename if code else None


def _line(error: BaseException, source: str | None) -> int | None:
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == source]
    return lines[-1] if lines else None


def _traceback(error: BaseException, source: str | None) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != source:
        trace = trace.tb_next
    if trace is None and not isinstance(error, SyntaxError):
        return ""
    try:
        text = "".join(traceback.format_exception(type(error), error, trace))
    except CAUGHT as second:  # an exception that cannot be printed
        return f"{type(error).__name__} (and while it was being shown: {type(second).__name__})"
    return text if len(text) <= LONGEST_TRACEBACK else f"{text[:2000]}\n…\n{text[-LONGEST_TRACEBACK + 2000 :]}"
