"""Run folders of which something is missing or damaged: it stands beside the state, on the run's page once, and what is
still there can be used."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.core import strays
from groupwise.app.pages.run import checkpoints, config, doctor, log, overview
from groupwise.app.pages.run.header import run_status
from groupwise.storage.checks.script import to_script
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.spec.spec import parse_spec
from tests.support.made_runs import made_run
from tests.support.records import seal_checkpoint
from tests.support.table_of_runs import cells, drawn


def fell(step: int) -> dict[str, float | None]:
    return {"reward": 2.0 - step / 30 + step % 3 / 50, "kl": 0.01}


@pytest.fixture
def run(registry_home: Path) -> registry.Run:
    found = registry.get_run(made_run("kept", 40, groups=1, size=2, state=states.STOPPED))
    assert found is not None
    return found


def test_a_run_without_a_record_or_settings_breaks_nothing_and_damage_stands_beside_the_state(
    registry_home: Path,
) -> None:
    bare, odd = made_run("bare", 3, groups=0), made_run("odd", 3, groups=0)
    paths.run_folder(bare).db.unlink()
    paths.run_folder(bare).spec.unlink()
    paths.run_folder(odd).db.write_bytes(b"garbage" * 999)
    now = drawn(columns=["duration", "metric:kl", "set:training.beta"])
    assert cells(now, bare)[2:] == ["Finished · run.db is missing", "–", "–", "–"]
    assert cells(now, odd)[2:5] == ["Finished · record is damaged", "–", "–"]
    paths.run_folder(odd).db.write_bytes(b"")
    assert cells(drawn(), odd)[2] == "Finished · run.db is empty"
    assert run_status({"run": odd})["label"] == "Finished · run.db is empty"
    paths.run_folder(odd).db.unlink()
    paths.run_folder(odd).spec.write_bytes(b"\x00\xff garbage")
    fell_too = made_run("fell too", 40, metrics=fell)
    paths.run_folder(fell_too).spec.write_bytes(b"\x00\xff garbage")
    now = drawn()
    assert cells(now, odd)[2] == "Finished · run.db is missing"
    assert cells(now, fell_too)[2] == "Finished · spec.yaml is damaged"
    paths.run_folder(fell_too).spec.write_text("name: <b>bold</b>\nmodel: 5\nrewards:\n- name: format\n")
    assert cells(drawn(), fell_too)[2] == "Finished · spec.yaml is damaged", "it is YAML, of another shape"
    assert "spec.yaml is damaged (line 2: model should be a mapping" in str(run_status({"run": fell_too})["note"])
    paths.run_folder(fell_too).spec.unlink()
    assert cells(drawn(), fell_too)[2] == "Finished · spec.yaml is missing"
    shutil.rmtree(paths.run_folder(fell_too).path)
    assert cells(drawn(), fell_too)[2] == "Finished · folder is missing"
    head = run_status({"run": fell_too})
    assert head["label"] == "Finished · folder is missing"
    moved = f"The folder of this run is not where it was ({paths.run_folder(fell_too).path}). Put it back, and the"
    assert str(head["note"]).startswith(moved)
    for tab in (checkpoints.list_checkpoints, config.config_files, log.tail, overview.draw_board, doctor.diagnose_run):
        assert moved in str(tab({"run": fell_too})), "it may only have been moved"


def test_a_record_that_was_damaged_after_its_end_is_told_of(registry_home: Path) -> None:
    run_id = made_run("copied in part", 20)
    assert cells(drawn(), run_id)[2] == "Finished"
    record = paths.run_folder(run_id).db
    record.write_bytes(record.read_bytes()[:5000])
    assert cells(drawn(), run_id)[2] == "Finished · record is damaged"
    assert 'class="pill bad"' in drawn()["rows"]
    now = run_status({"run": run_id})
    assert now["label"] == "Finished · record is damaged"
    note = str(now["note"])
    assert "(in a backup, say), put it into the run's folder." in note and "log and checkpoints are kept." in note
    assert note.endswith("“Use these settings” opens a new run like it; under Runs it can be deleted.")


def test_what_lies_among_the_runs_and_is_none_is_said_once_and_as_text(registry_home: Path, monkeypatch: Any) -> None:
    made_run("one", 3, groups=0)
    assert drawn()["strays"] == ""
    (paths.runs_folder() / "my copy").mkdir()
    assert drawn()["strays"] == "", "it may still be in the making"
    monkeypatch.setattr(strays, "SETTLED", 0.0)
    advice = "Copy the folder of a run again, whole and under its own name."
    assert drawn()["strays"] == f"1 entry in runs/ is not a run: “my copy” has no spec.yaml. {advice}"
    copied = paths.runs_folder() / "20261125-1702-base-k3f9"
    copied.mkdir()
    assert run_status({"run": copied.name})["missing"] == f"{copied} is not a run: it has no spec.yaml. {advice}"
    copied.rmdir()
    (paths.runs_folder() / "<b>\u202e\n").mkdir()
    (paths.runs_folder() / "notes.txt").write_text("x")
    for name in ("of another", "also !"):
        (paths.runs_folder() / name).mkdir()
        (paths.runs_folder() / name / "spec.yaml").write_text("name: x\n")
    for name, why in (("also !", "is not named as a run is"), ("notes.txt", "is not a folder")):
        told = f"{paths.runs_folder() / name} is not a run: it {why}. {advice}"
        assert run_status({"run": name})["missing"] == told
    for name in ("..", ".", "also !/spec.yaml", "nothing"):
        assert run_status({"run": name})["missing"] == f"There is no run “{name}”."
    assert drawn()["every_stray"] == [
        "“<b>⟨U+202E⟩” has no spec.yaml", "“also !” is not named as a run is", "“my copy” has no spec.yaml",
        "“notes.txt” is not a folder", "“of another” is not named as a run is",
    ]  # fmt: skip
    assert drawn()["strays"] == (
        "5 entries in runs/ are not runs: “<b>⟨U+202E⟩” has no spec.yaml, “also !” is not named as a run is, "
        f"“my copy” has no spec.yaml, and 2 more. {advice}"
    )
    (paths.runs_folder() / "my copy").rmdir()
    assert "“notes.txt” is not a folder" in drawn()["strays"]


def test_without_a_record_the_checkpoints_in_the_folder_are_listed_and_what_is_lost_is_said(run: registry.Run) -> None:
    for step in (10, 20):
        seal_checkpoint(run.folder.checkpoints / f"checkpoint-{step}")
    lost = ((None, "run.db is missing"), (b"", "run.db is empty"), (b"garbage" * 999, "damaged"))
    for content, words in lost:
        run.folder.db.unlink() if content is None else run.folder.db.write_bytes(content)
        told = checkpoints.list_checkpoints({"run": run.id})
        assert [(row["step"], row["state"]) for row in told["rows"]] == [(20, "complete"), (10, "complete")]
        assert told["wait"] == "" and told["columns"] == []
        said = run_status({"run": run.id})
        assert words in str(said["note"]) and said["unreadable"]
        for part in (overview.draw_board, doctor.diagnose_run):
            reply = part({"run": run.id})
            assert reply["unreadable"] and "before" not in reply["sentence"]


def test_config_says_of_damaged_settings_that_they_are_and_offers_those_of_the_script(registry_home: Path) -> None:
    run = registry.get_run(made_run("done", 3, groups=0))
    assert run is not None
    text = run.folder.spec.read_text()
    run.folder.script.write_text(to_script(parse_spec(text)))
    sound = config.config_files({"run": run.id})
    assert [(file["name"], file["use"]) for file in sound["files"][:2]] == [("spec.yaml", True), ("train.py", False)]
    assert "sentence" not in sound
    run.folder.spec.write_bytes(b"\x00\xff\x13garbage" * 9)
    told = config.config_files({"run": run.id})
    assert [(file["name"], file["use"]) for file in told["files"][:1]] == [("train.py", True)]
    assert told["sentence"] == (
        "Its spec.yaml is damaged (it is not text in UTF-8). Its train.py, below, has the same settings."
    )
    assert "Its spec.yaml is damaged" in str(run_status({"run": run.id})["note"])
    run.folder.spec.write_text("rewards: [: {{ nothing\n")
    told = config.config_files({"run": run.id})
    assert [(file["name"], file["about"]) for file in told["files"][:1]] == [("spec.yaml", "damaged")]
