"""Reward functions that the workbench calls, as a question carries them, and how their scores are weighed."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from groupwise.storage.registry.messages.message import Part
from groupwise.storage.spec.spec import LONGEST_CALL, MOST_NAME, TIMEOUT, Weight

MOST_FUNCTIONS = 32  # in one question
MOST_CODE = 64 * 1024  # characters of its code, and bytes where it is kept
LEAST_TIMEOUT = 0.01  # seconds that a call may take, as short as a page may ask

Scale = Literal["group", "batch", "none"]  # TRL's scale_rewards
Aggregation = Literal["sum_then_normalize", "normalize_then_sum"]  # TRL's multi_objective_aggregation
SCALES: tuple[str, ...] = get_args(Scale)


def _name(value: str) -> str:
    if not value.isidentifier():
        raise PydanticCustomError("sentence", "A function's name should be a Python name.")
    return value


def _scale(value: Any) -> Any:
    """TRL's booleans are “group” and “none”."""
    return ("none", "group")[value] if isinstance(value, bool) else value


class Function(Part):
    """One reward function to call: its code, or None for one that ships. parameters: what its keyword-only arguments
    are set to; weight None: as the run had it, else 1; timeout: seconds; network: whether it may use it."""

    name: Annotated[str, Field(max_length=MOST_NAME), AfterValidator(_name)]
    code: Annotated[str, Field(max_length=MOST_CODE)] | None = None
    parameters: dict[str, Any] = {}
    weight: Weight | None = None
    timeout: Annotated[float, Field(gt=0, le=LONGEST_CALL)] = TIMEOUT
    network: bool = False


def _once(functions: list[Function]) -> list[Function]:
    names = [one.name for one in functions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        words = "“{name}” is there twice. Give one of them another name."
        raise PydanticCustomError("sentence", words, {"name": twice})
    return functions


Functions = Annotated[list[Function], Field(max_length=MOST_FUNCTIONS), AfterValidator(_once)]
GivenScale = Annotated[Scale | None, BeforeValidator(_scale)]  # None: as the settings have it
