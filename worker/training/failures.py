"""What becomes of reward functions that fail in training: an event each time something new happens, and the end of the
run where one scores nothing any more."""

from collections import Counter
from typing import Any

from groupwise.storage.record.step_record import Event
from groupwise.worker.training.scoring import Note

FAILED = ("error", "timeout")
TRACE = 8000  # characters of a traceback in an event


class Failures:
    """Counts failures over a run. `limit`: so many calls in a row in which a function scored nothing end the run;
    0: never."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reason: str | None = None
        self._in_a_row: Counter[str] = Counter()
        self._said: Counter[tuple[str, int | None, str]] = Counter()

    def saw(self, notes: list[Note]) -> list[Event]:
        """The events to record of one call of each function; sets `reason` where that was one too many."""
        return [event for note in notes for event in self._note_events(note)]

    def _note_events(self, note: Note) -> list[Event]:
        failed = sum(status in FAILED for status in note.statuses)
        if not failed and not note.failures:
            self._in_a_row[note.function] = 0
            return []
        first = note.failures[0] if note.failures else {"message": "It gave no reason."}
        self._count(note, failed, first["message"])
        # The same failure at each of ten thousand steps is said 1, 2, 4, 8 … times.
        kind = (note.function, *_failure_kind(first))
        self._said[kind] += 1
        times = self._said[kind]
        return [_event(note, failed, first, times)] if times & (times - 1) == 0 else []

    def _count(self, note: Note, failed: int, message: str) -> None:
        nothing = 0 < failed == len(note.statuses)
        self._in_a_row[note.function] = self._in_a_row[note.function] + 1 if nothing else 0
        times = self._in_a_row[note.function]
        if self.limit and times >= self.limit and self.reason is None:
            self.reason = (
                f"the reward function “{note.function}” scored nothing in {times} calls in a row: "
                f"{message.rstrip('.')}. Mend it under Rewards, then start a new run from this one."
            )


def _failure_kind(failure: dict[str, Any]) -> tuple[int | None, str]:
    """What makes two failures the same: the exception and its line. Its text may quote a completion, and differ each
    time."""
    line, message = failure.get("line"), str(failure["message"])
    return (line, message.partition(":")[0]) if line else (None, message)


def _event(note: Note, failed: int, first: dict[str, Any], times: int) -> Event:
    line = f", line {first['line']}" if first.get("line") else ""
    again = f" That makes {times} times." if times > 2 else ""
    gave = f"gave no score to {failed} of {len(note.statuses)} completions" if failed else "gave its scores, but"
    message = f"{note.function} {gave}: {first['message'].rstrip('.')}{line}.{again}"
    row, trace = first.get("row"), str(first.get("traceback") or "")[:TRACE]
    return Event("reward", message, {"function": note.function, "row": row, "traceback": trace, "failed": failed})
