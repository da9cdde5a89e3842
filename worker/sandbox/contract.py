"""The contract of a reward function, TRL's own: what it is called with, and what counts of its answer.

Only the standard library: the sandbox runs this file too.
"""

import inspect
import math
import reprlib
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from groupwise.worker.sandbox import faults

LARGEST = 1e9  # a score beyond this is a mistake: one such advantage would drown every other
BETWEEN = "a score lies between -1e9 and 1e9."
LONGEST_CELL = 4000  # characters of one value of log_extra
Reply = dict[str, Any]


def call(
    function: Callable[..., Any],
    batch: dict[str, Any],
    parameters: dict[str, Any],
    rows: int,
    seconds: float | None = None,
    withheld: dict[str, str] | None = None,
) -> Reply:
    """Score one batch and say for each of its `rows` completions what came of it. Never raises for what the function
    does.

    `batch` is column → list of length `rows`, plus optionally "trainer_state" (a dict becomes an object). Where the
    batch raises, each row is called alone, so that only the rows that raise have no score; `seconds` bounds that.
    `withheld` says why a column is not in the batch, for a function that asks for it.
    Returns {"values": [float | None], "statuses": ["ok" | "none" | "error"], "failures": [{row, message, line,
    traceback}], "extras": {column: [value]}, "metrics": {name: float}}. A failure may also name what touched no score
    (a `log_extra` of the wrong length).
    """
    started = time.monotonic()
    state = batch.get("trainer_state")
    if isinstance(state, dict):
        batch = {**batch, "trainer_state": SimpleNamespace(**state)}
    try:
        answer, logs = _ask(function, batch, parameters)
    except WrongArguments as error:
        reason = (withheld or {}).get(error.name)
        return failed_reply(
            rows, {"message": f"{error} {reason}" if reason else str(error), "line": faults.begins(function)}
        )
    except faults.CAUGHT as error:
        fault = faults.describe_fault(error, function)
    else:
        return _check_answer(answer, rows, logs)
    # Outside of the except: what a row raises alone would carry the batch's traceback with it.
    if rows == 1:
        return failed_reply(rows, fault)
    # A row alone may take as long as the batch did: one that would go over the time is not begun, for the whole call
    # would be ended, and its reason be lost.
    last = None if seconds is None else started + seconds - (time.monotonic() - started)
    return _each_alone(function, batch, parameters, rows, fault, last)


def failed_reply(rows: int, fault: dict[str, Any]) -> Reply:
    """No row of the call has a score, for one reason."""
    fault = {"row": None, "line": None, "traceback": "", **fault}
    return {
        "values": [None] * rows, "statuses": ["error"] * rows, "failures": [fault], "extras": {}, "metrics": {},
    }  # fmt: skip


