"""What a reward that rose does not say: what rose in it, that answers are right more often, or that held-out prompts
are answered better. Pure."""

import math

from groupwise.storage.analysis.doctor import clear_fall, held_out_shift, last_weights
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.fewer_right import (
    ENOUGH,
    FEWER,
    LESS_HELD_OUT_RIGHT,
    fall_may_be_chance,
    fell_verb,
    fewer_right_held_out,
    fewer_right_in_training,
    is_less_right,
    right_curve,
    say_fewer_right,
    say_first_evaluated,
    say_from_to,
    say_prompts,
    what_is_right,
)
from groupwise.storage.analysis.doctor.held_out_shift import Shift
from groupwise.storage.analysis.doctor.words import percent, write_figure

MAY_BE_CHANCE = ", a difference that may be chance"
LESS_HELD_OUT = 0.05  # of the scale, between two evaluations: what the prompts of a small one differ by
LOST_HELD_OUT = 0.4  # of what it earned above the least at first, where that was little
FAR_LESS_HELD_OUT = 0.12  # of the scale: no chance, and no matter of a few prompts
FEW_RIGHT, MORE_RIGHT = 0.05, 0.02  # shares of completions: nearly none; a rise that is one
# The same of a run that is over: it rises no further, so what it came to counts.
FEW_RIGHT_ENDED, MORE_RIGHT_ENDED = 0.1, 0.03
STAYED_RIGHT = 0.03  # of completions, more or less: a reader takes 60 % to 65 % for a rise
NEARLY_ALL = 0.9  # right: there is little left to rise
ROSE = 0.05  # of a function's own range
CERTAIN = 3.0  # standard errors
NAMED = 2  # functions at most
SCORED_MORE = 0.1  # of the completions: what a function scores more or fewer of than at the start
CLEARLY = 0.5  # of how far it rose in training: so much less on held-out prompts is less, however little it rose
HARDLY = 0.25  # of how far it rose in training: a held-out rise that does not bear it out


def speaks_against(e: Evidence, *, rose: bool) -> dict[str, str]:
    """A few words for beside a state, with the same in the headline. `rose`: whether the reward did; of one that stayed
    where it was only fewer right answers are told, which another function makes up for."""
    found, told, solved = {}, e.curve("eval_reward"), e.curve("groups/solved")
    if rose and held_out_fell(e):
        then, now = write_figure(told.values[0]), write_figure(told.values[-1])
        found["Held-out reward fell"] = (
            f"held-out reward {fell_verb(e)} from {then}{say_first_evaluated(e, told)} to {now}{say_prompts(e)}"
        )
    if fewer := say_fewer_right(e):
        found[FEWER] = fewer
    if rose and comes_to_hardly_right(e):
        beside = "" if fewer_right_held_out(e) else _say_right_held_out(e)
        found[f"{percent(solved.now)} right"] = f"{percent(solved.now)} of completions {e.verbs} right{beside}"
    return found


def say_few_right(e: Evidence) -> str:
    """How few answers were right at the end of a run in which they rose for certain; “” where they were not few, or
    that cannot be said."""
    return f"{percent(e.curve('groups/solved').now)} right" if _ended_with_few_right(e) else ""


def _ended_with_few_right(e: Evidence) -> bool:
    solved = e.curve("groups/solved")
    is_told = len(solved) >= ENOUGH and e.right_is_told and not e.scale_is_other
    return e.ended and is_told and solved.now < FEW_RIGHT_ENDED


def right_stayed(e: Evidence) -> bool:
    """Whether other functions rose while as much is right as at the start, though there is more to be: what a reward
    that rose does not say. Not where held-out prompts are solved more often."""
    told, span = right_curve(e)
    risen, held_out = functions_that_rose(e), right_curve(e, "eval_")[0]
    if not risen or e.target in risen or len(told) < ENOUGH or not told.now < NEARLY_ALL * span:
        return False
    if len(held_out) > 1 and held_out.values[-1] - held_out.values[0] >= LESS_HELD_OUT_RIGHT * span:
        return False
    return abs(told.rise) < STAYED_RIGHT * span


