"""Files that a newer version of Groupwise wrote, and files that are damaged or gone: never written to as if nothing
were, read as far as they can be, and said in words that tell what to do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groupwise.app.pages.run import header, overview
from groupwise.app.pages.run_list import runs_table
from groupwise.storage.home import db, migrations, paths
from groupwise.storage.library import repair
from groupwise.storage.library.rewards import library
from groupwise.storage.record import attempts, checkpoint_files, record, states
from groupwise.storage.record.record import RecordError, RunWriter
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.commands import RESUME, Refused
from tests.conftest import Groupwise
from tests.support.homes import wait_for
from tests.support.made_runs import made_run
from tests.support.runs import ask_db, make_spec, queue
from tests.support.supervised import StartWorker, resume, supervisors, wait_state

CODE = "def mine(completions, **kwargs):\n    return [0.0] * len(completions)\n"


def as_if_newer(path: Path, kind: migrations.Migrations) -> bytes:
    """What a step that this version does not know leaves in a file; the file then."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        row = [kind.name, "x999_of_tomorrow", "2027-01-01"]
        file.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", row)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


# --- a record


def test_a_newer_record_is_read_and_not_written(registry_home: Path) -> None:
    run_id = made_run("newer", 20, state=states.FAILED)
    path = paths.run_folder(run_id).db
    before = as_if_newer(path, migrations.record)
    said = header.run_status({"run": run_id})
    assert "Update Groupwise" in str(said["note"]) and said["line"]
    assert [action.get("do") for action in said["actions"]] == [None, None]  # type: ignore[attr-defined]
    assert len(overview.draw_board({"run": run_id})["curves"]["reward"]["x"]) == 20
    with pytest.raises(Refused, match="Update Groupwise to resume"):
        commands.ask_of_run(run_id, RESUME)
    for write in (lambda: RunWriter(path, 2, {}), lambda: attempts.resume_record(path, 2, {})):
        with pytest.raises(RecordError, match="newer version .* update Groupwise"):
            write()
    record.spill_of(path).write_text("{}")
    with pytest.raises(RecordError, match="newer version"):
        attempts.drain(path)
    assert path.read_bytes() == before and commands.open_commands() == []


