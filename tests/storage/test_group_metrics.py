"""What a step's groups say: ties and their kinds, spread, solved, alike, repetition; worked out by hand here."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from groupwise.storage.record import group_metrics
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.spec.spec import AdaptSpec, RewardSpec
from tests.support.records import WEIGHTS, group, rows


def made(*rewards: float | None, texts: list[str] | None = None) -> Group:
    """A group whose second score is whether the reward is 2 or more."""
    written = texts or [f"answer {n}" for n in range(len(rewards))]
    completions = [
        Completion(text, 3, False, reward, 0.0, [(0.5, "ok"), (None if reward is None else float(reward >= 2), "ok")])
        for text, reward in zip(written, rewards, strict=True)
    ]
    return Group("train", 1, "?", {}, completions)


def test_ties_are_counted_by_where_their_reward_lies_in_the_run():
    groups = [made(0, 0, 0), made(3, 3, 3), made(1, 1, 1), made(0, 1, 3)]
    found = group_metrics.metrics_of_groups(groups, (0.0, 3.0), 1)
    shares = [found[f"groups/{name}"] for name in ("tied", "all_low", "all_high", "tied_other", "bearing")]
    assert shares == [0.75, 0.25, 0.25, 0.25, 0.25]
    # the same reward is no longer the highest once the run has seen a higher one
    assert group_metrics.metrics_of_groups([made(3, 3)], (0.0, 4.0), None)["groups/tied_other"] == 1.0


def test_one_score_alone_is_no_top_and_no_lowest_unless_it_is_known_what_is_right():
    """Overview said “all at top score 100 %” of a run in which every completion earned 0.5."""

    def shares(value: float, **known: bool) -> list[float | None]:
        found = group_metrics.metrics_of_groups([made(*[value] * 3)] * 2, (value, value), 1, **known)
        return [found[f"groups/{name}"] for name in ("all_low", "all_high", "tied_other")]

    low, high, other = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
    assert [shares(value) for value in (0.5, 0.01, -1.0, 2.0)] == [other] * 4
    assert shares(0.0) == low, "nothing was earned"
    assert shares(1, tells_right=True) == low, "their second score is 0"
    assert shares(2, tells_right=True) == other, "it gave everything the same, which may be for anything"
    assert shares(2, tells_right=True, by_answer=True) == high


def test_a_group_in_which_none_is_right_failed_though_it_earned_the_most_that_was_seen():
    """As it was seen: “calls no completion right” beside “all highest seen 50 %, tied in between 47 %, all failed 0 %”,
    where a part for length paid up to 0.5."""
    groups = [made(1, 1, 1), made(0.5, 0.5), made(2, 2), made(0, 1)]  # of 2 and more the second score is 1
    found = group_metrics.metrics_of_groups(groups, (0.0, 3.0), 1, tells_right=True)
    assert [found[f"groups/{name}"] for name in ("all_low", "all_high", "tied_other")] == [0.5, 0.0, 0.25]
    unscored = Group("train", 1, "?", {}, [Completion("", 1, False, 1.0, 0.0, [(0.5, "ok"), (None, "none")])] * 2)
    assert group_metrics.metrics_of_groups([unscored], (0.0, 1.0), 1, tells_right=True)["groups/all_high"] == 1.0


def test_a_group_whose_row_has_no_answer_did_not_fail():
    """It was counted as “none right” in the chart, and as “no answer in row” in Groups."""
    nothing = [Completion(f"{n}", 1, False, 0.0, 0.0, [(0.0, "ok"), (None, "none")]) for n in range(2)]
    lacking, wrong = Group("train", 1, "?", {"answer": " "}, nothing), made(0, 0)
    groups = [lacking, Group("train", 1, "?", {"answer": None}, nothing), wrong, made(0, 3)]
    found = group_metrics.metrics_of_groups(groups, (0.0, 3.0), 1, tells_right=True)
    assert [found[f"groups/{name}"] for name in ("tied", "all_low", "no_answer")] == [0.75, 0.25, 0.5]
    for columns in ({"answer": "5"}, {}):
        failed = Group("train", 1, "?", columns, nothing)
        assert group_metrics.metrics_of_groups([failed], (0.0, 3.0), 1)["groups/no_answer"] == 0.0
    assert group_metrics.metrics_of_groups([wrong], (0.0, 3.0), 1)["groups/no_answer"] == 0.0


def test_a_group_in_which_all_is_right_did_not_fail_though_it_earned_the_least_that_was_seen():
    """“all failed … the prompt may be too hard” stood beside “8/8 right”."""
    found = group_metrics.metrics_of_groups([made(2, 2), made(3, 3)], (2.0, 3.0), 1, tells_right=True)
    assert [found[f"groups/{name}"] for name in ("all_low", "all_high", "tied_other")] == [0.0, 0.5, 0.5]


def test_differences_that_trl_calls_none_are_ties():
    assert group_metrics.kind([1.0, 1.0 + 1e-9], (0.0, 2.0)) == "other"
    assert group_metrics.kind([1.0, 1.0 + 1e-6], (0.0, 2.0)) is None


def test_spread_best_and_worst_are_means_over_groups():
    found = group_metrics.metrics_of_groups([made(0, 2), made(1, 1), made(5, None)], (0.0, 5.0), 1)
    assert found["groups/spread"] == pytest.approx(math.sqrt(2) / 2)  # a group of one score has no spread
    assert (found["groups/best"], found["groups/worst"]) == (pytest.approx(8 / 3), pytest.approx(6 / 3))


def test_solved_is_told_by_the_target_function_of_what_it_scored():
    found = group_metrics.metrics_of_groups([made(0, 2, 3, None), made(0, 1, 0, 1)], (0.0, 3.0), 1, 1.0)
    assert (found["groups/solved"], found["groups/any_solved"]) == (2 / 7, 0.5)
    without = group_metrics.metrics_of_groups([made(None, None), made(2, 0)], (0.0, 3.0), 1, 1.0)
    assert (without["groups/solved"], without["groups/any_solved"]) == (0.5, 1.0)
    assert "groups/solved" not in group_metrics.metrics_of_groups([made(None, None)], None, 1)
    assert "groups/solved" not in group_metrics.metrics_of_groups([made(0, 2)], (0.0, 2.0), None)


def test_what_the_run_has_seen_widens_with_each_step():
    assert group_metrics.widen_range(None, [made(None)]) is None
    assert group_metrics.widen_range(None, [made(1, 2), made(0, math.inf)]) == (0, 2)
    assert group_metrics.widen_range((0.5, 3.0), [made(1, 2)]) == (0.5, 3.0)


def test_nothing_scored_says_nothing_of_rewards():
    found = group_metrics.metrics_of_groups([made(None, None)], None, 1)
    assert found == {"groups/alike": 0.0}


def test_alike_counts_the_very_same_texts():
    found = group_metrics.metrics_of_groups([made(0, 1, 2, 3, texts=["a", "a", "b", "a"])], (0.0, 3.0), None)
    assert found["groups/alike"] == 0.75


def test_repetition_is_told_of_long_texts_only():
    assert group_metrics.repetition_share("ab" * 50) is None
    sentence = "The quick brown fox jumps over the lazy dog while 17 judges sit and watch how it all turns out, again. "
    varied = "".join(f"{n * 7919 % 10_007} {sentence[n % 50 :][:9]}" for n in range(60))
    looped = group_metrics.repetition_share(sentence * 40)
    some = group_metrics.repetition_share(varied)
    assert looped is not None and some is not None and looped > 0.9 > 0.6 > some


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([("format", 1.0), ("correctness", 2.0)], ("correctness", 1.0)),
        ([("correctness", 1.0), ("format", 1.0)], ("correctness", 1.0)),
        ([("format", 1.0), ("correctness", 1.0), ("length", 1.0)], ("correctness", 1.0)),
        ([("correctness", 1.0), ("length", 1.5)], ("correctness", 1.0)),
        ([("format", 2.0), ("correctness", 0.5)], ("correctness", 1.0)),
        ([("correctness", 0.0), ("format", 1.0)], ("correctness", 1.0)),
        ([("logs_only", 0.0), ("format", 1.0)], None),
        ([("correctness", 1.0), ("my_own", 1.0)], ("correctness", 1.0)),
        ([("correctness", 1.0), ("my_own", 2.0)], ("my_own", 1.0)),
        ([("my_own", 1.0), ("length", 1.0)], ("my_own", 1.0)),
        ([("length", 1.0)], None),
        ([("one", 1.0), ("other", 1.0)], ("other", 1.0)),
        ([("length", 1.0), ("format", 1.0)], None),
        ([("only", -1.0)], ("only", 1.0)),
    ],
)
def test_the_heaviest_function_that_looks_at_more_than_form_tells_what_is_solved(
    rewards: list[tuple[str, float]], expected: tuple[str, float] | None
):
    assert group_metrics.target([RewardSpec(name=name, weight=weight) for name, weight in rewards]) == expected


def test_what_adapts_says_itself_what_success_is():
    reward = RewardSpec(name="graded", adapt=AdaptSpec(success=0.5))
    assert group_metrics.target([reward]) == ("graded", 0.5)


def test_the_record_knows_its_range_and_its_words(tmp_path: Path):
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, WEIGHTS)
    assert writer.reward_range() is None
    writer.commit(1, groups=[group(1, [0.0, 1.5]), group(1, [None, 1.0])], metrics={"time/elapsed": 2.0})
    writer.commit(2, metrics={"time/elapsed": 4.0})
    assert writer.reward_range() == (0.0, 1.5)
    assert (writer.last_value("time/elapsed", 1), writer.last_value("time/elapsed", 9)) == (2.0, 4.0)
    assert writer.last_value("nothing", 9) is None
    writer.close()
    sql = "SELECT completion.id FROM completion_text JOIN completion ON id = completion_text.rowid "
    found = rows(path, f"{sql} WHERE completion_text MATCH 'answer AND 1'")
    assert found == rows(path, "SELECT id FROM completion WHERE text = 'answer 1'") and len(found) == 2
