"""A home in one file and back again: what is in it, what stays, and what happens in the home meanwhile."""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from groupwise.storage.backup.archive import Archive, writing_archive
from groupwise.storage.backup.names import BackupError
from groupwise.storage.backup.restore import restore_backup
from groupwise.storage.home import db, files, migrations, paths
from groupwise.storage.library import presets
from groupwise.storage.library.rewards import library
from groupwise.storage.record import checkpoint_files, metrics, record_check, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import commands, labels, notes, registry, trash
from groupwise.storage.registry.messages.facts import TrustRewardCode
from groupwise.worker.training import checkpoints
from tests.conftest import holding
from tests.support import canaries, run_states
from tests.support.backups import HEAD, back_up, left_beside, names_in, restored_home, tree_of_home
from tests.support.made_runs import made_run, running
from tests.support.runs import ask_db

CODE = "def mine(completions, **kwargs):\n    return [{}.0] * len(completions)\n"
FILES = ("trainer_state.json", "optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors")


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Path:
    return registry_home


def add_checkpoint(run_id: str, step: int, *, seal: bool = True) -> Path:
    point = paths.run_folder(run_id).checkpoints / f"checkpoint-{step}"
    point.mkdir(parents=True)
    for name in FILES:
        (point / name).write_bytes(os.urandom(3000))
    if seal:
        checkpoints.seal(point)
    return point


def rows_of(run_id: str) -> list[tuple[object, ...]]:
    folder = paths.run_folder(run_id)
    return [row for table in ("acknowledged", "metric", "completion", "score", "event")
            for row in ask_db(folder, f"SELECT * FROM {table}")]  # fmt: skip


SAID = ("id", "name", "model", "data", "created", "state", "sentence", "state_at", "step", "total", "reward", "spark",
        "note", "tags", "attempt")  # fmt: skip


def said_of(run_id: str) -> list[object]:
    run = run_states.get(run_id)
    return [getattr(run, name) for name in SAID]


def test_a_home_comes_back_with_all_that_a_person_brought_and_made(tmp_path: Path) -> None:
    good, bad = made_run("good", 20, resumed_at=12), made_run("bad ü", 20, state=states.STOPPED)
    point = add_checkpoint(bad, 10)
    (paths.run_folder(good).path / "final").mkdir()
    (paths.run_folder(good).path / "final" / "model.safetensors").write_bytes(b"weights")
    notes.annotate(good, 1, 0, "look here")
    labels.rename(bad, "worse")
    labels.retag([bad], add=["night"])
    first = library.save_reward("mine", CODE.format(1))
    library.save_reward("mine", CODE.format(2), network=True)
    library.save_reward("gone", CODE.format(3).replace("mine", "gone"))
    library.delete_reward("gone")
    text = "name: kept\nrewards: [{name: format}]\n"
    presets.save_preset("My preset", "For nights.", text, Path("/nonexistent"))
    (paths.data_folder() / "größe 1.csv").write_bytes(b"question,answer\n1,2\n")
    (paths.models_folder() / "own").mkdir()
    (paths.models_folder() / "own" / "config.json").write_text("{}")
    before = {run_id: (said_of(run_id), rows_of(run_id)) for run_id in (good, bad)}
    newest = library.get_reward("mine")
    mark = tree_of_home()
    told = back_up(tmp_path / "home.tar.gz")
    assert tree_of_home() == mark, "a backup changes nothing"
    assert (told.runs, told.training, told.unread) == (2, [], [])
    assert (tmp_path / "home.tar.gz").stat().st_mode & 0o777 == 0o600
    assert left_beside(tmp_path) == {"home", "home.tar.gz"}
    with restored_home(tmp_path / "home.tar.gz", tmp_path / "new") as restored:
        assert restored.runs == 2 and restored.damaged == []
        assert {run_id: (said_of(run_id), rows_of(run_id)) for run_id in (good, bad)} == before
        assert [note.words for note in notes.of_run(good)] == ["look here"]
        assert library.get_reward("mine") == newest and library.get_reward("mine", first.hash) == first
        assert [one.name for one in library.newest_rewards()] == ["mine"] and len(library.versions("gone")) == 1
        assert [(one.name, one.sentence, one.text) for one in presets.own_presets()] == [
            ("My preset", "For nights.", text)
        ]
        assert (paths.data_folder() / "größe 1.csv").read_bytes() == b"question,answer\n1,2\n"
        assert (paths.models_folder() / "own" / "config.json").read_text() == "{}"
        assert (paths.run_folder(good).final / "model.safetensors").read_bytes() == b"weights"
        assert checkpoint_files.problem(paths.run_folder(bad).checkpoints / point.name) is None
        folders = [tmp_path / "new", *(path for path in (tmp_path / "new").rglob("*") if path.is_dir())]
        assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
        assert not (tmp_path / "new" / "presets.json").exists()
        commands.ask_of_run(bad, commands.RESUME)


