"""run.db, reading many metrics at once: each as at most ~1,000 points over stretches of steps, in one query for all.

A point of a long curve is the mean of `size` steps, with their least and greatest value, so that no spike is lost. Its
newest steps come as they were logged, in a `tail` of their own: who draws them beside the points makes points of them
too (`fold_values`), or the end of every curve would look wilder than the rest.
"""

import json
import math
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import totals
from groupwise.storage.record.lineage import Part
from groupwise.storage.record.recent import NEEDED, log_interval
from groupwise.storage.record.rollup import SIZES

MAX_POINTS = 1000
MOST_SCANNED = 100_000  # rows that are put together for one look: some 0.1 s
MOST_NEWEST = 2000  # steps at the end of a curve that are in no bucket: “now” is told by the last of them
# x: steps; y: mean; low, high: the extremes in each point; tail: x and y of the steps after the last point; of: how
# many values all of it is of. A curve of single steps has x and y.
Curve = dict[str, Any]
Span = tuple[int, int]  # first step, last step
ALL_STEPS = (0, 2**62)

# The keys come first (CROSS JOIN keeps that order), so that each is one stretch of the primary key.
_KEYS = "metric_key AS k CROSS JOIN"
_NAMED = "(? IS NULL OR k.name IN (SELECT value FROM json_each(?)))"
_LOGGED = (
    f"SELECT k.name, m.step, m.value FROM {_KEYS} metric AS m ON m.key = k.id "
    f"WHERE {_NAMED} AND m.attempt = ? AND m.step BETWEEN ? AND ? ORDER BY k.id, m.step"
)
_BUCKETS = (
    f"SELECT k.name, max(?, r.bucket * ? + ?), r.total / r.n, r.low, r.high, r.n "
    f"FROM {_KEYS} rollup AS r ON r.key = k.id "
    f"WHERE {_NAMED} AND r.size = ? AND r.attempt = ? AND r.bucket >= ? AND r.bucket < ? ORDER BY k.id, r.bucket"
)
_MERGED = (
    f"SELECT k.name, max(?, r.bucket / ? * ? + ?), sum(r.total) / sum(r.n), min(r.low), max(r.high), sum(r.n) "
    f"FROM {_KEYS} rollup AS r ON r.key = k.id "
    f"WHERE {_NAMED} AND r.size = ? AND r.attempt = ? AND r.bucket >= ? AND r.bucket < ? "
    "GROUP BY k.id, r.bucket / ? ORDER BY k.id, r.bucket"
)
_COUNTED = (
    f"SELECT k.name, max(?, m.step / ? * ? + ?), avg(m.value), min(m.value), max(m.value), count(*) "
    f"FROM {_KEYS} metric AS m ON m.key = k.id "
    f"WHERE {_NAMED} AND m.attempt = ? AND m.step >= ? AND m.step < ? AND abs(m.value) <= 1.7976931348623157e308 "
    "GROUP BY k.id, m.step / ? ORDER BY k.id, m.step"
)
_FINITE = _LOGGED.replace(" ORDER BY", " AND abs(m.value) <= 1.7976931348623157e308 ORDER BY")
# What no bucket holds yet; a metric that is never a number would come back whole.
_TAIL = (
    f"SELECT k.name, m.step, m.value FROM {_KEYS} metric AS m ON m.key = k.id "
    f"WHERE {_NAMED} AND m.attempt = ? AND m.step BETWEEN max(?, coalesce((SELECT (max(r.bucket) + 1) * ? FROM rollup "
    "AS r WHERE r.size = ? AND r.key = k.id AND r.attempt = ? AND r.bucket < ?), 0)) AND ? "
    "AND abs(m.value) <= 1.7976931348623157e308 ORDER BY k.id, m.step"
)
_ODD = (
    "SELECT k.name, count(*) FROM metric AS m INDEXED BY metric_not_finite JOIN metric_key AS k ON k.id = m.key "
    "WHERE (m.value IS NULL OR abs(m.value) > 1.7976931348623157e308) AND m.attempt = ? AND m.step BETWEEN ? AND ? "
    "GROUP BY m.key"
)


