"""Lists of names that were written as one text: “q_proj, v_proj” is a pattern that no layer fits. Pure."""

import re
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem

_LISTS = {"target_modules", "exclude_modules", "optim_target_modules"}
_BETWEEN = re.compile(r"[,;\s]+")
_NAME = re.compile(r"[\w.-]+")


def names_problem(path: str, value: Any) -> Problem | None:
    """The problem of a text where PEFT takes a list of names or one pattern; None where it is no such list."""
    if path.rpartition(".")[2] not in _LISTS or not isinstance(value, str):
        return None
    names = [name.strip("'\"") for name in _BETWEEN.split(value.strip().removeprefix("[").removesuffix("]").strip())]
    if len(names) < 2 or not all(map(_NAME.fullmatch, names)):
        return None
    fix = Fix(f"Use the list of {len(names)} names", {path: names})
    message = f"is one text, which is taken for one pattern: write {', '.join(names)[:80]} as a list."
    return Problem(path, message, fixes=(fix, Fix("Remove it", {}, (path,))))
