"""Whether the training holds: values that are no numbers, KL, clipping, gradients, the learning rate. Each rule is
pure."""

from dataclasses import replace

from groupwise.storage.analysis.doctor import changes, kl_target
from groupwise.storage.analysis.doctor.curve import median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.run_away import KL_FAR, is_far, say_high_rate
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    DEEPSEEK,
    MEASURED,
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
from groupwise.storage.library.models import learning_rates

TREND = 20  # logged steps before a trend is believed
KL_GROWING, KL_TIMES = 0.2, 2.0  # nats a token; from KL_GROWING on, doubling is running away
CLIPPED = 0.3  # share of tokens
SPIKE, SPIKES = 12.0, 3  # times the median; of the last points


def not_finite_values(e: Evidence) -> Verdict | None:
    """Loss, gradient, reward or KL were no numbers, or the weights are none any more."""
    if e.weights_lost:
        return _weights_lost(e)
    if not e.not_finite:
        return None
    names = ", ".join(e.not_finite)
    step = max(e.not_finite.values())
    words = (
        f"{names} {'was' if len(e.not_finite) == 1 else 'were'} not a finite number as late as step {step:,}. "
        "Training from there on is useless or harmful."
    )
    return Verdict(
        "not_finite", PROBLEM, "Values that are not numbers", words, "Shown at the first in the last 100 steps.", TRL,
        (chart(next(iter(e.not_finite))), step_groups(step, "worst")), changes.rate_first(e, _steadier(e)),
        Grounds(Place.UPDATE, share=1.0, moves=True),
    )  # fmt: skip


def _weights_lost(e: Evidence) -> Verdict:
    """Why a run ended whose model could no longer generate, whatever its prompts or rewards were."""
    rate = e.number("learning_rate") or learning_rates.DEFAULT
    high = e.step > 0 and e.usual_rates.is_high(rate)
    cause = (
        f"Steps at a learning rate of {setting_text(rate)} are too large."
        if high
        else "Steps that are too large do this."
    )
    words = (
        f"After step {e.step:,} the model's output was inf or nan, and it could not generate: its weights are ruined."
    )
    return Verdict(
        "not_finite", PROBLEM, "The learning rate is too high" if high else "The model's weights are ruined",
        f"{words} {cause}",
        "Shown where torch could not sample a token, as the model's output was not valid probabilities.",
        f"{TRL}; {e.usual_rates.words}", (Link("The log", "log"), chart("kl"), chart("grad_norm")),
        changes.rate_first(e, _steadier(e)), Grounds(Place.SAMPLING, True, 1.0, moves=True),
    )  # fmt: skip


def _steadier(e: Evidence) -> tuple[Change, ...]:
    """A lower rate; before it, bf16 where it computes in fp16, whose numbers end early."""
    bf16 = Change("bf16 instead of fp16", {"training.fp16": False, "training.bf16": True})
    return (*((bf16,) if e.training.get("fp16") is True else ()), *changes.lower_rate(e, 0.2))


def kl(e: Evidence) -> Verdict | None:
    """The model leaves the reference model behind."""
    told = e.curve("kl")
    if len(told) < 10 or kl_target.find_miss(e) or _is_as_asked(e, told.now):
        return None
    links = (chart("kl"), step_groups(told.steps[-1], "worst"))
    fixes, rests = changes.smaller_steps(e, 0.5), Grounds(Place.TREND, share=1.0, moved=True)
    if is_far(told):
        high = say_high_rate(e)
        rests = replace(rests, moves=bool(high))  # then what came only after it came of it
        words = (
            f"KL to the reference model {e.verb} {write_figure(told.now)} {e.at_now}: the model has drifted far from "
            f"where it began.{high}"
        )
        return Verdict(
            "kl", WARNING, "KL rose too far" if e.ended else "KL is too high", words,
            f"Shown from {KL_FAR} on; 0.02 to 0.12 in 400 steps is healthy.",
            f"{COMMON}; the KL term is from {DEEPSEEK}; {e.usual_rates.words}", links, fixes, rests,
        )  # fmt: skip
    if len(told) < TREND or not told.at_least(max(KL_GROWING, KL_TIMES * told.before)) or told.direction(0.1) < 1:
        return None
    before = f"steps {told.steps[-2 * told.window]:,} to {told.steps[-told.window] - 1:,}"
    follows = "it rose fast, far beyond what is usual" if e.ended else f"at this slope it soon passes {KL_FAR}"
    words = (
        f"KL {e.verb} {write_figure(told.now)} {e.at_now}, and {write_figure(told.before)} on average in {before}: "
        f"{follows}.{say_high_rate(e)}"
    )
    return Verdict(
        "kl", WARNING, "KL rose fast" if e.ended else "KL is rising fast", words,
        f"Shown from {KL_GROWING} on, where it has doubled since {before}; 0.02 to 0.12 in 400 steps is healthy.",
        f"{COMMON}; {MEASURED}; {e.usual_rates.words}", links, fixes, rests,
    )  # fmt: skip


