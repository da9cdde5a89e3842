"""The mathematics of the workbench, on plain arrays: totals and advantages as TRL 1.16 has them, ties, agreement.

`scores` is (rows, functions) with NaN where a function gave none; `starts` the index of each group's first row, from
0; the rows of a group are adjacent, as TRL has them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupwise.storage.analysis.statistics.agreement import correlation, share
from groupwise.storage.analysis.tie_words import is_highest
from groupwise.storage.record.group_metrics import TIED, Range, Standing, kind

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Right = tuple[bool, bool]  # whether none of a group is right, and whether all of it is

EPSILON = 1e-4  # what TRL adds to a standard deviation before it divides by it
SAME = TIED
BINS = 24


def total_rewards(scores: Floats, weights: Floats) -> Floats:
    """(rows,): the weighted sum without the functions that gave no score; NaN where none gave one. `weights` is
    (functions,), or (rows, functions) where they change."""
    found = np.nansum(scores * weights, axis=1)
    return np.where(np.isnan(scores).all(axis=1), np.nan, found) if scores.shape[1] else np.full(len(scores), np.nan)


def advantages(
    scores: Floats, weights: Floats, starts: Ints, scale: str = "group", aggregation: str = "sum_then_normalize",
    batches: Ints | None = None,
) -> Floats:  # fmt: skip
    """(rows,): as GRPOTrainer._generate_and_score_completions of TRL 1.16 computes them. `scale` is scale_rewards:
    “group”, “batch” or “none”. `batches`: the index of the first row of each generation batch; None: all are one.
    A completion that no function scored has 0."""
    batches = np.zeros(1, np.int64) if batches is None else batches
    if aggregation == "normalize_then_sum":
        columns = [_normalise(column, starts, starts) for column in scores.T]
        whole = np.nansum(np.stack(columns, axis=1) * weights, axis=1) if columns else np.zeros(len(scores))
        whole = np.where(np.isnan(scores).all(axis=1), np.nan, whole)
        return np.nan_to_num(_normalise(whole, batches, batches))
    rewards = total_rewards(scores, weights)
    if scale == "none":
        return np.nan_to_num(rewards - _spread_out(mean_of(rewards, starts), starts, len(rewards)))
    return np.nan_to_num(_normalise(rewards, starts, starts if scale == "group" else batches))


def _normalise(values: Floats, centres: Ints, spreads: Ints) -> Floats:
    """Values less the mean of their part of `centres`, over the standard deviation of their part of `spreads`."""
    rows = len(values)
    deviation = values - _spread_out(mean_of(values, centres), centres, rows)
    return deviation / (_spread_out(std_of(values, spreads), spreads, rows) + EPSILON)


def mean_of(values: Floats, starts: Ints) -> Floats:
    """(parts,): the mean of each part without its NaNs; NaN where a part has nothing else."""
    with np.errstate(invalid="ignore"):
        return _sum_of(np.nan_to_num(values), starts) / _count_of(values, starts)


def std_of(values: Floats, starts: Ints) -> Floats:
    """(parts,): the sample standard deviation of each part, as trl.trainer.utils.nanstd: NaN below two values; 0 for
    a part of one row, as TRL has it there."""
    counts = _count_of(values, starts)
    squares = np.nan_to_num(values - _spread_out(mean_of(values, starts), starts, len(values))) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.sqrt(_sum_of(squares, starts) / np.where(counts > 1, counts - 1, np.nan))
    return np.where(np.diff(np.append(starts, len(values))) == 1, 0.0, found)


def _sum_of(values: Floats, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(values, starts), dtype=np.float64) if len(values) else np.zeros(0)


def _count_of(values: Floats, starts: Ints) -> Floats:
    return _sum_of((~np.isnan(values)).astype(np.float64), starts)


def _spread_out(parts: Floats, starts: Ints, rows: int) -> Floats:
    return np.repeat(parts, np.diff(np.append(starts, rows)))


def ties(
    rewards: Floats, starts: Ints, most: float | None = None, right: Sequence[Right] = ()
) -> tuple[dict[str, int], list[str | None]]:
    """How many groups are tied and why, and the same for each group: “all_low” (all have the least seen, or 0, or
    none is right), “all_high” (all have the most seen, which is the `most` that is possible where that is known),
    “other”, “unscored” (fewer than two have a reward), or None: it has a learning signal. `right`: of each group, where
    that is known."""
    kinds: list[str | None] = []
    seen = rewards[~np.isnan(rewards)]
    if len(rewards) and len(seen):
        low = np.fmin.reduceat(rewards, starts)
        spread = np.fmax.reduceat(rewards, starts) - low
        ends = (float(seen.min()), float(seen.max()))
        counts_of, known = _count_of(rewards, starts), right or [(False, False)] * len(starts)
        kinds = [
            "unscored" if count < 2 else _why_tied((value, value + apart), ends, most, of_group)
            for value, apart, count, of_group in zip(low, spread, counts_of, known, strict=True)
        ]
    elif len(rewards):
        kinds = ["unscored"] * len(starts)
    counts = {kind: kinds.count(kind) for kind in ("all_low", "all_high", "other", "unscored")}
    tied = counts["all_low"] + counts["all_high"] + counts["other"]
    return {"groups": len(kinds), "tied": tied, **counts, "bearing": kinds.count(None)}, kinds


def _why_tied(values: tuple[float, float], seen: Range, most: float | None, right: Right) -> str | None:
    """As the runs' pages have it; what could still earn more is not at the top."""
    found = kind(values, seen, Standing(*right), most)
    return "other" if found == "all_high" and most is not None and not is_highest(values[0], most) else found


