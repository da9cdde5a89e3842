"""Whether a value is what a published field takes, in words, and what one click does about it. Pure."""

import json
import math
import re
from typing import Any

from groupwise.storage.spec.problem import Fix, did_you_mean, nearest_name
from groupwise.storage.spec.yaml_text import yaml_number

_KINDS = {
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "list": lambda v: isinstance(v, list),
    "dict": lambda v: isinstance(v, dict),
    "none": lambda v: v is None,
}
_WORDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text", "list": "a list",
    "dict": "a mapping", "none": "null",
}  # fmt: skip


def value_fault(value: Any, field: dict[str, Any]) -> str:
    """What is wrong with a value of a field {types, default, choices}; empty where nothing is."""
    types, choices = field.get("types") or [], field.get("choices")
    if types and not any(_KINDS[kind](value) for kind in types):
        wanted = " or ".join(_WORDS[kind] for kind in types if kind != "none") or "null"
        hint = " Write it without quotes." if _quoted_number(value, types) else ""
        return f"should be {wanted}, not {json.dumps(value, default=str)[:60]}.{hint}"
    if choices and value is not None and value not in choices:
        return f"should be one of {', '.join(map(str, choices))}.{did_you_mean(str(value), [str(c) for c in choices])}"
    if isinstance(value, float) and not math.isfinite(value):
        return "should be a finite number."
    return ""


def fixes_of_value(path: str, value: Any, field: dict[str, Any]) -> tuple[Fix, ...]:
    """The number that was quoted, the choice that was meant, and the default."""
    fixes = []
    if _quoted_number(value, field.get("types") or []):
        number = yaml_number(value)
        if number is not None and not value_fault(number, field):
            fixes.append(Fix(f"Use {value}", {path: number}))
    close = nearest_name(str(value), [str(choice) for choice in field.get("choices") or []])
    if close:
        fixes.append(Fix(f"Use {close}", {path: close}))
    default = field.get("default")
    words = "nothing" if default is None else json.dumps(default, default=str)[:40].strip('"')
    return (*fixes, Fix(f"Use the default ({words})", {}, (path,)))


def _quoted_number(value: Any, types: list[str]) -> bool:
    number = isinstance(value, str) and {"int", "float"} & set(types) and re.fullmatch(r"[-+.\deE]*\d", value)
    return bool(number)
