"""Texts that no run may hold: secrets, in a spec or in a reward function's code, what no file can store, and names that
nobody can see."""

from collections.abc import Iterator
from typing import Any

from groupwise.storage.home.redaction import holds
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.run_names import (
    CONTROL,
    SEVERAL_LINES,
    USUAL_NAME,
    name_fault,
    on_one_line,
    quotes_problem,
    signs_problem,
    without_controls,
)

SECRET = "holds a secret. Secrets belong in the environment, never in a spec: take it out."
IN_CODE = "holds a secret. Take it out of the code, and read it there from the environment (os.environ)."
HALF = "has half a character (a lone surrogate), which no file can hold. Type it again."


def check_texts(spec: RunSpec, offer: Offer) -> list[Problem]:
    """A problem at each field with such a text, and at each reward function with a secret in its code."""
    found = [Problem(path, message) for path, text in _texts(spec.model_dump(), "") if (message := _text_fault(text))]
    parts = [("", spec.rewards), *((f"stages.{n}.", stage.rewards or []) for n, stage in enumerate(spec.stages))]
    for place, rewards in parts:
        for index, reward in enumerate(rewards):
            if holds(_code_of_own(reward, offer)):
                found.append(Problem(f"{place}rewards.{index}.name", f"the code of “{reward.name}” {IN_CODE}"))
    return found


def check_name(spec: RunSpec) -> list[Problem]:
    """The problem of a name that no run can have, or of what nobody sees or means in one."""
    fault = name_fault(spec.name)
    if not fault:
        return [one for one in (signs_problem(spec.name), quotes_problem(spec.name)) if one]
    return [Problem("name", fault, fixes=(_name_fix(spec.name, fault),))]


def _name_fix(name: str, fault: str) -> Fix:
    if fault == CONTROL:
        return Fix("Remove it", {"name": without_controls(name)})
    if fault == SEVERAL_LINES:
        return Fix("Write it on one line", {"name": on_one_line(name)})
    return Fix(f"Use “{USUAL_NAME}”", {"name": USUAL_NAME})


def _code_of_own(reward: RewardSpec, offer: Offer) -> str:
    about = offer.function(reward.name, reward.version) or {}
    return str(about.get("code") or "") if about.get("own") else ""


def _text_fault(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return HALF
    return SECRET if holds(text) else ""


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text in plain values with where it stands; names of settings are texts as well."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield path, str(name)
            yield from _texts(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{path}.{number}".lstrip("."))
