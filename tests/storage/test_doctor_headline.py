"""What the doctor's headline says of figures that may mislead: a held-out fall that may be chance, a function's own
mean where it scores some completions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor import by_prompt, rise
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample, Scored
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import CALM, NEUTRAL, PROBLEM
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Group
from groupwise.storage.spec.spec import RewardSpec, RunSpec, SchedulePoint
from tests.support.doctor import healthy, line, scored
from tests.support.records import group

HELD_OUT = {"eval_reward": Curve.of(range(0, 61, 20), [1.2, 1.1, 1.0, 0.9])}
MINE = [RewardSpec(name="format"), RewardSpec(name="mine")]
SCORES = Function(1.0, {"ok": 256}, 0.0, 1.0, 0.4, (0.0, 1.0))


def test_a_held_out_fall_within_two_standard_errors_is_no_fall() -> None:
    """As it was seen at a rate of 1e-9: “held-out reward fell from 1 to 0.89”, of 64 completions."""
    report = examine(healthy(curves=HELD_OUT, held_out_error=0.16, held_out_prompts=16, ended=True))
    went = "; held-out reward went from 1.20 to 0.90 (16 prompts), a difference that may be chance; "
    assert went in report.headline
    assert (report.against, report.level) == ("", CALM) and report.headline.startswith("Learned, no problems detected")
    assert examine(healthy(curves=HELD_OUT, held_out_error=0.14)).against == "Held-out reward fell"


def test_how_far_held_out_reward_may_be_off_is_told_by_prompt(tmp_path: Path) -> None:
    """Prompts differ in how hard they are, by more than what is learned."""
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "mine": 1.0})
    for step, fell in ((0, (0.0, 0.0, 0.0)), (20, (0.1, 0.2, 0.3))):
        asked = [group(step, [n - lost, n - lost], mode="eval", prompt=f"{n}") for n, lost in enumerate(fell)]
        writer.commit(step, metrics={"eval_reward": 1.0 - sum(fell) / 3, "reward": 1.0}, groups=asked)
    writer.close()
    told = gather(tmp_path / "run.db", RunSpec(name="x", rewards=MINE))
    assert told.held_out_error == pytest.approx(0.1 / 3**0.5), "the scatter of 0.1, 0.2 and 0.3"
    assert told.held_out_changes["eval_reward"] == pytest.approx((-0.1, -0.2, -0.3))
    assert len(told.held_out_changes["eval_groups/solved"]) == 3


RIGHT_FELL = {
    "eval_groups/solved": Curve.of((0, 60), (0.75, 0.5625)),
    "eval_rewards/correctness/mean": Curve.of((0, 60), (0.75, 0.5625)),
    "eval_reward": Curve.of((0, 60), (1.5, 1.3125)),
}


def by_prompt_each(changes: Sequence[float], **more: Any) -> Evidence:
    """A run that learned in training, of whose held-out prompts each moved so."""
    return healthy(
        curves=RIGHT_FELL, held_out_changes=dict.fromkeys(RIGHT_FELL, tuple(changes)),
        held_out_prompts=len(changes), ended=True, **more,
    )  # fmt: skip


def test_a_held_out_fall_of_few_prompts_is_no_verdict() -> None:
    """As it was seen of 8 prompts, 75 % → 56 % right: “fewer right answers”, of a run that had learned."""
    for changes in ([-0.1875] * 8, [-1.0, -1.0, -0.5, -0.5, 0.5, 0.0, 0.0, 1.0] * 2):
        report = examine(by_prompt_each(changes))
        assert (report.against, report.level) == ("", CALM), changes
        assert report.headline.startswith("Learned, no problems detected: "), report.headline
        assert f"({len(changes)} prompts), a difference that may be chance" in report.headline
    for changes in ([-0.1875] * 9, [-0.25, -0.125] * 32):
        report = examine(by_prompt_each(changes))
        assert report.against and report.headline.startswith("Improved on the training prompts only: ")
    assert examine(replace(by_prompt_each([-0.1875] * 8), held_out_changes={})).against, (
        "each prompt's are not recorded"
    )


def test_chance_counts_each_prompt_once() -> None:
    assert by_prompt.chance_of_fall((-0.5,) * 8) == 1 / 256 > by_prompt.CHANCE > by_prompt.chance_of_fall((-0.1,) * 9)
    assert by_prompt.chance_of_fall((-0.5, -0.25, 0.25, 0.0)) == 0.5 - 1 / 8
    assert by_prompt.chance_of_fall((0.5, 0.0)) == by_prompt.chance_of_fall(()) == 1.0
    many = [by_prompt.chance_of_fall((-1.0,) * fell + (1.0,) * 10) for fell in (14, 15)]
    assert many[0] > many[1] > 0.1, "counted, and then by the scatter"


def test_a_function_that_scores_more_completions_than_at_the_start_is_named() -> None:
    """As it was seen: 0.47 → 0.6, of which “by exact (0.58 to 0.62)” is the least; it gave no score to a third."""

    def told(first: Scored, last: Scored, weight: float = 1.0) -> str:
        mine = replace(SCORES, weight=weight, scored=(first, last))
        return examine(healthy(functions={"mine": mine}, ended=True)).headline

    said = ", and “mine” gave a score to 94\u202f% of completions, 67\u202f% at the start; "
    assert said in told((256, 384), (240, 256))
    assert "gave a score" not in told((240, 256), (240, 256)) + told((256, 384), (240, 256), 0.0)
    assert "gave a score" not in told((16, 24), (15, 16)), "that may be chance"


def test_the_share_that_is_scored_is_of_the_steps_that_are_said(tmp_path: Path) -> None:
    """“36 % of completions” beside “means of the first 5 and last 10 logged steps”, which the record had as 40 %: the
    last 128 groups are of other steps. And “scored correct” was said of the few that had a score."""
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "mine": 1.0})
    for step in range(1, 31):
        given = [1.0] * 8 if step <= 5 else [1.0] * 4 + [None] * 4 if step <= 20 else [1.0, 0.0] + [None] * 6
        groups = [mine_gives(step, given) for _ in range(4)]
        writer.commit(step, metrics={"reward": 1.0, "groups/solved": 0.5}, groups=groups)
    writer.close()
    told = gather(tmp_path / "run.db", RunSpec(name="x", rewards=MINE))
    assert told.functions["mine"].scored == ((160, 160), (80, 320))
    assert told.functions["mine"].scores_few and not told.functions["format"].scores_few
    assert len(told.curve("groups/solved")) and rise.say_right_beside(told) == ""


def test_a_held_out_score_is_of_before_training_only_where_it_was_measured_then() -> None:
    """“on held-out prompts “format” was 0.89 (0.78 before)”, where the first evaluation was at step 20."""
    for steps, when in (((0, 40), "before"), ((20, 40), "at step 20")):
        told = {"eval_rewards/format/mean": Curve.of(steps, [0.78, 0.79])}
        assert f"“format” was 0.79 (0.78 {when})" in examine(healthy(curves=told, ended=True)).headline


def test_a_reward_that_reads_the_same_has_stayed() -> None:
    """“reward went up from 1.03 at the start to 1.03 at the end”."""
    curves = {"reward": line(1.025, 1.03), "rewards/format/mean": None}
    report = examine(healthy(curves=curves, low=1.0, high=1.05, ended=True))
    assert report.kind == "level" and "reward was 1.03 at the end, about as at the start (1.03)" in report.headline


def test_of_a_run_that_is_seldom_logged_its_groups_are_told_by_steps() -> None:
    """Of 40 steps, every fifth of them logged: the groups of all are recorded, and what goes by them speaks."""
    logged = {name: Curve.of(range(5, 41, 5), curve.values[:8]) for name, curve in healthy().curves.items()}
    each = {name: line(0.1, 0.1, steps=40) for name in ("groups/tied", "groups/all_low")}
    well = examine(healthy(curves=logged | each, step=40, ended=True)).headline
    assert well == (
        "It ended, and its reward was logged at 8 of 40 steps: too few for diagnostics, which need 10. Its groups, "
        "recorded at every step, show no problem by themselves."
    )
    tied = {name: line(0.9, 0.9, steps=40) for name in each}
    assert [one.key for one in examine(healthy(curves=logged | tied, ended=True)).verdicts] == ["too_hard"]


def mine_gives(step: int, given: Sequence[float | None]) -> Group:
    """A group of a step, in which “mine” gives these scores."""
    made = group(step, [1.0] * len(given))
    scores = [[(1.0, "ok"), (score, "error" if score is None else "ok")] for score in given]
    return replace(made, completions=[replace(c, scores=s) for c, s in zip(made.completions, scores, strict=True)])


def every_sixth_step(last_right: int, last: float, **changed: Any) -> Evidence:
    """Of 30 steps, of which each sixth generates (num_iterations 6): four groups of eight at each, of which five are
    right at first, and so many at last."""

    def step(number: int, right: int) -> list[Sample]:
        found = scored(groups=4, correctness=[1.0] * right + [0.0] * (8 - right))
        return [replace(one, grp=one.grp + number, step=number) for one in found]

    rewards = Curve.of(range(1, 26, 6), [0.625, 0.6, 0.6, last, last])
    curves = {"reward": rewards, "rewards/correctness/mean": rewards}
    ends = {"first": step(1, 5), "last": step(25, last_right)}
    return healthy(curves=curves, step=30, total=30, high=1.0, ended=True, **ends, **changed)


def test_a_reward_that_is_logged_where_it_generates_is_told_by_the_steps_of_the_run() -> None:
    """“It ended after 25 steps” stood between “Done: step 30 of 30” and “at step 30”."""
    report = examine(every_sixth_step(5, 0.625))
    assert (report.kind, outcome.verdict_on(report)) == ("waiting", ("", ""))
    assert report.headline == (
        "It ended, and its reward was logged at 5 of 30 steps: too few for diagnostics, which need 10."
        " Its groups, recorded at every step, show no problem by themselves."
    )


def test_a_fall_beyond_doubt_is_told_of_few_logged_steps() -> None:
    """A run whose right answers went from 62 % to none was a plain green “Finished”."""
    report = examine(every_sixth_step(0, 0.0))
    assert (report.kind, outcome.verdict_on(report)) == ("down", ("The reward fell", PROBLEM))
    assert report.headline.startswith("Got worse: reward fell from 0.63 at its first step to 0 at the end; ")
    assert report.headline.endswith(" Its reward was logged at 5 of 30 steps: other trends need 10.")
    assert examine(every_sixth_step(4, 0.5)).kind == "waiting", "that may be chance"
    moving = [one.model_copy(update={"schedule": [[0, 1.0], [60, 0.5]]}) for one in healthy().rewards]
    assert examine(every_sixth_step(0, 0.0, rewards=moving)).kind == "waiting", "its weights move"


def rescheduled(weights: tuple[float, float], form: Curve, right: Curve, **curves: Curve) -> Evidence:
    """A run that is over, in which the weight of “format” goes from one to another; “correctness” stays at 1."""
    first, last = weights
    points = [SchedulePoint(step=0, weight=first), SchedulePoint(step=60, weight=last)]
    rewards = [RewardSpec(name="format", schedule=points), RewardSpec(name="correctness")]
    weight = line(first, last)
    total = [w * f + r for w, f, r in zip(weight.values, form.values, right.values, strict=True)]
    told = {
        "reward": Curve.of(weight.steps, total), "rewards/format/mean": form, "rewards/correctness/mean": right,
        "rewards/format/weight": weight, "groups/solved": right, **curves,
    }  # fmt: skip
    return healthy(rewards=rewards, curves=told, ended=True)


def test_a_reward_that_fell_by_its_weights_alone_did_not_get_worse() -> None:
    """As it was seen: “Got worse: reward fell from 1.29 to 1.02” where the weight of “format” was scheduled down."""
    right = line(0.5, 0.5, 0.02, seed=1)
    report = examine(rescheduled((1.0, 0.2), line(0.5, 0.5, 0.02), right))
    assert (report.kind, report.fell, outcome.verdict_on(report)) == ("level", "", ("", NEUTRAL))
    assert report.headline.startswith(
        "No clear progress, no problems detected: reward went from 0.98 at the start to 0.63 at the end; with "
        "the final reward weights throughout, it would have stayed at 0.63; "
    )
    assert report.headline.endswith("; the weight of “format” was 0.2 at the end, 0.99 at the start.")
    scores_fell = examine(rescheduled((1.0, 0.5), line(0.8, 0.3, 0.02), right))
    assert (scores_fell.kind, scores_fell.fell) == ("down", "The reward fell")
    assert scores_fell.headline.startswith("Got worse: reward fell from ")


def test_a_reward_that_rose_by_its_weights_alone_was_not_learned() -> None:
    right = line(0.5, 0.5, 0.02, seed=1)
    level = examine(rescheduled((0.2, 1.0), line(0.5, 0.5, 0.02), right))
    assert level.kind == "level" and "reward went from 0.62 at the start to 0.97 at the end; with" in level.headline
    worse = examine(rescheduled((0.2, 2.0), line(0.8, 0.3, 0.02), right))
    assert (worse.kind, worse.fell) == ("down", "Scores fell")
    assert worse.headline.startswith("Got worse: reward went from 0.73 at the start to 1.12 at the end; with the final")


def test_held_out_reward_that_fell_by_its_weights_alone_speaks_against_nothing() -> None:
    held_out = {
        "eval_reward": Curve.of((0, 60), (1.0, 0.8)), "eval_rewards/correctness/mean": Curve.of((0, 60), (0.5, 0.6)),
        "eval_rewards/format/mean": Curve.of((0, 60), (0.5, 0.9)),
    }  # fmt: skip
    report = examine(rescheduled((1.0, 0.2), line(0.5, 0.9, 0.02), line(0.5, 0.62, 0.02, seed=1), **held_out))
    assert (report.kind, report.against) == ("up", "") and report.headline.startswith("Learned")
