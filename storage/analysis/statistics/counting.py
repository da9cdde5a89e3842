"""Heat maps and histograms: how many fall in each cell. Pure functions on rows."""

from collections.abc import Iterable
from typing import Any

from groupwise.storage.analysis.statistics.buckets import Bins, Stretches


def heat(rows: Iterable[tuple[int, float, int]], buckets: Stretches, bins: Bins) -> dict[str, Any]:
    """{x, y, counts, share, steps, bounds} of (stretch, value, how many): `x` and `y` are edges, `counts[bin][stretch]`
    how many, `share` the same as a share of its stretch (None where that is empty), `steps` and `bounds` what each
    column and each row means."""
    counts = [[0] * buckets.count for _ in range(bins.count)]
    for number, value, many in rows:
        counts[bins.of(value)][number] += many
    whole = [sum(column) for column in zip(*counts, strict=True)] if counts else []
    share = [[many / all_ if all_ else None for many, all_ in zip(line, whole, strict=True)] for line in counts]
    return {
        "x": buckets.edges(), "y": bins.edges, "counts": counts, "share": share,
        "steps": buckets.all_steps(), "bounds": bins.all_bounds(),
    }  # fmt: skip


def plane(pairs: Iterable[tuple[float, float]], across: Bins, up: Bins) -> dict[str, Any]:
    """{x, y, counts, across, up} of (x, y) pairs: edges, `counts[row][column]`, and what columns and rows mean."""
    counts = [[0] * across.count for _ in range(up.count)]
    for x, y in pairs:
        counts[up.of(y)][across.of(x)] += 1
    return {
        "x": across.edges, "y": up.edges, "counts": counts, "across": across.all_bounds(), "up": up.all_bounds(),
    }  # fmt: skip


def histogram(values: Iterable[float], bins: Bins) -> dict[str, Any]:
    """{edges, bounds, counts, exact}."""
    counts = [0] * bins.count
    for value in values:
        counts[bins.of(value)] += 1
    return {"edges": bins.edges, "bounds": bins.all_bounds(), "counts": counts, "exact": bins.exact is not None}
