"""Blocks of the reward builder, and what the code that they make defines."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from groupwise.storage.library.rewards import signature
from groupwise.storage.library.rewards.builder import Block, needs_network, to_code

NASTY = [
    '"', "'", '"""', "'''", "\\", "\\\\", "a\nb", "\r\t\0", "{x}", "%s", '")\nimport os\nos._exit(1)\n("',
    "'''\nraise SystemExit\n'''", '\\"""', "\\'", "ends in \\", "é€😀",
    "\u2028\u202e", "#", "a\"b'c", "$(id)", "</answer>",
    "“", "x" * 300, "\\N{BULLET}", "\\x00",
]  # fmt: skip


def built(*blocks: Block, name: str = "reward", sentence: str = "A reward.") -> dict[str, Any]:
    """What the code of these blocks defines; its own test has passed, and it is a function without a fault."""
    code = to_code(name, list(blocks), sentence)
    assert_good(code, name, network=needs_network(list(blocks)))
    space: dict[str, Any] = {}
    exec(compile(code, "built.py", "exec"), space)  # noqa: S102  # what the builder wrote, and never a person
    space[f"test_{name}"]()
    return space


def assert_good(code: str, name: str, *, network: bool = False) -> None:
    analysis = signature.analyse(code)
    assert [function.name for function in analysis.functions] == [name]
    assert [problem.message for problem in analysis.problems if not (network and "network" in problem.message)] == []
    assert all(ast.get_docstring(each) for each in ast.parse(code).body if isinstance(each, ast.FunctionDef))


def scores(*blocks: Block, texts: list[Any], **columns: list[Any]) -> list[float | None]:
    found: list[float | None] = built(*blocks)["reward"](completions=texts, extra=texts, **columns)
    return found


WORDS = Block("contains", {"texts": ["please", "Thanks"]})
EVERY = [
    Block(
        "matches",
        {
            "pattern": r"\s*[a-z]+ \"quoted\" \d{2,3}",
            "whole": True,
            "ignore_case": True,
            "earns": 'Some "quoted" 123',
            "fails": "a long answer without a number, " * 3,
        },
        2.0,
        True,
    ),
    Block("contains", {"texts": ["please", 'a "b"', "c'd\n"], "need": "none"}, 0.5, True),
    Block("contains", {"texts": [f"a phrase of some length, number {n}" for n in range(9)], "need": "any"}),
    Block("number_equals", {"column": "solution", "tolerance": 0.5, "near": 5.0}, 1.0, True),
    Block("number_equals", {"value": 3.25, "where": "last"}),
    Block("number_equals", {"value": -1.234, "where": "marker", "marker": "####", "decimal": "comma"}),
    Block("number_equals", {"column": "solution", "where": "boxed", "decimal": "comma"}),
    Block("number_equals", {"where": "first", "near": 2.0}, 1.0, True),
    Block("length_between", {"least": 3, "most": 80, "unit": "tokens"}, -0.5, True),
    Block("length_between", {"least": 0, "most": 800, "unit": "characters"}),
    Block("valid_json", {"keys": ["name", "age"]}, 1.0, True),
    Block("valid_json", {"must_be": "array", "fenced": False}),
    Block("valid_json", {"must_be": "any"}),
]
JUDGE = Block("judge_says", {"question": "Is it polite, and does it say why? " * 3})
LAYOUTS = {
    **{f"{block.kind} {at}": [block] for at, block in enumerate([*EVERY, JUDGE])},
    "all": EVERY, "all and a judge": [*EVERY, JUDGE],
    "two judges": [JUDGE, Block("judge_says", {"question": "?"}, 1, True)],
    "a penalty": [Block("contains", {"texts": ["sorry"]}, -1.0)], "two alike": [WORDS, WORDS],
    "required": [replace(WORDS, required=True), JUDGE, Block("number_equals", {}, 1.0, required=True)],
    "required and a penalty": [replace(WORDS, required=True), Block("contains", {"texts": ["sorry"]}, -1.0)],
}  # fmt: skip
