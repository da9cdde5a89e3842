"""Right answers that a far too high learning rate has cost, though the reward may have risen by what else it pays for.
Pure."""

from groupwise.storage.analysis.doctor import changes, clear_fall
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.run_away import say_kl
from groupwise.storage.analysis.doctor.verdict import (
    CORPUS,
    PROBLEM,
    Grounds,
    Place,
    Verdict,
    chart,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, setting_text
from groupwise.storage.library.models.learning_rates import FAR


def rate_costs_right_answers(e: Evidence) -> Verdict | None:
    """What was right at the first step is no more, at a learning rate far above the usual."""
    rate = changes.rate_far_off(e)
    if rate is None or e.weights_move or not clear_fall.lost_right_answers(e):
        return None
    solved, moved = e.curve("groups/solved"), say_kl(e, ", and")
    words = (
        f"{percent(solved.first)} of completions were right at the first step and {percent(solved.now)} {e.at_now}"
        f"{moved}: steps at a learning rate of {setting_text(rate)} are too large, and the model has forgotten its "
        "right answers."
    )
    return Verdict(
        "learning_rate_high", PROBLEM, "The learning rate is too high", words,
        f"Shown from {FAR} times the highest usual rate on, where at most {percent(clear_fall.LEFT)} of the first "
        "step's right answers are left, by more than chance.", f"{CORPUS}; {e.usual_rates.words}",
        (chart("groups/solved", "The chart of solved completions"), chart("kl"),
         step_groups(e.reward.steps[-1] if len(e.reward) else e.step, "worst")),
        changes.smaller_steps(e, 0.3), Grounds(Place.UPDATE, share=1.0, moves=True),
    )  # fmt: skip


RULES = (rate_costs_right_answers,)
