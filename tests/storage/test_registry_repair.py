"""registry.db damaged, lost or met by many at once: it is repaired from the folders, and copied folders are adopted."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import files, paths
from groupwise.storage.library import repair
from groupwise.storage.record import states
from groupwise.storage.registry import commands, notes, registry, trash
from groupwise.storage.registry.commands import RESUME
from groupwise.storage.registry.messages.facts import JudgePorts
from groupwise.storage.registry.registry import RegistryError
from tests.conftest import Start
from tests.support import homes, made_runs
from tests.support.run_states import get, make

# --- what tests leave to each other


def test_an_emptied_home_has_no_row_that_the_worker_took_in_meanwhile(registry_home: Path):
    """A row of a folder that was being removed stood in the home of the tests that came next."""
    made = [made_runs.made_run(f"r{n}", 2, groups=1) for n in range(5)]
    paths.uploads_folder().mkdir(exist_ok=True)  # which a dashboard brings
    with ThreadPoolExecutor(1) as other:
        emptied = other.submit(homes.empty_home)
        while not emptied.done():
            repair.adopt_folders()
        emptied.result()
    assert len(made) == 5 and not registry.list_runs() and not list(paths.runs_folder().iterdir())


# --- damage and repair


@pytest.mark.parametrize("content", [b"garbage" * 999, b"SQLite format 3\0" + b"\1" * 8000], ids=["header", "pages"])
def test_a_damaged_file_is_said_and_repaired_from_the_folders(registry_home: Path, content: bytes):
    ids = {make(state): state for state in (states.FINISHED, states.STOPPED, states.INTERRUPTED)}
    registry.set_facts(next(iter(ids)), step=5)
    paths.registry_path().write_bytes(content)
    with pytest.raises(RegistryError, match="damaged.*No run is lost.*groupwise repair"):
        registry.open_registry()
    aside, found = repair.repair()
    assert aside is not None and aside.read_bytes() == content and found == 3
    assert {run.id: run.state for run in registry.list_runs()} == ids


def test_a_file_damaged_in_the_middle_is_noticed(registry_home: Path):
    for _ in range(40):
        make()
    content = bytearray(paths.registry_path().read_bytes())
    content[4096 * 2 : 4096 * 4] = b"\xff" * 8192
    paths.registry_path().write_bytes(content)
    with pytest.raises(RegistryError, match="damaged"):
        registry.open_registry()


def test_opening_again_changes_nothing(registry_home: Path):
    run_id = make(states.RUNNING)
    registry.publish_fact(JudgePorts(ports=[1]))
    registry.open_registry()
    assert get(run_id).state == states.RUNNING and registry.read_fact(JudgePorts) == JudgePorts(ports=[1])


def test_a_folder_copied_from_another_home_is_adopted_whole(registry_home: Path, tmp_path: Path):
    run_id = make(states.FINISHED, name="from afar")
    registry.set_state(run_id, states.FINISHED, "All 60 steps are done.", step=60, total=60, reward=0.9)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(paths.runs_folder() / run_id, elsewhere)
    shutil.rmtree(paths.runs_folder() / run_id)
    with sqlite3.connect(paths.registry_path()) as raw:
        raw.execute("DELETE FROM run")
    shutil.copytree(elsewhere, paths.runs_folder() / run_id)
    assert repair.adopt_folders() == 1 and repair.adopt_folders() == 0
    run = get(run_id)
    assert (run.name, run.state, run.step, run.total, run.reward) == ("from afar", states.FINISHED, 60, 60, 0.9)


def test_writers_that_meet_wait_for_one_another(registry_home: Path):
    """Even those that read before they write: SQLite refuses such a one at once where it has to give way."""

    def write(number: int) -> None:
        for _ in range(20):
            make(name=f"writer {number}")

    with ThreadPoolExecutor(4) as pool:
        for written in [pool.submit(write, number) for number in range(4)]:
            written.result()
    assert len(registry.list_runs()) == 80


def test_runs_of_one_name_in_one_minute_share_no_id(registry_home: Path, monkeypatch: pytest.MonkeyPatch):
    """Though chance gives two of them the same letters, whether a row has them or only a folder does."""
    first = make()
    folder = paths.run_folder(f"{first[:-4]}0000")
    folder.path.mkdir()
    given = iter([first, folder.id, first, f"{first[:-4]}1111"])
    monkeypatch.setattr(paths, "new_run_id", lambda name: next(given))
    assert make() == f"{first[:-4]}1111"
    assert {run.id for run in registry.list_runs()} == {first, f"{first[:-4]}1111"}
    assert not list(folder.path.iterdir())


@pytest.mark.parametrize("kept", [None, "not json", "[]", '{"state": "flying"}', '{"id": "other", "step": 3}'])
def test_a_folder_whose_state_was_lost_is_interrupted_and_can_be_resumed(registry_home: Path, kept: str | None):
    folder = paths.runs_folder() / "copied-here"
    folder.mkdir()
    (folder / "spec.yaml").write_text("name: x\n")
    if kept is not None:
        (folder / "state.json").write_text(kept)
    assert repair.adopt_folders() == 1
    run = get("copied-here")
    assert run.state == states.INTERRUPTED and run.name == "copied-here"
    commands.ask_of_run(run.id, RESUME)


DONE = {"attempt": 1, "outcome": "finished", "step": 6, "planned": 6}


def _made_without_state(**changes: Any) -> paths.RunFolder:
    """A whole run's folder but for its state.json, and the registry without it. `changes`: of its exit.json."""
    folder = paths.run_folder(made_runs.made_run("forgotten", steps=6))
    folder.state.unlink()
    files.write_json(folder.exit, {**DONE, **changes})
    with registry.write_registry() as index:
        index.execute("DELETE FROM run")
    return folder