def test_secrets_questions_and_what_a_machine_may_do_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in canaries.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    run_id, gone = made_run("kept", 5), made_run("deleted", 5)
    trash.delete_run(gone)
    registry.publish_fact(TrustRewardCode(trusted=True))
    log = paths.run_folder(run_id).log
    log.write_text(f"printed by a program: {canaries.CANARIES['HF_TOKEN']}\nand more\n")
    for name in ("worker.log", "logged-out", "app.lock", "registry.damaged-20260101-000000.db"):
        (paths.home() / name).write_text(canaries.CANARIES["OPENAI_API_KEY"])
    (paths.run_folder(run_id).path / "wandb").mkdir()
    told = back_up(tmp_path / "home.tar.gz")
    out = tmp_path / "unpacked"
    shutil.unpack_archive(tmp_path / "home.tar.gz", out, filter="data")
    assert canaries.search(out) == {} and "and more" in (out / "runs" / run_id / "log.txt").read_text()
    assert {name.split("/")[0] for name in names_in(tmp_path / "home.tar.gz")} == {
        "backup.json",
        "runs",
        "presets.json",
    }
    assert {name.split("/")[1] for name in names_in(tmp_path / "home.tar.gz") if "/" in name} == {run_id}
    assert any("1 deleted run" in one for one in told.left_out)
    assert any(f"runs/{run_id}/wandb" in one for one in told.left_out)
    with restored_home(tmp_path / "home.tar.gz", tmp_path / "new"):
        assert not registry.is_trusted() and registry.get_run(gone) is None


def test_a_run_that_trains_is_interrupted_in_the_backup_and_goes_on_here(tmp_path: Path) -> None:
    run_id = made_run("trains", 20, state=states.QUEUED)
    registry.set_state(run_id, states.QUEUED, "Again.")
    with registry.write_registry() as index:
        index.execute("UPDATE run SET state = 'queued' WHERE id = ?", [run_id])
    running(run_id)
    registry.set_facts(run_id, boot="a boot", pid=os.getpid(), started=1, tag=f"{run_id}:1:ab", step=3)
    add_checkpoint(run_id, 10)
    add_checkpoint(run_id, 20, seal=False)
    (paths.run_folder(run_id).final).mkdir()
    (paths.run_folder(run_id).final / "half").write_text("half of a model")
    with holding(paths.run_folder(run_id).lock):
        told = back_up(tmp_path / "home.tar")
    assert told.training == [run_id] and any("checkpoint-20" in one for one in told.left_out)
    assert run_states.get(run_id).state == states.RUNNING, "the original is as it was"
    with restored_home(tmp_path / "home.tar", tmp_path / "new") as restored:
        run = run_states.get(run_id)
        assert restored.interrupted == [run_id] and run.state == states.INTERRUPTED and run.identity is run.tag is None
        assert run.sentence.startswith("It was training, at step 20, when the backup of 20")
        assert run.sentence.endswith("Resume continues from step 10.") and run.step == 20
        assert not run.folder.final.exists() and len(checkpoint_files.points(run.folder.checkpoints)) == 1
        commands.ask_of_run(run_id, commands.RESUME)


def test_a_run_that_ended_before_its_row_said_so_is_as_it_wrote(tmp_path: Path) -> None:
    run_id = made_run("ended", 20, state=states.QUEUED)
    with registry.write_registry() as index:
        index.execute("UPDATE run SET state = 'running' WHERE id = ?", [run_id])
    files.write_json(paths.run_folder(run_id).exit, {"attempt": 1, "outcome": "finished", "step": 20, "planned": 20})
    (paths.run_folder(run_id).final).mkdir()
    (paths.run_folder(run_id).final / "model.safetensors").write_text("whole")
    assert back_up(tmp_path / "home.tar").training == []
    with restored_home(tmp_path / "home.tar", tmp_path / "new"):
        run = run_states.get(run_id)
        assert (run.state, run.sentence) == (
            states.FINISHED, "Done: step 20 of 20. The trained model is in final/."
        )  # fmt: skip
        assert (run.folder.final / "model.safetensors").read_text() == "whole"


