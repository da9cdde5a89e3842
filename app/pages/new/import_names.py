"""The name under which a script's reward function goes into the library: its own where that is free, never another's.
Pure on texts, but for what the library has."""

import ast
import re

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library, names
from groupwise.storage.spec.syntax_tree import parse_module


def library_name(name: str, code: str, offer: Offer) -> tuple[str, str]:
    """(the name, why it is another than the script's: "" where it is the same). The library's own function of this
    name keeps it, unless it is this very code."""
    built_in = [known for known, about in offer.rewards.items() if not about.get("own")]
    problem = names.problem_with(name, built_in)
    if not problem and _is_free(name, code):
        return name, ""
    base = f"my_{name}".replace("__", "_") if problem else name
    base = base[: names.LONGEST - 5]
    tries = [base, *(f"{base}_{number}" for number in range(2, 1000))] if problem else [
        f"{base}_{number}" for number in range(2, 1000)
    ]  # fmt: skip
    found = next(one for one in tries if not names.problem_with(one, built_in)
                 and _is_free(one, rename_function(code, name, one)))  # fmt: skip
    return found, problem or f"Your library has another function “{name}”."


def _is_free(name: str, code: str) -> bool:
    """Whether no other code was ever saved under a name, however it is capitalised."""
    known = {own for own in library.all_versions() if own.casefold() == name.casefold()}
    if not known:
        return True
    versions = library.versions(name) if known == {name} else []
    return bool(versions) and versions[0].hash == library.hash_of(library.with_plain_line_ends(code))


def rename_function(code: str, old: str, new: str) -> str:
    """The code with a top-level function, and what calls it, under another name; every other character stays."""
    if old == new:
        return code
    lines = code.encode("utf-8").split(b"\n")
    places = []
    for node in ast.walk(parse_module(code)):
        if isinstance(node, ast.Name) and node.id == old:
            places.append((node.lineno - 1, node.col_offset))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == old:
            found = re.compile(rb"def\s+(?=" + old.encode() + rb"\b)").search(lines[node.lineno - 1], node.col_offset)
            places += [(node.lineno - 1, found.end())] if found else []
    size = len(old.encode())
    for line, column in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + new.encode() + lines[line][column + size :]
    return b"\n".join(lines).decode("utf-8")
