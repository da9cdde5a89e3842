"""Right answers that are scored wrong, as the rows' answers are not written as completions write theirs. Pure."""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from groupwise.storage.analysis.doctor import grounds
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.verdict import (
    PROBLEM,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    completions,
)
from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.checks.answer_writing import AnswerWriting, number_in_words
from groupwise.storage.spec.answer_numbers import NUMBERS, number_of_answer, said_number
from groupwise.storage.spec.words.number_words import are_words, count_words

BY = "correctness"  # which compares an answer that is no plain number as text
MOST = 0.5  # of the answers that were read; of the completions that say their number
FEW = 4  # completions
SEVERAL = 0.25  # of the groups: where as many have such a completion, the prompts are not too hard for the model


def scored_wrong(e: Evidence) -> Verdict | None:
    """Completions say the very number of an answer, and are scored wrong, as the answer is not written as a number."""
    if e.target != BY or not e.groups:
        return None
    writing, answers = AnswerWriting(), {group[0].grp: group[0].answer for group in e.groups}
    for grp, answer in answers.items():
        writing.note_answer(grp, answer)
    marks = writing.marks()
    mark = next((mark for mark in marks if writing.changed[mark]), "")
    if not mark or writing.changed[mark] < MOST * writing.answered:
        return None
    saying = [one for group in e.groups for one in group if _says_answer(e, one, mark)]
    wrong = [one for one in saying if (one.scores.get(BY) or 0.0) < e.target_score]
    if len(wrong) < FEW or len(wrong) < MOST * len(saying):
        return None
    those = {one.grp for one in wrong}
    several = len(those) >= SEVERAL * len(e.groups)
    number = number_in_words(number_of_answer(wrong[0].answer, mark))
    changed = writing.changed[mark]
    part = "The" if changed == writing.answered else f"{changed:,} of the"
    called = "all of them" if len(wrong) == len(saying) else f"{len(wrong):,}"
    words = (
        f"{part} {count_words(writing.answered, 'answer')} read {are_words(changed)} no plain numbers, such as "
        f"“{wrong[0].answer[:40]}”, so “{BY}” compares them as text: of {count_words(len(saying), 'completion')} that "
        f"said the right number, such as {number}, it called {called} wrong."
    )
    about = grounds.last_of(e, lambda one: _is_written_so(one.answer, mark) if several else one.grp in those)
    fixes = tuple(Change(fix.label, fix.settings) for one in writing.problems(None) for fix in one.fixes)
    return Verdict(
        "scored_wrong", PROBLEM if several else WARNING, "Right answers are scored wrong", words,
        f"Shown where New run's check of the data says the same of {percent(MOST)} of the answers or more, and most of "
        f"the completions that say their number ({FEW} or more) are scored wrong; as a problem where "
        f"{percent(SEVERAL)} of groups have one.",
        f"what “{BY}” does: it compares by value only where the answer is a plain number",
        (completions("The last completions", sort="newest"),), fixes,
        Grounds(Place.SCORING, True, len(those) / len(e.groups), about),
    )  # fmt: skip


def _is_written_so(answer: str, mark: str) -> bool:
    """Whether an answer holds a number, and is none as it stands."""
    taken = str(number_of_answer(answer, mark))
    return taken != answer.strip() and _value(taken) is not None and _value(answer) != _value(taken)


def _value(plain: str) -> Decimal | None:
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def _says_answer(e: Evidence, one: Sample, mark: str) -> bool:
    """Whether a completion gives the number that the answer of its row is, where the answer is written otherwise."""
    if not _is_written_so(one.answer, mark):
        return False
    parameters = next((reward.parameters for reward in e.rewards if reward.name == BY), {})
    tag, way = str(parameters.get("tag", "answer")), str(parameters.get("extract", "auto"))
    given = WAYS[way](one.text, tag, mark) if way in WAYS else ""
    return said_number(given, mark) == _value(str(number_of_answer(one.answer, mark)))


def _in_tag(text: str, tag: str, mark: str) -> str:
    """What stands in the last pair of these tags."""
    found = re.findall(rf"<{re.escape(tag)}>(.*?)</{re.escape(tag)}>", text, re.DOTALL)
    return str(found[-1]).strip() if found else ""


def _last_number(text: str, tag: str, mark: str) -> str:
    found = NUMBERS[mark].findall(text)
    return str(found[-1]) if found else ""


def _in_box(text: str, tag: str, mark: str) -> str:
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return str(found[-1]).strip() if found else ""


# Where that function looks for what a completion answers, by its parameter `extract`: text, tag, decimal mark → answer.
WAYS: dict[str, Callable[[str, str, str], str]] = {
    "auto": lambda text, tag, mark: _in_tag(text, tag, mark) or _last_number(text, tag, mark),
    "tag": _in_tag,
    "number": _last_number,
    "boxed": _in_box,
    "line": lambda text, tag, mark: text.strip().rpartition("\n")[2].strip(),
    "all": lambda text, tag, mark: text.strip(),
}

RULES = (scored_wrong,)
