"""Whether steps are of the right size: too large, too small, held back by the KL, or none that help. Each rule is
pure."""

import math
from dataclasses import dataclass

from groupwise.storage.analysis.doctor import changes, clear_fall, grounds, last_weights, lost_right, rise
from groupwise.storage.analysis.doctor.by_prompt import CHANCE
from groupwise.storage.analysis.doctor.curve import Curve, mean, median
from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.lost_right import TOO_HIGH
from groupwise.storage.analysis.doctor.run_away import say_high_rate, say_kl
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    CORPUS,
    DEEPSEEK,
    PROBLEM,
    TRL,
    WARNING,
    Change,
    Grounds,
    Link,
    Place,
    Verdict,
    chart,
    completions,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, setting_text, short_number, write_figure
from groupwise.storage.checks.kl import HEAVY
from groupwise.storage.library.models import learning_rates, warm_up
from groupwise.storage.spec.words.number_words import count_words

TREND = 20  # logged steps before a peak in between is believed
SOON, LATEST = 4, 3  # logged steps before a fall from the very first is believed; those that are “now” for it
SLOW = 40  # logged steps before it is said that nothing moves
EARLY = 10  # … where the rate, or the KL, says why
FELL, LOST = 0.12, 0.4  # of the rewards' scale, below the best; of what had been gained until then
SURE, SURE_OF_FIRST = 4.0, 3.0  # standard errors: of a fall from a peak, of which there are many, from the first step
GONE = 1.0  # KL, nats a token, of a model that is no longer what it was
STILL = 0.03  # of the scale: a rise that is none
HARDLY = 0.003  # KL of a model that has hardly moved
NOWHERE = 3e-4  # KL at the end, of steps that lead nowhere
OUTWEIGHS = 4.0  # the gradient as it is under the KL's weight, by that of the first step, which has no KL yet
AT_AN_END = 3  # steps by which KL's growth is told, at least
PULLED = 0.5  # how fast KL grows under a heavy weight (1: with the steps; 0: not at all)
NEAR_TOP = 0.9  # of the scale
FAR_UNDER = 0.5  # of the learning rate that is set: a warm-up that is over half-way there explains little


def learning_rate_high(e: Evidence) -> Verdict | None:
    """The reward rose and has fallen again, or only fell."""
    fell = fall(e)
    if fell is None or _rate(e) < learning_rates.LEAST:
        return None  # steps as small as that are not too large
    then, moved = f"{write_figure(fell.height)} {fell.when}", say_kl(e, ", while")
    rate = lost_right.rate_that_is_cause(e)
    why = "probably too large" if rate is None else f"too large at a learning rate of {setting_text(rate)}"
    if at := "" if fell.off_chart else _say_sudden(e, fell.height):  # its chart has no such step
        then = f"{then.rstrip(',')}, {at},"
    words = f"The reward was {then} and {e.verb} {write_figure(e.reward.now)} {e.at_now}{moved}: the steps are {why}."
    return Verdict(
        "learning_rate_high", PROBLEM, say_fell(e) if rate is None else TOO_HIGH, words,
        f"Shown when it is {short_number(FELL * e.scale)} (an eighth of the rewards' range) below its best, beyond "
        f"noise, and has lost {percent(LOST)} of what it had gained; of fewer than {EARLY} logged steps where the "
        "completions of the last step earn less than those of the first by more than chance.",
        f"{COMMON}; {CORPUS}; {e.usual_rates.words}",
        (*((step_groups(e.reward.steps[0], "random"),) if fell.off_chart else ()),
         chart("reward"), chart("kl"), step_groups(e.reward.steps[-1], "worst")),
        changes.smaller_steps(e, 0.3) if rate is None else changes.usual_steps(e),
        Grounds(Place.UPDATE, share=1.0, moves=True),
    )  # fmt: skip


def _say_sudden(e: Evidence, height: float) -> str:
    """“fell to 0 at step 2”: the one step at which most of such a fall came, after which the reward stayed low; “”
    where it came bit by bit, or where each value is of several steps. The chart's smoothed line glides down instead."""
    reward = e.reward
    middle, half = (height + reward.now) / 2, (height - reward.now) / 2
    at = next((n for n in range(len(reward), 0, -1) if reward.values[n - 1] > middle), 0)  # the first that stays below
    if not 0 < at < len(reward) or reward.every > 1 or reward.lows[at] != reward.highs[at]:
        return ""
    sudden = reward.values[at - 1] - reward.values[at] >= half and reward.values[at] <= reward.now + half / 2
    return f"fell to {write_figure(reward.values[at])} at step {reward.steps[at]:,}" if sudden else ""


