"""What a type hint takes, in plain words: of the fields of TRL's and PEFT's configs, and of reasoning-gym's."""

import dataclasses
import enum
import types
import typing
from typing import Any

_KINDS = {int: "int", float: "float", bool: "bool", str: "str", list: "list", dict: "dict", type(None): "none"}


def kinds(hint: Any) -> list[str]:
    """The plain kinds of value that a type hint takes: int, float, bool, str, list, dict, none."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return sorted({kind for part in typing.get_args(hint) for kind in kinds(part)})
    if origin is typing.Literal:
        return sorted({_KINDS[type(value)] for value in typing.get_args(hint)})
    if origin is typing.Annotated:
        return kinds(typing.get_args(hint)[0])
    base = origin or hint
    if isinstance(base, type) and issubclass(base, enum.Enum):
        return ["str"]
    if base in (set, tuple):
        return ["list"]
    return [_KINDS[base]] if base in _KINDS else ["dict"] if dataclasses.is_dataclass(base) else []


def default(field: dataclasses.Field[Any]) -> Any:
    """A field's default; None where a value must be given."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def choices(hint: Any) -> list[Any] | None:
    """The values a hint allows, where it lists them all; None where it also takes a whole kind (`bool | Literal`).

    An enum beside `str` lists them all too: the libraries write `SchedulerType | str` and turn the text into one.
    """
    parts = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    enums = [part for part in parts if isinstance(part, type) and issubclass(part, enum.Enum)]
    listed: list[Any] = [member.value for part in enums for member in part]
    for part in parts:
        if typing.get_origin(part) is typing.Literal:
            listed += typing.get_args(part)
        elif part not in enums and part is not type(None) and not (part is str and enums):
            return None
    return listed or None
