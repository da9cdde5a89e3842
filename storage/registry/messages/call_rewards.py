"""“Do the functions of one's own score completions of this data at all?”"""

from typing import Annotated, ClassVar

from pydantic import Field

from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.registry.messages.message import Answer, Ask, Part
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.spec import DataSpec, ModelSpec

MOST_CALLED = 64  # functions of all stages together


class PlacedFunction(Part):
    """A function, and where the spec names it (“rewards.0”, “stages.1.rewards.0”); `version`: the one named there."""

    place: str
    function: Function
    version: str | None = None


class CallRewardsQuestion(Ask):
    """data, model: what the completions are made for, and in which form."""

    kind: ClassVar[str] = "call_rewards"
    data: DataSpec
    model: ModelSpec
    functions: Annotated[list[PlacedFunction], Field(min_length=1, max_length=MOST_CALLED)]


class CallRewardsAnswer(Answer):
    """Warnings; none where every function scored, or nothing can be told."""

    problems: list[ProblemMessage]
