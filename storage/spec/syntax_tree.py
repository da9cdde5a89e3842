"""Python source to its syntax tree, from any thread. Nothing is ever run."""

import ast

SOUND_SINCE = (3, 11, 8)  # the version of Python from which on several threads may parse
_TURNS = 20


def parse_module(source: str, file: str = "<unknown>") -> ast.Module:
    """The tree of a file's text. Raises what `ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError."""
    found = _parse(source, file, "exec")
    assert isinstance(found, ast.Module)
    return found


def parse_expression(source: str) -> ast.expr:
    """The tree of one expression. Raises as `parse_module` does."""
    found = _parse(source, "<unknown>", "eval")
    assert isinstance(found, ast.Expression)
    return found.body


def _parse(source: str, file: str, mode: str) -> ast.AST:
    """Python before 3.11.8 keeps the depth of the tree that it builds in one place for all threads: where another one
    parses while the collector runs, this one fails with a SystemError, about nothing (python/cpython#106905)."""
    for _ in range(_TURNS):
        try:
            return ast.parse(source, file, mode)
        except SystemError as error:
            failed = error
    raise failed