def right_of_groups(scores: Floats, starts: Ints, threshold: float) -> list[Right]:
    """Of each group, whether a function that tells right answers scored some of it, and none, or all, as high as the
    threshold."""
    groups = [part[~np.isnan(part)] for part in np.split(scores, starts[1:])]
    return [
        (bool(some.max() < threshold), bool(some.min() >= threshold)) if len(some) else (False, False)
        for some in groups
    ]  # fmt: skip


def agreement(names: list[str], scores: Floats, weights: Floats) -> dict[str, Any]:
    """{names, correlation, variance_share}: Pearson's correlation of each pair of functions where both gave a score
    (None where one is constant), and each function's share of the total's variance (its weighted covariance with the
    total; together 1; below 0 for one that works against the rest). None where the total is constant."""
    count = len(names)
    matrix = [[_pearson(scores[:, a], scores[:, b]) for b in range(count)] for a in range(count)]
    rewards = total_rewards(scores, weights)
    some = ~np.isnan(rewards)
    variance = float(np.var(rewards[some])) if some.any() else 0.0
    parts = np.nan_to_num(scores * weights)[some]
    shares: dict[str, float | None] = dict.fromkeys(names)
    if some.any():
        away = rewards[some] - rewards[some].mean()
        shares = {name: share(float(np.mean(parts[:, k] * away)), variance) for k, name in enumerate(names)}
    return {"names": names, "correlation": matrix, "variance_share": shares}


def _pearson(a: Floats, b: Floats) -> float | None:
    both = ~(np.isnan(a) | np.isnan(b))
    if not both.any():
        return None
    x, y = a[both] - a[both].mean(), b[both] - b[both].mean()
    return correlation(int(both.sum()), float((x**2).sum()), float((y**2).sum()), float((x * y).sum()))


def edges(*values: Floats) -> list[float]:
    """The edges of the bins in which all of these can be counted; none where there is no value."""
    some = np.concatenate([each[~np.isnan(each)] for each in values]) if values else np.zeros(0)
    if not len(some):
        return []
    low, high = float(some.min()), float(some.max())
    if high - low <= SAME:
        return [low - 0.5, low + 0.5]
    return [float(edge) for edge in np.linspace(low, high, BINS + 1)]


def count_in_bins(values: Floats, bins: list[float]) -> list[int]:
    """How many of the values lie in each bin; a value at the highest edge counts in the last."""
    if not bins:
        return []
    counts, _ = np.histogram(values[~np.isnan(values)], np.array(bins))
    return [int(count) for count in counts]


def mean_and_std(values: Floats) -> tuple[float | None, float | None]:
    """Of the values that are there; the sample standard deviation. None where there is none."""
    some = values[~np.isnan(values)]
    mean = float(some.mean()) if len(some) else None
    return mean, float(some.std(ddof=1)) if len(some) > 1 else None


def json_number(value: float) -> float | None:
    """A number as JSON can say it; None where it is NaN or infinite."""
    return float(value) if np.isfinite(value) else None


def per_batch(starts: Ints, rows: int, keys: list[Any]) -> Ints:
    """The first row of each run of groups with the same key, one key a group: the generation batches of a history."""
    if not rows:
        return np.zeros(0, np.int64)
    first = [n for n in range(len(keys)) if n == 0 or keys[n] != keys[n - 1]]
    return starts[np.array(first, dtype=np.int64)]
