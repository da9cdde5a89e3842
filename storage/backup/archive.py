"""A backup in the making: FILE.part, which becomes FILE once all of it is on the disk, and is gone if that fails."""

import contextlib
import fcntl
import gzip
import hashlib
import io
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from groupwise.storage.backup.names import CONTENTS, ENDINGS, MOST_FILES, BackupError, WrongGiven
from groupwise.storage.home import disk
from groupwise.storage.home.redaction import to_json

LEVEL = 3  # weights are hardly made smaller by more, and records are at once
BLOCK = 2**20  # bytes that are copied at once


class Archive:
    """What is added stands in the archive under its name, one after another. `contents`: by name, size and SHA-256."""

    def __init__(self, file: BinaryIO, *, packed: bool) -> None:
        self._gzip = gzip.GzipFile("", "wb", LEVEL, file) if packed else None
        self._tar = tarfile.TarFile(fileobj=self._gzip or file, mode="w", format=tarfile.PAX_FORMAT, copybufsize=BLOCK)
        self._made = int(time.time())
        self.contents: dict[str, tuple[int, str]] = {}

    def add(self, name: str, source: BinaryIO, size: int) -> str | None:
        """Add so many bytes of a file; their SHA-256. None where it had fewer: then it is not listed."""
        if len(self.contents) >= MOST_FILES:
            raise BackupError(
                f"There are more than {MOST_FILES:,} files, which no backup holds. Leave runs out (--run)."
            )
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, 0o600, self._made
        reading = _Reading(source)
        self._tar.addfile(entry, reading)  # type: ignore[arg-type]  # it only reads
        self._tar.members.clear()  # type: ignore[attr-defined]  # or it would keep every header to the end
        if reading.missing:
            return None
        self.contents[name] = size, reading.digest.hexdigest()
        return reading.digest.hexdigest()

    def add_json(self, name: str, value: Any, *, indent: int | None = 1) -> None:
        """Add a small file, without secrets."""
        data = to_json(value, indent=indent).encode("utf-8")
        self.add(name, io.BytesIO(data), len(data))

    def drop(self, folder: str) -> None:
        """Let what was added below a folder not count."""
        for name in [name for name in self.contents if name.startswith(f"{folder}/")]:
            del self.contents[name]

    def finish(self) -> None:
        """Add the list of all that counts, and write what is held."""
        self.add_json(CONTENTS, {"files": self.contents}, indent=None)
        self._tar.close()
        if self._gzip is not None:
            self._gzip.close()

    def give_up(self) -> None:
        """Let go of the file."""
        if self._gzip is not None:
            with contextlib.suppress(OSError, ValueError):  # a full disk
                self._gzip.close()


class _Reading:
    """A file as tarfile reads it: never too short, or the rest of the archive would stand in the wrong place."""

    def __init__(self, source: BinaryIO) -> None:
        self._source, self.digest, self.missing = source, hashlib.sha256(), 0

    def read(self, size: int) -> bytes:
        try:
            found = self._source.read(size)
        except OSError:  # a failing disk: what cannot be read does not count, and the rest is packed
            found = b""
        self.digest.update(found)
        self.missing += size - len(found)
        return found + bytes(size - len(found))


@contextlib.contextmanager
def writing_archive(path: Path, *, replace: bool) -> Iterator[Archive]:
    """An archive that is written in the block. Raises BackupError; then, and after Ctrl-C, nothing of it is left."""
    refuse_taken(path, replace)
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(_open_part(part), "wb") as file:
        made = Archive(file, packed=not path.name.endswith(ENDINGS[-1]))
        try:
            yield made
            made.finish()
            file.flush()
            os.fsync(file.fileno())
            refuse_taken(path, replace)
            part.replace(path)
        except BaseException as error:
            made.give_up()
            part.unlink(missing_ok=True)
            if isinstance(error, Exception) and disk.is_full(error):
                raise BackupError(
                    f"The disk is full ({path.parent}), or that of the home. No backup was made."
                ) from error
            raise


def refuse_taken(path: Path, replace: bool) -> None:
    """Raises WrongGiven where something is there already that is not to be replaced."""
    if path.is_dir():
        raise WrongGiven(f"{path} is a folder. Give the file that is to be written: {path}/groupwise.tar.gz.")
    if os.path.lexists(path) and not replace:
        raise WrongGiven(f"{path} already exists. Give another name, or --force to replace it.")


def _open_part(part: Path) -> int:
    """FILE.part, which nobody else writes; what was left there by a backup that was killed is written over."""
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino != part.stat().st_ino:  # it was finished just now, and has its name
            raise FileNotFoundError
        os.fchmod(descriptor, 0o600)
        os.ftruncate(descriptor, 0)
    except OSError as error:
        os.close(descriptor)
        raise BackupError(f"Another backup is being written to {part}.") from error
    return descriptor
