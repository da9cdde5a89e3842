"""What the charts show: the curated panels and the small inline drawings."""

from __future__ import annotations

from typing import Any

from app import figures


def panels(training: dict[str, Any] | None) -> dict[str, figures.Panel]:
    return {panel["title"]: panel for section in figures.sections(training) for panel in section["panels"]}


def test_without_kl_weight_the_panel_says_why_there_is_no_kl() -> None:
    assert "TRL logs no KL" in panels({"beta": 0.0})["kl"]["instead"]
    assert "TRL logs no KL" in panels({})["kl"]["instead"]
    assert panels({"beta": 0.02})["kl"]["instead"] == ""
    assert panels(None)["kl"]["instead"] == ""


def test_held_out_reward_is_drawn_only_where_there_is_evaluation() -> None:
    assert "eval_reward" not in panels({})
    assert "at step 20" in panels({"eval_strategy": "steps", "eval_steps": 20})["eval_reward"]["wait"]


def test_the_loss_panel_says_that_near_zero_is_normal() -> None:
    assert "normal" in panels({})["loss"]["note"]


def test_a_run_keeps_its_colour() -> None:
    assert figures.identity("20261121-0059-a-1f2e") == figures.identity("20261121-0059-a-1f2e")
    assert {figures.identity(f"run-{n}") for n in range(200)} == {f"--r{n}" for n in range(1, 9)}


def test_a_sparkline_needs_two_points_and_survives_gaps_and_flat_lines() -> None:
    assert figures.sparkline([], "--r1") == ""
    assert figures.sparkline([1.0, None], "--r1") == ""
    assert figures.sparkline([1.0, None, 1.0], "--r1").count(",") == 2


def test_the_median_of_nothing_is_none() -> None:
    assert figures.median([]) is None
    assert figures.median([3.0, 1.0]) == 2.0
    assert figures.median([3.0, 1.0, 9.0]) == 3.0
