"""“What does this data look like, and what will the model read?”"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from groupwise.storage.registry.messages.message import FARTHEST, Answer, Ask, Message
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.spec import DataSpec, ModelSpec

COLUMNS = 200  # columns that are shown
CELL, SAMPLE, TEXT = 4000, 80, 60_000  # characters that are shown of a cell, of a column's sample, of a prompt
ROLE = 80  # characters of a message's role

RowNumber = Annotated[int, Field(ge=0, le=FARTHEST)]  # counted from 0


class PreviewQuestion(Ask):
    """About one row of the data, made into a prompt for this model."""

    kind: ClassVar[str] = "preview"
    data: DataSpec
    model: ModelSpec = ModelSpec()
    row: RowNumber = 0


class Column(Message):
    """A column: the kind of its cells (text, number, chat, …) and how one begins."""

    name: str
    kind: str
    sample: Annotated[str, Field(max_length=SAMPLE)]


class RowCount(Message):
    """How many rows there are; `exact`: counted, not estimated."""

    count: int
    exact: bool


class ShownRow(Message):
    """One row: its cells as text by column, and whether the filter keeps it."""

    index: int
    cells: Annotated[dict[str, str], Field(max_length=COLUMNS)]
    kept: bool


class ChatMessage(Message):
    """One message of a prompt."""

    role: Annotated[str, Field(max_length=ROLE)]
    content: Annotated[str, Field(max_length=TEXT)]


class PreviewAnswer(Answer):
    """messages: the prompt as a chat, None where it is none; prompt: the text that the model reads; tokens: its length,
    None without a tokenizer; chat: whether the model takes chats; answer: the row's, None where there is none; guess:
    settings by dotted path that would map the columns; note: how much of the data this is, in words."""

    columns: Annotated[list[Column], Field(max_length=COLUMNS)]
    rows: RowCount
    row: ShownRow
    messages: list[ChatMessage] | None
    prompt: Annotated[str, Field(max_length=TEXT)]
    tokens: int | None
    chat: bool
    answer: Annotated[str, Field(max_length=CELL)] | None
    guess: dict[str, Any]
    problems: list[ProblemMessage]
    note: str
