"""Loads and calls reward functions in a sandboxed process, question by question."""

import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from groupwise.worker.sandbox import contract, faults, used_columns, wire
from groupwise.worker.sandbox.wire import Message


def serve_functions(channel: int, network: bool) -> None:
    """Answer on a socket's descriptor until it is closed. `network`: whether this process has leave for it."""
    faults.note_confinement(network)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    functions: dict[str, tuple[types.ModuleType, Callable[..., Any], dict[str, Any]]] = {}
    while (message := wire.receive(channel)) is not None:
        try:
            reply = _answer(message, functions)
        except BaseException as error:  # KeyboardInterrupt of the function's own, or no memory left
            reply = {**contract.failed_reply(message.get("rows", 0), faults.describe_fault(error)), "problem": None}
        _flush()
        _send(channel, {**reply, "call": message["call"]})


def _send(channel: int, message: Message) -> None:
    try:
        wire.send(channel, message)
    except wire.NotAFrame:  # log_extra of much text, for very many completions
        wire.send(channel, {**message, "extras": {}})


def _answer(message: Message, functions: dict[str, Any]) -> Message:
    if "code" in message:
        return _load(message, functions)
    return _score(message, functions) if "name" in message else {}  # else: whether the last question is done with


def _load(message: Message, functions: dict[str, Any]) -> Message:
    """Run a function's code once and find the function in it. {"problem": None, or what is wrong with it,
    "needs": see used_columns.needs}."""
    name, code, source = message["name"], message["code"], f"reward/{message['name']}.py"
    module = types.ModuleType("reward")
    module.__file__ = source
    sys.modules["reward"] = module
    # Tracebacks show the lines of code that lies in no file.
    linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)
    try:
        exec(compile(code, source, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 — what this process is for
    except faults.CAUGHT as error:
        return {"problem": faults.describe_fault(error, source=source)}
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


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the function closed or replaced it: nothing more to show
            continue
