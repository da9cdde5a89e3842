"""A model that a far too high learning rate ruined writes on to the limit: that is the rate's doing."""

from __future__ import annotations

from groupwise.storage.analysis.doctor.examine import examine
from tests.support.doctor import drawn, healthy


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
