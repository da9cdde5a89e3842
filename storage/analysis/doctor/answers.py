"""Answers that no completion can match: not written as completions write theirs, or of another column. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from groupwise.storage.analysis.doctor import changes, grounds, rise
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.verdict import (
    PROBLEM,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    completions,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.checks.answer_writing import SAVE_RESULTS, AnswerWriting, number_in_words
from groupwise.storage.checks.starter_use import WRONG, is_known_sum, is_wrong_sum, say_wrong_sum
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.answer_numbers import NUMBERS, number_of_answer, said_number
from groupwise.storage.spec.words.number_words import are_words, count_part, count_words

BY = "correctness"  # which compares an answer that is no plain number as text
MOST = 0.5  # of the answers that were read; of the completions that give their number
FEW, ENOUGH = 4, 64  # completions
SEVERAL = 0.25  # of the groups: where as many have such a completion, the prompts are not too hard for the model
NEARLY = 0.9  # of the groups that were read
GROUPS, SOON = 8, 5  # groups with an answer; logged steps


def scored_wrong(e: Evidence) -> Verdict | None:
    """Completions say the very number of an answer, and are scored wrong, as the answer is not written as a number."""
    if e.target != BY or not e.groups:
        return None
    writing = how_answers_are_written(e)
    mark = writing.mark()
    if not mark or writing.unequal[mark].count < MOST * writing.answered:
        return None
    saying = [one for group in e.groups for one in group if _says_answer(e, one, mark)]
    wrong = [one for one in saying if (one.scores.get(BY) or 0.0) < e.target_score]
    if len(wrong) < FEW or len(wrong) < MOST * len(saying):
        return None
    those = {one.grp for one in wrong}
    several, none = len(those) >= SEVERAL * len(e.groups), len(wrong) == len(saying)
    number = number_in_words(number_of_answer(wrong[0].answer, mark))
    unequal = writing.unequal[mark].count
    part = "The" if unequal == writing.answered else f"{unequal:,} of the"
    called = "all of them" if none else f"{len(wrong):,}"
    kind = "a number written otherwise" if unequal == 1 else "numbers written otherwise"
    words = (
        f"{part} {count_words(writing.answered, 'answer')} read {are_words(unequal)} {kind}, such as "
        f"“{wrong[0].answer[:40]}”, so “{BY}” compares them as text: of {count_words(len(saying), 'completion')} that "
        f"gave the right number, such as {number}, it scored {called} wrong."
    )
    words += "" if several else " Fix that before judging how hard the prompts are."
    # Where none that is right counts, groups of which all failed say nothing of how hard their prompts are.
    about = grounds.last_of(e, lambda one: _is_written_so(one.answer, mark) if several or none else one.grp in those)
    fixes = _keep_numbers(writing)
    return Verdict(
        "scored_wrong", PROBLEM if several or none else WARNING, "Right answers are scored wrong", words,
        f"Shown where New run's check of the data finds the same in {percent(MOST)} of the answers or more, and most "
        f"of the completions that give their number ({FEW} or more) are scored wrong; as a problem where "
        f"all of these are, or {percent(SEVERAL)} of groups have one.",
        f"how “{BY}” works: it compares by value only where the answer is a plain number",
        (completions("The last completions", sort="newest"),), fixes,
        Grounds(Place.SCORING, True, len(those) / len(e.groups), about),
    )  # fmt: skip


def none_plain(e: Evidence) -> Verdict | None:
    """Nearly no answer is a plain number, so that none of those that completions give equals one, and hardly any is
    right."""
    solved = e.curve("groups/solved")
    if e.target != BY or len(e.groups) < GROUPS or not len(solved) or max(solved.start, solved.now) >= rise.FEW_RIGHT:
        return None
    writing = how_answers_are_written(e)
    count = writing.not_plain()
    if not count or count < NEARLY * writing.answered or not _give_numbers(e) or scored_wrong(e):
        return None
    said = writing.say_not_plain(count)
    words = (
        f"In {e.steps_read}, {said} (for example {writing.say_examples()}), so no number equals "
        f"{'it' if count == 1 else 'these'}: “{BY}” {'scored' if e.ended else 'scores'} {percent(solved.now)} of "
        f"completions right. {SAVE_RESULTS if writing.formulas else 'New run can keep only the number.'}"
    )
    return Verdict(
        "answers_not_plain", PROBLEM, "The answers are not plain numbers", words,
        f"Shown where at least {percent(NEARLY)} of the answers ({GROUPS} groups or more) are not plain numbers, as "
        f"New run's check of the data counts them, at least {percent(MOST)} of the completions give a number, and "
        f"fewer than {percent(rise.FEW_RIGHT)} are right.",
        f"how “{BY}” works: it compares by value only where the answer is a plain number",
        (completions("The last completions", sort="newest"),),
        (*_keep_numbers(writing), *((Change("Other data", field=changes.DATA),) if writing.formulas else ())),
        Grounds(Place.SCORING, True, count / writing.answered,
                grounds.last_of(e, lambda one: (one.scores.get(BY) or 0.0) < e.target_score)),
    )  # fmt: skip


def how_answers_are_written(e: Evidence) -> AnswerWriting:
    """How the answers of the rows that were read are written, each row once."""
    writing = AnswerWriting()
    rows = {(group[0].prompt, group[0].answer): group[0].grp for group in e.groups}
    for (_, answer), grp in rows.items():
        writing.note_answer(grp, answer)
    return writing


def _keep_numbers(writing: AnswerWriting) -> tuple[Change, ...]:
    """What New run proposes for answers that are written so."""
    return tuple(Change(fix.label, fix.settings) for one in writing.problems(None) for fix in one.fixes)


def _give_numbers(e: Evidence) -> bool:
    """Whether most completions give a number for their answer."""
    read = [one for group in e.groups for one in group]
    giving = [one for one in read if said_number(_given(e, one, "point"), "point") is not None]
    return len(giving) >= MOST * len(read)


def wrong_sums(e: Evidence) -> Verdict | None:
    """Plain sums are asked, and most of their answers are other numbers: nothing right can be learned from these."""
    rows = [group for group in e.groups if is_known_sum(group[0].prompt) and group[0].answer.strip()]
    wrong = [group for group in rows if is_wrong_sum(group[0].prompt, group[0].answer)]
    compares = e.compares or e.target in group_metrics.OF_ANSWERS
    solved = e.curve("groups/solved")
    if other_column(e) or not len(solved):
        return None  # the one says more
    if max(solved.start, solved.now) >= 1 - len(wrong) / len(rows or [1]) + rise.FEW_RIGHT:
        return None  # as more is right than has its sum for an answer, other numbers are meant
    if len(wrong) < GROUPS or len(rows) < NEARLY * len(e.groups) or len(wrong) <= WRONG * len(rows) or not compares:
        return None
    places, example = {group[0].grp for group in wrong}, wrong[-1][0]
    words = (
        f"In {count_part(len(wrong), len(e.groups), 'group', the=True)} of {e.steps_read} the answer is not the sum "
        f"that is asked: {say_wrong_sum(example.prompt, example.answer)}. “{e.target}” scores by it. Is it the "
        "right column, and is each answer in the row of its question?"
    )
    return Verdict(
        "hardly_right", PROBLEM, "The answers look wrong", words,
        f"Shown where plain sums are asked, and the answers of more than {percent(WRONG)} of the groups that were read "
        f"({GROUPS} or more) are other numbers.", "the recorded answers and prompts",
        (completions("The last completions", sort="newest"),),
        (Change("Choose the answer column", field="data.answer_column"), Change("Other data", field=changes.DATA)),
        Grounds(Place.ANSWERS, True, len(wrong) / len(rows), grounds.last_of(e, lambda one: one.grp in places)),
    )  # fmt: skip


def other_column(e: Evidence) -> Verdict | None:
    """The answers that completions are compared with cannot be the prompts', and hardly any completion is right."""
    solved, odd = e.curve("groups/solved"), _say_odd(e.groups, e.steps_read)
    if odd is None or len(e.reward) < SOON or not len(solved) or max(solved.start, solved.now) >= rise.FEW_RIGHT:
        return None  # where some are right, it may be a prompt that is to be copied
    if not (e.compares or e.target in group_metrics.OF_ANSWERS) or not e.right_is_told or e.scale_is_other:
        return None
    title, said = odd
    about = grounds.last_of(e, lambda one: (one.scores.get(e.target) or 0.0) < e.target_score)
    words = (
        f"{said}, and “{e.target}” {'scored' if e.ended else 'scores'} {percent(solved.now)} of completions right. Is "
        "it the right column?"
    )
    return Verdict(
        "hardly_right", PROBLEM, title, words,
        f"Shown from {SOON} logged steps on, where the answer is the prompt, or the same for all prompts, in "
        f"{percent(NEARLY)} of the groups that were read ({GROUPS} or more), and fewer than {percent(rise.FEW_RIGHT)} "
        "of completions are right.",
        "the recorded answers and prompts",
        (step_groups(e.reward.steps[-1], "worst"), completions("The last completions", sort="newest")),
        (Change("Choose the answer column", field="data.answer_column"),),
        Grounds(Place.ANSWERS, True, about=about),  # of what else is learned, and how, it says nothing
    )  # fmt: skip


