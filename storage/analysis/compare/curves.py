"""run.db, reading metrics to lay over those of other runs: few points of each, over steps, tokens, time or attempts."""

import bisect
import math
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from groupwise.storage.analysis.compare import smoothing
from groupwise.storage.analysis.compare.smoothing import Row
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, recent, totals
from groupwise.storage.record.lineage import Part
from groupwise.storage.record.rollup import SIZES

POINTS = 300  # of one line: about what a chart is wide
READ = 1000  # rows read for one line, of which the points are made
AXES = ("step", "tokens", "time", "attempt")
OF_AXIS = {"tokens": "num_tokens", "time": "time/elapsed"}
# attempt; x, y: the points; per: how many logged values one of them is the mean of, at most; a_log: how many of them
# are of one logged step; every: how many steps that is of; begins: the first points of later stages; of: how many
# points all of the line has where none of it is looked at closer; and where each point is one value and a logged step
# is of several, so that the last of them may be of fewer: steps, of each point; logs, the logged steps of the stage of
# the first point and of each that begins.
# upto: how many of the points the smoothed line has, which ends at the last log.
# Where a point is of several values: smooth, the smoothed ones, and logged, how many logged steps the last stage has
Line = dict[str, Any]
Span = tuple[float, float]  # from and to, on the axis
Scale = tuple[list[float], list[float]]  # steps, and where each is on the axis


class _Metric(NamedTuple):
    """A metric by its name and key, and what is to be added to its values, where it is a total."""

    name: str
    key: int
    add: totals.Added

    @staticmethod
    def of(run: Database, name: str, key: int, parts: Sequence[Part]) -> "_Metric":
        return _Metric(name, key, totals.find_added(run, name, parts))


class _Logged(NamedTuple):
    """When TRL logged within all of a line: every `interval` steps, and at these, of each stage, where a logged step is
    of several; the later stages begin after `stages`. `lately`: the last of them, with its `newest` logged steps."""

    interval: int
    stages: list[int]
    logs: list[recent.Logs]
    lately: list[Part]
    newest: recent.Logs

    @staticmethod
    def of(run: Database, every: Sequence[Part], stages: list[int]) -> "_Logged":
        interval, lately = recent.log_interval(run, every), recent.of_last_stage(run, every)
        logs = recent.stage_logs(run, every, stages, POINTS) if interval > 1 else []
        return _Logged(interval, stages, logs, lately, recent.last_logs(run, lately))

    def parts_of(self, points: Sequence[Row]) -> Line:
        """What a line of these points says of stages and logged steps: see Line."""
        steps = [step for step, _, _ in points]
        begins = [at for at in (bisect.bisect_right(steps, stage) for stage in self.stages) if 0 < at < len(steps)]
        found = {"begins": begins, "a_log": recent.values_a_log(steps, self.interval), "every": self.interval,
                 "upto": self.upto(steps)}  # fmt: skip
        if not self.logs or any(n > 1 for _, n, _ in points) or recent.usual_gap(steps) > self.interval:
            return found
        logs = [self.logs[bisect.bisect_left(self.stages, steps[at])] for at in (0, *begins)]
        return {**found, "steps": steps, "logs": logs}

    def upto(self, steps: Sequence[float]) -> int:
        """How many of these steps a smoothed line is drawn over: as “now” is of none behind the last log."""
        own = recent.has_own_logs(steps, self.newest)
        return len(steps) if own else bisect.bisect_right(steps, self.newest[-1])


def newest_seq(run: Database) -> int:
    """The number of the newest acknowledged row; 0 before there is one. What was read at this number is still right."""
    return run.execute("SELECT max(seq) FROM acknowledged").fetchone()[0] or 0


def keys_of(run: Database) -> dict[str, int]:
    """Every metric's name, with its key."""
    return dict(run.execute("SELECT name, id FROM metric_key").fetchall())


