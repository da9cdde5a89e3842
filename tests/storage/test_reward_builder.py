"""The builder's code reads well, takes whatever a person typed for a value, and can be nothing but what was meant."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
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
    describe_blocks,
    read_blocks,
    to_code,
    to_traced_code,
)
from groupwise.storage.library.rewards.builder.common_patterns import COMMON_PATTERNS
from groupwise.storage.spec import python_source
from tests.support.reward_blocks import EVERY, JUDGE, LAYOUTS, NASTY, WORDS, assert_good, built, scores


def ruff(*arguments: str, code: str) -> str:
    command = [find_ruff_bin(), *arguments, "--isolated", "--no-cache", "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


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


def test_weights_make_a_mean_from_0_to_1_and_penalties_take_it_below():
    polite, long = Block("contains", {"texts": ["please"]}, 3.0), Block("length_between", {"least": 2}, 1.0)
    rude = Block("contains", {"texts": ["damn"]}, -2.0)
    assert scores(polite, long, texts=["please you", "please", "x y", "x"]) == [1.0, 0.75, 0.25, 0.0]
    assert scores(polite, rude, texts=["please", "damn", "please damn"]) == [1.0, -2 / 3, 1 / 3]
    assert scores(rude, texts=["damn", "x"]) == [-1.0, 0.0]
    assert scores(rude, Block("contains", {"texts": ["x"]}, -2.0), texts=["damn", "x damn"]) == [-0.5, -1.0]


def test_without_a_required_block_nothing_is_earned_and_penalties_stay():
    right = Block("number_equals", {}, required=True)
    short, rude = Block("length_between", {"most": 2}), Block("contains", {"texts": ["damn"]}, -1.0)
    assert scores(right, short, texts=["7", "it is a 7", "8"], answer=[7, 7, 7]) == [1.0, 0.5, 0.0]
    assert scores(right, short, texts=["8", "it is an 8"], answer=[None, None]) == [1.0, 0.0]  # it does not apply
    assert scores(right, short, rude, texts=["damn 8", "8", "damn 7"], answer=[7, 7, 7]) == [0.0, 0.0, 0.5]
    assert scores(right, rude, texts=["damn 8", "7"], answer=[7, 7]) == [-1.0, 1.0]
    assert "Without a required one it is 0." in to_code("reward", [right, short], "")
    refused = block_problems([short, replace(rude, required=True)])
    assert [str(one) for one in refused] == [
        "Block 2: A penalty cannot be required. Turn “required” off, or give a weight above 0."
    ]


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
    "weight": ([Block("contains", {"texts": ["a"]}, 0.0)], "A weight of 0 has no effect"),
    "no weight": ([Block("contains", {"texts": ["a"]}, float("nan"))], "has to be a number"),
    "a large weight": ([Block("contains", {"texts": ["a"]}, 2e9)], "1,000,000,000 is the most"),
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
    "bad pattern": ([Block("matches", {"pattern": "("})], "not a regular expression: the ( at character 1 is never"),
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
    "no question": ([Block("judge_says")], "Give the question"),
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


@pytest.mark.parametrize(
    ("block", "settings"),
    [
        (Block("length_between", {"least": -5, "most": 0}), ["least", "most"]),
        (Block("length_between", {"least": "x", "most": 0}), ["least", "most"]),
        (Block("length_between", {"least": 5, "most": 4}, weight=0.0), ["weight", "most"]),
        (Block("number_equals", {"where": "middle", "tolerance": -1.0}), ["where", "tolerance"]),
        (Block("length_between", {"least": 300, "most": "x"}), ["most"]),
    ],
)
def test_all_that_is_wrong_with_a_block_is_said_in_one_round(block: Block, settings: list[str]):
    assert [one.setting for one in block_problems([block])] == settings


SENTENCES = {
    "Earns where the last number in <answer>…</answer> equals the number in the column “Lösung”. Without "
    "the tag, the last number of the text counts. Numbers are written like 1.234,5.":
        Block("number_equals", {"column": "Lösung", "decimal": "comma"}),
    "Earns where the last number in the last \\boxed{…} equals 3, give or take 0.5. A number that is up to 10 % off "
    "counts in part.": Block("number_equals", {"where": "boxed", "value": 3.0, "tolerance": 0.5}, partial=True),
    "A penalty: points off where the first number after the last “####” equals the number in the column “answer”.":
        Block("number_equals", {"where": "marker"}, -1.0),
    "Earns where the text does not contain “a”. Upper and lower case must be the same.":
        Block("contains", {"texts": ["a"], "need": "none", "ignore_case": False}),
    "Earns where the text contains all of “a”, “b”. Each of them counts for its share.":
        Block("contains", {"texts": ["a", "b"]}, partial=True),
    "Earns where the text ends with a number.": Block("matches", {"pattern": COMMON_PATTERNS["ends with a number"]}),
    "Earns where the pattern “\\d+” matches somewhere.": Block("matches", {"pattern": r"\d+"}),
    "Earns where the whole text matches the pattern “\\d”.": Block("matches", {"pattern": r"\d", "whole": True}),
    "Earns where the whole text matches the pattern “a+”. A match of only a part of the text counts half.":
        Block("matches", {"pattern": "a+", "whole": True}, partial=True),
    "Earns where the text has exactly 5 tokens. A shorter or longer one counts in part.":
        Block("length_between", {"least": 5, "most": 5, "unit": "tokens"}, partial=True),
    "Earns where the text has at most 1 word.": Block("length_between", {"least": 0, "most": 1}),
    "Earns where the text, or its first ```json block, is a JSON object with the key “a”.":
        Block("valid_json", {"keys": ["a"]}),
    "Earns where a judge that is asked “Is it polite?” says yes.": Block("judge_says", {"question": "Is it polite?"}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_a_block_looks_for_is_a_sentence(sentence: str):
    assert describe_blocks([SENTENCES[sentence]]) == [sentence]


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
            assert set(setting) == {"name", "label", "types", "default", "choices", "words", "only", "help", "common"}
            assert setting["help"] and (setting["words"] is None or list(setting["words"]) == setting["choices"])
            assert setting["choices"] is None or setting["default"] in setting["choices"]
    assert json.loads(json.dumps(KINDS)) == KINDS


def test_what_is_built_goes_into_the_library_and_runs_as_a_script_of_its_own(registry_home: Any):
    code = to_code("polite", [WORDS, Block("number_equals")], "")
    assert library.save_reward("polite", code).code == code
    script = f"{code}\ntest_polite()\nprint(polite(completions=['please, thanks 3'], answer=[3]))\n"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0]\n"
