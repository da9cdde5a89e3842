"""What is typed into a field ↔ the value it means, by the types the field takes. Pure."""

import json
import math
from typing import Any

from groupwise.app.pages.new.yaml_edit import ABSENT, load
from groupwise.storage.spec.yaml.yaml_text import WORD, word_value


def value_of(typed: str, types: list[str]) -> Any:
    """The value that was meant; ABSENT for nothing. What fits none of the types stays text, for the check to name."""
    if not typed.strip():
        return ABSENT
    if types and not set(types) - {"str", "none"}:
        return typed
    read = _read_number(typed)
    if isinstance(read, str):
        return typed
    if not types or _types_of(read) & set(types):
        return read
    return typed if "str" in types or isinstance(read, (dict, list)) or read is None else read


def typed_number(typed: str, value: Any) -> str | None:
    """How a number was typed (1e-4 rather than 0.0001), to be kept so; None for other values."""
    return typed.strip() if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def field_text(value: Any) -> str:
    """A value as a field shows it: what typing it again would mean."""
    if value is ABSENT or value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}[str(value)]
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    """A value as JSON, which is also YAML, but for infinity, which JSON cannot say."""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_json, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_as_json(str(key))}: {_as_json(inner)}' for key, inner in value.items())}}}"
    return field_text(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False, default=str)


def _read_number(typed: str) -> Any:
    if WORD.fullmatch(typed.strip()):
        return word_value(typed.strip())
    raw = load(f"x: {typed.strip()}")
    return raw["x"] if raw is not None and list(raw) == ["x"] else typed


def _types_of(value: Any) -> set[str]:
    """The types that a value may be taken for: a whole number is also a float."""
    if isinstance(value, bool):
        return {"bool"}
    if isinstance(value, int):
        return {"int", "float"}
    return {{float: "float", str: "str", list: "list", dict: "dict", type(None): "none"}.get(type(value), "")}
