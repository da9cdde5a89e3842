"""What problems of reward functions are about, by the functions' names: rewards.0.name does not say which that is."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from groupwise.app.pages.new import edits
from groupwise.storage.spec.words.problem import Problem, name_of_setting
from groupwise.storage.spec.words.reward_entries import is_function_name

_OF_REWARD = re.compile(r"((?:stages\.\d+\.)?rewards\.\d+)(?:\.(.+))?")


def with_subjects(problems: Iterable[Problem], raw: Any) -> list[Problem]:
    """The problems of plain values, those of a reward function with its name: “length”, or “low” of “length”."""
    return [replace(one, subject=_subject(one.field, raw)) for one in problems]


def _subject(field: str, raw: Any) -> str:
    place = _OF_REWARD.fullmatch(field)
    name = edits.value_at(raw, f"{place[1]}.name") if place else None
    if place is None or not is_function_name(name):
        return ""
    setting = name_of_setting(place[2] or "name")
    return f"“{name}”" if setting == "name" else f"“{setting}” of “{name}”"
