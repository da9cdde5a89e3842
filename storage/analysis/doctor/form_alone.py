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
    """No function that counts reads a column of the data: right or wrong, a completion earns by how it is written.
    Not of a stage with nothing but built-in functions for the form: others come before or after it."""
    counting = [name for name, told in e.functions.items() if told.weight]
    own = [name for name in counting if name not in group_metrics.OF_FORM]
    if not e.reads_no_column or e.tells_nothing_apart or len(e.reward) < POINTS or not _have_answers(e):
        return None
    if not own and e.staged:
        return None
    if length.length_alone(e) is not None:
        return None  # which says more
    first = (own or counting)[0]
    return Verdict(
        "form_alone", WARNING, "No reward reads the answer", say_form_alone(counting),
        "Shown where rows have an answer and no function that counts reads a column of the data.", COMMON,
        (chart(f"rewards/{first}/mean", f"The chart of {first}"),
         completions("The best completions", sort="-reward")),
        (changes.add_reward(e, "correctness"), *(Change(f"Change {name}", edit_reward=name) for name in own[:1])),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True), moves=True),
    )  # fmt: skip


def _have_answers(e: Evidence) -> bool:
    answered = [bool(group[0].answer.strip()) for group in e.last_groups if group]
    return bool(answered) and sum(answered) >= HALF * len(answered)


RULES = (form_alone,)
