"""What a reward that rose does not say: that answers are right more often, or that held-out prompts are answered
better. Pure."""

from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.words import percent, short_number

ENOUGH = 10  # logged steps
LESS_HELD_OUT = 0.05  # of the scale, between two evaluations: what the prompts of a small one differ by
LOST_HELD_OUT = 0.4  # of what it earned above the least at first, where that was little
FEW_RIGHT, MORE_RIGHT = 0.05, 0.02  # shares of completions: nearly none; a rise that is one
ROSE = 0.05  # of a function's own range


def speaks_against(e: Evidence) -> dict[str, str]:
    """A few words for beside a state, with the same in the headline."""
    found, told, solved = {}, e.curve("eval_reward"), e.curve("groups/solved")
    if _held_out_fell(e):
        fell = "fell" if e.ended else "is down"
        then, now = short_number(told.values[0]), short_number(told.values[-1])
        found["held-out reward fell"] = f"held-out reward {fell} from {then} to {now}"
    if _is_hardly_right(e):
        found[f"{percent(solved.now)} right"] = f"{percent(solved.now)} of completions {e.verbs} right"
    return found


def say_what_rose(e: Evidence) -> str:
    """The first words of a headline on a reward that rose while something speaks against it: what did improve."""
    if not _is_hardly_right(e):
        return f"{'Improved' if e.ended else 'Improving'} on the training prompts only"
    risen = _functions_that_rose(e)
    if not risen or e.target in risen:
        return f"Reward {'rose' if e.ended else 'is rising'}, but answers {e.verbs} not more often right"
    named = " and ".join(f"“{name}”" for name in risen[:2])
    return f"Only {named} {'improved' if e.ended else 'is improving' if len(risen) == 1 else 'are improving'}"


def _held_out_fell(e: Evidence) -> bool:
    told = e.curve("eval_reward")
    if len(told) < 2:
        return False
    lost, earned = told.values[0] - told.values[-1], told.values[0] - min(e.low or 0.0, told.low)
    return lost >= LESS_HELD_OUT * e.scale or (lost >= LESS_HELD_OUT / 2 * e.scale and lost >= LOST_HELD_OUT * earned)


def _is_hardly_right(e: Evidence) -> bool:
    """Whether next to nothing is right, as at the start."""
    solved = e.curve("groups/solved")
    few = len(solved) >= ENOUGH and solved.now < FEW_RIGHT and solved.direction(MORE_RIGHT, 2.0) < 1
    return few and e.right_is_told and not e.scale_is_other


def _functions_that_rose(e: Evidence) -> list[str]:
    """The functions that count and score higher than at the start, beyond noise; the one that brings most first."""
    moved: dict[str, float] = {}
    for name in e.functions:
        curve = e.curve(f"rewards/{name}/mean")
        if len(curve) >= ENOUGH and curve.direction(ROSE * (curve.high - curve.low), 2.0) > 0:
            moved[name] = curve.rise * e.weight(name)
    return [name for name in sorted(moved, key=lambda name: -moved[name]) if moved[name] > 0]
