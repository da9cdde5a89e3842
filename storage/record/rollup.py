"""Pre-computed min, mean and max of each metric over stretches of steps, so that a long curve is read in no time."""

import math

# Steps per bucket: a chart of up to a million steps needs at most ~1,000 points.
SIZES = (16, 128, 1024)
# (size, metric, bucket number, n, total, low, high)
Closed = tuple[int, str, int, int, float, float, float]


class Rollup:
    """The buckets that one attempt is filling. A bucket is written once, when a step beyond it comes."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, str], _Bucket] = {}

    def take(self, step: int, metrics: dict[str, float | None]) -> list[Closed]:
        """Take the step's finite values in, and return the buckets that it closes."""
        closed: list[Closed] = []
        for name, value in metrics.items():
            if value is None or not math.isfinite(value):
                continue
            for size in SIZES:
                bucket = self._open.get((size, name))
                if bucket is None or bucket.number != step // size:
                    if bucket is not None:
                        closed.append((size, name, bucket.number, bucket.n, bucket.total, bucket.low, bucket.high))
                    bucket = self._open[size, name] = _Bucket(step // size)
                bucket.add(value)
        return closed


class _Bucket:
    """Running n, sum, min and max of one metric over one stretch of steps."""

    __slots__ = ("number", "n", "total", "low", "high")

    def __init__(self, number: int) -> None:
        self.number, self.n, self.total, self.low, self.high = number, 0, 0.0, math.inf, -math.inf

    def add(self, value: float) -> None:
        self.n += 1
        self.total += value
        self.low = min(self.low, value)
        self.high = max(self.high, value)
