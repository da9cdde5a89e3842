"""The workbench's mathematics, held against TRL's own code: advantages, ties, agreement, histograms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groupwise.worker.questions.workbench import analysis, compare
from tests.support.runs import make_spec, queue

NAN = math.nan
SIZE, GROUPS = 4, 6
GIVEN: list[list[list[float | None]]] = [[]]  # what the trainer's two functions return next


def first(completions: list[Any], **rest: Any) -> list[float | None]:
    return GIVEN[0][0]


def second(completions: list[Any], **rest: Any) -> list[float | None]:
    return GIVEN[0][1]


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real GRPOTrainer on the starter, whose two functions return what a test gives them."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from groupwise.storage.home import paths
    from groupwise.storage.registry import registry
    from groupwise.worker.builtin import models

    place = tmp_path_factory.mktemp("trainer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place / "home"))
        paths.prepare()
        registry.open_registry()
        spec = make_spec()
        queue(spec)
        model, tokenizer = models.load_model(spec.model, use_cpu=True)
    config = GRPOConfig(
        output_dir=str(place), per_device_train_batch_size=SIZE * GROUPS, num_generations=SIZE, max_completion_length=2,
        use_cpu=True, bf16=False, report_to="none", disable_tqdm=True, reward_weights=[0.7, 2.0],
    )  # fmt: skip
    rows = Dataset.from_list([{"prompt": [{"role": "user", "content": f"{n}+1?"}]} for n in range(GROUPS)])
    yield GRPOTrainer(
        model=model, processing_class=tokenizer, reward_funcs=[first, second], args=config, train_dataset=rows
    )


def as_trl(trainer: Any, scores: list[list[float | None]], **settings: str) -> list[float]:
    """The advantages that TRL itself computes for these scores (one list per function)."""
    for name, value in settings.items():
        setattr(trainer, name, value)
    GIVEN[0] = scores
    trainer.model.train()
    inputs = [{"prompt": [{"role": "user", "content": f"{n}+1?"}]} for n in range(GROUPS) for _ in range(SIZE)]
    found: list[float] = trainer._generate_and_score_completions(inputs)["advantages"].tolist()
    return found


def scores_of(kind: str, seed: int) -> list[list[float | None]]:
    """Two functions' scores for all completions, in a way that matters to advantages."""
    rng = np.random.default_rng(seed)
    rows = SIZE * GROUPS
    if kind == "random":
        return [rng.normal(size=rows).tolist(), rng.uniform(-3, 3, size=rows).tolist()]
    if kind == "ties":
        return [np.repeat(rng.integers(0, 2, GROUPS), SIZE).astype(float).tolist(), [0.0] * rows]
    holes = [[None if rng.random() < 0.5 else float(rng.integers(0, 3)) for _ in range(rows)] for _ in range(2)]
    for row in (0, 5, 6, 8, 9, 10, 12, 13, 14, 15):  # one alone, two, all but one, and a whole group without a score
        holes[0][row] = holes[1][row] = None
    return holes


@pytest.mark.parametrize(
    ("scale", "aggregation"),
    [(scale, "sum_then_normalize") for scale in ("group", "batch", "none")] + [("group", "normalize_then_sum")],
)
@pytest.mark.parametrize("kind", ["random", "ties", "holes"])
def test_advantages_are_those_that_trl_computes(trainer: Any, kind: str, scale: str, aggregation: str) -> None:
    given = scores_of(kind, 1)
    theirs = as_trl(trainer, given, scale_rewards=scale, multi_objective_aggregation=aggregation)
    scores = np.array([[NAN if value is None else value for value in column] for column in given]).T
    starts = np.arange(0, SIZE * GROUPS, SIZE)
    ours = analysis.advantages(scores, np.array([0.7, 2.0]), starts, scale, aggregation)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_a_history_of_several_batches_is_scaled_batch_by_batch(trainer: Any) -> None:
    starts = np.arange(0, 2 * SIZE * GROUPS, SIZE)
    parts = [scores_of("random", 1), scores_of("holes", 2)]
    settings = {"scale_rewards": "batch", "multi_objective_aggregation": "sum_then_normalize"}
    theirs = [value for part in parts for value in as_trl(trainer, part, **settings)]
    scores = np.concatenate([np.array(part, dtype=float).T for part in parts])
    batches = analysis.per_batch(starts, len(scores), [0] * GROUPS + [1] * GROUPS)
    ours = analysis.advantages(scores, np.array([0.7, 2.0]), starts, "batch", batches=batches)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_a_total_leaves_out_what_gave_no_score_and_is_none_where_nothing_did() -> None:
    found = analysis.total_rewards(np.array([[1.0, 2.0], [NAN, 2.0], [NAN, NAN]]), np.array([1.0, 0.5]))
    np.testing.assert_equal(found, [2.0, 1.0, NAN])


