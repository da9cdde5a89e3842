"""Conditions on rows that say another thing than was meant: each is said, with the button that writes it right."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.conditions import check_conditions
from groupwise.storage.spec.spec import DataSpec


def said_of(written: str) -> tuple[str, dict[str, object]]:
    [found] = check_conditions(DataSpec(filter=["a = 1", written, "b = 2"]))
    assert found.field == "data.filter.1" and found.fixes[-1].label == "Remove it"
    return found.message, found.fixes[0].settings


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("answer > 3 and answer < 9", ["answer > 3", "answer < 9"]),
        ("answer > 3 && level = easy", ["answer > 3", "level = easy"]),
        ("a >= 1 AND b is not empty and c != x", ["a >= 1", "b is not empty", "c != x"]),
    ],
)
def test_conditions_that_are_joined_in_one_are_split(written: str, parts: list[str]):
    message, fix = said_of(written)
    assert message.startswith("is several conditions in one")
    assert fix == {"data.filter": ["a = 1", *parts, "b = 2"]}


def test_conditions_of_which_one_must_hold_are_refused_in_words():
    message, fix = said_of("answer > 3 or answer = 1")
    assert message.startswith("is several conditions joined with “or”") and fix == {}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("answer ≥ 3", "answer >= 3"),
        ("answer=>3", "answer >= 3"),
        ("answer =< 3", "answer <= 3"),
        ("answer ≠ 3", "answer != 3"),
        ("answer <> 3", "answer != 3"),
        ("answer === 3", "answer = 3"),
        ("answer =! 3", "answer != 3"),
        ("answer is not null", "answer is not empty"),
        ("answer is None", "answer is empty"),
        ("len(question) < 50", "length of question < 50"),
    ],
)
def test_signs_of_other_languages_are_written_in_ours(written: str, meant: str):
    message, fix = said_of(written)
    assert f"Did you mean “{meant}”?" in message and fix == {"data.filter.1": meant}


@pytest.mark.parametrize(
    "written",
    [
        "subject = algebra and geometry", 'subject = "a > 1 and b < 2"', "question contains x and y = 2",
        "question matches a|b", "this and that = 3", "question contains =>", "answer == 3", "rock & roll = yes",
    ],
)  # fmt: skip
def test_what_is_one_condition_stays_one(written: str):
    assert check_conditions(DataSpec(filter=[written])) == []


@pytest.mark.parametrize("written", ["answer <=> 3", '"answer" <=> 3', "length of answer <=> 3", "answer >> 3"])
def test_signs_that_are_no_comparison_are_named_with_those_that_there_are(written: str):
    message, fix = said_of(written)
    assert message.endswith("is not a comparison. Comparisons are =, !=, <, <=, >, >=, contains, does not contain, "
                            "matches, is empty and is not empty.") and fix == {}  # fmt: skip


@pytest.mark.parametrize("written", ["question contains <=> b", "answer =<think>", "answer = <=> 3"])
def test_signs_in_a_value_are_no_comparison(written: str):
    assert check_conditions(DataSpec(filter=[written])) == []