def bucket_size(steps: int, metrics: int = 1) -> int:
    """Steps per point: the smallest power of two with which so many steps make at most 1,000 points. Where so many
    metrics of that size would take long to put together, the next size that was pre-computed."""
    if steps <= MAX_POINTS:
        return 1
    size = 1 << math.ceil(math.log2(steps / MAX_POINTS))
    if size in SIZES or steps / _source(size) * metrics <= MOST_SCANNED:
        return size
    return min((known for known in SIZES if known > size), default=size)


def logged_curves(
    run: Database, parts: Sequence[Part], names: Sequence[str] | None = None, span: Span = ALL_STEPS
) -> dict[str, Curve]:
    """Every logged value (x, y) of these parts; what is not a finite number is None, which JSON can say."""
    found: dict[str, Curve] = {}
    wanted = _name_condition(names)
    for attempt, first, last in parts:
        rows = run.execute(_LOGGED, [*wanted, attempt, max(first, span[0]), min(last, span[1])]).fetchall()
        for name, steps, values in _columns(rows):
            curve = found.setdefault(name, {"x": [], "y": []})
            curve["x"] += steps
            curve["y"] += [value if value is not None and math.isfinite(value) else None for value in values]
    for name, add in _find_added(run, found, parts).items():
        curve = found[name]
        curve["y"] = [y if y is None else y + add.at(x) for x, y in zip(curve["x"], curve["y"], strict=True)]
    return found


def _find_added(run: Database, names: Iterable[str], parts: Sequence[Part]) -> dict[str, totals.Added]:
    """What is to be added to those of these metrics that count anew somewhere."""
    found = {name: totals.find_added(run, name, parts) for name in names if totals.TOTALS.match(name)}
    return {name: add for name, add in found.items() if add.steps}


