"""What becomes of reward functions that fail in training: an event each time something new happens, also where one has
not scored once in its first calls, and the end of the run where one only fails any more."""

from collections import Counter
from typing import Any

from groupwise.storage.record.step_record import Event
from groupwise.storage.spec.words.number_words import count_part, count_words
from groupwise.worker.data.source_rows import row_words
from groupwise.worker.training.scoring import Note

FAILED = ("error", "timeout")
TRACE = 8000  # characters of a traceback in an event
FIRST_CALLS = 5  # in which a function should have given a score to some completion


class Failures:
    """Counts failures over a run. `limit`: so many failed calls of one function in a row end the run;
    0: never."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reason: str | None = None
        self.at: dict[str, Any] = {}  # where a reward function failed that ends the run: its name and line
        self._in_a_row: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()  # calls, in a row or not
        self._said: Counter[tuple[str, int | None, str]] = Counter()
        self._unscored: dict[str, tuple[int, int]] = {}  # (calls, completions) of those that never scored yet
        self._scored: set[str] = set()

    def saw(self, notes: list[Note]) -> list[Event]:
        """The events to record of one call of each function; sets `reason` where that was one too many."""
        return [event for note in notes for event in (*self._note_events(note), *self._never_scored(note))]

    def _never_scored(self, note: Note) -> list[Event]:
        """Once, where a function that does not fail has given nothing but None since it was first called."""
        if note.function in self._scored:
            return []
        if "ok" in note.statuses or note.failures:
            self._scored.add(note.function)
            self._unscored.pop(note.function, None)
            return []
        calls, completions = self._unscored.get(note.function, (0, 0))
        self._unscored[note.function] = now = (calls + 1, completions + len(note.statuses))
        if now[0] != FIRST_CALLS:
            return []
        message = (
            f"{note.function} has not scored once: it gave None to all {count_words(now[1], 'completion')} "
            f"of its first {FIRST_CALLS} calls, so nothing is learned from it. Check the columns and parameters that "
            "it uses."
        )
        return [Event("warning", message, {"function": note.function})]

    def _note_events(self, note: Note) -> list[Event]:
        failed = sum(status in FAILED for status in note.statuses)
        if not failed and not note.failures:
            self._in_a_row[note.function] = 0
            return []
        first = note.failures[0] if note.failures else {"message": "It gave no reason."}
        went_on = self.reason is None
        self._count(note, failed, first)
        # The same failure at each of ten thousand steps is said 1, 2, 4, 8 … times, and when it ends the run.
        kind = (note.function, *failure_kind(first))
        self._said[kind] += 1
        times = self._said[kind]
        ends = went_on and self.reason is not None
        return [_event(note, failed, first, times)] if ends or times & (times - 1) == 0 else []

    def _count(self, note: Note, failed: int, first: dict[str, Any]) -> None:
        nothing = 0 < failed == len(note.statuses)
        self._in_a_row[note.function] = self._in_a_row[note.function] + 1 if nothing else 0
        self._failed[note.function] += failed > 0
        times = self._in_a_row[note.function]
        if self.limit and times >= self.limit and self.reason is None:
            self.at = {"function": note.function, "line": first.get("line") or 0}
            self.at["traceback"] = str(first.get("traceback") or "")[:TRACE]
            self.reason = (
                f"the reward function “{note.function}” failed in {_say_calls(self._failed[note.function], times)}: "
                f"{first['message'].rstrip('.')}. Fix it under Rewards, then start a new run from this one."
            )


def failure_kind(failure: dict[str, Any]) -> tuple[int | None, str]:
    """What makes two failures the same: the exception and its line. Its text may quote a completion, and differ each
    time."""
    line, message = failure.get("line"), str(failure["message"])
    return (line, message.partition(":")[0]) if line else (None, message)


def _say_calls(failed: int, in_a_row: int) -> str:
    """How many calls failed, of which the last ones in a row ended the run: events count all that failed alike."""
    calls = count_words(failed, "call")
    return f"{calls} in a row" if failed == in_a_row else f"{calls}, the last {in_a_row:,} in a row"


def _say_again(times: int, place: int | None) -> str:
    """How many calls have failed so by now; the row is that of the last of them alone."""
    if place is None:
        return f"{count_words(times, 'call')} failed like this."
    return f"The last of {count_words(times, 'call')} that failed like this was at {row_words(place)}."


def _event(note: Note, failed: int, first: dict[str, Any], times: int) -> Event:
    line = f", line {first['line']}" if first.get("line") else ""
    place = first.get("source_row")
    at_row = f", at {row_words(place)}" if place is not None else ""
    reason = f"{first['message'].rstrip('.')}{line}"
    again = f" {_say_again(times, place)}" if times > 2 else ""
    gave = (
        f"gave no score to {count_part(failed, len(note.statuses), 'completion')}" if failed else "gave its scores, but"
    )
    message = f"{note.function} {gave}: {reason}{at_row if times <= 2 else ''}.{again}"
    row, trace = first.get("row"), str(first.get("traceback") or "")[:TRACE]
    about = {"function": note.function, "row": row, "traceback": trace, "failed": failed, "error": reason + at_row}
    return Event("reward", message, about)
