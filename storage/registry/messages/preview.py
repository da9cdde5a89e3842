"""“What does this data look like, and what will the model read?”"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from groupwise.storage.registry.messages.message import FARTHEST, Answer, Ask, Message
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.rows.file_format import DecimalMark
from groupwise.storage.spec.spec import DataSpec, ModelSpec

COLUMNS = 200  # columns that are shown
CELL, SAMPLE, TEXT = 4000, 80, 60_000  # characters that are shown of a cell, of a column's sample, of a prompt
RAW_COLUMNS, RAW_ROWS, RAW_CELL = 30, 5, 80  # of the table as it stands in the file; characters of a cell
SHEETS = 100  # sheets of a workbook that are named
ROLE = 80  # characters of a message's role

RowNumber = Annotated[int, Field(ge=0, le=FARTHEST)]  # counted from 0


class PreviewQuestion(Ask):
    """About one row of the data, made into a prompt for this model. row: None is the first that the filter keeps."""

    kind: ClassVar[str] = "preview"
    data: DataSpec
    model: ModelSpec = ModelSpec()
    row: RowNumber | None = None


class Column(Message):
    """A column: the kind of its cells (text, number, chat, …), how one begins, and with which decimal mark its texts
    write numbers; None where they do not say it."""

    name: str
    kind: str
    sample: Annotated[str, Field(max_length=SAMPLE)]
    decimal: DecimalMark | None = None


class RowCount(Message):
    """How many rows there are; `exact`: counted, not estimated."""

    count: int
    exact: bool


class ShownRow(Message):
    """One row: its cells as text by column, and whether the filter keeps it."""

    index: int
    cells: Annotated[dict[str, str], Field(max_length=COLUMNS)]
    kept: bool


class ReadAs(Message):
    """How a file was read. words: “semicolons, Windows-1252”; settings: all of its kind of file, by dotted path;
    found: those of them that the spec leaves to be found; heading, lines: how the table begins, before any mapping;
    columns: how many there are, of which the heading has the first."""

    kind: str
    words: str
    settings: dict[str, Any]
    found: list[str]
    sheets: Annotated[list[str], Field(max_length=SHEETS)]
    heading: Annotated[list[str], Field(max_length=RAW_COLUMNS)]
    columns: int
    lines: Annotated[list[list[str]], Field(max_length=RAW_ROWS)]


class ChatMessage(Message):
    """One message of a prompt."""

    role: Annotated[str, Field(max_length=ROLE)]
    content: Annotated[str, Field(max_length=TEXT)]


class PreviewAnswer(Answer):
    """messages: the prompt as a chat, None where it is none; prompt: the text that the model reads; tokens: its length,
    None without a tokenizer; chat: whether the model takes chats; answer: the row's, None where there is none; guess:
    settings by dotted path that would map the columns; read_as: None for what is no file; written_answer: the
    answer before only its number was kept, where that changed it; note: how much of the data this is, in words."""

    columns: Annotated[list[Column], Field(max_length=COLUMNS)]
    rows: RowCount
    row: ShownRow
    messages: list[ChatMessage] | None
    prompt: Annotated[str, Field(max_length=TEXT)]
    tokens: int | None
    chat: bool
    answer: Annotated[str, Field(max_length=CELL)] | None
    guess: dict[str, Any]
    read_as: ReadAs | None = None
    written_answer: Annotated[str, Field(max_length=CELL)] | None = None
    problems: list[ProblemMessage]
    note: str
