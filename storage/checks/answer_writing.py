"""How the answers of a column write their numbers, and whether a completion's plain number could equal them: as New run
says it of data, and the doctor of a run. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from groupwise.storage.registry.messages.data_checks import EXAMPLES, AnswerExample, AnswerNumbers
from groupwise.storage.spec.answer_numbers import ONLY, RUN, number_of_answer, said_number, written_with
from groupwise.storage.spec.rows.file_format import DecimalMark
from groupwise.storage.spec.words.number_words import are_words, count_part, count_words
from groupwise.storage.spec.words.problem import ADVICE, WARNING, Fix, Problem

LONGEST_ANSWER = 60  # characters: what is longer is a text with a number in it
MOST = 0.6  # share of answers with one number in them, from which the column is one of numbers
FIELD = "data.answer_numbers"
# What the reward `correctness` takes for a number, and compares by value.
PLAIN_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
NORMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
# What a spreadsheet works out, and a file of text only repeats: =1+0, =B2*C2, =SUM(B2:B9).
_OPERAND = r"(?:[0-9]+(?:[.,][0-9]+)?|\$?[A-Z]{1,3}\$?[0-9]{1,7})%?"
_CALL = r"=\s*[-+(]*[A-ZÄÖÜ][A-ZÄÖÜ0-9.]+\(.+"
FORMULA = re.compile(rf"{_CALL}|=\s*[-+(]*{_OPERAND}\)*(?:\s*[-+*/^]\s*[-+(]*{_OPERAND}\)*)*")
EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
SAVE_RESULTS = "Save the results instead: in Excel as values, or the file as .xlsx."
WORDS = {"comma": "decimal comma", "point": "decimal point"}


@dataclass
class CountedAnswers:
    """How many answers, with an example of each way that they are written."""

    count: int = 0
    examples: list[AnswerExample] = field(default_factory=list)
    _forms: set[str] = field(default_factory=set)

    def note(self, row: int, before: str, after: str) -> None:
        """Count the answer of a row, of which only the number is kept."""
        self.count += 1
        if len(self.examples) >= EXAMPLES:
            return
        form = re.sub(r"[0-9]+", "0", before)
        if form not in self._forms:
            self._forms.add(form)
            self.examples.append(AnswerExample(row=row, before=before[:120], after=after[:120]))


def _by_mark() -> defaultdict[str, CountedAnswers]:
    return defaultdict(CountedAnswers)


@dataclass
class AnswerWriting:
    """Counts over the answers of a column, as they are before only the number is kept. `votes`: answers that can be
    written with this decimal mark only; `readable`: that are one number when it is taken so; `changed`: of these, that
    are written otherwise than it; `unequal`: of these, that no plain number equals before, or another one."""

    answered: int = 0
    either: str = ""  # an answer that can be read both ways
    votes: Counter[str] = field(default_factory=Counter)
    readable: Counter[str] = field(default_factory=Counter)
    changed: defaultdict[str, CountedAnswers] = field(default_factory=_by_mark)
    unequal: defaultdict[str, CountedAnswers] = field(default_factory=_by_mark)
    formulas: int = 0  # that no number equals, as they are a spreadsheet's
    formula: str = ""  # the first of these
    unread: dict[str, str] = field(default_factory=dict)  # an example of what holds no number, by decimal mark

    def note_answer(self, row: int, answer: str, is_text: bool = True) -> None:
        """Count the answer of a row; one that is no text in the data (58.0 of a Parquet file) is kept as it is."""
        text = answer.strip()
        if not text:
            return
        self.answered += 1
        if is_formula(text):
            self.formulas += 1
            self.formula = self.formula or text[:40]
            return
        for run in RUN.findall(text):
            self.votes.update(mark for mark, only in ONLY.items() if only.fullmatch(run))
            self.either = self.either or (run if EITHER.fullmatch(run) else "")
        as_now = str(number_of_answer(text, "point")) if PLAIN_NUMBER.fullmatch(text) else None
        for mark in get_args(DecimalMark):
            self._note_as(mark, row, text, as_now, is_text)

    def marks(self) -> list[str]:
        """The decimal marks by which only the numbers are to be kept, as no plain number equals many answers; none
        where they are plain numbers already, or no numbers."""
        marks = self.likely_marks()
        first = next((mark for mark in marks if self.unequal[mark].count), None)
        return [] if first is None or self.readable[first] < MOST * (self.answered - self.formulas) else marks

    def mark(self) -> str:
        """The decimal mark by which no plain number equals some answers; “” where there is none."""
        return next((mark for mark in self.marks() if self.unequal[mark].count), "")

    def not_plain(self) -> int:
        """Count the answers that are no plain numbers, formulas among them, where they are meant as numbers."""
        return self.formulas + (self._otherwise(mark) if (mark := self.mark()) else 0)

    def _otherwise(self, mark: str) -> int:
        """Count the answers that are neither formulas nor plain numbers, whether or not `mark` makes them one."""
        return self.unequal[mark].count + self._unread(mark)

    def _unread(self, mark: str) -> int:
        return self.answered - self.formulas - self.readable[mark]

    def say_not_plain(self, count: int) -> str:
        """How many of the answers are no plain numbers, in words."""
        if count == self.answered > 1:
            return f"none of the {count_words(count, 'answer')} is a plain number"
        kind = "a plain number" if count == 1 else "plain numbers"
        return f"{count_part(count, self.answered, 'answer')} {are_words(count)} not {kind}"

    def say_examples(self) -> str:
        """Some of these answers, in quotes."""
        shown = [each.before[:40] for each in self.unequal[self.mark()].examples]
        return ", ".join(f"“{each}”" for each in [*([self.formula] if self.formula else []), *shown][:3])

    def _note_as(self, mark: str, row: int, text: str, as_now: str | None, is_text: bool) -> None:
        taken = str(number_of_answer(text, mark))
        if len(text) > LONGEST_ANSWER or not NORMAL.fullmatch(taken):
            self.unread.setdefault(mark, text[:40])
            return
        self.readable[mark] += 1
        if is_text and taken != text:
            self.changed[mark].note(row, text, taken)
        if taken != as_now:
            self.unequal[mark].note(row, text, taken)

    def likely_marks(self) -> list[str]:
        """The decimal marks that the answers may be written with, the likelier first; one where the column says it."""
        comma, point = self.votes["comma"], self.votes["point"]
        if bool(comma) != bool(point):
            return ["comma"] if comma else ["point"]
        if comma and point:
            return ["comma", "point"] if comma > point else ["point", "comma"]
        return ["point", "comma"] if self.either else ["point"]

    def summary(self, chosen: str | None) -> AnswerNumbers | None:
        """What to show; None where answers are numbers already, or not numbers at all. Before it is chosen, only what
        is said of them: that 58.0 would become 58 is no reason to choose."""
        if chosen is None and not self.problems(None):
            return None
        marks = [chosen] if chosen else self.marks() or self.likely_marks()[:1]
        shown = self.changed[chosen] if chosen else self.unequal[self.mark()]
        examples = shown.examples if len(marks) == 1 else [self._in_doubt(each, marks) for each in shown.examples]
        return AnswerNumbers(
            decimal=cast(DecimalMark, marks[0]) if len(marks) == 1 else None, on=chosen is not None,
            changed=shown.count, of=self.answered, examples=examples,
        )  # fmt: skip

    def _in_doubt(self, example: AnswerExample, marks: list[str]) -> AnswerExample:
        """An example with every number that it may be, as none of the marks is chosen."""
        return example.model_copy(update={"after": readings_in_words(example.before, marks)})

    def problems(self, chosen: str | None) -> list[Problem]:
        """What to say of the answers; `chosen`: data.answer_numbers."""
        return [*(self._of_choice(chosen) if chosen else self._of_writing()), *self._of_formulas()]

    def _of_formulas(self) -> list[Problem]:
        if not self.formulas:
            return []
        look, them = ("looks like a formula", "it") if self.formulas == 1 else ("look like formulas", "them")
        message = (
            f"{count_part(self.formulas, self.answered, 'answer')} {look}, such as “{self.formula}”, and no number "
            f"equals {them}. {SAVE_RESULTS}"
        )
        return [Problem(FIELD, message, level=WARNING)]

    def _of_writing(self) -> list[Problem]:
        marks = self.marks()
        if not marks:
            return []
        certain = self.unequal[marks[0]].count > 0 or len(marks) == 1
        said = self._say_unequal(marks) if certain or self.votes.total() else self._say_two_ways(marks)
        return [Problem(FIELD, said, level=WARNING if certain else ADVICE, fixes=self._fixes(marks))]

    def _say_unequal(self, marks: list[str]) -> str:
        first = self.mark()
        shown = self.unequal[first].examples
        some = ", ".join(f"“{each.before}”" for each in shown[:3])
        return (
            f"{self.say_not_plain(self._otherwise(first))} (for example {some}): “correctness”, for one, scores a "
            f"completion that says {readings_in_words(shown[0].before, marks)} wrong.{self._say_unread(first)}"
            f"{self._doubt(marks)}"
        )

    def _say_two_ways(self, marks: list[str]) -> str:
        """That answers are plain numbers, but nobody knows which: a score hangs on what was meant."""
        now = number_in_words(number_of_answer(self.either, "point"))
        return (
            f"{count_part(self.unequal[marks[1]].count, self.answered, 'answer')} can be read in two ways."
            f"{self._doubt(marks)} “correctness”, for one, takes it for {now} now."
        )

    def _say_unread(self, mark: str) -> str:
        """How many answers stay as they are when only the number is kept, where some do."""
        left, made = self._unread(mark), self.unequal[mark].count
        if not left:
            return ""
        stay = f"{left:,} {'stays' if left == 1 else 'stay'} as written, such as “{self.unread[mark]}”"
        by = f" ({WORDS[mark]})" if self.votes.total() else ""  # as on the button
        return f" Keeping only the number{by} makes {made:,} of them plain; {stay}."

    def _doubt(self, marks: list[str]) -> str:
        if len(marks) == 1:
            return ""
        if self.votes.total():
            counts = f"{self.votes[marks[0]]:,} have a {WORDS[marks[0]]}, {self.votes[marks[1]]:,} a {WORDS[marks[1]]}"
            return f" They are not written alike: {counts}. Choose which one counts."
        return f" “{self.either}” may be {readings_in_words(self.either, marks)}, and no answer says which: choose."

    def _fixes(self, marks: list[str]) -> tuple[Fix, ...]:
        if len(marks) == 1 and not self.votes.total():
            return (Fix("Keep only the number", {FIELD: marks[0]}),)
        if self.votes.total():
            return tuple(Fix(f"Keep only the number ({WORDS[mark]})", {FIELD: mark}) for mark in marks)
        return tuple(
            Fix(f"{self.either} is {number_in_words(number_of_answer(self.either, mark))}", {FIELD: mark})
            for mark in marks
        )

    def _of_choice(self, chosen: str) -> list[Problem]:
        other = "point" if chosen == "comma" else "comma"
        if self.votes[other] > self.votes[chosen]:
            message = (
                f"{count_words(self.votes[other], 'answer')} {are_words(self.votes[other])} written with a "
                f"{WORDS[other]}, {self.votes[chosen]:,} with a {WORDS[chosen]}, which is chosen."
            )
            return [Problem(FIELD, message, level=WARNING, fixes=(Fix(f"Use the {WORDS[other]}", {FIELD: other}),))]
        left = self._unread(chosen)
        if not left:
            return []
        message = (
            f"{count_part(left, self.answered, 'answer')} {'holds' if left == 1 else 'hold'} no number, or "
            f"several, such as “{self.unread[chosen]}”: {'it stays' if left == 1 else 'they stay'} as written."
        )
        return [Problem(FIELD, message, level=ADVICE)]


def is_formula(text: str) -> bool:
    """Whether an answer is a spreadsheet's formula in place of what it comes to. = 58 and = 1/2 say a number."""
    if not text.startswith("=") or not FORMULA.fullmatch(text[:200]):
        return False
    return all(said_number(text, mark) is None for mark in get_args(DecimalMark))


def point_beside_commas(prompts: Iterable[str], answers: Sequence[str]) -> str:
    """An answer with a decimal point, as a workbook's numbers are read, where the prompts write theirs with a comma and
    whoever reads them answers so; "" where that is not so, or an answer may be a thousand by a comma."""
    plain = [text for answer in answers if (text := answer.strip())]
    if written_with(prompts) != "comma" or not all(NORMAL.fullmatch(text) for text in plain):
        return ""
    return "" if any(EITHER.fullmatch(text) for text in plain) else next((text for text in plain if "." in text), "")


def readings_in_words(answer: str, marks: Iterable[str]) -> str:
    """Every number that an answer may be by some decimal marks: “1001 or 1.001” of 1,001."""
    taken = [str(number_of_answer(answer, mark)) for mark in marks]
    return " or ".join(dict.fromkeys(number_in_words(number) for number in taken if NORMAL.fullmatch(number)))


def number_in_words(number: object) -> str:
    """A number as a sentence says it: 1.234, of which the column keeps 1.2340, since 1.234 could be a thousand."""
    text = str(number)
    return text.rstrip("0").rstrip(".") if "." in text else text
