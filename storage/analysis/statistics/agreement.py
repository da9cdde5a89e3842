"""How reward functions go together: correlation, and whose scores the differences in the total come from. Pure."""

import math
import operator
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from groupwise.storage.analysis.statistics.buckets import Stretches
from groupwise.storage.record.group_metrics import TIED

Scores = Sequence[float | None]  # one completion's, in the order of the functions; None: not scored
FEWEST = 8  # completions of a stretch that a correlation is told by


def correlation(n: int, xx: float, yy: float, xy: float) -> float | None:
    """Pearson's, from the sums of squares and of products about the means of `n` pairs; None of fewer than two, or
    where one of them is constant (differs by no more than what ties)."""
    if n < 2 or math.sqrt(xx / n) <= TIED or math.sqrt(yy / n) <= TIED or not math.sqrt(xx * yy):
        return None
    return max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))


def share(covariance: float, variance: float) -> float | None:
    """A function's share of the total's variance: the covariance of its weighted score with the total. The shares of
    all functions together are 1; below 0 for one that works against the rest. None where the total is constant."""
    return covariance / variance if variance > TIED**2 else None


def pearson(xs: Scores, ys: Scores) -> float | None:
    """Pearson's correlation of the pairs of which both are there."""
    if None in xs or None in ys:
        pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
        xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    away_x, away_y = _differences_from_mean(xs), _differences_from_mean(ys)
    return correlation(len(away_x), _dot(away_x, away_x), _dot(away_y, away_y), _dot(away_x, away_y))


def _differences_from_mean(values: Scores) -> list[float]:
    """What each is away from the mean of all; there is none that is None."""
    some = [value for value in values if value is not None]
    mean = math.fsum(some) / len(some) if some else 0.0
    return [value - mean for value in some]


def _dot(xs: Sequence[float], ys: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, xs, ys))


def variance_shares(rows: Sequence[Scores], weights: Sequence[float]) -> list[float | None]:
    """`share` of each function, over the completions that any function scored; no score counts as 0, as in TRL."""
    parts = [
        [(score or 0.0) * weight for score, weight in zip(row, weights, strict=True)]
        for row in rows
        if any(score is not None for score in row)
    ]
    if not parts:
        return [None] * len(weights)
    away = _differences_from_mean([sum(part) for part in parts])
    variance = _dot(away, away) / len(away)
    return [share(_dot(column, away) / len(away), variance) for column in zip(*parts, strict=True)]


def agreement_over_steps(
    rows: Sequence[tuple[int, Scores]], weights: Sequence[Sequence[float]], buckets: Stretches
) -> dict[str, Any]:
    """{steps, completions, pairs, correlation, share} of (step, scores) rows: per stretch with enough of them,
    Pearson's correlation of each of `pairs` of functions and each function's share of the total's variance.
    `weights`: the functions' weights in each stretch."""
    parts: dict[int, list[Scores]] = {}
    for step, scores in rows:
        parts.setdefault(buckets.of(step), []).append(scores)
    told = [(number, part) for number, part in sorted(parts.items()) if len(part) >= FEWEST]
    columns = [list(zip(*part, strict=True)) for _, part in told]
    shares = [variance_shares(part, weights[number]) for number, part in told]
    functions = len(weights[0]) if weights else 0
    pairs = list(combinations(range(functions), 2))
    return {
        "steps": [buckets.steps(number) for number, _ in told],
        "completions": [len(part) for _, part in told],
        "pairs": pairs,
        "correlation": [[pearson(column[a], column[b]) for column in columns] for a, b in pairs],
        "share": [[one[k] for one in shares] for k in range(functions)],
    }
