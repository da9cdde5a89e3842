"""Stretches of steps, and bins of values: what is counted together, and the edges that a heat map draws. Pure."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

FEW = 12  # so many different values, or fewer, have a bin each
BINS = 24


@dataclass(frozen=True)
class Buckets:
    """The steps `first` to `last` in stretches of `size` steps; the first stretch begins with step `start`."""

    first: int
    last: int
    start: int
    size: int

    @property
    def count(self) -> int:
        """How many stretches there are."""
        return (self.last - self.start) // self.size + 1

    def of(self, step: int) -> int:
        """The number of the stretch that a step is in."""
        return (step - self.start) // self.size

    def steps(self, number: int) -> tuple[int, int]:
        """The first and the last step of a stretch."""
        begin = self.start + number * self.size
        return max(begin, self.first), min(begin + self.size - 1, self.last)

    def all_steps(self) -> list[tuple[int, int]]:
        """The first and the last step of every stretch."""
        return [self.steps(number) for number in range(self.count)]

    def edges(self) -> list[float]:
        """`count` + 1 places between steps."""
        return [self.start + number * self.size - 0.5 for number in range(self.count + 1)]

    def sql(self) -> str:
        """SQL for the number of the stretch that a row's `step` is in."""
        return f"(step - {self.start}) / {self.size}"


@dataclass(frozen=True)
class Evaluations:
    """The steps at which a run was evaluated, each a stretch of its own; of too many, several in each. `spans`: the
    first and the last of each, in order."""

    spans: list[tuple[int, int]]

    @property
    def count(self) -> int:
        """How many stretches there are."""
        return len(self.spans)

    def of(self, step: int) -> int:
        """The number of the stretch that an evaluation's step is in."""
        return bisect_left(self.spans, step, key=lambda span: span[1])

    def steps(self, number: int) -> tuple[int, int]:
        """The first and the last step of a stretch."""
        return self.spans[number]

    def all_steps(self) -> list[tuple[int, int]]:
        """The first and the last step of every stretch."""
        return list(self.spans)

    def edges(self) -> list[float]:
        """`count` + 1 places: in the middle between two stretches, and as far away at both ends."""
        between = [(a[1] + b[0]) / 2 for a, b in zip(self.spans, self.spans[1:], strict=False)]
        (first, first_end), (last_begin, last) = self.spans[0], self.spans[-1]
        before = between[0] - first_end if between else 0.5
        after = last_begin - between[-1] if between else 0.5
        return [first - before, *between, last + after]

    def sql(self) -> str:
        """SQL for the number of the stretch that a row's `step` is in."""
        cases = " ".join(f"WHEN step <= {last} THEN {number}" for number, (_, last) in enumerate(self.spans))
        return f"CASE {cases} END"


Stretches = Buckets | Evaluations


def evaluations(steps: Sequence[int], most: int) -> Evaluations:
    """The steps at which a run was evaluated, in order, in at most `most` stretches."""
    size = math.ceil(len(steps) / most)
    parts = [steps[begin : begin + size] for begin in range(0, len(steps), size)]
    return Evaluations([(part[0], part[-1]) for part in parts])


def buckets(first: int, last: int, most: int, distinct: int | None = None) -> Buckets:
    """At most `most` stretches of 1, 2, 5, 10, 20 … steps. `distinct`: how many steps there are something of, where
    that is not each: then none is so short that most would be empty."""
    span = last - first + 1
    least = max(span / most, span / max(1, distinct or span))
    size = next(n * 10**power for power in range(20) for n in (1, 2, 5) if n * 10**power >= least)
    start = (first - 1) // size * size + 1 if first > 0 else first
    if (last - start) // size + 1 > most:  # where the round beginning makes it one too many
        start = first
    return Buckets(first, last, start, size)


@dataclass(frozen=True)
class Bins:
    """Bins of values. `exact`: each stands for one value only; else all are of one width."""

    edges: list[float]
    exact: list[float] | None = None

    @property
    def count(self) -> int:
        """How many bins there are."""
        return max(0, len(self.edges) - 1)

    def of(self, value: float) -> int:
        """The bin of a value; what lies beyond the edges counts in the last or the first."""
        return min(max(bisect_right(self.edges, value) - 1, 0), self.count - 1)

    def bounds(self, number: int) -> tuple[float, float]:
        """The least and the greatest value that a bin means."""
        if self.exact is not None:
            return self.exact[number], self.exact[number]
        return self.edges[number], self.edges[number + 1]

    def all_bounds(self) -> list[tuple[float, float]]:
        """Gives the least and the greatest value of every bin."""
        return [self.bounds(number) for number in range(self.count)]


def bins(values: Sequence[float], low: float, high: float, most: int = BINS) -> Bins:
    """Bins for values from `low` to `high`. `values`: the different ones, or at least so many that they are not few."""
    if 0 < len(values) <= FEW:
        ordered = sorted(values)
        between = [(a + b) / 2 for a, b in zip(ordered, ordered[1:], strict=False)]
        reach = min((b - a for a, b in zip(ordered, ordered[1:], strict=False)), default=1.0) / 2
        return Bins([ordered[0] - reach, *between, ordered[-1] + reach], ordered)
    if not math.isfinite(high - low) or high <= low:
        return Bins([low - 0.5, low + 0.5])
    return Bins([low + (high - low) * n / most for n in range(most)] + [high])


def whole_bins(low: int, high: int) -> Bins:
    """Bins for whole numbers, each of as many of them."""
    width = max(1, math.ceil((high - low + 1) / BINS))
    count = (high - low) // width + 1
    return Bins([low + width * n - 0.5 for n in range(count + 1)])
