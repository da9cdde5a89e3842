"""What is said of a number or a truth, as it is written in the text: 6e1, and not 60.0, which nobody typed. Pure."""

import re
from collections.abc import Iterable
from dataclasses import replace

from ruamel.yaml.nodes import ScalarNode

from groupwise.storage.spec.rows.number_text import scalars_by_path
from groupwise.storage.spec.words.misfits import text_fix
from groupwise.storage.spec.words.problem import Problem
from groupwise.storage.spec.yaml.yaml_text import scalar_value

LONGEST = 40  # characters of what is written that are said
_AS_READ = re.compile(r"(should be .*?, not )(true|false|[-+]?inf|nan|[-+]?[0-9][-+.0-9e]*?)(\.(?:\s.*)?)", re.S)


def say_as_written(problems: Iterable[Problem], text: str) -> list[Problem]:
    """The problems of a text, with such values as they stand in it, also on the button that makes a text of one."""
    found = list(problems)
    wrong = any(_AS_READ.fullmatch(one.message) for one in found)
    written = scalars_by_path(text, _is_number_or_truth) if wrong else {}
    return [_say(one, written[one.field]) if one.field in written else one for one in found]


def _is_number_or_truth(node: ScalarNode) -> bool:
    plain = node.style is None and len(node.value) <= LONGEST
    return plain and isinstance(scalar_value(node), (int, float))  # true is an int


def _say(problem: Problem, written: str) -> Problem:
    said = _AS_READ.fullmatch(problem.message)
    if said is None:
        return problem
    as_read, [own] = text_fix(problem.field, said[2]), text_fix(problem.field, written)
    fixes = tuple(own if fix in as_read else fix for fix in problem.fixes)
    return replace(problem, message=f"{said[1]}{written}{said[3]}", fixes=fixes)