def test_a_damaged_record_is_kept_beside_the_one_that_a_resume_begins(registry_home: Path) -> None:
    run_id = made_run("damaged", 20, state=states.INTERRUPTED)
    folder = paths.run_folder(run_id)
    with closing(sqlite3.connect(folder.db)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = folder.db.read_bytes()
    for number, content in enumerate((b"garbage" * 999, whole[: len(whole) // 2], whole[:4096])):
        folder.db.write_bytes(content)
        assert "damaged" in str(header.run_status({"run": run_id})["note"])
        assert {"do": "resume", "label": "Start again"} in header.run_status({"run": run_id})["actions"]  # type: ignore[operator]
        writer = attempts.resume_record(folder.db, 2 + number, {"format": 1.0})
        writer.commit(21, metrics={"reward": 1.0})
        writer.close()
        kept = [path.read_bytes() for path in folder.path.glob("run.damaged-*.db")]
        assert content in kept
        assert ask_db(folder, "SELECT kind FROM event WHERE message LIKE '%kept as run.damaged-%'") == [("warning",)]
        assert overview.draw_board({"run": run_id})["curves"]["reward"]["x"] == [21]


def test_a_whole_record_is_never_set_aside(registry_home: Path) -> None:
    folder = paths.run_folder(made_run("whole", 20, state=states.FAILED))
    attempts.resume_record(folder.db, 2, {"format": 1.0, "correctness": 2.0}).close()
    assert list(folder.path.glob("run.damaged-*")) == []
    assert ask_db(folder, "SELECT count(*) FROM acknowledged") > [(20,)]


def test_what_does_not_fit_into_a_record_any_more_is_set_aside(registry_home: Path) -> None:
    """As the spill of a record that was set aside, or one that someone has put there."""
    folder = paths.run_folder(made_run("spilt", 20, state=states.FAILED))
    line = (
        '{"seq": 999999, "attempt": 1, "step": 21, "at": 1.0, "metrics": {}, "rollups": [], "events": [], '
        '"checkpoint": null, "groups": [{"mode": "train", "step": 21, "prompt": "x", "columns": {}, "completions": [], '
        '"id": 1}]}'
    )
    record.spill_of(folder.db).write_text(line)
    writer = attempts.resume_record(folder.db, 2, {"format": 1.0, "correctness": 2.0})
    writer.commit(21, metrics={"reward": 1.0})
    writer.close()
    assert (folder.path / "run.spill.damaged.jsonl").read_text() == line
    assert ask_db(folder, "SELECT count(*) FROM acknowledged WHERE attempt = 2") == [(1,)]


@pytest.fixture
def start_worker(registry_home: Path) -> Iterator[StartWorker]:
    with supervisors(registry_home) as begin:
        yield begin


def test_a_real_run_whose_record_is_damaged_goes_on_from_its_checkpoint(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={"save_strategy": "steps", "save_steps": 4, "max_steps": 8}))
    start_worker()
    wait_for("a checkpoint", lambda: checkpoint_files.latest_sealed(folder.checkpoints) is not None, 90)
    commands.ask_of_run(folder.id, commands.KILL)
    wait_for("its end", lambda: registry.list_runs()[0].state in states.ENDED, 60)
    if registry.list_runs()[0].state == states.FINISHED:
        pytest.fail("it was too quick to be stopped: let it make more steps")
    for path in folder.path.glob("run.db*"):
        path.unlink()
    folder.db.write_bytes(b"<html>404</html>" * 99)
    resume(folder)
    run = wait_state(folder.id, states.FINISHED)
    assert run.attempt == 2 and (folder.final / "model.safetensors").is_file()
    assert ask_db(folder, "SELECT min(step) > 4, max(step) FROM metric") == [(1, 8)]
    assert len(list(folder.path.glob("run.damaged-*.db"))) == 1


# --- the registry


def test_a_newer_registry_is_listed_and_not_written(groupwise: Groupwise, registry_home: Path) -> None:
    run_id = made_run("newer", 3, state=states.FAILED)
    before = as_if_newer(paths.registry_path(), migrations.registry)
    listed = groupwise("list")
    assert run_id in listed.stdout and "Update Groupwise" in listed.stderr and listed.returncode == 0
    for command in (["repair"], ["resume", run_id], ["worker"], ["--no-open", "--port", "0"], ["stop", run_id]):
        refused = groupwise(*command)
        assert refused.returncode != 0 and (command[1:2] == ["--port"] or "Update Groupwise" in refused.stderr), refused
    with pytest.raises(registry.Newer, match="Update Groupwise"):
        registry.set_facts(run_id, step=1)
    assert paths.registry_path().read_bytes() == before
    assert list(registry_home.glob("registry.damaged*")) == []


def test_a_locked_registry_is_not_repaired(
    groupwise: Groupwise, registry_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_run("locked", 3)
    with closing(sqlite3.connect(paths.registry_path(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = groupwise("repair")
        other.execute("ROLLBACK")
    assert said.returncode == 1 and "locked" in said.stderr
    assert list(registry_home.glob("registry.damaged*")) == [] and len(registry.list_runs()) == 1


@pytest.mark.parametrize("content", [b"", b"garbage" * 999], ids=["gone", "damaged"])
def test_a_page_says_of_a_registry_that_is_damaged_or_gone_how_to_repair_it(
    groupwise: Groupwise, registry_home: Path, content: bytes
) -> None:
    run_id = made_run("kept", 3)
    paths.registry_path().unlink()
    if content:
        paths.registry_path().write_bytes(content)
    for said in (runs_table.draw_runs({}), header.run_status({"run": run_id}), overview.draw_board({"run": run_id})):
        assert "groupwise repair" in str(said.get("sentence")), said
        assert "Copy it again" not in str(said)
    assert bool(content) is paths.registry_path().exists(), "looking makes no registry"
    assert "The new one has 1 run, from" in groupwise("repair").stdout
    assert run_id in str(runs_table.draw_runs({})["rows"])


def test_a_registry_that_was_deleted_is_made_anew_with_all_runs(groupwise: Groupwise, registry_home: Path) -> None:
    runs = [made_run(f"run {number}", 3) for number in range(2)]
    library.save_reward("mine", CODE, taken=())
    paths.registry_path().unlink()
    listed = groupwise("list")
    assert all(run in listed.stdout for run in runs), listed
    assert "2 runs, from their folders" in listed.stderr
    assert library.get_reward("mine").code == CODE
    assert repair.adopt_folders() == 0


def test_a_registry_that_someone_deletes_under_a_worker_is_said_once_and_the_worker_goes_on(
    groupwise: Groupwise, start_worker: StartWorker, registry_home: Path
) -> None:
    folder = queue(make_spec(training={"max_steps": 1}))
    start_worker()
    wait_state(folder.id, states.FINISHED)
    paths.registry_path().unlink()
    wait_for("a word in the log", lambda: "is gone" in paths.worker_log().read_text(), 20)
    wait_for("its counting", lambda: "for the 10th time" in paths.worker_log().read_text(), 20)
    assert paths.worker_log().read_text().count("is gone") < 6
    assert folder.id in groupwise("list").stdout
    again = queue(make_spec(training={"max_steps": 1}))
    wait_state(again.id, states.FINISHED)


def test_a_reader_is_given_up_where_a_record_is_without_end(registry_home: Path) -> None:
    """A view can be; none of ours is, so that it is not even asked."""
    folder = paths.run_folder(made_run("endless", 3))
    with closing(sqlite3.connect(folder.db)) as file:
        file.executescript(
            "DROP TABLE metric; CREATE VIEW metric AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT 1 AS key, 1 AS attempt, i AS step, 0.5 AS value FROM n;"
        )
    assert re.search("damaged.*tables are not those", overview.draw_board({"run": folder.id})["sentence"])
    reader = db.open_reader(folder.db, seconds=0.2)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        reader.execute("SELECT count(*) FROM metric").fetchone()
    reader.close()