def test_groups_of_different_sizes_are_each_their_own() -> None:
    scores = np.array([[1.0], [0.0], [3.0], [3.0], [6.0], [9.0]])
    found = analysis.advantages(scores, np.ones(1), np.array([0, 2, 5]), "none")
    np.testing.assert_allclose(found, [0.5, -0.5, -1, -1, 2, 0])


def test_ties_are_told_apart_by_where_they_lie() -> None:
    low, high, between, bears = [0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 2.0]
    rewards = np.array([*low, *high, *between, *bears, NAN, 1.0])
    counts, kinds = analysis.ties(rewards, np.arange(0, 10, 2))
    assert kinds == ["all_low", "all_high", "other", None, "unscored"]
    assert counts == {
        "groups": 5, "tied": 3, "all_low": 1, "all_high": 1, "other": 1, "unscored": 1, "bearing": 1,
    }  # fmt: skip


def test_only_the_most_that_is_possible_is_at_the_top_where_that_is_known() -> None:
    same, starts = np.full(4, 0.5), np.array([0, 2])
    assert analysis.ties(same, starts, 1.0)[1] == ["other"] * 2
    assert analysis.ties(same, starts, 0.5)[1] == ["all_high"] * 2
    right = analysis.right_of_groups(np.array([0.0, 0.5, NAN, NAN]), starts, 1.0)
    assert right == [(True, False), (False, False)]
    assert analysis.ties(same, starts, 1.0, right)[1] == ["all_low", "other"]


@pytest.mark.parametrize(("value", "kind"), [(0.0, "all_low"), (1.0, "other"), (-1.0, "other")])
def test_where_everything_is_the_same_there_is_no_top_unless_it_is_known(value: float, kind: str) -> None:
    same, starts = np.full(4, value), np.array([0, 2])
    assert analysis.ties(same, starts)[1] == [kind, kind]
    assert analysis.ties(same, starts, 1.0)[1] == [kind if value < 1 else "all_high"] * 2


def test_a_penalty_that_nobody_got_is_a_tie_at_the_top() -> None:
    assert analysis.ties(np.array([0.0, 0.0, -1.0, 0.0]), np.array([0, 2]))[1] == ["all_high", None]


def test_agreement_is_pearsons_and_the_shares_make_one() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(200, 2))
    scores = np.column_stack([scores, scores[:, 0] * -3, np.ones(200)])
    found = analysis.agreement(["a", "b", "c", "d"], scores, np.array([1.0, 2.0, 0.5, 1.0]))
    assert found["correlation"][0][1] == pytest.approx(np.corrcoef(scores[:, 0], scores[:, 1])[0, 1])
    assert found["correlation"][0][2] == pytest.approx(-1)
    assert found["correlation"][0][3] is None and found["correlation"][3][3] is None
    assert sum(found["variance_share"].values()) == pytest.approx(1)
    assert found["variance_share"]["d"] == pytest.approx(0)


def test_nothing_to_agree_about_is_none() -> None:
    found = analysis.agreement(["a"], np.full((3, 1), NAN), np.ones(1))
    assert found == {"names": ["a"], "correlation": [[None]], "variance_share": {"a": None}}


def test_a_histogram_counts_every_value_once() -> None:
    values = np.array([0.0, 0.5, 1.0, 1.0, NAN])
    edges = analysis.edges(values)
    assert sum(analysis.count_in_bins(values, edges)) == 4 and (edges[0], edges[-1]) == (0.0, 1.0)
    assert analysis.count_in_bins(np.array([2.0, 2.0]), analysis.edges(np.array([2.0, 2.0]))) == [2]
    assert analysis.edges(np.array([NAN])) == [] and analysis.count_in_bins(np.array([NAN]), []) == []


def test_flips_and_ranks_are_counted_within_groups() -> None:
    old, new = np.array([1.0, 0.0, 2.0, 2.0, 5.0]), np.array([0.0, 1.0, 2.0, 3.0, 1.0])
    starts = np.array([0, 2])
    assert compare.ranks(old, new, starts) == {"pairs": 3, "swapped": 3, "share": 1.0, "parted": 1, "merged": 0}
    found = compare.flips(np.array([1.0, -1.0, 0.0, 0.5]), np.array([-1.0, -2.0, 1.0, 0.0]))
    assert found == {"total": 4, "flipped": 1, "share": 0.25, "gained": 1, "lost": 1}


def test_a_curve_over_many_steps_has_few_points(tmp_path: Path) -> None:
    steps = np.arange(1, 2001)
    rewards = np.repeat(steps.astype(float), 2)
    found = compare.by_step(steps, rewards, rewards * 2, np.arange(0, 4000, 2))
    assert len(found["step"]) == len(found["old"]) == len(found["new_bearing"]) == compare.BUCKETS
    assert found["old"][0] == pytest.approx(2.5) and found["new"][-1] == pytest.approx(2 * 1998.5)
    assert found["old_bearing"][0] == 0.0
