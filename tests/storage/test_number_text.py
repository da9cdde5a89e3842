"""Numbers written with a comma, or otherwise as YAML does not read them: what they may mean, said and offered wherever
a spec takes a number."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.check import check_spec
from groupwise.storage.spec.rows.number_text import meant_numbers
from groupwise.storage.spec.spec import from_dict, parse_spec
from groupwise.storage.spec.words.problem import Problem, SpecError
from tests.support.offer import OFFER

NUMBER = "should be a number, not “0,0002”. Did you mean 0.0002?"
HEAD = "name: a\nrewards: [{name: format}]\n"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0,0002", [0.0002]), ("-0,5", [-0.5]), (",5", [0.5]), ("5,0e-6", [5e-6]), (" 2,5 ", [2.5]),
        ("1,234", [1.234, 1234]), ("1.234,5", [1234.5]), ("1,234.5", [1234.5]), ("1.234.567", [1234567]),
        ("1,234,567", [1234567]), ("0,123", [0.123]),
        ("1e-5,", [1e-5]), ("48;", [48]), ("1,5e-5 // lower, as it falls", [1.5e-5]), ("48 -- of " + "x" * 99, [48]),
        ("1,234, ; so", [1.234, 1234]), ("48# short", [48]), ("1//2", []), ("3;4", []), ("5--6", []), ("// 5", []),
        ("1,", [1]), ("1,2,3", []), ("1.2,3", []), ("0.5", []), ("12", []), ("a,5", []), ("", []),
        ("9" * 50 + ",5", []),
        ("1 000", [1000]), ("12'000'000", [12000000]), ("2k", [2000]), ("1.5M", [1500000]), ("10 %", [0.1]),
        ("٥٠", [50]), ("٠٫٠٠١", [0.001]), ("０．０２", [0.02]), ("1e−5", [1e-5]), ("2×10⁻⁵", [2e-5]), ("5\u00a0", [5]),
        ("--5", [-5, 5]), ("--1e-4", [-1e-4, 1e-4]), ("−−0,5", [-0.5, 0.5]), ("---5", []), ("--max", []), ("1.0.0", []),
        ("1 00", []), ("k", []), ("٥ apples", [5]), ("48 tokens", [48]), ("1e-4x", [1e-4]),
        ("-0.5x", [-0.5]), ("5x", [5]), ("1e-4xy", []), ("10B", []), ("1O", []), ("5e", []), ("1e-4k", []),
        (0.5, []), (None, []),
    ],
)  # fmt: skip
def test_a_text_may_mean_one_number_two_or_none(text: Any, meant: list[float]):
    assert list(meant_numbers(text).values()) == meant
    assert list(meant_numbers(text, whole=True).values()) == [number for number in meant if isinstance(number, int)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("thirty", [30]), (" One ", [1]), ("twenty-five", [25]), ("ninety nine", [99]), ("a hundred", [100]),
        ("two thousand", [2000]), ("Thousand", [1000]), ("soon", []), ("thirty thirty", []), ("five ten", []),
        ("a", []), ("hundred one", []), ("-", []), ("", []),
    ],
)  # fmt: skip
def test_a_whole_number_may_be_written_out(text: str, meant: list[int]):
    assert list(meant_numbers(text, whole=True).values()) == meant
    assert meant_numbers(text) == {}


def said(text: str) -> Problem:
    try:
        found = check_spec(parse_spec(text), OFFER)
    except SpecError as error:
        found = error.problems
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("part", "words", "buttons"),
    [
        ("training: {learning_rate: '0,0002'}", NUMBER, ["Use 0.0002"]),
        ("training:\n  learning_rate: 0,0002", NUMBER, ["Use 0.0002"]),
        ("training: {beta: '1,234'}", 'should be a number, not “1,234”. Did you mean 1.234 or 1234?',
         ["Use 1.234", "Use 1234"]),
        ("training: {max_steps: '1,000'}", 'should be a whole number, not “1,000”. Did you mean 1000?', ["Use 1000"]),
        ("training: {learning_rate: --1e-4}", "should be a number, not “--1e-4”. There is one dash too many.",
         ["Use -1e-4", "Use 1e-4"]),
        ("training: {learning_rate: '1e-4x'}", "should be a number, not “1e-4x”. Did you mean 1e-4?", ["Use 1e-4"]),
        ("training: {learning_rate: 1.0.0}",
         "should be a number, not “1.0.0”. A number has at most one decimal point.", ["Use 1e-4"]),
        ("data: {limit: --5}", "should be a whole number, not “--5”. There is one dash too many.", ["Use -5", "Use 5"]),
        ("training: {max_steps: '8,0'}", 'should be a whole number, not “8,0”. Did you mean 8?', ["Use 8"]),
        ("training: {max_steps: '1,5'}", 'should be a whole number, not “1,5”.', ["Use 60", "Leave it to the epochs"]),
        ("training: {max_steps: 12.5}", "should be a whole number, not 12.5.", ["Use 12", "Use 13"]),
        ("training: {max_steps: '12.5'}", "should be a whole number, not “12.5”.", ["Use 12", "Use 13"]),
        ("training: {per_device_train_batch_size: 6.5}", "should be a whole number, not 6.5.", []),
        ("stages: [{training: {num_generations: 6.5}}]", "should be a whole number, not 6.5.", []),
        ("stages: [{training: {max_steps: 6.5}}]", "should be a whole number, not 6.5.", ["Use 6", "Use 7"]),
        ("training: {max_steps: '12.500'}", "should be a whole number, not “12.500”.",
         ["Use 60", "Leave it to the epochs"]),
        ("training: {max_steps: -1.5}", "should be a whole number, not -1.5.", ["Use 60", "Leave it to the epochs"]),
        ("data: {limit: 0.5}", "should be a whole number, not 0.5.", []),
        ("data: {limit: 20.5}", "should be a whole number, not 20.5.", ["Use 20", "Use 21"]),
        ("data: {holdout: '0,1'}",
         "should be a number of rows, or a share of them below 1, not “0,1”. Did you mean 0.1?", ["Use 0.1"]),
        ("data: {limit: '1.234.567'}", "should be a whole number, not “1.234.567”. Did you mean 1234567?",
         ["Use 1234567"]),
        ("kl: {target: '0,1'}", "should be a number, not “0,1”. Did you mean 0.1?", ["Use 0.1"]),
    ],
)  # fmt: skip
def test_a_field_that_takes_a_number_offers_the_one_that_was_meant(part: str, words: str, buttons: list[str]):
    problem = said(f"{HEAD}{part}\n")
    assert problem.message == words
    usual = ("Use the default", "Leave it out")
    assert [fix.label for fix in problem.fixes if not fix.label.startswith(usual)] == buttons


def test_a_weight_with_a_comma_too():
    with pytest.raises(SpecError) as raised:
        from_dict({"name": "a", "rewards": [{"name": "format", "weight": "0,5"}]})
    [problem] = raised.value.problems
    assert problem.message == "should be a number, not “0,5”. Did you mean 0.5?"
    assert problem.fixes[0].settings == {"rewards.0.weight": 0.5}
