"""Settings of a part that were written without their colons, as in “training: max_steps 5”. Pure."""

import json
import re
from collections.abc import Collection
from typing import Any

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import Fix
from groupwise.storage.spec.words.setting_names import ELSEWHERE, UNDER_TRAINING
from groupwise.storage.spec.yaml.wide_colons import SIGN
from groupwise.storage.spec.yaml.yaml_text import yaml_number

PARTS = ("training", "lora", "model", "data", "kl", "launch")
_BETWEEN = re.compile(rf"\s*[=:{SIGN}]\s*|\s+")
_NAME = re.compile(r"[A-Za-z]\w*")
_WORDS = {"true": True, "false": False}
MOST = 200  # characters that are looked through


def without_colons(field: str, value: Any, names: Collection[str]) -> dict[str, Any]:
    """The settings that a part's value was meant to be: “max_steps 5”, “max_steps=5 beta=0.1”, or each as an entry of a
    list. Empty where it may be anything else. `names`: those that the part is known to have."""
    if field not in PARTS:
        return {}
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return {name: inner for one in value for name, inner in one.items()}
    if not isinstance(value, str) or len(value) > MOST:
        return {}
    words = _BETWEEN.split(value.strip())
    pairs = list(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not all(_is_setting(name, names) for name, _ in pairs):
        return {}
    return {name: _plain(written) for name, written in pairs}


def _is_setting(name: str, names: Collection[str]) -> bool:
    known = name in names or name in UNDER_TRAINING or name in ELSEWHERE
    return bool(_NAME.fullmatch(name)) and (known or "_" in name)


def _plain(written: str) -> Any:
    number = yaml_number(written)
    return number if number is not None else _WORDS.get(written, written)


def colon_words(value: Any, meant: dict[str, Any]) -> str:
    """What was slipped, for the end of a sentence; "" where nothing was."""
    if not meant:
        return ""
    if isinstance(value, list):
        return " These are entries of a list: write them without “-” and brackets."
    slip = "The colon is a full-width one" if SIGN in value else "A colon is missing"
    return f" {slip}: write {_listed(meant)}."


def colon_fix(field: str, meant: dict[str, Any]) -> tuple[Fix, ...]:
    """One click that writes them as they were meant."""
    return (Fix(f"Write {_listed(meant)}", {field: meant}),) if meant else ()


def _listed(meant: dict[str, Any]) -> str:
    said = [f"“{name}: {value if isinstance(value, str) else json.dumps(value)}”" for name, value in meant.items()]
    return join_words(said)
