"""The side of the tests, in a sandbox of its own, which the model's code cannot reach: runs them and reports."""

import ast
import builtins
import importlib
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from groupwise.worker.sandbox.code_tests.line import Line
from groupwise.worker.sandbox.code_tests.remote import Remote
from groupwise.worker.sandbox.code_tests.subject import subject


def main() -> None:
    """Run the tests: {"tests", "entry_point", "line": the descriptor to the code's side} on standard input. Reports, a
    JSON object a line, go to standard output: how many tests there are, whether the other side lives, and of each test
    whether it passed."""
    job = json.load(sys.stdin)
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)  # what the tests print is no report

    def report(**said: object) -> None:
        print(json.dumps(said), file=reports)

    try:
        run_tests(Line(job["line"], everything=False), job, report)
    finally:
        os._exit(0)  # all that counts is said


def run_tests(line: Line, job: dict, report: Callable[..., None]) -> None:
    """Run each test and report on it. Raises EOFError where the code's side ends before it told its names, and
    SyntaxError for tests that are no Python."""
    parts = parts_of(job["tests"])
    report(tests=sum(counts for _, counts in parts))
    report(**{key: True for key in line.receive() if key == "alive"})
    space = space_of(line, job, line.receive()["names"])
    for part, counts in parts:
        passed = passes(part, space)
        if counts:
            report(passed=passed)


def space_of(line: Line, job: dict, names: dict) -> dict[str, Any]:
    """What the tests see: the names that the code defines, and Python's own but for the one that they test."""
    text, tested = str(job["tests"]), subject(job["tests"], job["entry_point"])
    known = {}
    for name in names:
        if name.isidentifier() and not name.startswith("__"):
            real = name in sys.stdlib_module_names and f"{name}." in text
            known[name] = name_of_code(line, {"module": name} if real else names[name])
    sys.modules["solution"] = types.ModuleType("solution")  # some tests import the code's names
    vars(sys.modules["solution"]).update(known)
    pythons = {name: value for name, value in vars(builtins).items() if name != tested}
    functions = [name for name in known if type(known[name]) is Remote]
    return {
        "__name__": "tests", "__builtins__": pythons,
        **{name: value for name, value in known.items() if name not in pythons},
        "candidate": known.get(job["entry_point"] or (functions or [""])[-1]),
    }  # fmt: skip


def name_of_code(line: Line, given: dict) -> Any:
    """A name of the code's as the tests see it: modules are fresh ones, errors are classes of the same kind."""
    if "module" in given:
        found: dict[str, Any] = {}
        named = all(part.isidentifier() for part in given["module"].split("."))
        return found["it"] if named and passes(f"import {given['module']} as it", found) else None
    if "error" in given:
        base = type(line.error({"raises": given["error"], "says": ""}))
        line.errors[given["error"][0]] = type(given["error"][0], (base,), {})
        return line.errors[given["error"][0]]
    return line.unpack(given["is"])


def parts_of(tests: list[str] | str) -> list[tuple[Any, bool]]:
    """The tests in parts, each with whether it counts as a test or prepares for others."""
    if isinstance(tests, list):
        return [(test, any(map(is_test, ast.parse(test).body))) for test in tests]
    body = ast.parse(tests).body
    if not any(map(is_test, body)):
        named = {each.name: each for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
        calls = [f"{name}()" for name in named if name.startswith("test")] or ["check(candidate)"] * ("check" in named)
        waits = {f"{name}(" for name, each in named.items() if isinstance(each, ast.AsyncFunctionDef)}
        calls = [f"await {call}" if call.startswith(tuple(waits)) else call for call in calls]
        body += [ast.parse(call).body[0] for call in calls]
    return [(ast.Module([each], []), is_test(each)) for each in body]


def is_test(statement: ast.stmt) -> bool:
    """Whether a statement asserts something, or calls what does."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Call, ast.Await))
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


def passes(part: Any, space: dict[str, Any]) -> bool:
    """Run one part of the tests; whether it went through."""
    try:
        code = compile(part, "tests", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        waits = eval(code, space)  # noqa: S307 – the row's tests, in a sandbox of their own
        if isinstance(waits, types.CoroutineType):
            importlib.import_module("asyncio").run(waits)
    except BaseException:
        return False
    return True
