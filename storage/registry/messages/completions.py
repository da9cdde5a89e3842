"""“What completions are there to try functions on?”: the model's own, a past run's, typed ones, or probes."""

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from groupwise.storage.registry.messages.message import FARTHEST, Answer, Ask, Message, Part
from groupwise.storage.registry.messages.preview import RowNumber
from groupwise.storage.spec.spec import DataSpec, ModelSpec

MOST_ROWS = 64  # in one question
MOST_SIZE = 64  # completions of a row
MOST_COMPLETIONS = 1024  # that are sampled for one question
MOST_TYPED, LONGEST_TYPED = 200, 20_000  # typed completions, and characters of each
TAG_NAME, MOST_TAGS = r"[A-Za-z][A-Za-z0-9_-]{0,30}", 6
# Tags of HTML that stand in texts for how they look: they are no format that an answer is asked for in.
MARKUP = {
    "b", "i", "u", "s", "p", "br", "hr", "em", "strong", "small", "big", "sub", "sup", "mark", "del", "ins", "span",
    "div", "font", "center", "ul", "ol", "li", "table", "thead", "tbody", "tr", "td", "th", "h1", "h2", "h3", "h4",
    "h5", "h6", "img", "html", "head", "body", "pre",
}  # fmt: skip
MOST_STEP = 2**62  # as high as SQLite counts

Source = Literal["model", "run", "typed", "probes"]
SOURCES: tuple[str, ...] = get_args(Source)


def _rows(value: Any) -> Any:
    """How many rows, or which ones."""
    if isinstance(value, list):
        if not 1 <= len(value) <= MOST_ROWS:
            raise PydanticCustomError("sentence", f"Choose from 1 to {MOST_ROWS} rows.")
        if not all(type(row) is int and 0 <= row <= FARTHEST for row in value):
            raise PydanticCustomError("sentence", f"A row's number should be from 0 to {FARTHEST:,}.")
    elif type(value) is not int or not 1 <= value <= MOST_ROWS:
        raise PydanticCustomError("sentence", f"How many rows should be a whole number from 1 to {MOST_ROWS}.")
    return value


class SpecPart(Part):
    """What of a spec completions depend on. training: the settings of the first stage, by GRPOConfig's names."""

    data: DataSpec = DataSpec()
    model: ModelSpec = ModelSpec()
    training: dict[str, Any] = {}


class Typed(Part):
    """A completion that someone typed; row None: it belongs to none of the data."""

    row: RowNumber | None = None
    text: Annotated[str, Field(max_length=LONGEST_TYPED)]


class CompletionsQuestion(Ask):
    """source (`from`): where the completions come from. rows: how many, or the numbers of which; size: completions of
    each. Of a run: its id, and the step, None for the last that has some. tags: in which probes are written where the
    prompts ask for none."""

    kind: ClassVar[str] = "completions"
    spec: SpecPart
    source: Source = Field(alias="from")
    rows: Annotated[int | list[int], BeforeValidator(_rows)] = 4
    size: Annotated[int, Field(ge=1, le=MOST_SIZE)] = 8
    run: str = ""
    step: Annotated[int, Field(ge=0, le=MOST_STEP)] | None = None
    typed: Annotated[list[Typed], Field(max_length=MOST_TYPED)] = []
    tags: Annotated[list[Annotated[str, Field(pattern=f"^{TAG_NAME}$")]], Field(max_length=MOST_TAGS)] = []


# What a run's training settings say about how completions are sampled.
SAMPLING = ("max_completion_length", "temperature", "top_p", "top_k", "min_p", "repetition_penalty",
            "chat_template_kwargs", "generation_kwargs", "cache_implementation")  # fmt: skip


class Completion(Message):
    """tokens: how many, ids: which; None where they are not known. truncated: it reached max_completion_length. probe:
    the name of the probe that it is; `expected` of it is a high or low score, or any, and `about` says why."""

    text: str
    tokens: int | None = None
    truncated: bool = False
    ids: list[int] | None = None
    probe: str | None = None
    expected: Literal["high", "low", "any"] = "any"
    about: str = ""


class Group(Message):
    """Completions of one prompt (text or messages). row: counted from 0 in the data, None where there is none; columns:
    what rewards get beside the prompt; step, group: where it is in a run's record."""

    row: int | None = None
    prompt: str | list[Any]
    columns: dict[str, Any] = {}
    completions: Annotated[list[Completion], Field(min_length=1)]
    step: int = 0
    group: int = 0


class CompletionsAnswer(Answer):
    """The completions, and what they are, in words."""

    groups: list[Group]
    sentence: str