def test_a_queued_run_is_not_started_by_restoring_it(tmp_path: Path) -> None:
    run_id = run_states.make()
    back_up(tmp_path / "home.tar")
    with restored_home(tmp_path / "home.tar", tmp_path / "new"):
        assert run_states.get(run_id).state == states.STOPPED


def test_a_checkpoint_that_is_removed_as_it_is_read_is_left_out_and_the_newer_one_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = made_run("keeps one", 20, state=states.STOPPED)
    old, add = add_checkpoint(run_id, 10), Archive.add

    def rotating(archive: Archive, name: str, *rest: object) -> str | None:
        found = add(archive, name, *rest)  # type: ignore[arg-type]
        if name.endswith("checkpoint-10/optimizer.pt"):
            add_checkpoint(run_id, 20)
            shutil.rmtree(old)
        return found

    monkeypatch.setattr(Archive, "add", rotating)
    told = back_up(tmp_path / "home.tar.gz")
    assert any(f"checkpoint-10 of {run_id}" in one for one in told.left_out) and told.unread == []
    with restored_home(tmp_path / "home.tar.gz", tmp_path / "new"):
        [point] = checkpoint_files.points(paths.run_folder(run_id).checkpoints)
        assert point.name == "checkpoint-20" and checkpoint_files.problem(point) is None


def test_a_file_that_ends_before_its_size_does_not_count_and_harms_no_other(tmp_path: Path) -> None:
    with writing_archive(tmp_path / "x.tar.gz", replace=False) as archive:
        archive.add_json("backup.json", HEAD)
        assert archive.add("data/cut.csv", io.BytesIO(b"ab"), 5000) is None
        assert archive.add("data/whole.csv", io.BytesIO(b"abc"), 3)
    with restored_home(tmp_path / "x.tar.gz", tmp_path / "new"):
        assert [(path.name, path.read_bytes()) for path in paths.data_folder().iterdir()] == [("whole.csv", b"abc")]


def test_a_checkpoint_whose_bytes_are_not_as_sealed_is_left_out(tmp_path: Path) -> None:
    run_id = made_run("bad disk", 20, state=states.STOPPED)
    for step in (10, 20):
        add_checkpoint(run_id, step)
    (paths.run_folder(run_id).checkpoints / "checkpoint-20" / "optimizer.pt").write_bytes(bytes(3000))
    assert any("checkpoint-20" in one for one in back_up(tmp_path / "home.tar").left_out)
    assert {name.split("/")[3] for name in names_in(tmp_path / "home.tar") if "/checkpoints/" in name} == {
        "checkpoint-10"
    }


def test_a_record_that_is_written_to_meanwhile_is_copied_as_it_was_at_one_moment(tmp_path: Path) -> None:
    run_id = made_run("busy", 30, state=states.STOPPED)
    path, over, step = paths.run_folder(run_id).db, threading.Event(), 30

    def write() -> None:
        nonlocal step
        writer = RunWriter(path, 1, {"format": 1.0, "correctness": 2.0})
        while not over.is_set():
            step += 1
            writer.commit(step, metrics={"reward": float(step), "other": float(-step)})
        writer.close()

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for number in range(5):
            assert back_up(tmp_path / f"{number}.tar.gz").unread == []
    finally:
        over.set()
        writing.join()
    reached = []
    for number in range(5):
        with restored_home(tmp_path / f"{number}.tar.gz", tmp_path / f"new-{number}"):
            folder = paths.run_folder(run_id)
            assert record_check.of_file(folder.db, deep=True, odd=True) is None
            steps = [at for (at,) in ask_db(folder, "SELECT step FROM acknowledged ORDER BY seq")]
            assert steps == list(range(len(steps)))
            values = dict(ask_db(folder, "SELECT name, value FROM metric JOIN metric_key ON id = key WHERE step = ?",
                                 steps[-1]))  # fmt: skip
            assert steps[-1] <= 30 or values == {"reward": steps[-1], "other": -steps[-1]}
            reached.append(steps[-1])
    assert reached == sorted(reached) and reached[-1] > 30


