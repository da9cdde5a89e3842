"""Edits of a spec's text: what is typed means what was meant, one line changes, every other stays as it was."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.app.pages.new import edits, field_values, form_rows, yaml_edit
from groupwise.app.pages.new.edits import Edit
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.words.problem import Fix

TEXT = """# why this run
name: one   # its name
model: {id: starter}
data:
  source: task:arithmetic

  limit: 100
rewards:
- name: format
  weight: 1.0
- name: length
training:
  num_generations: 8   # group size
  per_device_train_batch_size: 64
  logging_steps: 5
  max_steps: 60
"""
TYPES = {"training.learning_rate": ["float"], "training.max_steps": ["int"], "rewards.0.weight": ["float"]}


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("name", "two", "name: two   # its name"),
        ("training.num_generations", 16, "  num_generations: 16   # group size"),
        ("training.beta", 0.02, "  beta: 0.02"),
        ("data.limit", 5, "  limit: 5"),
    ],
)
def test_one_setting_changes_and_every_other_line_stays(path: str, value: Any, line: str) -> None:
    after = edits.apply(TEXT, [Edit(path, value)])
    assert line in after.splitlines()
    assert len(set(TEXT.splitlines()) - set(after.splitlines())) <= 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model.id", "org/name"), ("lora", {"r": 4}), ("lora", None), ("launch.processes", 2),
        ("rewards", [{"name": "length", "weight": 0.5}]), ("training.max_steps", ABSENT), ("name", "yes: [not] #plain"),
        ("name", "two\nlines"), ("training", {}), ("data.system_prompt", "a\n\n b: c\n"), ("rewards.1.weight", 0.5),
        ("rewards.0.name", "correctness"), ("data.parameters.size", 3), ("stages", [{"training": {"beta": 0.1}}]),
        ("data.prompt_template", "{a}\u2028'\"{b}"), ("training.generation_kwargs", {"a": [1, {"b": None}]}),
    ],
)  # fmt: skip
def test_what_is_put_is_what_is_read_and_nothing_else_changes(path: str, value: Any) -> None:
    before, after = yaml_edit.load(TEXT), yaml_edit.load(edits.apply(TEXT, [Edit(path, value)]))
    assert before is not None
    assert after is not None
    assert at(after, path) == value
    top = path.split(".")[0]
    assert all(after[key] == before[key] for key in before if key != top)
    inner = before.get(top)
    if isinstance(inner, dict) and "." in path:
        assert all(after[top][key] == inner[key] for key in inner if key != path.split(".")[1])


def at(raw: Any, path: str) -> Any:
    """The value at a dotted path, or ABSENT."""
    for part in path.split("."):
        try:
            raw = raw[int(part) if isinstance(raw, list) else part]
        except (KeyError, IndexError):
            return ABSENT
    return raw


def test_an_entry_of_a_list_can_be_removed_and_places_that_are_not_there_change_nothing() -> None:
    assert [r["name"] for r in yaml_edit.load(edits.apply(TEXT, [Edit("rewards.0", ABSENT)]))["rewards"]] == ["length"]  # type: ignore[index]
    for path in ("rewards.7.name", "rewards.x.name.y", "training.0", "name.0.x"):
        assert yaml_edit.load(edits.apply(TEXT, [Edit(path, ABSENT)])) == yaml_edit.load(TEXT)


def test_what_stands_deep_in_a_list_is_put_there_and_removed_without_a_trace() -> None:
    put = [
        Edit("rewards.1.parameters.high", 9), Edit("rewards.2", {"name": "mine"}), Edit("rewards.2.adapt.every", 3),
        Edit("stages.0", {"training": {}}), Edit("stages.1", {}), Edit("stages.1.rewards.0", {"name": "x"}),
    ]  # fmt: skip
    raw = yaml_edit.load(edits.apply(TEXT, put))
    assert raw is not None
    assert raw["rewards"][1:] == [
        {"name": "length", "parameters": {"high": 9}},
        {"name": "mine", "adapt": {"every": 3}},
    ]
    assert raw["stages"][0] == {"training": {}}
    gone = [Edit("rewards.1.parameters.high", ABSENT), Edit("rewards.2", ABSENT), Edit("rewards.5", {"name": "far"})]
    assert (yaml_edit.load(edits.apply(edits.apply(TEXT, put), gone)) or {})["rewards"] == [
        {"name": "format", "weight": 1.0},
        {"name": "length"},
    ]


def test_a_text_that_cannot_be_read_stays_as_it_is() -> None:
    assert edits.apply("name: [", [Edit("name", "x")]) == "name: ["


@pytest.mark.parametrize(
    ("words", "types", "value"),
    [
        ("1e-4", "float", 1e-4), ("6", "float", 6), ("6.5", "int", 6.5), ("fast", "float", "fast"),
        ("  ", "int", ABSENT),
        ("", "str none", ABSENT), ("007", "str none", "007"), ("true", "bool none", True), ("yes", "bool", "yes"),
        ("null", "int none", None), ("[a, b]", "list none str", ["a", "b"]), ("all-linear", "list str", "all-linear"),
        ("{a: 1}", "dict str none", {"a": 1}), ("{a: ", "dict str", "{a: "), ("auto", "int none str", "auto"),
        ("16", "int none str", 16), ("0.1", "int float", 0.1), ("*x", "float", "*x"), ("a: b", "str", "a: b"),
        ("!!python/name:os.system", "dict str", "!!python/name:os.system"),
    ],
)  # fmt: skip
def test_what_is_typed_means_what_fits_the_field(words: str, types: str, value: Any) -> None:
    assert field_values.value_of(words, types.split()) == value


@given(st.one_of(st.booleans(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False), st.lists(st.integers())))
def test_what_a_field_shows_means_the_same_when_it_is_typed_again(value: Any) -> None:
    kind = {bool: "bool", int: "int", float: "float", list: "list"}[type(value)]
    assert field_values.value_of(field_values.field_text(value), [kind, "none"]) == value


@given(st.text(min_size=1).filter(str.strip))
def test_text_is_taken_to_the_letter(words: str) -> None:
    assert field_values.value_of(words, ["str", "none"]) == words


@given(st.text(max_size=40))
def test_any_text_may_be_typed_into_any_field(words: str) -> None:
    text = edits.apply(TEXT, [Edit("data.system_prompt", field_values.value_of(words, ["str", "none"]))])
    raw = yaml_edit.load(text)
    assert raw is not None
    assert raw["data"].get("system_prompt", "") == (words if words.strip() else "")


@pytest.mark.parametrize(
    "sent",
    [None, 7, {}, "x", [None, 3, "a", [], {}], [{"path": 3, "typed": "x"}], [{"path": "a..b", "value": 1}],
     [{"path": "", "remove": True}], [{"fix": 3}], [{"fix": {"settings": [], "removed": [4, "a..b"]}}],
     [{"path": "x" * 300, "typed": "1"}], [{"path": "name"}],
     [{"path": "name", "typed": 3}]],
)  # fmt: skip
def test_a_page_may_send_anything_as_edits(sent: Any) -> None:
    assert edits.read_edits(sent, TYPES) == []


def test_edits_are_read_by_what_their_fields_take() -> None:
    sent = [
        {"path": "training.learning_rate", "typed": " 5e-6 "}, {"path": "name", "typed": "12"},
        {"path": "rewards.0.weight", "typed": "2"}, {"path": "lora", "value": None},
        {"path": "training.seed", "remove": True},
    ]  # fmt: skip
    after = edits.apply(TEXT, edits.read_edits(sent, TYPES))
    raw = yaml_edit.load(after)
    assert raw is not None
    assert "learning_rate: 5e-6" in after
    assert (raw["name"], raw["rewards"][0]["weight"], raw["lora"]) == ("12", 2, None)


def test_a_whole_weight_is_written_as_in_presets_whatever_a_browser_says() -> None:
    points = [{"step": 0, "weight": 1}, {"step": 60, "weight": 0.5}]
    sent = [
        {"path": "rewards.2", "value": {"name": "correctness", "weight": 1}},
        {"path": "rewards.1.schedule", "value": points},
    ]
    after = edits.apply(TEXT, edits.read_edits(sent, TYPES))
    assert "- name: correctness\n  weight: 1.0\n" in after
    assert "step: 0\n    weight: 1.0\n" in after or "step: 0, weight: 1.0}" in after


def test_a_fix_removes_from_the_end_so_that_places_stay_right() -> None:
    fix = asdict(Fix("x", {"training.beta": 0.1}, ("rewards.0", "rewards.1")))
    raw = yaml_edit.load(edits.apply(TEXT, edits.read_edits([{"fix": json.loads(json.dumps(fix))}], {})))
    assert raw is not None
    assert (raw["rewards"], raw["training"]["beta"]) == ([], 0.1)


def test_flow_style_and_odd_places_are_edited_all_the_same() -> None:
    text = "name: x\nrewards: [{name: format}]\ntraining: {beta: 0.1, loss_type: grpo}\n"
    assert specs.parse_spec(edits.apply(text, [Edit("training.beta", 0.2)])).training == {
        "beta": 0.2,
        "loss_type": "grpo",
    }
    assert specs.parse_spec(edits.apply(text, [Edit("training.seed", 3)])).training["seed"] == 3


def test_a_stage_s_settings_are_typed_as_yaml() -> None:
    sent = [{"path": "stages.0", "value": {}}, {"path": "stages.0.training", "typed": "beta: 1e-2  # low\nseed: 3"}]
    raw = yaml_edit.load(edits.apply(TEXT, edits.read_edits(sent, {})))
    assert raw is not None
    assert raw["stages"] == [{"training": {"beta": 0.01, "seed": 3}}]


def test_conditions_are_rows_and_rows_are_conditions() -> None:
    written = ["level <= 3", "answer is not empty", "question contains train", "length of question < 500"]
    rows = form_rows.condition_rows(written)
    assert rows[0] == {"column": "level", "operator": "<=", "value": "3"}
    assert form_rows.conditions_of(rows) == written


def test_a_condition_that_is_not_finished_is_kept_as_it_is_written() -> None:
    assert form_rows.conditions_of([{"column": "level", "operator": "<=", "value": ""}]) == ["level <="]
    assert form_rows.condition_rows(["level <="])[0]["value"] == "level <="
    assert form_rows.conditions_of(form_rows.condition_rows(["level <="])) == ["level <="]


@pytest.mark.parametrize("sent", [None, 3, "x", [None, 4], [{"column": 3, "value": None}], [{}], [{"operator": []}]])
def test_a_page_may_send_anything_as_conditions_and_stages(sent: Any) -> None:
    assert all(isinstance(condition, str) for condition in form_rows.conditions_of(sent))
    assert isinstance(form_rows.condition_rows(sent), list)
    assert isinstance(form_rows.stage_rows(sent), list)


def test_stages_have_their_settings_as_text_both_ways() -> None:
    stages = [
        {"name": "first", "rewards": [{"name": "format"}], "training": {"max_steps": 5, "beta": 0.1}},
        {"training": {}},
    ]
    rows = form_rows.stage_rows(stages)
    assert rows[0]["training_text"] == "max_steps: 5\nbeta: 0.1\n"
    assert [form_rows.training_of(row["training_text"]) for row in rows] == [stage["training"] for stage in stages]
    assert form_rows.training_of("max_steps: [") == "max_steps: ["
    assert form_rows.stage_rows([{"training": "max_steps: ["}, 7])[0]["training_text"] == "max_steps: ["


def test_a_number_that_is_none_is_shown_as_it_is_written() -> None:
    assert field_values.field_text(math.inf) == ".inf"
    assert field_values.field_text(None) == field_values.field_text(ABSENT) == ""


def test_an_edit_is_overtaken_by_what_was_typed_in_the_text_after_it() -> None:
    typed = TEXT.replace("num_generations: 8", "num_generations: 16").replace("format\n  weight: 1.0", "format")
    sent = [
        {"path": "training.num_generations", "typed": "4", "since": TEXT},
        {"path": "training.max_steps", "typed": "4", "since": TEXT},
        {"path": "rewards.0.weight", "typed": "2", "since": TEXT},
        {"path": "training.num_generations", "typed": "2"},
        {"path": "name", "typed": "two", "since": "rewards: ["},
        {"path": "name", "typed": "three", "since": [1]},
        {"path": 7, "since": TEXT},
        {"fix": {"settings": {"name": "four"}}, "since": TEXT},
        "nothing",
    ]
    assert edits.without_overtaken(typed, sent) == [sent[1], *sent[3:8]]
    assert edits.without_overtaken(typed, None) == []
