"""What a question of the workbench carries, read strictly: a wrong field is a sentence at that field."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.spec.problem import near
from groupwise.worker.builtin import shipped

SCALES = ("group", "batch", "none")
AGGREGATIONS = ("sum_then_normalize", "normalize_then_sum")
MOST_FUNCTIONS, MOST_CODE = 64, 64 * 1024
TIMEOUT, LONGEST = 10.0, 3600.0  # seconds a call may take: where nothing is said, and at most


class Refused(Exception):
    """A question that cannot be answered as it is asked; `field` says which part of it is wrong."""

    def __init__(self, message: str, at: str = "") -> None:
        super().__init__(message)
        self.field = at


@dataclass(frozen=True)
class Function:
    """One reward function to call: its code, or None for one that ships. `weight` None: as the run had it."""

    name: str
    code: str | None
    parameters: dict[str, Any] = field(default_factory=dict)
    weight: float | None = None
    timeout: float = TIMEOUT
    network: bool = False


def failure(error: Refused) -> dict[str, Any]:
    """An answer that says why there is none."""
    return {"error": str(error), "field": error.field}


def functions(payload: dict[str, Any]) -> list[Function]:
    """The functions of a question, in order. Raises Refused."""
    listed = payload.get("functions")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise Refused("The functions should be a list of them.", "functions")
    if len(listed) > MOST_FUNCTIONS:
        raise Refused(f"At most {MOST_FUNCTIONS} functions at once.", "functions")
    found = [_function(one, f"functions.{number}") for number, one in enumerate(listed)]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Refused(f"“{twice}” is there twice. Give one of them another name.", "functions")
    return found


def _function(given: dict[str, Any], at: str) -> Function:
    name, code, parameters = given.get("name"), given.get("code"), given.get("parameters") or {}
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 80:
        raise Refused("A function's name should be a Python name.", f"{at}.name")
    if code is not None and (not isinstance(code, str) or len(code) > MOST_CODE):
        raise Refused(f"The code of “{name}” should be text of at most {MOST_CODE // 1024} KB.", f"{at}.code")
    if not isinstance(parameters, dict):
        raise Refused(f"The parameters of “{name}” should be named values.", f"{at}.parameters")
    if code is None and name not in shipped.names(shipped.REWARDS):
        known = near(name, shipped.names(shipped.REWARDS))
        hint = f" Did you mean {known}?" if known else ""
        message = f"No reward function “{name}” ships with Groupwise, and its code is not given.{hint}"
        raise Refused(message, f"{at}.name")
    weight = given.get("weight")
    weight = None if weight is None else number(weight, f"{at}.weight", f"The weight of “{name}”")
    timeout = number(given.get("timeout", TIMEOUT), f"{at}.timeout", f"The timeout of “{name}”")
    if not 0 < timeout <= LONGEST:
        raise Refused(f"The timeout of “{name}” should be above 0 and at most {LONGEST:.0f} s.", f"{at}.timeout")
    return Function(name, code, dict(parameters), weight, timeout, given.get("network") is True)


def number(value: Any, at: str, what: str) -> float:
    """A finite number. Raises Refused."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Refused(f"{what} should be a finite number.", at)
    return float(value)


def whole(value: Any, at: str, what: str, *, least: int, most: int) -> int:
    """A whole number between bounds. Raises Refused."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refused(f"{what} should be a whole number from {least} to {most:,}.", at)
    return value


def text(payload: dict[str, Any], name: str, what: str) -> str:
    """A text that is not empty. Raises Refused."""
    value = payload.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{what} is needed.", name)
    return value


def scale(value: Any, default: str = "group") -> str:
    """What TRL's scale_rewards means: its booleans are “group” and “none”. Raises Refused."""
    if value is None:
        return default
    value = {True: "group", False: "none"}[value] if isinstance(value, bool) else value
    if value not in SCALES:
        raise Refused(f"scale_rewards should be one of {', '.join(SCALES)}.", "scale_rewards")
    return str(value)


def aggregation(value: Any) -> str:
    """TRL's multi_objective_aggregation. Raises Refused."""
    if value is None:
        return AGGREGATIONS[0]
    if value not in AGGREGATIONS:
        raise Refused(f"multi_objective_aggregation should be one of {', '.join(AGGREGATIONS)}.",
                      "multi_objective_aggregation")  # fmt: skip
    return str(value)
