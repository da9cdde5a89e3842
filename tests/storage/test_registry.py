"""registry.db: states go forward only, asking twice is asking once, and the file can be made anew from the folders."""

from __future__ import annotations

import itertools
import json
import shutil
import sqlite3
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import db, files, paths
from groupwise.storage.library import repair
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.commands import KILL, RESUME, STOP, Refused
from groupwise.storage.registry.messages.facts import JudgePorts, Sandbox
from groupwise.storage.registry.registry import RegistryError
from tests.conftest import Start

PATHS = {
    states.QUEUED: [],
    states.STARTING: [states.STARTING],
    states.RUNNING: [states.STARTING, states.RUNNING],
    states.STOPPING: [states.STARTING, states.RUNNING, states.STOPPING],
    **{end: [states.STARTING, states.RUNNING, end] for end in states.ENDED},
}


def make(state: str = states.QUEUED, name: str = "small") -> str:
    run_id = registry.create_run("name: small\n", name=name, model="starter", data="task:arithmetic")
    for step in PATHS[state]:
        assert registry.set_state(run_id, step, f"It is {step}.")
    return run_id


def get(run_id: str) -> registry.Run:
    run = registry.get_run(run_id)
    assert run is not None
    return run


# --- states


@pytest.mark.parametrize(("before", "after"), [*itertools.product(states.LABELS, states.LABELS)])
def test_a_state_is_left_only_for_one_that_may_follow_it(registry_home: Path, before: str, after: str):
    run_id = make(before)
    allowed = before == after or after in states.NEXT[before]
    assert registry.set_state(run_id, after, "So it was said.") is allowed
    run = get(run_id)
    assert run.state == (after if allowed else before)
    assert (run.sentence == "So it was said.") is allowed


def test_an_end_is_never_undone_but_by_a_resume():
    for end in states.ENDED:
        assert states.NEXT[end] == ({states.QUEUED} if end in states.RESUMABLE else set())
    assert states.FINISHED not in states.RESUMABLE
    assert set(states.NEXT) == set(states.LABELS)


def test_a_state_can_bring_facts_with_it(registry_home: Path):
    run_id = make()
    assert registry.set_state(run_id, states.STARTING, "Now.", pid=5, boot="b", started=7, tag="t")
    identity = get(run_id).identity
    assert identity is not None and (identity.boot, identity.pid, identity.started) == ("b", 5, 7)
    assert files.read_json(get(run_id).folder.state)["state"] == states.STARTING


def test_an_unknown_run_changes_nothing(registry_home: Path):
    assert registry.get_run("nothing") is None
    assert not registry.set_state("nothing", states.RUNNING, "x")
    registry.set_facts("nothing", step=3)
    assert registry.list_runs() == []


# --- runs


def test_a_run_is_a_folder_with_its_spec_and_a_row(registry_home: Path):
    run_id = make(name="Ünï cöde / ../ $(id)\n")
    run = get(run_id)
    assert paths.RUN_ID.fullmatch(run_id) and run.folder.path.parent == registry_home / "runs"
    assert run.folder.spec.read_text() == "name: small\n" and run.folder.path.stat().st_mode & 0o077 == 0
    assert (run.state, run.attempt, run.step, run.total, run.reward, run.spark) == (states.QUEUED, 1, 0, 0, None, [])


def test_runs_come_newest_first_and_can_be_picked_by_state(registry_home: Path):
    ids = [make(), make(states.RUNNING), make(states.FINISHED)]
    assert [run.id for run in registry.list_runs()] == ids[::-1]
    assert [run.id for run in registry.list_runs(only=states.LIVE)] == [ids[1]]
    assert registry.list_runs(only=set()) == []


def test_facts_are_kept_as_they_were_said(registry_home: Path):
    run_id = make()
    registry.set_facts(run_id, step=3, total=60, reward=0.25, spark=[0.1, 0.25], seen_at=5.0)
    run = get(run_id)
    assert (run.step, run.total, run.reward, run.spark, run.seen_at) == (3, 60, 0.25, [0.1, 0.25], 5.0)


