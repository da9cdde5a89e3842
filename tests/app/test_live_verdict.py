"""What the diagnostics hold against a run that still trains stands beside its state, as it will beside its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.core import run_facts
from groupwise.app.pages.compare import runs
from groupwise.app.pages.run import doctor, header
from groupwise.app.pages.run_list import runs_table
from groupwise.storage.analysis import outcome
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running
from tests.support.table_of_runs import cells


def fell(step: int) -> dict[str, float | None]:
    return {"reward": 2.0 - step / 30 + step % 3 / 50, "kl": 0.01}


def words_in_row(run_id: str) -> str:
    return cells(runs_table.draw_runs({}), run_id)[2]


def test_a_verdict_on_a_run_that_trains_stands_beside_its_state(registry_home: Path) -> None:
    run_id = running(made_run("falls", 40, metrics=fell, state=states.STOPPED))
    wait_for("the verdict", lambda: words_in_row(run_id) == "Running · verdict: the reward is falling")
    head = header.run_status({"run": run_id})
    assert (head["label"], head["kind"]) == ("Running · verdict: the reward is falling", "run bad")
    [line] = runs.line_styles([(run_id, registry.get_run(run_id))])
    assert (line["label"], line["kind"]) == ("Running · verdict: the reward is falling", "run bad")
    registry.set_state(run_id, states.STOPPING, "")
    assert header.run_status({"run": run_id})["label"] == "Stopping · verdict: the reward is falling"


@pytest.mark.parametrize("metrics", [None, lambda step: fell(step) if step < 9 else {}])
def test_a_run_that_does_well_or_has_few_steps_is_running(registry_home: Path, metrics: Any) -> None:
    run_id = running(made_run("fine", 40 if metrics is None else 8, metrics=metrics, state=states.STOPPED))
    words_in_row(run_id)
    wait_for("the judgement", lambda: run_facts._verdicts[run_id].made > 0)
    assert words_in_row(run_id) == "Running" and header.run_status({"run": run_id})["kind"] == "run"


def test_what_the_page_of_a_run_says_of_it_is_what_stands_beside_its_state(registry_home: Path) -> None:
    """At once, also while the last verdict is too new for another: it was fine then."""
    run_id = made_run("turns", 40, metrics=lambda step: {"reward": 1.0 + step / 40, "kl": 0.01}, state=states.STOPPED)
    words_in_row(running(run_id))
    wait_for("the judgement", lambda: run_facts._verdicts[run_id].made > 0)
    assert header.run_status({"run": run_id})["label"] == "Running"
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    for step in range(41, 61):
        writer.commit(step, metrics={"reward": 2.0, "kl": 0.02 * 1.3 ** (step - 40)})
    writer.close()
    registry.set_facts(run_id, step=60)
    report = doctor.diagnose_run({"run": run_id})
    assert "KL is too high" in [verdict["title"] for verdict in report["verdicts"]]
    head = header.run_status({"run": run_id})
    assert (head["label"], words_in_row(run_id)) == ("Running · verdict: KL is too high",) * 2
    assert report["pills"][states.RUNNING] == {"label": head["label"], "kind": head["kind"]}
    assert report["pills"][states.STOPPING]["label"] == "Stopping · verdict: KL is too high"


def test_a_run_is_judged_now_and_then_and_only_where_there_are_new_steps(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []
    own = outcome.verdict_so_far
    monkeypatch.setattr(outcome, "verdict_so_far", lambda run, around: judged.append(run.id) or own(run, around))
    run_id = running(made_run("falls", 40, metrics=fell, state=states.STOPPED))
    wait_for("the verdict", lambda: "the reward is falling" in words_in_row(run_id))
    registry.set_facts(run_id, step=41)
    words_in_row(run_id)
    assert judged == [run_id]  # too soon
    monkeypatch.setattr(run_facts, "JUDGE_EVERY", 0.0)
    words_in_row(run_id)
    wait_for("another", lambda: judged == [run_id] * 2 and not run_facts._verdicts[run_id].pending)
    for _ in range(3):
        words_in_row(run_id)
    assert judged == [run_id] * 2
