"""What a number or a text from a file may be that anyone may have written: what SQLite can hold, a page can show, and
arithmetic cannot blow up. The forms of those files are built of these."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

T = TypeVar("T")
LAST_SECOND = 253_402_300_799.0  # of the year 9999, the last that calendars know

Whole = Annotated[int, Field(strict=True, ge=0, lt=2**53)]  # steps, sizes, numbers of rows
Positive = Annotated[int, Field(strict=True, ge=1, lt=2**31)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
When = Annotated[float, Field(strict=True, ge=0, le=LAST_SECOND, allow_inf_nan=False)]  # seconds since 1970


def _storable(text: str) -> str:
    text.encode("utf-8")  # half characters (lone surrogates) raise a ValueError
    return text


Text = Annotated[str, Field(strict=True), AfterValidator(_storable)]


def text_type(most: int, least: int = 0) -> Any:
    """The type of a text of so many characters."""
    return Annotated[Text, Field(min_length=least, max_length=most)]


class Form(BaseModel):
    """A mapping in a file. What it does not know is passed over: a newer version may have written more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def field_types(kinds: dict[str, Any]) -> dict[str, TypeAdapter[Any]]:
    """What checks each of some fields by itself, from their types."""
    return {name: TypeAdapter(kind) for name, kind in kinds.items()}


def salvage(fields: dict[str, TypeAdapter[Any]], given: Any) -> tuple[dict[str, Any], list[str]]:
    """Of a mapping in a file, the fields that fit, and the names of those that are there and do not."""
    there = {name: given[name] for name in fields if given.get(name) is not None} if isinstance(given, dict) else {}
    found = {name: value_if_fitting(fields[name], value) for name, value in there.items()}
    return {name: value for name, value in found.items() if value is not None}, [n for n in found if found[n] is None]


def value_if_fitting(form: TypeAdapter[T], value: Any) -> T | None:
    """The value as the form has it; None where it does not fit."""
    try:
        return form.validate_python(value)
    except (ValidationError, RecursionError):
        return None
