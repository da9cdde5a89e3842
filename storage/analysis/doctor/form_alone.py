"""A rule of the doctor: nobody looks at the answer, though rows have one. Pure."""

from groupwise.storage.analysis.doctor import changes, grounds, length
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.library.rewards.form_alone import say_form_alone
from groupwise.storage.record import group_metrics

HALF = 0.5  # of the last groups, whose rows have an answer
POINTS = 5  # logged steps


def form_alone(e: Evidence) -> Verdict | None:
    """No function that counts looks at a column of the data, one's own among them: right or wrong, a completion earns
    by how it is written. Built-in functions say by their names that they grade the form."""
    counting = [name for name, told in e.functions.items() if told.weight]
    own = [name for name in counting if name not in group_metrics.OF_FORM]
    if not e.reads_no_column or not own or e.tells_nothing_apart or len(e.reward) < POINTS or not _have_answers(e):
        return None
    if length.length_alone(e) is not None:
        return None  # which says more
    return Verdict(
        "form_alone", WARNING, "No reward looks at the answer", say_form_alone(counting),
        "Shown where rows have an answer, no function that counts looks at a column of the data, and one of them is "
        "your own.", COMMON,
        (chart(f"rewards/{own[0]}/mean", f"The chart of {own[0]}"),
         completions("The best completions", sort="-reward")),
        (changes.add_reward(e, "correctness"), Change(f"Change {own[0]}", edit_reward=own[0])),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True), moves=True),
    )  # fmt: skip


def _have_answers(e: Evidence) -> bool:
    answered = [bool(group[0].answer.strip()) for group in e.last_groups if group]
    return bool(answered) and sum(answered) >= HALF * len(answered)


RULES = (form_alone,)
