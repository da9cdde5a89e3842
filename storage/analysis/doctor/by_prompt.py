"""Whether held-out prompts are answered worse than at first by more than chance, each prompt with itself: completions
of one prompt are alike, so that many of a few prompts say little. Pure."""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

CHANCE = 1 / 300  # of what is no accident
EXACT = 24  # prompts, up to which every way that they could have changed is counted
GRID = 840  # parts of the largest change, in which shares of up to eight completions are whole numbers


def is_fall(changes: Sequence[float]) -> bool:
    """Whether such changes, one a prompt, are a fall and no accident; of eight prompts or fewer never."""
    return chance_of_fall(tuple(changes)) <= CHANCE


@lru_cache(maxsize=64)
def chance_of_fall(changes: tuple[float, ...]) -> float:
    """How likely prompts fall as far by chance, where each could as well have risen by what it fell."""
    moved = [change for change in changes if abs(change) > 1e-9]
    if math.fsum(moved) >= 0:
        return 1.0
    if len(moved) > EXACT:
        return 0.5 * math.erfc(-math.fsum(moved) / math.sqrt(2 * math.fsum(change**2 for change in moved)))
    largest = max(map(abs, moved))
    parts = [round(GRID * change / largest) for change in moved]
    ways = {0: 1}
    for part in map(abs, parts):
        further: dict[int, int] = defaultdict(int)
        for total, count in ways.items():
            further[total + part] += count
            further[total - part] += count
        ways = further
    return sum(count for total, count in ways.items() if total <= sum(parts)) / 2 ** len(parts)
