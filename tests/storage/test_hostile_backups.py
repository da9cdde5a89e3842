"""Backups that an enemy made, or that were damaged on the way: nothing is written outside, nothing stays."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.backup import names
from groupwise.storage.backup.names import BackupError
from groupwise.storage.backup.restore import restore_backup
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from tests.support.backups import HEAD, RUN, back_up, file_entry, left_beside, pack_as_is, packed, restored_home
from tests.support.made_runs import made_run

Entry = tuple[tarfile.TarInfo, bytes]
SPEC = b"name: evil\nrewards: [{name: format}]\n"


def refused(archive: Path, words: str) -> None:
    """The archive is refused with these words, and its folder is as it was."""
    before = left_beside(archive.parent)
    with pytest.raises(BackupError, match=words):
        restore_backup(archive, archive.parent / "new")
    assert left_beside(archive.parent) == before


@pytest.mark.parametrize(
    "name",
    ["/etc/cron.d/x", "../x", "runs/../../x", f"{RUN}/../../x", f"{RUN}/checkpoints/../../../x", "./backup.json", "x",
     "registry.db", "supervisor.lock", "runs/x/y/z", "data/.hidden", "data/a/b.csv", "runs/.x/spec.yaml",
     f"{RUN}/run.db-wal", f"{RUN}/run.lock", f"{RUN}/rewards", "models/starter/model.safetensors", "models/x",
     "rewards/mine/evil.py", "rewards/os.system/0123456789abcdef.py", "trash/x/spec.yaml", "uploads/x", "data/a\nb",
     "data/a\x1b[31m", f"{RUN}/checkpoints/{'a/' * 20}x", "", "data//x", f"{RUN}/final/a\0b/../..", "C:\\x",
     f"data/{'ü' * 200}.csv", "data/\udcff.csv"],
    ids=ascii,
)  # fmt: skip
def test_only_names_that_a_home_has_are_written(tmp_path: Path, name: str) -> None:
    refused(
        packed(tmp_path / "evil.tar", file_entry(name)), "is not a file of a data home|is not a regular file|damaged"
    )


@pytest.mark.parametrize(
    "facts",
    [{"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, {"type": tarfile.LNKTYPE, "linkname": "backup.json"},
     {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}, {"type": tarfile.BLKTYPE}, {"type": tarfile.FIFOTYPE},
     {"type": tarfile.DIRTYPE}, {"type": tarfile.CONTTYPE}, {"type": tarfile.GNUTYPE_SPARSE}, {"type": b"Z"},
     {"type": tarfile.GNUTYPE_LONGNAME}, {"type": tarfile.XGLTYPE}, {"linkname": "/etc/passwd"}, {"mode": 0o4755},
     {"mode": 0o2755}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("at", ["first", "later"])
def test_only_plain_files_are_written(tmp_path: Path, facts: dict[str, Any], at: str) -> None:
    evil = file_entry("data/a.csv", b"", **facts)
    if at == "first":
        refused(pack_as_is(tmp_path / "evil.tar.gz", evil), "is not a regular file|another user's rights|damaged")
    else:
        refused(packed(tmp_path / "evil.tar.gz", evil), "is not a regular file|another user's rights")


def test_a_file_through_a_link_or_another_file_is_not_written(tmp_path: Path) -> None:
    link = file_entry(f"{RUN}/checkpoints", b"", type=tarfile.SYMTYPE, linkname=str(tmp_path))
    refused(packed(tmp_path / "a.tar", link, file_entry(f"{RUN}/checkpoints/x")), "is not a regular file")
    below = [file_entry(f"{RUN}/final/x"), file_entry(f"{RUN}/final/x/y")]
    refused(packed(tmp_path / "b.tar", *below), "is a file and a folder")
    refused(packed(tmp_path / "c.tar", *reversed(below)), "is a file and a folder")
    refused(packed(tmp_path / "d.tar", file_entry("data/a.csv"), file_entry("data/a.csv", b"y")), "is there twice")
    refused(packed(tmp_path / "e.tar", file_entry("backup.json")), "is there twice")


def test_bombs_are_refused_before_they_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = file_entry("data/a.csv", b"")
    large[0].size = 2**50
    refused(packed(tmp_path / "claims.tar.gz", large), "not enough room")
    large[0].size = 10**25
    refused(pack_as_is(tmp_path / "claims more.tar", file_entry("backup.json", json.dumps(HEAD).encode()), large,
                       format=tarfile.GNU_FORMAT), "not enough room|damaged")  # fmt: skip
    monkeypatch.setattr("groupwise.storage.backup.unpack.MOST_FILES", 50)
    many = [file_entry(f"data/a{number}.csv", b"") for number in range(60)]
    refused(packed(tmp_path / "many.tar.gz", *many), "more than 50 files")


def test_headers_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    header = file_entry("x", bytes(10 * 2**20), type=tarfile.XHDTYPE)
    refused(pack_as_is(tmp_path / "long.tar.gz", header), "is not a regular file")
    chain = [file_entry("x", b"6 a=b\n", type=tarfile.XHDTYPE) for _ in range(5000)]
    refused(pack_as_is(tmp_path / "chain.tar.gz", *chain), "damaged")
    for holes in ("GNU.sparse.size=99999999", "GNU.sparse.map=0,1"):
        line = f" {holes}\nX"[:-1]
        line = f"{len(line) + 2}{line}"
        sparse = [file_entry("x", line.encode(), type=tarfile.XHDTYPE), file_entry("data/a.csv")]
        refused(pack_as_is(tmp_path / "sparse.tar.gz", file_entry("backup.json", json.dumps(HEAD).encode()), *sparse),
                "is not a regular file|damaged")  # fmt: skip


def test_a_gzip_that_says_another_name_or_never_ends_is_no_way_out(tmp_path: Path) -> None:
    inner = packed(tmp_path / "a.tar", file_entry("data/a.csv")).read_bytes()
    buffer = io.BytesIO()
    with gzip.GzipFile("/etc/cron.d/evil", "wb", fileobj=buffer) as file:
        file.write(inner)
    (tmp_path / "named.tar.gz").write_bytes(buffer.getvalue())
    restore_backup(tmp_path / "named.tar.gz", tmp_path / "named")
    (tmp_path / "endless.tar.gz").write_bytes(gzip.compress(bytes(50 * 2**20), 1))
    refused(tmp_path / "endless.tar.gz", "a damaged one")


@pytest.mark.parametrize(
    "head", [{}, [], "x", {**HEAD, "form": "1"}, {**HEAD, "made": 1e400}, {**HEAD, "runs": -1},
             {**HEAD, "form": 2**70}],
    ids=str,
)  # fmt: skip
def test_an_archive_that_groupwise_did_not_make_is_called_so(tmp_path: Path, head: Any) -> None:
    refused(packed(tmp_path / "a.tar.gz", file_entry("data/a.csv"), head=head), "not a backup that Groupwise made")


def test_other_files_are_no_backups(tmp_path: Path) -> None:
    (tmp_path / "text.tar.gz").write_text("hello\n" * 999)
    refused(tmp_path / "text.tar.gz", "not a backup of Groupwise, or a damaged one")
    (tmp_path / "empty.tar.gz").write_bytes(b"")
    refused(tmp_path / "empty.tar.gz", "not a backup of Groupwise, or a damaged one")
    refused(pack_as_is(tmp_path / "other.tar.gz", file_entry("data/a.csv")), "not a backup that Groupwise made")
    refused(packed(tmp_path / "newer.tar", head={**HEAD, "form": 2, "groupwise": "9.0"}), r"newer version .*\(9.0\)")


def packed_files(place: Path) -> dict[str, bytes]:
    """What a restored home has of the archive itself."""
    made_anew = ("registry.db", "-wal", "-shm")
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and not path.name.endswith(made_anew)
    }


@pytest.mark.parametrize("name", ["home.tar", "home.tar.gz"])
def test_a_damaged_or_cut_archive_says_where_and_leaves_nothing(registry_home: Path, tmp_path: Path, name: str) -> None:
    made_run("one", 30)
    made_run("two", 30)
    back_up(tmp_path / name)
    whole, bad = (tmp_path / name).read_bytes(), tmp_path / f"bad-{name}"
    for part in range(1, 12):
        bad.write_bytes(whole[: len(whole) * part // 12])
        refused(bad, "damaged|cut off")
    restore_backup(tmp_path / name, tmp_path / "whole")
    harmless = 0
    for at in range(40, len(whole), len(whole) // 30):
        flipped = bytearray(whole)
        flipped[at] ^= 0x40
        bad.write_bytes(flipped)
        try:
            restore_backup(bad, tmp_path / "new")
        except BackupError:
            assert not (tmp_path / "new").exists()
        else:  # between two files
            assert packed_files(tmp_path / "new") == packed_files(tmp_path / "whole")
            shutil.rmtree(tmp_path / "new")
            harmless += 1
    assert harmless < 8 and left_beside(tmp_path) == {"home", name, f"bad-{name}", "whole"}


def test_where_an_archive_was_cut_is_said(registry_home: Path, tmp_path: Path) -> None:
    made_run("one", 30)
    back_up(tmp_path / "home.tar")
    whole = (tmp_path / "home.tar").read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: whole.index(b"state.json") + 600])
    refused(tmp_path / "cut.tar", r"cut off after runs/.*/notes.json, its file \d+ ")
    for end in (0, 512, 1024, 10240):  # an archive that ends between two files
        (tmp_path / "between.tar").write_bytes(whole[: whole.index(b"contents.json") // 512 * 512] + bytes(end))
        refused(tmp_path / "between.tar", "after presets.json.*the end is missing")


def test_what_is_not_listed_does_not_count(tmp_path: Path) -> None:
    head, kept, extra = (
        file_entry("backup.json", json.dumps(HEAD).encode()),
        file_entry("data/a.csv"),
        file_entry("data/b.csv"),
    )
    listed = {"files": {"data/a.csv": [1, hashlib.sha256(b"x").hexdigest()]}}
    contents = file_entry("contents.json", json.dumps(listed).encode())
    restore_backup(pack_as_is(tmp_path / "a.tar", head, kept, extra, contents), tmp_path / "first")
    assert os.listdir(tmp_path / "first" / "data") == ["a.csv"]
    refused(pack_as_is(tmp_path / "after.tar", head, kept, contents, extra), "comes after its end")
    wrong = file_entry("contents.json", json.dumps({"files": {"data/a.csv": [1, "0" * 64]}}).encode())
    refused(pack_as_is(tmp_path / "wrong.tar", head, kept, wrong), "a.csv is not as it was packed")
    missing = file_entry("contents.json", json.dumps({"files": {"data/c.csv": [1, "0" * 64]}}).encode())
    refused(pack_as_is(tmp_path / "missing.tar", head, kept, missing), "c.csv is not as it was packed")


def hostile_run(**files: Any) -> list[Entry]:
    made = {name: data if isinstance(data, bytes) else json.dumps(data).encode() for name, data in files.items()}
    return [file_entry(f"{RUN}/{name.replace('__', '.')}", data) for name, data in made.items()]


@pytest.mark.parametrize(
    "state",
    [{"state": "running", "pid": 1, "boot": "x", "started": 1, "tag": "x"}, {"state": "queued"}, {"state": "owned"},
     {"step": 2**70}, {"id": "../../x"}, [[[]]], {"name": "x" * 10**6}, {"sentence": "<script>"}, {"tags": {"a": 1}}],
    ids=lambda state: str(state)[:40],
)  # fmt: skip
def test_what_a_run_says_of_itself_starts_and_signals_nothing(tmp_path: Path, state: Any) -> None:
    archive = packed(tmp_path / "a.tar", *hostile_run(spec__yaml=SPEC, state__json=state))
    with restored_home(archive, tmp_path / "new"):
        [run] = registry.list_runs()
        assert run.state in states.ENDED and run.id == RUN.split("/")[1]


def test_code_presets_and_notes_are_taken_only_as_far_as_they_are_what_they_say(tmp_path: Path) -> None:
    code = b"import os\nos.mkdir('ran')\ndef mine(completions, **kwargs):\n    return [0.0]\n"
    card = {"newest": {"a": 1}, "versions": {"0123456789abcdef": 7}}
    good = {"name": "good", "sentence": "", "spec": "name: x\n", "at": 1.0}
    rows = [good, {**good, "name": "\x1b"}, {"name": ["x"]}, 7, {**good, "name": "long", "spec": "x" * 10**7}]
    archive = packed(
        tmp_path / "a.tar",
        *hostile_run(spec__yaml=SPEC, notes__json=[{"grp": 2**70, "idx": []}, 7], train__py=code, task__py=code),
        file_entry("rewards/mine/0123456789abcdef.py", code),
        file_entry("rewards/mine/versions.json", json.dumps(card).encode()),
        file_entry("presets.json", json.dumps(rows).encode()),
    )
    before = os.listdir()
    with restored_home(archive, tmp_path / "new"):
        assert [one.name for one in presets.own_presets()] == ["good"]
        assert library.get_reward("mine").code.encode() == code and not library.get_reward("mine").network
        assert len(registry.list_runs()) == 1
        assert not (paths.home() / "ran").exists()
    assert os.listdir() == before


def test_a_record_with_a_trigger_is_kept_and_never_obeyed(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "evil.db") as evil:
        evil.execute("CREATE TABLE acknowledged (seq INTEGER PRIMARY KEY, attempt, step, at)")
        evil.execute(
            "CREATE VIEW metric AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n FROM x) SELECT n FROM x"
        )
    evil.close()
    data = (tmp_path / "evil.db").read_bytes()
    with restored_home(
        packed(tmp_path / "a.tar", *hostile_run(spec__yaml=SPEC, run__db=data)), tmp_path / "new"
    ) as told:
        assert [one.split()[0] for one in told.damaged] == [RUN.split("/")[1]]
        assert paths.run_folder(RUN.split("/")[1]).db.read_bytes() == data


def test_the_names_of_a_home_are_told_from_all_others() -> None:
    for name in (
        f"{RUN}/run.db", f"{RUN}/checkpoints/stage-1/model/config.json", f"{RUN}/run.damaged-20260101-000000.db",
        "data/größe 1.csv", "models/own/config.json", f"{RUN}/rewards/mine.py",
    ):  # fmt: skip
        assert names.belongs_in_backup(name), name
    assert not names.belongs_in_backup(f"{RUN}/rewards/__pycache__/mine.pyc")
