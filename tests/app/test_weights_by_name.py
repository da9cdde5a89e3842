"""Rewards that are written as names with their weights, “format: 1.0”: whatever is offered keeps both."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from groupwise.app.pages.new import edits, launch
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.yaml.slips import read_past_slips

HEAD, TAIL = "name: a\n", "training:\n  max_steps: 5\n"
OFFER = Offer({"max_steps": {"types": ["int"], "default": -1}}, {}, {"format": {}, "correctness": {}, "length": {}})


def after_first_fix(text: str) -> tuple[str, str, str]:
    """What is said first, its first button, and the text after a click on that, which a page sends as JSON."""
    slips = read_past_slips(text).problems
    first = (slips or launch.check_text(text, OFFER).problems)[0]
    sent = [{"fix": json.loads(json.dumps(asdict(first.fixes[0])))}]
    return first.message, first.fixes[0].label, edits.apply(edits.cut_out(text, sent), edits.read_edits(sent, {}))


@pytest.mark.parametrize(
    ("rewards", "label", "written"),
    [
        ("rewards:\n  format: 0.5\n  correctness: 2.0\n", "Write it as a list",
         "rewards:\n  - name: format\n    weight: 0.5\n  - name: correctness\n    weight: 2.0\n"),
        ("rewards: {format: 0.5, correctness: 2.0}\n", "Write it as a list", ""),
        ("rewards:\n  format:\n    weight: 0.5\n  correctness: 2.0\n", "Write it as a list", ""),
        ("rewards:\nformat: 0.5\ncorrectness: 2.0\n", "Move “format” and “correctness” under rewards",
         "rewards:\n- name: format\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
        ("rewards:\n- format: 0.5\n- name: correctness\n  weight: 2.0\n", "Write “name: format” and “weight: 0.5”",
         "rewards:\n- name: format\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
        ("rewards:\n  format: 0.5  # tags\n- name: correctness\n  weight: 2.0\n",
         "Write it as “- name: format” and “weight: 0.5”",
         "rewards:\n- name: format  # tags\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
        ("rewards:\n  format: 0.5\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n", "Write it as “- name: format”",
         "rewards:\n- name: format\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
        ("rewards:\n  format: 0.5\n  correctness: 2.0\n  - name: length\n    weight: 0.0\n",
         "Write an entry each for “format” and “correctness”",
         "rewards:\n  - name: format\n    weight: 0.5\n  - name: correctness\n    weight: 2.0\n"
         "  - name: length\n    weight: 0.0\n"),
        ("rewards:\n  - name: format\n    weight: 0.5\n  correctness: 2.0\n",
         "Write it as “- name: correctness” and “weight: 2.0”",
         "rewards:\n  - name: format\n    weight: 0.5\n  - name: correctness\n    weight: 2.0\n"),
        ("rewards:\n- name: format\n- weight: 0.5  # half\n- name: correctness\n  weight: 2.0\n",
         "Make it the weight of format", ""),
        ("rewards:\n- name: format\n  weight: 0.5\ncorrectness: 2.0\n", "Add it to the rewards",
         "rewards:\n- name: format\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
        ("rewards:\n- name: format\n  weight: 0.5\n- name: correctness\ncorrectness: 2.0\n",
         "Make it the weight of correctness",
         "rewards:\n- name: format\n  weight: 0.5\n- name: correctness\n  weight: 2.0\n"),
    ],
)  # fmt: skip
def test_the_first_button_keeps_each_function_with_its_weight(rewards: str, label: str, written: str) -> None:
    message, offered, after = after_first_fix(HEAD + rewards + TAIL)
    assert offered == label and "{'" not in message
    assert not written or after == HEAD + written + TAIL
    read: Any = launch.check_text(after, OFFER)
    assert not [one for one in read.problems if one.level == "blocking"]
    assert {one.name: one.weight for one in read.spec.rewards if one.name != "length"} == {
        "format": 0.5, "correctness": 2.0,
    }  # fmt: skip


def test_a_mapping_that_cannot_be_read_is_not_thrown_away() -> None:
    [problem] = launch.check_text(HEAD + "rewards:\n  format: much\n", OFFER).problems
    assert problem.message == ('should be a list, not {"format": "much"}. Each entry begins with “- name: format”.')
    assert problem.fixes == ()


def test_one_function_with_settings_beside_it_is_one_entry() -> None:
    _, label, after = after_first_fix(HEAD + "rewards:\n  format:\n  weight: 0.5\n" + TAIL)
    assert label == "Write it as a list"
    assert after == HEAD + "rewards:\n  - name: format\n    weight: 0.5\n" + TAIL


def test_trls_list_of_functions_becomes_ours_in_its_place() -> None:
    _, label, after = after_first_fix(HEAD + "reward_funcs: [format, correctness]  # both\n" + TAIL)
    assert label == "Rename it to rewards"
    assert after == HEAD + "rewards:\n- name: format\n- name: correctness\n# both\n" + TAIL


def test_a_dash_too_many_is_offered_to_be_taken_out_only_where_the_entry_above_has_no_such_setting() -> None:
    said = {}
    for below in ("- weight: 2.0", "- weight: 2.0\n  timeout: 5.0", "- weight: 2.0\n  parameters: {}", "- {}"):
        above = "- name: format\n  parameters: {}\n"
        [problem] = launch.check_text(f"{HEAD}rewards:\n{above}{below}\n", OFFER).problems
        said[below] = problem.message, [fix.label for fix in problem.fixes]
    assert list(said.values()) == [
        ("is needed. Without its dash it is the weight of “format”.",
         ["Make it the weight of format", "Remove this entry"]),
        ("is needed. Without its dash it is the weight and timeout of “format”.",
         ["Make it part of format", "Remove this entry"]),
        ("is needed.", ["Remove this entry"]),
        ("is needed.", ["Remove this entry"]),
    ]  # fmt: skip


def test_a_number_at_the_left_edge_is_offered_to_the_rewards_only_where_it_names_a_function() -> None:
    for line, fixes in (("mine: 1.0", ["Remove it"]), ("correctness: high", ["Remove it"]),
                        ("format: 1.0", ["Remove it"]),
                        ("length: 1.0", ["Add it to the rewards", "Remove it"])):  # fmt: skip
        text = f"{HEAD}rewards:\n- name: format\n  weight: 0.5\n{line}\n"
        [problem] = launch.check_text(text, OFFER).problems
        assert [fix.label for fix in problem.fixes] == fixes, problem


def test_an_entry_without_a_name_hides_nothing_of_the_rest() -> None:
    rewards = (
        "- name: format\n- weight: 1.0\n- name: correctness\n  weight: high\n- timeout: 3.0\n  parameters: {a: 1}\n"
    )
    read = launch.check_text(f"{HEAD}rewards:\n{rewards}length: 1.0\ntraining:\n  max_steps: few\n", OFFER)
    assert [(one.field, one.fixes[0].label) for one in read.problems] == [
        ("rewards.1.name", "Make it the weight of format"), ("rewards.2.weight", "Use the default (1.0)"),
        ("rewards.3.name", "Make it part of correctness"), ("length", "Add it to the rewards"),
        ("training.max_steps", "Use 60"),
    ]  # fmt: skip
