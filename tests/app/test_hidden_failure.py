"""Where a part of the reward that all earn hides that nothing is right, all tabs call the ties failed, as the
diagnostics do."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.app.pages.run import groups, statistics
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.home import paths
from groupwise.storage.record import run_files
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import registry
from tests.support.made_runs import made_run

SPEC = "name: hidden\nmodel: {id: starter}\nrewards: [{name: plain}, {name: correctness}]\n"


def paid_for_nothing(step: int, n: int) -> Group:
    """Every completion earns 0.3 from the one function, and nothing from the other."""
    return paid(step, n, [0.3] * 4)


def paid(step: int, n: int, given: list[float]) -> Group:
    """A group that earns so much from the one function, and nothing from the other."""
    told = [Completion(f"{step}.{n}.{at}", 5, False, one, 0.0, [(one, "ok"), (0.0, "ok")])
            for at, one in enumerate(given)]  # fmt: skip
    return Group("train", step, f"prompt {n}", {"answer": "5"}, told)


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of 12 steps in which nothing is ever right."""
    monkeypatch.setenv("GROUPWISE_HOME", str(tmp_path))
    paths.prepare()
    registry.open_registry()
    return made_run("hidden", 12, functions=("plain", "correctness"), make_group=paid_for_nothing, spec_yaml=SPEC)


def test_groups_and_statistics_say_of_the_same_groups_that_none_is_right(hidden: str) -> None:
    """“4 all alike at 0.30, the highest seen” stood beside “The prompts are too hard”."""
    step = groups.groups_at_step({"run": hidden, "step": 12})
    assert {line["spread"] for line in step["groups"]} == {"none right"}
    assert "(4 none right)" in step["verdict"]
    shown = groups.show_group({"run": hidden, "group": step["groups"][0]["id"]})["html"]
    assert "Tied, none right" in shown
    panel = statistics.draw_panel({"run": hidden, "panel": "ties", "mode": "train"})
    assert "24 none right" in panel["says"]


def test_what_paid_more_beside_makes_no_group_of_wrong_answers_one_that_is_too_easy(hidden: str) -> None:
    """“All highest seen 50 %, tied in between 47 %, all failed 0 %” stood beside “calls no completion right”."""
    of_group = {0: [0.5] * 4, 1: [0.25] * 4, 2: [0.5] * 4, 3: [0.0, 0.5, 0.5, 0.5]}
    run = made_run(
        "paid", 12, functions=("plain", "correctness"), spec_yaml=SPEC,
        make_group=lambda at, n: paid(at, n, of_group[n]),
    )  # fmt: skip
    step = groups.groups_at_step({"run": run, "step": 12})
    assert [line["spread"] for line in step["groups"]] == ["none right"] * 3 + ["0.25"]
    assert "(3 none right)" in step["verdict"]
    shown = groups.show_group({"run": run, "group": step["groups"][0]["id"]})["html"]
    assert "Tied, none right: none of the completions is right, and all earned the same, so" in shown
    panel = statistics.draw_panel({"run": run, "panel": "ties", "mode": "train"})
    assert "(18 none right)" in panel["says"]
    folder = paths.run_folder(run)
    e = gather(folder.db, run_files.spec_of(folder))
    assert [e.curve(f"groups/{name}").now for name in ("all_low", "all_high", "tied_other")] == [0.75, 0.0, 0.0]
    said = [one.sentence for one in examine(e).verdicts if one.key.startswith("too_")]
    assert len(said) == 1 and "“correctness” has scored 0\u202f% of the completions" in said[0]
    mostly = {**of_group, 3: [0.25] * 4}
    tied = made_run(
        "tied", 12, functions=("plain", "correctness"), spec_yaml=SPEC,
        make_group=lambda at, n: paid(at, n, of_group[n] if at == 3 else mostly[n]),
    )  # fmt: skip
    told = examine(gather(paths.run_folder(tied).db, run_files.spec_of(paths.run_folder(tied)))).verdicts[0]
    assert (
        told.key == "too_hard" and "In most of these groups “correctness” scores no completion right" in told.sentence
    )
