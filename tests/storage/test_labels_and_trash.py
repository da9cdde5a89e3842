"""What people say of runs and what they delete: kept, carried along with a copied folder, put back as it was, gone
after a day, and never lost or brought back by a registry that is made anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from groupwise.storage.home import files, migrations, paths
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library import repair
from groupwise.storage.record import states
from groupwise.storage.registry import commands, labels, notes, outcomes, registry, trash
from groupwise.storage.registry.commands import RESUME, Refused
from groupwise.storage.registry.registry import Run
from tests.conftest import Start, ending
from tests.support.run_states import get, make

HOSTILE = "<img src=x onerror=alert(1)>\u202e[31m"


def ids() -> list[str]:
    return [run.id for run in registry.list_runs()]


def trashed() -> list[str]:
    return [gone.run.id for gone in trash.deleted_runs()]


# --- names, notes, tags


def test_a_run_is_renamed_and_keeps_its_id_and_what_was_asked(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    labels.rename(run_id, "  another\n name  ")
    assert get(run_id).name == "another name" and get(run_id).folder.spec.read_text() == "name: small\n"
    assert files.read_json(get(run_id).folder.state)["name"] == "another name"
    labels.rename(run_id, HOSTILE)
    assert get(run_id).name == HOSTILE


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "A run needs a name."), (" \n\t", "A run needs a name."), ("x" * 81, "this one has 81."),
        ("\u200b\u200b", "A run needs a name: this one has no visible character."),
        ("\ufeff \u2060\u200e", "A run needs"),
        ("\u3164", "A run needs"), ("\u0301", "A run needs"),
        ("a\x1b[31m", "The name has a control character, which cannot be seen. Remove it."),
    ],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(registry_home: Path, name: str, words: str) -> None:
    run_id = make()
    with pytest.raises(Refused) as refused:
        labels.rename(run_id, name)
    assert words in str(refused.value) and get(run_id).name == "small"
    with pytest.raises(Refused, match="There is no run “nope”"):
        labels.rename("nope", "x")


def test_a_note_is_written_changed_and_taken_back(registry_home: Path) -> None:
    run_id = make()
    for said in ("  two\nlines ", HOSTILE, ""):
        labels.write_note(run_id, said)
        assert get(run_id).note == said.strip()
    with pytest.raises(Refused, match="at most 2,000 characters; this one has 2,001"):
        labels.write_note(run_id, "x" * 2001)


def test_what_somebody_else_wrote_meanwhile_is_not_written_over(registry_home: Path) -> None:
    run_id = make()
    for write, column in ((labels.rename, "name"), (labels.write_note, "note")):
        first = getattr(get(run_id), column)
        write(run_id, "theirs", read=first)
        write(run_id, "theirs", read=first)  # both wrote the same
        with pytest.raises(labels.Meanwhile) as found:
            write(run_id, "mine", read=first)
        assert found.value.now == getattr(get(run_id), column) == "theirs"
        if first:
            write(run_id, first, read=first)  # whoever changed nothing changes nothing
        assert getattr(get(run_id), column) == "theirs"
        write(run_id, "mine", read="theirs")
        assert getattr(get(run_id), column) == files.read_json(get(run_id).folder.state)[column] == "mine"
        write(run_id, "said without a look")
    assert (get(run_id).name, get(run_id).note) == ("said without a look",) * 2


def test_tags_are_a_set_however_they_are_written(registry_home: Path) -> None:
    one, two = make(), make()
    labels.retag([one, two], add=["baseline, paper", "  two  words ", ""])
    labels.retag([two], add=["Paper"], remove=["BASELINE"])
    assert get(one).tags == ["baseline", "paper", "two words"] and get(two).tags == ["paper", "two words"]
    with pytest.raises(Refused, match="at most 40 characters"):
        labels.retag([one], add=["x" * 41])
    with pytest.raises(Refused, match="at most 20 tags"):
        labels.retag([two, one], add=[str(number) for number in range(18)])
    with pytest.raises(Refused, match="There is no run “nope”"):
        labels.retag([two, "nope"], add=["new"])
    assert get(two).tags == ["paper", "two words"]  # of several, all or none


def test_what_was_said_comes_along_with_a_copied_folder(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    labels.rename(run_id, "renamed")
    labels.retag([run_id], add=["tag"])
    labels.write_note(run_id, "a note")
    shutil.copytree(get(run_id).folder.path, registry_home / "runs" / "copied")
    assert repair.adopt_folders() == 1
    copied = get("copied")
    assert (copied.name, copied.tags, copied.note) == ("renamed (copy)", ["tag"], "a note")
    assert copied.state == states.FINISHED
    assert copied.number == get(run_id).number + 1  # of this home, not of where it comes from


def test_what_a_folder_says_that_cannot_be_is_left_out(registry_home: Path) -> None:
    folder = registry_home / "runs" / "odd"
    folder.mkdir()
    (folder / "spec.yaml").write_text("name: x\n")
    files.write_json(folder / "state.json", {"state": "finished", "name": "odd", "tags": ["x" * 99], "note": 7})
    repair.adopt_folders()
    assert (get("odd").tags, get("odd").note, get("odd").name) == ([], "", "odd")
    assert "Its state.json has no valid value for note, tags." in get("odd").sentence


def test_runs_are_numbered_in_the_order_in_which_they_came(registry_home: Path) -> None:
    ids = [make() for _ in range(3)]
    assert [get(run_id).number for run_id in ids] == [0, 1, 2]
    registry.set_state(ids[2], states.STOPPED, "It was taken off.")
    trash.delete_run(ids[2])
    newer = make()
    trash.restore_run(ids[2])
    assert (get(ids[2]).number, get(newer).number) == (2, 3)  # and so of another colour


def test_a_registry_of_before_is_numbered_by_age(tmp_path: Path) -> None:
    old = Database(tmp_path / "registry.db")
    names = [step.name for step in migrations.registry.pending(old)]
    migrations.registry.apply(old, stop_before="r005_labels_trash_outcomes")
    for name, created in (("second", 2.0), ("first", 1.0), ("third", 3.0)):
        row = {"id": name, "name": name, "model": "", "data": "", "created": created, "state": "finished",
               "sentence": "", "state_at": 1.0, "attempt": 1, "step": 0, "total": 0, "spark": "[]"}  # fmt: skip
        old.table("run").insert(row)
    migrations.registry.apply(old)
    assert list(old.execute("SELECT id, number, note, tags FROM run ORDER BY number")) == [
        (name, number, "", "[]") for number, name in enumerate(("first", "second", "third"))
    ]
    assert "r005_labels_trash_outcomes" in names
    old.close()


# --- deleting


def test_a_deleted_run_is_gone_from_everywhere_and_comes_back_as_it_was(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    labels.retag([run_id], add=["kept"])
    notes.star(run_id, 1, 0, True)
    before, inside = get(run_id), sorted(path.name for path in get(run_id).folder.path.iterdir())
    trash.delete_run(run_id)
    assert ids() == [] and trashed() == [run_id] and trash.count_deleted() == 1
    assert not before.folder.path.exists() and (registry_home / "trash" / run_id / "spec.yaml").is_file()
    assert repair.adopt_folders() == repair.adopt_trash() == 0 and ids() == []
    trash.restore_run(run_id)
    assert get(run_id) == before and trashed() == []
    assert sorted(path.name for path in before.folder.path.iterdir()) == inside
    assert notes.starred_completions(run_id) == [(1, 0)]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (states.STARTING, "is starting: stop it first"),
        (states.RUNNING, "is running: stop it first"),
        (states.STOPPING, "is stopping: stop it first"),
    ],
)
def test_a_run_that_trains_or_waits_is_not_deleted(registry_home: Path, state: str, words: str) -> None:
    run_id = make(state)
    with pytest.raises(Refused, match=words):
        trash.delete_run(run_id)
    assert ids() == [run_id] and get(run_id).folder.path.is_dir() and trashed() == []


def test_a_run_in_whose_folder_something_works_is_not_deleted(registry_home: Path) -> None:
    run_id = make(states.FAILED)
    hold = "import sys, pathlib; from groupwise.storage.home import locks; locks.hold(pathlib.Path(sys.argv[1])); "
    with ending() as start:
        process = start(
            "-c",
            hold + "print('held', flush=True); sys.stdin.read()",
            str(get(run_id).folder.lock),
            stdin=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stdout.readline().strip() == "held"
        with pytest.raises(Refused, match="A process still works in the folder"):
            trash.delete_run(run_id)
    trash.delete_run(run_id)
    assert trashed() == [run_id]


def test_a_run_whose_model_another_trains_is_not_deleted(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    model = str(get(run_id).folder.final)
    registry.create_run("name: next\n", name="next", model=model, data="task:arithmetic")
    with pytest.raises(Refused, match="next trains the model of small"):
        trash.delete_run(run_id)


def test_a_run_that_was_asked_to_resume_as_it_was_deleted_is_not_started(registry_home: Path) -> None:
    run_id = make(states.FAILED)
    commands.ask_of_run(run_id, RESUME)
    trash.delete_run(run_id)
    [command] = commands.open_commands()
    assert registry.get_run(command.run) is None  # the supervisor's "too late"


def test_what_is_not_there_is_neither_deleted_nor_restored(registry_home: Path) -> None:
    for change in (trash.delete_run, trash.restore_run):
        for odd in ("nope", "", "../x", "a/b", "x" * 500):
            with pytest.raises(Refused, match="There is no"):
                change(odd)


def test_a_run_is_not_restored_over_another_of_its_id(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    copy = registry_home / "copy"
    shutil.copytree(get(run_id).folder.path, copy)
    trash.delete_run(run_id)
    copy.rename(registry_home / "runs" / run_id)
    with pytest.raises(Refused, match="There is now another run"):
        trash.restore_run(run_id)
    repair.adopt_folders()
    with pytest.raises(Refused, match="There is now another run"):
        trash.restore_run(run_id)
    assert ids() == trashed() == [run_id]


def test_a_run_whose_folder_was_removed_by_hand_can_be_deleted_too(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    shutil.rmtree(get(run_id).folder.path)
    trash.delete_run(run_id)
    trash.restore_run(run_id)
    trash.delete_run(run_id)
    assert trash.erase({run_id}) == 1 and trashed() == ids() == []


def test_after_a_day_a_deleted_run_is_gone_for_good_and_its_disk_free(registry_home: Path) -> None:
    old, new = make(states.FINISHED), make(states.FINISHED)
    for run_id in (old, new):
        notes.star(run_id, 1, 0, True)
        outcomes.keep_outcomes([(run_id, "mark", "{}")])
        trash.delete_run(run_id)
    with registry.write_registry() as index:
        index.execute("UPDATE trash SET deleted_at = ? WHERE id = ?", [time.time() - trash.KEPT - 1, old])
    assert trash.erase_old() == 1
    assert trashed() == [new] and [path.name for path in (registry_home / "trash").iterdir()] == [new]
    assert notes.of_run(old) == [] and set(outcomes.kept_outcomes([old, new])) == {new}
    assert len(notes.of_run(new)) == 1
    assert trash.erase_old(time.time() + trash.KEPT + 1) == 1 and list((registry_home / "trash").iterdir()) == []


def test_a_registry_made_anew_neither_loses_nor_brings_back_what_was_deleted(registry_home: Path) -> None:
    kept, gone = make(states.FINISHED, "kept"), make(states.FINISHED, "gone")
    labels.retag([gone], add=["tag"])
    trash.delete_run(gone)
    at = trash.deleted_runs()[0].at
    paths.registry_path().write_bytes(b"garbage" * 1000)
    _, found = repair.repair()
    assert found == 1 and ids() == [kept] and trashed() == [gone]
    assert trash.deleted_runs()[0].at == at and trash.deleted_runs()[0].run.tags == ["tag"]
    trash.restore_run(gone)
    assert get(gone).name == "gone" and get(gone).state == states.FINISHED and set(ids()) == {kept, gone}


def test_a_deletion_that_was_cut_short_is_undone(registry_home: Path) -> None:
    """The folder had moved, and the transaction was not committed."""
    run_id = make(states.FINISHED)
    get(run_id).folder.path.rename(registry_home / "trash" / run_id)
    assert repair.adopt_trash() == 0
    assert ids() == [run_id] and get(run_id).folder.spec.is_file() and trashed() == []


def test_a_restoring_that_was_cut_short_is_done(registry_home: Path) -> None:
    """The folder had moved, and the transaction was not committed: a day later its notes would have gone."""
    run_id = make(states.FINISHED)
    trash.delete_run(run_id)
    (registry_home / "trash" / run_id).rename(paths.runs_folder() / run_id)
    assert repair.adopt_folders() == 1
    assert ids() == [run_id] and trashed() == []


def test_a_removal_that_was_cut_short_is_found_again(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    trash.delete_run(run_id)
    with registry.write_registry() as index:
        index.execute("DELETE FROM trash")
    files.write_json(trash.trashed_folder(run_id).deletion, {"at": 1.0})
    assert repair.adopt_trash() == 1 and trash.erase_old() == 1 and list((registry_home / "trash").iterdir()) == []


@pytest.mark.parametrize("said", [None, [], {"at": "x"}, {"at": -1}, {"at": 1e300}, {"at": True}, "garbage"])
def test_what_a_folder_says_of_its_deletion_is_not_believed_blindly(registry_home: Path, said: object) -> None:
    run_id = make(states.FINISHED)
    trash.delete_run(run_id)
    place = trash.trashed_folder(run_id).deletion
    place.write_text("{" if said == "garbage" else json.dumps(said))
    assert abs(trash.deleted_at(trash.trashed_folder(run_id)) - time.time()) < 60


def test_links_in_the_trash_are_left_alone(registry_home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    (registry_home / "trash" / "linked").symlink_to(outside)
    assert repair.adopt_trash() == 0 and trashed() == []
    run_id = make(states.FINISHED)
    (get(run_id).folder.path / "out").symlink_to(outside)
    trash.delete_run(run_id)
    trash.erase({run_id})
    assert (outside / "file").read_text() == "x"


def test_a_deleted_run_of_an_older_version_is_read(registry_home: Path) -> None:
    run_id = make(states.FINISHED)
    trash.delete_run(run_id)
    with closing(sqlite3.connect(paths.registry_path())) as index, index:
        row = json.loads(index.execute("SELECT row FROM trash").fetchone()[0])
        row = {name: value for name, value in row.items() if name not in ("note", "tags", "number")} | {"later": 1}
        index.execute("UPDATE trash SET row = ?", [json.dumps(row)])
    trash.restore_run(run_id)
    assert isinstance(get(run_id), Run) and get(run_id).tags == []


def test_two_that_delete_one_run_at_once_delete_it_once(registry_home: Path, start: Start) -> None:
    run_id = make(states.FINISHED)
    code = (
        "import sys; from groupwise.storage.registry import trash\n"
        "try: trash.delete_run(sys.argv[1]); print('done')\n"
        "except trash.Refused as refused: print(refused)"
    )
    said = sorted(process.communicate()[0].strip() for process in [start("-c", code, run_id) for _ in range(4)])
    assert said == ["done"] + ["small is deleted already."] * 3
    assert trashed() == [run_id] and (registry_home / "trash" / run_id / "spec.yaml").is_file()
