"""Whether the training holds: values that are no numbers, KL, clipping, gradients, the learning rate. Each rule is
pure."""

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.curve import median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    DEEPSEEK,
    MEASURED,
    PROBLEM,
    TRL,
    WARNING,
    Change,
    Verdict,
    chart,
    completions,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, short_number

TREND = 20  # logged steps before a trend is believed
SLOW = 40  # before it is said that nothing moves
KL_FAR, KL_GROWING, KL_TIMES = 0.5, 0.2, 2.0  # nats a token; from KL_GROWING on, doubling is running away
CLIPPED = 0.3  # share of tokens
SPIKE, SPIKES = 12.0, 3  # times the median; of the last points
FELL, LOST = 0.12, 0.4  # of the rewards' scale, below the best; of what had been gained until then
STILL = 0.03  # of the scale: a rise that is none
HARDLY = 0.003  # KL of a model that has hardly moved
TINY = 5e-7  # learning rates below are lower than anyone trains with
NEAR_TOP = 0.9  # of the scale


def not_finite_values(e: Evidence) -> Verdict | None:
    """Loss, gradient, reward or KL were no numbers."""
    if not e.not_finite:
        return None
    names = ", ".join(e.not_finite)
    step = max(e.not_finite.values())
    words = (
        f"{names} {'was' if len(e.not_finite) == 1 else 'were'} not a finite number as late as step {step:,}. "
        "What is learned from there on is nothing, or harmful."
    )
    fixes = [*changes.scale_learning_rate(e, 0.2)]
    if e.training.get("fp16") is True:
        fixes.insert(0, Change("bf16 instead of fp16", {"training.fp16": False, "training.bf16": True}))
    return Verdict(
        "not_finite", PROBLEM, "Values that are no numbers", words, "Said at the first one in the last 100 steps.", TRL,
        (chart(next(iter(e.not_finite))), step_groups(step, "worst")), tuple(fixes),
    )  # fmt: skip


def learning_rate_high(e: Evidence) -> Verdict | None:
    """The reward rose and has fallen again, or only fell."""
    reward = e.reward
    if len(reward) < TREND or e.weights_move:
        return None
    lost, least = reward.peak - reward.now, FELL * e.scale
    if lost < least or lost <= 4 * reward.error or lost < LOST * (reward.peak - reward.start):
        return None
    kl = e.curve("kl")
    moved = f", while KL is {short_number(kl.now)}" if len(kl) else ""
    words = (
        f"The reward was {short_number(reward.peak)} at its best and is {short_number(reward.now)} now{moved}: the "
        "steps are probably too large."
    )
    return Verdict(
        "learning_rate_high",
        PROBLEM,
        "The reward is falling",
        words,
        f"Said when it is {short_number(least)} (an eighth of the rewards' range) below its best, beyond noise, and "
        f"has lost {percent(LOST)} of what it had gained.",
        COMMON,
        (chart("reward"), chart("kl"), step_groups(reward.steps[-1], "worst")),
        (*changes.scale_learning_rate(e, 0.3), *changes.anchor(e)),
    )


def kl(e: Evidence) -> Verdict | None:
    """The model leaves the reference model behind."""
    told = e.curve("kl")
    if len(told) < 10:
        return None
    links = (chart("kl"), step_groups(told.steps[-1], "worst"))
    fixes = (*changes.scale_learning_rate(e, 0.5), *changes.anchor(e))
    if told.now > KL_FAR:
        words = f"KL to the reference model is {short_number(told.now)}: the model has drifted far from where it began."
        return Verdict(
            "kl", WARNING, "KL is running away", words, f"Said above {KL_FAR}; 0.02 to 0.12 over 400 steps is healthy.",
            f"{COMMON}; the KL term is from {DEEPSEEK}", links, fixes,
        )  # fmt: skip
    if len(told) < TREND or told.now < KL_GROWING or told.now < KL_TIMES * told.before or told.direction(0.1) < 1:
        return None
    words = (
        f"KL is {short_number(told.now)} and was {short_number(told.before)} just before: at this slope it soon passes "
        f"{KL_FAR}."
    )
    return Verdict(
        "kl", WARNING, "KL is running away", words,
        f"Said from {KL_GROWING} on, where it has doubled within a sixth of the run.", f"{COMMON}; {MEASURED}",
        links, fixes,
    )  # fmt: skip


