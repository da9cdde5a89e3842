"""Python source to its syntax tree, from any thread. Nothing is ever run."""

import ast
import contextlib
import io
import tokenize

SOUND_SINCE = (3, 11, 8)  # the version of Python from which on several threads may parse
_TURNS = 20
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def parse_module(source: str, file: str = "<unknown>") -> ast.Module:
    """The tree of a file's text. Raises what `ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError."""
    try:
        found = _parse(source, file, "exec")
    except SyntaxError as error:
        if error.msg != "invalid syntax" or (bracket := _find_open_bracket(source, error)) is None:
            raise
        line, column = bracket.start
        raise SyntaxError(f"'{bracket.string}' was never closed", (file, line, column + 1, bracket.line)) from error
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


def _find_open_bracket(source: str, error: SyntaxError) -> tokenize.TokenInfo | None:
    """The innermost bracket before the error that nothing closes: behind `if (a > 1:` Python stumbles at the colon, and
    says no more than that."""
    left: list[tokenize.TokenInfo] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):  # the text ends within the bracket
        for token in tokenize.generate_tokens(io.StringIO(source, newline=None).readline):
            if token.type == tokenize.OP and token.string in _CLOSED_BY:
                left.append(token)
            elif left and token.type == tokenize.OP and token.string == _CLOSED_BY[left[-1].string]:
                left.pop()
    place = (error.lineno or 1, error.offset or 1)
    return next((one for one in reversed(left) if (one.start[0], one.start[1] + 1) <= place), None)
