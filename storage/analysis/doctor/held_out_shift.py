"""How far held-out reward moved between two evaluations by what each of its prompts did, and whether that may be
chance: Overview and Checkpoints judge by it alike. Where weights changed meanwhile, at equal ones."""

from collections.abc import Mapping
from typing import NamedTuple

from groupwise.storage.analysis.compare import noise
from groupwise.storage.analysis.doctor import by_prompt
from groupwise.storage.home.sqlite_tools import Database

Means = Mapping[int, float]  # prompt → its mean


class Shift(NamedTuple):
    """By how much the difference may be off by chance, and how far each prompt moved; None: not known."""

    error: float | None = None
    changes: tuple[float, ...] | None = None


def read_shift(run: Database, then: int, now: int, weights: Mapping[str, float] | None = None) -> Shift:
    """Between the evaluations of two steps. `weights`: of functions, where the reward is judged at these."""
    first, last = (_means(run, step, weights) for step in (then, now))
    return Shift(noise.error_between(first, last), changes_by_prompt(first, last))


def may_be_chance(change: float, shift: Shift) -> bool:
    """Whether held-out reward moved by no more than two standard errors, or fell by no more than its prompts may by
    chance; not where what each did is not recorded."""
    if change < 0 and shift.changes is not None and not by_prompt.is_fall(shift.changes):
        return True
    return shift.error is not None and abs(change) <= noise.SURE * shift.error


def changes_by_prompt(then: Means, now: Means) -> tuple[float, ...] | None:
    """How far each prompt moved that both evaluations asked; None where that is less than half of them."""
    shared = then.keys() & now.keys()
    if 2 * len(shared) <= max(len(then), len(now)):
        return None
    return tuple(now[prompt] - then[prompt] for prompt in sorted(shared))


def _means(run: Database, step: int, weights: Mapping[str, float] | None) -> Means:
    if weights is None:
        return noise.held_out_means(run, step)
    found: dict[int, float] = {}
    for name, weight in weights.items():
        for prompt, mean in noise.held_out_scores(run, step, name).items():
            found[prompt] = found.get(prompt, 0.0) + weight * mean
    return found
