"""“Do TRL and PEFT take these settings?”"""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from groupwise.storage.registry.messages.message import Answer, Ask
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import SpecError


def _spec(value: Any) -> RunSpec:
    """As a spec is read anywhere, with the same words."""
    if isinstance(value, RunSpec):
        return value
    try:
        return spec.from_dict(value)
    except SpecError as error:
        problem = error.problems[0]
        raise PydanticCustomError("spec", "{words}", {"words": problem.message, "field": problem.field}) from error


class BuildQuestion(Ask):
    """About a whole spec; of its data it only matters whether `holdout` is 0."""

    kind: ClassVar[str] = "build"
    spec: Annotated[RunSpec, BeforeValidator(_spec)]


class BuildAnswer(Answer):
    """What is wrong with the settings; nothing where they are taken."""

    problems: list[ProblemMessage]
