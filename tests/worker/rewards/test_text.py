"""The built-in rewards that look at the text alone: pattern, words, JSON, steps and scripts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.rewards import both_shapes, score

NAME = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


@both_shapes
@pytest.mark.parametrize(
    ("given", "text", "reward"),
    [
        ({}, "<think>a</think><answer>b\nc</answer>", 1.0),
        ({}, "<answer></answer>", 0.0),
        ({"pattern": "^yes"}, "no\nyes", 1.0),
        ({"pattern": r"#### (\d+)"}, "so\n#### 42", 1.0),
        ({"pattern": "paris"}, "Paris", 0.0),
        ({"pattern": "paris", "ignore_case": True}, "Paris", 1.0),
        ({"pattern": r"\d+", "whole": True}, " 42\n", 1.0),
        ({"pattern": r"\d+", "whole": True}, "42.", 0.0),
        ({"pattern": "a.b", "dot_all": False}, "a\nb", 0.0),
        ({"pattern": r"\d", "times": 4}, "1 2", 0.5),
        ({"pattern": r"\d", "times": 4}, "123456", 1.0),
        ({"pattern": "sorry", "absent": True}, "I am sorry", 0.0),
        ({"pattern": "sorry", "absent": True}, "", 1.0),
    ],
)
def test_regular_expression(given: dict[str, Any], text: str, reward: float, shape: str):
    assert score("regular_expression", text, shape, **given) == reward


@pytest.mark.parametrize("given", [{}, {"whole": True}, {"absent": True}, {"times": 3}])
def test_a_pattern_that_would_never_end_says_nothing_of_the_completion(given: dict[str, Any]):
    started = time.monotonic()
    assert score("regular_expression", "a" * 100_000 + "!", pattern=r"(a|aa)+$|(a*)*b", timeout=0.1, **given) is None
    assert time.monotonic() - started < 20


@both_shapes
@pytest.mark.parametrize(
    ("given", "text", "reward"),
    [
        ({"words": ["because", "therefore"]}, "It is so because I say so.", 0.5),
        ({"words": ["because", "therefore"]}, "BECAUSE! Therefore.", 1.0),
        ({"words": ["because", "therefore"], "partial": False}, "because", 0.0),
        ({"words": ["because"], "ignore_case": False}, "Because", 0.0),
        ({"words": ["art"]}, "start", 0.0),
        ({"words": ["art"], "whole_words": False}, "start", 1.0),
        ({"words": ["C++"]}, "In C++, yes", 1.0),
        ({"words": ["(a+)+$"]}, "a" * 100_000, 0.0),
        ({"words": ["in short"]}, "In short, no", 1.0),
        ({"words": ["a", "b"]}, "a a a a", 0.5),
        ({"words": ["a"], "forbidden": ["sorry"]}, "a, sorry", 0.0),
        ({"words": "because"}, "because", 1.0),
        ({"forbidden": ["sorry"]}, "well", 1.0),
        ({"forbidden": ["sorry"]}, "", 0.0),
    ],
)
def test_keywords(given: dict[str, Any], text: str, reward: float, shape: str):
    assert score("keywords", text, shape, **given) == reward


@both_shapes
@pytest.mark.parametrize(
    ("given", "text", "reward"),
    [
        ({}, '{"a": [1, 2.5, null, true, "x"]}', 1.0),
        ({}, "42", 1.0),
        ({}, "", 0.0),
        ({}, "{'a': 1}", 0.0),
        ({}, '{"a": 1,}', 0.0),
        ({}, '{"a": NaN}', 0.0),
        ({}, "-Infinity", 0.0),
        ({}, '{"a": 1} and more', 0.0),
        ({}, 'Here:\n```json\n{"a": 1}\n```\nThat is it.', 1.0),
        ({}, "```json\n{\n```\nBetter:\n```\n[1]\n```", 1.0),
        ({}, "<think>{</think><answer>[1]</answer>", 1.0),
        ({"extract": "all"}, "<answer>[1]</answer>", 0.0),
        ({}, "[" * 100_000, 0.0),
        ({}, "[" * 100_000 + "]" * 100_000, 0.0),
        ({}, "1" * 100_000, 0.0),
        ({"schema": NAME}, '{"name": "Ada"}', 1.0),
        ({"schema": NAME}, '{"name": 3}', 0.0),
        ({"schema": NAME, "partial": 0.5}, '{"name": 3}', 0.5),
        ({"schema": NAME, "partial": 0.5}, '{"name": ', 0.0),
        ({"schema": {}}, "[]", 1.0),
        ({"schema": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}}, "[]", 1.0),
    ],
)
def test_valid_json(given: dict[str, Any], text: str, reward: float, shape: str):
    assert score("valid_json", text, shape, **given) == reward


def test_a_schema_fetches_nothing():
    with pytest.raises(ValueError, match="schema"):
        score("valid_json", "{}", schema={"$ref": "http://127.0.0.1:9/schema.json"})


def test_json_with_a_name_that_looks_like_another_is_the_same_json():
    assert score("valid_json", json.dumps({"näme": "é"}), schema={"required": ["näme"]}) == 1.0


STEPS = "Step 1: add the tens, which makes 30.\nStep 2: add the ones, which makes 12.\nStep 3: add both of these sums."


@both_shapes
@pytest.mark.parametrize(
    ("given", "text", "reward"),
    [
        ({}, f"<think>{STEPS}</think><answer>42</answer>", 1.0),
        ({}, f"{STEPS}<answer>42</answer>", 1.0),
        ({}, f"<think>no</think><answer>{STEPS}</answer>", 0.0),
        ({"where": "all"}, f"<think>no</think><answer>{STEPS}</answer>", 1.0),
        ({"steps": 6}, STEPS, 0.5),
        ({}, "1. add the tens, which makes 30\n2) add the ones, which makes 12", 2 / 3),
        ({}, "- add the tens, which makes 30\n* add the ones, which makes 12\n", 2 / 3),
        ({}, "First, add the tens of both numbers. Finally, add the ones of both numbers.", 2 / 3),
        ({}, "\n- \n- \n- \n- ", 0.0),
        ({}, "Step 1: Step 2: Step 3: Step 4:", 0.0),
        ({}, "- the same words once again\n" * 50, 1 / 3),
        ({"min_characters": 0}, "- a\n- b\n- c", 1.0),
        ({}, "It is 42, of course, as everyone knows.", 0.0),
        ({}, "", 0.0),
    ],
)
def test_reasoning_steps(given: dict[str, Any], text: str, reward: float, shape: str):
    assert score("reasoning_steps", text, shape, **given) == pytest.approx(reward)


@both_shapes
@pytest.mark.parametrize(
    ("scripts", "text", "reward"),
    [
        (["latin"], "It is 42, naïve Straße!", 1.0),
        (["latin"], "Это ответ", 0.0),
        (["latin"], "abcабв", 0.5),
        ("cyrillic", "Это ответ: 42", 1.0),
        (["russian"], "Это ответ", 1.0),
        (["han"], "答案是四十二", 1.0),
        (["chinese"], "答案 is", 0.5),
        (["japanese"], "答えは「よんじゅうに」、ラーメン", 1.0),
        (["korean"], "답은 사십이", 1.0),
        (["Latin", "greek"], "alpha is α", 1.0),
        (["latin"], "\uff21\uff22", 1.0),
        (["latin"], "𝑥 = 42", 1.0),
        (["latin"], "42 + 1 = 43", 1.0),
        (["latin"], "", 0.0),
        (["latin"], " \n", 0.0),
        (["hebrew"], "שלום `print(x)` \\frac $$abc$$ <think>", 1.0),
        (["arabic"], "هذا هو الجواب", 1.0),
        (["latin"], "я" * 100_000, 0.0),
    ],
)
def test_language_consistency(scripts: list[str], text: str, reward: float, shape: str):
    assert score("language_consistency", text, shape, scripts=scripts) == pytest.approx(reward)


def test_code_is_text_where_it_is_to_be():
    text = "ответ `print`"
    assert score("language_consistency", text, scripts=["cyrillic"], ignore_code=False) == 0.5