def test_without_checkpoints_and_only_some_runs(tmp_path: Path) -> None:
    kept, other = made_run("kept", 20, state=states.STOPPED), made_run("other", 20)
    registry.set_facts(kept, sentence="Stopped at step 20, as asked. Resume continues from step 10.")
    add_checkpoint(kept, 10)
    library.save_reward("mine", CODE.format(1))
    for name in ("used.csv", "other.csv"):
        (paths.data_folder() / name).write_text("question,answer\n")
    text = "name: kept\ndata: {source: 'file:used.csv'}\nrewards: [{name: format}]\n"
    paths.run_folder(kept).spec.write_text(text)
    told = back_up(tmp_path / "home.tar.gz", checkpoints=False, only={kept})
    names = names_in(tmp_path / "home.tar.gz")
    assert {name for name in names if not name.startswith("runs/")} == {"backup.json", "data/used.csv"}
    assert not any("checkpoint" in name or other in name for name in names)
    assert any("no run can be resumed" in one for one in told.left_out) and any(
        "other runs" in o for o in told.left_out
    )
    with restored_home(tmp_path / "home.tar.gz", tmp_path / "new"):
        assert [run.id for run in registry.list_runs()] == [kept]
        assert run_states.get(kept).sentence == (
            "Stopped at step 20, as asked. There is no checkpoint: it would start from the beginning."
        )


def test_an_older_record_is_brought_up_to_date_and_a_newer_one_refused(tmp_path: Path) -> None:
    run_id = run_states.make(states.STOPPED)
    old = db.open_writer(paths.run_folder(run_id).db, journal="wal")
    migrations.record.apply(old, stop_before={"d004_values_that_are_no_numbers"})
    old.close()
    back_up(tmp_path / "old.tar")
    with (
        restored_home(tmp_path / "old.tar", tmp_path / "new"),
        closing(sqlite3.connect(paths.run_folder(run_id).db)) as file,
    ):
        query = "SELECT name FROM _sqlite_migrations ORDER BY id"
        assert [name for (name,) in file.execute(query)] == list(migrations.names(migrations.record))
    with closing(sqlite3.connect(paths.run_folder(run_id).db, isolation_level=None)) as file:
        row = ["record", "x999_of_tomorrow", "2027-01-01"]
        file.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", row)
    back_up(tmp_path / "newer.tar")
    before = left_beside(tmp_path)
    with pytest.raises(BackupError, match="newer version of Groupwise .* Update Groupwise"):
        restore_backup(tmp_path / "newer.tar", tmp_path / "newer")
    assert left_beside(tmp_path) == before


def test_a_damaged_record_comes_along_as_it_is_and_is_said(tmp_path: Path) -> None:
    run_id, whole = made_run("damaged", 5, state=states.FAILED), made_run("whole", 5)
    for end in ("-wal", "-shm"):
        paths.run_folder(run_id).db.with_name(f"run.db{end}").unlink(missing_ok=True)
    paths.run_folder(run_id).db.write_bytes(b"garbage" * 999)
    assert back_up(tmp_path / "home.tar.gz").unread == []
    with restored_home(tmp_path / "home.tar.gz", tmp_path / "new") as restored:
        assert restored.runs == 2 and [one.split()[0] for one in restored.damaged] == [run_id]
        assert paths.run_folder(run_id).db.read_bytes() == b"garbage" * 999
        assert metrics.progress(paths.run_folder(whole).db)["step"] == 5


def test_a_run_folder_that_is_a_link_or_gone_is_said(tmp_path: Path) -> None:
    linked, gone, whole = made_run("linked", 5), made_run("gone", 5), made_run("whole", 5)
    paths.run_folder(linked).path.rename(tmp_path / "elsewhere")
    (paths.runs_folder() / linked).symlink_to(tmp_path / "elsewhere")
    shutil.rmtree(paths.run_folder(gone).path)
    (paths.run_folder(whole).path / "rewards").symlink_to("/etc")
    told = back_up(tmp_path / "home.tar.gz")
    assert told.runs == 1 and sorted(one.split()[0] for one in told.unread) == sorted([linked, gone])
    assert not any("/rewards/" in name for name in names_in(tmp_path / "home.tar.gz"))


def test_what_was_asked_meanwhile_is_not_done_in_the_restored_home(tmp_path: Path) -> None:
    run_id = made_run("stopped", 5, state=states.STOPPED)
    commands.ask_of_run(run_id, commands.RESUME)
    back_up(tmp_path / "x.tar")
    with restored_home(tmp_path / "x.tar", tmp_path / "new"):
        assert commands.open_commands() == [] and run_states.get(run_id).state == states.STOPPED
