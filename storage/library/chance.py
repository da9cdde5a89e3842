"""Whether a reward function's scores have nothing to do with what was written: it scores the same text, of the same
prompt and step, as differently as any other. Pure."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

PAIRS, IN_GROUPS = 16, 4  # pairs of the same text that must be there, and groups that have some
AS_FAR = 0.5  # of how far apart any two scores are, squared: all of it where scores are drawn by chance
COMPARED = 16  # completions of a group
Scored = tuple[str, float]  # a completion's text, and what it was given


def scores_by_chance(groups: Iterable[Sequence[Scored]]) -> bool:
    """Whether it is so of the completions of these groups. False where too few are the same to tell."""
    scores, apart, within = list[float](), list[float](), 0
    for group in groups:
        scores += [score for _, score in group]
        pairs = combinations(group[:COMPARED], 2)
        same = [(score - other) ** 2 for (text, score), (again, other) in pairs if text == again]
        apart += same
        within += bool(same)
    if len(apart) < PAIRS or within < IN_GROUPS:
        return False
    mean = math.fsum(scores) / len(scores)
    any_two = 2 * math.fsum((score - mean) ** 2 for score in scores) / len(scores)
    return any_two > 0 and math.fsum(apart) / len(apart) >= AS_FAR * any_two
