"""The most that a run's reward can come to, where that is known: a figure alone does not say if it is good. Pure."""

from collections.abc import Callable, Sequence

from groupwise.storage.library.rewards import builder
from groupwise.storage.spec.spec import RewardSpec, RunSpec

# What the functions that ship give at most, whatever their parameters.
MOST = {
    "code_tests": 1.0, "correctness": 1.0, "format": 1.0, "keywords": 1.0, "language_consistency": 1.0, "length": 1.0,
    "math_equivalence": 1.0, "reasoning_steps": 1.0, "regular_expression": 1.0, "repetition_penalty": 0.0,
    "soft_overlong_punishment": 0.0, "valid_json": 1.0,
}  # fmt: skip


def most_of_run(spec: RunSpec, code_of: Callable[[str], str]) -> float | None:
    """What the best completion of a run earns; None where that is not known, or another in each stage. `code_of`: as
    for most_possible."""
    found = {most_possible(stage.rewards, code_of) for stage in spec.by_stage()}
    return found.pop() if len(found) == 1 else None


def most_possible(rewards: Sequence[RewardSpec], code_of: Callable[[str], str]) -> float | None:
    """What the best completion earns; None where that is not known of a function, or a weight moves or is below 0.
    `code_of`: the code of a person's own function, of which it is known where it is made of the builder's blocks."""
    most = [_most_given(one, code_of) for one in rewards]
    still = all(not (one.schedule or one.adapt) and one.weight >= 0 for one in rewards)
    known = [one.weight * value for one, value in zip(rewards, most, strict=True) if value is not None]
    return sum(known) if still and rewards and len(known) == len(rewards) else None


def _most_given(reward: RewardSpec, code_of: Callable[[str], str]) -> float | None:
    if reward.name in MOST and not reward.version:
        return MOST[reward.name]
    return builder.most_of_code(code_of(reward.name), reward.name)