def bucket_curves(
    run: Database, parts: Sequence[Part], size: int, names: Sequence[str] | None = None, span: Span = ALL_STEPS, *,
    tail: bool = True,
) -> dict[str, Curve]:  # fmt: skip
    """The curves of these parts, `size` steps a point; 1: as logged. `span`: only these steps, and what else their
    first and last point are of. Without `tail`, the last part's newest steps are points as well."""
    if size == 1:
        return logged_curves(run, parts, names, span)
    found: dict[str, Curve] = {}
    newest = min(NEEDED * log_interval(run, parts), MOST_NEWEST)
    for part in parts:
        edge = max(0, (part[2] + 1 - newest) // size)
        for name, *columns in _columns(_points(run, part, size, edge, _name_condition(names), span)):
            _extend(found, name, *columns)
        for name, steps, values in _columns(_tail(run, part, size, edge, _name_condition(names), span)):
            if tail and part == parts[-1]:
                _set_tail(found, name, steps, values)
            else:
                _extend(found, name, *fold_values(steps, values, size))
    for name, add in _find_added(run, found, parts).items():
        _count_on(found[name], add, size)
    few = [name for name, curve in found.items() if curve["of"] <= MAX_POINTS]
    return found | (_single_values(run, parts, few, span) if few else {})


def _count_on(curve: Curve, add: totals.Added, size: int) -> None:
    """Add to a total what it has to have added; without the points that are of before and after a new beginning."""
    kept = [place for place, step in enumerate(curve["x"]) if not add.is_mixed(step, size)]
    more = [add.at(curve["x"][place]) for place in kept]
    for column in ("y", "low", "high"):
        curve[column] = [curve[column][place] + value for place, value in zip(kept, more, strict=True)]
    curve["x"] = [curve["x"][place] for place in kept]
    tail = curve["tail"]
    tail["y"] = [value + add.at(step) for step, value in zip(tail["x"], tail["y"], strict=True)]


def _single_values(run: Database, parts: Sequence[Part], names: Sequence[str], span: Span) -> dict[str, Curve]:
    """Metrics that are logged seldom, as evaluations are: every finite value at its own step."""
    found: dict[str, Curve] = {}
    for attempt, first, last in parts:
        rows = run.execute(
            _FINITE, [*_name_condition(names), attempt, max(first, span[0]), min(last, span[1])]
        ).fetchall()
        for name, steps, values in _columns(rows):
            _extend(found, name, steps, values, values, values, [1] * len(steps))
    for name, add in _find_added(run, found, parts).items():
        _count_on(found[name], add, 1)
    return found


def fold_values(steps: Sequence[int], values: Sequence[float], size: int) -> tuple[list[Any], ...]:
    """Logged values, some at least, as points of `size` steps: where (in the middle of the steps that each has), mean,
    low, high, n."""
    points = []
    for _, some in groupby(zip(steps, values, strict=True), key=lambda pair: pair[0] // size):
        at, own = zip(*some, strict=True)
        points.append(((at[0] + at[-1]) // 2, sum(own) / len(own), min(own), max(own), len(own)))
    return tuple(list(column) for column in zip(*points, strict=True))


def count_not_finite(run: Database, parts: Sequence[Part]) -> dict[str, int]:
    """How many values of these parts are NaN or infinite, by metric; nothing where the file has no index of them."""
    counts: dict[str, int] = {}
    try:
        for part in parts:
            for name, count in run.execute(_ODD, part).fetchall():
                counts[name] = counts.get(name, 0) + count
    except sqlite3.OperationalError:
        return {}
    return counts


def _points(run: Database, part: Part, size: int, edge: int, wanted: list[Any], span: Span) -> list[tuple[Any, ...]]:
    """name, step, mean, low, high, n of each bucket before `edge`. Sizes that nobody pre-computed are put together from
    the next smaller one that somebody did, or from the values themselves."""
    attempt, first, _ = part
    edge = min(edge, span[1] // size + 1)
    begin = max(first, span[0]) // size
    source = _source(size)
    if source == size:
        return run.execute(_BUCKETS, [first, size, size // 2, *wanted, size, attempt, begin, edge]).fetchall()
    many = size // source
    shared = [first, many, size, size // 2, *wanted]
    if source == 1:
        return run.execute(_COUNTED, [*shared, attempt, max(first, begin * size), edge * size, size]).fetchall()
    return run.execute(_MERGED, [*shared, source, attempt, begin * many, edge * many, many]).fetchall()


def _tail(run: Database, part: Part, size: int, edge: int, wanted: list[Any], span: Span) -> list[tuple[Any, ...]]:
    attempt, first, last = part
    begin, end = max(first, span[0]), min(last, span[1])
    source = _source(size)
    if source == 1:
        begin = max(begin, edge * size)
    return run.execute(_TAIL, [*wanted, attempt, begin, source, source, attempt, edge * size // source, end]).fetchall()


def _source(size: int) -> int:
    """The largest pre-computed size that buckets of this one can be put together from; 1: the values themselves."""
    return max((known for known in SIZES if known <= size), default=1)


def _name_condition(names: Sequence[str] | None) -> list[Any]:
    return [None, None] if names is None else ["", json.dumps(list(names))]


def _columns(rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """(name, column, column, …) of each metric, from rows in its order."""
    for name, group in groupby(rows, key=itemgetter(0)):
        yield name, *(list(column) for column in list(zip(*group, strict=True))[1:])


def _extend(found: dict[str, Curve], name: str, *columns: list[Any]) -> None:
    *shown, counts = columns
    curve = _curve_of(found, name)
    for key, values in zip(("x", "y", "low", "high"), shown, strict=True):
        curve[key] += values
    curve["of"] += sum(counts)


def _set_tail(found: dict[str, Curve], name: str, steps: list[int], values: list[float]) -> None:
    curve = _curve_of(found, name)
    curve["tail"] = {"x": steps, "y": values}
    curve["of"] += len(steps)


def _curve_of(found: dict[str, Curve], name: str) -> Curve:
    return found.setdefault(name, {"x": [], "y": [], "low": [], "high": [], "tail": {"x": [], "y": []}, "of": 0})
