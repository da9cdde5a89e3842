"""A list with an entry of a wrong shape: all that is said of the other entries is at their own places in the text."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, left_out, new_run, view, yaml_edit
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import questions, registry, tried
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.registry.tried import FailedTry
from groupwise.storage.spec.words.problem import Fix, Problem, line_of
from groupwise.storage.spec.yaml import yaml_text
from tests.conftest import Groupwise
from tests.support import offer
from tests.support.launching import write

SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA2cD4e"
PARAMETERS = [{"name": "low", "types": ["int"], "default": 64, "help": "", "choices": None}]
OWN = "def divides(completions, **kwargs):\n    return [1 / len(one) for one in completions]\n"
OFFER = offer.Offer(
    offer.TRAINING, offer.LORA,
    {**offer.REWARDS, "length": {"help": "", "parameters": PARAMETERS}, "divides": {"own": True, "hash": "a" * 16}},
    offer.TASKS, failed_tries={("divides", "a" * 16): FailedTry(3, 8, "ZeroDivisionError: division by zero")},
)  # fmt: skip
REWARDS = [
    {"name": "nosuch", "weight": 0.5}, {"name": "length", "parameters": {"foo": 1}},
    {"name": "correctness", "weight": 2.0}, {"name": "divides"}, {"name": "correctness"},
    {"name": "format", "weight": "heavy"},
]  # fmt: skip
RAW: dict[str, Any] = {
    "name": "a",
    "data": {
        "filter": ["level ~ 3", "answer > 3", "foo ~ 1"], "columns": ["answer", SECRET],
        "examples": [{"prompt": SECRET, "completion": "b"}, {"prompt": "b", "completion": SECRET}],
    },
    "rewards": REWARDS,
    "training": {"max_completion_length": 48, "max_steps": 50},
}  # fmt: skip
STAGED: dict[str, Any] = {
    "name": "a", "rewards": [{"name": "format"}], "training": {"max_completion_length": 48},
    "stages": [
        {"training": {"max_step": 5}}, {"rewards": REWARDS},
        {"rewards": [{"name": "length", "schedule": [{"step": 1, "weight": 1.0}], "weight": -1.0}]},
    ],
}  # fmt: skip
POINTS: dict[str, Any] = {
    "name": "a",
    "rewards": [
        {"name": "format", "schedule": [{"step": 5, "weight": 1.0}, {"step": -2, "weight": 1}, {"weight": "x"}]},
        {"name": "nosuch"},
    ],
}  # fmt: skip
LISTS = [
    (RAW, "rewards"), (RAW, "data.filter"), (RAW, "data.columns"), (RAW, "data.examples"), (STAGED, "stages"),
    (STAGED, "stages.1.rewards"), (STAGED, "stages.2.rewards"), (POINTS, "rewards.0.schedule"), (POINTS, "rewards"),
]  # fmt: skip
ODD: list[Any] = [987654, ["odd"], None, {"odd": 987654}]
MATRIX = [
    pytest.param(raw, path, place, odd, id=f"{path}.{place} {odd}")
    for raw, path in LISTS for place in range(len(edits.value_at(raw, path)) + 1) for odd in ODD
]  # fmt: skip


def problems_of(raw: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = view.describe_text(yaml_text.dump(raw), OFFER)["problems"]
    return found


def with_entry(raw: dict[str, Any], path: str, place: int, odd: Any) -> dict[str, Any]:
    made = copy.deepcopy(raw)
    edits.value_at(made, path).insert(place, odd)
    return made


def moved(where: str, path: str, place: int) -> str:
    """Where it is once there is one more entry at this place of the list."""
    if not where.startswith(f"{path}."):
        return where
    number, dot, rest = where.removeprefix(f"{path}.").partition(".")
    return f"{path}.{int(number) + (int(number) >= place)}{dot}{rest}"


def after_fix(raw: dict[str, Any], fix: dict[str, Any]) -> dict[str, Any]:
    made = yaml_edit.load(edits.apply(yaml_text.dump(raw), edits.of_fix(fix)))
    assert made is not None
    return made


def without_odd(raw: dict[str, Any], path: str, odd: Any) -> dict[str, Any]:
    listed = edits.value_at(raw, path)
    assert listed.count(odd) == 1, "the entry went with the fix of another"
    listed.remove(odd)
    return raw


@pytest.mark.parametrize(("raw", "path", "place", "odd"), MATRIX)
def test_beside_a_wrong_entry_each_problem_and_its_fixes_are_at_the_entry_as_written(
    raw: dict[str, Any], path: str, place: int, odd: Any, own_home: Path
) -> None:
    wrong = with_entry(raw, path, place, odd)
    lines = yaml_text.read_yaml(yaml_text.dump(wrong))[1]
    before = {(moved(one["field"], path, place), one["message"]): one for one in problems_of(raw)}
    found = problems_of(wrong)
    others = [one for one in found if not left_out.is_at_or_inside(one["field"], f"{path}.{place}")]
    assert len(others) < len(found), "the entry itself has a problem"
    assert {(one["field"], one["message"]) for one in others} == before.keys()
    assert left_out.NAMELESS not in str(found)
    for one in others:
        plain = before[one["field"], one["message"]]
        assert one["line"] == line_of(one["field"], lines)
        by_label = {fix["label"]: fix for fix in plain["fixes"]}
        # a list is put in order only once all of it can be read
        assert len(one["fixes"]) == len(by_label) or one["field"] == path
        for fix in one["fixes"]:
            expected = after_fix(raw, by_label[fix["label"]])
            assert without_odd(after_fix(wrong, fix), path, odd) == expected


def test_a_name_and_its_number_of_a_bare_name_are_those_that_are_written(own_home: Path) -> None:
    text = "name: a\nrewards:\n- format\n- {name: correctness, weight: 2}\n- {name: nosuch}\ntraining: {max_steps: 5}\n"
    found = view.describe_text(text, OFFER)["problems"]
    [one] = [one for one in found if "nosuch" in one["message"]]
    assert (one["field"], one["line"]) == ("rewards.2.name", 5)
    [fix] = one["fixes"]
    assert edits.apply(text, edits.of_fix(fix)) == text.replace("- {name: nosuch}\n", "")


def test_rewards_without_a_name_are_named_by_no_other_and_none_is_twice(own_home: Path) -> None:
    text = "name: a\nrewards: [5, {weight: 1}, format, {weight: 0, name: null}, {version: 12345678}]\n"
    for known in (OFFER, offer.Offer()):
        found = view.describe_text(text, known)["problems"]
        assert left_out.NAMELESS not in str(found)
        assert "twice" not in str(found)


def test_a_wrong_value_far_inside_hides_no_other_problem(own_home: Path) -> None:
    text = (
        "name: a\nrewards: [{name: format, schedule: [{step: 2, weight: x}]}]\n"
        "data: {filter: ['foo <= 3','level ~ 3'], examples: [{prompt: null}]}\ntraining: {max_step: 5}\n"
    )
    seen = view.describe_text(text, OFFER)
    assert {one["field"] for one in seen["problems"] if one["level"] == "blocking"} == {
        "rewards.0.schedule.0.weight", "data.filter.0", "data.filter.1", "data.examples.0.prompt",
        "data.examples.0.completion", "training.max_step",
    }  # fmt: skip
    assert "preview" in seen["keys"]


@pytest.mark.usefixtures("no_worker")
def test_what_the_worker_says_is_placed_in_the_text_and_asked_anew_where_places_changed(registry_home: Path) -> None:
    text = "name: a\nrewards: [{name: format}]\ndata: {filter: [5, 'answer > 3', 'foo = 1']}\n"
    asked = new_run.ask_worker({"kind": "preview", "text": text, "topic": "page"})
    gone = Fix("Remove it", {}, ("data.filter.1",))
    said = messages_of([Problem("data.filter.1", "there is no column “foo”.", fixes=(gone,))])
    questions.answer_question(asked["question"], offer.PREVIEWED.model_copy(update={"problems": said}))
    [one] = new_run.read_answer(asked)["answer"]["problems"]
    assert (one["field"], one["fixes"][0]["removed"]) == ("data.filter.2", ["data.filter.2"])
    for sent in ({}, {"left_out": 3}, {"left_out": {"paths": [1], "written": [], "entries": {"data.filter": ["x"]}}}):
        [plain] = new_run.read_answer({"question": asked["question"], **sent})["answer"]["problems"]
        assert plain["field"] == "data.filter.1"
    keys, other = (view.describe_text(each, OFFER)["keys"] for each in (text, text.replace("5, ", "")))
    assert keys["preview"] != other["preview"]
    assert keys["rows"] == other["rows"]


@pytest.fixture
def offered(registry_home: Path, no_worker: None) -> Iterator[Path]:
    """A home whose worker (played by the test) has said what it offers, and takes every setting."""
    offer.publish()
    with offer.answering():
        yield registry_home


def test_launch_counts_entries_as_they_are_written(groupwise: Groupwise, offered: Path, tmp_path: Path) -> None:
    text = (
        "name: a\nrewards:\n- format\n- {name: correctness}\n- {name: nosuch}\n- {weight: 1}\n- {name: nosuch}\n"
        "data:\n  filter:\n  - 5\n  - answer > 3\n  - level ~ 3\n"
        "stages:\n- 5\n- training: {max_step: 5}\n- rewards:\n  - 7\n  - {name: lenght}\n"
    )
    path = write(tmp_path, text)
    said = groupwise("launch", str(path)).stderr
    of_file = [line for line in said.splitlines() if line.startswith(str(path)) and ": advice" not in line]
    places = [line.split(": ")[:2] for line in of_file]
    assert [[place.rpartition(":")[2], field] for place, field in places if field != "warning"] == [
        ["3", "rewards.0"], ["5", "rewards.2.name"], ["6", "rewards.3.name"], ["7", "rewards.4.name"],
        ["10", "data.filter.0"], ["12", "data.filter.2"], ["14", "stages.0"], ["15", "stages.1.training.max_step"],
        ["17", "stages.2.rewards.0"], ["18", "stages.2.rewards.1.name"],
    ]  # fmt: skip
    assert left_out.NAMELESS not in said
    assert registry.list_runs() == []


def test_launch_warns_of_a_function_that_failed_when_tried_at_its_own_line(
    groupwise: Groupwise, offered: Path, tmp_path: Path
) -> None:
    tried.note_try("divides", library.save_reward("divides", OWN).hash, 3, 8, "ZeroDivisionError: division by zero")
    warning = "warning: rewards.2.name: “divides” failed on 3 of 8 completions when it was last tried: “ZeroDivision"
    rest = "name: a\ndata: {source: task:arithmetic}\nrewards:\n"
    wrong = write(tmp_path, f"{rest}- format\n- {{name: correctness}}\n- {{name: divides}}\n")
    assert f"{wrong}:6: {warning}" in groupwise("launch", str(wrong)).stderr
    sound = write(tmp_path, f"{rest}- {{name: format}}\n- {{name: correctness}}\n- {{name: divides}}\n")
    for strict, made in (("--strict", 0), ("--", 1)):
        said = groupwise("launch", strict, str(sound))
        assert f"{sound}:6: {warning}" in said.stderr
        assert (len(registry.list_runs()), said.returncode == 2) == (made, not made)