def hardly_counts_right(e: Evidence) -> bool:
    """Whether more than a few answers are wrong at the end, and what tells that weighs less than half of another."""
    told, span = right_curve(e)
    others = max((e.weight(name) for name in e.functions if name != e.target), default=0.0)
    return len(told) >= ENOUGH and told.now < NEARLY_ALL * span and e.weight(e.target) < others / 2


def say_right(e: Evidence) -> str:
    """How much is right, where the reward rose by other functions alone: that it hardly moved, or by how much, which
    may be chance; “” where right answers rose too, or that cannot be said."""
    told, span = right_curve(e)
    risen = functions_that_rose(e)
    if not risen or e.target in risen or len(told) < ENOUGH or span <= 0:
        return ""
    from_to = say_from_to(e, told.start, told.now)
    if right_stayed(e):
        return f"; {what_is_right(e)} hardly moved, {from_to}"
    rose = abs(told.rise) >= STAYED_RIGHT * span
    return f"; {what_is_right(e)} went {from_to}, which may be chance" if rose else ""


def say_right_beside(e: Evidence) -> str:
    """How the share of right answers went, for a sentence on something else; “” where that cannot be said."""
    told, _ = right_curve(e)
    return f", while {what_is_right(e)} went {say_from_to(e, told.start, told.now)}" if len(told) else ""


def say_held_out(e: Evidence) -> str:
    """What held-out reward came to, of two evaluations or more, and of how many prompts that is; “” of fewer."""
    told = e.curve("eval_reward")
    if len(told) < 2:
        return ""
    then, now = write_figure(told.values[0]), write_figure(told.values[-1])
    first, rest = say_first_evaluated(e, told), f"{say_prompts(e)}{_say_at_last_weights(e)}"
    if not held_out_moved(e):
        chance = MAY_BE_CHANCE if _differs_held_out(e) else ""
        if then == now:
            return f"; held-out reward {e.verb} {now}, as{first or ' at first'}{rest}"
        return f"; held-out reward went from {then}{first} to {now}{rest}{chance}"
    way = fell_verb(e) if told.values[-1] < told.values[0] else "rose" if e.ended else "is up"
    return f"; held-out reward {way} from {then}{first} to {now}{rest}"


def _say_at_last_weights(e: Evidence) -> str:
    """How held-out reward went at the weights that it has now; “” where none moved."""
    judged = last_weights.judged_held_out(e)
    if judged is e.curve("eval_reward") or not len(judged):
        return ""
    then, now = write_figure(judged.values[0]), write_figure(judged.values[-1])
    went = f"{now} both times" if then == now else f"from {then} to {now}"
    return f", with the {'final' if e.ended and not e.goes_on else 'current'} reward weights throughout {went}"


def say_best_held_out(e: Evidence) -> str:
    """That held-out reward was better before its last evaluation, beside advice to go on; “” where it was not."""
    told = e.curve("eval_reward")
    if not len(told) or told.high - told.values[-1] < LESS_HELD_OUT * e.scale:
        return ""
    step = told.steps[list(told.values).index(told.high)]
    return f"; held-out reward was highest at step {step:,} ({write_figure(told.high)})"


def held_out_moved(e: Evidence) -> bool:
    """Whether held-out reward is another than at first by more than the prompts of a small evaluation differ by, and
    by more than chance, as far as that is known; at equal weights."""
    return _differs_held_out(e) and not _may_be_chance(e)


def _differs_held_out(e: Evidence) -> bool:
    told = last_weights.judged_held_out(e)
    return len(told) > 1 and abs(told.values[-1] - told.values[0]) >= LESS_HELD_OUT * e.scale


def _may_be_chance(e: Evidence) -> bool:
    """Whether that held-out reward is another may be chance."""
    told, changes = last_weights.judged_held_out(e), e.held_out_changes.get("eval_reward")
    shift = Shift(e.held_out_error, None if changes is None else tuple(changes))
    return len(told) > 1 and held_out_shift.may_be_chance(told.values[-1] - told.values[0], shift)


def held_out_rose(e: Evidence) -> bool:
    """Whether held-out reward is higher than at first by as much."""
    told = last_weights.judged_held_out(e)
    return held_out_moved(e) and told.values[-1] > told.values[0]


def say_what_rose_instead(e: Evidence) -> str:
    """The first words of a headline on a reward that stayed while less is right."""
    risen = functions_that_rose(e)
    return _only(e, risen) if risen and e.target not in risen else FEWER