def read_curves(
    run: Database, names: Sequence[str], axis: str = "step", counting: list[Part] | None = None,
    span: Span | None = None,
) -> dict[str, list[Line]]:  # fmt: skip
    """The lines of these metrics, of those that have any: one of the run as it counts, or, over “attempt”, one of each
    attempt from its own beginning, what was trained over included.

    x is in steps, in tokens (TRL's num_tokens) or in seconds trained; a record without the metric that says so has
    no line over it, but for the time, which is then that between its rows. `counting`: lineage.stretches, where the
    caller has them already. `span`: only from here to there on the axis, and so the more finely; with the points before
    it that a smoothed line is about at its beginning, and the next one behind it, so that it is drawn across its end.
    """
    keys = keys_of(run)
    parts = _attempts(run) if axis == "attempt" else lineage.stretches(run) if counting is None else counting
    begun = _first_steps(run, parts) if axis == "attempt" else {}
    scale = _scale(run, keys, axis, parts)
    if scale is not None and not scale[0]:
        return {}
    every = parts
    if span is not None:
        parts = _clip_parts(parts, span, scale, begun)
        scale = _scale(run, keys, axis, every, parts)
    # of each line what is drawn, and all of it
    whole = [([part], _of_attempt(every, part[0])) for part in parts] if axis == "attempt" else [(parts, every)]
    size, stages = _size(parts), recent.stage_steps(run)
    lines = [(some, line, _Logged.of(run, line, stages)) for some, line in whole]
    found = {}
    for name in names:
        if name not in keys:
            continue
        drawn = [
            _line(run, _Metric.of(run, name, keys[name], line), some, size, scale, begun, line, logged)
            for some, line, logged in lines
        ]
        drawn = [line for line in drawn if line["x"]]
        if drawn:
            found[name] = drawn
    return found


def _attempts(run: Database) -> list[Part]:
    """Every attempt with all its steps."""
    found = []
    for attempt in reversed(lineage.attempts(run)):
        # apart, SQLite finds each of the two at once
        first, last = (
            run.execute(f"SELECT {which}(step) FROM acknowledged WHERE attempt = ?", [attempt]).fetchone()[0]
            for which in ("min", "max")
        )
        if first is not None:
            found.append((attempt, first, last))
    return found


def _of_attempt(parts: list[Part], attempt: int) -> list[Part]:
    return [part for part in parts if part[0] == attempt]


def _first_steps(run: Database, parts: list[Part]) -> dict[int, int]:
    """The step that each attempt began after."""
    known = lineage.begun_at(run)
    return {attempt: known.get(attempt, first - 1) for attempt, first, _ in parts}


def _clip_parts(parts: list[Part], span: Span, scale: Scale | None, begun: dict[int, int]) -> list[Part]:
    """What of these parts lies in a stretch of the axis, with the steps next to its ends that a scale knows."""
    low, high = span if scale is None else _steps_of(scale, span)
    ends = ((attempt, low + begun.get(attempt, 0), high + begun.get(attempt, 0)) for attempt, _, _ in parts)
    clipped = [
        (attempt, max(first, math.floor(from_)), min(last, math.ceil(to)))
        for (_, first, last), (attempt, from_, to) in zip(parts, ends, strict=True)
    ]
    return [part for part in clipped if part[1] <= part[2]]


def _steps_of(scale: Scale, span: Span) -> Span:
    """The steps around a stretch of a scale; where the run was never there, none."""
    steps, values = scale
    if span[1] < values[0] or span[0] > values[-1]:
        return 0, -1
    before, after = bisect.bisect_right(values, span[0]) - 1, bisect.bisect_left(values, span[1])
    return steps[max(0, before)], steps[min(after, len(steps) - 1)]


def _size(parts: Sequence[Part]) -> int:
    """Steps per row read: 1 while that is quick, else the smallest pre-computed bucket that is."""
    steps = sum(last - first + 1 for _, first, last in parts)
    return next((size for size in (1, *SIZES) if steps / size <= READ), SIZES[-1])


def _line(
    run: Database, metric: _Metric, parts: list[Part], size: int, scale: Scale | None,
    begun: dict[int, int], every: list[Part], logged: _Logged,
) -> Line:  # fmt: skip
    """A metric's points in these parts of a line, and beside them where it goes on; `every`: all that it has."""
    rows = [row for part in parts for row in _rows(run, metric, part, size)]
    before, after = _points_beside(run, metric, rows, parts, size, every) if parts else ([], [])
    groups = [*([one] for one in before), *_put_together(rows, POINTS), *([one] for one in after)]
    groups = groups if rows or (before and after) else []
    points = [_merge_rows(some) for some in groups]
    start = begun.get(parts[0][0], 0) if parts else 0
    x = [step - start if scale is None else axis_value(scale, step) for step, _, _ in points]
    return {
        "attempt": parts[-1][0] if parts else 0,
        "x": [_six_digits(value) for value in x],
        "y": [_six_digits(total / n) for _, n, total in points],
        "per": max((n for _, n, _ in points), default=1),
        **(logged.parts_of(points) if points else {}),
        **(_smoothed(run, metric, groups, logged, ends=not after and parts[-1] == every[-1]) if points else {}),
        "of": len(points) if parts == every else _points_of_all(run, metric, every),
    }


