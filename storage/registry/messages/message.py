"""What all messages between app and worker share: how they are read, and how a misfit is said.

A question is refused for a field that it does not know: what asks and what answers are installed together, so it is a
mistake. An answer, a report of progress and a published fact may have more than is known here: a newer worker's
additions are left out, and the rest is read. What lacks something, or has another type, is no message of this version.
"""

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from groupwise.storage.spec.words.misfits import in_words

Plain = dict[str, Any]  # a message as JSON holds it

FARTHEST = 10**12  # the highest number of a row, counted from 0


class Misfit(Exception):
    """Values that are no message of their kind; the message says in words why, `field` where: a dotted path, in a
    spec as the spec's own (“data.split”)."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class Message(BaseModel):
    """Values of exactly these types; built when it is first used, so that importing it costs next to nothing."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", defer_build=True, validate_by_name=True)

    @classmethod
    def from_plain(cls, value: Any) -> Self:
        """The message that plain values mean. Raises Misfit."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise misfit_of(error) from error

    def as_dict(self) -> Plain:
        """As JSON holds it: what was not said is not there."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Part(Message):
    """A part of a question."""

    model_config = ConfigDict(extra="forbid")


class Ask(Part):
    """A question to the worker. `kind` is its name in the registry."""

    kind: ClassVar[str]

    def as_dict(self) -> Plain:
        """As JSON holds it, with what was not said as it is meant."""
        return self.model_dump(by_alias=True)


class Answer(Message):
    """What the worker says to a question."""


class Progress(Message):
    """How far an answer is, in words; done of total: completions, or functions, where they are counted."""

    sentence: str
    done: int | None = None
    total: int | None = None


def misfit_of(error: ValidationError) -> Misfit:
    """The first thing that is wrong, in words."""
    detail: Any = error.errors(include_url=False)[0]
    path = [str(part) for part in detail["loc"]]
    if detail["type"] == "spec":
        field = detail["ctx"]["field"]
        return Misfit(f"{field} {detail['msg']}".strip(), field or "spec")
    field = ".".join(path[1:] if path[:1] == ["spec"] and len(path) > 1 else path)
    if detail["type"] == "missing":
        words = "is needed."
    elif detail["type"] == "extra_forbidden":
        words = "is not part of this question."
    elif detail["type"] == "too_long":
        words = f"should have at most {detail['ctx']['max_length']} entries."
    elif detail["type"] == "sentence":
        return Misfit(detail["msg"], field)
    else:
        words = in_words(detail)
    return Misfit(f"“{field}” {words}" if field else f"This {words}", field)
