"""A model that far too large steps have ruined, though its reward did not fall: it had nothing to lose. Pure."""

from groupwise.storage.analysis.doctor import changes, lost_right, rates
from groupwise.storage.analysis.doctor.curve import median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.run_away import say_kl
from groupwise.storage.analysis.doctor.verdict import CORPUS, PROBLEM, Grounds, Place, Verdict, chart, step_groups
from groupwise.storage.analysis.doctor.words import percent, setting_text, short_number, write_figure
from groupwise.storage.library.models.learning_rates import FAR

POINTS = 5  # logged steps
COLLAPSED = 0.1  # of the entropy of the first step, before anything was learned
SOLVED = 0.9  # a share of completions: such a model is not ruined


def rate_ruined_model(e: Evidence) -> Verdict | None:
    """At a learning rate far above the usual, KL or entropy are those of a model that is no longer what it was."""
    rate = changes.rate_far_off(e)
    if rate is None or not _is_ruined(e) or rates.learning_rate_high(e) or lost_right.rate_costs_right_answers(e):
        return None  # what fell says more
    entropy, collapsed = e.curve("entropy"), _has_collapsed(e)
    fell = f"entropy fell from {write_figure(entropy.first)} to {write_figure(entropy.now)}" if collapsed else ""
    moved = say_kl(e, "").strip()
    told = " and ".join(part for part in (moved, fell) if part)
    still = " It now gives much the same text whatever it is asked." if collapsed and _is_one_text(e) else ""
    still = still.replace("now gives", "came to give") if e.ended else still
    words = (
        f"{told[:1].upper()}{told[1:]}: steps at a learning rate of {setting_text(rate)} are too large and have ruined "
        f"the model.{still}"
    )
    return Verdict(
        "learning_rate_high", PROBLEM, lost_right.TOO_HIGH, words,
        f"Shown from {FAR} times the highest usual rate on, where the reward has not risen and KL is "
        f"{short_number(rates.GONE)} or more; where no KL is logged, where entropy is {percent(COLLAPSED)} or less of "
        "that of the first step.", f"{CORPUS}; {e.usual_rates.words}",
        (chart("kl"), chart("entropy"), step_groups(e.reward.steps[-1] if len(e.reward) else e.step, "worst")),
        changes.smaller_steps(e, 0.3), Grounds(Place.SAMPLING, share=1.0, moves=True),
    )  # fmt: skip


def steps_are_too_large(e: Evidence) -> bool:
    """Whether a verdict says so: what only few completions could tell before that may be the effect of it."""
    rules = (rates.learning_rate_high, lost_right.rate_costs_right_answers, rate_ruined_model)
    return any(rule(e) is not None for rule in rules)


def _is_ruined(e: Evidence) -> bool:
    """Whether it is far from what it was, and did not get better by it."""
    told, solved = e.curve("kl"), e.curve("groups/solved")
    if not len(e.reward) or e.reward.direction(rates.STILL * e.scale) > 0:
        return False
    if len(solved) and solved.at_least(SOLVED):
        return False
    if not len(told):
        return _has_collapsed(e)
    return len(told) >= POINTS and told.at_least(rates.GONE) and median(told.values[-told.window :]) >= rates.GONE


def _has_collapsed(e: Evidence) -> bool:
    told = e.curve("entropy")
    return len(told) >= POINTS and told.at_most(COLLAPSED * told.first)


def _is_one_text(e: Evidence) -> bool:
    """Whether the last completions, of whatever prompts, are mostly one text."""
    texts = [one.text for one in e.last]
    prompts = {one.prompt for one in e.last}
    return len(prompts) > 1 and max(map(texts.count, set(texts)), default=0) >= SOLVED * len(texts)


RULES = (rate_ruined_model,)
