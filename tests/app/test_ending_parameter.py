"""A run that a function's refusal of its parameter ended leads to that parameter."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from groupwise.app.core.end_reason import headline_and_rest
from groupwise.app.pages.run import ending
from groupwise.storage.home import files
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from tests.support.runs import ended_run

CODE = "def refuser(completions, *, threshold: float = 0.5, **kwargs):\n    raise ValueError('threshold is too high')\n"
SPEC = "name: one\nrewards: [{name: format}, {name: refuser, parameters: {threshold: 5}}]\n"


def helps(reason: str, code: str = CODE) -> dict[str, Any]:
    library.save_reward("refuser", code)
    said = f"the reward function “refuser” failed in 5 calls in a row: {reason}. Fix it under Rewards."
    run = registry.get_run(ended_run(SPEC, state=states.FAILED, sentence=f"Failed at step 5: {said}"))
    assert run is not None
    known = {"attempt": run.attempt, "outcome": "failed", "step": 5, "planned": 40, "reason": said, "cause": "reward"}
    files.write_json(run.folder.exit, known | {"function": "refuser", "line": 2})
    told = ending.describe_end(run)
    assert told is not None
    found: dict[str, Any] = told["helps"]
    return found


def test_what_runs_of_older_versions_say_is_understood() -> None:
    for said in ("failed in 5 calls in a row", "scored nothing in 5 calls in a row"):
        sentence = f"Failed at step 5: the reward function “refuser” {said}: ValueError: no. Fix it under Rewards."
        assert headline_and_rest(sentence) == (f"The reward function “refuser” {said}", "ValueError: no.")


def test_the_parameter_that_the_failure_names_goes_back_to_its_default(registry_home: Any) -> None:
    found = helps("ValueError: threshold is too high")
    assert found["label"] == "New run with the default threshold (0.5)"
    asked = parse_qsl(urlsplit(found["go"]).query)
    assert ("set", "rewards.1.parameters.threshold=0.5") in asked
    assert found["note"] == "“refuser” failed with threshold 5."
    assert found["second"]["label"] == "Open refuser at line 2"


def test_one_without_a_default_is_opened(registry_home: Any) -> None:
    found = helps("ValueError: threshold is too high", CODE.replace(" = 0.5", ""))
    assert found["label"] == "Change threshold of refuser"
    assert ("at", "rewards.1.parameters.threshold") in parse_qsl(urlsplit(found["go"]).query)


@pytest.mark.parametrize("reason", ["ZeroDivisionError: division by zero", "KeyError: 'thresholds'"])
def test_any_other_failure_leads_to_the_code(registry_home: Any, reason: str) -> None:
    found = helps(reason)
    assert (found["label"], found["second"]["label"]) == ("Open refuser at line 2", "New run without refuser")


def test_the_headline_of_a_run_that_could_not_start_names_the_setting_as_new_run_does():
    for place, told in (
        ("rewards.2.name, line 15", "“Reward 3” (rewards.2.name, line 15)"),
        ("training.learning_rate", "“Learning rate” (training.learning_rate)"),
        ("stages.1.training.beta", "“KL weight in stage 2” (stages.1.training.beta)"),
        ("stages.0.name", "“Stage 1” (stages.0.name)"),
    ):
        said = headline_and_rest(f"Could not be started: {place}: “x” cannot be used. Choose another.")
        assert said == (f"{told}: “x” cannot be used", "Choose another.")
