"""A metric over the steps as the doctor sees it: how it began, how it is now, and whether that is more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

POINTS = 200  # a longer curve is condensed to so many, so that “now” is at most a tenth of the run
LEAST, MOST = 5, 20  # points that “at the start” and “now” are means of: a sixth of the curve, within these
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """A metric's finite values by step, condensed: each value a mean, with the extremes it is the mean of."""

    steps: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()

    @classmethod
    def of(cls, steps: Sequence[int], values: Sequence[float], spans: Sequence[Bounds] | None = None) -> Curve:
        """Of values in the order of their steps, condensed to at most POINTS. `spans`: (low, high) of each."""
        spans = spans or [(value, value) for value in values]
        width = max(1, math.ceil(len(values) / POINTS))
        cuts = [slice(at, at + width) for at in range(0, len(values), width)]
        return cls(
            tuple(steps[cut][0] for cut in cuts),
            tuple(mean(values[cut]) for cut in cuts),
            tuple(min(low for low, _ in spans[cut]) for cut in cuts),
            tuple(max(high for _, high in spans[cut]) for cut in cuts),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def window(self) -> int:
        """How many points “at the start” and “now” are means of."""
        return max(LEAST, min(MOST, len(self) // 6))

    @property
    def start(self) -> float:
        """The mean of the first points, a window of them."""
        return mean(self.values[: self.window])

    @property
    def now(self) -> float:
        """The mean of the last points, a window of them."""
        return mean(self.values[-self.window :])

    @property
    def before(self) -> float:
        """The mean of the points just before those of “now”; needs two windows of points."""
        return mean(self.values[-2 * self.window : -self.window])

    @property
    def rise(self) -> float:
        """How much higher it is now than at the start; below 0: lower."""
        return self.now - self.start

    @property
    def peak(self) -> float:
        """The most that as many points as “now” has ever came to on average."""
        return max(mean(self.values[at : at + self.window]) for at in range(max(1, len(self) - self.window + 1)))

    @property
    def low(self) -> float:
        """The lowest value of all."""
        return min(self.lows)

    @property
    def high(self) -> float:
        """The highest value of all."""
        return max(self.highs)

    @property
    def error(self) -> float:
        """The standard error of `rise`, by how the values scatter around their neighbours, which a trend does not
        add to (von Neumann's successive differences)."""
        jumps = [(b - a) ** 2 for a, b in zip(self.values, self.values[1:], strict=False)]
        variance = mean(jumps) / 2 if jumps else 0.0
        return math.sqrt(2 * variance / self.window)

    def direction(self, least: float, errors: float = 3.0) -> int:
        """1: it is higher now than at the start by at least `least` and by so many standard errors; −1: lower; 0:
        neither can be said."""
        if abs(self.rise) < least or abs(self.rise) <= errors * self.error:
            return 0
        return 1 if self.rise > 0 else -1

    def when_now(self) -> tuple[int, int]:
        """The first and the last step that “now” is of."""
        return self.steps[-min(self.window, len(self))], self.steps[-1]


def mean(values: Sequence[float]) -> float:
    """The mean of some values; 0 of none."""
    return math.fsum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """The value in the middle (of an even number, the upper one); 0 of none."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
