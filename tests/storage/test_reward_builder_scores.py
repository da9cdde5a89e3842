"""What each of the builder's blocks scores: words, patterns and their examples, numbers as people write them, JSON."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.library.rewards.builder import Block, block_problems, to_code
from groupwise.storage.library.rewards.builder.common_patterns import COMMON_PATTERNS
from groupwise.storage.spec.answer_numbers import ALONE, COMPARE_NUMBERS, number_of_answer, source_of
from groupwise.worker.builtin import shipped
from groupwise.worker.builtin.rewards.correctness import correctness
from tests.support.reward_blocks import WORDS, built, scores


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


# {common pattern: (texts that match, texts that do not)}
COMMON = {
    "ends with a number": (["42", "Das Ergebnis ist 3,5.", "x = 7\n"], ["7 apples", "", "seven"]),
    "contains a number": (["7 apples"], ["seven", ""]),
    "is only a number": (["42", " -3,5\n", "−1.234,50"], ["x 42", "4 2", ""]),
    "has only one line": (["one", "\n one \n\n"], ["one\ntwo", "", " \n"]),
    "ends with . ! or ?": (["Done.", "Why?\n"], ["Done", "a. b"]),
}


@pytest.mark.parametrize("flags", [{}, {"ignore_case": True, "dot_all": False}])
@pytest.mark.parametrize("words", COMMON_PATTERNS)
def test_a_common_pattern_does_what_it_says_and_takes_no_time_on_a_long_text(words: str, flags: dict[str, bool]):
    block = Block("matches", {"pattern": COMMON_PATTERNS[words], **flags})
    fits, misses = COMMON[words]
    assert scores(block, texts=[*fits, *misses]) == [1.0] * len(fits) + [0.0] * len(misses)
    began = time.monotonic()
    scores(block, texts=[f"{each * 10_000}\nx" for each in ("1", " ", "1 ", ". ", "\n", "1,")])
    assert time.monotonic() - began < 5


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
     ("9" * 5000, "3", 0.0), ("1e999999", "3", 0.0), ("<answer>3", "3", 0.0), ("3 </answer><answer>", 3, 0.0),
     ("3 <answe", "3", 0.0), ("<answer>3</answer><answer>4", "3", 1.0), ("</answer> 3", "3", 1.0),
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
