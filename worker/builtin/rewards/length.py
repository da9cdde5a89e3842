"""Reward for a length: keeping short, going on for longer, or staying near a target."""

from typing import Literal


def length(
    completions: list,
    completion_ids: list[list[int]],
    *,
    mode: Literal["shorter", "longer", "target"] = "shorter",
    low: int = 64,
    high: int = 512,
    target: int = 256,
    tolerance: int = 128,
    **kwargs: object,
) -> list[float]:
    """1 for a short completion, falling to 0 for a long one; or the reverse, or near a target.

    Against the drift towards ever longer completions; give it a small weight beside correctness. It is 1 up to `low`
    tokens, falling in a straight line to 0 at `high` tokens. In the mode `longer` it is the other way round, and in
    the mode `target` it is 1 at `target` tokens, falling in a straight line to 0 at `tolerance` tokens more or less.

    Args:
        mode: what earns more: shorter, longer, or closer to the target.
        low: tokens up to which it is level, in the modes shorter and longer.
        high: tokens from which it is level again.
        target: the best number of tokens, in the mode target.
        tolerance: how many tokens off the target earn nothing.
    """
    # A short answer with its thought fits in 64 tokens, so being shorter than that earns no more: a reward for
    # every token saved would teach the model to stop thinking. 512 is common practice's limit for reasoning.
    check(mode, low, high, target, tolerance)
    if mode == "target":
        return [max(0.0, 1 - abs(len(ids) - target) / tolerance) for ids in completion_ids]
    shorter = [score(len(ids), low, high) for ids in completion_ids]
    return shorter if mode == "shorter" else [1 - value for value in shorter]


def check(mode: str, low: int, high: int, target: int, tolerance: int) -> None:
    """Raises ValueError for a parameter that makes no sense."""
    if mode not in ("shorter", "longer", "target"):
        raise ValueError(f"mode must be shorter, longer or target, not {mode!r}.")
    if not 0 <= low < high:
        raise ValueError(f"low must be 0 or more and less than high, not {low!r} beside {high!r}.")
    if target < 0:
        raise ValueError(f"target must be 0 or more, not {target!r}.")
    if tolerance <= 0:
        raise ValueError(f"tolerance must be more than 0, not {tolerance!r}.")


def score(tokens: int, low: int, high: int) -> float:
    """What a completion of so many tokens gets where shorter is better."""
    left = (high - tokens) / (high - low)
    return min(1.0, max(0.0, left))