def say_what_rose(e: Evidence) -> str:
    """The first words of a headline on a reward that rose while something speaks against it: what did improve."""
    risen, in_training = functions_that_rose(e), comes_to_hardly_right(e) or fewer_right_in_training(e)
    if not in_training and (e.target in risen or not fewer_right_held_out(e)):
        return say_on_training_only(e)
    if e.target in risen and comes_to_hardly_right(e) and not is_hardly_right(e):
        others = [name for name in risen if name != e.target]
        return _only(e, others) if others else "Reward rose, but hardly any answers were right"
    if not risen or e.target in risen:
        rose = "rose" if e.ended else "is rising"
        if is_less_right(e):
            return f"{FEWER}, though the reward {rose}"
        return f"Reward {rose}, but answers {e.verbs} not more often right"
    return _only(e, risen)


def say_on_training_only(e: Evidence) -> str:
    """The first words of a headline on a reward that rose where held-out prompts are answered no better."""
    return f"{'Improved' if e.ended else 'Improving'} on the training prompts only"


def _only(e: Evidence, risen: list[str]) -> str:
    solved = e.curve("groups/solved")
    fewer = is_less_right(e)
    more_right = not fewer and len(solved) > 0 and solved.now - solved.start >= MORE_RIGHT
    named = " and ".join(f"“{name}”" for name in risen[:NAMED])
    improves = "is improving" if len(risen) == 1 else "are improving"
    only = f"{'Mostly' if more_right else 'Only'} {named} {'improved' if e.ended else improves}"
    return f"{FEWER}, {only[0].lower()}{only[1:]}" if fewer else only


def say_by_which(e: Evidence) -> str:
    """Which of several functions a reward rose by, the one that brought most first; “” where that cannot be said."""
    if e.weights_move or sum(1 for told in e.functions.values() if told.weight) < 2:
        return ""
    risen = functions_that_rose(e)[:NAMED]
    named = " and ".join(f"“{name}” ({_say_rise(e, name)})" for name in risen)
    return f", by {named}{_say_held_out_stayed(e, risen)}" if named else ""


def say_scored(e: Evidence) -> str:
    """That a function that counts scores more of the completions than at the start, or fewer: its own mean is of those
    that it scores, and in the reward the others count 0. “” where none does, beyond chance."""
    for name, told in e.functions.items():
        if not told.weight or not told.scored:
            continue
        (at_first, of_first), (at_last, of_last) = told.scored
        then, now, both = at_first / of_first, at_last / of_last, (at_first + at_last) / (of_first + of_last)
        error = math.sqrt(both * (1 - both) * (1 / of_first + 1 / of_last))
        if abs(now - then) >= max(SCORED_MORE, CERTAIN * error):
            gave = "gave" if e.ended else "gives"
            return f", and “{name}” {gave} a score to {percent(now)} of completions, {percent(then)} at the start"
    return ""


def say_clear_rise(e: Evidence) -> str:
    """Which functions rose for certain, though the total may not have, and from what to what; “” where none did,
    or held-out prompts do not show it."""
    risen = [name for name in functions_that_rose(e, CERTAIN) if not _denied_held_out(e, name)][:NAMED]
    link = "rose" if e.ended else "is up" if len(risen) == 1 else "are up"
    named = " and ".join(f"“{name}” ({_say_rise(e, name)})" for name in risen)
    return f", while {named} {link}" if risen else ""


def _say_rise(e: Evidence, name: str) -> str:
    curve = e.curve(f"rewards/{name}/mean")
    return f"{write_figure(curve.start)} to {write_figure(curve.now)}"


def _say_held_out_stayed(e: Evidence, risen: list[str]) -> str:
    """Which of these functions held-out prompts deny, and what they scored there; “” where they deny none, or it was
    not measured."""
    said = []
    for name in risen:
        told = e.curve(f"eval_rewards/{name}/mean")
        if _denied_held_out(e, name):
            then, now = write_figure(told.values[0]), write_figure(told.values[-1])
            when = say_first_evaluated(e, told) or " before"
            said.append(f"“{name}” {'was' if e.ended else 'is'} {now} ({then}{when})")
    return f", though on held-out prompts {' and '.join(said)}" if said else ""


