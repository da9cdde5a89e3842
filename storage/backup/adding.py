"""How a file of a home gets into a backup, though it may be written to, or removed, as it is read."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from groupwise.storage.backup.archive import Archive
from groupwise.storage.backup.names import belongs_in_backup
from groupwise.storage.backup.told import Told
from groupwise.storage.home import db, disk, files, paths, process_log


class Adding:
    """Adds files of this home to an archive, and says of what cannot be read that it is not there."""

    def __init__(self, archive: Archive, told: Told) -> None:
        self.archive, self.told = archive, told
        self.strange: list[str] = []  # what lies in the home and is none of its files

    def add_file(self, name: str, path: Path) -> str | None:
        """Add a file, as it is; its SHA-256, or None where it is gone, or not there."""
        if not belongs_in_backup(name):
            self.strange.append(name)
            return None
        file = self._open(name, path)
        if file is None:
            return None
        with file:
            digest = self.archive.add(name, file, os.fstat(file.fileno()).st_size)
        if digest is None:
            self.told.unread.append(f"{name} (it could not be read to its end)")
        return digest

    def add_folder(self, name: str, folder: Path) -> None:
        """Add all files below a folder; links are none."""
        for path in walk_files(folder):
            self.add_file(f"{name}/{path.relative_to(folder)}", path)

    def add_log(self, name: str, path: Path) -> None:
        """Add a log that may still be written to. What does not pass Python on its way there is looked at for secrets
        when its run has ended, and here."""
        file = self._open(name, path)
        if file is None:
            return
        with file, tempfile.TemporaryFile(dir=paths.home()) as cleaned:
            cleaned.writelines(process_log.clean_blocks(file))
            size = cleaned.tell()
            cleaned.seek(0)
            self.archive.add(name, cleaned, size)

    def add_record(self, name: str, path: Path, *, busy: bool) -> None:
        """Add a run's record as it is at one moment. One that is damaged is added as it is where nobody writes to it:
        some of it may still be read."""
        if not files.is_file(path):
            return
        try:
            with db.copy_of_one_moment(path, paths.home()) as copy:
                self.archive.add(name, copy, os.fstat(copy.fileno()).st_size)
        except sqlite3.DatabaseError as error:
            if disk.is_full(error):
                raise
            if busy or not db.is_damage(error):
                self.told.unread.append(f"{name} ({error})")
            else:
                self.add_file(name, path)

    def _open(self, name: str, path: Path) -> BinaryIO | None:
        """A file; None of one that cannot be read, which is said, or is not there."""
        try:
            return files.open_file(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.told.unread.append(f"{name} ({error.strerror or error})")
            return None


def walk_files(folder: Path) -> Iterator[Path]:
    """The regular files below a folder, by name; none below a link."""
    if not files.is_folder(folder):
        return
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not (Path(place) / name).is_symlink())
        for name in sorted(names):
            if files.is_file(Path(place) / name):
                yield Path(place) / name


def size_of_file(path: Path) -> int:
    """Its bytes; 0 where it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