def _say_odd(groups: Sequence[Sequence[Sample]], steps: str) -> tuple[str, str] | None:
    """What shows that the answers of these groups, of these `steps`, are of another column: a title, and the beginning
    of a sentence."""
    rows = [(group[0].prompt.strip(), group[0].answer.strip()) for group in groups if group[0].answer.strip()]
    if len(rows) < GROUPS:
        return None
    same = [answer for prompt, answer in rows if prompt == answer]
    usual, count = Counter(answer for _, answer in rows).most_common(1)[0]
    enough = NEARLY * len(groups)
    if len(same) >= enough:
        read = count_part(len(same), len(groups), "group", the=True)
        said = f"In {read} of {steps} the answer is the prompt itself, such as “{same[0][:40]}”"
        return "The answer is the prompt itself", said
    if count >= enough and len({prompt for prompt, answer in rows if answer == usual}) >= GROUPS:
        every = "Every" if count == len(groups) else "Nearly every"
        return (
            f"{every} prompt has the same answer",
            f"In {count_part(count, len(groups), 'group', the=True)} of {steps} the answer is “{usual[:40]}”, "
            "whatever the prompt",
        )
    return None


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
    return said_number(_given(e, one, mark), mark) == _value(str(number_of_answer(one.answer, mark)))


def _given(e: Evidence, one: Sample, mark: str) -> str:
    """What a completion answers, as “correctness” looks for it."""
    parameters = next((reward.parameters for reward in e.rewards if reward.name == BY), {})
    tag, way = str(parameters.get("tag", "answer")), str(parameters.get("extract", "auto"))
    return WAYS[way](one.text, tag, mark) if way in WAYS else ""


def starter_has_no_answer(e: Evidence) -> bool:
    """Whether the starter model is asked what it was not made for, and hardly any completion is right that it ended by
    itself: no limit keeps it from an answer that it does not know."""
    if not e.beyond_starter or not e.right_is_told or e.scale_is_other or len(e.curve("groups/solved")) < SOON:
        return False
    ended = [one for group in e.groups for one in group if not one.cut]
    right = [one for one in ended if (one.scores.get(e.target) or 0.0) >= e.target_score or gives_answer(one)]
    return len(ended) >= ENOUGH and len(right) < rise.FEW_RIGHT * len(ended)


def gives_answer(one: Sample) -> bool:
    """Whether a completion's answer, in the tag or else its last number, is its row's, as text or as a number."""
    given = WAYS["auto"](one.text, "answer", "point").strip()
    value = _value(given)
    return bool(given) and (given == one.answer.strip() or value is not None and value == _value(one.answer.strip()))


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

RULES = (scored_wrong, none_plain, wrong_sums, other_column)