def stayed_held_out(e: Evidence) -> bool:
    """Whether held-out prompts deny the rise of every function that rose in training."""
    risen = functions_that_rose(e)
    return bool(risen) and all(_denied_held_out(e, name) for name in risen)


def _denied_held_out(e: Evidence, name: str) -> bool:
    """Whether a function that rose in training did not on held-out prompts, or hardly, and scores clearly less there:
    than in training, or than at first. The first evaluation may come when most of the rise is over. Not where prompts
    are so few that they may hide such a rise by chance."""
    if not _hardly_rose_held_out(e, name):
        return False
    told, trained = e.curve(f"eval_rewards/{name}/mean"), e.curve(f"rewards/{name}/mean")
    if fall_may_be_chance(e, f"eval_rewards/{name}/mean", trained.rise):
        return False
    least = min(LESS_HELD_OUT * e.range_of(name), CLEARLY * trained.rise)
    return max(trained.now, told.values[0]) - told.values[-1] >= least


def _hardly_rose_held_out(e: Evidence, name: str) -> bool:
    told = e.curve(f"eval_rewards/{name}/mean")
    return len(told) > 1 and told.values[-1] - told.values[0] < HARDLY * e.curve(f"rewards/{name}/mean").rise


def held_out_fell(e: Evidence) -> bool:
    """Whether held-out reward is lower than at first by more than chance, or most of it is gone; where weights moved,
    at the last of them as well."""
    told = e.curve("eval_reward")
    if len(told) < 2 or _may_be_chance(e):
        return False
    return _lost(e, told) and _lost(e, last_weights.judged_held_out(e))


def _lost(e: Evidence, told: Curve) -> bool:
    lost, earned = told.values[0] - told.values[-1], told.values[0] - min(e.low or 0.0, told.low)
    return lost >= LESS_HELD_OUT * e.scale or (lost >= LESS_HELD_OUT / 2 * e.scale and lost >= LOST_HELD_OUT * earned)


def lost_held_out(e: Evidence) -> bool:
    """Whether most of what held-out prompts earned at first is lost, by more than chance."""
    told = e.curve("eval_reward")
    if not held_out_fell(e):
        return False
    lost, earned = told.values[0] - told.values[-1], told.values[0] - min(e.low or 0.0, told.low)
    return lost >= max(FAR_LESS_HELD_OUT * e.scale, LOST_HELD_OUT * earned)


def is_hardly_right(e: Evidence) -> bool:
    """Whether next to nothing is right, as at the start."""
    solved = e.curve("groups/solved")
    if clear_fall.lost_right_answers(e):
        return False  # the first step's were right, though what was logged first is of more steps
    few = len(solved) >= ENOUGH and solved.now < FEW_RIGHT and solved.direction(MORE_RIGHT, 2.0) < 1
    return few and e.right_is_told and not e.scale_is_other


def comes_to_hardly_right(e: Evidence) -> bool:
    """The same; and of a run that is over whether few are right at its end, where they rose by next to nothing, or
    held-out prompts do not show the rise."""
    if is_hardly_right(e):
        return True
    if not _ended_with_few_right(e) or clear_fall.lost_right_answers(e):
        return False
    return e.curve("groups/solved").direction(MORE_RIGHT_ENDED, 2.0) < 1 or _hardly_rose_held_out(e, e.target)


def _say_right_held_out(e: Evidence) -> str:
    """How many were right in the last evaluation; “” where there was none since training began."""
    told, _ = right_curve(e, "eval_")
    is_known = len(told) and told.steps[-1] > e.since
    return f", and {percent(told.values[-1])} of those on held-out prompts" if is_known else ""


def functions_that_rose(e: Evidence, errors: float = 2.0) -> list[str]:
    """The functions that count and score higher than at the start, by so many standard errors; the one that brings most
    first."""
    moved: dict[str, float] = {}
    for name in e.functions:
        curve = e.curve(f"rewards/{name}/mean")
        if len(curve) >= ENOUGH and curve.direction(ROSE * (curve.high - curve.low), errors) > 0:
            moved[name] = curve.rise * e.weight(name)
    return [name for name in sorted(moved, key=lambda name: -moved[name]) if moved[name] > 0]
