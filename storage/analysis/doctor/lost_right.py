"""Right answers that a learning rate above the usual has cost, though the reward may have risen by what else it pays
for. Pure."""

from groupwise.storage.analysis.doctor import changes, clear_fall, fewer_right, rise, run_away
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    CORPUS,
    PROBLEM,
    Grounds,
    Place,
    Verdict,
    chart,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, setting_text, short_number, write_figure
from groupwise.storage.library.models.learning_rates import FAR

TOO_HIGH = "The learning rate is too high"


def rate_costs_right_answers(e: Evidence) -> Verdict | None:
    """Most of what was right at first is no more, at a learning rate above the usual."""
    rate = rate_that_cost_answers(e)
    if rate is None:
        return None
    words = (
        f"{_say_lost(e)}{run_away.say_kl(e, ', and')}: steps at a learning rate of {setting_text(rate)} are too large, "
        "and the model has forgotten its right answers."
    )
    return Verdict(
        "learning_rate_high", PROBLEM, TOO_HIGH, words,
        f"Shown where at most {percent(clear_fall.LEFT)} of the right answers of the first step, or of the first "
        f"evaluation, are left, or held-out reward lost {percent(rise.LOST_HELD_OUT)}, by more than chance, and the "
        f"rate is above the highest usual one while KL is {short_number(run_away.MOVED)} or more or not logged, or "
        f"{FAR} times that or more.",
        f"{CORPUS}; {e.usual_rates.words}",
        (chart("groups/solved", "The chart of solved completions"), chart("kl"),
         step_groups(e.reward.steps[-1] if len(e.reward) else e.step, "worst")),
        changes.usual_steps(e), Grounds(Place.UPDATE, share=1.0, moves=True),
    )  # fmt: skip


def rate_that_is_cause(e: Evidence) -> float | None:
    """The learning rate, where it is as good as certain that it is why a reward fell; None where not."""
    far = changes.rate_far_off(e)
    return rate_that_cost_answers(e) if far is None else far


def rate_that_cost_answers(e: Evidence) -> float | None:
    """The learning rate, where right answers were lost and it is so high that this is why; None where not."""
    rate = e.number("learning_rate")
    if rate is None or e.weights_move or not e.usual_rates.is_high(rate):
        return None
    if not (e.usual_rates.is_far_off(rate) or run_away.is_driven(e) or not len(e.curve("kl"))):
        return None
    lost = clear_fall.lost_right_answers(e) or fewer_right.lost_right_held_out(e) or rise.lost_held_out(e)
    return rate if lost else None


def _say_lost(e: Evidence) -> str:
    """What was lost, in training and on held-out prompts."""
    solved, held_out = e.curve("groups/solved"), e.curve("eval_groups/solved")
    on_held_out = fewer_right.lost_right_held_out(e)
    ends = f"{percent(held_out.values[0])} and {percent(held_out.values[-1])}" if on_held_out else ""
    if clear_fall.lost_right_answers(e):
        beside = f" ({ends} on held-out prompts)" if ends else ""
        return (
            f"{percent(solved.first)} of completions were right at the first step and {percent(solved.now)} "
            f"{e.at_now}{beside}"
        )
    if ends:
        return f"On held-out prompts {ends} of completions were right in the first and the last evaluation"
    told = e.curve("eval_reward")
    return f"Held-out reward fell from {write_figure(told.values[0])} to {write_figure(told.values[-1])}"


RULES = (rate_costs_right_answers,)