def _is_as_asked(e: Evidence, now: float) -> bool:
    """Whether the KL is near the target that its weight follows."""
    return e.kl.target is not None and now <= kl_target.FAR * e.kl.target


def clipping(e: Evidence) -> Verdict | None:
    """Much of what the gradient asks for is clipped away."""
    told = e.curve("clip_ratio/region_mean")
    if len(told) < 10 or not told.at_least(CLIPPED):
        return None
    words = (
        f"{percent(told.now)} of the tokens' updates {e.verbs} clipped {e.at_now}: the policy moves further "
        "between two generations than clipping lets it learn."
    )
    once = (e.number("num_iterations") or 1) > 1
    fixes = (changes.set_to("num_iterations", 1),) if once else changes.lower_rate(e, 0.5)
    return Verdict(
        "clipping", WARNING, "Most of the update is clipped" if told.at_least(0.5) else "Much of the update is clipped",
        words, f"Shown from {percent(CLIPPED)} of tokens on; a few per cent are usual.", COMMON,
        (chart("clip_ratio/region_mean", "The chart of the clip ratio"),),
        changes.rate_first(e, (*fixes, Change("Clip higher", {"training.epsilon_high": 0.28}))), Grounds(Place.SIGN),
    )  # fmt: skip


def spikes(e: Evidence) -> Verdict | None:
    """Gradients many times the usual size, again and again."""
    told = e.curve("grad_norm")
    usual = median(told.values)
    if len(told) < TREND or usual <= 0 or len(e.tied_share) and e.tied_share.late > 0.5:
        return None  # among many tied groups the usual gradient is near 0, and any other a spike
    recent = list(zip(told.steps, told.highs, strict=True))[-2 * told.window :]
    high = [(norm, step) for step, norm in recent if norm > SPIKE * usual]
    if len(high) < SPIKES:
        return None
    norm, step = max(high)
    clip = e.number("max_grad_norm")
    held = (
        f" max_grad_norm holds them to {short_number(clip)}." if clip else " Nothing limits them (max_grad_norm is 0)."
    )
    words = (
        f"The gradient norm jumped to {write_figure(norm)} at step {step:,}; {write_figure(usual)} is usual in this "
        f"run.{held}"
    )
    return Verdict(
        "spikes", WARNING, "The gradient spikes", words,
        f"Shown at {SPIKES} or more of the last {len(recent)} points above {SPIKE:.0f} times the median.", MEASURED,
        (chart("grad_norm", "The chart of the gradient norm"), step_groups(step, "worst")),
        changes.rate_first(e, (changes.set_to("max_grad_norm", 0.1), *changes.lower_rate(e, 0.5))), Grounds(Place.SIGN),
    )  # fmt: skip


def held_out(e: Evidence) -> Verdict | None:
    """It gets better on what it trains on and worse on what it does not."""
    told, reward = e.curve("eval_reward"), e.reward
    if len(told) < 6 or len(reward) < TREND or e.weights_move:
        return None
    third = max(2, len(told) // 3)
    best_at = max(range(len(told) - third), key=lambda at: sum(told.values[at : at + third]))
    best, now = sum(told.values[best_at : best_at + third]) / third, sum(told.values[-third:]) / third
    best_step = told.steps[best_at + third - 1]
    later = [v for step, v in zip(reward.steps, reward.values, strict=True) if step > best_step]
    earlier = reward.values[: len(reward) - len(later)][-max(5, len(later)) :]
    rose = bool(later and earlier) and sum(later) / len(later) > sum(earlier) / len(earlier)
    if not rose or best - now < max(0.1 * e.scale, 3 * told.error):
        return None
    words = (
        f"On held-out prompts the reward was {write_figure(best)} in the best {third} evaluations in a row and "
        f"{write_figure(now)} in the last {third}, while on the prompts it trains on it went on rising."
    )
    return Verdict(
        "held_out", WARNING, f"Held-out reward {'fell' if e.ended else 'is falling'}", words,
        f"Shown when it is {short_number(0.1 * e.scale)} (a tenth of the rewards' range) below its best, beyond noise.",
        COMMON,
        (chart("eval_reward"), chart("reward"), completions("Held-out completions", mode="eval", sort="reward")),
        (Change(f"Stop at step {best_step:,}", {"training.max_steps": best_step}), *changes.anchor(e)),
        Grounds(Place.COURSE),
    )  # fmt: skip


RULES = (not_finite_values, kl, clipping, spikes, held_out)
