"""The side of the model's code, in a sandbox of its own: loads it, then does what the tests ask."""

import json
import os
import sys
import types
from typing import Any

from groupwise.worker.sandbox.code_tests.line import Line


def main() -> None:
    """Serve the tests until they are through: {"code", "line": the descriptor to them} on standard input."""
    job = json.load(sys.stdin)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    try:
        serve_tests(Line(job["line"], everything=True), job["code"])
    finally:
        os._exit(0)  # whatever the code still has to do


def serve_tests(line: Line, code: str) -> None:
    """Load the code as the module solution, tell its names, and answer. Raises EOFError when the tests have ended."""
    line.post({"alive": True})
    module = sys.modules["solution"] = types.ModuleType("solution")
    vars(module)["__loader__"] = Source(code)
    source = code.encode("utf-8", "replace")
    exec(compile(source, "solution.py", "exec", dont_inherit=True), vars(module))  # noqa: S102 – what this is for
    line.post({"names": {name: share_name(line, value) for name, value in vars(module).items()}})
    while True:
        line.post(line.answer(line.receive()))


class Source:
    """Where the code of the module is found by those who show it: it lies in no file."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get_source(self, name: str) -> str:
        """Give the code, as linecache asks for it."""
        return self.code


def share_name(line: Line, value: Any) -> Any:
    """How the tests get to know a name of the code's."""
    if isinstance(value, types.ModuleType):
        return {"module": value.__name__}
    if isinstance(value, type) and issubclass(value, Exception):
        return {"error": [kind.__name__ for kind in value.__mro__]}
    if isinstance(value, (list, tuple, dict, set, frozenset, str)) and len(repr(value)) > 10_000:
        value = iter(value)  # too much to hand over
    return {"is": line.pack(value)}