def say_fell(e: Evidence) -> str:
    """That the reward fell, in the words of a verdict's title; where it did so at equal weights alone, that scores
    did."""
    if e.reward.rise > 0 and last_weights.judged_reward(e).rise < 0:
        return "Scores fell" if e.ended else "Scores are falling"
    return "The reward fell" if e.ended else "The reward is falling"


def say_why_it_fell(e: Evidence) -> str:
    """The same with why, where it is as good as certain that this is the learning rate."""
    fell = say_fell(e)
    return fell if lost_right.rate_that_is_cause(e) is None else f"{TOO_HIGH}: {fell[0].lower()}{fell[1:]}"


@dataclass(frozen=True)
class Fall:
    """From where the reward has fallen to what it is now: the `height`, and `when` it was there, in words.
    `off_chart`: whether that is a step that only its groups tell of."""

    height: float
    when: str
    off_chart: bool = False


def fall(e: Evidence) -> Fall | None:
    """From where the reward has fallen, in the figures that pages say; None where it has not, or where its weights
    move, so that it may fall for that alone."""
    if e.weights_move or not len(e.reward):
        return None
    best = _fall_from_the_peak(e)
    first = _fall_from_the_first(e)
    if first is None and best is None and is_clear_fall(e):
        first = e.reward.first
    if best is not None and (first is None or best > first):
        return Fall(best, "at its best")
    if first is None:
        return None
    if e.reward.steps[0] != e.since + 1:
        return Fall(first, f"when it was first logged (step {e.reward.steps[0]:,})")
    when = "at its first step" if not e.since else f"at step {e.since + 1:,}, the first of this stage,"
    return Fall(first, f"{when}{_say_chart_begins(e)}", not e.first_is_on_the_chart)


def _say_chart_begins(e: Evidence) -> str:
    """Where the reward's chart begins, which is not at the first step if TRL logs seldom; “” where it is."""
    if e.first_is_on_the_chart or e.chart_begins is None:
        return ""
    step, value = e.chart_begins
    return f" ({write_figure(value)} at step {step:,}, where its chart begins)"


def is_clear_fall(e: Evidence) -> bool:
    """Whether a reward that is logged too seldom for trends fell beyond doubt, by its completions, from its first."""
    reward = e.reward
    if e.weights_move or not SOON <= len(reward) < EARLY or reward.first - reward.now < FELL * e.scale:
        return False
    return clear_fall.fell_beyond_doubt(e) and _functions_fell(e)


def _fall_from_the_peak(e: Evidence) -> float | None:
    """Its best, where it has risen and fallen again."""
    reward = e.reward
    lost = min(reward.peak - reward.late, reward.best - reward.now)
    if len(reward) < TREND or lost < FELL * e.scale or lost <= SURE * reward.error:
        return None
    if lost < LOST * max(reward.peak - reward.early, reward.best - reward.start) or not _functions_fell(e):
        return None
    return reward.best


