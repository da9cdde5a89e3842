"""What a search for completions found, and how the rewards of that are spread."""

import functools
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from operator import itemgetter

Hit = tuple[int, float | None, int]  # completion id, reward, tokens
BINS = 24


@dataclass
class Bin:
    """So many completions with a reward from `low` to `high`, which are rewards that some of them have; `at`: which
    of the equal stretches of the axis it is."""

    at: int
    count: int
    low: float
    high: float


class Hits(list[Hit]):
    """Hits, the newest first. Not to be changed once `bins` was asked for: searches share them, and count once."""

    @functools.cached_property
    def bins(self) -> list[Bin]:
        """How the rewards are spread over at most BINS equal stretches from the least to the greatest."""
        counts = Counter(map(itemgetter(1), self))  # many hits have few different rewards
        rewards = sorted(reward for reward in counts if reward is not None)
        values = rewards[bisect_left(rewards, -sys.float_info.max) : bisect_right(rewards, sys.float_info.max)]
        found: list[Bin] = []
        start = 0
        while start < len(values):
            at = _bin(values[start], values[0], values[-1])
            end = bisect_right(values, at, lo=start, key=lambda value: _bin(value, values[0], values[-1]))
            found.append(Bin(at, sum(counts[value] for value in values[start:end]), values[start], values[end - 1]))
            start = end
        return found


def _bin(value: float, low: float, high: float) -> int:
    width = high / BINS - low / BINS  # each by itself: their difference may be more than a float can be
    return min(BINS - 1, int(value / width - low / width)) if width > 0 else 0
