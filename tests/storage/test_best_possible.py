"""The most that a reward can come to: what the functions that ship give at most, by their weights."""

from __future__ import annotations

import pytest

from groupwise.storage.analysis.best_possible import MOST, most_possible
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec, SchedulePoint

FORMAT, CORRECTNESS = RewardSpec(name="format"), RewardSpec(name="correctness", weight=1.5)


def test_it_is_the_sum_of_what_each_function_gives_at_most() -> None:
    assert most_possible([FORMAT, CORRECTNESS]) == 2.5
    assert most_possible([FORMAT, RewardSpec(name="repetition_penalty")]) == 1.0
    assert set(MOST) <= group_metrics.OF_FORM | group_metrics.OF_ANSWERS, "functions that ship"


@pytest.mark.parametrize("one", [
    RewardSpec(name="mine"), RewardSpec(name="llm_judge"), RewardSpec(name="format", weight=-1.0),
    RewardSpec(name="format", schedule=[SchedulePoint(step=0, weight=1.0), SchedulePoint(step=9, weight=2.0)]),
])  # fmt: skip
def test_nothing_is_said_where_one_of_them_is_not_known(one: RewardSpec) -> None:
    assert most_possible([CORRECTNESS, one]) is None
