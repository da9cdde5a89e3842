"""The mathematics of the statistics, worked out by hand, by counting all cases, or held against the workbench's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.analysis.statistics import agreement, buckets, counting, pass_at_k, ties
from groupwise.storage.analysis.statistics.pass_at_k import PromptRate, Solved
from groupwise.storage.analysis.statistics.ties import GroupRow
from groupwise.storage.record.group_metrics import Standing
from groupwise.worker.questions.workbench import analysis


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_all_draws_with_a_right_one(case: tuple[int, int, int]):
    n, c, k = case
    draws = list(itertools.combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k.pass_at(k, n, c) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


def test_pass_at_k_leaves_out_the_groups_that_are_too_small_for_it():
    found = pass_at_k.pass_over_steps([Solved(1, 1, 2, 1), Solved(1, 1, 6, 0)], buckets.buckets(1, 1, 10))
    assert found["k"] == [1, 2, 4, 6]
    assert [rates[0] for rates in found["rates"]] == [pytest.approx(0.25), pytest.approx(0.5), 0.0, 0.0]
    assert found["groups"] == [2]


@given(st.integers(0, 50), st.integers(0, 5000), st.integers(1, 60), st.integers(1, 400))
def test_every_step_is_in_one_stretch_and_there_are_no_more_than_asked_for(
    first: int, more: int, most: int, distinct: int
):
    made = buckets.buckets(first, first + more, most, min(distinct, more + 1))
    assert made.count <= most and len(made.edges()) == made.count + 1
    covered = [step for low, high in made.all_steps() for step in (low, high)]
    assert covered == sorted(covered) and (covered[0], covered[-1]) == (first, first + more)
    for step in (first, first + more // 2, first + more):
        low, high = made.steps(made.of(step))
        assert low <= step <= high


def test_stretches_are_round_and_not_shorter_than_what_comes_between_two_steps_that_have_groups():
    assert buckets.buckets(1, 100, 60).all_steps()[:2] == [(1, 2), (3, 4)]
    assert buckets.buckets(50, 1000, 60, distinct=20).size == 50


def test_few_values_have_a_bin_each_and_many_share_them():
    exact = buckets.bins([3.0, 0.0, 1.0], 0.0, 3.0)
    assert exact.all_bounds() == [(0.0, 0.0), (1.0, 1.0), (3.0, 3.0)]
    assert [exact.of(value) for value in (0.0, 1.0, 3.0)] == [0, 1, 2]
    shared = buckets.bins([n / 100 for n in range(13)], 0.0, 24.0)
    assert shared.count == 24 and [shared.of(value) for value in (-1.0, 0.0, 23.9, 24.0, 99.0)] == [0, 0, 23, 23, 23]
    assert buckets.bins([], 2.0, 2.0).of(2.0) == 0
    assert buckets.whole_bins(3, 5).all_bounds() == [(2.5, 3.5), (3.5, 4.5), (4.5, 5.5)]


def row(step: int, low: float, high: float, mode: str = "train") -> GroupRow:
    return GroupRow(step, mode, (low + high) / 2, (high - low) / 2, low, high)


def test_a_tie_is_low_or_high_by_what_the_run_had_seen_until_then():
    rows = [row(1, 1, 1), row(2, 0, 2), row(3, 1, 1), row(3, 2, 2), row(4, 5, 5, "eval"), row(5, 2, 2), row(5, 0, 0)]
    found = ties.explain_ties(rows, "train")
    assert [group.kind for group in found] == ["other", "", "other", "all_high", "other", "all_low"]
    assert ties.counts(found) == {
        "groups": 6,
        "tied": 5,
        "all_low": 1,
        "all_high": 1,
        "other": 3,
        "no_answer": 0,
        "bearing": 1,
    }
    assert ties.explain_ties([row(1, 0, 0)._replace(std=None)], "train") == []
    same = [row(1, 0.3, 0.3), row(2, 0.3, 0.3)]
    wrong = [one._replace(standing=Standing(none_right=True)) for one in same]
    assert [one.kind for one in ties.explain_ties(wrong, "train")] == ["all_low"] * 2
    paid = [row(1, 0, 2), row(2, 2, 2), row(3, 1, 1)]
    unpaid = [one._replace(standing=Standing(none_right=True)) for one in paid]
    assert [one.kind for one in ties.explain_ties(unpaid, "train")] == [
        "", "all_low", "all_low"
    ], "the most that was seen is for the rest"  # fmt: skip
    assert [one.kind for one in ties.explain_ties(same, "train")] == ["other"] * 2
    least = [row(1, 2, 3), row(2, 2, 2)._replace(standing=Standing(all_right=True)), row(3, 2, 2)]
    assert [one.kind for one in ties.explain_ties(least, "train")] == ["", "other", "all_low"]  # right is not failed
    lacking = [row(1, 0, 2), row(2, 0, 0)._replace(standing=Standing(none_right=True, no_answer=True))]
    assert [one.kind for one in ties.explain_ties(lacking, "train")] == ["", "no_answer"]
    alone = ties.explain_ties([*lacking[1:], row(3, 0, 0)], "train")
    assert [one.kind for one in alone] == ["no_answer", "all_low"]


def test_over_the_steps_shares_and_means_are_of_each_stretch():
    found = ties.ties_over_steps(
        ties.explain_ties([row(1, 0, 0), row(1, 0, 4), row(2, 2, 4)], "train"), buckets.buckets(1, 2, 5)
    )
    assert found["steps"] == [(1, 1), (2, 2)] and found["groups"] == [2, 1]
    assert found["all_low"] == [0.5, 0] and found["bearing"] == [0.5, 1]
    assert (
        found["spread"] == [1, 1] and found["best"] == [2, 4] and found["worst"] == [0, 2] and found["mean"] == [1, 3]
    )


PROMPTS = [
    Solved(1, 1, 4, 0), Solved(2, 1, 4, 0),  # never
    Solved(1, 2, 4, 1), Solved(3, 2, 4, 4),  # learned
    Solved(1, 3, 4, 3), Solved(4, 3, 4, 0),  # forgotten
    Solved(2, 4, 4, 4),  # always, once
]  # fmt: skip


def named(order: str) -> list[int]:
    return [one.prompt for one in pass_at_k.pick(pass_at_k.by_prompt(PROMPTS), order, 10)[0]]


def test_prompts_are_picked_by_what_was_solved_lately_before_and_no_more():
    assert pass_at_k.by_prompt(PROMPTS)[1] == PromptRate(2, 2, 0.625, 0.25, 1.0, 1.0, 0.25)
    assert named("hardest") == [1, 3, 2, 4]  # of the same late rate the one less often solved in all
    assert set(named("easiest")[:2]) == {2, 4} and named("easiest")[-1] == 1
    assert named("improved") == [2] and named("forgotten") == [3]
    assert pass_at_k.pick(pass_at_k.by_prompt(PROMPTS), "hardest", 1)[1] == 4
    assert pass_at_k.cells(PROMPTS, buckets.buckets(1, 4, 4))[2] == [0.25, None, 1.0, None]


def test_a_heat_map_counts_each_cell_and_its_share_of_the_column():
    found = counting.heat(
        [(0, 0.0, 3), (0, 1.0, 1), (2, 1.0, 5)], buckets.buckets(1, 3, 3), buckets.bins([0.0, 1.0], 0, 1)
    )
    assert found["counts"] == [[3, 0, 0], [1, 0, 5]] and found["share"] == [[0.75, None, 0.0], [0.25, None, 1.0]]
    assert found["x"] == [0.5, 1.5, 2.5, 3.5] and found["y"] == [-0.5, 0.5, 1.5]
    across = buckets.whole_bins(1, 2)
    assert counting.plane([(1, 0.0), (2, 1.0), (2, 1.0)], across, buckets.bins([0.0, 1.0], 0, 1))["counts"] == [
        [1, 0],
        [0, 2],
    ]
    assert counting.histogram([0.0, 1.0, 1.0], buckets.bins([0.0, 1.0], 0, 1))["counts"] == [1, 2]


SCORE = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0]))


@given(st.lists(st.tuples(SCORE, SCORE, SCORE), min_size=2, max_size=40))
def test_agreement_is_what_the_workbench_says_of_the_same_scores(rows: list[tuple[float | None, ...]]):
    weights = [1.0, 2.0, -0.5]
    scores = np.array([[math.nan if score is None else score for score in row] for row in rows], dtype=np.float64)
    held = analysis.agreement(["a", "b", "c"], scores, np.array(weights))
    columns = list(zip(*rows, strict=True))
    for a, b in itertools.combinations(range(3), 2):
        assert agreement.pearson(columns[a], columns[b]) == pytest.approx(held["correlation"][a][b], abs=1e-9)
    assert agreement.variance_shares(rows, weights) == pytest.approx(list(held["variance_share"].values()), abs=1e-9)


def test_correlation_is_numpys_and_there_is_none_with_what_never_changes():
    xs, ys = [1.0, 2.0, 4.0, None], [2.0, 1.0, 9.0, 5.0]
    assert agreement.pearson(xs, ys) == pytest.approx(np.corrcoef(xs[:3], ys[:3])[0, 1])  # type: ignore[arg-type]
    assert agreement.pearson([1.0, 1.0], [0.0, 5.0]) is None and agreement.pearson([1.0, None], [None, 2.0]) is None


def test_agreement_over_the_steps_leaves_out_stretches_with_too_few_completions():
    rows = [(1, (float(n % 2), float(n % 2))) for n in range(8)] + [(2, (1.0, 0.0))]
    found = agreement.agreement_over_steps(rows, [[1.0, 1.0], [1.0, 1.0]], buckets.buckets(1, 2, 2))
    assert found["steps"] == [(1, 1)] and found["correlation"] == [[pytest.approx(1.0)]]
    assert found["share"] == [[pytest.approx(0.5)], [pytest.approx(0.5)]]
