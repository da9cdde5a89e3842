"""The most that a reward can come to: what the functions that ship give at most, by their weights."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupwise.storage.analysis.best_possible import MOST, most_possible
from groupwise.storage.library.rewards.builder import Block, to_code
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec, SchedulePoint

FORMAT, CORRECTNESS = RewardSpec(name="format"), RewardSpec(name="correctness", weight=1.5)


def no_code(name: str) -> str:
    return ""


def test_it_is_the_sum_of_what_each_function_gives_at_most() -> None:
    assert most_possible([FORMAT, CORRECTNESS], no_code) == 2.5
    assert most_possible([FORMAT, RewardSpec(name="repetition_penalty")], no_code) == 1.0
    assert set(MOST) <= group_metrics.OF_FORM | group_metrics.OF_ANSWERS, "functions that ship"


@pytest.mark.parametrize("one", [
    RewardSpec(name="mine"), RewardSpec(name="llm_judge"), RewardSpec(name="format", weight=-1.0),
    RewardSpec(name="format", schedule=[SchedulePoint(step=0, weight=1.0), SchedulePoint(step=9, weight=2.0)]),
])  # fmt: skip
def test_nothing_is_said_where_one_of_them_is_not_known(one: RewardSpec) -> None:
    assert most_possible([CORRECTNESS, one], no_code) is None


def test_a_function_of_blocks_gives_1_at_most() -> None:
    blocks = [Block("contains", {"texts": ["<answer>"]}), Block("length_between", weight=-0.5)]
    code = {"mine": to_code("mine", blocks, ""), "less": to_code("less", [replace(blocks[0], weight=-1.0)], "")}
    mine, less = (RewardSpec(name=name, version="0a1b2c3d4e5f", weight=2.0) for name in code)
    assert most_possible([FORMAT, mine], code.__getitem__) == 3.0
    assert most_possible([FORMAT, less], code.__getitem__) == 1.0, "penalties alone"
    edited = code["mine"].replace("return total /", "return 7 * total /")
    assert most_possible([FORMAT, mine], {"mine": edited}.__getitem__) is None, "edited by hand"