def test_a_whole_folder_without_its_state_is_told_by_its_other_files(registry_home: Path):
    folder = _made_without_state()
    assert repair.adopt_folders() == 1
    run = get(folder.id)
    assert (run.name, run.model, run.data) == ("forgotten", "starter", "task:arithmetic")
    assert (run.state, run.step, run.total) == (states.FINISHED, 6, 6) and run.reward and len(run.spark) == 6
    assert run.sentence.startswith("Done: step 6 of 6.") and "Its state.json is missing" in run.sentence


def test_without_state_an_end_counts_only_where_the_last_attempt_wrote_it(registry_home: Path):
    folder = _made_without_state(attempt=2)
    assert repair.adopt_folders() == 1
    run = get(folder.id)
    assert (run.state, run.name, run.step) == (states.INTERRUPTED, "forgotten", 6)
    assert "does not say how the run ended. There is no checkpoint" in run.sentence
    commands.ask_of_run(run.id, RESUME)


def test_what_is_no_run_folder_is_left_alone(registry_home: Path):
    (paths.runs_folder() / "empty").mkdir()
    (paths.runs_folder() / "with space").mkdir()
    (paths.runs_folder() / "with space" / "spec.yaml").touch()
    (paths.runs_folder() / "file").touch()
    assert repair.adopt_folders() == 0


@pytest.mark.parametrize("change", [{"step": "many"}, {"spark": 3}, {"name": None}, {"created": [1]}, {"spark": ["x"]}])
def test_a_state_that_was_edited_by_hand_does_not_stop_the_rest(registry_home: Path, change: dict[str, Any]):
    folder = paths.runs_folder() / "20260101-0000-edited-abcd"
    folder.mkdir()
    (folder / "spec.yaml").write_text("name: x\n")
    (folder / "state.json").write_text(json.dumps({"state": "finished", **change}))
    assert repair.adopt_folders() == 1
    run = registry.get_run(folder.name)
    assert run is not None and run.state == states.FINISHED
    odd = [name for name, value in change.items() if value is not None]
    assert run.sentence == ("Finished." if not odd else f"Finished. Its state.json has no valid value for {odd[0]}.")


