"""Weights of reward functions that change while a run trains: pure functions of the step, or of the success rate."""

from itertools import pairwise

from groupwise.storage.spec.spec import AdaptSpec, RewardSpec


def weight_at(reward: RewardSpec, step: int) -> float:
    """The weight at a step by the function's schedule: in straight lines between its points, and the first's and the
    last's outside of them; without a schedule its plain weight."""
    points = sorted(reward.schedule, key=lambda point: point.step)
    if not points:
        return reward.weight
    for before, after in pairwise(points):
        if before.step <= step < after.step:
            share = (step - before.step) / (after.step - before.step)
            return before.weight + share * (after.weight - before.weight)
    return points[0].weight if step < points[0].step else points[-1].weight


def adapt_weight(weight: float, rate: float, adapt: AdaptSpec) -> float:
    """The weight after a look at the success rate (0 to 1)."""
    if rate < adapt.low:
        weight *= adapt.up
    elif rate > adapt.high:
        weight *= adapt.down
    return min(max(weight, adapt.least), adapt.most)
