"""What some rows of the data lack, where it is not what is wrong with the run: answers to compare with, or answers that
a completion's number equals. Each rule is pure."""

from groupwise.storage.analysis.doctor.answers import BY, how_answers_are_written, none_plain, scored_wrong
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.rewards import ENOUGH, UNSCORED, is_replaced
from groupwise.storage.analysis.doctor.verdict import CALM, Link, Verdict, completions
from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.checks.answer_writing import SAVE_RESULTS
from groupwise.storage.spec.words.number_words import count_words

SOME = 0.05  # of the completions, or of the answers


def some_unscored(e: Evidence) -> Verdict | None:
    """A function that counts has no score for some completions, and none takes its place there."""
    some = [
        name for name, told in e.functions.items()
        if told.weight and told.calls >= ENOUGH and SOME <= told.unscored_share < UNSCORED
        and not told.reads_no_column and not is_replaced(e, name)
    ]  # fmt: skip
    if not some:
        return None
    name = max(some, key=lambda one: e.functions[one].unscored_share)
    told = e.functions[name]
    words = (
        f"“{name}” has no score for {percent(told.unscored_share)} of the last "
        f"{count_words(told.calls, 'completion')}. Do their rows lack the answer? Nothing is learned from it there."
    )
    return Verdict(
        "some_unscored", CALM, "Some completions have no score", words,
        f"Shown from {percent(SOME)} on; from {percent(UNSCORED)} on as a warning.",
        "the recorded scores",
        (completions("The last completions", sort="newest"), Link("The settings", "config")),
    )  # fmt: skip


def some_answers_odd(e: Evidence) -> Verdict | None:
    """Some answers are not plain numbers though the others are, so that no number equals them."""
    if e.target != BY or not e.groups or scored_wrong(e) or none_plain(e):
        return None
    writing = how_answers_are_written(e)
    count = writing.not_plain()
    if not count or count < SOME * writing.answered:
        return None
    fix = SAVE_RESULTS if writing.formulas else "New run can keep only the number."
    those, it = ("It is", "it") if count == 1 else ("They are", "these")
    words = f"{those} in {e.steps_read}, for example {writing.say_examples()}: no number equals {it}. {fix}"
    title = writing.say_not_plain(count)
    return Verdict(
        "some_answers_odd", CALM, title[:1].upper() + title[1:], words,
        f"Shown where New run's check of the data finds the same in {percent(SOME)} of the answers or more.",
        f"how “{BY}” works: it compares by value only where the answer is a plain number",
        (Link("The settings", "config"),),
    )  # fmt: skip


RULES = (some_unscored, some_answers_odd)
