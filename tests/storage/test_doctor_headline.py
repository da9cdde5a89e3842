"""What the doctor's headline says of figures that may mislead: a held-out fall that may be chance, a function's own
mean where it scores some completions alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Function
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import CALM
from groupwise.storage.record.record import RunWriter
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from tests.support.doctor import healthy, line, scored
from tests.support.records import group

HELD_OUT = {"eval_reward": Curve.of(range(0, 61, 20), [1.2, 1.1, 1.0, 0.9])}
MINE = [RewardSpec(name="format"), RewardSpec(name="mine")]
SCORES = Function(1.0, {"ok": 256}, 0.0, 1.0, 0.4, (0.0, 1.0))


def test_a_held_out_fall_within_two_standard_errors_is_no_fall() -> None:
    """As it was seen at a rate of 1e-9: “held-out reward fell from 1 to 0.89”, of 64 completions."""
    report = examine(healthy(curves=HELD_OUT, held_out_error=0.16, held_out_prompts=16, ended=True))
    assert "; held-out reward was 0.9, and 1.2 at first (16 prompts), which may be chance; " in report.headline
    assert (report.against, report.level) == ("", CALM) and report.headline.startswith("Learned, no problems detected")
    assert examine(healthy(curves=HELD_OUT, held_out_error=0.14)).against == "held-out reward fell"


def test_how_far_held_out_reward_may_be_off_is_told_by_prompt(tmp_path: Path) -> None:
    """Prompts differ in how hard they are, by more than what is learned."""
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "mine": 1.0})
    for step, fell in ((0, (0.0, 0.0, 0.0)), (20, (0.1, 0.2, 0.3))):
        asked = [group(step, [n - lost, n - lost], mode="eval", prompt=f"{n}") for n, lost in enumerate(fell)]
        writer.commit(step, metrics={"eval_reward": 1.0 - sum(fell) / 3, "reward": 1.0}, groups=asked)
    writer.close()
    told = gather(tmp_path / "run.db", RunSpec(name="x", rewards=MINE))
    assert told.held_out_error == pytest.approx(0.1 / 3**0.5), "the scatter of 0.1, 0.2 and 0.3"


def test_a_function_that_scores_more_completions_than_at_the_start_is_named() -> None:
    """As it was seen: 0.47 → 0.6, of which “by exact (0.58 to 0.62)” is the least; it gave no score to a third."""
    few, most = (
        scored(mine=[1.0, None, 0.0] * 8, format=[1.0] * 24),
        scored(mine=[1.0] * 15 + [None], format=[1.0] * 16),
    )
    told = examine(healthy(first=few, last=most, ended=True)).headline
    assert ", and “mine” gave" not in told, "it is none of the run's functions"
    own = {"mine": SCORES}
    told = examine(healthy(first=few, last=most, functions=own, ended=True)).headline
    assert ", and “mine” gave a score to 94\u202f% of completions, 67\u202f% at the start; " in told
    assert "gave a score" not in examine(healthy(first=most, last=most, functions=own, ended=True)).headline
    by_chance = healthy(first=few[:24], last=most[:16], functions=own, ended=True)
    assert "gave a score" not in examine(by_chance).headline


def test_of_a_run_that_is_seldom_logged_its_groups_are_told_by_steps() -> None:
    """Of 40 steps, every fifth of them logged: the groups of all are recorded, and what goes by them speaks."""
    logged = {name: Curve.of(range(5, 41, 5), curve.values[:8]) for name, curve in healthy().curves.items()}
    each = {name: line(0.1, 0.1, steps=40) for name in ("groups/tied", "groups/all_low")}
    well = examine(healthy(curves=logged | each, ended=True)).headline
    assert well == (
        "It ended after 40 steps, 8 of them logged: too short for diagnostics, which need 10 logged steps. Its groups, "
        "recorded at every step, show no problem by themselves."
    )
    tied = {name: line(0.9, 0.9, steps=40) for name in each}
    assert [one.key for one in examine(healthy(curves=logged | tied, ended=True)).verdicts] == ["too_hard"]
