"""A reward function's code under another name. Pure."""

import ast
import re
from collections.abc import Iterator

from groupwise.storage.library.rewards.names import quote_name
from groupwise.storage.spec.syntax_tree import parse_module


def rename_function(code: str, old: str, new: str) -> str:
    """The code with a top-level function, and what calls it, under another name, and so the test that the builder
    writes of it; every other character stays."""
    if old == new:
        return code
    module, lines = parse_module(code), code.encode("utf-8").split(b"\n")
    names, places = _names_to_write(module, old, new), list[tuple[int, int, str]]()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and node.id in names:
            places.append((node.lineno - 1, node.col_offset, node.id))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names:
            word = re.compile(rb"def\s+(?=" + node.name.encode() + rb"\b)")
            found = word.search(lines[node.lineno - 1], node.col_offset)
            places += [(node.lineno - 1, found.end(), node.name)] if found else []
    for line, column, name in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + names[name].encode() + lines[line][column + len(name.encode()) :]
    return b"\n".join(lines).decode("utf-8")


def _names_to_write(module: ast.Module, old: str, new: str) -> dict[str, str]:
    """What is written in place of which name."""
    tests = [f"test_{old}", f"test_{new}"]
    there = [node.name for node in module.body if isinstance(node, ast.FunctionDef) and node.name in tests]
    return {old: new} | ({tests[0]: tests[1]} if there == tests[:1] else {})


def rename_fault(code: str, old: str, new: str) -> str:
    """Why a function cannot have another name in this code, as a sentence; empty where it can."""
    said = list(_names_said(parse_module(code)))
    if new in (name for name, _ in said):
        return f"In the code of {quote_name(old)} something else is called {quote_name(new)}. Choose another name."
    if any(name == old and not is_function for name, is_function in said):
        return f"Something else in the code is called {quote_name(old)}, too. Rename that first, and save."
    return ""


def _names_said(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every name that a code has, with whether it stands where `rename_function` writes another."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            yield node.id, True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, True
        elif isinstance(node, ast.arg):
            yield node.arg, False
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name.partition(".")[0]), False
        elif isinstance(node, (ast.ClassDef, ast.ExceptHandler)) and node.name:
            yield node.name, False
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from ((name, False) for name in node.names)
