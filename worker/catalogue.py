"""What the installed TRL and PEFT can be told: every field of GRPOConfig and LoraConfig, read from the libraries.

`python -m worker.catalogue` publishes it, in a process of its own, because reading it means importing torch.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib.metadata
import types
import typing
from typing import Any

from storage import registry

LIBRARIES = ("trl", "transformers", "peft")
_KINDS = {int: "int", float: "float", bool: "bool", str: "str", list: "list", dict: "dict", type(None): "none"}


def versions() -> dict[str, str]:
    """The installed versions that the catalogue depends on."""
    return {name: importlib.metadata.version(name) for name in LIBRARIES}


def build() -> dict[str, Any]:
    """{versions, training, lora}; each field has types, default, choices, help."""
    from peft import LoraConfig
    from trl import GRPOConfig

    return {"versions": versions(), "training": fields_of(GRPOConfig), "lora": fields_of(LoraConfig)}


def fields_of(config: type) -> dict[str, dict[str, Any]]:
    """The fields of a dataclass as plain values, by name."""
    hints = typing.get_type_hints(config)
    return {
        field.name: {
            "types": kinds(hints[field.name]),
            "default": _default(field),
            "choices": choices(hints[field.name]) or list(field.metadata.get("choices") or []) or None,
            "help": " ".join(str(field.metadata.get("help") or "").replace("%%", "%").split()),
        }
        for field in dataclasses.fields(config)
        if field.init
    }


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


def _default(field: dataclasses.Field[Any]) -> Any:
    """The default as JSON can say it; None where a value must be given."""
    value = field.default
    if field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    if value is dataclasses.MISSING:
        return None
    if isinstance(value, enum.Enum):
        return value.value
    return value if isinstance(value, (int, float, bool, str, list, dict, type(None))) else str(value)


if __name__ == "__main__":
    registry.publish("catalogue", build())