def _smoothed(
    run: Database, metric: _Metric, groups: list[Sequence[Row]], logged: _Logged, *, ends: bool
) -> Line:  # fmt: skip
    """What a line whose points are of these rows says of its smoothed one: see Line. `ends`: whether it is drawn to its
    end, which is the run's figure then."""
    if recent.SINGLE.match(metric.name) or all(len(some) == 1 == some[0][1] for some in groups):
        return {}
    values, count = smoothing.smooth_points(groups, logged.stages, logged.interval)
    figure = recent.now(run, metric.name, metric.key, logged.lately, logged.newest) if ends else None
    upto = logged.upto([step for step, _, _ in map(_merge_rows, groups)])
    drawn = values[:upto] if figure is None else [*values[: upto - 1], figure]
    return {"smooth": [*map(_six_digits, drawn), *[None] * (len(values) - upto)], "logged": count}


def _points_of_all(run: Database, metric: _Metric, every: list[Part]) -> int:
    """How many points all of a line has."""
    size = _size(every)
    return len(thin([row for part in every for row in _rows(run, metric, part, size)], POINTS))


def _points_beside(
    run: Database, metric: _Metric, rows: list[Row], parts: list[Part], size: int, every: list[Part]
) -> tuple[list[Row], list[Row]]:
    """The metric's points before these parts of `every` one, and its first behind them, if its rows there do not reach
    that end."""
    last = parts[-1][2]
    after = [] if rows and last - rows[-1][0] < size else _end_point(run, metric, _parts_after(every, parts[-1]), "ASC")
    past = _parts_before(every, parts[0])
    return _lead(run, metric, rows, parts, size, past) or _end_point(run, metric, past, "DESC"), after


def _lead(run: Database, metric: _Metric, rows: list[Row], parts: list[Part], size: int, past: list[Part]) -> list[Row]:
    """As many points as a line has at most, of the past of these parts and as coarse as theirs: what is smoothed
    there begins with them, and has the value that it has where all of the line is in sight."""
    if not rows:
        return []
    together = math.ceil(len(rows) / POINTS)
    steps = sum(last - first + 1 for _, first, last in parts)
    wanted = math.ceil(POINTS * together * steps / len(rows))
    near: list[Part] = []
    for attempt, first, last in reversed(past):
        if wanted <= 0:
            break
        near.insert(0, (attempt, max(first, last - wanted + 1), last))
        wanted -= last - first + 1
    found = [row for part in near for row in _rows(run, metric, part, size)]
    odd = len(found) % together  # whose point would be of fewer than the others
    return [_merge_rows(found[begin : begin + together]) for begin in range(odd, len(found), together)]


def _end_point(run: Database, metric: _Metric, parts: list[Part], order: str) -> list[Row]:
    """The first point in these parts (“ASC”) or the last (“DESC”), if there is one."""
    for part in parts if order == "ASC" else reversed(parts):
        rows = run.execute(
            "SELECT step, 1, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            f"AND abs(value) < 9e999 ORDER BY step {order} LIMIT 1",
            [metric.key, *part],
        ).fetchall()
        if rows:
            return [(step, n, value + metric.add.at(step)) for step, n, value in rows]
    return []


def _rows(run: Database, metric: _Metric, part: Part, size: int) -> list[Row]:
    """What one attempt contributes, in buckets while they lie within it, then as it was logged; a total counted on, and
    without the points of it that are of before and after a new beginning."""
    rows = _logged_rows(run, metric.key, part, size)
    if not metric.add.steps:
        return rows
    known = (row for row in rows if size == 1 or not metric.add.is_mixed(row[0], size))
    return [(step, n, total + n * metric.add.at(step)) for step, n, total in known]


