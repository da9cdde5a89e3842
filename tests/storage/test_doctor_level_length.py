"""What the diagnostics say of a run whose function of length could give every completion only the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.checks.reward_settings import find_level_length
from groupwise.storage.spec.spec import RewardSpec
from tests.support.doctor import REWARDS, healthy, line, scored


def pays_length(name: str = "length", *beside: RewardSpec, **parameters: Any) -> Evidence:
    """A run in which a function of length gave 0 to every completion."""
    stays = {"groups/tied": line(1, 1), "groups/all_low": line(1, 1), f"rewards/{name}/mean": line(0, 0)}
    gone = ("groups/solved", "groups/any_solved", "rewards/format/mean", "rewards/correctness/mean", "groups/all_high")
    zero = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    told = healthy(
        rewards=[RewardSpec(name=name, parameters=parameters), *beside], low=0.0, high=0.0, ended=True,
        first=scored(**{name: [0.0] * 8}), last=scored(**{name: [0.0] * 8}),
        curves={"reward": line(0, 0), "kl": line(0, 0), **stays, **dict.fromkeys(gone)},
    )  # fmt: skip
    return replace(told, functions={name: zero})


@pytest.mark.parametrize("steps", [3, 5, 12, 60])
def test_a_length_that_no_completion_reaches_is_told_in_the_launch_s_own_words(steps: int) -> None:
    """It came to “No completion has earned anything … the prompts are too hard for it”."""
    told = pays_length(mode="longer")
    told = replace(told, curves={name: line(curve.first, curve.now, steps=steps)
                                 for name, curve in told.curves.items()})  # fmt: skip
    (verdict,) = examine(told).verdicts
    problem = find_level_length(told.rewards[0], told.training, "rewards.0")
    assert problem is not None and verdict.sentence == f"“length” {problem.message}"
    words = "“length” gives every completion 0: up to 64 tokens (the default of “low”) all earn the same, and none"
    assert verdict.sentence.startswith(words)
    assert (verdict.key, verdict.level) == ("constant", "problem")
    assert [(one.label, one.settings) for one in verdict.changes] == [
        ("length scores from 24 to 48 tokens", {"rewards.0.parameters.low": 24, "rewards.0.parameters.high": 48})
    ]


def test_a_length_of_a_stage_is_changed_in_the_stage() -> None:
    told = replace(pays_length(mode="longer"), places={"rewards": "stages.1.rewards"})
    assert "stages.1.rewards.0.parameters.low" in examine(told).verdicts[0].changes[0].settings


@pytest.mark.parametrize("name", ["length", "soft_overlong_punishment"])
def test_prompts_are_never_too_hard_where_length_alone_earns(name: str) -> None:
    told = pays_length(name, **({"mode": "longer", "low": 20} if name == "length" else {}))
    report = examine(told)
    said = " ".join(f"{one.title} {one.sentence} {[change.label for change in one.changes]}" for one in report.verdicts)
    assert report.verdicts and "hard" not in said and "prompt" not in said and "Easier" not in said, said


def test_a_length_that_none_reaches_is_told_beside_what_is_earned_as_well() -> None:
    """“length is too hard to earn” was said of it."""
    told = healthy(
        rewards=[RewardSpec(name="length", parameters={"mode": "longer"}), *REWARDS],
        functions={"length": Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))},
        curves={"rewards/length/mean": line(0, 0)},
    )
    (verdict,) = examine(told).verdicts
    assert (verdict.key, verdict.level) == ("constant", "warning") and "none is longer than 48" in verdict.sentence
