"""The most that a run's reward can come to, where that is known: a figure alone does not say if it is good. Pure."""

from collections.abc import Sequence

from groupwise.storage.spec.spec import RewardSpec

# What the functions that ship give at most, whatever their parameters.
MOST = {
    "code_tests": 1.0, "correctness": 1.0, "format": 1.0, "keywords": 1.0, "language_consistency": 1.0, "length": 1.0,
    "math_equivalence": 1.0, "reasoning_steps": 1.0, "regular_expression": 1.0, "repetition_penalty": 0.0,
    "soft_overlong_punishment": 0.0, "valid_json": 1.0,
}  # fmt: skip


def most_possible(rewards: Sequence[RewardSpec]) -> float | None:
    """What the best completion earns; None where a function is a person's own, or a weight moves or is below 0."""
    known = all(
        one.name in MOST and not (one.version or one.schedule or one.adapt) and one.weight >= 0 for one in rewards
    )
    return sum(one.weight * MOST[one.name] for one in rewards) if known and rewards else None
