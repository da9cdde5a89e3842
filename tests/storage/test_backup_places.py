"""Where a backup cannot be written, or restored: said first, with nothing left behind and nothing changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupwise.storage.backup.names import BackupError
from groupwise.storage.backup.restore import restore_backup
from groupwise.storage.home import disk, paths
from tests.conftest import holding
from tests.support import small_disk
from tests.support.backups import back_up, left_beside, names_in, restored_home, tree_of_home
from tests.support.made_runs import made_run


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Path:
    return registry_home


def test_where_a_backup_cannot_be_written_is_said_first(tmp_path: Path) -> None:
    made_run("one", 3)
    (tmp_path / "there.tar").write_text("mine")
    for path, words in (
        (tmp_path / "x.zip", "not the name of a backup"), (tmp_path / "no" / "x.tar", "no folder"),
        (paths.home() / "x.tar", "in the data home itself"), (tmp_path / "there.tar", "--force"),
    ):  # fmt: skip
        with pytest.raises(BackupError, match=words):
            back_up(path)
    with holding(tmp_path / "x.tar.part"), pytest.raises(BackupError, match="Another backup"):
        back_up(tmp_path / "x.tar")
    (tmp_path / "x.tar.part").write_bytes(b"left by one that was killed" * 99999)
    (tmp_path / "x.tar.part").chmod(0o644)
    back_up(tmp_path / "x.tar")
    assert (tmp_path / "there.tar").read_text() == "mine" and (tmp_path / "x.tar").stat().st_mode & 0o777 == 0o600
    back_up(tmp_path / "there.tar", replace=True)
    assert names_in(tmp_path / "there.tar") == names_in(tmp_path / "x.tar")


@small_disk.needs_root
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_run("one", 3)
    (paths.data_folder() / "large.csv").write_bytes(os.urandom(3 * disk.MEGABYTE))
    with small_disk.small_disk(tmp_path / "small", 1) as small:
        with pytest.raises(BackupError, match="has less room"):
            back_up(small / "x.tar")
        with pytest.raises(BackupError, match="The disk is full"):
            back_up(small / "x.tar.gz")  # text would be a quarter of it
        assert left_beside(small) == set()
        back_up(tmp_path / "x.tar")
        with pytest.raises(BackupError, match="not enough room"):
            restore_backup(tmp_path / "x.tar", small / "home")
        assert left_beside(small) == set()


def test_a_home_that_is_in_use_or_not_empty_is_left_alone(tmp_path: Path) -> None:
    made_run("one", 3)
    back_up(tmp_path / "x.tar")
    before = tree_of_home()
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    with holding(paths.supervisor_lock()), pytest.raises(BackupError, match="A worker runs"):
        restore_backup(tmp_path / "x.tar", paths.home())
    paths.supervisor_lock().unlink()
    for into, words in (
        (paths.home(), "is not empty.*--into"), (tmp_path / "file", "is not a folder"), (tmp_path / "a/b", "no folder"),
    ):  # fmt: skip
        with pytest.raises(BackupError, match=words):
            restore_backup(tmp_path / "x.tar", into)
    assert tree_of_home() == before and left_beside(tmp_path) == {"home", "x.tar", "file", "empty"}
    with restored_home(tmp_path / "x.tar", tmp_path / "empty") as restored:
        assert restored.runs == 1
