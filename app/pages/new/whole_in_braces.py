"""A decimal comma in braces where a whole number belongs, {max_steps: 0,5}: a point in its place would only be refused
next. One problem, with whole numbers on its buttons. Pure."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from groupwise.storage.spec.words.problem import Cut, Fix, Problem
from groupwise.storage.spec.yaml.misread import COMMA, POINTS

_DEFAULT = re.compile(r"Use the default \((\d+)\)")
_WHOLE = re.compile(r"[-+]?\d+")


def join_whole_numbers(slips: Iterable[Problem], others: Iterable[Problem]) -> tuple[list[Problem], list[Problem]]:
    """The slips of a text and what is said of its values, without those of the latter that become part of a slip."""
    slipped, said = list(slips), list(others)
    refused = {one.field: one for one in said if one.message.startswith("should be a whole number")}
    joined = {one.field: _join(one, refused[one.field]) for one in slipped if _is_comma(one) and one.field in refused}
    if not joined:
        return slipped, said
    kept = [joined[one.field] if _is_comma(one) and one.field in joined else _without_points(one) for one in slipped]
    return kept, [one for one in said if one not in [refused[field] for field in joined]]


def _is_comma(problem: Problem) -> bool:
    return COMMA in problem.message and all(fix.cut is not None for fix in problem.fixes)


def _without_points(problem: Problem) -> Problem:
    """Without the button that would write a point where a whole number belongs as well."""
    return replace(problem, fixes=tuple(fix for fix in problem.fixes if not fix.label.startswith(POINTS)))


def _join(slip: Problem, refused: Problem) -> Problem:
    if not slip.fixes or (cut := slip.fixes[0].cut) is None:  # what stands around it is put right first
        return replace(slip, message=f"{slip.message.partition(COMMA)[0]}{COMMA} This should be a whole number.")
    meant = [fix.cut.put for fix in slip.fixes if fix.cut and _WHOLE.fullmatch(fix.cut.put)]
    numbers = meant or [*_usual(refused)] or _near(cut)
    fixes = tuple(Fix(f"Use {number}", {}, cut=replace(cut, put=number)) for number in dict.fromkeys(numbers))
    asked = f" Did you mean {' or '.join(meant)}?" if meant else ""
    message = f"the comma in {cut.text}{COMMA} This should be a whole number.{asked}"
    return replace(slip, message=message, fixes=fixes)


def _usual(refused: Problem) -> Iterator[str]:
    """The whole numbers on its buttons that are usual there, and not read out of what stands there."""
    for fix in refused.fixes:
        default = _DEFAULT.fullmatch(fix.label)
        if default or (fix.fallback and type(fix.settings.get(refused.field)) is int):
            yield default[1] if default else str(fix.settings[refused.field])


def _near(cut: Cut) -> list[str]:
    number = float(cut.put)
    return [str(one) for one in (math.floor(number), math.ceil(number)) if one > 0]
