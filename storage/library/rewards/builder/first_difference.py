"""Where a code is no longer as blocks would make it: its first line that was edited by hand. Pure."""

import ast
import io
import itertools
import re
import tokenize
from typing import Any

from groupwise.storage.spec.syntax_tree import parse_module

Function = ast.FunctionDef
_VALUE = re.compile(r"“[^”]*”|-?\d+(?:\.\d+)?|<[\w-]+>|(?<=column )\w+")  # in a docstring: what was typed


def first_differing_line(code: str, module: ast.Module, made: str) -> int:
    """The first line of a code that is not as it was made; 0 where there is none."""
    theirs, ours = module.body, parse_module(made).body
    for mine, other in zip(theirs, ours, strict=False):
        line = _differs(mine, other, in_test=isinstance(mine, Function) and mine.name.startswith("test_"))
        if line:
            return line
    if len(theirs) > len(ours):
        return theirs[len(ours)].lineno
    return _added_comment(code, made) or (len(code.splitlines()) if len(theirs) < len(ours) else 0)


def _differs(mine: ast.AST, other: ast.AST, *, in_test: bool, line: int = 1) -> int:
    """The line of the first node that is another; 0 where none is. In tests values may differ: they follow."""
    line = getattr(mine, "lineno", line)
    if type(mine) is not type(other):
        return line
    if isinstance(mine, ast.Constant) and isinstance(other, ast.Constant):
        return 0 if in_test or _same_value(mine.value, other.value) else line + _lines_alike(mine.value, other.value)
    if isinstance(mine, Function) and isinstance(other, Function) and _docs(mine) == _docs(other):
        rest = [(mine.args, other.args), *itertools.zip_longest(mine.body[1:], other.body[1:])]
        if (mine.name, len(mine.decorator_list)) == (other.name, 0):
            return _first(rest, in_test, line)
    if _plain_fields(mine) != _plain_fields(other):
        return line
    return _first(itertools.zip_longest(ast.iter_child_nodes(mine), ast.iter_child_nodes(other)), in_test, line)


def _same_value(mine: Any, other: Any) -> bool:
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (mine, other))
    return bool(mine == other and (numbers or type(mine) is type(other)))


def _lines_alike(mine: Any, other: Any) -> int:
    """How many lines two texts begin with that say the same, but for what was typed."""
    if not isinstance(mine, str) or not isinstance(other, str):
        return 0
    pairs = list(zip(_VALUE.sub("#", mine).split("\n"), _VALUE.sub("#", other).split("\n"), strict=False))
    return next((n for n, (one, two) in enumerate(pairs) if one != two), 0)


def _first(pairs: Any, in_test: bool, line: int) -> int:
    for mine, other in pairs:
        if mine is None or other is None:
            return getattr(mine, "lineno", line)
        if found := _differs(mine, other, in_test=in_test, line=line):
            return found
    return 0


def _plain_fields(node: ast.AST) -> list[Any]:
    """What a node has beside other nodes: names, mostly."""
    return [(key, value) for key, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


def _docs(function: Function) -> str:
    """A docstring's words, without what was typed."""
    return _VALUE.sub("#", " ".join((ast.get_docstring(function) or "").split()))


def _added_comment(code: str, made: str) -> int:
    """The line of the first comment that the builder did not write: it would be lost."""
    ours = {words for _, words in _comments(made)}
    return next((line for line, words in _comments(code) if words not in ours), 0)


def _comments(code: str) -> list[tuple[int, str]]:
    try:
        found = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError):
        return []
    return [(each.start[0], each.string) for each in found if each.type == tokenize.COMMENT]
