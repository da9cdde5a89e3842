"""Parsing from several threads: on an old Python it fails at times, and never for us."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator

import pytest

from groupwise.storage.spec.syntax_tree import parse_expression, parse_module

BODY = "(a, *, b=[1, {2: (3, 4)}], **rest):\n    return a[b](rest) if a else -b"
SOURCE = "\n".join(f"def f{n}{BODY}" for n in range(99))


@pytest.fixture
def parsed_meanwhile() -> Iterator[list[int]]:
    """Another text is parsed while the collector runs within the next parse, as another thread would; counted."""
    seen: list[int] = []

    def parse_another(phase: str, _about: dict[str, int]) -> None:
        if phase == "start" and not seen:
            seen.append(1)
            gc.disable()
            ast.parse("x")
            gc.enable()

    before = gc.get_threshold()
    gc.set_threshold(2_000)
    gc.callbacks.append(parse_another)
    yield seen
    gc.callbacks.remove(parse_another)
    gc.set_threshold(*before)


def test_another_parse_within_one_does_not_spoil_it(parsed_meanwhile: list[int]) -> None:
    gc.collect(0)
    parsed_meanwhile.clear()
    assert len(parse_module(SOURCE).body) == 99
    assert parsed_meanwhile, "the collector did not run within the parse"


def test_what_is_parsed_is_what_ast_parses() -> None:
    assert ast.dump(parse_module(SOURCE)) == ast.dump(ast.parse(SOURCE))
    assert ast.unparse(parse_expression("a if b else {'c': 1}")) == "a if b else {'c': 1}"
    with pytest.raises(SyntaxError, match="invalid syntax"):
        parse_module("x = = 1\ny = [1")
    with pytest.raises(SyntaxError):
        parse_expression("a = 1")


@pytest.mark.parametrize(
    ("source", "words", "place"),
    [
        ('x = 1\nif (len(x) > 1:\n    x = ["("]\n', "'(' was never closed", (2, 4)),
        ("for a in f(\n    b[0:\n    pass\n", "'[' was never closed", (2, 6)),
        ("with open('(' as f:\n    pass\n", "'(' was never closed", (1, 10)),
        ("class (A:\n    pass\n", "'(' was never closed", (1, 7)),
        ("x = f(\n    a: 1)\n", "invalid syntax", (2, 6)),
        ("if (a) > 1::\n    pass\n", "invalid syntax", (1, 12)),
    ],
)
def test_a_bracket_that_is_never_closed_is_named_where_python_stumbles_behind_it(
    source: str, words: str, place: tuple[int, int]
) -> None:
    with pytest.raises(SyntaxError) as refused:
        parse_module(source)
    assert (refused.value.msg, (refused.value.lineno, refused.value.offset)) == (words, place)
