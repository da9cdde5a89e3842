"""The failures of one function, told of once each with how many completions they left without a score: thousands of
them are mostly alike, and only so many are told of."""

from collections.abc import Callable
from typing import Any

from groupwise.worker.questions.workbench.words import FAILED
from groupwise.worker.sandbox.results import Failure, Result

Place = Callable[[int | None], dict[str, Any]]  # where the completion of a row is found, or the whole call (None)


class AlikeFailures:
    """Of one call, or of several one after the other. `most`: how many different ones are told of; `trace`: characters
    of a traceback."""

    def __init__(self, most: int, trace: int) -> None:
        self._most, self._trace = most, trace
        self._told: dict[tuple[int | None, str], dict[str, Any]] = {}

    def add(self, result: Result, place: Place) -> None:
        """Count those of a call, each by the line and the message that it has in common with others."""
        for one in result.failures:
            key = one.line, one.message
            if key not in self._told and len(self._told) < self._most:
                self._told[key] = place(one.row) | {
                    "message": one.message, "line": one.line, "traceback": one.traceback[-self._trace :], "count": 0,
                }  # fmt: skip
            if key in self._told:
                self._told[key]["count"] += _unscored_by(one, result)

    def first_of_each(self) -> list[dict[str, Any]]:
        """The first of each kind, as storage.registry.messages has it."""
        return list(self._told.values())


def _unscored_by(failure: Failure, result: Result) -> int:
    """How many completions have no score for it: its own, or of the whole call those that did not fail by themselves;
    none where all were scored for all that."""
    if failure.row is not None:
        return 1
    own = {one.row for one in result.failures}
    return sum(status in FAILED and row not in own for row, status in enumerate(result.statuses))
