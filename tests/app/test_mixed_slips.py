"""Slips of all kinds mixed: after the first button of each nothing new blocks that could have been said before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.spec.words.problem import Problem, without_then
from tests.app.test_any_slips import press_first, shown_of
from tests.app.test_said_at_once import HEAD

MOST_CLICKS = 12


@pytest.mark.parametrize(
    "text",
    [
        "model:\n  id: 'starter\ntraining: {max_steps: 5 min\nmodel: {dtype: float15}\n",
        "data: {source: 'task:arithmetic\ntraining:\n  beta： ０．０２\n  max_steps: abc\nlora: {r: -4\n",
        "lora: {r: 8\ntraining: {learning_rate: 20 steps}\nlora:\n  rr: 5\n",
        "model:\n  id： starter\ndata: {limit: 5, source: task:arithmetic\ntraining: {max_prompt_length: 512}\n",
        "training:\n  max_steps: 5\n  max_steps: -3\n  use_liger_loss: true\nmodel: {id: starter}\nmodel: {id: [1]}\n",
        "lora: {r: 'x\nlaunch: {processes: 2 GPUs}\ntraining: {beta: 1,5, loss_type: \"gropo\nlora: {alpha: y}\n",
    ],
)
def test_nothing_new_blocks_once_the_first_button_of_each_is_pressed(text: str, own_home: Path) -> None:
    text = HEAD + text
    found = shown_of(text)
    told = {without_lines(one) for one in found}
    for _ in range(MOST_CLICKS):
        after = press_first(text, found)
        if after is None:
            break
        text = after
        found = shown_of(text)
        assert {without_lines(one) for one in found} <= told, text
    assert found == []


def without_lines(one: dict[str, Any]) -> str:
    return re.sub(r"line \d+", "line", without_then(Problem(one["field"], one["message"])))


def test_where_a_whole_number_belongs_no_point_is_offered_beside_other_slips(own_home: Path) -> None:
    for braces in ("{r: 1,5}", "{r: 1,5"):
        said = shown_of(f"name: 'a\nlora: {braces}\nrewards:\n- name: format\n")
        [comma] = [one for one in said if one["field"] == "lora.r"]
        assert comma["message"] == "the comma in 1,5 begins another setting. This should be a whole number."
        assert all(fix["label"] != "Use 1.5" for fix in comma["fixes"])