def test_a_folder_that_cannot_be_taken_in_keeps_no_other_from_it(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a-first", "b-odd", "c-last"):
        (paths.runs_folder() / name).mkdir()
        (paths.runs_folder() / name / "spec.yaml").write_text("name: x\n")
        (paths.runs_folder() / name / "state.json").write_text('{"state": "running"}')
    (paths.runs_folder() / "b-odd" / "run.lock").mkdir()
    assert repair.adopt_folders() == 3 and get("b-odd").state == states.INTERRUPTED
    for run in registry.list_runs():
        trash.delete_run(run.id)
    with registry.write_registry() as index:
        index.execute("DELETE FROM trash")
    adopt = notes.adopt

    def adopt_or_fail(folder: paths.RunFolder) -> None:
        if folder.id == "b-odd":
            raise OSError("Input/output error")
        adopt(folder)

    monkeypatch.setattr(notes, "adopt", adopt_or_fail)
    assert repair.adopt_trash() == 2
    assert "b-odd could not be taken in: Input/output error" in caplog.text


HOLD = """
import sys
from pathlib import Path
from groupwise.storage.home import locks
assert locks.hold(Path(sys.argv[1])) is not None
print("held", flush=True)
sys.stdin.read()
"""


def test_a_copy_of_a_living_run_is_not_that_run(registry_home: Path, start: Start):
    """Under another name or the same, here or in another home: else stopping the copy would end the original."""
    for name in ("original", "copy"):
        folder = paths.runs_folder() / name
        folder.mkdir()
        (folder / "spec.yaml").write_text("name: x\n")
        kept = {"state": "running", "tag": "original:1:x", "boot": "b", "pid": 1, "started": 1}
        (folder / "state.json").write_text(json.dumps(kept))
    lock = paths.run_folder("original").lock
    training = start("-c", HOLD, str(lock), stdin=subprocess.PIPE)
    assert training.stdout is not None and training.stdout.readline() == "held\n"
    assert repair.adopt_folders() == 2
    original, copy = registry.get_run("original"), registry.get_run("copy")
    assert original is not None and original.state == states.RUNNING and original.tag == "original:1:x"
    assert copy is not None and copy.state == states.INTERRUPTED and copy.tag is None and copy.identity is None


def test_a_disk_that_fills_up_in_a_transaction_is_what_is_said(registry_home: Path):
    """SQLite rolls back by itself then; to roll back once more is an error of its own, which hid the first."""
    with pytest.raises(sqlite3.OperationalError, match="disk is full"), registry.write_registry() as index:
        index.execute("PRAGMA max_page_count = 1")  # no room beyond what the file has
        index.execute("INSERT INTO published (key, value, at) VALUES ('judge_ports', ?, 0)", ["x" * 2**20])
    assert registry.read_fact(JudgePorts) is None
    registry.publish_fact(JudgePorts(ports=[1]))
    assert registry.read_fact(JudgePorts) == JudgePorts(ports=[1])


def test_two_copies_of_a_folder_have_names_that_tell_them_apart(registry_home: Path) -> None:
    run_id = make(states.STOPPED, "arithmetic")
    registry.keep_beside(run_id)
    for name in ("second", "third"):
        shutil.copytree(paths.run_folder(run_id).path, paths.run_folder(name).path)
    assert repair.adopt_folders() == 2
    for again in (False, True):
        if again:
            paths.registry_path().unlink()
            repair.repair()
        named = {run.id: run.name for run in registry.list_runs()}
        assert named == {run_id: "arithmetic", "second": "arithmetic (copy)", "third": "arithmetic (copy 2)"}
    registry.keep_beside("second")
    shutil.copytree(paths.run_folder("second").path, paths.run_folder("fourth").path)
    assert repair.adopt_folders() == 1
    assert get("fourth").name == "arithmetic (copy 3)", "a copy of a copy"
    assert get("second").sentence == f"It is stopped. This folder is a copy of {run_id}."
