"""What the charts show: the curated panels and the small inline drawings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from groupwise.app.ui import figures


def panels(training: dict[str, Any] | None) -> dict[str, figures.Panel]:
    return {panel["title"]: panel for section in figures.sections(training) for panel in section["panels"]}


def test_without_kl_weight_the_panel_says_why_there_is_no_kl() -> None:
    assert "TRL logs no KL" in panels({"beta": 0.0})["KL"]["instead"]
    assert "TRL logs no KL" in panels({})["KL"]["instead"]
    assert panels({"beta": 0.02})["KL"]["instead"] == ""
    assert panels(None)["KL"]["instead"] == ""


def test_held_out_reward_is_drawn_only_where_there_is_evaluation() -> None:
    assert "eval_reward" not in panels({})
    assert "eval_reward" not in panels({"eval_strategy": "no"})


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"eval_steps": 20}, "at step 20"), ({"eval_steps": None, "logging_steps": 5}, "at step 5"),
        ({}, "at step 10"), ({"eval_steps": 0.1, "max_steps": 55}, "at step 6"),
        ({"eval_steps": 20, "eval_delay": 50}, "at step 60"), ({"eval_on_start": True}, "before the first step"),
        ({"eval_steps": 0.1, "max_steps": -1}, "the first evaluation."), ({"eval_steps": "x"}, "the first evaluation."),
        ({"eval_strategy": "epoch", "eval_steps": 20}, "at the end of the first epoch"),
    ],
)  # fmt: skip
def test_the_first_evaluation_is_announced_for_when_it_comes(training: dict[str, Any], words: str) -> None:
    wait = panels({"eval_strategy": "steps", **training})["held-out reward"]["wait"]
    assert words in wait
    assert wait.startswith("Waiting for the first evaluation")


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"logging_steps": 20}, "every 20 steps; the first come at step 20"), ({}, "every 10 steps"),
        ({"logging_steps": 0.25}, "every 15 steps"), ({"logging_strategy": "epoch"}, "at the end of each epoch"),
        ({"logging_strategy": "no"}, "No metrics are logged"),
    ],
)  # fmt: skip
def test_the_first_metrics_are_announced_for_when_they_come(training: dict[str, Any], words: str) -> None:
    assert words in figures.first_metrics(training, 60, True)


def test_a_log_is_of_no_more_steps_than_there_are() -> None:
    """A run that failed at step 5 had “mean of 10 steps”."""
    words = {0: "10 steps", 5: "5 steps", 1: "a step", 25: "10 steps"}
    for steps, said in words.items():
        [reward, *_] = figures.sections({"logging_steps": 10}, steps=steps)[0]["panels"]
        assert reward["span"] == said, steps


def test_metrics_of_every_step_need_no_announcement() -> None:
    assert figures.first_metrics({"logging_steps": 1}, 60, True) == ""
    assert figures.first_metrics({"logging_steps": 10, "logging_first_step": True}, 60, True) == ""


@pytest.mark.parametrize(
    ("training", "span"),
    [
        ({"logging_steps": 1}, "a step"), ({"logging_steps": 10}, "10 steps"), ({}, "10 steps"),
        ({"logging_steps": 0.1, "max_steps": 50}, "5 steps"), ({"logging_strategy": "epoch"}, "an epoch"),
        ({"logging_steps": 0.1}, "the steps since the point before"), (None, "the steps since the point before"),
    ],
)  # fmt: skip
def test_the_reward_is_said_to_be_the_mean_of_what_a_log_is_of(training: dict[str, Any] | None, span: str) -> None:
    """“mean of a step” stood above points that were each the mean of ten."""
    assert panels(training)["reward"]["span"] == span


def test_the_loss_panel_says_that_near_zero_is_normal() -> None:
    assert "normal" in panels({})["loss"]["note"]


def test_a_sparkline_needs_two_points_and_survives_gaps_and_flat_lines() -> None:
    assert figures.sparkline([], "--r1") == ""
    assert figures.sparkline([1.0, None], "--r1") == ""
    assert figures.sparkline([1.0, None, 1.0], "--r1").count(",") == 2


def test_a_small_change_is_small_in_a_sparkline() -> None:
    """As it was seen: from 1.99 to 1.96 it went from top to bottom of its cell."""

    def heights(values: list[float]) -> list[float]:
        return [float(one) for one in re.findall(r"[\d.]+,(-?[\d.]+)", figures.sparkline(values, "--r1"))]

    first, last = heights([1.99, 1.96])
    assert 0 < last - first < 4 and abs((first + last) / 2 - 13) <= 0.1
    assert heights([1.8, 1.0]) == [3.0, 23.0] and heights([-0.5, 0.5]) == [23.0, 3.0]
    assert heights([0.0, 0.0]) == [13.0, 13.0] and heights([1e-9, 0.0]) == [3.0, 23.0]


def test_a_beta_that_follows_the_kl_is_charted_beside_it_with_the_target() -> None:
    assert "beta" not in panels({"beta": 0.02}) and panels({"beta": 0.02})["KL"]["keys"] == [["kl"]]
    [shown] = [one for one in figures.sections({"beta": 0.02}, kl_target=True) if one["title"] == "Stability"]
    kl, beta, *_ = shown["panels"]
    assert kl["keys"] == [["kl"], ["kl/target"]] and kl["labels"] == ["KL", "target"]
    assert beta["title"] == "beta" and beta["keys"] == [["beta"]]


def test_what_is_solved_is_said_by_the_functions_that_tell_it() -> None:
    """“the reward that says what is right” named none."""
    by = "scored correct by"
    said = {
        ("correctness",): f"{by} “correctness”", ("a", "b"): f"{by} each stage’s own function: “a” and “b”",
        ("<b>\u202e",): f"{by} “<b>⟨U+202E⟩”", None: f"{by} the reward function that checks the answer",
    }  # fmt: skip
    for names, words in said.items():
        [_, _, solved] = figures.sections({}, scored_by=names)[0]["panels"]
        assert (solved["note"], solved["instead"]) == (words, ""), names
    [_, _, none] = figures.sections({}, scored_by=())[0]["panels"]
    assert none["instead"] == figures.NOTHING_RIGHT


def test_what_is_not_logged_as_training_stops_says_how_often_it_is() -> None:
    said = {10: {"logging_steps": 10}, 1: {"logging_steps": 10, "logging_first_step": True}, 5: {"logging_steps": 0.1,
            "max_steps": 50}, None: {"logging_strategy": "epoch"}}  # fmt: skip
    for often, training in said.items():
        told = panels(training)
        assert [told[title]["log_every"] for title in ("loss", "gradient norm", "learning rate")] == [often] * 3
        assert told["entropy"]["log_every"] is None


def test_solved_has_the_colour_of_the_one_function_that_says_it() -> None:
    for names, functions in {("correctness",): ["correctness"], ("a", "b"): [], None: []}.items():
        [_, _, solved] = figures.sections({}, scored_by=names)[0]["panels"]
        assert solved["functions"] == functions and bool(solved["colours"]) == bool(functions)


def test_weights_that_change_have_a_chart() -> None:
    """A reward rose from 0.68 to 0.94, in part by a weight that rose from 0.5 to 0.6: nothing on the page said so."""
    for moves in (False, True):
        panels = figures.sections({}, weights_move=moves)[0]["panels"]
        assert ("rewards/*/weight" in [one["pattern"] for one in panels]) == moves
