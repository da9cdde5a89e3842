"""What becomes of reward functions that fail in training: an event each time something new happens, and the end of the
run where one scores nothing any more."""

from __future__ import annotations

from collections import Counter
from typing import Any

from storage.batch import Event
from worker.training.scoring import Note

FAILED = ("error", "timeout")
TRACE = 8000  # characters of a traceback in an event


class Failures:
    """Counts failures over a run. `limit`: so many calls in a row in which a function scored nothing end the run;
    0: never."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reason: str | None = None
        self._in_a_row: Counter[str] = Counter()
        self._said: Counter[tuple[str, str]] = Counter()

    def saw(self, notes: list[Note]) -> list[Event]:
        """The events to record of one call of each function; sets `reason` where that was one too many."""
        return [event for note in notes for event in self._of(note)]

    def _of(self, note: Note) -> list[Event]:
        failed = sum(status in FAILED for status in note.statuses)
        if not failed:
            self._in_a_row[note.function] = 0
            return []
        first = note.failures[0] if note.failures else {"message": "It gave no reason."}
        self._count(note, failed, first["message"])
        # The same failure at each of ten thousand steps is said 1, 2, 4, 8 … times.
        self._said[note.function, first["message"]] += 1
        times = self._said[note.function, first["message"]]
        return [_event(note, failed, first, times)] if times & (times - 1) == 0 else []

    def _count(self, note: Note, failed: int, message: str) -> None:
        self._in_a_row[note.function] = self._in_a_row[note.function] + 1 if failed == len(note.statuses) else 0
        times = self._in_a_row[note.function]
        if self.limit and times >= self.limit and self.reason is None:
            self.reason = (
                f"the reward function “{note.function}” scored nothing in {times} calls in a row: "
                f"{message.rstrip('.')}. Mend it under Rewards, then start a new run from this one."
            )


def _event(note: Note, failed: int, first: dict[str, Any], times: int) -> Event:
    line = f", line {first['line']}" if first.get("line") else ""
    again = f" This is its {times}th time." if times > 2 else ""
    message = (
        f"{note.function} gave no score to {failed} of {len(note.statuses)} completions: "
        f"{first['message'].rstrip('.')}{line}.{again}"
    )
    row, trace = first.get("row"), str(first.get("traceback") or "")[:TRACE]
    return Event("reward", message, {"function": note.function, "row": row, "traceback": trace, "failed": failed})
