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
    still = all(not (one.schedule or one.adapt) for one in rewards)
    return most_weighed([(one.weight, _most_given(one, code_of)) for one in rewards]) if still else None


def most_weighed(functions: Sequence[tuple[float, float | None]]) -> float | None:
    """What the best completion earns of functions with these weights that give so much at most; None where that is not
    known of one, or its weight is below 0."""
    known = [weight * most for weight, most in functions if most is not None and weight >= 0]
    return sum(known) if functions and len(known) == len(functions) else None


def most_given(name: str, code: str | None) -> float | None:
    """What a function gives at most, by its code; None: by its name, as it ships."""
    return MOST.get(name) if code is None else builder.most_of_code(code, name)


def _most_given(reward: RewardSpec, code_of: Callable[[str], str]) -> float | None:
    shipped = reward.name in MOST and not reward.version
    return most_given(reward.name, None if shipped else code_of(reward.name))
