"""“What do these functions make of these completions?”"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from groupwise.storage.registry.messages.completions import Group
from groupwise.storage.registry.messages.functions import Aggregation, Functions, GivenScale
from groupwise.storage.registry.messages.message import Answer, Ask, Message, Plain

MOST_GROUPS, MOST_SCORED = 256, 4096  # groups in one question, and completions of them all
SHOWN_OUT = 8000  # characters that are shown of what a function printed
SHOWN_FAILURES, SHOWN_TRACE = 40, 4000  # kinds of failures that are told of, characters of a traceback
SHOWN_CELL = 2000  # characters of a value that a function logged

Status = Literal["ok", "none", "error", "timeout"]
Tie = Literal["all_low", "all_high", "other", "unscored"]  # why a group teaches nothing


def _check_number(groups: list[Group]) -> list[Group]:
    if sum(len(group.completions) for group in groups) > MOST_SCORED:
        raise PydanticCustomError("sentence", f"At most {MOST_SCORED:,} completions at once.")
    return groups


class ScoreQuestion(Ask):
    """columns: names of what functions get in any case. scale_rewards, multi_objective_aggregation: TRL's."""

    kind: ClassVar[str] = "score"
    functions: Annotated[Functions, Field(min_length=1)]
    groups: Annotated[list[Group], Field(min_length=1, max_length=MOST_GROUPS), AfterValidator(_check_number)]
    scale_rewards: GivenScale = None
    multi_objective_aggregation: Aggregation | None = None
    columns: list[str] | None = None

    def as_dict(self) -> Plain:
        """As JSON holds it: of completions, only what is known of them."""
        return self.model_dump(exclude_unset=True)


class Score(Message):
    """What one function gave a completion; status: how that went."""

    value: float | None
    status: Status


class ScoredCompletion(Message):
    """A completion without its token ids, with the scores by function, their weighed total (None: no function gave a
    score) and its advantage."""

    text: str
    tokens: int | None = None
    truncated: bool = False
    probe: str | None = None
    expected: Literal["high", "low", "any"] = "any"
    about: str = ""
    scores: dict[str, Score]
    total: float | None
    advantage: float


class ScoredGroup(Message):
    """A group; tie None: it has a learning signal."""

    row: int | None = None
    prompt: str | list[Any]
    columns: dict[str, Any] = {}
    step: int = 0
    group: int = 0
    completions: list[ScoredCompletion]
    tie: Tie | None


class Histogram(Message):
    """Counts of values; there is one edge more than counts, or none of either."""

    edges: list[float]
    counts: list[int]


class Failure(Message):
    """Completions without a score for one reason, and how many (count): 0 where it touched no score. group, index: the
    first of them, None for the whole call."""

    group: int | None
    index: int | None
    message: str
    line: int | None
    traceback: str
    count: int = 1


class FunctionScores(Message):
    """One function over all completions: mean and sample standard deviation of its scores, how many it gave none or
    failed at (errors: timeouts too), seconds its call took, without reading its code, what it printed (out) and logged
    (extras: one a completion)."""

    name: str
    weight: float
    mean: float | None
    std: float | None
    none: int
    errors: int
    seconds: float
    out: str
    extras: dict[str, list[Any]]
    metrics: dict[str, Any]
    histogram: Histogram
    failures: Annotated[list[Failure], Field(max_length=SHOWN_FAILURES)]


class Ties(Message):
    """How many groups there are, how many teach nothing and why, and how many have a learning signal (bearing)."""

    groups: int
    tied: int
    all_low: int
    all_high: int
    other: int
    unscored: int
    bearing: int


class Agreement(Message):
    """Pearson's correlation of each pair of functions, and each one's share of the total's variance; None where one is
    constant."""

    names: list[str]
    correlation: list[list[float | None]]
    variance_share: dict[str, float | None]


class Loophole(Message):
    """A probe that earns much though it deserves little, or the right answer that earns nothing (missed), or as
    little as every other (blind). function None: in total; share: of what the right answer earns."""

    probe: str
    function: str | None
    score: float
    share: float | None
    kind: Literal["loophole", "missed", "blind"]
    sentence: str


class ScoreAnswer(Answer):
    """All scores, and what they show, in words. highest: what groups are called whose completions all earned the most;
    seconds: that it took."""

    groups: list[ScoredGroup]
    functions: list[FunctionScores]
    ties: Ties
    highest: str
    agreement: Agreement
    loopholes: list[Loophole]
    sentences: list[str]
    seconds: float
