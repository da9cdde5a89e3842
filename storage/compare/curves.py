"""run.db, reading metrics to lay over those of other runs: few points of each, over steps, tokens, time or attempts."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlite_utils import Database

from storage import series
from storage.rollup import SIZES

POINTS = 300  # of one line: about what a chart is wide
READ = 1000  # rows read for one line, of which the points are made
AXES = ("step", "tokens", "time", "attempt")
OF_AXIS = {"tokens": "num_tokens", "time": "time/elapsed"}
Line = dict[str, Any]  # attempt; x, y: the points; per: how many logged values one of them is the mean of, at most
Part = tuple[int, int, int]  # attempt, first step, last step
Row = tuple[float, int, float]  # step, n, total: the mean of n values around a step


def latest(run: Database) -> int:
    """The number of the newest acknowledged row; 0 before there is one. What was read at this number is still right."""
    return run.execute("SELECT max(seq) FROM acknowledged").fetchone()[0] or 0


def keys_of(run: Database) -> dict[str, int]:
    """Every metric's name, with its key."""
    return dict(run.execute("SELECT name, id FROM metric_key").fetchall())


def read(
    run: Database, names: Sequence[str], axis: str = "step", counting: list[Part] | None = None,
    span: tuple[int, int] | None = None,
) -> dict[str, list[Line]]:  # fmt: skip
    """The lines of these metrics, of those that have any: one of the run as it counts, or, over “attempt”, one of each
    attempt from its own beginning, what was trained over included.

    x is in steps, in tokens (TRL's num_tokens) or in seconds trained; a record without the metric that says so has
    no line over it, but for the time, which is then that between its rows. `counting`: series.stretches, where the
    caller has them already. `span`: only from this step to that one, over “step” alone, and so the more finely.
    """
    keys = keys_of(run)
    parts = _attempts(run) if axis == "attempt" else series.stretches(run) if counting is None else counting
    if span is not None and axis == "step":
        parts = [(number, max(first, span[0]), min(last, span[1])) for number, first, last in parts]
        parts = [part for part in parts if part[1] <= part[2]]
    whole = [[part] for part in parts] if axis == "attempt" else [parts]
    size = _size(sum(last - first + 1 for _, first, last in parts))
    scale = _scale(run, keys, axis, parts, size)
    if scale is not None and not scale[0]:
        return {}
    begun = series.begun_at(run) if axis == "attempt" else {}
    found = {}
    for name in names:
        if name not in keys:
            continue
        drawn = [_line(run, keys[name], some, size, scale, begun) for some in whole]
        drawn = [line for line in drawn if line["x"]]
        if drawn:
            found[name] = drawn
    return found


def _attempts(run: Database) -> list[Part]:
    """Every attempt with all its steps."""
    newest = run.execute("SELECT max(attempt) FROM acknowledged").fetchone()[0] or 0
    found = []
    for attempt in range(1, newest + 1):
        # apart, SQLite finds each of the two at once
        first, last = (
            run.execute(f"SELECT {which}(step) FROM acknowledged WHERE attempt = ?", [attempt]).fetchone()[0]
            for which in ("min", "max")
        )
        if first is not None:
            found.append((attempt, first, last))
    return found


def _size(steps: int) -> int:
    """Steps per row read: 1 while that is quick, else the smallest pre-computed bucket that is."""
    return next((size for size in (1, *SIZES) if steps / size <= READ), SIZES[-1])


def _line(
    run: Database, key: int, parts: list[Part], size: int, scale: tuple[list[float], list[float]] | None,
    begun: dict[int, int],
) -> Line:  # fmt: skip
    rows = [row for part in parts for row in _rows(run, key, part, size)]
    points = thin(rows, POINTS)
    start = begun.get(parts[0][0], parts[0][1] - 1) if begun and parts else 0
    x = [step - start for step, _, _ in points] if scale is None else [at(scale, step) for step, _, _ in points]
    return {
        "attempt": parts[-1][0] if parts else 0,
        "x": [_short(value) for value in x],
        "y": [_short(total / n) for _, n, total in points],
        "per": max((n for _, n, _ in points), default=1),
    }


def _rows(run: Database, key: int, part: Part, size: int) -> list[Row]:
    """What one attempt contributes, in buckets while they lie within it, then as it was logged."""
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
    return rows + [_one(some) for some in together]


def thin(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many rows: neighbours are put together, and keep the sum of what they are the mean of."""
    if len(rows) <= most:
        return list(rows)
    together = math.ceil(len(rows) / most)
    found = []
    for begin in range(0, len(rows), together):
        found.append(_one(rows[begin : begin + together]))
    return found


def _one(rows: Sequence[Row]) -> Row:
    n = sum(row[1] for row in rows)
    return sum(row[0] * row[1] for row in rows) / n, n, sum(row[2] for row in rows)


def _scale(
    run: Database, keys: dict[str, int], axis: str, parts: list[Part], size: int
) -> tuple[list[float], list[float]] | None:
    """Steps and what they are on the axis; None where the axis is the steps themselves."""
    name = OF_AXIS.get(axis)
    if name is None:
        return None
    if name in keys:
        rows = [(row[0], row[2] / row[1]) for part in parts for row in _rows(run, keys[name], part, size)]
    else:
        rows = _clock(run, parts) if axis == "time" else []
    return rising(rows)


def _clock(run: Database, parts: list[Part]) -> list[tuple[float, float]]:
    """Seconds since the first step, by the clock, of a record that has no time/elapsed."""
    rows: list[tuple[float, float]] = []
    for attempt, first, last in parts:
        every = max(1, (last - first + 1) // READ)
        rows += run.execute(
            "SELECT step, at FROM acknowledged WHERE attempt = ? AND step BETWEEN ? AND ? AND (step - ?) % ? = 0 "
            "ORDER BY step",
            [attempt, first, last, first, every],
        ).fetchall()
    return [(step, when - rows[0][1]) for step, when in rows]


def rising(rows: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """A scale that never falls: where a resumed run counts from nothing again, it goes on from where it was."""
    steps: list[float] = []
    values: list[float] = []
    offset = 0.0
    for step, value in rows:
        if values and value + offset < values[-1]:
            offset = values[-1] if value < values[-1] - offset else offset
        steps.append(step)
        values.append(max(value + offset, values[-1] if values else -math.inf))
    return steps, values


def at(scale: tuple[list[float], list[float]], step: float) -> float:
    """Where a step is on the scale, between the two steps that are known next to it."""
    steps, values = scale
    place = bisect.bisect_left(steps, step)
    if place == len(steps):
        return values[-1]
    if place == 0 or steps[place] == step:
        return values[place]
    left, right = steps[place - 1], steps[place]
    return values[place - 1] + (values[place] - values[place - 1]) * (step - left) / (right - left)


def _short(value: float) -> float | None:
    """In six digits: more would only make the answer longer. None for what is too large to be a number."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
