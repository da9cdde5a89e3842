"""A reward function's code under another name. Pure."""

import ast
import re

from groupwise.storage.spec.syntax_tree import parse_module


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
