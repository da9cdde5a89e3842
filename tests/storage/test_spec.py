"""Specs: YAML both ways, and for everything that is wrong the field, the line and the nearest real name."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.storage.spec.spec import RunSpec, from_dict, line_numbers, parse_spec, to_yaml
from groupwise.storage.spec.words.problem import SpecError, did_you_mean
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES, dump, read_yaml

GOOD = """\
name: small
model:
  id: starter
data:
  source: task:arithmetic
rewards:
  - name: format
    weight: 1.0
training:
  learning_rate: 1e-4
"""


def problem_of(text: str) -> tuple[str, int | None, str]:
    """(field, line, message) of the one problem in a text."""
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert len(caught.value.problems) == 1, caught.value.problems
    problem = caught.value.problems[0]
    return problem.field, problem.line, problem.message


BAD = [
    # what to change, into what, field, line, words
    ("name: small\n", "", "name", None, "is needed"),
    ("name: small", "name: ''", "name", 1, "must not be empty"),
    ("name: small", "name: 7", "name", 1, "should be text, not 7"),
    ("name: small", f"name: {'x' * 81}", "name", 1, "at most 80"),
    ("id: starter", "idd: starter", "model.idd", 3, "Did you mean “id”?"),
    ("id: starter", "dtype: float8", "model.dtype", 3, "“float32”"),
    ("id: starter", "revision: 3", "model.revision", 3, "should be text, not 3"),
    ("source: task:arithmetic", "sorce: x", "data.sorce", 5, "Did you mean “source”?"),
    ("source: task:arithmetic", "limit: 0", "data.limit", 5, "at least 1"),
    ("source: task:arithmetic", "limit: 1.5", "data.limit", 5, "should be a whole number, not 1.5"),
    ("source: task:arithmetic", "holdout: -1", "data.holdout", 5, "a number of rows, or a share"),
    ("source: task:arithmetic", "holdout: yes", "data.holdout", 5, "not “yes”"),
    ("name: format", "name: not-python", "rewards.0.name", 7, "name of a Python function"),
    ("weight: 1.0", "parameters: [a]", "rewards.0.parameters", 8, "should be a mapping of settings"),
    ("weight: 1.0", "timeout: 0", "rewards.0.timeout", 8, "should be above 0"),
    ("weight: 1.0", "timeout: 3601", "rewards.0.timeout", 8, "should be at most 3,600"),
    ("weight: 1.0", "version: newest", "rewards.0.version", 8, "the hash of a saved version, not “newest”"),
    (
        "weight: 1.0",
        "schedule: [{stp: 1, step: 1, weight: 1}]",
        "rewards.0.schedule.0.stp",
        8,
        "Did you mean “step”? It is set already",
    ),
    ("weight: 1.0", "schedule: [{step: -1, weight: 1}]", "rewards.0.schedule.0.step", 8, "at least 0"),
    ("weight: 1.0", "adapt: {hihg: 0.5}", "rewards.0.adapt.hihg", 8, "Did you mean “high”?"),
    ("weight: 1.0", "adapt: {low: 2}", "rewards.0.adapt.low", 8, "should be at most 1"),
    ("weight: 1.0", "adapt: yes", "rewards.0.adapt", 8, "should be a mapping of settings"),
    ("training:\n", "launch: {reward_failures: -1}\ntraining:\n", "launch.reward_failures", 9, "at least 0"),
    ("weight: 1.0", "wieght: 1.0", "rewards.0.wieght", 8, "Did you mean “weight”?"),
    ("weight: 1.0", "weight: 1e308", "rewards.0.weight", 8, "should be at most 1,000,000, not 1e+308"),
    ("weight: 1.0", "schedule: [{step: 0, weight: -1e7}]", "rewards.0.schedule.0.weight", 8, "at least -1,000,000"),
    ("weight: 1.0", "weight: .nan", "rewards.0.weight", 8, "should be a finite number"),
    (
        "id: starter",
        f"revision: {'x' * 9} # y\n  id: {'z' * 501}",
        "model.id",
        4,
        "at most 500 characters; it has 501.",
    ),
    ("weight: 1.0", "weight: heavy", "rewards.0.weight", 8, "should be a number, not “heavy”"),
    ("weight: 1.0", "weight: '0.5'", "rewards.0.weight", 8, "not “0.5”. Write it without quotes."),
    ("  - name: format\n    weight: 1.0\n", "  []\n", "rewards", 6, "choose at least one function"),
    ("training:\n  learning_rate: 1e-4", "training: fast", "training", 9, "should be a mapping of settings"),
    ("training:\n", "training:\n  learning_rate: 1\n", "training.learning_rate", 11, "first in line 10"),
    ("id: starter", "id: !!python/name:os.system x", "", 3, "not YAML"),
    ("id: starter", "id: !secret x", "", 3, "not YAML"),
    ("id: starter", "id: [starter", "", 4, "not YAML"),
    ("id: starter", "\tid: starter", "", 3, "not YAML"),
]


@pytest.mark.parametrize(("old", "new", "field", "line", "words"), BAD, ids=[f"{row[2]}-{row[1][:20]}" for row in BAD])
def test_a_mistake_is_named_by_field_line_and_nearest_name(old: str, new: str, field: str, line: int, words: str):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    found, at, message = problem_of(text)
    assert (found, at) == (field, line) and words in message


def test_a_number_in_quotes_is_offered_as_the_number_it_is():
    with pytest.raises(SpecError) as caught:
        parse_spec(GOOD.replace("weight: 1.0", 'weight: "-2.5"'))
    [quoted] = caught.value.problems
    fixes = [(fix.label, fix.settings) for fix in quoted.fixes if not fix.fallback]
    assert fixes == [("Use -2.5", {"rewards.0.weight": -2.5})]


@pytest.mark.parametrize(
    ("right", "wrong", "field", "line"),
    [("name: small", "nam: small", "nam", 1), ("name: format", "nme: format", "rewards.0.nme", 7),
     ("rewards:", "reward:", "reward", 6)],
)  # fmt: skip
def test_a_needed_field_that_is_misspelt_is_not_missing(right: str, wrong: str, field: str, line: int):
    with pytest.raises(SpecError) as caught:
        parse_spec(GOOD.replace(right, wrong, 1))
    [misspelt] = caught.value.problems
    assert (misspelt.field, misspelt.line) == (field, line) and "Did you mean" in misspelt.message


def test_an_anchor_that_nothing_refers_to_does_no_harm():
    assert parse_spec(GOOD.replace("id: starter", "id: &a starter")).model.id == "starter"


def test_every_mistake_of_a_text_is_found_at_once():
    text = GOOD.replace("id:", "idd:").replace("source:", "sorce:").replace("weight: 1.0", "weight: heavy")
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert [(p.field, p.line) for p in caught.value.problems] == [
        ("model.idd", 3),
        ("data.sorce", 5),
        ("rewards.0.weight", 8),
    ]
    assert str(caught.value).count("\n") == 2 and "model.idd, line 3: " in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing", "null", "- a\n- b", "just words", "3"])
def test_what_is_no_mapping_is_no_spec(text: str):
    assert ("is empty" if read_yaml(text)[0] is None else "mapping of settings") in problem_of(text)[2]


def test_aliases_are_refused_and_so_cannot_explode():
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert "Aliases" in problem_of(bomb)[2]
    assert problem_of("a: &a 1\nb: *a")[1] == 2
    assert "Aliases" in problem_of("a: &a {x: 1}\nb:\n  <<: *a\n")[2]


def test_what_is_too_large_or_too_deep_is_refused_quickly():
    assert "larger than 256 KB" in problem_of("# " + "x" * MAX_BYTES)[2]
    began = time.monotonic()
    for deep in ("[" * 200_000, "a: " + "{b: " * 50_000, "- " * 100_000, "? " * 100_000):
        assert "levels deep" in problem_of(deep)[2]
    assert time.monotonic() - began < 30  # a quadratic reading takes minutes


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-4", 1e-4), ("1E5", 1e5), ("-2.5e+3", -2500.0), ("1.0e-4", 1e-4), (".5", 0.5), ("5", 5), ("0.1", 0.1),
        ("0", 0), ("-1", -1), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("on", "on"), ("no", "no"), ("yes", "yes"), ("y", "y"), ("'1e-4'", "1e-4"), ("1e", "1e"),
        ("2024-01-02", "2024-01-02"),
        ("1.2.3", "1.2.3"), (".inf", math.inf), ("steps", "steps"), ("[1, a]", [1, "a"]), ("{a: 1e-2}", {"a": 0.01}),
    ],
)  # fmt: skip
def test_values_are_read_as_everyone_expects(written: str, meant: Any):
    value = parse_spec(GOOD + f"  x: {written}\n").training["x"]
    assert value == meant and type(value) is type(meant)


def test_lines_are_found_for_every_field_in_either_style():
    lines = line_numbers("name: a\nmodel: {id: b,\n  dtype: c}\nrewards:\n- name: d\n- {name: e}\n")
    assert lines == {
        "name": 1, "model": 2, "model.id": 2, "model.dtype": 3, "rewards": 4, "rewards.0": 5, "rewards.0.name": 5,
        "rewards.1": 6, "rewards.1.name": 6,
    }  # fmt: skip


def test_nearest_is_silent_where_nothing_is_near():
    assert did_you_mean("learning_rat", ["learning_rate", "beta"]) == " Did you mean “learning_rate”?"
    assert did_you_mean("zzz", ["learning_rate", "beta"]) == ""


def test_plain_values_are_checked_without_lines():
    with pytest.raises(SpecError) as caught:
        from_dict({"name": "a", "rewards": [], "data": {"limit": "5"}})
    assert {(p.field, p.line) for p in caught.value.problems} == {("rewards", None), ("data.limit", None)}


def test_a_name_that_is_no_text_is_named_as_a_field_of_its_part():
    assert problem_of(GOOD.replace("id: starter", "1: starter"))[1] == 3


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), max_size=30).filter(
    lambda text: all(character.isprintable() or character in "\n\t" for character in text)
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), texts,
    st.sampled_from(["1e-4", "on", "no", "null", "~", "true", "0x1f", "1_000", "2024-01-02", "12:30", "=", "<<", "-"]),
    st.sampled_from(list("#&*!|>%@`?:,'\"") + ["{}", "[]", " a", "a ", "a: b", "a #b"]),
)  # fmt: skip
keys = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
specs = st.builds(
    lambda **parts: from_dict(parts),
    name=texts.filter(bool),
    model=st.fixed_dictionaries({"id": texts.filter(bool), "revision": st.none() | texts}),
    lora=st.none() | st.dictionaries(keys, values, max_size=4),
    data=st.fixed_dictionaries(
        {"source": texts.filter(bool), "limit": st.none() | st.integers(1, 10**9), "system_prompt": st.none() | texts}
    ),
    rewards=st.lists(
        st.fixed_dictionaries({"name": keys, "weight": st.floats(-10, 10, allow_nan=False)}), min_size=1, max_size=3
    ),
    training=st.dictionaries(keys, values, max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(specs)
def test_what_is_written_reads_back_equal(spec: RunSpec):
    again = parse_spec(to_yaml(spec))
    assert again == spec
    assert repr(again) == repr(spec)  # == alone would take 1 for 1.0 and for True


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "null",
        "~",
        "true",
        "1e3",
        "042",
        "0b_",
        "59:59",
        "2024-01-01",
        "1_0.5",
        "=",
        "<<",
    ],
)
def test_a_text_is_written_so_that_readers_of_yaml_1_1_read_it_as_text(word: str) -> None:
    written = dump({"name": word})
    assert yaml.safe_load(written) == {"name": word} and read_yaml(written)[0] == {"name": word}
    assert dump({"name": "yes-run"}) == "name: yes-run\n", "none that needs no quotes has any"
