"""Code that blocks made goes back to those blocks, whatever was typed; other code says where it is no longer theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.library.rewards.builder import Block, block_problems, read_blocks, to_code
from groupwise.storage.library.rewards.builder.shared import BEFORE
from tests.support.reward_blocks import LAYOUTS, NASTY, WORDS, scores


def assert_same_blocks(blocks: list[Block], sentence: str = "") -> None:
    """The blocks come back from their code: they make the same again."""
    code = to_code("reward", blocks, sentence)
    reading = read_blocks(code, "reward")
    assert reading is not None and reading.blocks is not None
    assert (to_code("reward", reading.blocks, reading.sentence), reading.line) == (code, 0)
    assert [(one.kind, one.partial) for one in reading.blocks] == [(one.kind, one.partial) for one in blocks]
    if len(blocks) > 1 or blocks[0].weight < 0:
        assert [one.weight for one in reading.blocks] == [one.weight for one in blocks]
        assert [one.required for one in reading.blocks] == [one.required for one in blocks]


def test_several_columns_that_python_cannot_name_stay_apart():
    blocks = [Block("number_equals", {"column": name}) for name in ("a b", "a-b", "answer", "a b")]
    given = {"a b": ["1"], "a-b": ["2"], "answer": ["3"]}
    assert [scores(*blocks, texts=[text], **given) for text in "1234"] == [[0.5], [0.25], [0.25], [0.0]]
    assert_same_blocks(blocks)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_code_of_blocks_goes_back_to_its_blocks(layout: str):
    assert_same_blocks(LAYOUTS[layout], "Polite answers.")
    assert_same_blocks(LAYOUTS[layout])


def test_a_function_of_one_block_is_called_what_that_looks_for_unless_it_was_given_a_sentence():
    code = to_code("reward", [Block("contains", {"texts": ["please"]})], "")
    assert '"""Earns where the text contains “please”.\n' in code
    reading = read_blocks(code, "reward")
    assert reading and reading.sentence == ""
    before = to_code("reward", [Block("contains", {"texts": ["please"]})], "A reward made of one block.")
    reading = read_blocks(before, "reward")  # what was saved before stays as it is
    assert reading and reading.blocks and reading.sentence == "A reward made of one block."


def test_a_function_of_several_blocks_names_them_unless_it_was_given_a_sentence():
    blocks = [Block("number_equals"), Block("length_between", {"most": 50, "unit": "words"})]
    code = to_code("reward", blocks, "")
    assert '"""Right number, then right length.\n' in code
    polite = Block("contains", {"texts": ["please"]})
    rude = Block("contains", {"texts": ["no"]}, -1.0)
    code = to_code("reward", [polite, polite, Block("valid_json"), rude], "")
    assert '"""Contains words (2 times), then valid JSON; points off: contains words.\n' in code
    reading = read_blocks(code, "reward")
    assert reading and reading.blocks and reading.sentence == ""


@pytest.mark.parametrize("value", NASTY)
def test_whatever_was_typed_comes_back(value: str):
    if not block_problems([Block("contains", {"texts": [value]})]):
        blocks = [
            Block("contains", {"texts": [value, "x"], "need": "any"}, 0.25),
            Block("valid_json", {"keys": [value]}),
        ]
        assert_same_blocks(blocks, value)
        reading = read_blocks(to_code("reward", blocks, ""), "reward")
        assert reading and reading.blocks and reading.blocks[0].settings["texts"] == [value, "x"]


NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6, allow_nan=False)).map(float)
ANY_BLOCK = st.one_of(
    st.builds(
        lambda *values: Block(
            "number_equals",
            dict(zip(("value", "where", "decimal", "tag", "marker", "tolerance", "near"), values, strict=True)),
        ),
        st.one_of(st.none(), NUMBERS), st.sampled_from(["tag", "last", "first", "marker", "boxed"]),
        st.sampled_from(["point", "comma"]), st.sampled_from(["answer", "a-b"]), st.sampled_from(["####", 'Also: "']),
        NUMBERS.map(abs), NUMBERS.map(abs),
    ),
    st.builds(
        lambda least, most, unit: Block("length_between", {"least": least, "most": most, "unit": unit}),
        st.integers(0, 300), st.integers(1, 10**6), st.sampled_from(["words", "characters", "tokens"]),
    ),
    st.builds(
        lambda texts, need, fold: Block("contains", {"texts": texts, "need": need, "ignore_case": fold}),
        st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9), min_size=1, max_size=3),
        st.sampled_from(["all", "any", "none"]), st.booleans(),
    ),
)  # fmt: skip


