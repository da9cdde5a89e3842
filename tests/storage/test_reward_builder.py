"""The builder's code scores right, whatever a person typed, reads well, and can be nothing but what was meant."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruff import find_ruff_bin

from groupwise.storage.library.rewards import library, signature
from groupwise.storage.library.rewards.builder import (
    KINDS,
    Block,
    BuilderError,
    block_problems,
    needs_network,
    read_blocks,
    to_code,
    to_traced_code,
)
from groupwise.storage.spec import python_source
from groupwise.storage.spec.answer_numbers import ALONE, COMPARE_NUMBERS, number_of_answer, source_of
from groupwise.worker.builtin import shipped
from groupwise.worker.builtin.rewards.correctness import correctness

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


def ruff(*arguments: str, code: str) -> str:
    command = [find_ruff_bin(), *arguments, "--isolated", "--no-cache", "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


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
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_written_is_as_black_and_ruff_have_it(layout: str):
    code = to_code("my_reward", LAYOUTS[layout], "Polite answers.")
    assert ruff("format", "--diff", code=code) == ""
    assert ruff("check", code=code) == "" and ruff("check", "--select", "F,W,I,B,UP", code=code) == ""
    assert signature.analyse(code).functions[0].help == "Polite answers."
    built(*LAYOUTS[layout])


@pytest.mark.parametrize("block", EVERY, ids=lambda block: block.kind)
def test_chat_and_plain_text_score_alike(block: Block):
    texts = ["", "please 3.25", '{"name": 1}', "[1]", '  words "quoted" 12 ', "<answer>7</answer>"]
    more = {"completion_ids": [[0] * len(text) for text in texts], "solution": ["7"] * len(texts)}
    more["answer"] = more["solution"]
    chat = [[{"role": "assistant", "content": text}] for text in texts]
    block = replace(block, weight=1.0)
    plain = scores(block, texts=texts, **more)
    assert plain == scores(block, texts=chat, **more)
    assert all(score is not None and 0 <= score <= 1 for score in plain)
    assert scores(block, texts=[[], [{"role": "assistant", "content": None}]], completion_ids=[[], []],
                  solution=["7"] * 2, answer=["7"] * 2) == [plain[0]] * 2  # fmt: skip


def test_contains_needs_all_any_or_none_and_gives_shares():
    texts = ["Please and thanks", "please", "no"]
    assert scores(WORDS, texts=texts) == [1.0, 0.0, 0.0]
    assert scores(Block("contains", WORDS.settings, partial=True), texts=texts) == [1.0, 0.5, 0.0]
    assert scores(Block("contains", {**WORDS.settings, "need": "any"}), texts=texts) == [1.0, 1.0, 0.0]
    assert scores(Block("contains", {**WORDS.settings, "need": "none"}), texts=texts) == [0.0, 0.0, 1.0]
    assert scores(Block("contains", {**WORDS.settings, "need": "none"}, partial=True), texts=texts) == [0.0, 0.5, 1.0]
    assert scores(Block("contains", {**WORDS.settings, "ignore_case": False}), texts=["please Thanks", *texts])[:2] == [
        1,
        0,
    ]


def test_matches_finds_or_fits_and_gives_half():
    texts = ["12", "a 12", "a", " 12\n"]
    assert scores(Block("matches", {"pattern": r"\d+"}), texts=texts) == [1.0, 1.0, 0.0, 1.0]
    assert scores(Block("matches", {"pattern": r"\d+", "whole": True}), texts=texts) == [1.0, 0.0, 0.0, 1.0]
    assert scores(Block("matches", {"pattern": r"\d+", "whole": True}, partial=True), texts=texts) == [
        1.0,
        0.5,
        0.0,
        1.0,
    ]
    assert scores(Block("matches", {"pattern": "a.b", "dot_all": False}), texts=["a\nb"]) == [0.0]
    assert scores(Block("matches", {"pattern": "A.B", "ignore_case": True}), texts=["a\nb"]) == [1.0]


def test_the_examples_that_are_typed_are_the_test():
    block = Block("matches", {"pattern": r"\d+", "earns": "7", "fails": "seven"})
    code = to_code("reward", [block], "")
    assert 'assert matches_pattern("7") == 1.0' in code and 'assert matches_pattern("seven") < 1.0' in code
    assert built(block)
    untested = to_code("reward", [Block("matches", {"pattern": r"\d+"})], "")
    assert "== 1.0" not in untested and "< 1.0" not in untested


# (pattern, an example that matches as a whole, one in which nothing matches)
PATTERNS = [
    (r"\d+", "12", "twelve"),
    (r"^<think>.*?</think>\s*<answer>.*?</answer>$", "<think>a\nb</think>\n<answer>4</answer>", "<answer>4</answer>"),
    (r"(?=.*[A-Z])(?=.*\d).{8,}", "Passw0rds", "password"),
    (r"(a)(b)?\1(?(2)c|d)", "abac", "abad"), (r"(?i)yes|no", "YES", "maybe"),
    (r"(?P<one>\w+) (?P=one)", "is is", "is-it"),
    (r"\b\w+ing\b", "going", "gone"), (r"[é-ü]+", "éü", "e"), (r"\\boxed\{[^}]*\}", "\\boxed{4}", "boxed 4"),
    (r"\S+@\S+\.\w{2,}", "a@b.org", "a at b"), (r"(?>ab)c++", "abcc", "ab"), (r"(?x) a b # c", "ab", "a b"),
    (r"(?m)^- .+\n- .+", "- a\n- b", "- a"), (r"[\u4e00-\u9fff]", "\u4e2d", "x"), (r"\W\D", "!x", "a1"),
]  # fmt: skip


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("pattern", "earns", "fails"), PATTERNS)
def test_what_is_said_of_an_example_is_what_the_code_does(pattern: str, earns: str, fails: str, whole: bool):
    settings = {"pattern": pattern, "whole": whole}
    built(Block("matches", {**settings, "earns": earns, "fails": fails}))  # runs them as its test
    wrong = block_problems([Block("matches", {**settings, "earns": fails, "fails": earns})])
    assert [problem.setting for problem in wrong] == ["earns", "fails"]


def test_an_example_is_judged_as_the_block_is_set():
    def setting(**settings: Any) -> list[str | None]:
        return [problem.setting for problem in block_problems([Block("matches", {"pattern": "a.b", **settings})])]

    assert setting(earns="a\nb") == [] and setting(earns="a\nb", dot_all=False) == ["earns"]
    assert setting(earns="A-B") == ["earns"] and setting(earns="A-B", ignore_case=True) == []
    assert setting(earns="so a-b") == [] and setting(earns="so a-b", whole=True) == ["earns"]
    assert setting(earns=" a-b\n", whole=True) == [] and setting(fails="so a-b", whole=True) == []


def test_a_pattern_in_a_tangle_is_given_up_in_words():
    [problem] = block_problems([Block("matches", {"pattern": "(a|aa)+$", "fails": "a" * 60 + "b"})])
    assert problem.setting == "pattern" and "takes too long on an example" in problem.message


@pytest.mark.filterwarnings("ignore::FutureWarning")
@given(st.text("ab(|)*+?.[]^$\\d{2}! ", max_size=12), st.text("ab!2\n ", min_size=1, max_size=6), st.booleans())
def test_any_example_that_is_accepted_passes(pattern: str, example: str, whole: bool):
    for name in ("earns", "fails"):
        block = Block("matches", {"pattern": pattern, "whole": whole, name: example})
        if block_problems([block]) == []:
            built(block)


@pytest.mark.parametrize(
    ("text", "right", "score"),
    [("<answer>42</answer>", 42, 1.0), ("<answer>42.0</answer> 7", "42", 1.0), ("it is 1,000", 1000.0, 1.0),
     ("5-3", "3", 1.0), ("-3", "3", 0.0), ("x = -3", -3, 1.0), ("none", "3", 0.0), ("3", None, None),
     ("3", "n/a", None),
     ("9007199254740993", "9007199254740992", 0.0), ("3", "so 1 + 2 #### 3", 1.0), ("1e2", "100", 1.0),
     ("9" * 5000, "3", 0.0), ("1e999999", "3", 0.0), ("<answer>3", "3", 1.0), ("3 </answer><answer>", 3, 1.0),
     ("٣", "3", 0.0), ("", "3", 0.0), ("0.1", 0.1, 1.0), ("1e-07", 1e-07, 1.0)],
)  # fmt: skip
def test_numbers_are_compared_by_value(text: str, right: Any, score: float | None):
    assert scores(Block("number_equals"), texts=[text], answer=[right]) == [score]
    near = scores(Block("number_equals", partial=True), texts=[text], answer=[right])[0]
    assert near == score or (near is not None and score is not None and score <= near < 1)


# What a German column and a German model write, and whether each is 46 or 1234.5.
WRITTEN = [
    ("46,0", "46,0", 1.0), ("46", "46,0", 1.0), ("46.0", "46,0", 1.0), ("1.234,5", "1.234,5", 1.0),
    ("1234,5", "1.234,5", 1.0), ("1 234,50", "1.234,5", 1.0), ("1,234.5", "1.234,5", 1.0), ("46 Stück", "46,0", 1.0),
    ("46€", "46,0", 1.0), ("= 46", "46,0", 1.0), ("\u221246,0", "-46,0", 1.0), ("46.", "46,0", 1.0),
    ("46 %", "46,0 %", 1.0), ("\\boxed{46}", "46", 1.0), ("1/2", "0,5", 1.0), ("1.234", "1234", 1.0),
    ("1.234", "1,234", 0.0), ("1.234", "1.2340", 0.0), ("1,234", "1.2340", 1.0), ("46,5", "46,0", 0.0),
    ("Also 1.234", 1.234, 0.0), ("Also 1,234", 1.234, 1.0), ("12 m2", "12", 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "right", "score"), WRITTEN)
def test_numbers_with_a_decimal_comma_are_read_as_their_column_writes_them(text: str, right: Any, score: float):
    for where in ("tag", "last", "first"):
        block = Block("number_equals", {"where": where, "decimal": "comma"})
        assert scores(block, texts=[f"<answer>{text}</answer>", f"Das ist {text}"], answer=[right] * 2) == [score] * 2


@pytest.mark.parametrize(
    ("where", "text", "score"),
    [("tag", "7 <answer>1, 42</answer> 7", 1.0), ("tag", "7, 42", 1.0), ("last", "<answer>7</answer> 42", 1.0),
     ("last", "42, 7", 0.0), ("first", "42, 7", 1.0), ("first", "7, 42", 0.0), ("marker", "7 #### 42 of 9", 1.0),
     ("marker", "#### 7 #### 42", 1.0), ("marker", "42", 0.0), ("marker", "#### none", 0.0),
     ("boxed", "\\boxed{7} \\boxed{42} 7", 1.0), ("boxed", "42", 0.0), ("boxed", "\\boxed{42", 0.0)],
)  # fmt: skip
def test_the_number_is_looked_for_where_it_should_stand(where: str, text: str, score: float):
    assert scores(Block("number_equals", {"where": where}), texts=[text], answer=["42"]) == [score]


@given(
    st.decimals(-(10**6), 10**6, allow_nan=False, places=3), st.sampled_from(["point", "comma"]),
    st.sampled_from(["{}", "= {}", "{} Stück", "{}€", "{} %", "\\boxed{{{}}}", "{}.", "Das macht {}"]), st.booleans(),
)  # fmt: skip
def test_a_number_in_the_writing_of_its_column_is_right(number: Decimal, decimal: str, around: str, groups: bool):
    marks = {"comma": ".,", "point": ",."}[decimal]
    plain = f"{number:,f}" if groups else f"{number:f}"
    written = plain.replace(",", "\0").replace(".", marks[1]).replace("\0", marks[0])
    reward = READERS[decimal]
    kept = number_of_answer(written, decimal)
    given = [around.format(written.replace("-", "\u2212")), f"<answer>{around.format(written)}</answer>"]
    for right in (written, kept):
        assert reward(completions=given, answer=[right] * 2) == [1.0, 1.0], (given, right)
        assert correctness(given[1:], [right], decimal=decimal) == [float("Das" not in around)]
        wrong = around.format(f"1{plain.lstrip('-').replace(',', '').replace('.', marks[1])}")
        assert reward(completions=[wrong], answer=[right]) == [0.0]


READERS = {mark: built(Block("number_equals", {"decimal": mark}))["reward"] for mark in ("point", "comma")}


def test_rewards_that_stand_alone_have_the_very_code_that_is_decided_in_one_place():
    for name in COMPARE_NUMBERS:
        code = (shipped.REWARDS / f"{name}.py").read_text(encoding="utf-8")
        assert all(f"\n{source_of(part)}\n" in code for part in ALONE), name


def test_a_number_nearby_earns_the_more_the_nearer_it_is():
    texts = ["100", "105", "95", "110", "200", "none"]
    block = Block("number_equals", {"value": 100.0, "near": 10.0}, partial=True)
    assert scores(block, texts=texts) == [1.0, 0.5, 0.5, 0.0, 0.0, 0.0]
    assert scores(Block("number_equals", {"value": 100.0, "tolerance": 5.0}), texts=texts) == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    "column",
    ["text", "ids", "right", "parts", "re", "json", "its_answer", "completion_", "format", "id", "row_value",
     "Antwort (richtig)", "größe", "答案", "الإجابة", "правильный ответ", "class", "list", "number_is_right", "1st",
     "a\nb", "ﬁeld", "kwargs", "zip", 'say "it"', "a, *, b=print(1)", "'); import os; ('", "\\", "😀", "its_value"],
)  # fmt: skip
def test_a_column_may_have_any_name(column: str):
    blocks = [Block("number_equals", {"column": column}), Block("length_between", {"unit": "tokens"}, partial=True)]
    given = {"completion_ids": [[1], [1]], column: ["7", "7"]}
    assert scores(*blocks, texts=["7", "8"], **given) == [1.0, 0.5]
    assert scores(blocks[0], texts=["7", "8"], **given) == [1.0, 0.0]
    for chosen in (blocks, blocks[:1]):
        code = to_code("reward", chosen, "A reward.")
        assert column in signature.analyse(code).functions[0].arguments
        assert ruff("format", "--diff", code=code) == ""
        reading = read_blocks(code, "reward")
        assert reading and reading.blocks and reading.blocks[0].settings["column"] == column


def test_each_blocks_points_are_told_beside_the_score():
    blocks = [WORDS, Block("number_equals", {"column": "a b"}, 3.0), Block("length_between", {"unit": "tokens"})]
    code = to_traced_code("reward", blocks)
    space: dict[str, Any] = {}
    exec(compile(code, "traced.py", "exec"), space)  # noqa: S102  # what the builder wrote, and never a person
    told: dict[str, Any] = {}
    given = {"completions": ["please thanks 7", "8"], "completion_ids": [[1], []], "a b": [7, None]}
    found = space["score_each_block"](**given, log_extra=told.__setitem__, trainer_state=None)
    assert told == {"block 1": [1.0, 0.0], "block 2": [1.0, None], "block 3": [1.0, 0.0]}
    assert found == space["reward"](**given) == [1.0, 0.0]
    with pytest.raises(BuilderError, match="A judge is asked only when you press Try"):
        to_traced_code("reward", [JUDGE])


def test_a_length_is_counted_in_words_characters_or_tokens():
    def of(unit: str, partial: bool = False) -> list[float | None]:
        block = Block("length_between", {"least": 2, "most": 4, "unit": unit}, partial=partial)
        ids = [[], [1], [1] * 3, [1] * 8]
        return scores(block, texts=["", "aaa", "a b c", "a b c d e f g h"], completion_ids=ids)

    assert of("words") == [0.0, 0.0, 1.0, 0.0] and of("words", True) == [0.0, 0.5, 1.0, 0.5]
    assert of("characters") == [0.0, 1.0, 0.0, 0.0] and of("tokens", True) == [0.0, 0.5, 1.0, 0.5]


def test_json_is_what_json_is():
    texts = [
        '{"a": 1}',
        '{"a": 1, "b": 2}',
        "[1]",
        "NaN",
        "7",
        "{",
        "[" * 100_000,
        '```json\n{"a": 1, "b": 2}\n```',
        "",
    ]
    assert scores(Block("valid_json"), texts=texts) == [1, 1, 0, 0, 0, 0, 0, 1, 0]
    assert scores(Block("valid_json", {"keys": ["a", "b"]}), texts=texts) == [0, 1, 0, 0, 0, 0, 0, 1, 0]
    assert scores(Block("valid_json", {"keys": ["a", "b"]}, partial=True), texts=texts)[:3] == [0.75, 1.0, 0.0]
    assert scores(Block("valid_json", {"must_be": "any", "fenced": False}), texts=texts) == [1, 1, 1, 0, 1, 0, 0, 0, 0]
    assert scores(Block("valid_json", {"must_be": "array"}), texts=texts) == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_weights_make_a_mean_from_0_to_1_and_penalties_take_it_below():
    polite, long = Block("contains", {"texts": ["please"]}, 3.0), Block("length_between", {"least": 2}, 1.0)
    rude = Block("contains", {"texts": ["damn"]}, -2.0)
    assert scores(polite, long, texts=["please you", "please", "x y", "x"]) == [1.0, 0.75, 0.25, 0.0]
    assert scores(polite, rude, texts=["please", "damn", "please damn"]) == [1.0, -2 / 3, 1 / 3]
    assert scores(rude, texts=["damn", "x"]) == [-1.0, 0.0]
    assert scores(rude, Block("contains", {"texts": ["x"]}, -2.0), texts=["damn", "x damn"]) == [-0.5, -1.0]


def test_a_row_that_a_block_does_not_apply_to_is_scored_by_the_others():
    blocks = [Block("number_equals", {}, 3.0), Block("contains", {"texts": ["a"]}, 1.0)]
    assert scores(*blocks, texts=["a", "a 7", "a"], answer=[None, 7, 7]) == [1.0, 1.0, 0.25]
    assert scores(blocks[0], texts=["a"], answer=["none"]) == [None]


@pytest.mark.parametrize("value", NASTY)
def test_what_was_typed_stays_a_value_wherever_it_was_typed(value: str):
    texts = Block("contains", {"texts": [value, "x"]})
    assert scores(texts, texts=[value + "x", "nothing"]) == [1.0, 0.0]
    keys = Block("valid_json", {"keys": [value]})
    assert scores(keys, texts=[json.dumps({value: 1})]) == [1.0]
    pattern = Block(
        "matches", {"pattern": "".join(f"[{c}]" if c.isalnum() else f"\\{c}" for c in value), "earns": value}
    )
    assert scores(pattern, texts=["no", value]) == [0.0, 1.0]
    built(texts, keys, sentence=value)
    judge = Block("judge_says", {"question": f"Is it {value}?", "model": f"m{value}"})
    assert built(judge)["QUESTION"] == f"Is it {value}?"


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_text_is_a_literal_of_itself_and_a_docstring_ends_where_it_should(value: str):
    for source in (python_source.string_literal(value), python_source.pattern_literal(value)):
        assert ast.literal_eval(source) == value and "\n" not in source
    if block_problems([Block("contains", {"texts": [value]})]) == []:
        code = to_code("reward", [Block("contains", {"texts": [value]})], value)
        tree = ast.parse(code)
        assert [type(node).__name__ for node in tree.body] == ["Assign", *["FunctionDef"] * 4][: len(tree.body)]
        assert_good(code, "reward")


WRONG = {
    "no block": ([], "Add a block"),
    "too many": ([WORDS] * 21, "20 is the most"),
    "unknown kind": ([Block("tastes")], "no kind of block “tastes”"),
    "unknown setting": ([Block("contains", {"texts": ["a"], "color": 1})], "no setting “color”"),
    "weight": ([Block("contains", {"texts": ["a"]}, 0.0)], "A weight of 0 counts nothing"),
    "no weight": ([Block("contains", {"texts": ["a"]}, float("nan"))], "has to be a number"),
    "no text": ([Block("contains")], "at least one text"),
    "no text in the list": ([Block("contains", {"texts": ["a", ""]})], "empty, or no text"),
    "a number in the list": ([Block("contains", {"texts": [1]})], "empty, or no text"),
    "wrong type": ([Block("contains", {"texts": "a"})], "“Words or texts” has to be a list"),
    "true for a number": ([Block("length_between", {"least": True})], "has to be a whole number"),
    "wrong choice": ([Block("contains", {"texts": ["a"], "need": "most"})], "is one of all, any, none"),
    "surrogate": ([Block("contains", {"texts": ["\ud800"]})], "cannot be saved"),
    "long": ([Block("contains", {"texts": ["x" * 2001]})], "2000 is the most"),
    "partial any": ([Block("contains", {"texts": ["a"], "need": "any"}, partial=True)], "no partial credit"),
    "no pattern": ([Block("matches")], "Write the pattern"),
    "example": ([Block("matches", {"pattern": "a", "earns": "b"})], "does not match the example that should"),
    "near miss": ([Block("matches", {"pattern": "a", "fails": "a"})], "matches the example that should not"),
    "bad pattern": ([Block("matches", {"pattern": "("})], "not a regular expression: missing )"),
    "partial find": ([Block("matches", {"pattern": "a"}, partial=True)], "whole completion"),
    "no column": ([Block("number_equals", {"column": " "})], "Choose the column"),
    "a long column": ([Block("number_equals", {"column": "x" * 201})], "Choose the column"),
    "used": ([Block("number_equals", {"column": "completions"})], "cannot be the column"),
    "not given": ([Block("number_equals", {"column": "prompt"})], "cannot be the column"),
    "tag": ([Block("number_equals", {"tag": "<answer>"})], "A tag is a word"),
    "no tag": ([Block("number_equals", {"tag": ""})], "Type the tag's name, such as answer. If there is no tag,"),
    "no marker": ([Block("number_equals", {"where": "marker", "marker": " "})], "Type the marker"),
    "no place": ([Block("number_equals", {"where": "middle"})], "is one of tag, last, first, marker, boxed"),
    "no decimal mark": ([Block("number_equals", {"decimal": "dot"})], "is one of point, comma"),
    "tolerance": ([Block("number_equals", {"tolerance": -1.0})], "cannot be below 0"),
    "infinite": ([Block("number_equals", {"value": float("inf")})], "too large"),
    "lengths": ([Block("length_between", {"least": 5, "most": 4})], "no length is both"),
    "keys of an array": ([Block("valid_json", {"must_be": "array", "keys": ["a"]})], "Only an object has keys"),
    "partial json": ([Block("valid_json", partial=True)], "Partial credit is for keys"),
    "no question": ([Block("judge_says")], "Say the question"),
    "endpoint": ([Block("judge_says", {"question": "?", "endpoint": "file:///etc/passwd"})],
                 "The endpoint is an address"),
    "key in it": ([Block("judge_says", {"question": "?", "endpoint": "https://me:key@x.org/v1"})], "Keep keys"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_blocks_that_cannot_be_built_are_refused_in_words(case: str):
    blocks, words = WRONG[case]
    assert words in " | ".join(map(str, block_problems(blocks)))
    with pytest.raises(BuilderError):
        to_code("reward", blocks, "")


def test_a_problem_says_which_block_and_setting_it_is_about():
    (problem,) = block_problems([WORDS, Block("length_between", {"least": 5, "most": 4})])
    assert (problem.block, problem.setting) == (1, "most") and str(problem).startswith("Block 2: At least 5")


@pytest.mark.parametrize(
    "name", ["", "1a", "class", "list", "completions", "text_of", "TEXTS", "contains_texts", "a b"]
)
def test_a_name_that_the_code_cannot_have_is_refused(name: str):
    with pytest.raises(BuilderError):
        to_code(name, [WORDS], "")


def test_the_kinds_say_all_that_a_form_needs():
    assert list(KINDS) == ["matches", "contains", "number_equals", "length_between", "valid_json", "judge_says"]
    for kind in KINDS.values():
        assert kind["label"] and kind["sentence"].endswith(".") and kind["partial"].endswith(".")
        for setting in kind["settings"]:
            assert set(setting) == {"name", "label", "types", "default", "choices", "words", "only", "help"}
            assert setting["help"] and (setting["words"] is None or list(setting["words"]) == setting["choices"])
            assert setting["choices"] is None or setting["default"] in setting["choices"]
    assert json.loads(json.dumps(KINDS)) == KINDS


def test_what_is_built_goes_into_the_library_and_runs_as_a_script_of_its_own(registry_home: Any):
    code = to_code("polite", [WORDS, Block("number_equals")], "")
    assert library.save_reward("polite", code).code == code
    script = f"{code}\ntest_polite()\nprint(polite(completions=['please, thanks 3'], answer=[3]))\n"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0]\n"
