"""What went wrong inside a reward function, in words a person can act on. Standard library only."""

import errno
import inspect
import re
import resource
import traceback
from collections.abc import Callable, Iterator
from typing import Any

# sys.exit() is the function's failure too; Ctrl+C is not.
CAUGHT = (Exception, SystemExit, GeneratorExit)

LONGEST_MESSAGE = 600  # characters
LONGEST_TRACEBACK = 6000
WITH_TRACEBACK = 20  # failures of one call that keep theirs: a thousand rows mostly fail alike

_NO_NETWORK = "Reward functions have no network, unless “may use the network” is on for this one."
_ONLY_THE_PROXY = (
    "Reward functions reach the network through Groupwise's proxy only, and this connection was made past it. What "
    "reads the environment variables http_proxy and https_proxy finds it by itself: urllib, requests, httpx."
)
_NO_PROCESSES = "Reward functions cannot start processes."
_NO_FILES = "Of this machine's files, reward functions can read only Python and its packages, and may change none."
_NO_ROOM = "It wrote more than a reward function may."

# Where the sandbox said no, by the standard library's file that asked.
_BY_FILE = {
    "subprocess.py": _NO_PROCESSES, "popen_fork.py": _NO_PROCESSES, "popen_spawn_posix.py": _NO_PROCESSES,
}  # fmt: skip
_BY_NUMBER = {
    errno.EPERM: f"{_NO_PROCESSES[:-1]}, nor touch processes and files that are not theirs.",
    errno.ENOENT: _NO_FILES, errno.EACCES: _NO_FILES, errno.EROFS: _NO_FILES,
    errno.EFBIG: _NO_ROOM, errno.ENOSPC: _NO_ROOM,
}  # fmt: skip
_ENVIRONMENT = ("os.py", "<frozen os>")
_LINKS = 8  # exceptions behind an exception that are looked at

# Whether this process is a sandbox, and one without network: anywhere else, a refusal has another reason.
_confined = _offline = False


def note_confinement(network: bool) -> None:
    """Note that this process is confined: from here on every refusal in this process is the sandbox's."""
    global _confined, _offline
    _confined, _offline = True, not network


def describe_fault(
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
    text = without_addresses("".join(traceback.format_exception_only(type(error), error)).strip())
    if isinstance(error, SyntaxError):
        return f"It cannot be read as Python: {error.msg}."[:LONGEST_MESSAGE]
    hint = _hint(error)
    return f"{text[:LONGEST_MESSAGE]}{'. ' + hint if hint else ''}"


def without_addresses(text: str) -> str:
    """The text without addresses in memory: the same failure is to read the same each time."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def begins(function: Callable[..., Any]) -> int | None:
    """The line on which a function begins."""
    code = _code_of(function)
    return code.co_firstlineno if code else None


def shorten_tracebacks(failures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The failures of one call, of which only the first keep their traceback."""
    return [fault if at < WITH_TRACEBACK else {**fault, "traceback": ""} for at, fault in enumerate(failures)]


def _hint(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return _out_of_memory()
    return next(filter(None, map(_refusal, _chain(error))), "") if _confined else ""


def _out_of_memory() -> str:
    """The limit, where this process is confined by one."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0] if _confined else resource.RLIM_INFINITY
    if most == resource.RLIM_INFINITY:
        return "It ran out of memory."
    return f"It ran out of memory: a reward function may use {most / 2**30:g} GiB."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those it came from: libraries wrap a refused connection in exceptions of their own."""
    for _ in range(_LINKS):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _refusal(error: BaseException) -> str:
    """What the sandbox does not let a function do, where that is what an exception tells; else nothing."""
    files = [frame.filename.rpartition("/")[2] for frame in traceback.extract_tb(error.__traceback__, limit=-8)]
    if isinstance(error, KeyError) and files and files[-1] in _ENVIRONMENT:
        return "Reward functions are given none of Groupwise's environment variables."
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "It has as many threads as a reward function may."
    if not isinstance(error, OSError):
        return ""
    if "socket.py" in files:
        return _NO_NETWORK if _offline else _ONLY_THE_PROXY
    by_file = next((hint for file, hint in _BY_FILE.items() if file in files), "")
    return by_file or _BY_NUMBER.get(error.errno or 0, "")


def _source_of(function: Callable[..., Any] | None) -> str | None:
    code = _code_of(function)
    return code.co_filename if code else None


def _code_of(function: Callable[..., Any] | None) -> Any:
    try:
        return getattr(inspect.unwrap(function), "__code__", None) if function else None
    except ValueError:  # wrappers that go in circles
        return None


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