DRAWN = st.tuples(ANY_BLOCK, NUMBERS, st.booleans(), st.booleans())


@given(st.lists(DRAWN, min_size=1, max_size=4), st.text(max_size=20))
def test_any_blocks_come_back(drawn: list[tuple[Block, float, bool, bool]], sentence: str):
    blocks = [replace(one, weight=weight, partial=partial, required=must) for one, weight, partial, must in drawn]
    if not block_problems(blocks):
        assert_same_blocks(blocks, sentence)


def test_code_edited_by_hand_goes_back_where_blocks_would_make_it():
    code = to_code("reward", [WORDS, Block("length_between", {"most": 80}, 2.0)], "Polite.")
    for old, new in (
        ('"Thanks"', '"Danke"'), ("<= 80", "<= 120"), ("(2.0,", "(3,"), ("Polite.", "Kind."), ('"', "'"),
        ("    parts = [", "\n    parts = ["), ("contains_texts(text: str)", "contains_texts( text:str )"),
    ):  # fmt: skip
        edited = code.replace(old, new) if old != '"' else code.replace('["please"', "['please'")
        assert edited != code
        reading = read_blocks(edited, "reward")
        assert reading and reading.blocks and to_code("reward", reading.blocks, reading.sentence) != ""
    reading = read_blocks(code.replace("<= 80", "<= 120"), "reward")
    assert reading and reading.blocks and reading.blocks[1].settings["most"] == 120


EDITED = {
    "a line in the function": ("    return [", "    print(completions)\n    return ["),
    "another condition": ("found == len(TEXTS)", "found >= 1 + len(TEXTS)"),
    "a comment": ("    found =", "    # mine\n    found ="),
    "another import": ("TEXTS =", "import os\n\nTEXTS ="),
    "a function": ("def test_reward", "def more():\n    pass\n\n\ndef test_reward"),
    "a decorator": ("def reward(", "@traced\ndef reward("),
    "its words": ("What counts for", "What I count for"),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITED)
def test_code_that_blocks_would_not_make_says_which_line(case: str):
    code = to_code("reward", [WORDS, Block("length_between", {"most": 80})], "Polite.")
    edited = code.replace(*EDITED[case])
    reading = read_blocks(edited, "reward")
    first = next(
        n for n, (a, b) in enumerate(zip(code.split("\n"), edited.split("\n"), strict=False), 1) if a != b
    )  # fmt: skip
    assert reading is not None and reading.blocks is None
    assert first - 1 <= reading.line <= first + 2


@pytest.mark.parametrize("code", ["", "x = (", "def reward(completions, **kwargs):\n    return []", "(" * 3000])
def test_code_that_never_was_of_blocks_is_none(code: str):
    assert read_blocks(code, "reward") is None


def test_blocks_that_code_made_unbuildable_say_the_line():
    code = to_code("reward", [Block("length_between", {"least": 2, "most": 80})], "")
    reading = read_blocks(code.replace("2 <=", "200 <="), "reward")
    assert reading is not None and reading.blocks is None and reading.line >= 1


def test_code_of_blocks_with_the_small_functions_of_before_is_still_of_blocks():
    blocks = [Block("number_equals", {"tag": "result"}), Block("length_between")]
    code = to_code("reward", blocks, "")
    [(now, before)] = BEFORE.items()
    assert now in code
    old = code.replace(now, before)
    reading = read_blocks(old, "reward")
    assert reading is not None and reading.blocks is not None
    assert to_code("reward", reading.blocks, reading.sentence) == code
    edited = read_blocks(old.replace("opened and closed", "opened"), "reward")
    assert edited is not None and edited.blocks is None and edited.line
