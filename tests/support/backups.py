"""Backups for tests: made of this test's home, restored beside it, and packed by hand as an enemy would."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groupwise.storage.backup.backup import make_backup
from groupwise.storage.backup.restore import restore_backup
from groupwise.storage.backup.told import Restored, Told
from groupwise.storage.home import paths
from tests.support.homes import in_home


def back_up(path: Path, **options: Any) -> Told:
    return make_backup(path, "0.1.0", time.time(), **options)


@contextlib.contextmanager
def restored_home(archive: Path, into: Path) -> Iterator[Restored]:
    """A backup restored there, which is this process's home in the block."""
    restored = restore_backup(archive, into)
    with in_home(into):
        yield restored


def names_in(archive: Path) -> set[str]:
    """The files that count."""
    with tarfile.open(archive) as tar:
        listed = tar.extractfile("contents.json")
        assert listed is not None
        return set(json.loads(listed.read())["files"])


def tree_of_home() -> dict[str, bytes]:
    """Every file of this home and what is in it, without what SQLite keeps beside an open database."""
    place = paths.home()
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


HEAD = {"form": 1, "groupwise": "0.1.0", "made": 1.8e9, "runs": 1}
RUN = "runs/20260101-0000-evil-0001"


def file_entry(name: str, data: bytes = b"x", **facts: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A member of an archive: a plain file, but for `facts`."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o600
    for key, value in facts.items():
        setattr(entry, key, value)
    return entry, data


def packed(path: Path, *entries: tuple[tarfile.TarInfo, bytes], head: Any = HEAD, **options: Any) -> Path:
    """An archive as Groupwise makes it, of these entries."""
    head_entry = file_entry("backup.json", json.dumps(head).encode())
    listed = {e.name: [len(d), hashlib.sha256(d).hexdigest()] for e, d in [head_entry, *entries]}
    contents = file_entry("contents.json", json.dumps({"files": listed}).encode())
    return pack_as_is(path, head_entry, *entries, contents, **options)


def pack_as_is(path: Path, *entries: tuple[tarfile.TarInfo, bytes], format: int = tarfile.PAX_FORMAT) -> Path:
    """An archive of exactly these entries; of an entry that claims to have more only what there is."""
    raw = io.BytesIO()
    for entry, data in entries:
        raw.write(entry.tobuf(format, "utf-8", "surrogateescape"))
        raw.write(data + bytes(-len(data) % 512))
    raw.write(bytes(1024))
    path.write_bytes(gzip.compress(raw.getvalue(), 1) if path.name.endswith("gz") else raw.getvalue())
    return path


def left_beside(folder: Path) -> set[str]:
    return set(os.listdir(folder))