@pytest.mark.parametrize(
    "run_id", ["..", "../x", "/etc", "a/b", "", ".", "-x", "a\0b", "a\nb", "x" * 65, "$(id)", "a b"]
)
def test_no_text_leads_out_of_the_runs_folder(registry_home: Path, run_id: str):
    with pytest.raises(ValueError, match="is not a run id"):
        paths.run_folder(run_id)


def test_a_link_is_no_run_folder(registry_home: Path, tmp_path: Path):
    (registry_home / "runs" / "linked").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is not a run id"):
        paths.run_folder("linked")


# --- what people ask


@pytest.mark.parametrize(("state", "kind"), [*itertools.product(states.LABELS, (STOP, KILL, RESUME))])
def test_only_what_makes_sense_now_can_be_asked(registry_home: Path, state: str, kind: str):
    run_id = make(state)
    if state in commands.ALLOWED[kind]:
        commands.ask_of_run(run_id, kind)
        assert [c.kind for c in commands.open_commands()] == [kind]
    else:
        with pytest.raises(Refused, match=f"there is nothing to {kind}"):
            commands.ask_of_run(run_id, kind)
        assert commands.open_commands() == []


def test_asking_twice_is_asking_once_even_after_it_was_taken(registry_home: Path):
    run_id = make(states.RUNNING)
    commands.ask_of_run(run_id, STOP)
    first = commands.asked_at(run_id, 1, STOP)
    commands.ask_of_run(run_id, STOP)
    (command,) = commands.open_commands()
    commands.take_command(command, "done")
    commands.take_command(command, "done")
    commands.ask_of_run(run_id, STOP)
    assert commands.open_commands() == [] and commands.asked_at(run_id, 1, STOP) == first


def test_each_attempt_can_be_stopped_anew(registry_home: Path):
    run_id = make(states.RUNNING)
    commands.ask_of_run(run_id, STOP)
    commands.take_command(commands.open_commands()[0], "done")
    registry.set_state(run_id, states.STOPPED, "Stopped.")
    registry.set_state(run_id, states.QUEUED, "Again.", attempt=2)
    assert commands.asked_at(run_id, 2, STOP) is None
    commands.ask_of_run(run_id, STOP)
    assert [(c.run, c.attempt) for c in commands.open_commands()] == [(run_id, 2)]


def test_many_who_ask_at_once_ask_once(registry_home: Path):
    run_id = make(states.RUNNING)
    threads = [threading.Thread(target=commands.ask_of_run, args=[run_id, STOP]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(commands.open_commands()) == 1


def test_asking_of_an_unknown_run_is_refused(registry_home: Path):
    with pytest.raises(Refused, match="There is no run “nothing”"):
        commands.ask_of_run("nothing", STOP)


def test_the_stop_flag_never_waits_for_a_locked_registry(registry_home: Path):
    run_id = make(states.RUNNING)
    flag = commands.StopFlag(run_id, 1)
    assert not flag.is_set()
    commands.ask_of_run(run_id, STOP)
    other = db.open_writer(paths.registry_path(), journal="delete")
    other.execute("BEGIN EXCLUSIVE")
    assert not flag.is_set()  # and at once: a training step must not wait
    other.execute("ROLLBACK")
    other.close()
    assert flag.is_set() and not commands.StopFlag(run_id, 2).is_set()


def test_what_is_published_replaces_what_was(registry_home: Path):
    assert registry.read_fact(Sandbox) is None
    registry.publish_fact(Sandbox(name="none", label="ü", sentence="", network="x"))
    newer = Sandbox(name="landlock", label="", sentence="")
    registry.publish_fact(newer)
    assert registry.read_fact(Sandbox) == newer


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
    assert run.sentence == (
        "Finished." if not odd else f"Finished. What its state.json said of {odd[0]} made no sense."
    )


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
    assert get("second").sentence == f"It is stopped. This folder is a copy of {run_id}."