def _logged_rows(run: Database, key: int, part: Part, size: int) -> list[Row]:
    attempt, first, last = part
    rows: list[Row] = []
    start = first
    if size > 1:
        buckets = run.execute(
            "SELECT bucket, n, total FROM rollup WHERE size = ? AND key = ? AND attempt = ? "
            "AND bucket >= ? AND bucket < ? ORDER BY bucket",
            [size, key, attempt, first // size, (last + 1) // size],
        ).fetchall()
        logged = sum(n for _, n, _ in buckets)
        if logged > min(READ, (last - first + 1) // 2):  # what is logged seldom stands at its own steps
            rows = [(max(first, number * size + size // 2), n, total) for number, n, total in buckets]
            start = max(first, (buckets[-1][0] + 1) * size)
    raw = run.execute(
        "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? AND value IS NOT NULL "
        "ORDER BY step",
        [key, attempt, start, last],
    )
    newest = [(step, 1, value) for step, value in raw if math.isfinite(value)]
    if not rows:
        return newest
    # As many steps together as before, or the end of the line would look wilder than the rest
    together = (list(some) for _, some in groupby(newest, key=lambda row: row[0] // size))
    return rows + [_merge_rows(some) for some in together]


def thin(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows: neighbours are put together, and keep the sum of what they are the mean of."""
    return [_merge_rows(some) for some in _put_together(rows, most)]


def _put_together(rows: Sequence[Row], most: int) -> list[Sequence[Row]]:
    together = math.ceil(len(rows) / most) or 1
    return [rows[begin : begin + together] for begin in range(0, len(rows), together)]


def _merge_rows(rows: Sequence[Row]) -> Row:
    if len(rows) == 1:
        return rows[0]
    weighted, count, together = 0.0, 0, 0.0
    for step, n, total in rows:
        weighted, count, together = weighted + step * n, count + n, together + total
    return weighted / count, count, together


def _scale(
    run: Database, keys: dict[str, int], axis: str, parts: list[Part], closer: Sequence[Part] = ()
) -> Scale | None:
    """Steps and what they are on the axis; None where the axis is the steps themselves.

    `closer`: what of the parts is looked at more closely. What came before it is read as coarsely as ever, as a scale
    is right only from its beginning on; and what comes behind it, where the next point of a line may be.
    """
    name = OF_AXIS.get(axis)
    if name is None:
        return None
    if name not in keys and axis != "time":
        return [], []
    pieces = [(part, _size(parts)) for part in (_parts_before(parts, closer[0]) if closer else parts)]
    pieces += [(part, _size(closer)) for part in closer]
    pieces += [(part, _size(parts)) for part in (_parts_after(parts, closer[-1]) if closer else [])]
    if name not in keys:
        return rising(_seconds_by_clock(run, pieces))
    metric = _Metric.of(run, name, keys[name], parts)
    rows = (row for part, width in pieces for row in _rows(run, metric, part, width))
    return rising([(step, total / n) for step, n, total in rows])


def _parts_before(parts: list[Part], begin: Part) -> list[Part]:
    """What of the parts lies before one that begins within them."""
    before = parts[: next(place for place, part in enumerate(parts) if part[0] == begin[0]) + 1]
    attempt, first, _ = before.pop()
    return [*before, (attempt, first, begin[1] - 1)] if first < begin[1] else before


def _parts_after(parts: list[Part], end: Part) -> list[Part]:
    """What of the parts lies behind one that ends within them."""
    place = next(place for place, part in enumerate(parts) if part[0] == end[0])
    attempt, _, last = parts[place]
    return [*([(attempt, end[2] + 1, last)] if end[2] < last else []), *parts[place + 1 :]]


def _seconds_by_clock(run: Database, pieces: list[tuple[Part, int]]) -> list[tuple[float, float]]:
    """Seconds since the first step, by the clock, of a record that has no time/elapsed; a row of so many steps."""
    rows: list[tuple[float, float]] = []
    for (attempt, first, last), every in pieces:
        rows += run.execute(
            "SELECT step, at FROM acknowledged WHERE attempt = ? AND step BETWEEN ? AND ? AND (step - ?) % ? = 0 "
            "ORDER BY step",
            [attempt, first, last, first, every],
        ).fetchall()
    return [(step, when - rows[0][1]) for step, when in rows]


def rising(rows: Sequence[tuple[float, float]]) -> Scale:
    """A scale that never falls, also where a clock was set back."""
    return [step for step, _ in rows], list(accumulate((value for _, value in rows), max))


def axis_value(scale: Scale, step: float) -> float:
    """Where a step is on the scale, between the two steps that are known next to it."""
    steps, values = scale
    place = bisect.bisect_left(steps, step)
    if place == len(steps):
        return values[-1]
    if place == 0 or steps[place] == step:
        return values[place]
    left, right = steps[place - 1], steps[place]
    return values[place - 1] + (values[place] - values[place - 1]) * (step - left) / (right - left)


def _six_digits(value: float) -> float | None:
    """In six digits: more would only make the answer longer. None for what is too large to be a number."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
