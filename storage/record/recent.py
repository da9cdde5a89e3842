"""What “at the start”, “at its best” and “now” mean, everywhere: means of a few logged steps of the stage that trains.
The figures of a run's page, the diagnostics, the labels of charts, Runs, Compare and the command all say these.

TRL logs every `logging_steps` steps, what is measured of groups and of time is known of each: of the latter, all the
steps that one log tells of are one logged step (`values_a_log`), so that all figures are of the same steps."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import totals
from groupwise.storage.record.lineage import Part

RECENT = 10  # logged steps that “now” is the mean of
BEGINNING = 5  # and “at the start”: of a run with so few steps that it is told of at all, so that it never changes
NEEDED = 2 * RECENT  # values at an end of a curve that its figures are told by
# What only grows, is set, or is seldom measured: of these the last value is what they are now.
SINGLE = re.compile(r"(eval_.*|num_tokens|epoch|learning_rate|time/elapsed|rewards/.*/weight)$")
Steps = tuple[int, int]  # the first and the last of some steps


def window_of(count: int) -> int:
    """Of how many logged steps “now” is the mean where there are `count`: ten, or half of fewer than twenty, so that it
    never shares one with “at the start”."""
    return max(1, min(RECENT, count // 2))


def beginning_of(count: int) -> int:
    """Of how many logged steps “at the start” is the mean where there are `count`: five, or half of fewer than ten."""
    return max(1, min(BEGINNING, count // 2))


def values_a_log(steps: Sequence[float], interval: int) -> float:
    """How many of a metric's values, of these steps, are of one logged step, which is of `interval` steps
    (`log_interval`): 1 of all that TRL logs; 2.5 where every second step generates and every fifth is logged."""
    return max(1.0, interval / (_usual_gap(steps) or interval))


def values_of(logged: int, per: float) -> int:
    """How many values are of so many logged steps, `per` of each."""
    return max(1, int(per * logged + 0.5))


def _usual_gap(steps: Sequence[float]) -> float:
    """The median of the steps between one and the next, by the last of them; 0 of fewer than two."""
    gaps = sorted(later - earlier for earlier, later in pairwise(steps[-NEEDED:]))
    return gaps[len(gaps) // 2] if gaps else 0


def log_interval(run: Database, parts: Sequence[Part]) -> int:
    """Steps from one of TRL's logs to the next within these stretches (its logging_steps), by the last of them; 1 where
    there is none."""
    key = run.execute("SELECT id FROM metric_key WHERE name = 'reward'").fetchone()
    found = list[int]()
    for attempt, first, last in reversed(parts if key else []):
        found += [step for (step,) in run.execute(
            "SELECT step FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? ORDER BY step DESC LIMIT ?",
            [key[0], attempt, first, last, NEEDED - len(found)],
        )]  # fmt: skip
        if len(found) >= NEEDED:
            break
    return int(_usual_gap(found[::-1])) or (found[0] - max(1, parts[0][1]) + 1 if found else 1)


def mean_of_recent(values: Sequence[float], per: float = 1) -> float | None:
    """What a metric of these values (at least those of its last 20 logged steps, `per` of each) is now; None of
    none."""
    return _mean(values[-values_of(window_of(int(len(values) / per)), per) :]) if values else None


def now_of(name: str, values: Sequence[float], per: float = 1) -> float | None:
    """The same, but the last value of a metric that no mean says anything of."""
    return values[-1] if values and SINGLE.match(name) else mean_of_recent(values, per)


def now(run: Database, name: str, key: int | None, parts: Sequence[Part], interval: int) -> float | None:
    """What a metric is now within these stretches, in which TRL logs every `interval` steps; None where it has no
    finite value."""
    points = recent_points(run, key, parts, interval)
    if points and totals.TOTALS.match(name):
        return points[-1][1] + totals.find_added(run, name, parts).at(points[-1][0])
    return now_of(name, [value for _, value in points], values_a_log([step for step, _ in points], interval))


@dataclass(frozen=True)
class Course:
    """How a metric went, in the figures that are said of it: the means of the first `begin` logged steps (`start`) and
    of the last `count` (`now`), and `best`, the highest that `count` in a row came to; and the steps that those at the
    start (`began`) and those now (`ended`) are of: (0, 0) where they are not known."""

    start: float = 0.0
    best: float = 0.0
    now: float = 0.0
    count: int = 0
    begin: int = 0
    began: Steps = (0, 0)
    ended: Steps = (0, 0)


def course_of(values: Sequence[float], steps: Sequence[int] = (), per: float = 1) -> Course:
    """The course of a metric of which every value is known, `per` of each logged step; `steps`: of each."""
    size = min(len(values), values_of(window_of(int(len(values) / per)), per))
    means = [_mean(values[at : at + size]) for at in range(len(values) - size + 1)] if values else []
    return course_of_ends(values, values, means, steps, steps, per)


def course_of_ends(
    first: Sequence[float],
    last: Sequence[float],
    means: Iterable[float] = (),
    first_steps: Sequence[int] = (),
    last_steps: Sequence[int] = (),
    per: float = 1,
) -> Course:
    """The course of a metric whose first and last values (those of 20 logged steps, or all) and their steps are known,
    and of what is between the `means` of stretches of ten logged steps or more. `per`: values of each logged step."""
    if not first or not last:
        return Course()
    count, begin = window_of(int(len(first) / per)), beginning_of(int(len(first) / per))
    opening, closing = values_of(begin, per), values_of(count, per)
    start, now = _mean(first[:opening]), _mean(last[-closing:])
    spans = _spans(first_steps, last_steps, opening, closing) if first_steps and last_steps else ()
    return Course(start, max(start, now, *means), now, count, begin, *spans)


def _spans(first: Sequence[int], last: Sequence[int], begin: int, size: int) -> tuple[Steps, Steps]:
    """The steps that the first `begin` and the last `size` values tell of: each of all since the one before."""
    every = first[1] - first[0] if len(first) > 1 else first[0]
    opening = max(1, first[0] - every + 1)
    after = last[-size - 1] + 1 if len(last) > size else opening
    return (opening, first[min(begin, len(first)) - 1]), (after, last[-1])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def first_points(run: Database, key: int | None, parts: Sequence[Part], interval: int = 1) -> list[tuple[int, float]]:
    """The first finite values of a metric within these stretches with their steps, oldest first; as many as its figures
    need where TRL logs every `interval` steps."""
    return _end_points(run, key, parts, "ASC", interval)


def recent_points(run: Database, key: int | None, parts: Sequence[Part], interval: int = 1) -> list[tuple[int, float]]:
    """The same of the last."""
    return _end_points(run, key, parts[::-1], "DESC", interval)[::-1]


def _end_points(
    run: Database, key: int | None, parts: Sequence[Part], order: str, interval: int
) -> list[tuple[int, float]]:
    found = _points(run, key, parts, order, NEEDED)
    per = values_a_log(sorted(step for step, _ in found), interval)
    return found if per == 1 or len(found) < NEEDED else _points(run, key, parts, order, values_of(NEEDED, per))


def _points(run: Database, key: int | None, parts: Sequence[Part], order: str, count: int) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for attempt, first, last in parts:
        found += run.execute(
            "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            f"AND value IS NOT NULL AND abs(value) < 9e999 ORDER BY step {order} LIMIT ?",
            [key, attempt, first, last, count - len(found)],
        ).fetchall()
        if len(found) >= count:
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


def stage_steps(run: Database) -> list[int]:
    """The steps after which a run's later stages began, in their order."""
    found = run.execute("SELECT DISTINCT json_extract(data, '$.after') FROM event WHERE kind = 'stage'").fetchall()
    return sorted(after for (after,) in found if isinstance(after, int) and after > 0)


def since(parts: Sequence[Part], step: int) -> list[Part]:
    """What of these stretches comes after a step."""
    return [(attempt, max(first, step + 1), last) for attempt, first, last in parts if last > step]
