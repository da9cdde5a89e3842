"""What “at the start”, “at its best” and “now” mean, everywhere: means of a few logged steps of the stage that trains.
The figures of a run's page, the diagnostics, the labels of charts, Runs, Compare and the command all say these."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groupwise.storage.home.sqlite_tools import Database

RECENT = 10  # logged steps that “now” is the mean of
BEGINNING = 5  # and “at the start”: of a run with so few steps that it is told of at all, so that it never changes
NEEDED = 2 * RECENT  # values at an end of a curve that its figures are told by
# What only grows, is set, or is seldom measured: of these the last value is what they are now.
SINGLE = re.compile(r"(eval_.*|num_tokens|epoch|learning_rate|time/elapsed|rewards/.*/weight)$")
Part = tuple[int, int, int]  # attempt, first step, last step
Steps = tuple[int, int]  # the first and the last of some steps


def window_of(count: int) -> int:
    """Of how many values “now” is the mean where there are `count`: ten, or half of fewer than twenty, so that it never
    shares one with “at the start”."""
    return max(1, min(RECENT, count // 2))


def beginning_of(count: int) -> int:
    """Of how many values “at the start” is the mean where there are `count`: five, or half of fewer than ten."""
    return max(1, min(BEGINNING, count // 2))


def mean_of_recent(values: Sequence[float]) -> float | None:
    """What a metric of these values (at least its last 20) is now; None of none."""
    return _mean(values[-window_of(len(values)) :]) if values else None


def now_of(name: str, values: Sequence[float]) -> float | None:
    """The same, but the last value of a metric that no mean says anything of."""
    return values[-1] if values and SINGLE.match(name) else mean_of_recent(values)


@dataclass(frozen=True)
class Course:
    """How a metric went, in the figures that are said of it: the means of the first `begin` logged values
    (`start`) and of the last `count` (`now`), and `best`, the highest that `count` in a row came to; and the steps
    that those at the start (`began`) and those now (`ended`) are of: (0, 0) where they are not known."""

    start: float = 0.0
    best: float = 0.0
    now: float = 0.0
    count: int = 0
    begin: int = 0
    began: Steps = (0, 0)
    ended: Steps = (0, 0)


def course_of(values: Sequence[float], steps: Sequence[int] = ()) -> Course:
    """The course of a metric of which every value is known; `steps`: of each."""
    size = window_of(len(values))
    rows = [values[at : at + size] for at in range(max(1, len(values) - size + 1))]
    return course_of_ends(values, values, [_mean(row) for row in rows], steps, steps) if values else Course()


def course_of_ends(
    first: Sequence[float],
    last: Sequence[float],
    means: Iterable[float] = (),
    first_steps: Sequence[int] = (),
    last_steps: Sequence[int] = (),
) -> Course:
    """The course of a metric whose first and last values (20 of each, or all) and their steps are known, and of what is
    between the `means` of stretches of ten values or more."""
    if not first or not last:
        return Course()
    size, begin = window_of(len(first)), beginning_of(len(first))
    start, now = _mean(first[:begin]), _mean(last[-size:])
    spans = _spans(first_steps, last_steps, begin, size) if first_steps and last_steps else ()
    return Course(start, max(start, now, *means), now, size, begin, *spans)


def _spans(first: Sequence[int], last: Sequence[int], begin: int, size: int) -> tuple[Steps, Steps]:
    """The steps that the first `begin` and the last `size` logged values tell of: each of all since the one before."""
    every = first[1] - first[0] if len(first) > 1 else first[0]
    opening = max(1, first[0] - every + 1)
    after = last[-size - 1] + 1 if len(last) > size else opening
    return (opening, first[begin - 1]), (after, last[-1])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def recent_values(run: Database, key: int | None, parts: Sequence[Part]) -> list[float]:
    """The last finite values of a metric within these stretches, oldest first; as many as its figures need."""
    return [value for _, value in recent_points(run, key, parts)]


def first_points(run: Database, key: int | None, parts: Sequence[Part]) -> list[tuple[int, float]]:
    """The first finite values of a metric within these stretches with their steps, oldest first; as many as its figures
    need."""
    return _end_points(run, key, parts, "ASC")


def recent_points(run: Database, key: int | None, parts: Sequence[Part]) -> list[tuple[int, float]]:
    """The same as `recent_values`, each with its step."""
    return _end_points(run, key, parts[::-1], "DESC")[::-1]


def _end_points(run: Database, key: int | None, parts: Sequence[Part], order: str) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for attempt, first, last in parts:
        found += run.execute(
            "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            f"AND value IS NOT NULL AND abs(value) < 9e999 ORDER BY step {order} LIMIT ?",
            [key, attempt, first, last, NEEDED - len(found)],
        ).fetchall()
        if len(found) >= NEEDED:
            break
    return found


def stage_began(run: Database) -> tuple[int, int]:
    """(the step after which the stage that trains now began, its number); (0, 0) in a run without stages."""
    row = run.execute(
        "SELECT json_extract(data, '$.after'), json_extract(data, '$.stage') FROM event WHERE kind = 'stage' "
        "ORDER BY id DESC LIMIT 1"
    ).fetchone()
    after, number = row or (0, 0)
    return (after, number) if isinstance(after, int) and isinstance(number, int) else (0, 0)


def since(parts: Sequence[Part], step: int) -> list[Part]:
    """What of these stretches comes after a step."""
    return [(attempt, max(first, step + 1), last) for attempt, first, last in parts if last > step]
