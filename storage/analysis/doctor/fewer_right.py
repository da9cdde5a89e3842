"""Whether answers are right less often than at the start, in training or on held-out prompts, and how that is said.
Pure."""

from groupwise.storage.analysis.doctor import by_prompt, clear_fall
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.words import percent, write_figure
from groupwise.storage.spec.words.number_words import count_words

FEWER = "Fewer right answers"  # beside a run's state, and in its headline
ENOUGH = 10  # logged steps
LESS_RIGHT = 0.05  # less, of completions, or of the range of the function that tells what is right
# The same between two evaluations, which are of few prompts; and the least, where half of it or more was lost.
LESS_HELD_OUT_RIGHT, HALVED_HELD_OUT_RIGHT = 0.15, 0.1
FEWER_GROUPS = 0.1  # with a solved completion, of all groups: what bears a held-out fall out


def is_less_right(e: Evidence) -> bool:
    """Whether less is right than at the start, in training or held-out."""
    return fewer_right_in_training(e) or fewer_right_held_out(e)


def fewer_right_in_training(e: Evidence) -> bool:
    """Whether less is right in training, by trend, or far less than at the first step."""
    told, span = right_curve(e)
    if len(told) < ENOUGH or span <= 0:
        return False
    return told.has_fallen(LESS_RIGHT * span) or clear_fall.lost_right_answers(e)


def fewer_right_held_out(e: Evidence) -> bool:
    """Whether less is right on held-out prompts, by more than chance."""
    told, span = right_curve(e, "eval_")
    if len(told) < 2 or span <= 0:
        return False
    lost = (told.values[0] - told.values[-1]) / span
    if lost >= LESS_RIGHT and (fewer_right_in_training(e) or _fewer_groups_solved(e)):
        return True  # so much is no chance where training shows it as well
    if not (lost >= LESS_HELD_OUT_RIGHT or _halved_held_out(e)):
        return False
    of_score = f"eval_rewards/{e.target}/mean"
    return not fall_may_be_chance(e, of_score if e.scale_is_other else "eval_groups/solved")


def _halved_held_out(e: Evidence) -> bool:
    """Whether half or less is left of what was right in the first evaluation."""
    told, span = right_curve(e, "eval_")
    lost = told.values[0] - told.values[-1]
    return lost >= HALVED_HELD_OUT_RIGHT * span and told.values[-1] <= told.values[0] / 2


def lost_right_held_out(e: Evidence) -> bool:
    """Whether most of the right answers to held-out prompts are lost, by more than chance."""
    return fewer_right_held_out(e) and _halved_held_out(e) and not e.scale_is_other


def _fewer_groups_solved(e: Evidence) -> bool:
    """Whether fewer groups of training have a solved completion, which says little alone: it goes with held-out."""
    told = e.curve("groups/any_solved")
    if not e.target or not e.right_is_told or e.scale_is_other:
        return False
    return len(told) >= ENOUGH and told.direction(FEWER_GROUPS, 2.0) < 0


def say_fewer_right(e: Evidence) -> str:
    """That less is right than at the start, in training or held-out; “” where that cannot be said."""
    said, what = [], what_is_right(e)
    if fewer_right_in_training(e):
        told, span = right_curve(e)
        soon = not told.has_fallen(LESS_RIGHT * span)  # before the first log
        then, when = (told.first, " at the first step") if soon else (told.start, "")
        said.append(f"{what} {fell_verb(e)} {say_from_to(e, then, told.now, when)}")
    if fewer_right_held_out(e):
        told, _ = right_curve(e, "eval_")
        fell = say_from_to(e, told.values[0], told.values[-1], say_first_evaluated(e, told))
        fell += say_prompts(e)
        said.append(f"held-out {fell}" if said else f"{what_is_right(e, 'held-out ')} {fell_verb(e)} {fell}")
        if len(said) == 1 and _fewer_groups_solved(e):
            solved = e.curve("groups/any_solved")
            said.append(
                f"the share of groups with ≥ 1 solved {fell_verb(e)} {say_from_to(e, solved.start, solved.now)}"
            )
    return " and ".join(said)


def what_is_right(e: Evidence, where: str = "") -> str:
    """What tells how much is right, as a sentence names it."""
    return f"{where}“{e.target}”" if e.scale_is_other else f"the {where}share scored correct by “{e.target}”"


def say_from_to(e: Evidence, then: float, now: float, when: str = "") -> str:
    """From what to what that went."""
    write = write_figure if e.scale_is_other else percent
    return f"from {write(then)}{when} to {write(now)}"


def right_curve(e: Evidence, mode: str = "") -> tuple[Curve, float]:
    """What tells how much is right, and its range: the share that is, or, by another scale, what the function gives."""
    if not e.target or not e.right_is_told or e.functions.get(e.target, Function()).scores_few:
        return Curve(), 0.0
    if not e.scale_is_other:
        return e.curve(f"{mode}groups/solved"), 1.0
    return e.curve(f"{mode}rewards/{e.target}/mean"), e.range_of(e.target)


def fall_may_be_chance(e: Evidence, curve: str, expected: float = 0.0) -> bool:
    """Whether the prompts of a held-out curve may by chance have come to so much less than `expected` above the first
    evaluation; not where what each did is not recorded."""
    changes = e.held_out_changes.get(curve)
    return changes is not None and not by_prompt.is_fall([change - expected for change in changes])


def say_first_evaluated(e: Evidence, told: Curve) -> str:
    """At which step a held-out curve begins; “” where that is before the first step, as a reader expects."""
    return "" if told.steps[0] <= e.since else f" at step {told.steps[0]:,}"


def say_prompts(e: Evidence) -> str:
    """Of how many prompts an evaluation is, in brackets; “” where that is not known."""
    return f" ({count_words(e.held_out_prompts, 'prompt')})" if e.held_out_prompts else ""


def fell_verb(e: Evidence) -> str:
    """Says that something fell, of a run that is over or goes on."""
    return "fell" if e.ended else "is down"
