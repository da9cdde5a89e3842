"""“Is this data fit to train on?”"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from groupwise.storage.registry.messages.message import Answer, Ask, Message
from groupwise.storage.registry.messages.preview import RowCount
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.rows.file_format import DecimalMark
from groupwise.storage.spec.spec import DataSpec, ModelSpec

BINS = 24  # of the histogram of lengths
TOP = 5  # answers that come most often
EXAMPLE = 40  # characters of an answer that stands as one
EXAMPLES = 6  # answers that are shown before and after only their number is kept
LONGEST = 4000  # characters that are shown of the longest prompt


class CheckDataQuestion(Ask):
    """longest_completion: tokens that a completion may take; None: TRL's own default. all: every row, not the first
    some thousand. answer_read: whether a reward function reads the row's answer."""

    kind: ClassVar[str] = "check_data"
    data: DataSpec
    model: ModelSpec = ModelSpec()
    longest_completion: Annotated[int, Field(ge=1)] | None = None
    all: bool = False
    answer_read: bool = True


class LongestPrompt(Message):
    """The longest prompt: its row (counted from 0), its length in the unit of the lengths, and its text."""

    row: int
    length: int
    text: Annotated[str, Field(max_length=LONGEST)]


class Lengths(Message):
    """Lengths of prompts in tokens, or in characters where there is no tokenizer. A bin holds its left edge; there is
    one edge more than counts."""

    unit: Literal["tokens", "characters"]
    edges: Annotated[list[int], Field(max_length=BINS + 1)]
    counts: Annotated[list[int], Field(max_length=BINS)]
    median: int
    p95: int
    longest: LongestPrompt


class AnswerCounts(Message):
    """How many different answers there are, and those that come most often: [text, how many times]."""

    distinct: int
    top: Annotated[list[Annotated[tuple[str, int], Field(strict=False)]], Field(max_length=TOP)]


class AnswerExample(Message):
    """An answer of a row (counted from 0) before and after only its number is kept."""

    row: int
    before: Annotated[str, Field(max_length=120)]
    after: Annotated[str, Field(max_length=120)]


class AnswerNumbers(Message):
    """What keeping only the number does (`on`), or would do, to the answers: of so many, how many change. decimal: None
    where they may be written with either mark, and examples say what each may be."""

    decimal: DecimalMark | None
    on: bool
    changed: int
    of: int
    examples: Annotated[list[AnswerExample], Field(max_length=EXAMPLES)]


class CheckDataAnswer(Answer):
    """Counts of rows. checked: looked at; filtered: not kept by the filter; empty, duplicates: prompts; too_long: that
    leave no room for the longest completion; room: tokens that a prompt may have, None where the model does not say;
    sums: whether every prompt is a sum such as the starter model knows; usable: rows before limit and holdout; kept,
    held_out: rows to train on, and to evaluate with; estimated: whether those are estimates; answer_numbers: None where
    answers need no change; point: an answer with a decimal point, where prompts have a comma (point_beside_commas);
    tags: those in the first prompts; note: how much was looked at, in words."""

    checked: int
    rows: RowCount
    empty: int
    duplicates: int
    missing_answers: int
    filtered: int
    too_long: int
    room: int | None
    lengths: Lengths
    answers: AnswerCounts
    answer_numbers: AnswerNumbers | None = None
    sums: bool = False
    point: Annotated[str, Field(max_length=EXAMPLE)] = ""
    tags: Annotated[list[str], Field(max_length=20)] = []
    usable: int
    kept: int
    held_out: int
    estimated: bool = False
    problems: list[ProblemMessage]
    note: str
