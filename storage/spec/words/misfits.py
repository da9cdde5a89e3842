"""What is wrong with a value that a model refuses, in a person's words."""

import json
import re
from typing import Any

from groupwise.storage.spec.words.problem import Fix

_WORDS = {
    "model_type": "should be a mapping of settings, one to a line",
    "dict_type": "should be a mapping of settings, one to a line",
    "list_type": "should be a list",
    "string_type": "should be text",
    "string_too_short": "must not be empty",
    "too_short": "needs at least one entry",
    "too_long": "has too many entries",
    "bool_type": "should be true or false",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "finite_number": "should be a finite number",
    "string_pattern_mismatch": "should be the name of a Python function",
}
# What a setting that says nothing is to be given, where that is a choice to make.
_TO_CHOOSE = {("model", "id"): "choose a model: starter, a folder, or its id on the hub, such as Qwen/Qwen3-0.6B."}
_REWARDS = "choose at least one function that scores completions."
SHOWN = 80  # characters on a button
_YES = ("yes", "on", "y", "true", "yep", "yeah", "yup", "ja", "oui", "si", "sí", "sì", "да", "sim", "tak")
_NO = ("no", "off", "n", "false", "nope", "nah", "nein", "non", "нет", "nie", "nee")
_BOUNDS = (("ge", "at least"), ("le", "at most"), ("lt", "below"), ("gt", "above"))


def meant_truth(value: Any) -> bool | None:
    """What a text means where true or false belongs: yes and no as older YAML has them, and as people
    say them, in other languages, too. None: neither."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in _YES if word in _YES + _NO else None


def truth_words(value: Any) -> str:
    """“ Did you mean true?”; nothing where neither is meant."""
    meant = meant_truth(value)
    return "" if meant is None else f" Did you mean {'true' if meant else 'false'}?"


def text_fix(field: str, value: Any) -> tuple[Fix, ...]:
    """Of a number, true or false where text belongs: the same in quotes. `value`: it, or how it is written."""
    if isinstance(value, (int, float)):
        value = json.dumps(value)
    return (Fix(f'Use "{value}"', {field: value}),) if isinstance(value, str) else ()


def listed_fix(field: str, value: Any) -> Fix:
    """Of a single value where a list belongs."""
    return Fix("Write it as a list", {field: [value]})


def entry_fix(field: str, value: Any) -> Fix:
    """Of a list of one where a single value belongs."""
    return Fix(f"Use {value if isinstance(value, str) else json.dumps(value, default=str)}"[:SHOWN], {field: value})


def in_words(detail: Any) -> str:
    """What a value should have been, as the end of a sentence about its field. `detail`: one of the errors of a
    pydantic ValidationError, but not that a field is missing or too many."""
    words = _WORDS.get(detail["type"]) or detail["msg"].removeprefix("Input ")
    if detail["loc"] and detail["loc"][-1] == "version":
        words = "should be the hash of a saved version"
    for bound, least in _BOUNDS:
        if bound in (detail.get("ctx") or {}):
            words = f"should be {least} {_with_commas(detail['ctx'][bound])}"
    if detail["type"] == "string_too_short" and tuple(detail["loc"]) in _TO_CHOOSE:
        return _TO_CHOOSE[tuple(detail["loc"])]
    if detail["type"] == "too_short" and detail["loc"][-1] == "rewards":
        return _REWARDS
    if detail["type"] in ("string_too_short", "too_short", "too_long"):
        return f"{words}."
    if detail["type"] == "string_too_long":
        return f"should have at most {detail['ctx']['max_length']:,} characters; it has {len(detail['input']):,}."
    if detail["input"] is None and words.startswith("should be "):
        return f"has no value: it {_with_our_quotes(words)}."
    return f"{_with_our_quotes(words)}, not {_as_given(detail['input'])}."


def _with_our_quotes(words: str) -> str:
    """pydantic's 'a', 'b' or 'c' as the pages quote."""
    return re.sub(r"'([^']*)'", r"“\1”", words)


def _with_commas(bound: Any) -> str:
    """A bound as pages write it: 1,000,000, 0.01."""
    return f"{int(bound):,}" if isinstance(bound, (int, float)) and bound == int(bound) else str(bound)


def _as_given(value: Any) -> str:
    """A value as it was given, shortened; text in the quotes of the pages."""
    if isinstance(value, str):
        shown = value if len(value) < 58 else f"{value[:55]}…"
        return f"“{shown}”" if shown.isprintable() else repr(shown)
    given = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list, bool)) else repr(value)
    return given if len(given) < 60 else f"{given[:56]}…{given[-1]}"
