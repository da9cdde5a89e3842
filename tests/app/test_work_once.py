"""What an edit and a launch cost: each thing is done once. Real calls are counted, and go on to do what they do."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from groupwise.app.pages.new import launch, new_run, presets
from groupwise.app.pages.new.preflight import report
from groupwise.storage.checks import check, script
from groupwise.storage.registry import registry
from groupwise.storage.spec.yaml import yaml_text
from groupwise.worker import run_start
from tests.support import offer
from tests.support.new_run import TEXT, built


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each was called since: parsed, opened, checked, script, paced."""
    counted: Counter[str] = Counter()

    def count(owner: Any, name: str, what: str) -> None:
        really: Callable[..., Any] = getattr(owner, name)

        def counting(*args: Any, **named: Any) -> Any:
            counted[what] += 1
            return really(*args, **named)

        monkeypatch.setattr(owner, name, counting)

    count(yaml_text._Composer, "get_single_node", "parsed")
    count(sqlite3, "connect", "opened")
    count(launch, "examine_spec", "checked")
    count(check, "examine_spec", "checked")
    count(script, "to_script", "script")
    count(report, "_pace", "paced")
    return counted


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(
    "edit",
    [{"path": "training.learning_rate", "typed": "3e-5"}, {"path": "lora", "value": {"r": 4, "lora_alpha": 8}},
     {"path": "rewards.0.weight", "typed": "2"}, {"path": "training.beta", "remove": True},
     {"fix": {"settings": {"training.beta": 0.1, "training.seed": 3}, "removed": ["rewards.1"]}}],
)  # fmt: skip
def test_an_edit_parses_once_checks_once_and_opens_the_registry_once(calls: Counter[str], edit: dict[str, Any]) -> None:
    offer.publish_installed()
    before = new_run.edit_settings({"text": f"{TEXT}# {edit}\n"})
    calls.clear()
    hidden = ["script", "preflight"]
    seen = new_run.edit_settings({"text": before["text"], "edits": [edit], "hidden": hidden})
    assert seen["text"] != before["text"]
    assert calls == Counter(parsed=1, opened=1, checked=1)
    assert "script" not in seen
    assert seen["sentences"] == seen["figures"] == []
    calls.clear()
    shown = new_run.edit_settings({"text": seen["text"]})
    assert calls == Counter(opened=1, checked=1, script=1, paced=1)
    assert "GRPOTrainer" in shown["script"]
    assert shown["sentences"]
    assert shown["problems"] == seen["problems"]


@pytest.mark.usefixtures("no_worker")
def test_a_launch_is_checked_once_in_the_app_and_once_by_the_supervisor(calls: Counter[str]) -> None:
    offer.publish_installed()
    question = built(TEXT)
    calls.clear()
    assert "url" in new_run.launch_run({"text": TEXT, "built": question})
    assert calls["checked"] == 1
    assert calls["parsed"] <= 1
    [run] = registry.list_runs()
    calls.clear()
    run_start.prepare_folder(run)
    assert calls["checked"] == 1


@pytest.mark.usefixtures("no_worker")
def test_a_launch_that_trl_was_not_asked_about_is_not_checked_yet(calls: Counter[str]) -> None:
    offer.publish_installed()
    calls.clear()
    assert new_run.launch_run({"text": TEXT}) == {"unasked": True}
    assert calls["checked"] == 0
    assert presets.quickstart_text() != TEXT
