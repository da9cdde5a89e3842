"""Where a part of the reward that all earn hides that nothing is right, all tabs call the ties failed, as the
diagnostics do."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.app.pages.run import groups, statistics
from groupwise.storage.home import paths
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import registry
from tests.support.made_runs import made_run

SPEC = "name: hidden\nmodel: {id: starter}\nrewards: [{name: plain}, {name: correctness}]\n"


def paid_for_nothing(step: int, n: int) -> Group:
    """Every completion earns 0.3 from the one function, and nothing from the other."""
    scores = [(0.3, "ok"), (0.0, "ok")]
    told = [Completion(f"{step}.{n}.{one}", 5, False, 0.3, 0.0, scores) for one in range(4)]
    return Group("train", step, f"prompt {n}", {"answer": "5"}, told)


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of 12 steps in which nothing is ever right."""
    monkeypatch.setenv("GROUPWISE_HOME", str(tmp_path))
    paths.prepare()
    registry.open_registry()
    return made_run("hidden", 12, functions=("plain", "correctness"), make_group=paid_for_nothing, spec_yaml=SPEC)


def test_groups_and_statistics_call_groups_failed_of_which_none_is_right(hidden: str) -> None:
    """“4 all alike at 0.30, the highest seen” stood beside “The prompts are too hard”."""
    step = groups.groups_at_step({"run": hidden, "step": 12})
    assert {line["spread"] for line in step["groups"]} == {"all failed"}
    assert "(4 all failed)" in step["verdict"]
    shown = groups.show_group({"run": hidden, "group": step["groups"][0]["id"]})["html"]
    assert "Tied, all failed" in shown
    panel = statistics.draw_panel({"run": hidden, "panel": "ties", "mode": "train"})
    assert "48 all failed" in panel["says"]
