"""The smoothed line of a curve whose points are each of several values: at each point the mean of as many logged steps
as the run's figure is of (storage.record.recent), counted by the values themselves. Of a curve that is drawn value by
value the page knows enough (app/ui/charts/smoother.js)."""

import bisect
import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from groupwise.storage.record import recent

Row = tuple[float, int, float]  # step, n, total: the mean of n values around a step


class Smoothed(NamedTuple):
    """The smoothed values, one a point, and how many logged steps the last stage has, of which they say the last."""

    values: list[float]
    logged: int


def smooth_points(points: Sequence[Sequence[Row]], stages: Sequence[int], interval: int) -> Smoothed:
    """`points`: the rows of each; the later stages begin after `stages`, and one says nothing of the next; a logged
    step is of `interval` steps. What a point is the mean of by itself stays whole."""
    rows = [row for some in points for row in some]
    steps, counts, totals = [step for step, _, _ in rows], [n for _, n, _ in rows], [total for _, _, total in rows]
    until = list(accumulate(counts, initial=0))
    begins = [0, *(bisect.bisect_right(steps, stage) for stage in stages), len(rows)]
    a_log = max(1.0, interval * _usual_count(counts) / (recent.usual_gap(steps) or math.inf))
    logged = [int((until[end] - until[begin]) / a_log) for begin, end in pairwise(begins)]
    windows = [recent.window_of(count) * a_log for count in logged]
    found = list[float]()
    for first, end in pairwise(accumulate(map(len, points), initial=0)):
        stage = bisect.bisect_right(begins, end - 1, hi=len(begins) - 1) - 1
        begin = begins[stage]
        count = max(until[end] - until[max(first, begin)], windows[stage])
        found.append(_mean_of_last(totals, until, begin, end, count))
    return Smoothed(found, next((count for count in reversed(logged) if count), 0))


def _usual_count(counts: Sequence[int]) -> int:
    """Of how many values the last rows are, by the median."""
    newest = sorted(counts[-recent.NEEDED :])
    return newest[len(newest) // 2]


def _mean_of_last(totals: Sequence[float], until: Sequence[int], begin: int, end: int, count: float) -> float:
    """The mean of the last `count` values before a row, of those from row `begin` on; of a row that is cut its share.
    `until`: how many values come before each row."""
    after = until[end] - count
    if after <= until[begin]:
        return math.fsum(totals[begin:end]) / (until[end] - until[begin])
    cut = bisect.bisect_right(until, after) - 1
    share = (until[cut + 1] - after) / (until[cut + 1] - until[cut])
    return (totals[cut] * share + math.fsum(totals[cut + 1 : end])) / count
