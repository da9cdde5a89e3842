"""How long completions may be for the model, and that one click on any verdict about it is enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import launch
from groupwise.app.pages.new.preflight import memory_fixes
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec, from_dict
from groupwise.storage.spec.words.problem import BLOCKING, Problem
from groupwise.worker.builtin import models
from tests.support.offer import OFFER

FIELD = "training.max_completion_length"
LENGTH = {"types": ["int", "none"], "default": 512, "choices": None}  # as TRL has it
HERE = replace(OFFER, training={**(OFFER.training or {}), "max_completion_length": LENGTH})


@pytest.fixture(autouse=True)
def starter(registry_home: Path) -> None:
    """The model of these tests, which reads 512 tokens."""
    models.install_starter()


def about_length(spec: RunSpec, offer: Offer = HERE) -> list[Problem]:
    """What is said at the field, by the check and by the estimates."""
    found = examine_spec(spec, offer) + launch.estimates(spec, offer).problems
    return [problem for problem in found if problem.field.endswith(FIELD)]


def a_spec(**parts: Any) -> RunSpec:
    return from_dict({"name": "x", "rewards": [{"name": "format"}], **parts})


@pytest.mark.parametrize("typed", [100_000, 512, 10**10, 0, -5, 1.5, "many", "600", True])
def test_the_first_fix_of_any_wrong_length_leaves_nothing_to_say_about_it(typed: Any) -> None:
    spec = a_spec(training={"max_completion_length": typed})
    first = about_length(spec)[0]
    assert first.level == BLOCKING and first.fixes[0].label == "Use 256" and not first.fixes[0].removed
    mended = memory_fixes.with_settings(spec, first.fixes[0].settings)
    assert mended is not None and about_length(mended) == []
    assert not [problem for problem in examine_spec(mended, HERE) if problem.level == BLOCKING]


def test_a_default_that_does_not_fit_is_a_problem_of_its_own() -> None:
    [problem] = [problem for problem in about_length(a_spec()) if problem.level == BLOCKING]
    assert "512 tokens, but the model reads at most 512" in problem.message and problem.fixes[0].label == "Use 256"


def test_a_quoted_length_that_fits_is_taken_as_it_was_meant() -> None:
    first = about_length(a_spec(training={"max_completion_length": "400"}))[0]
    assert [fix.label for fix in first.fixes] == ["Use 400", "Use 256"]


def test_a_default_that_fits_stays_the_fix() -> None:
    short = replace(HERE, training={**(HERE.training or {}), "max_completion_length": {**LENGTH, "default": 256}})
    for offer, label in ((short, "Use the default (256)"), (HERE, "Use 256")):
        assert about_length(a_spec(training={"max_completion_length": "many"}), offer)[0].fixes[0].label == label


def test_a_stage_that_says_it_is_mended_in_the_stage() -> None:
    spec = a_spec(training={"max_completion_length": 64}, stages=[{}, {"training": {"max_completion_length": 0}}])
    [problem] = about_length(spec)
    assert problem.field == f"stages.1.{FIELD}" and problem.fixes[0].settings == {f"stages.1.{FIELD}": 256}
