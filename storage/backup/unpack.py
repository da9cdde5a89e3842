"""Taking an archive apart that anyone may have made: every name, size and byte of it is an enemy's until it was looked
at. Only plain files that a home has are written, by us, into a folder in which there is nothing else."""

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn

from pydantic import Field, TypeAdapter

from groupwise.storage.backup.names import CONTENTS, FORM, HEAD, MOST_FILES, BackupError, WrongGiven, belongs_in_backup
from groupwise.storage.home import disk, files
from groupwise.storage.home.value_types import Form, Text, When, Whole, text_type, value_if_fitting

MOST_HEADER = 64 * 1024  # bytes of what stands before a file for a name that is long
MOST_CONTENTS = 256 * 2**20  # bytes of the list of all files
KEYS = {"path", "size"}  # what may stand there
BLOCK = 2**20
GZIP = b"\x1f\x8b"
MAGIC = slice(257, 262)  # where a tar file says that it is one
MAKE_ONE = "`groupwise backup FILE.tar.gz` makes one."
# What a damaged file makes of gzip and tarfile.
_BROKEN = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, RecursionError, ValueError, OverflowError)


class Head(Form):
    """What a backup says of itself."""

    form: Whole
    groupwise: text_type(40)  # type: ignore[valid-type]
    made: When
    runs: Whole


class Contents(Form):
    """Each file that counts: its size, and its SHA-256."""

    files: Annotated[dict[Text, tuple[Whole, Text]], Field(max_length=MOST_FILES)]


_HEAD, _CONTENTS = TypeAdapter(Head), TypeAdapter(Contents)


class _Entry(tarfile.TarInfo):
    """What stands before each file. tarfile would believe it, and hold all of it in memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        is_long_name = self.type == tarfile.XHDTYPE and self.size <= MOST_HEADER
        if not is_long_name and self.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            _refuse(self.name, "is not a regular file")
        return super()._proc_member(tar)  # type: ignore[misc]

    def _refuse_holes(self, *_: object) -> NoReturn:
        _refuse(self.name, "is not a regular file")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_holes


def _refuse(name: str, why: str) -> NoReturn:
    raise WrongGiven(f"It holds “{name[:200]}”, which {why}: Groupwise did not make it. Nothing was restored.")


def may_be_backup(archive: Path) -> bool:
    """Whether a file begins as an archive does that may be a backup. Raises OSError."""
    with files.open_file(archive, follow=True) as file:
        head = file.read(MAGIC.stop)
    return head.startswith(GZIP) or head[MAGIC] == b"ustar"


def unpack(archive: Path, place: Path) -> Head:
    """Write what a backup holds into an empty folder of our own; what it says of itself. Raises BackupError, which says
    where it broke, and OSError."""
    unpacking = _Unpacking(place)
    try:
        with files.open_file(archive, follow=True) as file:
            unpacking.take_all(file)
    except BackupError:
        raise
    except _BROKEN as error:
        raise unpacking.break_off(str(error) or type(error).__name__) from error
    return unpacking.check()


class _Unpacking:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._found: dict[str, tuple[int, str]] = {}
        self._head: Head | None = None
        self._last = ""

    def take_all(self, file: BinaryIO) -> None:
        """Write each file, in the archive's order."""
        is_packed = file.read(2) == GZIP
        file.seek(0)
        stream: Any = gzip.GzipFile(fileobj=file) if is_packed else file
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Entry) as tar:
            for entry in _entries(tar):
                self._check_entry(entry)
                self._write(tar, entry)
                self._last = entry.name
                if self._head is None:
                    self._head = self._read_head()

    def _check_entry(self, entry: tarfile.TarInfo) -> None:
        name = entry.name
        if not entry.isreg() or entry.issparse() or not entry.pax_headers.keys() <= KEYS or entry.linkname:
            _refuse(name, "is not a regular file")
        if not belongs_in_backup(name):
            _refuse(name, "is not a file of a data home")
        if entry.mode & 0o7000:
            _refuse(name, "would run with another user's rights")
        if name in self._found:
            _refuse(name, "is there twice")
        if (self._head is None) != (name == HEAD):
            raise WrongGiven(f"It is not a backup that Groupwise made. {MAKE_ONE}")
        if CONTENTS in self._found:
            _refuse(name, "comes after its end")
        if len(self._found) > MOST_FILES:
            raise WrongGiven(f"It holds more than {MOST_FILES:,} files. Nothing was restored.")
        if entry.size < 0 or disk.lacks(self._place, entry.size + disk.TO_BEGIN):
            free = disk.megabytes(disk.free_bytes(self._place))
            raise BackupError(
                f"There is not enough room in {self._place.parent}: “{name[:200]}” alone has "
                f"{disk.megabytes(entry.size)}, and {free} is free, of which {disk.megabytes(disk.TO_BEGIN)} must stay "
                "free. Nothing was restored."
            )
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4
            tarfile.data_filter(entry, str(self._place))

    def _write(self, tar: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
        source, path, digest, left = tar.extractfile(entry), self._place / entry.name, hashlib.sha256(), entry.size
        assert source is not None  # it is a plain file
        try:
            for folder in [one for one in reversed(path.parents) if one.is_relative_to(self._place)]:
                folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except (FileExistsError, NotADirectoryError):
            _refuse(entry.name, "is a file and a folder")
        with os.fdopen(descriptor, "wb") as file:
            while left and (block := source.read(min(BLOCK, left))):
                file.write(block)
                digest.update(block)
                left -= len(block)
        if left:
            raise EOFError("it ends in the middle of a file")
        self._found[entry.name] = entry.size, digest.hexdigest()

    def _read_head(self) -> Head:
        head = value_if_fitting(_HEAD, files.read_json(self._place / HEAD))
        if head is None:
            raise WrongGiven(f"It is not a backup that Groupwise made. {MAKE_ONE}")
        if head.form > FORM:
            raise BackupError(
                f"A newer version of Groupwise ({head.groupwise}) made this backup. Update Groupwise, then restore it."
            )
        return head

    def check(self) -> Head:
        """Remove what does not count; what the backup says of itself. Raises BackupError where a file is not as it was
        packed."""
        if self._head is None or CONTENTS not in self._found:
            raise self.break_off("the end is missing")
        contents = value_if_fitting(_CONTENTS, files.read_json(self._place / CONTENTS, MOST_CONTENTS))
        if contents is None:
            raise self.break_off(f"{CONTENTS} cannot be read")
        for name, told in contents.files.items():
            if self._found.get(name) != told:
                raise WrongGiven(f"It is damaged: {name[:200]} is not as it was packed. Nothing was restored.")
        for name in self._found.keys() - contents.files.keys():
            (self._place / name).unlink()
        (self._place / HEAD).unlink(missing_ok=True)
        return self._head

    def break_off(self, why: str) -> BackupError:
        """What is said of an archive that is not whole."""
        if not self._last:
            return WrongGiven(
                f"It is not a backup of Groupwise, or a damaged one ({why}). Nothing was restored. {MAKE_ONE}"
            )
        after = f" after {self._last[:200]}, its file {len(self._found):,}"
        return WrongGiven(f"It is damaged or was cut off{after} ({why}). Nothing was restored.")


def _entries(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """One after another, without keeping them."""
    while (entry := tar.next()) is not None:
        yield entry
        tar.members.clear()  # type: ignore[attr-defined]
