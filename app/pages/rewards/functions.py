"""Which functions a try is about: what the page sent → what the worker is told, with the code of each."""

import math
from typing import Any

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import field_values
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.checks.texts import IN_CODE
from groupwise.storage.home import redaction
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library, names
from groupwise.storage.registry.messages.functions import LEAST_TIMEOUT, MOST_CODE, MOST_FUNCTIONS, Function
from groupwise.storage.spec.spec import LONGEST_CALL, TIMEOUT


def read_functions(sent: Any) -> list[Function]:
    """The functions that a page sent, whole; a weight of None is the run's own. Raises Unanswerable or
    LibraryError, in words, where one cannot be used."""
    listed = [one for one in sent if isinstance(one, dict)] if isinstance(sent, list) else []
    if not listed:
        raise Unanswerable("Choose at least one function.")
    if len(listed) > MOST_FUNCTIONS:
        raise Unanswerable(f"At most {MOST_FUNCTIONS} functions at once.")
    offer = Offer.read_published()
    found = [_read_function(one, offer) for one in listed]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Unanswerable(f"“{twice}” is there twice. Give one of them another name.")
    return found


def _read_function(sent: dict[str, Any], offer: Offer) -> Function:
    name = str(sent.get("name") or "")
    if wrong := names.too_long(name):
        raise Unanswerable(wrong)
    code, network = _read_code(name, sent, offer)
    return Function(
        name=name,
        code=code,
        parameters=read_parameters(sent.get("parameters")),
        weight=None if sent.get("weight") is None else _number(sent.get("weight"), 1.0),
        timeout=min(max(_number(sent.get("timeout"), TIMEOUT), LEAST_TIMEOUT), LONGEST_CALL),
        network=network,
    )


def _read_code(name: str, sent: dict[str, Any], offer: Offer) -> tuple[str | None, bool]:
    """The code as it stands in the editor, or of the library; None for what ships. And whether it may use the
    network."""
    code = sent.get("code")
    if isinstance(code, str):
        if len(code) > MOST_CODE:
            raise Unanswerable(f"The code of “{name}” is longer than {MOST_CODE // 1024} KB.")
        if redaction.holds(code):
            raise Unanswerable(f"The code of “{name}” {IN_CODE}")
        if fault := library.find_load_fault(library.with_plain_line_ends(code), name):
            raise Unanswerable(f"Fix line {fault.line} of “{name}” first: {fault.message}")
        return code, sent.get("network") is True
    about = offer.rewards.get(name)
    if about is not None and not about.get("own"):
        return None, False
    kept = library.get_reward(name, str(sent["hash"]) if sent.get("hash") else None)
    return kept.code, kept.network


def read_parameters(sent: Any) -> dict[str, Any]:
    """Read typed parameters: {name: [what was typed, the types it takes]} → {name: value}, without those left empty."""
    found = {}
    for name, pair in sent.items() if isinstance(sent, dict) else []:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            continue
        types = [str(one) for one in pair[1]] if isinstance(pair[1], list) else []
        value = _read_list(pair[0], types) if {"list", "tuple"} & set(types) else field_values.value_of(pair[0], types)
        if value is not ABSENT:
            found[str(name)[:80]] = value
    return found


def _read_list(words: str, types: list[str]) -> Any:
    """A list as people type it, think, answer, or as YAML says it, [think, answer]."""
    value = field_values.value_of(words, ["list", "dict"])
    if isinstance(value, str) and "str" not in types:
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _number(value: Any, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return default
    return float(value)
