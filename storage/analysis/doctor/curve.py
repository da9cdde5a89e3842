"""A metric over the steps as the doctor sees it: how it began, how it is now, and whether that is more than noise.

What is said of it are the figures that every page says (`start`, `best`, `now`: storage.record.recent). A rule believes
a level only where the last steps of a long run, many more of them, say the same (`at_least`, `at_most`, `direction`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from groupwise.storage.record.recent import BEGINNING, Course, Steps, course_of, window_of

POINTS = 200  # a longer curve is condensed to so many, so that its last points are at most a tenth of the run
MOST = 20  # points at an end of it that a trend is told by: a sixth of the curve, at most so many
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """A metric's finite values by step, condensed: each value a mean, with the extremes it is the mean of. `every`: of
    how many steps each tells, as TRL logs the mean of those since it last did."""

    steps: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    course: Course = Course()
    every: int = 1

    @classmethod
    def of(
        cls,
        steps: Sequence[int],
        values: Sequence[float],
        spans: Sequence[Bounds] | None = None,
        course: Course | None = None,
    ) -> Curve:
        """Of values in the order of their steps, condensed to about POINTS, but for the first, which is of before
        anything was learned. `spans`: (low, high) of each; `course`: its figures, where the values are not those that
        were logged."""
        spans = spans or [(value, value) for value in values]
        width = max(1, math.ceil(len(values) / POINTS))
        cuts = [slice(0, 1), *(slice(at, at + width) for at in range(1, len(values), width))] if values else []
        return cls(
            tuple(steps[cut][0] for cut in cuts),
            tuple(mean(values[cut]) for cut in cuts),
            tuple(min(low for low, _ in spans[cut]) for cut in cuts),
            tuple(max(high for _, high in spans[cut]) for cut in cuts),
            course or course_of(list(zip(steps, values, strict=True))),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def tells_of(self) -> int:
        """Of how many steps it tells."""
        return len(self) * self.every

    @property
    def window(self) -> int:
        """How many points at an end of it a trend is told by: of a short run those that are “now”."""
        return max(window_of(len(self)), min(MOST, len(self) // 6))

    @property
    def first(self) -> float:
        """The first value of all: what was so before anything was learned."""
        return self.values[0]

    @property
    def start(self) -> float:
        """What it was at the start, as pages say it."""
        return self.course.start

    @property
    def opening(self) -> float:
        """What it was in its very first steps: where more of these are known than were logged, what pages say of the
        start is of more than the model had before it learned."""
        return mean(self.values[:BEGINNING]) if self._opens_before_start else self.start

    @property
    def opening_points(self) -> tuple[int, Steps]:
        """Of how many points that is the mean, and of which steps."""
        if not self._opens_before_start:
            return self.course.begin, self.course.began
        return min(BEGINNING, len(self)), (self.steps[0], self.steps[:BEGINNING][-1])

    @property
    def _opens_before_start(self) -> bool:
        return len(self) > 0 and self.steps[:BEGINNING][-1] < self.course.began[1]

    @property
    def best(self) -> float:
        """What it was at its best."""
        return self.course.best

    @property
    def now(self) -> float:
        """What it is now."""
        return self.course.now

    @property
    def rise(self) -> float:
        """How much higher it is now than at the start; below 0: lower."""
        return self.now - self.start

    @property
    def early(self) -> float:
        """The mean of the first points, a window of them."""
        return mean(self.values[: self.window])

    @property
    def late(self) -> float:
        """The mean of the last points, a window of them."""
        return mean(self.values[-self.window :])

    @property
    def before(self) -> float:
        """The mean of the points just before the last; needs two windows of points."""
        return mean(self.values[-2 * self.window : -self.window])

    @property
    def peak(self) -> float:
        """The most that a window of points ever came to on average."""
        return max(mean(self.values[at : at + self.window]) for at in range(max(1, len(self) - self.window + 1)))

    def at_least(self, level: float) -> bool:
        """Whether it is so high now, and is so in the last window of points."""
        return min(self.now, self.late) >= level

    def at_most(self, level: float) -> bool:
        """Whether it is so low now, and is so in the last window of points."""
        return max(self.now, self.late) <= level

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
        """The standard error of how far it has risen between its first and last window of points."""
        return math.sqrt(2 * self._variance / self.window)

    @property
    def scatter(self) -> float:
        """The standard error of the mean of all values."""
        return math.sqrt(self._variance / max(1, len(self)))

    @property
    def _variance(self) -> float:
        """How the values scatter around their neighbours, which a trend does not add to (von Neumann's successive
        differences)."""
        jumps = [(b - a) ** 2 for a, b in zip(self.values, self.values[1:], strict=False)]
        return mean(jumps) / 2 if jumps else 0.0

    def direction(self, least: float, errors: float = 3.0) -> int:
        """1: it is higher now than at the start by at least `least`, and its last points than its first by so many
        standard errors; −1: lower; 0: neither can be said."""
        moved = self.late - self.early
        if min(abs(moved), abs(self.rise)) < least or abs(moved) <= errors * self.error or moved * self.rise <= 0:
            return 0
        return 1 if moved > 0 else -1

    def has_fallen(self, least: float) -> bool:
        """Whether it is lower now than at the start by at least `least`: its last points by three standard errors, or
        by two where its second half, of many more points, is by three. What fell soon and stayed low shows in both."""
        if self.direction(least) < 0:
            return True
        half = self.values[len(self) // 2 :]
        error = math.sqrt(self._variance * (1 / self.window + 1 / max(1, len(half))))
        return self.direction(least, 2.0) < 0 and self.early - mean(half) > max(least, 3 * error)


def mean(values: Sequence[float]) -> float:
    """The mean of some values; 0 of none."""
    return math.fsum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """The value in the middle (of an even number, the upper one); 0 of none."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
