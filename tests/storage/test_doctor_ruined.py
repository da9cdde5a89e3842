"""A model that a far too high learning rate ruined writes on to the limit: that is the rate's doing."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Function, Sample
from groupwise.storage.analysis.doctor.examine import Report, examine
from tests.support.doctor import drawn, healthy, line


def first_said(first: float, rate: float) -> str:
    """The first verdict's title: nearly all are cut off, `first` of them at the start, and the reward fell."""
    cut = drawn(lambda share: first if share < 0.05 else 0.98)
    fell = drawn(lambda share: 1.6 if share < 0.3 else 0.02)
    curves = {"completions/clipped_ratio": cut, "reward": fell}
    return examine(healthy(curves=curves, training={"learning_rate": rate})).verdicts[0].title


def test_completions_that_came_to_be_cut_off_at_a_far_too_high_rate_do_not_hide_it() -> None:
    """Of a run at 0.003, 34 % were cut off at its first step and 98 % at the end: a higher limit was offered."""
    assert first_said(0.34, 0.003) == "The learning rate is too high"
    assert first_said(0.9, 0.003) == "Completions are cut off", "so they were before the rate did anything"
    assert first_said(0.34, 1e-4) == "Completions are cut off"


def with_nothing_to_lose(rate: float, **curves: Any) -> Report:
    """What is said where no prompt was ever solved, KL is 5 and one text is given whatever is asked."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    same = [Sample(at // 8, at % 8, 60, "4" * 48, 0.0, f"{at // 8}+1?", 48, True) for at in range(128)]
    known = {
        "kl": drawn(lambda share: 5.0 if share > 0.03 else 0.0), "entropy": drawn(lambda x: 0.0 if x > 0.05 else 0.41),
        "reward": line(0, 0), "groups/tied": line(1, 1), "groups/all_low": line(1, 1), "groups/all_high": line(0, 0),
        "groups/solved": line(0, 0), "groups/any_solved": line(0, 0), "rewards/format/mean": line(0, 0),
        "rewards/correctness/mean": line(0, 0), **curves,
    }  # fmt: skip
    return examine(
        healthy(
            curves=known, functions={"format": never, "correctness": never}, training={"learning_rate": rate},
            last=same, low=0.0, high=0.0,
        )
    )  # fmt: skip


def test_a_ruined_model_that_had_nothing_to_lose_is_told_by_kl_and_entropy() -> None:
    """At a learning rate of 1, KL 5 and entropy 0: “the prompts are too hard” came first, the rate was a warning."""
    first, *others = with_nothing_to_lose(1.0).verdicts
    assert (first.key, first.level, first.title) == ("learning_rate_high", "problem", "The learning rate is too high")
    assert first.sentence == (
        "KL has risen to 5.00 and entropy fell from 0.41 to 0: steps at a learning rate of 1 are too large and have "
        "ruined the model. It now gives much the same text whatever it is asked."
    )
    assert first.changes[0].settings == {"training.learning_rate": 1e-4}
    assert "kl" not in {one.key for one in others}, "it came of the rate"
    assert "too_hard" in {one.key for one in others}, "so they were before the rate did anything"


def test_without_kl_entropy_tells_that_the_model_is_ruined() -> None:
    assert with_nothing_to_lose(1.0, kl=None).verdicts[0].title == "The learning rate is too high"


def test_a_rate_is_not_blamed_for_a_model_that_is_not_ruined() -> None:
    """A usual rate; or one that moved the model little; or a reward that rose."""
    for report in (
        with_nothing_to_lose(1e-4),
        with_nothing_to_lose(1.0, kl=line(0, 0.05), entropy=line(0.4, 0.3)),
        with_nothing_to_lose(1.0, reward=line(0.2, 0.9, 0.02)),
    ):
        assert "learning_rate_high" not in {one.key for one in report.verdicts}


def with_answers_lost(rate: float, **training: float) -> Report:
    """What is said of a run that is over, whose held-out prompts are answered 55 % right at first and 2 % at its end,
    while the reward stays: KL is 0.26 from the first steps on."""
    curves = {
        "kl": drawn(lambda share: 0.26 if share > 0.03 else 0.0), "reward": line(0.87, 0.87, 0.01),
        "eval_groups/solved": Curve.of((0, 60), (0.55, 0.02)), "rewards/format/mean": line(0.5, 0.5, 0.01),
    }  # fmt: skip
    return examine(healthy(curves=curves, ended=True, training={"learning_rate": rate, **training}))


def test_a_rate_above_the_usual_that_cost_right_answers_comes_first_whatever_the_reward_did() -> None:
    """As it was seen at 0.001: no problem, “fewer right answers”, and more weight for them was all that was offered."""
    report = with_answers_lost(1e-3)
    first = report.verdicts[0]
    assert (first.title, first.level) == ("The learning rate is too high", "problem")
    assert first.sentence.startswith("On held-out prompts 55\u202f% and 2\u202f% of completions were right in the ")
    assert [change.settings for change in first.changes] == [{"training.learning_rate": 1e-4}]
    assert report.opening == "Fewer right answers:"
    assert outcome.verdict_on(report) == ("The learning rate is too high: fewer right answers", "problem")
    usual = with_answers_lost(2e-4)
    assert "learning_rate_high" not in {one.key for one in usual.verdicts}


@pytest.mark.parametrize(("rate", "named"), [(1e-3, {"training.learning_rate": 1e-4}), (1e-4, {})])
def test_less_weight_for_the_kl_comes_with_a_usual_rate_where_the_rate_is_high_too(
    rate: float, named: dict[str, float]
) -> None:
    """As it was seen at 0.001 with beta 10: “KL weight 0.04” led right into a collapse."""
    verdicts = {one.key: one for one in with_answers_lost(rate, beta=10.0).verdicts}
    assert verdicts["beta_high"].changes[0].settings == {**named, "training.beta": 0.04}
    assert ("is high for this model" in verdicts["beta_high"].sentence) == bool(named)
    if named:
        assert next(iter(verdicts)) == "learning_rate_high"
        assert verdicts["learning_rate_high"].changes == verdicts["beta_high"].changes
        assert verdicts["beta_high"].changes[0].label == "Learning rate 0.0001, KL weight 0.04"
