"""Reward for code that passes the row's unit tests, each completion in fresh sandboxes of its own.

The model's code and the tests run in two sandboxes that share nothing but a line of JSON messages: the tests call the
model's functions from afar, get plain values back and compare those themselves. So code that exits, catches the
tests' errors, changes builtins, looks through the tests' frames or prints that all is well gains nothing: it has to
give the right values. What remains possible: to know the tests' values by heart, and to attack the kernel.

The sandbox is Groupwise's own, worker/sandbox. A run's folder has its source beside train.py, for where there is no
Groupwise.
"""

import concurrent.futures
import contextlib
import json
import os
import re
import socket
import threading
from typing import Any

NEEDS_SANDBOX = True
NEEDS_COLUMNS = ["column"]
LONGEST = 200_000  # characters of code
# What each side runs, told the rest on standard input.
PLAYER, TESTER = (
    f"from groupwise.worker.sandbox.code_tests.{role} import main\nmain()\n" for role in ("player", "tester")
)


def code_tests(
    completions: list,
    tests: list | None = None,
    entry_point: list | None = None,
    *,
    column: str = "tests",
    partial: bool = False,
    timeout: float = 10.0,
    memory: int = 1024,
    concurrency: int = 4,
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's Python code passes its row's tests, else 0.

    The code is the last fenced block, else the text of the last <answer>…</answer>, else all of the completion. The
    row's tests are a list of texts, each a test such as "assert add(1, 2) == 3", or one text: each statement with an
    assertion is a test, or each function test_…, or its function check(candidate), which gets the function that the
    row's entry_point names (as in HumanEval). A row without tests gets None. Tests see the names that the code
    defines. Of those that are Python's own (len, sum) they see only the one that they test: the entry_point, or where
    they call no function but Python's own, the one that all of them call. Async functions and tests work as in
    asyncio.run. What a function returns is compared as plain data; objects of the code's own classes can be used, but
    are never equal to plain data, unless they are a list, tuple, dict, set or enum, too. Needs a sandbox:
    without one, it refuses.

    Args:
        column: the column that holds the tests.
        partial: give the share of tests passed; false: all or nothing.
        timeout: seconds for all tests of one completion.
        memory: MiB that the code may use.
        concurrency: how many completions are tested at once; never more than there are cores.
    """
    given = tests if column == "tests" else kwargs.get(column)
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"column must name a column with tests; there is no {column!r}.")
    limits = {"timeout": (timeout, 3600), "memory": (memory, 1 << 20), "concurrency": (concurrency, 99)}
    for name, (value, most) in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
            raise ValueError(f"{name} must be more than 0 and at most {most}, not {value!r}.")
    points = entry_point or [None] * len(completions)
    rows = list(zip([code_in(text_of(each)) for each in completions], map(cases, given), points, strict=True))
    if any(wanted and code for code, wanted, _ in rows):
        require_sandbox()
    with concurrent.futures.ThreadPoolExecutor(max(1, min(int(concurrency), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda row: score(row[0], row[1], row[2], partial, float(timeout), int(memory)), rows))


def cases(tests: object) -> list[str] | str:
    """A row's tests: a list of texts, or one text. A text that is a JSON list is that list."""
    if isinstance(tests, str) and tests.lstrip().startswith("["):
        with contextlib.suppress(ValueError):  # Python may begin with a bracket, too
            tests = json.loads(tests)
    if isinstance(tests, (list, tuple)):
        return [str(test) for test in tests if str(test).strip()]
    return "" if tests is None else str(tests).strip()


def code_in(text: str) -> str:
    """The code of a completion."""
    lines = list(re.finditer(r"^[ \t]*```.*$", text, re.MULTILINE))
    if len(lines) >= 2:
        opening, closing = lines[len(lines) // 2 * 2 - 2 : len(lines) // 2 * 2]
        return text[opening.end() : closing.start()].strip("\n")
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        text = text[start + len("<answer>") : text.find("</answer>", start)]
    return text if text.strip() else ""


def score(code: str, wanted: Any, point: object, partial: bool, timeout: float, memory: int) -> float | None:
    """What one completion gets; None where there is nothing to test with."""
    if not wanted:
        return None
    if not code or len(code) > LONGEST:
        return 0.0
    reports = run(code, {"tests": wanted, "entry_point": str(point) if point else None}, timeout, memory)
    total = next((report["tests"] for report in reports if "tests" in report), 0)
    if not total or {"alive": True} not in reports:  # no tests in it, or a sandbox that never got under way
        return None
    passed = sum(report.get("passed") is True for report in reports)
    return passed / total if partial else float(passed == total)


def run(code: str, job: dict, timeout: float, memory: int) -> list[dict]:
    """What the tests report, line by line, up to their end or the time's; nothing where a sandbox did not start."""
    from groupwise.worker.sandbox import one_shot

    mine, theirs = socket.socketpair()
    limits = one_shot.Limits(memory=memory << 20, file=16 << 20, temporary=16 << 20, output=1 << 20)
    over = threading.Event()
    told = [json.dumps({**said, "line": line.fileno()}) for said, line in (({"code": code}, theirs), (job, mine))]
    said = ""
    with contextlib.suppress(one_shot.NoSandbox), mine, theirs, concurrent.futures.ThreadPoolExecutor(1) as beside:
        # The code's side ends with the tests' side, which may have started later.
        player = beside.submit(one_shot.run_fresh, PLAYER, told[0], limits, timeout + 60, line=theirs, stopped=over)
        try:
            said = one_shot.run_fresh(TESTER, told[1], limits, timeout, line=mine).out
        finally:
            over.set()
        player.result()
    return [json.loads(line) for line in said.splitlines() if line.startswith("{") and line.endswith("}")]


def require_sandbox() -> None:
    """Raises RuntimeError, with what to do, where there is no sandbox that works."""
    from groupwise.worker.sandbox import tiers

    try:
        tiers.choose_tier()
    except tiers.NoSandbox as error:
        raise RuntimeError(f"code_tests runs code that a model wrote only in a sandbox. {error}") from error


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
