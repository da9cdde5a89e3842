"""What a look over the rows found, and what to say about it, each with what would fix it."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.checks.answer_writing import AnswerWriting
from groupwise.storage.checks.held_out import all_held_out
from groupwise.storage.checks.starter_use import WRONG, say_other_writing
from groupwise.storage.spec.rows.prompt_template import named_columns
from groupwise.storage.spec.rows.row_filter import Condition, text
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import count_part, count_words, join_words, three_figures
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem
from groupwise.worker.data.data import held_out_rows
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.other_columns import answers_elsewhere, questions_elsewhere
from groupwise.worker.data.unasked import asking_columns
from groupwise.worker.data.unseen import UnseenCharacters
from groupwise.worker.data.whole_answers import WholeAnswers

SAME = 0.6  # share of one answer above which a model can score by always giving it
REPEATED = 0.9  # share of the answers from which on they are the prompts by mistake, and not a row or two that echo
_ROUND = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)]  # lengths that a filter cuts at
HEADINGS = 5  # rows that a sentence names
FEW_WRONG = 4  # sums with a wrong answer, before it is said of the answers
FEW_ANSWERS = 20  # so many different ones are classes, of which balance can be said


@dataclass
class Found:
    """Counts over the rows that were looked at. All but checked, filtered and empty are of rows that are used. `first`:
    some of those that the filter keeps."""

    asked: DataSpec
    completion: int  # tokens that a completion may take
    context: int | None = None  # tokens that the model can hold
    columns: list[str] = field(default_factory=list)
    first: list[dict[str, Any]] = field(default_factory=list)
    row_words: Callable[[int], str] = FileReading("").row_words  # where a row, counted from 0, stands
    unread: DataError | None = None  # why there is no tokenizer
    absent: bool = False  # whether that is because the model is not here yet, which is said of the model
    checked: int = 0
    filtered: int = 0
    empty: int = 0  # rows that ask nothing, of which nothing else is counted
    duplicates: int = 0
    headings: list[int] = field(default_factory=list)  # rows that repeat the heading
    missing: int = 0
    others: int = 0  # prompts that are no sums as the starter model knows them
    of_starter: bool = False  # whether the model is the starter
    other_sums: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # see _other_writing
    told_otherwise: int = 0  # prompts that are sums in another writing than the starter knows
    wrong_sums: int = 0  # rows that ask such a sum and have another number for its answer
    wrong_sum: str = ""  # the first of these, in words
    is_answer_read: bool = True  # whether a reward function reads the answers
    repeated: int = 0  # rows whose answer is the prompt, or the one column that it is made of
    repeated_example: str = ""  # the first of these answers
    silent: int = 0  # of the empty: rows that have no answer either
    unmarked: int = 0  # of the missing: there is something, but the pattern does not find it
    too_long: int = 0
    finished: bool = True  # whether these are all rows
    rows: int = 0
    exact: bool = True
    notes: list[str] = field(default_factory=list)
    writing: AnswerWriting = field(default_factory=AnswerWriting)
    whole_answers: WholeAnswers = field(default_factory=WholeAnswers)
    unseen: UnseenCharacters = field(default_factory=UnseenCharacters)
    answers: Counter[str] = field(default_factory=Counter)
    lengths: array[int] = field(default_factory=lambda: array("q"))
    longest: tuple[int, int, Any] = (0, -1, "")  # row, length, prompt
    fitting: list[tuple[int, bool]] = field(default_factory=list)  # characters of the column, whether the prompt fits

    def note_repeated(self, answer: str, question: str, row: dict[str, Any]) -> None:
        """Count a row whose answer repeats what is asked."""
        asking = asking_columns(self.asked, self.columns)
        asked = {question.strip(), *(text(row.get(name)).strip() for name in asking if len(asking) == 1)}
        if answer and answer in asked:
            self.repeated += 1
            self.repeated_example = self.repeated_example or answer

    @property
    def template_columns(self) -> list[str]:
        """List the columns that the prompt template names, each once; none where a column is the prompt."""
        named = dict.fromkeys(named_columns(self.asked.prompt_template, self.columns))
        return [] if self.asked.prompt_column else list(named)

    @property
    def room(self) -> int | None:
        """Tokens that a prompt may have beside the longest completion; None where the model does not say."""
        return None if self.context is None else max(self.context - self.completion, 0)

    @property
    def rows_used(self) -> int:
        """Count the rows that the filter keeps and that ask something, of those that were looked at."""
        return self.checked - self.filtered - self.empty

    @property
    def rows_usable(self) -> int:
        """Rows that the filter keeps and that ask something, of all: counted, or estimated by those looked at."""
        share = self.rows_used / self.checked if self.checked else 0
        return self.rows_used if self.finished else round(share * max(self.rows, self.checked))

    @property
    def rows_left(self) -> int:
        """Those that the limit leaves."""
        return min(self.rows_usable, self.asked.limit or self.rows_usable)

    @property
    def held_out(self) -> int:
        """Count the rows that are held out; 0 where none would be left to train on."""
        try:
            return held_out_rows(self.asked, self.rows_left)
        except DataError:
            return 0

    @property
    def rows_trained_on(self) -> int:
        """Count the rows that are trained on."""
        return self.rows_left - self.held_out

    def note(self) -> str:
        """Say how much was looked at and what comes of it, in a sentence."""
        about = "" if self.exact else "about "
        looked = "All" if self.finished else f"The first {self.checked:,} of {about}{self.rows:,}"
        if self.finished and self.checked == 1:
            return f"The only row was checked: {self._describe_kept()}."
        return f"{looked} rows were checked: {self._describe_kept()}."

    def _describe_kept(self) -> str:
        about = "about " if self.is_estimate and isinstance(self.asked.holdout, float) else ""
        held = f", {about}{self.held_in_figures:,} held out" if self.held_out else ""
        return f"{self._said(self.rows_trained_on)} to train on{held}"

    @property
    def is_estimate(self) -> bool:
        """Whether how many rows are left is an estimate: not where all are counted and none looked at was left out."""
        if self.finished or (self.asked.limit or 0) and self.rows_used >= (self.asked.limit or 0):
            return False
        return not self.exact or bool(self.asked.filter) or self.rows_used < self.checked

    def in_figures(self, rows: int) -> int:
        """A number of rows without the digits that are not known."""
        return three_figures(rows) if self.is_estimate else rows

    @property
    def held_in_figures(self) -> int:
        """The rows that are held out: a share of an estimate is one, too."""
        return self.in_figures(self.held_out) if isinstance(self.asked.holdout, float) else self.held_out

    def _said(self, rows: int) -> str:
        return f"{'about ' if self.is_estimate else ''}{self.in_figures(rows):,}"


def data_problems(found: Found) -> list[Problem]:
    """What a person should know, the worst first."""
    said = [*_nothing_left(found), *_empty(found), *_headings(found), *_missing(found), *_too_long(found)]
    repeated = _repeated(found)
    said += repeated + _balance(found) + _wrong_sums(found) + _other_writing(found)
    said += found.whole_answers.problems(found.asked.answer_column, found.rows_used - found.missing, found.row_words)
    if not repeated:  # how prompts write their numbers is said of no answers
        said += found.writing.problems(found.asked.answer_numbers)
    if found.duplicates and found.rows_used:
        weigh = "It weighs more than the others" if found.duplicates == 1 else "They weigh more than the others"
        message = f"{_in_rows(found, found.duplicates)} the same prompt as one before. {weigh}."
        if found.asked.holdout:  # rows are held out, not prompts
            message += " Where one is held out and the other is trained on, the held-out score is too high."
        said.append(Problem("data.source", message, level=WARNING if found.asked.holdout else ADVICE))
    if unseen := found.unseen.sentence(found.row_words):
        said.append(Problem("data.source", f"{unseen} Delete them in the file where they do not belong.", level=ADVICE))
    if found.unread and not found.absent:
        said.append(Problem(found.unread.field, f"{found.unread}. Lengths are in characters.", level=WARNING))
    return said + [Problem("data.source", note, level=WARNING) for note in found.notes]


def _other_writing(found: Found) -> list[Problem]:
    """That the starter is asked nothing but sums, in another writing than it knows; `other_sums`: the first of them,
    each as it is asked, with its row."""
    if not found.of_starter or not found.other_sums or found.told_otherwise < found.rows_used:
        return []
    questions, rows = zip(*found.other_sums, strict=True)
    told = say_other_writing(found.asked, questions, rows)
    return [told] if told else []


def _nothing_left(found: Found) -> list[Problem]:
    asked = found.asked
    if found.checked and found.filtered == found.checked:
        fix = Fix("Remove the filter", {"data.filter": []})
        where = "" if found.finished else f" first {found.checked:,}"
        return [Problem("data.filter", f"keeps none of the{where} rows.", fixes=(fix,))] if asked.filter else []
    if not found.rows_used:  # none asks anything, which is said; how many are held out follows from it
        return []
    if found.finished and asked.holdout and not found.held_out and not isinstance(asked.holdout, float):
        return [all_held_out(asked.holdout, found.rows_left)]
    return []


def _empty(found: Found) -> list[Problem]:
    if not found.empty:
        return []
    columns = asking_columns(found.asked, found.columns)
    if not found.rows_used:
        named = join_words([f"“{name}”" for name in columns])
        rows = "the rows" if found.finished else f"the first {count_words(found.checked, 'row')}"
        field = "data.prompt_column" if found.asked.prompt_column else "data.prompt_template"
        message = f"none of {rows} has a prompt: {named} {'is' if len(columns) == 1 else 'are'} empty."
        return [Problem(field, message, fixes=questions_elsewhere(found.asked, found.first, found.columns))]
    fix = _filter_fix(found, Condition(columns[0], "is not empty"))
    of, has, are = found.rows_used + found.empty, *(("has", "is") if found.empty == 1 else ("have", "are"))
    message = f"{found.empty:,} of {count_words(of, 'row')} {has} no prompt and {are} left out."
    return [Problem("data.filter", message, level=WARNING, fixes=(fix,))]


def _headings(found: Found) -> list[Problem]:
    """The heading again among the rows: files were joined with their headings."""
    if not found.headings:
        return []
    column = (asking_columns(found.asked, found.columns) or found.columns)[0]
    fix = _filter_fix(found, Condition(column, "!=", json.dumps(column, ensure_ascii=False)))
    where = join_words([found.row_words(row) for row in found.headings], HEADINGS)
    repeats = "repeats" if len(found.headings) == 1 else "repeat"
    message = f"{where} {repeats} the heading: “{column}” would be a prompt. Were files joined?"
    return [Problem("data.filter", message, level=WARNING, fixes=(fix,))]


def _missing(found: Found) -> list[Problem]:
    column, pattern = found.asked.answer_column, found.asked.answer_pattern
    if column and not found.rows_used and found.silent == found.empty and found.finished and found.empty:
        return [_none_answered(found, column, found.empty)]  # said with that nothing is asked, and not only after
    if not found.missing or not column:
        return []
    if found.unmarked:
        without = Fix("Take the whole text as the answer", {"data.answer_pattern": None})
        fits = pattern and pattern == pattern.strip() and not pattern.startswith('"')
        fixes = (_filter_fix(found, Condition(column, "matches", str(pattern))),) if fits else ()
        message = f"{_in_rows(found, found.missing)} no answer: the pattern finds nothing in “{column}”."
        if found.missing == found.rows_used:
            return [Problem("data.answer_pattern", message, fixes=(without,))]
        return [Problem("data.answer_pattern", message, level=WARNING, fixes=(*fixes, without))]
    if found.missing == found.rows_used and found.finished:
        return [_none_answered(found, column, found.missing)]
    message = f"{_in_rows(found, found.missing)} no answer in “{column}”. What compares with it does not count there."
    return [
        Problem(
            "data.answer_column", message, level=WARNING, fixes=(_filter_fix(found, Condition(column, "is not empty")),)
        )
    ]


def _too_long(found: Found) -> list[Problem]:
    if not found.too_long or not found.room or found.context is None:
        return []  # where there is no room at all the length of the completions is at fault, and said of it
    fixes, cost = [], ""
    if limit := _length_that_fits(found, found.room):
        condition = Condition(found.template_columns[0], "<", str(limit), True)
        left_out = sum(characters >= limit for characters, _ in found.fitting)
        cost = f" The filter “{condition}” leaves out {count_part(left_out, found.rows_used, 'row')}."
        fixes.append(_filter_fix(found, condition))
    no_model = found.longest[1] > found.context and bool(fixes)
    shorter = found.context - found.longest[1]
    if shorter >= 16:
        fixes.append(Fix(f"Max completion length {shorter}", {"training.max_completion_length": shorter}))
    message = (
        f"{_in_rows(found, found.too_long)} more than {count_words(found.room, 'token')}, which with a completion of "
        f"{found.completion} is more than the {found.context} that the model can hold.{cost}"
    )
    level = BLOCKING if no_model else WARNING
    return [Problem("data.filter", message, level=level, fixes=tuple(fixes))]


def _length_that_fits(found: Found, room: int) -> int:
    """Characters of the asked column below which a prompt fits: a round number, where there is one between what fits
    and what does not; 0 where that is not known. A character is seldom more than a token: as many as there is room
    for fit."""
    fitting = max((characters for characters, fits in found.fitting if fits), default=0)
    limit = min((characters for characters, fits in found.fitting if not fits), default=fitting + 1)
    if not fitting or limit <= 1:
        return 0
    between = [n for n in _ROUND if fitting < n <= limit]
    return max((n for n in between if n <= room), default=min(between, default=limit))


def _none_answered(found: Found, column: str, rows: int) -> Problem:
    none = "the only row has no answer" if rows == 1 else f"none of the {count_words(rows, 'row')} has an answer"
    message = f"{none}: “{column}” is empty{' in all of them' if rows > 1 else ''}. Choose another column."
    elsewhere = answers_elsewhere(found.asked, found.first, found.columns)
    without = Fix("There is no answer", {"data.answer_column": None})
    return Problem("data.answer_column", message, fixes=(*elsewhere, without))


def _repeated(found: Found) -> list[Problem]:
    """That the answer is what is asked: the column of the prompts was chosen for the answers, too."""
    answered = found.rows_used - found.missing
    if not found.is_answer_read or not answered or found.repeated < REPEATED * answered:
        return []
    elsewhere = answers_elsewhere(found.asked, found.first, found.columns)
    meant = [fix.settings["data.answer_column"] for fix in elsewhere]
    message = (
        f"{_in_rows(found, found.repeated)} the prompt itself as the answer, such as “{found.repeated_example[:40]}”: "
        f"only completions that repeat it would be scored correct. {_ask_for_another(meant)}"
    )
    return [Problem("data.answer_column", message, level=WARNING, fixes=elsewhere)]


def _ask_for_another(meant: list[Any]) -> str:
    return f"Did you mean “{meant[0]}”?" if meant else "Is it the right column?"


def _balance(found: Found) -> list[Problem]:
    total = found.answers.total()
    if total < FEW_ANSWERS or not found.answers:
        return []
    value, times = found.answers.most_common(1)[0]
    if len(found.answers) == 1:
        return [Problem("data.answer_column", f"every answer is “{value}”: there is nothing to learn.", level=WARNING)]
    if len(found.answers) <= FEW_ANSWERS and times > SAME * total:
        message = f"{percent(times / total)} of the answers are “{value}”: a model that always gives it scores well."
        return [Problem("data.answer_column", message, level=ADVICE)]
    return []


def _wrong_sums(found: Found) -> list[Problem]:
    """Sums of which most have other numbers for their answers: of another column, or of other rows."""
    if found.wrong_sums < FEW_WRONG or found.wrong_sums <= WRONG * (found.rows_used - found.others):
        return []
    message = f"{_in_rows(found, found.wrong_sums)} an answer that looks wrong: {found.wrong_sum}."
    return [Problem("data.answer_column", message, level=WARNING)]


def _filter_fix(found: Found, condition: Condition) -> Fix:
    return Fix(f"Keep rows where {condition}", {"data.filter": [*found.asked.filter, str(condition)]})


def _in_rows(found: Found, count: int) -> str:
    """“12 of 2,000 rows have”."""
    return f"{count_part(count, found.rows_used, 'row')} {'has' if count == 1 else 'have'}"
