"""What the completions that were read say by themselves, whatever the settings: which groups tie and why, what decides
a reward, whether two functions cancel out. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groupwise.storage.analysis.doctor.curve import mean
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.record import group_metrics

KINDS = 4  # of rewards by length: with fewer, right and wrong answers may happen to differ in length
Group = Sequence[Sample]
Places = frozenset[tuple[int, int]]  # completions, by their group and their place in it


def last_groups_of(e: Evidence, is_so: Callable[[Group], bool]) -> Places | None:
    """The completions of the last groups of which something is so; None where none were read."""
    return frozenset((one.grp, one.idx) for group in e.last_groups if is_so(group) for one in group) if e.last else None


def last_of(e: Evidence, is_so: Callable[[Sample], bool]) -> Places | None:
    """The last completions of which something is so; None where none were read."""
    return frozenset((one.grp, one.idx) for one in e.last if is_so(one)) if e.last else None


def earns_the_same(group: Group) -> bool:
    """Whether every completion of it that was scored has earned the same."""
    earned = [sample.reward for sample in group if sample.reward is not None]
    return len(group) > 1 and (not earned or max(earned) - min(earned) <= group_metrics.TIED)


def is_one_text(group: Group) -> bool:
    """Whether its completions are the same, word for word."""
    return len(group) > 1 and len({sample.text for sample in group}) == 1


@dataclass(frozen=True)
class LengthLink:
    """How far its length decides what a completion earns: `same`, whether completions of one length always earn the
    same, in whatever group; `compared`, how many share their length with another; `apart`, the share of neighbouring
    lengths that earn differently; `longer`, whether the longer earn more (1), less (−1), or either (0)."""

    same: bool
    compared: int
    apart: float
    longer: int


def length_link(samples: Sequence[Sample], least: int) -> LengthLink | None:
    """See LengthLink; None where fewer than `least` completions share their length with another, or where lengths, or
    what they usually earn, are of few kinds."""
    by_length: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.reward is not None and sample.tokens:
            by_length[sample.tokens].append(_rounded(sample.reward))
    shared = [earned for earned in by_length.values() if len(earned) > 1]
    compared = sum(len(earned) for earned in shared)
    usual = [Counter(by_length[tokens]).most_common(1)[0][0] for tokens in sorted(by_length)]
    if compared < least or len(set(usual)) < KINDS:
        return None
    steps = [b - a for a, b in zip(usual, usual[1:], strict=False)]
    up, down = (sum(step * sign > 0 for step in steps) for sign in (1, -1))
    longer = 1 if up > 4 * down else -1 if down > 4 * up else 0
    return LengthLink(all(len(set(earned)) == 1 for earned in shared), compared, (up + down) / len(steps), longer)


def scores_of(samples: Sequence[Sample], name: str) -> list[float]:
    """What a function gave those of these that it scored."""
    return [_rounded(score) for one in samples if (score := one.scores.get(name)) is not None]


def _rounded(reward: float) -> float:
    """Without what arithmetic leaves in the last digits."""
    return float(f"{reward:.9g}")


@dataclass(frozen=True)
class Pull:
    """How two functions' weighted scores go together within groups: their correlation, and how much of their scatter
    is left in the sum (1: as much as of two that know nothing of each other; 0: they cancel out)."""

    correlation: float
    left: float


def pull(e: Evidence, one: str, other: str, least: int) -> Pull | None:
    """See Pull; None where fewer than `least` completions have both scores, or a function tells none apart."""
    weights = e.weight(one), e.weight(other)
    pairs: list[tuple[float, float]] = []
    for group in e.groups:
        both = [
            (weights[0] * a, weights[1] * b)
            for sample in group
            if (a := sample.scores.get(one)) is not None and (b := sample.scores.get(other)) is not None
        ]
        middle = [mean([pair[at] for pair in both]) for at in (0, 1)]
        pairs += [(a - middle[0], b - middle[1]) for a, b in both]
    of_one, of_other = (math.fsum(pair[at] ** 2 for pair in pairs) for at in (0, 1))
    if len(pairs) < least or min(of_one, of_other) <= 1e-12:
        return None
    shared = math.fsum(a * b for a, b in pairs)
    summed = math.fsum((a + b) ** 2 for a, b in pairs)
    return Pull(shared / math.sqrt(of_one * of_other), summed / (of_one + of_other))


def chance_of_tie(samples: Sequence[Sample], size: int) -> float:
    """How often so many completions would earn the same by chance, if all prompts were alike."""
    earned = Counter(_rounded(sample.reward) for sample in samples if sample.reward is not None)
    count = sum(earned.values())
    return math.fsum((n / count) ** size for n in earned.values()) if count else 0.0


def variance_of_groups(groups: Sequence[Group]) -> float:
    """How far apart the mean rewards of groups of one step are: the variance, of the step where it is greatest, and at
    least what the completions' own scatter brings."""
    by_step: dict[int, list[list[float]]] = defaultdict(list)
    for group in groups:
        earned = [one.reward for one in group if one.reward is not None]
        if earned:
            by_step[group[0].step].append(earned)
    found = [0.0]
    for together in by_step.values():
        own = mean([_variance(earned) / len(earned) for earned in together])
        found.append(max(own, _variance([mean(earned) for earned in together])))
    return max(found)


def _variance(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)


def chance_above(first: Sequence[Group], later: Sequence[Group]) -> float:
    """How likely it is by chance that the first groups all earn more on average than each of the later ones; 1 where
    they do not."""
    means = [
        [mean([one.reward for one in group if one.reward is not None]) for group in part] for part in (first, later)
    ]
    if not all(means) or min(means[0]) <= max(means[1]):
        return 1.0
    return 1 / math.comb(len(first) + len(later), len(first))
