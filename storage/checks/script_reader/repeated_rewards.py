"""A reward that a script uses more than once, as partial(f, scale=2) beside f. TRL counts each by its place, and a run
by its name: each name once."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.checks.script_reader.unsaid import list_names
from groupwise.storage.checks.script_reader.values import Value
from groupwise.storage.library.rewards.renaming import rename_function
from groupwise.storage.spec.python_source import literal

TWICE = "is in reward_funcs more than once"


def add_to_same(reading: Reading, found: list[dict[str, Any]], reward: dict[str, Any], at: Value) -> bool:
    """Whether a reward is among those that were found with the same settings: then its weight is added there, which
    comes to the same."""
    for one in found:
        if {**one, "weight": 0} == {**reward, "weight": 0}:
            weight = one["weight"] = round(one["weight"] + reward["weight"], 12)
            after = f"{TWICE}, with the same settings, so its weights were added: it weighs {weight:g}."
            reading.note(f"“{one['name']}”", at, after)
            return True
    return False


def copy_under(code: ScriptFunction, name: str) -> ScriptFunction:
    """A function that comes along once more, under another name."""
    return replace(code, name=name, code=rename_function(code.code, code.name, name), places=[])


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name; with a number where it is taken."""
    known = set(taken)
    return next(one for one in (name, *(f"{name}_{number}" for number in range(2, 10_000))) if one not in known)


def settings_words(reward: dict[str, Any]) -> str:
    """What a reward is set to."""
    given = [f"{name} {literal(value)}" for name, value in reward.get("parameters", {}).items()]
    return list_names([*given, f"weight {reward['weight']:g}"])
