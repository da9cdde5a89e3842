"""“What would this run's rewards have been?”: its stored completions, scored and weighed anew."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from groupwise.storage.registry.messages.functions import Aggregation, Functions, GivenScale, Scale
from groupwise.storage.registry.messages.message import Answer, Ask, Message
from groupwise.storage.registry.messages.score import Agreement, Ties
from groupwise.storage.spec.spec import Weight

SHOWN_FAILURES, SHOWN_OUT, SHOWN_TRACE = 20, 4000, 4000  # kinds of failures, characters printed, of a traceback
SHOWN_GROUPS = 20  # groups that change most
TEXT, CELL = 4000, 1000  # characters of a completion, and of a column
MOST_TEXT = 4_000_000  # characters of all completions that are shown


class RescoreQuestion(Ask):
    """functions: those that are called anew; weights: by name, of any function of the run or of these; instead: the
    run's function whose place the first of these takes, counting as that did at each step where it has no weight."""

    kind: ClassVar[str] = "rescore"
    run: str
    functions: Functions
    weights: dict[str, Weight] | None = None
    instead: str | None = None
    scale_rewards: GivenScale = None
    multi_objective_aggregation: Aggregation | None = None


class Side(Message):
    """One function's scores before, or now: counts in the bins of `edges`."""

    mean: float | None
    std: float | None
    counts: list[int]


class RescoreFailure(Message):
    """Completions without a score for one reason, and how many (count): 0 where it touched no score. step, group and
    index: the first of them; index None: the whole call failed, whose first group this is."""

    step: int
    group: int
    index: int | None
    message: str
    line: int | None
    traceback: str
    count: int = 1


class FunctionChange(Message):
    """One function, old against new. was_there: the run had it; counts: its weight in the new total is not 0; changed:
    completions with another score."""

    name: str
    was_there: bool
    counts: bool
    edges: list[float]
    old: Side
    new: Side
    changed: int
    none: int
    errors: int
    seconds: float
    out: str
    failures: Annotated[list[RescoreFailure], Field(max_length=SHOWN_FAILURES)]


class Totals(Message):
    """Total rewards: counts in the bins of `edges`, means and sample standard deviations."""

    edges: list[float]
    old: list[int]
    new: list[int]
    old_mean: float | None
    old_std: float | None
    new_mean: float | None
    new_std: float | None


class Flips(Message):
    """Advantages that change sign; that were 0 and now say something (gained); and the reverse (lost)."""

    total: int
    flipped: int
    share: float
    gained: int
    lost: int


class Ranks(Message):
    """Pairs within a group: those with an order both ways, whose order turns round (swapped), that were even and are
    told apart (parted), and the reverse (merged)."""

    pairs: int
    swapped: int
    share: float
    parted: int
    merged: int


class BothTies(Message):
    """Ties before, and now."""

    old: Ties
    new: Ties


class BySteps(Message):
    """Over the steps: mean rewards, and the shares of groups with a learning signal (bearing)."""

    step: list[int]
    old: list[float | None]
    new: list[float | None]
    old_bearing: list[float | None]
    new_bearing: list[float | None]


class Weighed(Message):
    """A completion's scores by function, their total and its advantage."""

    scores: dict[str, float | None]
    total: float | None
    advantage: float


class ChangedCompletion(Message):
    """A completion, weighed both ways."""

    index: int
    text: Annotated[str, Field(max_length=TEXT)]
    tokens: int
    old: Weighed
    new: Weighed


class ChangedGroup(Message):
    """change: the mean absolute change of its advantages."""

    group: int
    step: int
    change: float
    prompt: str | list[Any]
    columns: dict[str, str]
    completions: list[ChangedCompletion]


class RescoreAnswer(Answer):
    """All of it, old against new, and what it shows, in words. seconds: that it took."""

    run: str
    completions: int
    scale_rewards: Scale
    functions: list[FunctionChange]
    totals: Totals
    advantages: Flips
    ranks: Ranks
    ties: BothTies
    steps: BySteps
    agreement: Agreement
    groups: Annotated[list[ChangedGroup], Field(max_length=SHOWN_GROUPS)]
    sentences: list[str]
    seconds: float
