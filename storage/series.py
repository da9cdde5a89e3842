"""run.db, reading metrics: whole curves in at most ~1,000 points, and what is new since a reader last looked."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from storage import db
from storage.rollup import SIZES

MAX_POINTS = 1000
RECENT = 10  # so many steps at the end are never in a bucket: “the last ten” are ten
Curve = dict[str, list[Any]]  # x: steps; y: mean; low, high: the extremes in each point


def read(path: Path, after: int = 0) -> dict[str, Any]:
    """The run's curves, or what was acknowledged after number `after`.

    `seq` is the number to pass next time. `reset` says that the curves are whole (the first look, or a new attempt
    began) and replace what the reader has; else their points come after, or replace, those of the same step.
    """
    run = db.open_reader(path)
    try:
        new = run.execute(
            "SELECT max(seq), min(step), min(attempt), max(attempt) FROM acknowledged WHERE seq > ?", [after]
        ).fetchone()
        if new[0] is None:
            return {"seq": after, "reset": False, "curves": {}}
        seq, first_step, _, attempt = new
        keys = dict(run.execute("SELECT name, id FROM metric_key").fetchall())
        before = run.execute("SELECT attempt FROM acknowledged WHERE seq = ?", [after]).fetchone()
        if before is not None and before[0] == attempt and seq - after <= MAX_POINTS:
            curves = {name: _raw(run, key, attempt, first_step) for name, key in keys.items()}
            return {"seq": seq, "reset": False, "curves": {n: c for n, c in curves.items() if c["x"]}}
        parts = stretches(run)
        size = _bucket_size(sum(last - first + 1 for _, first, last in parts))
        curves = {name: _whole(run, key, parts, size) for name, key in keys.items()}
        return {"seq": seq, "reset": True, "bucket": size, "curves": {n: c for n, c in curves.items() if c["x"]}}
    finally:
        run.close()


def stretches(run: Database) -> list[tuple[int, int, int]]:
    """(attempt, first step, last step) of what each attempt contributes: a resumed run overlaps its past, and from the
    step where an attempt began, it counts."""
    newest = run.execute("SELECT max(attempt) FROM acknowledged").fetchone()[0] or 0
    found: list[tuple[int, int, int]] = []
    end = math.inf
    begun = begun_at(run)
    for attempt in range(newest, 0, -1):
        begin = begun.get(attempt, 0)
        first, last = run.execute(
            "SELECT min(step), max(step) FROM acknowledged WHERE attempt = ? AND step > ?", [attempt, begin]
        ).fetchone()
        if first is not None and first < end:
            found.insert(0, (attempt, first, int(min(last, end - 1))))
        if attempt in begun:
            end = min(end, begin + 1)
        elif first is not None:
            end = min(end, first)
    return found


def begun_at(run: Database) -> dict[int, int]:
    """The step after which each attempt trained."""
    rows = run.execute("SELECT attempt, max(step) FROM event WHERE kind = 'begin' GROUP BY attempt").fetchall()
    return dict(rows)


def stage_weights(run: Database, attempt: int, step: int) -> dict[str, float] | None:
    """What each reward function counted in the stage that this step of this attempt belongs to; None in a run
    without stages, where it is the same all along (`reward_function.weight`)."""
    row = run.execute(
        "SELECT json_extract(data, '$.weights') FROM event WHERE kind = 'stage' AND attempt = ? AND step < ? "
        "ORDER BY id DESC LIMIT 1",
        [attempt, step],
    ).fetchone()
    weights = json.loads(row[0]) if row and row[0] else None
    return weights if isinstance(weights, dict) else None


def changing_weights(run: Database, attempt: int, step: int) -> dict[str, float]:
    """What those reward functions counted at a step whose weight changes (a schedule, the success rate): it is logged
    as rewards/NAME/weight."""
    rows = run.execute(
        "SELECT name, value FROM metric_key JOIN metric ON key = id WHERE name LIKE 'rewards/%/weight' "
        "AND attempt <= ? AND step <= ? ORDER BY step, attempt",
        [attempt, step],
    ).fetchall()
    return {name.split("/")[1]: value for name, value in rows if value is not None}


def _bucket_size(steps: int) -> int:
    """Steps per point: 1 while they fit, else the smallest pre-computed size that does."""
    fitting = [size for size in (1, *SIZES) if steps / size <= MAX_POINTS]
    return fitting[0] if fitting else SIZES[-1]


def _whole(run: Database, key: int, parts: list[tuple[int, int, int]], size: int) -> Curve:
    curve: Curve = {"x": [], "y": [], "low": [], "high": []}
    for attempt, first, last in parts:
        start = first
        if size > 1:
            rows = run.execute(
                "SELECT bucket, n, total, low, high FROM rollup WHERE size = ? AND key = ? AND attempt = ? "
                "AND bucket < ?",
                [size, key, attempt, (last + 1 - RECENT) // size],
            ).fetchall()
            curve["x"] += [max(first, row[0] * size + size // 2) for row in rows]
            curve["y"] += [row[2] / row[1] for row in rows]
            curve["low"] += [row[3] for row in rows]
            curve["high"] += [row[4] for row in rows]
            start = max(first, (rows[-1][0] + 1) * size) if rows else first
        tail = _raw(run, key, attempt, start, last)
        if size > 1:  # a metric that is never a number has no buckets, and would come back whole
            some = [i for i, value in enumerate(tail["y"]) if value is not None]
            tail = {"x": [tail["x"][i] for i in some], "y": [tail["y"][i] for i in some]}
            curve["low"] += tail["y"]
            curve["high"] += tail["y"]
        curve["x"] += tail["x"]
        curve["y"] += tail["y"]
    return curve if size > 1 else {"x": curve["x"], "y": curve["y"]}


def _raw(run: Database, key: int, attempt: int, first: int, last: int | None = None) -> Curve:
    """Every logged value of these steps; what is not a finite number is null, which JSON can say."""
    rows = run.execute(
        "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ?",
        [key, attempt, first, last if last is not None else 2**62],
    ).fetchall()
    finite = [value if value is not None and math.isfinite(value) else None for _, value in rows]
    return {"x": [step for step, _ in rows], "y": finite}


def standing(path: Path) -> dict[str, Any]:
    """Where a run is: attempt and step last acknowledged and when (`at`), `total` steps planned, and whether training
    has `begun` in this attempt. Cheap, for every poll."""
    run = db.open_reader(path)
    try:
        return _standing(run)
    finally:
        run.close()


def _standing(run: Database) -> dict[str, Any]:
    last = run.execute("SELECT attempt, step, at FROM acknowledged ORDER BY seq DESC LIMIT 1").fetchone()
    if last is None:
        return {"attempt": 0, "step": 0, "at": None, "total": 0, "begun": False}
    plan = run.execute(
        "SELECT json_extract(data, '$.total'), attempt FROM event WHERE kind IN ('begin', 'stage') "
        "ORDER BY id DESC LIMIT 1"
    ).fetchone()
    total, begun = (plan[0], plan[1] == last[0]) if plan else (0, False)
    return {"attempt": last[0], "step": last[1], "at": last[2], "total": total, "begun": begun}


def progress(path: Path) -> dict[str, Any]:
    """`standing`, and what the Runs page shows: `reward`, the mean of the last ten logged, and `spark`, at most 40
    points of it."""
    run = db.open_reader(path)
    try:
        rewards = _rewards(run)
        recent = rewards[-RECENT:]
        return _standing(run) | {
            "reward": sum(recent) / len(recent) if recent else None,
            "spark": [round(value, 4) for value in _thin(rewards, 40)],
        }
    finally:
        run.close()


def _rewards(run: Database) -> list[float]:
    row = run.execute("SELECT id FROM metric_key WHERE name = 'reward'").fetchone()
    if row is None:
        return []
    parts = stretches(run)
    size = _bucket_size(sum(last - first + 1 for _, first, last in parts))
    return [value for value in _whole(run, row[0], parts, size)["y"] if value is not None]


def _thin(values: list[float], count: int) -> list[float]:
    """Means of `count` equal stretches."""
    if len(values) <= count:
        return values
    edges = [round(i * len(values) / count) for i in range(count + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in zip(edges, edges[1:], strict=False)]


def pace(path: Path) -> dict[str, float | None]:
    """Median and longest seconds between the last 50 acknowledged steps of the latest attempt."""
    run = db.open_reader(path)
    try:
        times = [
            at
            for (at,) in run.execute(
                "SELECT max(at) FROM acknowledged WHERE attempt = (SELECT max(attempt) FROM acknowledged) AND step > 0 "
                "GROUP BY step ORDER BY step DESC LIMIT 51"
            )
        ]
    finally:
        run.close()
    gaps = sorted(later - earlier for later, earlier in zip(times, times[1:], strict=False))
    return {"median": gaps[len(gaps) // 2], "longest": gaps[-1]} if gaps else {"median": None, "longest": None}


def events(path: Path, after: int = 0) -> list[dict[str, Any]]:
    """What happened, oldest first; `trace` is the traceback of what failed, if one was kept."""
    run = db.open_reader(path)
    try:
        columns = "id, at, attempt, step, kind, message, json_extract(data, '$.traceback') AS trace"
        return list(run.query(f"SELECT {columns} FROM event WHERE id > ?", [after]))
    finally:
        run.close()


def checkpoints(path: Path) -> list[dict[str, Any]]:
    """Checkpoints that were completed, newest first; the folder may since have been rotated away."""
    run = db.open_reader(path)
    try:
        return list(run.query("SELECT step, attempt, at, path, bytes FROM checkpoint ORDER BY step DESC"))
    finally:
        run.close()
