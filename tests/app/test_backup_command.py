"""`groupwise backup` and `groupwise restore FILE`: what they say, and what is left where they are ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from tests.conftest import Groupwise, Start
from tests.support.backups import left_beside, names_in, tree_of_home
from tests.support.homes import in_home, wait_for
from tests.support.made_runs import made_run
from tests.support.run_states import make


def test_a_home_goes_through_a_file_by_command(groupwise: Groupwise, registry_home: Path, tmp_path: Path) -> None:
    one, two, queued = made_run("one", 5), made_run("two", 5, state=states.INTERRUPTED), make()
    file, new = str(tmp_path / "home.tar.gz"), tmp_path / "new"
    told = groupwise("backup", file)
    assert told.returncode == 0 and f"Backed up 3 runs to {file}: " in told.stdout
    assert "Left out: the worker's log, logins, and what is rebuilt." in told.stdout
    again = groupwise("backup", file)
    assert again.returncode == 2 and "already exists" in again.stderr and "--force" in again.stderr
    one_only = groupwise("backup", "--force", "--run", one[:-1], "--no-checkpoints", file)
    assert one_only.returncode == 0 and "Backed up 1 run " in one_only.stdout and "(--run)" in one_only.stdout
    assert not any(two in name for name in names_in(Path(file)))
    assert groupwise("backup", "--run", "nope", str(tmp_path / "x.tar")).returncode == 2
    assert groupwise("backup", "--force", file).returncode == 0
    refused = groupwise("restore", file)
    assert refused.returncode == 2 and "is not empty" in refused.stderr and "--into" in refused.stderr
    restored = groupwise("restore", file, "--into", str(new))
    assert restored.returncode == 0 and f"Restored 3 runs into {new}" in restored.stdout
    assert f"{two} is interrupted: `groupwise resume RUN` goes on." in restored.stdout
    with in_home(new):
        assert {run.id: run.state for run in registry.list_runs()} == {
            one: states.FINISHED, two: states.INTERRUPTED, queued: states.STOPPED,
        }  # fmt: skip
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(Path(file).read_bytes()[:-2000])
    for arguments, code, words in (
        (["backup", str(tmp_path / "k.yaml")], 2, "k.yaml is not the name of a backup, which ends with .tar.gz"),
        (["backup", str(tmp_path / "none" / "k.tar.gz")], 2, "There is no folder"),
        (["backup", str(registry_home / "k.tar.gz")], 2, "is in the data home itself"),
        (["restore", str(cut), "--into", str(tmp_path / "n")], 2, "is damaged"),
        (["restore", file, "--into", str(tmp_path / "none" / "n")], 2, "There is no folder"),
        (["restore", str(tmp_path / "no.tar.gz")], 2, "There is no file"),
        (["restore", file, file], 2, "one backup at a time"),
        (["restore", str(new / "registry.db"), "--into", str(tmp_path / "n")], 2, "is no backup of Groupwise."),
        (["restore", str(new / "registry.db")], 2, "is no backup of Groupwise. `groupwise backup FILE.tar.gz` makes"),
    ):
        result = groupwise(*arguments)
        assert result.returncode == code and words in result.stderr and result.stderr.count("\n") == 1, arguments
    assert left_beside(tmp_path) == {"home", "home.tar.gz", "cut.tar.gz", "new"}


def test_without_a_home_there_is_nothing_to_back_up(groupwise: Groupwise, own_home: Path, tmp_path: Path) -> None:
    result = groupwise("backup", str(tmp_path / "x.tar"))
    assert result.returncode == 1 and "nothing to back up" in result.stderr and not own_home.exists()


def test_what_could_not_be_read_is_said_and_the_exit_code_tells(groupwise: Groupwise, registry_home: Path) -> None:
    run_id = made_run("linked", 3)
    elsewhere = registry_home.parent / "elsewhere"
    paths.run_folder(run_id).path.rename(elsewhere)
    (paths.runs_folder() / run_id).symlink_to(elsewhere)
    result = groupwise("backup", str(registry_home.parent / "x.tar"))
    assert result.returncode == 1 and f"is not in it: {run_id} (its folder is a link)" in result.stderr
    assert (registry_home.parent / "x.tar").is_file()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_backup_that_is_ended_leaves_the_home_as_it_was(
    start: Start, groupwise: Groupwise, registry_home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    made_run("one", 30)
    (paths.data_folder() / "large.csv").write_bytes(os.urandom(100 * 2**20))
    before = tree_of_home()
    heard = {
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    }  # whoever runs the tests in the background has it ignored
    process = start("-m", "groupwise.app", "backup", str(tmp_path / "x.tar.gz"), **heard)
    part = tmp_path / "x.tar.gz.part"
    wait_for("some of the backup", lambda: part.exists() and part.stat().st_size > 2**20)
    process.send_signal(number)
    code = process.wait(timeout=30)
    assert tree_of_home() == before
    if number == signal.SIGINT:
        assert code == 130 and left_beside(tmp_path) == {"home"}
    else:
        assert part.stat().st_mode & 0o777 == 0o600
    assert groupwise("backup", str(tmp_path / "x.tar.gz")).returncode == 0
    assert left_beside(tmp_path) == {"home", "x.tar.gz"}
