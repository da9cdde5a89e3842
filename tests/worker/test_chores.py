"""What the supervisor has done beside the runs: no run waits for it, and it does not hang on what is in a folder."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor import evidence_reader
from groupwise.storage.home import paths
from groupwise.storage.registry import registry, trash
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.worker import supervisor
from groupwise.worker.chores import Chore, Chores
from tests.support.homes import wait_for
from tests.support.made_runs import made_run


def test_a_deleted_run_is_removed_after_a_day_by_the_supervisor(registry_home: Path) -> None:
    old, new = made_run("old", 3, groups=0), made_run("new", 3, groups=0)
    for run_id in (old, new):
        trash.delete_run(run_id)
    with registry.write_registry() as index:
        index.execute("UPDATE trash SET deleted_at = deleted_at - ? WHERE id = ?", [trash.KEPT + 1, old])
    watching = supervisor.Supervisor()
    watching.tick()
    wait_for("the old one to be gone", lambda: not trash.trashed_folder(old).path.exists())
    assert [gone.run.id for gone in trash.deleted_runs()] == [new] and registry.list_runs() == []
    assert trash.trashed_folder(new).path.is_dir()


def test_what_runs_came_to_is_kept_once_they_have_ended(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groupwise.worker.chores.JUDGE_EVERY", 0.01)
    monkeypatch.setattr(outcome, "AT_ONCE", 2)
    made_run("good", 20)
    made_run("fell", 40, metrics=lambda step: {"reward": 2 - step / 30})
    broken = made_run("broken", 3, groups=0)
    paths.run_folder(broken).db.write_bytes(b"garbage" * 999)
    odd, gather = made_run("odd", 20), evidence_reader.gather

    def gather_or_fail(record: Path, *about: Any) -> Any:
        if record.parent.name == odd:
            raise ZeroDivisionError("of a record that nobody thought of")
        return gather(record, *about)

    monkeypatch.setattr(evidence_reader, "gather", gather_or_fail)
    chores = Chores()
    runs = registry.list_runs()
    wait_for("all to be looked at", lambda: (chores.look(), len(outcome.outcomes_kept(runs)) == len(runs))[1])
    assert {run.name: outcome.outcomes_kept(runs)[run.id].verdict for run in runs} == {
        "good": "", "fell": "The reward fell", "broken": "Record is damaged", "odd": "",
    }  # fmt: skip
    wait_for("nothing to be left", lambda: not chores.unjudged)


def test_a_chore_is_never_done_twice_at_a_time_and_one_that_fails_is_done_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release, done = threading.Event(), []

    def work() -> None:
        done.append(time.monotonic())
        release.wait(10)
        raise sqlite3.OperationalError("database is locked")

    chore = Chore("judge", 0.0, work)
    with caplog.at_level(logging.WARNING, "groupwise.supervisor"):
        for _ in range(5):
            chore.begin_if_due()
        assert len(done) == 1
        release.set()
        wait_for("it to be done again", lambda: (chore.begin_if_due(), len(done) > 1)[1])
    assert "the judge could not do its work this time: database is locked" in caplog.text


def test_a_worker_without_work_looks_seldom_and_sees_at_once_what_is_asked(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    tick = supervisor.Supervisor.tick
    monkeypatch.setattr(supervisor.Supervisor, "tick", lambda self: (looks.append(time.monotonic()), tick(self)))
    monkeypatch.setattr(supervisor, "CALM", 30.0)
    watching = supervisor.Supervisor()
    thread = threading.Thread(target=watching.run)
    thread.start()
    try:
        wait_for("it to rest", lambda: looks and time.monotonic() - looks[-1] > 10 * supervisor.TICK)
        before = len(looks)
        registry.publish_fact(Catalogue(versions={}))
        wait_for("it to look again", lambda: len(looks) > before)
        assert len(looks) < 10
    finally:
        watching.leaving = True
        thread.join()
