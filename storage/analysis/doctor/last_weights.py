"""What the reward would have been, had its functions weighed all along what they weigh now: where weights change while
a run trains, the reward moves for that alone, and what the model learned shows at equal weights. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.spec.spec import RewardSpec


def moved_weights(e: Evidence) -> dict[str, Curve]:
    """The weight of each function whose weight is another than at the start, over the steps."""
    return moved_of(e.rewards, e.curves)


def moved_of(rewards: Sequence[RewardSpec], told: Mapping[str, Curve]) -> dict[str, Curve]:
    """The same of these functions, in the curves of a run."""
    changing = [reward.name for reward in rewards if reward.schedule or reward.adapt]
    curves = {name: told.get(f"rewards/{name}/weight", Curve()) for name in changing}
    return {name: curve for name, curve in curves.items() if len(curve) and curve.values[0] != curve.values[-1]}


def judged_reward(e: Evidence) -> Curve:
    """The reward at the weights of its last steps; as it was where none moved, or where functions were not scored at
    enough steps to tell."""
    return _at_last(e, e.reward, "rewards")


def judged_held_out(e: Evidence) -> Curve:
    """The same of held-out reward."""
    return _at_last(e, e.curve("eval_reward"), "eval_rewards")


def _at_last(e: Evidence, total: Curve, of: str) -> Curve:
    weights = _last(e) if moved_weights(e) else {}
    curves = {name: e.curve(f"{of}/{name}/mean") for name in weights}
    if not curves or not all(len(curve) for curve in curves.values()):
        return total
    steps = sorted(set(total.steps).intersection(*(curve.steps for curve in curves.values())))
    if 2 * len(steps) < len(total):
        return total
    means = {name: dict(zip(curve.steps, curve.values, strict=True)) for name, curve in curves.items()}
    values = [sum(weight * means[name][step] for name, weight in weights.items()) for step in steps]
    start = sum(weight * curves[name].start for name, weight in weights.items())
    now = sum(weight * curves[name].now for name, weight in weights.items())
    return Curve.of(steps, values, course=replace(total.course, start=start, best=max(start, now), now=now))


def _last(e: Evidence) -> dict[str, float]:
    """What each function that counts weighs in the last steps, for the completions that it scores."""
    last = {one.name: e.weight(one.name) for one in e.rewards}
    last |= {name: curve.now for name, curve in moved_weights(e).items()}
    return {name: share for name, weight in last.items() if (share := weight * _scored_share(e, name))}


def _scored_share(e: Evidence, name: str) -> float:
    told = e.functions.get(name, Function())
    return 1 - told.failure_share - told.unscored_share
