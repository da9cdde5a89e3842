"""Whether a value is what a published field takes, in words, and what one click does about it. Pure."""

import json
import math
from typing import Any

from groupwise.storage.checks.choices import choices_in_words, meant_choice
from groupwise.storage.spec.rows.number_text import meant_number_words, number_fixes
from groupwise.storage.spec.words.fallbacks import fallback_fix, fallback_of, variable_words
from groupwise.storage.spec.words.misfits import entry_fix, listed_fix, meant_truth, text_fix, truth_words
from groupwise.storage.spec.words.odd_spaces import trimmed_words
from groupwise.storage.spec.words.problem import Fix

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

LARGE = 1e6  # from here on Python writes zeros that nobody typed


def value_fault(value: Any, field: dict[str, Any]) -> str:
    """What is wrong with a value of a field {types, default, choices, booleans}; empty where nothing is."""
    if not isinstance(value, str) and _meant_by_boolean(value, field):
        return ""
    types, choices = field.get("types") or [], field.get("choices")
    if types and not any(_KINDS[kind](value) for kind in types):
        wanted = " or ".join(_WORDS[kind] for kind in types if kind != "none") or "null"
        hint = meant_number_words(value, whole="float" not in types) if _takes_numbers(types) else ""
        hint = hint or (truth_words(value) if "bool" in types else "")
        if value is None:
            return f"has no value: it should be {wanted}."
        return f"should be {wanted}, not {_as_given(value)}.{hint or variable_words(value)}"
    if choices and value is not None and value not in choices:
        meant = meant_choice(value, choices, field.get("default"))
        hint = variable_words(value) or trimmed_words(value) + (f" Did you mean “{meant}”?" if meant else "")
        return f"should be one of {choices_in_words(choices, field.get('default'))}.{hint}"
    if isinstance(value, float) and not math.isfinite(value):
        return "should be a finite number."
    return ""


def fixes_of_value(path: str, value: Any, field: dict[str, Any]) -> tuple[Fix, ...]:
    """The number, word or choice that was meant, and the default."""
    if (fallback := fallback_of(value)) is not None:
        if value_fault(fallback, field):
            return fixes_of_value(path, fallback, field)
        return (fallback_fix(path, fallback), default_fix(path, field))
    fixes: list[Fix] = _list_or_entry(path, value, field)
    if (meant := _meant_by_boolean(value, field)) and not fixes:
        fixes.append(Fix(f"Use {meant}", {path: meant}))
    types = field.get("types") or []
    if _takes_numbers(types) and not fixes:
        fixes += number_fixes(path, value, whole="float" not in types)
    fixes += [] if fixes else _quoted(path, value, field)
    meant_value = None if fixes else _meant_value(value, types)
    if meant_value is not None and not value_fault(meant_value, field):
        fixes.append(Fix(f"Use {json.dumps(meant_value)}", {path: meant_value}))
    close = None if fixes else meant_choice(value, field.get("choices") or [], field.get("default"))
    if close:
        fixes.append(Fix(f"Use {close}", {path: close}))
    return (*fixes, default_fix(path, field))


def default_fix(path: str, field: dict[str, Any]) -> Fix:
    """The click that leaves a setting to the library, with what that makes of it. `field`: its own, which has a
    default."""
    default = field.get("default")
    words = json.dumps(default, default=str, ensure_ascii=False)[:40].strip('"')
    label = "Use the default" if default is None else f"Use the default ({words})"
    return Fix(label, {}, (path,), fallback=True)


def _list_or_entry(path: str, value: Any, field: dict[str, Any]) -> list[Fix]:
    """A list of what should be one, and the entry of a list that should be a single value, or what it means."""
    types = field.get("types") or []
    if "list" in types and not isinstance(value, (list, type(None))) and not value_fault([value], field):
        return [listed_fix(path, value)] if value_fault(value, field) else []
    if "list" in types or not isinstance(value, list) or len(value) != 1 or isinstance(value[0], (list, dict)):
        return []
    if not value_fault(value[0], field):
        return [] if value[0] is None else [entry_fix(path, value[0])]
    return [fix for fix in fixes_of_value(path, value[0], field) if not fix.fallback]


def _quoted(path: str, value: Any, field: dict[str, Any]) -> list[Fix]:
    """A number, true or false as the text that was meant, where the field takes any."""
    if "str" not in (field.get("types") or []) or not isinstance(value, (int, float)):
        return []
    return [fix for fix in text_fix(path, value) if not value_fault(fix.settings[path], field)]


def _as_given(value: Any) -> str:
    """A value as it was written; text in the quotes of the pages; a large number as people type it: 1e9."""
    if isinstance(value, str) and value.isprintable():
        return f"“{value[:58]}”"
    if isinstance(value, float) and abs(value) >= LARGE and float(f"{value:g}") == value:
        return f"{value:g}".replace("e+0", "e").replace("e+", "e")
    return json.dumps(value, default=str, ensure_ascii=False)[:60]


def _meant_value(value: Any, types: list[str]) -> bool | None:
    """True or false that was written as text; None: neither."""
    return meant_truth(value) if "bool" in types else None


def _meant_by_boolean(value: Any, field: dict[str, Any]) -> str | None:
    """The choice that the library makes of true or false, also where that was written as text; None where of none."""
    words: dict[str, str] = field.get("booleans") or {}
    if isinstance(value, (int, float)) and value in (0, 1):  # which Python takes for false and true
        value = bool(value)
    return words.get(str(value).strip().lower())


def _takes_numbers(types: list[str]) -> bool:
    return bool({"int", "float"} & set(types)) and "str" not in types
