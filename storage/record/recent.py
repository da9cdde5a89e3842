"""What “at the start”, “at its best” and “now” mean, everywhere: means of a few logged steps of the stage that trains.
The figures of a run's page, the diagnostics, the labels of charts, Runs, Compare and the command all say these.

TRL logs every `logging_steps` steps, and when it stops; what is measured of groups and of time is known of each step. A
logged step is the stretch from behind one log up to the next, and each value counts for the steps since the one before
it: so all figures are of the same steps, and a last log that tells of few counts for few."""

import bisect
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import totals
from groupwise.storage.record.lineage import Part

RECENT = 10  # logged steps that “now” is the mean of
BEGINNING = 5  # steps that “at the start” covers: few, so that it is soon there and never changes
NEEDED = 2 * RECENT  # values at an end of a curve that its figures are told by
ALL = 2**62  # values, or logged steps: more than there are
# What only grows, is set, or is seldom measured: of these the last value is what they are now.
SINGLE = re.compile(r"(eval_.*|num_tokens|epoch|learning_rate|beta|kl/target|time/elapsed|rewards/.*/weight)$")
Steps = tuple[int, int]  # the first and the last of some steps
Point = tuple[int, float]  # a value by its step
Logs = tuple[int, ...]  # the steps at which TRL logged, behind the step after which the first logged step began


@dataclass(frozen=True)
class Window:
    """Some logged steps in a row: the step after which they begin, the last step, and how many they are."""

    after: int
    until: int
    count: int


