"""Reward functions that are written as “format: 1.0”, a name with its weight, where an entry “- name: format” belongs:
the entries that were meant, so that no function and no weight is lost. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from groupwise.storage.spec.words.misplaced import PLACED
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.setting_names import ELSEWHERE, meant_name

OF_AN_ENTRY = ("name", "weight", "version", "parameters", "timeout", "schedule", "adapt")
LONGEST = 80  # characters of a function's name


def is_function_name(name: Any) -> bool:
    """Whether this can be the name of a Python function."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) <= LONGEST


def weighed_entries(value: Any) -> list[dict[str, Any]]:
    """The entries that a mapping of functions was meant to be, or a mapping of one with settings of its entry beside
    it; none of anything else."""
    names = [name for name in value if name not in OF_AN_ENTRY] if isinstance(value, dict) else []
    if len(names) == 1 and "name" not in value and (entry := _weighed_entry(names[0], value[names[0]])):
        return [{**entry, **{name: inner for name, inner in value.items() if name != names[0]}}]
    entries = [_weighed_entry(name, inner) for name, inner in value.items()] if isinstance(value, dict) else []
    whole = [entry for entry in entries if entry is not None]
    return whole if len(whole) == len(entries) else []


def _weighed_entry(name: Any, value: Any) -> dict[str, Any] | None:
    """Of a function's name with its weight, its settings, or its parameters; None of what is no such thing."""
    if not is_function_name(name) or name in OF_AN_ENTRY:
        return None
    if value is None or value is True:
        return {"name": name}
    if _is_number(value):
        return {"name": name, "weight": value}
    if not isinstance(value, dict) or "name" in value:
        return None
    known = [setting for setting in value if setting in OF_AN_ENTRY]
    if len(known) == len(value):
        return {"name": name, **value}
    return None if known else {"name": name, "parameters": value}


def named_as_setting(path: str, value: Any, entry: Mapping[str, Any], line: int | None) -> Problem | None:
    """The problem of `- format: 1.0`: an entry without a name, in which that stands before the weight; None of any
    other setting. `path`: the setting's; `entry`: all that stands beside it."""
    owner, _, name = path.rpartition(".")
    others = [one for one in entry if one not in OF_AN_ENTRY]
    if "name" in entry or others != [name] or not is_function_name(name) or meant_name(name, OF_AN_ENTRY):
        return None
    if name in PLACED or not (value is None or _is_number(value)):
        return None
    weight = entry.get("weight", value)
    settings: dict[str, Any] = {f"{owner}.name": name}
    written = f"“name: {name}”"
    if weight is not None:
        settings[f"{owner}.weight"] = weight
        written += f" and “weight: {weight}”"
    message = "a function's name stands behind “name:”, and its number behind “weight:”."
    remove = Fix("Remove this entry", {}, (owner,))
    return Problem(path, message, line, fixes=(Fix(f"Write {written}", settings, (path,)), remove))


def below_empty_rewards(name: str, raw: Mapping[Any, Any], parts: Collection[str], line: int | None) -> Problem | None:
    """The problem of `format: 1.0` at the left edge where `rewards` has nothing: it belongs under that, with all others
    of its kind. `raw`: the whole spec, `parts`: the names it may have. None of any other setting."""
    if "rewards" not in raw or raw["rewards"] is not None:
        return None
    meant = {str(one): value for one, value in raw.items() if _is_weight_of_function(one, value, parts)}
    entries = weighed_entries(meant)
    if name not in meant or not entries:
        return None
    words = join_words([f"“{one}”" for one in meant], 3)
    label = "Move it under rewards" if len(meant) == 1 else f"Move {words} under rewards"
    message = "belongs under rewards, as an entry “- name: " + name + "”, if it is a reward function."
    move = Fix(label, {"rewards": entries}, tuple(meant))
    return Problem(name, message, line, fixes=(move, Fix("Remove it", {}, (name,))))


def below_filled_rewards(
    problem: Problem, raw: Mapping[Any, Any], known: Collection[str], parts: Collection[str]
) -> Problem:
    """The problem of `format: 1.0` at the left edge where `rewards` is a list, with the button that puts it there: it
    names one of the `known` functions. `raw`: the whole spec; `parts`: the names it may have. Any other as it is."""
    name, listed = problem.field, raw.get("rewards")
    value = raw.get(name)
    if name not in known or not isinstance(listed, list) or not _is_weight_of_function(name, value, parts):
        return problem
    same = [n for n, entry in enumerate(listed) if isinstance(entry, dict) and entry.get("name") == name]
    if not same:
        add = Fix("Add it to the rewards", {f"rewards.{len(listed)}": {"name": name, "weight": value}}, (name,))
        message = f"belongs under rewards, as an entry “- name: {name}” with “weight: {value}”."
        return replace(problem, message=message, fixes=(add, *problem.fixes))
    if len(same) > 1 or "weight" in listed[same[0]]:
        return replace(problem, message=f"belongs under rewards, where “{name}” has a weight already.")
    move = Fix(f"Make it the weight of {name}", {f"rewards.{same[0]}.weight": value}, (name,))
    return replace(problem, message=f"belongs under rewards, as the weight of “{name}”.", fixes=(move, *problem.fixes))


def of_entry_above(field: str, raw: Mapping[Any, Any]) -> tuple[str, tuple[Fix, ...]]:
    """Of an entry without a name (`field`: of that name) that holds only settings which the one above has none of: it
    has a dash too many. What is said of it, and the button that joins the two; nothing of any other."""
    entry, _, name = field.rpartition(".")
    owner, _, place = entry.rpartition(".")
    if name != "name" or not place.isdigit() or place == "0":
        return "", ()
    listed: Any = raw
    for part in owner.split("."):
        listed = listed[int(part)] if part.isdigit() else listed[part]
    above, given = listed[int(place) - 1], listed[int(place)]
    if not (isinstance(above, dict) and is_function_name(above.get("name")) and isinstance(given, dict) and given):
        return "", ()
    if not all(setting in OF_AN_ENTRY and setting not in above for setting in given):
        return "", ()
    words = join_words([str(setting) for setting in given])
    settings = {f"{owner}.{int(place) - 1}.{setting}": value for setting, value in given.items()}
    label = f"Make it the {words} of {above['name']}" if len(given) == 1 else f"Make it part of {above['name']}"
    return f" Without its dash it is the {words} of “{above['name']}”.", (Fix(label, settings, (entry,)),)


def _is_weight_of_function(name: Any, value: Any, parts: Collection[str]) -> bool:
    if not is_function_name(name) or name in parts or name in PLACED or name in ELSEWHERE or not _is_number(value):
        return False
    return meant_name(name, parts) is None and meant_name(name, PLACED) is None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