class WrongArguments(Exception):
    """What the function asks for and what there is do not fit. The message is for a person."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class _Logs:
    """What one call gave to log_extra and log_metric."""

    def __init__(self) -> None:
        self.extras: dict[str, list[Any]] = {}
        self.metrics: dict[str, list[float]] = {}

    def log_extra(self, column: str, values: list[Any]) -> None:
        self.extras.setdefault(str(column), []).extend(_cell(value) for value in values)

    def log_metric(self, name: str, value: float) -> None:
        number = float(value)
        if math.isfinite(number):
            self.metrics.setdefault(str(name), []).append(number)


def _ask(function: Callable[..., Any], batch: dict[str, Any], parameters: dict[str, Any]) -> tuple[Any, _Logs]:
    logs = _Logs()
    given = {**batch, "log_extra": logs.log_extra, "log_metric": logs.log_metric}
    answer = function(**_arguments(function, given, parameters))
    if inspect.isawaitable(answer):
        answer = _await_answer(answer)
    return answer, logs


def _await_answer(answer: Any) -> Any:
    # Here: they would make each sandbox start 40 ms later, and most functions are not async.
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def whole() -> Any:
        return await answer

    try:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(whole())
        # Whoever calls is in a loop itself (a notebook, say), and a thread has one loop: another thread has this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, whole()).result()
    except asyncio.CancelledError as error:  # no Exception, so that nobody catches it by mistake
        raise RuntimeError("the function was cancelled while it waited") from error


def _arguments(function: Callable[..., Any], given: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """What of the batch the function takes, with its parameters over it. Raises WrongArguments."""
    try:
        signature = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # made in C: nobody knows
        return {**given, **parameters}
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature):
        names = {one.name for one in signature}
        for name in parameters:
            if name not in names:
                raise WrongArguments(name, f"It takes no parameter ‘{name}’.")
        given = {name: value for name, value in given.items() if name in names}
    chosen = {**given, **parameters}
    for one in signature:
        named = one.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if named and one.default is inspect.Parameter.empty and one.name not in chosen:
            raise WrongArguments(one.name, f"It takes ‘{one.name}’, which this data does not have.")
    return chosen


def _each_alone(
    function: Callable[..., Any],
    batch: dict[str, Any],
    parameters: dict[str, Any],
    rows: int,
    fault: dict[str, Any],
    last: float | None,
) -> Reply:
    """One call per row, none begun after `last`. Where no row raises alone, the fault was the batch's, and no row has a
    score."""
    replies, raised = [], False
    for row in range(rows):
        if last is not None and time.monotonic() > last:
            replies.append(failed_reply(1, fault))
            continue
        try:
            answer, logs = _ask(function, _row_of(batch, row, rows), parameters)
            replies.append(_check_answer(answer, 1, logs))
        except faults.CAUGHT as error:
            raised = True
            replies.append(failed_reply(1, faults.describe_fault(error, function)))
    return _join_replies(replies) if raised else failed_reply(rows, fault)


def _row_of(batch: dict[str, Any], row: int, rows: int) -> dict[str, Any]:
    return {
        name: [value[row]] if isinstance(value, list) and len(value) == rows else value for name, value in batch.items()
    }


def _join_replies(replies: list[Reply]) -> Reply:
    """The replies of single rows as one. A column of log_extra that a row did not give is None there."""
    failures = [{**fault, "row": row} for row, reply in enumerate(replies) for fault in reply["failures"]]
    columns = sorted({column for reply in replies for column in reply["extras"]})
    names = sorted({name for reply in replies for name in reply["metrics"]})
    metrics = {name: [reply["metrics"][name] for reply in replies if name in reply["metrics"]] for name in names}
    return {
        "values": [reply["values"][0] for reply in replies],
        "statuses": [reply["statuses"][0] for reply in replies],
        "failures": faults.shorten_tracebacks(failures),
        "extras": {column: [reply["extras"].get(column, [None])[0] for reply in replies] for column in columns},
        "metrics": {name: sum(values) / len(values) for name, values in metrics.items()},
    }


def _check_answer(answer: Any, rows: int, logs: _Logs) -> Reply:
    scores = _as_list(answer)
    if not isinstance(scores, list):
        message = f"It returned {_what(answer)}; a reward function returns a list with one score per completion."
        return failed_reply(rows, {"message": message})
    if len(scores) != rows:
        message = f"It returned {_count(len(scores), 'score')} for {_count(rows, 'completion')}."
        return failed_reply(rows, {"message": message})
    return _check_scores(scores, rows, logs)


def _check_scores(scores: list[Any], rows: int, logs: _Logs) -> Reply:
    values: list[float | None] = []
    statuses: list[str] = []
    failures: list[dict[str, Any]] = []
    for row, score in enumerate(scores):
        value, problem = _number(score)
        values.append(value)
        statuses.append("error" if problem else "none" if value is None else "ok")
        if problem:
            failures.append({"row": row, "message": problem, "line": None, "traceback": ""})
    extras, left_out = _fitting(logs.extras, rows)
    metrics = {name: sum(given) / len(given) for name, given in logs.metrics.items()}
    return {
        "values": values, "statuses": statuses, "failures": faults.shorten_tracebacks(failures) + left_out,
        "extras": extras, "metrics": {name: mean for name, mean in metrics.items() if math.isfinite(mean)},
    }  # fmt: skip


def _fitting(extras: dict[str, list[Any]], rows: int) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    """The columns of log_extra with one value per completion, and a failure for each of the others."""
    wrong = [
        f"log_extra(‘{column[:80]}’) got {_count(len(values), 'value')} for {_count(rows, 'completion')}: left out."
        for column, values in extras.items()
        if len(values) != rows
    ]
    fitting = {column: values for column, values in extras.items() if len(values) == rows}
    return fitting, [{"row": None, "message": message, "line": None, "traceback": ""} for message in wrong]


def _number(score: Any) -> tuple[float | None, str | None]:
    """A score as a float, None for "does not apply", or the problem with it in words."""
    if score is None:
        return None, None
    if isinstance(score, (str, bytes, complex)) or not hasattr(score, "__float__"):
        return None, f"It returned {_what(score)}; a score is a number, or None where it does not apply."
    try:
        number = float(score)
    except OverflowError:  # an integer of a thousand digits
        return None, f"It returned {_what(score)}; {BETWEEN}"
    except faults.CAUGHT:  # an array of several numbers
        return None, f"It returned {_what(score)}; a score is one number, or None where it does not apply."
    if not math.isfinite(number):
        return None, f"It returned {number}; a score is a finite number, or None where it does not apply."
    if abs(number) > LARGEST:
        return None, f"It returned {number:g}; {BETWEEN}"
    return number, None


def _as_list(answer: Any) -> Any:
    """A list as it is; a tuple, or what numpy and torch return, as a list."""
    if isinstance(answer, tuple):
        return list(answer)
    if not isinstance(answer, list) and hasattr(answer, "tolist"):
        try:
            return answer.tolist()
        except faults.CAUGHT:
            return answer
    return answer


def _cell(value: Any) -> Any:
    """A value of log_extra as something that a table can show."""
    if isinstance(value, str):
        return value[:LONGEST_CELL]
    if value is None or isinstance(value, bool):
        return value
    if hasattr(value, "__float__"):
        number, _ = _number(value)
        return int(value) if number is not None and isinstance(value, int) else number
    return str(value)[:LONGEST_CELL]


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def _what(value: Any) -> str:
    """A value and its type in words: "the text 'abc'", "3.5 (float)"."""
    try:
        shown = faults.without_addresses(_REPR.repr(value))
    except faults.CAUGHT:  # its own __repr__ raises
        shown = "something that cannot be shown"
    if isinstance(value, str):
        return f"the text {shown}"
    return "None" if value is None else f"{shown[:200]} ({type(value).__name__})"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
