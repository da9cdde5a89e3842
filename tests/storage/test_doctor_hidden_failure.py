"""What the diagnostics say where nothing is right and every completion earns something all the same: a part of the
reward that all have hides from ties that all failed. As it was seen with exercises that the starter cannot answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.library.rewards.builder import Block, to_code
from groupwise.storage.record import group_metrics
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RewardSpec
from tests.support.doctor import healthy, line, scored

SIZE = 8
WRITTEN = "name: x\nmodel: {id: starter}\ndata: {source: 'file:exercises.xlsx', answer_column: Answer}\nrewards: " \
    "[{name: format}, {name: correctness}, {name: blocks}]\n"  # fmt: skip
ZERO = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
ALL_TIED = {
    "groups/tied": line(1, 1), "groups/all_low": line(0, 0), "groups/all_high": line(1, 1), "groups/alike": line(0, 0),
    "groups/spread": line(0, 0), "groups/solved": line(0, 0), "groups/any_solved": line(0, 0),
}  # fmt: skip


def never_right(beside: dict[str, Function], *, alone: bool = False, **changed: Any) -> Evidence:
    """A run in which no answer is ever right, and every completion earns the same of these functions."""
    given = {name: [told.high or 0.0] * SIZE for name, told in beside.items()}
    functions = {**({} if alone else {"correctness": ZERO}), **beside}
    seen = scored(correctness=[0.0] * SIZE, **given)
    value = sum(told.weight * (told.high or 0.0) for told in beside.values())
    curves = ALL_TIED | {"reward": line(value, value, 0.001), "rewards/correctness/mean": line(0, 0)}
    curves |= {f"rewards/{name}/mean": line(told.high or 0.0, told.high or 0.0) for name, told in beside.items()}
    rewards = [RewardSpec(name=name, weight=told.weight) for name, told in functions.items()]
    found = healthy(curves=curves, rewards=rewards, first=seen, last=seen, low=value, high=value, ended=True, **changed)
    return replace(found, functions=functions)


def gives(value: float, *, weight: float = 1.0, tells_right: bool = False) -> Function:
    return Function(weight, {"ok": 256}, value, value, 0.0, (value, value), tells_right=tells_right)


BLOCKS = {"blocks": gives(1 / 6, tells_right=True)}


@pytest.mark.parametrize("beside", [
    {"mine": gives(0.5)}, {"length": gives(1.0)}, {"penalty": gives(1.0, weight=-0.2)}, {"format": ZERO, **BLOCKS},
], ids=["a constant", "length that all earn", "a penalty all get", "blocks"])  # fmt: skip
def test_a_part_of_the_reward_that_all_earn_does_not_hide_that_all_failed(beside: dict[str, Function]) -> None:
    first = examine(never_right(beside)).verdicts[0]
    assert (first.key, first.level, first.title) == ("too_hard", "problem", "The prompts are too hard")
    assert "In most of these groups “correctness” scores no completion right, and all earn the same" in first.sentence


def test_ties_recorded_as_failed_are_said_in_the_same_words() -> None:
    """Where every completion earned the same and none is right, the record calls these ties failed."""
    e = never_right({"mine": gives(0.5)})
    failed = {"groups/all_low": line(1, 1), "groups/all_high": line(0, 0)}
    first = examine(replace(e, curves={**e.curves, **failed})).verdicts[0]
    assert "In most of these groups “correctness” scores no completion right, and all earn the same" in first.sentence


def test_blocks_that_would_tell_right_answers_apart_are_not_blamed_for_saying_the_same() -> None:
    assert [one.title for one in examine(never_right({"format": ZERO, **BLOCKS})).verdicts] == [
        "The prompts are too hard"
    ]
    alone = examine(never_right(BLOCKS, alone=True, gives_one=True)).verdicts
    assert [one.title for one in alone] == ["The prompts are too hard"]
    plain = examine(never_right({"mine": gives(0.5)})).verdicts
    assert [one.title for one in plain] == ["The prompts are too hard", "mine gives every completion the same score"]


def test_blocks_that_give_another_score_now_and_then_are_not_blamed_either() -> None:
    """As it was seen: 98 % had 0.17, and “richtig_und_kurz gives nearly every completion the same score”."""
    e = never_right({"format": ZERO, **BLOCKS})
    some = [replace(one, scores={**one.scores, "blocks": 0.0}) if one.grp == one.idx == 0 else one
            for one in e.last]  # fmt: skip
    low = Function(1.0, {"ok": 256}, 0.0, 1 / 6, 0.01, (0.0, 1 / 6), tells_right=True)
    changed = {"last": some, "functions": {**e.functions, "blocks": low}, "low": 0.0}
    assert [one.key for one in examine(replace(e, **changed)).verdicts] == ["too_hard"]
    unknown = {**e.functions, "blocks": Function(1.0, {"ok": 256}, 0.0, 1 / 6, 0.01, (0.0, 1 / 6))}
    said = examine(replace(e, **{**changed, "functions": unknown})).verdicts
    nearly = "blocks gives nearly every completion the same score"
    assert [one.title for one in said][:2] == ["The prompts are too hard", nearly]


def test_groups_that_tie_with_right_answers_are_not_called_too_hard() -> None:
    right = {"groups/solved": line(0.9, 1), "groups/any_solved": line(0.95, 1)}
    e = never_right({"mine": gives(0.5)})
    assert examine(replace(e, curves={**e.curves, **right})).verdicts[0].key != "too_hard"


def test_a_record_of_blocks_that_all_failed_says_that_the_prompts_are_too_hard(tmp_path: Path) -> None:
    """As the walk's run was: 12 steps of the starter on exercises; “Groups of 16” was said of it."""
    writer, seen = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "correctness": 1.0, "blocks": 1.0}), None
    for step in range(1, 13):
        groups = [_exercise(step, at) for at in range(8)]
        seen = group_metrics.widen_range(seen, groups)
        metrics = {**group_metrics.metrics_of_groups(groups, seen, 1, tells_right=True), "reward": _mean(groups, -1)}
        metrics |= {f"rewards/{name}/mean": _mean(groups, at) for at, name in enumerate(("format", "correctness"))}
        writer.commit(step, metrics=metrics | {"rewards/blocks/mean": _mean(groups, 2)}, groups=groups)
    writer.close()
    (tmp_path / "rewards").mkdir()
    blocks = [Block("number_equals", {"column": "answer"}), Block("length_between", {"most": 12, "unit": "words"}, 0.2)]
    (tmp_path / "rewards" / "blocks.py").write_text(to_code("blocks", blocks, ""), encoding="utf-8")
    e = gather(tmp_path / "run.db", spec.parse_spec(WRITTEN))
    assert [told.tells_right for told in e.functions.values()] == [False, True, True]
    first = examine(replace(e, ended=True)).verdicts[0]
    assert (first.key, first.title) == ("too_hard", "The prompts are too hard") and "only do sums" in first.sentence
    assert first.changes[0].label == "Another model"


def _exercise(step: int, at: int) -> Group:
    """A group of which no completion is right; in one of the first step all say too much, in one of the last one is
    right."""
    part = 0.0 if (step, at) == (1, 0) else 1 / 6
    scores = [[0.0, 1.0, 1.0] if (step, at, one) == (11, 0, 0) else [0.0, 0.0, part] for one in range(SIZE)]
    told = [
        Completion(f"{step}.{at}.{one}", 5, False, sum(given), 0.0, [(score, "ok") for score in given])
        for one, given in enumerate(scores)
    ]
    prompt = [{"role": "user", "content": f"Exercise {step}.{at}"}]
    return Group("train", step, prompt, {"answer": f"{step * 8 + at}"}, told)


def _mean(groups: list[Group], at: int) -> float:
    every = [one for group in groups for one in group.completions]
    scored = [(one.reward if at < 0 else one.scores[at][0]) or 0.0 for one in every]
    return sum(scored) / len(scored)
