"""What comes back from a call of a reward function, checked: a sandboxed process may answer anything."""

import math
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.home.redaction import redact, redact_all
from groupwise.worker.sandbox.contract import LARGEST

STATUSES = ("ok", "none", "error", "timeout")


@dataclass(frozen=True)
class Failure:
    """row: which completion of the batch, None for the whole call. line: in the function's own code, from 1."""

    row: int | None
    message: str
    line: int | None = None
    traceback: str = ""


@dataclass(frozen=True)
class Result:
    """One call. values: a score per completion, None without one. statuses: "ok", "none" (does not apply), "error" or
    "timeout" per completion. out: what it printed, capped. extras: log_extra's columns, a value per completion.
    metrics: log_metric's means. seconds: of wall time, the way to the sandbox and back included."""

    values: list[float | None]
    statuses: list[str]
    failures: list[Failure] = field(default_factory=list)
    out: str = ""
    extras: dict[str, list[Any]] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0


class NotAReply(Exception):
    """An answer that no call of ours gives."""


def check_reply(reply: dict[str, Any], rows: int, out: str, seconds: float) -> Result:
    """A reply of `contract.call` for so many rows, with nothing in it that may not leave this process. Raises
    NotAReply."""
    reply, out = redact_all(reply), redact(out)
    try:
        values, statuses = list(reply["values"]), list(reply["statuses"])
        failures = [_failure(fault, rows) for fault in reply["failures"]]
        extras = {str(name): list(column) for name, column in reply["extras"].items()}
        metrics = {str(name): float(mean) for name, mean in reply["metrics"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotAReply("a part is missing, or not what it should be") from error
    if len(values) != rows or len(statuses) != rows or not all(map(_fits, values, statuses)):
        raise NotAReply("scores that are not numbers")
    if any(len(column) != rows for column in extras.values()) or not all(map(math.isfinite, metrics.values())):
        raise NotAReply("logs that do not fit")
    return Result(values, statuses, failures, out, extras, metrics, seconds)


def failed_result(rows: int, status: str, failure: Failure, out: str = "", seconds: float = 0.0) -> Result:
    """No completion has a score, for one reason."""
    return Result([None] * rows, [status] * rows, [failure], redact(out), seconds=seconds)


def _fits(value: Any, status: Any) -> bool:
    if status == "ok":
        return isinstance(value, float) and math.isfinite(value) and abs(value) <= LARGEST
    return value is None and status in STATUSES


def _failure(fault: dict[str, Any], rows: int) -> Failure:
    row, line = fault.get("row"), fault.get("line")
    row = row if isinstance(row, int) and 0 <= row < rows else None
    return Failure(row, str(fault["message"]), line if isinstance(line, int) else None, str(fault.get("traceback", "")))