def _fall_from_the_first(e: Evidence) -> float | None:
    """The first, where it has fallen from the very first step: that step's completions are the untrained model's."""
    reward, groups = e.reward, [group for group in e.first_groups if group[0].step == e.since + 1]
    if len(reward) < SOON or len(groups) < 2 or e.low is None or reward.steps[0] != e.since + 1:
        return None
    latest = reward.values[-max(LATEST, min(reward.window, len(reward) // 5)) :]
    scatter = Curve.of(reward.steps[-len(latest) :], latest).scatter
    error = math.hypot(math.sqrt(grounds.variance_of_groups(e.first_groups) / len(groups)), scatter)
    fell, kl = reward.first - max(mean(latest), reward.now), e.curve("kl")
    if fell < max(FELL * e.scale, LOST * (reward.first - e.low)) or not _functions_fell(e):
        return None
    later = [group for group in e.groups if group[0].step > e.since + LATEST]
    sure = (
        fell >= SURE_OF_FIRST * error or (len(kl) and kl.now >= GONE) or grounds.chance_above(groups, later) <= CHANCE
    )
    return reward.first if sure else None


def is_less_scored(e: Evidence) -> bool:
    """Whether the total fell beyond noise only because a function that pays well is silent."""
    return last_weights.judged_reward(e).direction(STILL * e.scale) < 0 and not _functions_fell(e)


def _functions_fell(e: Evidence) -> bool:
    """Whether a function's own scores fell beyond noise, where some have none: the total falls already when one that
    pays well is silent."""
    if not any(told.weight and _falls_silent(told) for told in e.functions.values()):
        return True
    return any(_fell_by_itself(e, e.curve(f"rewards/{name}/mean")) for name in e.functions)


def _falls_silent(told: Function) -> bool:
    """Whether a function leaves many of the last completions without a score, of all or of those of now."""
    scored, of = told.scored[-1] if told.scored else (0, 0)
    return max(told.failure_share + told.unscored_share, 1 - scored / of if of else 0.0) >= FELL


def _fell_by_itself(e: Evidence, curve: Curve) -> bool:
    """Whether what a function gives, and gives still, has fallen; of a few steps that is not known."""
    if len(curve) < EARLY or curve.steps[-1] <= e.reward.course.ended[0]:
        return False
    fell = max(curve.first, curve.peak) - curve.late
    return fell >= LOST * (curve.high - curve.low) > 0 and fell > SURE_OF_FIRST * curve.error


def beta_high(e: Evidence) -> Verdict | None:
    """The KL's weight pulls back whatever is learned: KL is there at once and grows no more, or hardly there though
    the rate is a usual one."""
    told, reward, beta = e.curve("kl"), e.reward, _kl_weight(e)
    if beta < HEAVY or told.tells_of < EARLY or not e.has_two_ends or reward.direction(STILL * e.scale) > 0:
        return None
    held = growth(told) <= PULLED or not (told.late > HARDLY or _rate(e) < learning_rates.LEAST)
    if not held and not _kl_outweighs(e):
        return None
    seen = f"KL {e.verb} held at {write_figure(told.now)}" if held else _say_outweighs(e.curve("grad_norm"))
    outweighs = f"with beta {setting_text(beta)} the KL term outweighs the reward"
    words = f"{seen}, and the {said_of_reward(e)}: {outweighs}.{say_high_rate(e)}"
    return Verdict(
        "beta_high", WARNING, "The KL weight (beta) is too high", words,
        f"Shown from beta {HEAVY} on, where the reward does not rise and KL grows more slowly than with the square "
        f"root of the steps, or is below {HARDLY}; from {TREND} logged steps on also where grad_norm is mostly "
        f"{OUTWEIGHS:g} times that of the first step. 0 to 0.1 is usual, DeepSeekMath has {changes.KL_WEIGHT}.",
        f"{DEEPSEEK}; {CORPUS}",
        (chart("kl"), chart("reward")), changes.lighter_kl(e),
        Grounds(Place.UPDATE, True),
    )  # fmt: skip


def _kl_weight(e: Evidence) -> float:
    """What it is; where it follows a target, what it is now."""
    follows = e.kl.target is not None and len(e.curve("beta"))
    return e.curve("beta").now if follows else e.number("beta") or 0.0


def _kl_outweighs(e: Evidence) -> bool:
    """Whether the gradient is mostly the KL's: far larger than at the first step, where the model is the reference
    still, so that it has the reward's alone."""
    norm, told = e.curve("grad_norm"), e.curve("kl")
    if len(norm) < TREND or len(e.reward) < TREND or norm.steps[0] != 1 or norm.first <= 0 or told.first > NOWHERE:
        return False
    return median(norm.values[1:]) >= OUTWEIGHS * norm.first


def _say_outweighs(norm: Curve) -> str:
    since = short_number(OUTWEIGHS * norm.first)
    return f"grad_norm was {write_figure(norm.first)} at the first step, where KL is 0, and mostly above {since} since"


def growth(kl: Curve) -> float:
    """How KL grows: with the steps to the power of this. The first update is held back by nothing, as there is no KL
    yet; steps that go their way make it grow with the power 1 to 2, a heavy KL weight holds it where it is."""
    whole = int(kl.every == 1)  # of several steps, the first value is not the first step's alone
    values, first = [max(value, 1e-12) for value in kl.values[whole:]], kl.steps[0] - kl.every + 1 if len(kl) else 0
    third = max(-(-AT_AN_END // kl.every), len(values) // 3)
    if len(values) < 2 * third:
        return 1.0
    early, late = (math.fsum(map(math.log, part)) / third for part in (values[:third], values[-third:]))
    since = [math.log(step - (kl.every - 1) / 2 - first) for step in kl.steps[whole:]]  # from the middle of its steps
    return (late - early) / (mean(since[-third:]) - mean(since[:third]))


def is_near_top(e: Evidence) -> bool:
    """Whether the reward is about as high as any completion's."""
    return e.high is not None and e.low is not None and e.reward.late >= e.low + NEAR_TOP * e.scale


def warm_up_long(e: Evidence) -> Verdict | None:
    """The model stays where it is, as the learning rate is far under the one that is set: it warms up for as long as
    the run, or longer."""
    rates, asked, steps = e.curve("learning_rate"), e.number("learning_rate") or 0.0, max(e.total, e.step) - e.since
    warm = warm_up.warm_up_steps(e.number("warmup_steps"), e.training.get("lr_scheduler_type"), steps)
    if min(len(rates), len(e.reward)) < EARLY or not e.has_two_ends or warm < steps or rates.high >= FAR_UNDER * asked:
        return None
    if e.weights_move or is_near_top(e) or not _stays(e) or rise.functions_that_rose(e, rise.CERTAIN):
        return None  # something is learned, so it moves; or there is nowhere to go
    words = (
        f"The {said_of_reward(e)}. The learning rate {'came' if e.ended else 'has come'} to {short_number(rates.high)} "
        f"and not to the {setting_text(asked)} that is set: it rises for {count_words(warm, 'step')} of warm-up, and "
        f"there {'were' if e.ended else 'are'} {count_words(steps, 'step')} in all."
    )
    short = warm_up.short_warm_up(steps)
    return Verdict(
        "warm_up_long", WARNING, "The warm-up is longer than the run", words,
        f"Shown from {EARLY} logged steps on where the warm-up has as many steps as the run or more, the learning rate "
        f"stays below {percent(FAR_UNDER)} of what is set, and neither reward nor KL move.",
        TRL, (chart("learning_rate", "The chart of the learning rate"), chart("reward")),
        tuple(changes.set_to("warmup_steps", value) for value in dict.fromkeys((short, 0))),
        Grounds(Place.UPDATE, True),
    )  # fmt: skip


def flat_reward(e: Evidence) -> Verdict | None:
    """The reward goes nowhere: because the model hardly moves, or though it does."""
    reward = e.reward
    if len(reward) < EARLY or not e.has_two_ends or e.weights_move:
        return None
    if learning_rate_high(e) or beta_high(e) or warm_up_long(e):
        return None
    if is_near_top(e):
        return None  # there is nowhere to go
    said = f"The {said_of_reward(e)}"
    links = (
        chart("reward"),
        step_groups(reward.steps[-1], "worst"),
        completions("Its best completions", sort="-reward"),
    )
    low = _rate_low(e, said, links, _rate(e))
    if low or not has_gone_on_long(e) or reward.direction(STILL * e.scale, 2.0) != 0 or _is_too_noisy(e):
        return low
    words = f"{said}, though groups {e.has} a learning signal. Is the reward one that better completions earn more of?"
    return Verdict(
        "flat", WARNING, "The reward is flat", words,
        f"Shown when it has moved by less than {short_number(STILL * e.scale)} or than noise, in {SLOW} logged steps.",
        COMMON, links,
        (*changes.higher_rate(e, 2.0), Change("Other rewards, tried on its completions", edit_reward="")),
        Grounds(Place.RESIDUE),
    )  # fmt: skip


def has_gone_on_long(e: Evidence) -> bool:
    """Whether it has so many steps that what has not moved by then is said of it."""
    return e.reward.tells_of >= SLOW


def said_of_reward(e: Evidence) -> str:
    """How a reward stands that has neither risen nor fallen beyond what noise does, in the figures that pages say:
    “reward is 0.42 now, about as at the start (0.43)”."""
    now, start, since = write_figure(e.reward.now), write_figure(e.reward.start), start_words(e)
    if abs(e.reward.rise) <= STILL * e.scale or reads_the_same(e.reward):
        when = f"when this stage began ({start}, {_first_of_stage(e)})" if e.since else f"{since} ({start})"
        return f"reward {e.verb} {now} {e.at_now}, about as {when}"
    why = "as less was scored" if is_less_scored(e) else "which may be noise"
    return f"reward was {start} {since} and {'' if e.ended else f'{e.verb} '}{now} {e.at_now}, {why}"


def reads_the_same(reward: Curve) -> bool:
    """Whether the reward's figures at the start and now are written the same: up from 1.03 to 1.03 is nowhere."""
    return write_figure(reward.start) == write_figure(reward.now)


def start_words(e: Evidence) -> str:
    """When the first steps were: at the start, or where the stage began that trains."""
    return "at the start" if not e.since else f"as this stage began ({_first_of_stage(e)})"


def _first_of_stage(e: Evidence) -> str:
    return f"step {e.since + 1:,}"


def _is_too_noisy(e: Evidence) -> bool:
    return e.reward.error * 3 > 0.1 * e.scale and abs(e.reward.late - e.reward.early) > STILL * e.scale


def _rate(e: Evidence) -> float:
    rates = e.curve("learning_rate")
    return max(rates.values) if len(rates) else e.number("learning_rate") or learning_rates.DEFAULT


def _rate_low(e: Evidence, said: str, links: tuple[Link, ...], rate: float) -> Verdict | None:
    moved, ahead = e.curve("kl"), _ahead(e)
    if e.usual_rates.is_high(max(rate, e.number("learning_rate") or 0.0)) or not _stays(e):
        return None
    if rise.functions_that_rose(e, rise.CERTAIN):
        return None  # something is learned, so it moves
    blind = not len(moved) and e.usual_rates.is_far_below(rate)  # where no KL tells how far it moved
    if not (rate < learning_rates.LEAST or blind or ahead is not None and ahead < NOWHERE or _is_still(e)):
        return None
    why = f"KL {e.verb} {write_figure(moved.now)}" if len(moved) else f"the learning rate is {rate:g}"
    if ahead is not None and e.total > e.step and not e.ended:
        why += f", and at this pace {write_figure(ahead)} at the end"
    return Verdict(
        "learning_rate_low", WARNING, "The learning rate is probably too low",
        f"{said}, and the model {'had' if e.ended else 'has'} hardly moved: {why}.",
        f"Shown from {EARLY} logged steps on with a learning rate below {learning_rates.LEAST:g}, or without KL "
        f"{learning_rates.FAR_BELOW} times below a usual one, or where KL, growing "
        f"with the square of the steps, stays below {NOWHERE:g} to the end; from {SLOW} on with a flat reward and KL "
        f"below {HARDLY}.",
        f"{COMMON}; {CORPUS}; {e.usual_rates.words}",
        (*links, chart("kl")), changes.higher_rate(e, 5.0),
        Grounds(Place.UPDATE, True),
    )  # fmt: skip


def _stays(e: Evidence) -> bool:
    """Whether the model is where it began, as far as can be told."""
    moved = e.curve("kl")
    return e.reward.direction(STILL * e.scale, SURE) == 0 and not (len(moved) and moved.late > HARDLY)


def _is_still(e: Evidence) -> bool:
    """Whether neither reward nor KL have moved for long."""
    flat = e.reward.direction(STILL * e.scale, 2.0) == 0 and not _is_too_noisy(e)
    return has_gone_on_long(e) and flat and len(e.curve("kl")) > 0


def _ahead(e: Evidence) -> float | None:
    """What KL comes to at the end, if steps go on to go one way; None where it is not logged."""
    moved, done = e.curve("kl"), e.step - e.since
    return moved.late * ((max(e.total, e.step) - e.since) / done) ** 2 if len(moved) and done > 0 else None


RULES = (learning_rate_high, beta_high, warm_up_long, flat_reward)
OF_NO_RISE = {"beta_high", "warm_up_long", "learning_rate_low", "flat"}  # verdicts that tell by `said_of_reward`