def clipping(e: Evidence) -> Verdict | None:
    """Much of what the gradient asks for is clipped away."""
    told = e.curve("clip_ratio/region_mean")
    if len(told) < 10 or told.now < CLIPPED:
        return None
    words = (
        f"{percent(told.now)} of the tokens' updates are clipped: the policy moves further between two generations "
        "than clipping lets it learn."
    )
    once = (e.number("num_iterations") or 1) > 1
    fixes = (changes.set_to("num_iterations", 1),) if once else changes.scale_learning_rate(e, 0.5)
    return Verdict(
        "clipping", WARNING, "Most of the update is clipped" if told.now > 0.5 else "Much of the update is clipped",
        words, f"Said from {percent(CLIPPED)} of tokens on; a few per cent are usual.", COMMON,
        (chart("clip_ratio/region_mean", "The chart of the clip ratio"),),
        (*fixes, Change("Clip higher", {"training.epsilon_high": 0.28})),
    )  # fmt: skip


def spikes(e: Evidence) -> Verdict | None:
    """Gradients many times the usual size, again and again."""
    told = e.curve("grad_norm")
    usual = median(told.values)
    if len(told) < TREND or usual <= 0 or len(e.tied_share) and e.tied_share.now > 0.5:
        return None  # among many tied groups the usual gradient is near 0, and any other a spike
    recent = list(zip(told.steps, told.highs, strict=True))[-2 * told.window :]
    high = [(norm, step) for step, norm in recent if norm > SPIKE * usual]
    if len(high) < SPIKES:
        return None
    norm, step = max(high)
    clip = e.number("max_grad_norm")
    held = (
        f" max_grad_norm holds them to {short_number(clip)}." if clip else " Nothing holds them (max_grad_norm is 0)."
    )
    words = (
        f"The gradient norm jumped to {short_number(norm)} at step {step:,}; {short_number(usual)} is usual in this "
        f"run.{held}"
    )
    return Verdict(
        "spikes", WARNING, "The gradient spikes", words,
        f"Said at {SPIKES} or more of the last {len(recent)} points above {SPIKE:.0f} times the median.", MEASURED,
        (chart("grad_norm", "The chart of the gradient norm"), step_groups(step, "worst")),
        (changes.set_to("max_grad_norm", 0.1), *changes.scale_learning_rate(e, 0.5)),
    )  # fmt: skip


def flat_reward(e: Evidence) -> Verdict | None:
    """The reward goes nowhere: because the model hardly moves, or though it does."""
    reward, moved = e.reward, e.curve("kl")
    if len(reward) < SLOW or reward.direction(STILL * e.scale, 2.0) != 0 or e.weights_move:
        return None
    if e.high is not None and e.low is not None and reward.now >= e.low + NEAR_TOP * e.scale:
        return None  # there is nowhere to go
    if reward.error * 3 > 0.1 * e.scale and abs(reward.rise) > STILL * e.scale:
        return None  # too noisy to tell
    said = f"The reward is {short_number(reward.now)}, as it was at the start ({short_number(reward.start)})"
    threshold = (
        f"Said when it has moved by less than {short_number(STILL * e.scale)} or than noise, after {SLOW} logged steps."
    )
    links = (
        chart("reward"),
        step_groups(reward.steps[-1], "worst"),
        completions("Its best completions", sort="-reward"),
    )
    rates = e.curve("learning_rate")
    rate = max(rates.values) if len(rates) else e.number("learning_rate") or changes.USUAL_RATE
    if (len(moved) and moved.now < HARDLY) or rate < TINY:
        why = f"KL is {short_number(moved.now)}" if len(moved) else f"the learning rate is {rate:g}"
        words = f"{said}, and the model has hardly moved: {why}."
        return Verdict(
            "learning_rate_low", WARNING, "The learning rate is probably too low", words,
            f"{threshold} Hardly moved: KL below {HARDLY}, or a learning rate below {TINY:g}.", f"{COMMON}; {MEASURED}",
            (*links, chart("kl")), changes.scale_learning_rate(e, 5.0),
        )  # fmt: skip
    words = f"{said}, though groups bear a gradient. Is the reward one that better completions earn more of?"
    return Verdict(
        "flat", WARNING, "The reward is flat", words, threshold, COMMON, links,
        (*changes.scale_learning_rate(e, 2.0), Change("Other rewards, tried on what it wrote", mend="")),
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
        f"On held-out prompts the reward was {short_number(best)} and is {short_number(now)} now, while on the prompts "
        "it trains on it went on rising."
    )
    return Verdict(
        "held_out", WARNING, "Held-out reward is falling", words,
        f"Said when it is {short_number(0.1 * e.scale)} (a tenth of the rewards' range) below its best, beyond noise.",
        COMMON,
        (chart("eval_reward"), chart("reward"), completions("Held-out completions", mode="eval", sort="reward")),
        (Change(f"Stop at step {best_step:,}", {"training.max_steps": best_step}), *changes.anchor(e)),
    )  # fmt: skip


RULES = (not_finite_values, learning_rate_high, kl, clipping, spikes, flat_reward, held_out)
