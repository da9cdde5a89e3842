"""Solve rates by prompt, and pass@k, from how many of each group's completions were solved. Pure functions on rows."""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from groupwise.storage.analysis.statistics.buckets import Stretches

ONCE_SOLVED = 0.5  # a prompt is forgotten when this share of a group was right, and none of its newest group is


class Solved(NamedTuple):
    """One group: `n` completions, of which `c` are solved."""

    step: int
    prompt: int
    n: int
    c: int


class PromptRate(NamedTuple):
    """One prompt: the share of its completions solved, over all its groups (`rate`), in the earlier and the newer half
    of them (`early`, `late`: the same group where there is one only), in the newest, and the best of the others."""

    prompt: int
    groups: int
    rate: float
    early: float
    late: float
    newest: float
    best_before: float


@functools.lru_cache(maxsize=4096)
def pass_at(k: int, n: int, c: int) -> float:
    """The chance that at least one of `k` completions, drawn from `n` of which `c` are right, is right: the unbiased
    estimate 1 − C(n − c, k) / C(n, k) of Chen et al. 2021 (arXiv:2107.03374). n ≥ k ≥ 1."""
    if n - c < k:
        return 1.0
    wrong = 1.0
    for i in range(k):
        wrong *= (n - c - i) / (n - i)
    return 1.0 - wrong


def ks(groups: Iterable[Solved]) -> list[int]:
    """1, 2, 4, 8 … up to the size of the largest group, which is the last."""
    largest = max((group.n for group in groups), default=0)
    found = [2**power for power in range(largest.bit_length()) if 2**power <= largest]
    return found if not found or found[-1] == largest else [*found, largest]


def pass_over_steps(groups: Sequence[Solved], buckets: Stretches) -> dict[str, Any]:
    """{steps, groups, k, rates}: per stretch that has groups, the mean of pass@k over those of at least k completions;
    `rates[i]` is that of `k[i]`, None where no group is as large."""
    parts: dict[int, list[Solved]] = {}
    for group in groups:
        parts.setdefault(buckets.of(group.step), []).append(group)
    ordered = sorted(parts.items())
    wanted = ks(groups)
    return {
        "steps": [buckets.steps(number) for number, _ in ordered],
        "groups": [len(part) for _, part in ordered],
        "k": wanted,
        "rates": [[_mean_pass(k, part) for _, part in ordered] for k in wanted],
    }


def _mean_pass(k: int, part: Sequence[Solved]) -> float | None:
    rates = [pass_at(k, group.n, group.c) for group in part if group.n >= k]
    return sum(rates) / len(rates) if rates else None


def by_prompt(groups: Iterable[Solved]) -> list[PromptRate]:
    """Each prompt's rates, in the order in which they first came."""
    parts: dict[int, list[Solved]] = {}
    for group in groups:
        if group.n:
            parts.setdefault(group.prompt, []).append(group)
    return [_rates(prompt, sorted(part, key=lambda group: group.step)) for prompt, part in parts.items()]


def _rates(prompt: int, part: list[Solved]) -> PromptRate:
    half = len(part) // 2
    early, late = (part[:half], part[half:]) if half else (part, part)
    best = max((group.c / group.n for group in part[:-1]), default=0.0)
    return PromptRate(
        prompt, len(part), solve_rate(part), solve_rate(early), solve_rate(late), solve_rate(part[-1:]), best
    )


def solve_rate(part: Sequence[Solved]) -> float:
    """The share of these groups' completions that are solved."""
    return sum(group.c for group in part) / sum(group.n for group in part)


def pick(prompts: Sequence[PromptRate], order: str, most: int) -> tuple[list[PromptRate], int]:
    """At most `most` of the prompts that an order is about, and how many it is about: “hardest” and
    “easiest” are of all, by what was solved lately; “improved” of those solved more often in the newer half of their
    groups; “forgotten” of those solved before and not in their newest group at all."""
    if order == "improved":
        some = [one for one in prompts if one.groups > 1 and one.late > one.early]
        ordered = sorted(some, key=lambda one: one.early - one.late)
    elif order == "forgotten":
        some = [one for one in prompts if one.best_before >= ONCE_SOLVED and not one.newest]
        ordered = sorted(some, key=lambda one: (-one.best_before, -one.rate))
    else:
        sign = 1 if order == "hardest" else -1
        ordered = sorted(prompts, key=lambda one: (sign * one.late, sign * one.rate, -one.groups))
    return ordered[:most], len(ordered)


def count_never_solved(prompts: Iterable[PromptRate], least: int) -> tuple[int, int]:
    """How many of the prompts that came in `least` groups or more were never solved, and how many came so often."""
    often = [one for one in prompts if one.groups >= least]
    return sum(not one.rate for one in often), len(often)


def cells(groups: Iterable[Solved], buckets: Stretches) -> dict[int, list[float | None]]:
    """Per prompt the share solved in each stretch of steps; None where it did not come."""
    n: dict[int, list[int]] = {}
    c: dict[int, list[int]] = {}
    for group in groups:
        at = buckets.of(group.step)
        n.setdefault(group.prompt, [0] * buckets.count)[at] += group.n
        c.setdefault(group.prompt, [0] * buckets.count)[at] += group.c
    return {
        prompt: [solved / all_ if all_ else None for solved, all_ in zip(c[prompt], n[prompt], strict=True)]
        for prompt in n
    }
