"""The sandboxed process itself: gives up everything it does not need, then loads and calls reward functions.

Only the standard library, and little of it: each restart waits for these imports.
"""

from __future__ import annotations

import os
import resource
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from groupwise.worker.sandbox import contract, faults, landlock, seccomp, used_columns, wire

if TYPE_CHECKING:
    from groupwise.worker.sandbox.door import Door

Message = dict[str, Any]


def main(channel: int) -> None:
    """Serve on a socket's descriptor until it is closed. The first message says what to give up."""
    seccomp.die_with_parent()
    setup = _receive(channel)
    if setup is None:
        return
    door = _door(setup)
    _give_up(setup, door)
    faults.confined(setup["network"] is not None)
    sys.path += setup["paths"]
    if door is None:
        _send(channel, {"ready": True})
    else:
        door.hand_over(channel)
    if setup["script"] is not None:
        _receive(channel)  # the word to begin
        os.close(channel)
        _run_script(setup["script"])
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    _serve(channel)


def _door(setup: Message) -> Door | None:
    """Where functions with leave for the network find their proxy; None for those without."""
    if setup["network"] is None:
        return None
    from groupwise.worker.sandbox.door import Door  # here: it is slow to import, and most functions have no network

    return Door(**setup["network"])


def _give_up(setup: Message, door: Door | None) -> None:
    """Limits first, then files, then system calls: each step would be refused after the next."""
    limits = setup["limits"]
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]), (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, 256), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        resource.setrlimit(kind, (most, most))
    rules = setup["landlock"]
    if rules is None:  # in a namespace of one's own this counts only what is in there
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["threads"], limits["threads"]))
    else:
        landlock.drop_capabilities()
        seccomp.no_new_privileges()
        landlock.restrict(rules["abi"], rules["readable"], rules["writable"], door.port if door else None)
    seccomp.install(bytes.fromhex(setup["filter"]))


def _run_script(code: str) -> None:
    """Run a program as Python would, with this process's own standard streams, and exit as it does."""
    sys.argv[:] = ["main.py"]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    _show_source("main.py", code)
    try:
        exec(compile(code, "main.py", "exec"), module.__dict__)  # noqa: S102 — what this process is for
    except Exception as error:
        sys.stderr.write(faults.describe(error, source="main.py")["traceback"])
        raise SystemExit(1) from None


def _serve(channel: int) -> None:
    functions: dict[str, tuple[types.ModuleType, Callable[..., Any], dict[str, Any]]] = {}
    while (message := _receive(channel)) is not None:
        try:
            reply = _answer(message, functions)
        except BaseException as error:  # KeyboardInterrupt of the function's own, or no memory left
            reply = {**contract.failed(message.get("rows", 0), faults.describe(error)), "problem": None}
        _flush()
        _send(channel, {**reply, "call": message["call"]})


def _answer(message: Message, functions: dict[str, Any]) -> Message:
    if "code" in message:
        return _load(message, functions)
    return _score(message, functions) if "name" in message else {}  # else: whether the last question is done with


def _load(message: Message, functions: dict[str, Any]) -> Message:
    """Run a function's code once and find the function in it. {"problem": None, or what is wrong with it,
    "needs": see reach.needs}."""
    name, code, source = message["name"], message["code"], f"reward/{message['name']}.py"
    module = types.ModuleType("reward")
    module.__file__ = source
    sys.modules["reward"] = module
    _show_source(source, code)
    try:
        exec(compile(code, source, "exec"), module.__dict__)  # noqa: S102 — what this process is for
    except faults.CAUGHT as error:
        return {"problem": faults.describe(error, source=source)}
    function = module.__dict__.get(name)
    if not callable(function):
        return {"problem": {"row": None, "message": f"The code defines no function ‘{name}’.", "line": None}}
    functions[name] = (module, function, message["parameters"])
    return {"problem": None, "needs": used_columns.needs(function)}


def _score(message: Message, functions: dict[str, Any]) -> Message:
    module, function, parameters = functions[message["name"]]
    sys.modules["reward"] = module
    return contract.call(
        function, message["batch"], parameters, message["rows"], message["seconds"], message["withheld"]
    )


def _show_source(source: str, code: str) -> None:
    """Let tracebacks show the lines of code that lies in no file."""
    import linecache

    linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the function closed or replaced it: nothing more to show
            continue


def _receive(channel: int) -> Message | None:
    """The next message; None when Groupwise has closed the channel."""
    header = _read(channel, wire.HEADER)
    return None if header is None else wire.unpack(_read(channel, wire.length(header, wire.LARGEST_REQUEST)) or b"")


def _read(channel: int, count: int) -> bytes | None:
    received = bytearray()
    while len(received) < count:
        chunk = os.read(channel, min(count - len(received), 1 << 20))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


def _send(channel: int, message: Message) -> None:
    try:
        frame = wire.pack(message, wire.LARGEST_REPLY)
    except wire.NotAFrame:  # log_extra of much text, for very many completions
        frame = wire.pack({**message, "extras": {}}, wire.LARGEST_REPLY)
    left = memoryview(frame)
    while left:
        left = left[os.write(channel, left) :]