def window_of(count: int) -> int:
    """Of how many logged steps “now” is the mean where there are `count`: ten, or half of fewer than twenty, so that it
    never shares one with “at the start”."""
    return max(1, min(RECENT, count // 2))


def values_a_log(steps: Sequence[float], interval: int) -> float:
    """How many of a metric's values, of these steps, are of one logged step, which is of `interval` steps
    (`log_interval`): 1 of all that TRL logs; 2.5 where every second step generates and every fifth is logged."""
    return max(1.0, interval / (usual_gap(steps) or interval))


def usual_gap(steps: Sequence[float]) -> float:
    """The median of the steps between one and the next, by the last of them; 0 of fewer than two."""
    gaps = sorted(later - earlier for earlier, later in pairwise(steps[-NEEDED:]))
    return gaps[len(gaps) // 2] if gaps else 0


# ---- where logged steps begin and end ----
def last_logs(run: Database, parts: Sequence[Part], most: int = NEEDED) -> Logs:
    """The last logged steps within these stretches; nothing where there is none."""
    steps = _log_steps(run, parts[::-1], "DESC", most + 1)[::-1]
    return tuple(steps) if len(steps) > most else _from_beginning(parts, steps)


def first_logs(run: Database, parts: Sequence[Part]) -> Logs:
    """The first logged steps within these stretches; nothing where there is none."""
    return _from_beginning(parts, _log_steps(run, parts, "ASC", NEEDED))


def all_logs(run: Database, parts: Sequence[Part]) -> Logs:
    """Every logged step within these stretches; nothing where there is none."""
    return _from_beginning(parts, _log_steps(run, parts, "ASC", ALL))


def stage_logs(run: Database, parts: Sequence[Part], stages: Sequence[int], most: int) -> list[Logs]:
    """The logged steps within these stretches of each stage, of which the later begin after `stages`; nothing where
    they are more than `most`."""
    steps = _log_steps(run, parts, "ASC", most + 1)
    if len(steps) > most:
        return []
    begin = max(1, parts[0][1]) - 1
    edges = [bisect.bisect_right(steps, stage) for stage in stages]
    return [
        (max(begin, after), *steps[start:end])
        for after, start, end in zip((begin, *stages), (0, *edges), (*edges, len(steps)), strict=True)
    ]


def _from_beginning(parts: Sequence[Part], steps: Sequence[int]) -> Logs:
    return (max(1, parts[0][1]) - 1, *steps) if steps else ()


def _log_steps(run: Database, parts: Sequence[Part], order: str, most: int) -> list[int]:
    """The steps at which TRL logged, which are those of the reward: it is in every log."""
    key = run.execute("SELECT id FROM metric_key WHERE name = 'reward'").fetchone()
    found = list[int]()
    for attempt, first, last in parts if key else []:
        found += [step for (step,) in run.execute(
            f"SELECT step FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? ORDER BY step {order} "
            "LIMIT ?", [key[0], attempt, max(1, first), last, most - len(found)],
        )]  # fmt: skip
        if len(found) >= most:
            break
    return found


def log_interval(run: Database, parts: Sequence[Part]) -> int:
    """Steps from one of TRL's logs to the next within these stretches (its logging_steps), by the last of them; 1 where
    there is none."""
    return interval_of(last_logs(run, parts))


def interval_of(logs: Logs) -> int:
    """Steps that a logged step is usually of."""
    return int(usual_gap(logs[1:])) or (logs[1] - logs[0] if logs else 1)


def closing_of(logs: Logs) -> Window:
    """The logged steps that “now” is of; of values after the last of them TRL has logged nothing yet."""
    count = window_of(len(logs) - 1)
    return Window(logs[-1 - count], logs[-1], count)


def opening_of(logs: Logs) -> Window:
    """The logged steps that “at the start” is of: the fewest that cover five steps, or half of those that there are."""
    most = max(1, (len(logs) - 1) // 2)
    count = min(most, bisect.bisect_left(logs, logs[0] + BEGINNING, 1))
    return Window(logs[0], logs[count], count)


# ---- means of logged steps ----
def _weights(steps: Sequence[int], logs: Logs) -> list[int]:
    """Of how many steps each value tells: of those since the one before, but of no more than its logged step is of."""
    if not steps:
        return []
    place, before, found = bisect.bisect_left(logs, steps[0], 1, len(logs) - 1), min(logs[0], steps[0] - 1), list[int]()
    for step in steps:
        while logs[place] < step and place < len(logs) - 1:
            place += 1
        gap, room = step - before, logs[place] - logs[place - 1]
        found.append(gap if gap < room else room)
        before = step
    return found


def mean_of_window(points: Sequence[Point], logs: Logs, window: Window) -> float | None:
    """The mean of a metric over the steps of a window, of these values by their steps; None where it has none there."""
    begin, end = (bisect.bisect_right(points, edge, key=itemgetter(0)) for edge in (window.after, window.until))
    some, skipped = points[max(0, begin - 1) : end], min(1, begin)  # the one before says when the first of them begins
    weights = _weights([step for step, _ in some], logs)[skipped:]
    values = [value for _, value in some[skipped:]]
    if not values:
        return None
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def mean_of_all(points: Sequence[Point], logs: Logs) -> float | None:
    """The mean over the steps that these values tell of, with all logged steps that they are within; None of none."""
    if not points or not logs:
        return _mean([value for _, value in points]) if points else None
    return mean_of_window(points, logs, Window(logs[0], points[-1][0], len(logs) - 1))


def steps_now(steps: Sequence[int], logs: Logs = ()) -> Steps:
    """The first and the last of the steps that “now” is of, of a metric that has values at these."""
    if has_own_logs(steps, logs):
        return steps[-window_of(len(steps))], steps[-1]
    window = closing_of(logs)
    return window.after + 1, window.until


def has_own_logs(steps: Sequence[float], logs: Logs) -> bool:
    """Whether each value of a metric, of these steps, is a logged step of its own: before the first log, and where it
    comes more seldom than logs, or in none of the last."""
    if not logs:
        return True
    window = closing_of(logs)
    inside = bisect.bisect_right(steps, window.until) - bisect.bisect_right(steps, window.after)
    return not inside or usual_gap(steps) > interval_of(logs)


def mean_of_recent(points: Sequence[Point], logs: Logs = ()) -> float | None:
    """What a metric of these values by their steps (at least those of its last 20 logged steps) is now; None of
    none."""
    if not points:
        return None
    if has_own_logs([step for step, _ in points], logs):
        return _mean([value for _, value in points[-window_of(len(points)) :]])
    return mean_of_window(points, logs, closing_of(logs))


def now_of(name: str, points: Sequence[Point], logs: Logs = ()) -> float | None:
    """The same, but the last value of a metric that no mean says anything of."""
    return points[-1][1] if points and SINGLE.match(name) else mean_of_recent(points, logs)


def now(run: Database, name: str, key: int | None, parts: Sequence[Part], logs: Logs) -> float | None:
    """What a metric is now within these stretches, of which these are the last logged steps; None where it has no
    finite value."""
    points = recent_points(run, key, parts, logs)
    if points and totals.TOTALS.match(name):
        return points[-1][1] + totals.find_added(run, name, parts).at(points[-1][0])
    return now_of(name, points, logs)


@dataclass(frozen=True)
class Course:
    """How a metric went, in the figures that are said of it: the means of the first `begin` logged steps (`start`) and
    of the last `count` (`now`), and `best`, the highest that `count` in a row came to; and the steps that those at the
    start (`began`) and those now (`ended`) are of."""

    start: float = 0.0
    best: float = 0.0
    now: float = 0.0
    count: int = 0
    begin: int = 0
    began: Steps = (0, 0)
    ended: Steps = (0, 0)


def course_of(points: Sequence[Point], logs: Logs = ()) -> Course:
    """The course of a metric of which every value is known by its step, and every logged step."""
    if not points:
        return Course()
    steps, values = [step for step, _ in points], [value for _, value in points]
    if has_own_logs(steps, logs):
        count = window_of(len(values))
        means = [_mean(values[at : at + count]) for at in range(len(values) - count + 1)]
        return course_of_ends(points, points, means, logs, logs)
    return course_of_ends(points, points, _means_in_a_row(points, logs), logs, logs)


def _means_in_a_row(points: Sequence[Point], logs: Logs) -> list[float]:
    """The means of as many logged steps in a row as “now” is of, wherever there are any."""
    steps, count = [step for step, _ in points], window_of(len(logs) - 1)
    weights = _weights(steps, logs)
    sizes = list(accumulate(weights, initial=0))
    sums = list(accumulate((value * weight for (_, value), weight in zip(points, weights, strict=True)), initial=0.0))
    ends = [bisect.bisect_right(steps, log) for log in logs]
    spans = [(begin, end) for begin, end in zip(ends, ends[count:], strict=False) if begin < end]
    return [(sums[end] - sums[begin]) / (sizes[end] - sizes[begin]) for begin, end in spans]


def course_of_ends(
    first: Sequence[Point], last: Sequence[Point], means: Iterable[float] = (), opening: Logs = (), closing: Logs = ()
) -> Course:
    """The course of a metric whose first and last values are known (those of 20 logged steps, or all), and those logged
    steps; and of what is between the `means` of stretches of ten logged steps or more."""
    if not first or not last:
        return Course()
    own = has_own_logs([step for step, _ in last], closing)
    start, begin, began = _opening_figure(first, () if own else opening)
    if own:
        count = window_of(len(last))
        now, ended = _mean([value for _, value in last[-count:]]), _span_of_own(last, len(last) - count, len(last))
    else:
        window = closing_of(closing)
        count, ended = window.count, (window.after + 1, window.until)
        now = mean_of_window(last, closing, window) or 0.0
    return Course(start, max(start, now, *means), now, count, begin, began, ended)


def _opening_figure(first: Sequence[Point], logs: Logs) -> tuple[float, int, Steps]:
    """What a metric was at the start, of how many logged steps and of which steps that is; where it came later than
    these, of its own first values."""
    window = opening_of(logs) if logs else None
    start = mean_of_window(first, logs, window) if window else None
    if window and start is not None:
        return start, window.count, (window.after + 1, window.until)
    steps = [step for step, _ in first]
    begin = opening_of((steps[0] - _own_gap(steps), *steps)).count
    return _mean([value for _, value in first[:begin]]), begin, _span_of_own(first, 0, begin)


def _span_of_own(points: Sequence[Point], begin: int, end: int) -> Steps:
    """The steps that some of these values tell of, each of all since the one before."""
    steps = [step for step, _ in points]
    return steps[begin - 1] + 1 if begin else max(1, steps[0] - _own_gap(steps) + 1), steps[end - 1]


def _own_gap(steps: Sequence[int]) -> int:
    """Of how many steps the first of some values tells."""
    return steps[1] - steps[0] if len(steps) > 1 else steps[0]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


# ---- the values at the ends of a record ----
def first_points(run: Database, key: int | None, parts: Sequence[Part], logs: Logs = ()) -> list[Point]:
    """The first finite values of a metric within these stretches with their steps, oldest first; as many as its figures
    need where these are the first logged steps."""
    found = _points(run, key, parts, "ASC", NEEDED)
    until = opening_of(logs).until if logs else 0
    if len(found) < NEEDED or found[-1][0] >= until:
        return found
    return _points(run, key, parts, "ASC", until - logs[0])


def recent_points(run: Database, key: int | None, parts: Sequence[Part], logs: Logs = ()) -> list[Point]:
    """The same of the last."""
    found = _points(run, key, parts[::-1], "DESC", NEEDED)[::-1]
    after = closing_of(logs).after if logs else 2**62
    if len(found) < NEEDED or found[0][0] <= after:
        return found
    # with the one before them, which says of how many steps the first of them tells
    begin = after - int(usual_gap([step for step, _ in found]))
    return _points(run, key, since(parts, begin)[::-1], "DESC", parts[-1][2] - begin)[::-1]


def all_points(run: Database, key: int, parts: Sequence[Part]) -> list[Point]:
    """All finite values of a metric within these stretches with their steps, oldest first."""
    return _points(run, key, parts, "ASC", ALL)


def _points(run: Database, key: int | None, parts: Sequence[Part], order: str, count: int) -> list[Point]:
    found: list[Point] = []
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


def of_last_stage(run: Database, parts: Sequence[Part]) -> list[Part]:
    """What of these stretches is of the stage that trains, of which a run's figures are."""
    after, number = stage_began(run)
    return since(parts, after if number else -1)  # the evaluation before the first step, too
