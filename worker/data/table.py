"""A data file of the home, read row by row for looking at: what training will read, without reading it all.

Every fault of a file is a DataError that names the line or row and says what to do. Sizes are capped: neither a
hostile nor an enormous file costs more than a look is worth.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from groupwise.storage.checks.data import DATA_SUFFIXES
from groupwise.storage.home import paths
from groupwise.worker.data.csv_table import CsvTable
from groupwise.worker.data.data_error import DataError
from groupwise.worker.data.jsonl_table import JsonlTable
from groupwise.worker.data.parquet_table import ParquetTable

# What other kinds of file begin with: `datasets` would unpack some of them, however large they turn out.
OTHER_KINDS = {
    b"\x1f\x8b": "compressed (gzip)", b"PK\x03\x04": "a zip archive", b"BZh": "compressed (bzip2)",
    b"\xfd7zXZ": "compressed (xz)", b"\x28\xb5\x2f\xfd": "compressed (zstd)", b"\x04\x22\x4d\x18": "compressed (lz4)",
    b"7z\xbc\xaf": "a 7z archive", b"Rar!": "a rar archive", b"\x89PNG": "a picture", b"%PDF": "a PDF document",
    b"ARROW1": "an Arrow file", b"SQLite format 3": "a database",
}  # fmt: skip


class Table(Protocol):
    """Rows of a file. `columns` are in the file's order; `notes` are sentences worth saying about the file."""

    columns: list[str]
    notes: list[str]

    def count(self) -> tuple[int, bool]:
        """How many rows there are, and whether that is exact or estimated from what was read so far."""

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """A row, from 0, and whether it is exactly that one: far into a file that is slow to read it is one nearby.
        Raises DataError where there is none."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows in order."""


KINDS: dict[str, Callable[[Path], Table]] = {".jsonl": JsonlTable, ".csv": CsvTable, ".parquet": ParquetTable}


def find_data_file(name: str) -> Path:
    """The data file of the home that `file:NAME` means. Raises DataError where it is none that can be read."""
    try:
        path = paths.data_file(name)
        if not path.is_file():
            raise DataError(f"there is no file “{name}” in {paths.data_folder()}. Upload it, or copy it there.")
        if path.suffix.lower() not in DATA_SUFFIXES:
            raise DataError(f"“{name}” should be a JSONL, CSV or Parquet file ({', '.join(DATA_SUFFIXES)}).")
        _look_at_its_beginning(path)
    except ValueError as error:
        raise DataError(str(error)) from error
    except OSError as error:
        raise DataError(f"“{name}” cannot be read: {error.strerror}.") from error
    return path


def open_table(path: Path) -> Table:
    """The rows of a file that `find_data_file` found. Raises DataError."""
    try:
        status = path.stat()
        return _open_unchanged(path, status.st_ino, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise DataError(f"“{path.name}” cannot be read: {error.strerror or error}.") from error


@functools.lru_cache(maxsize=4)
def _open_unchanged(path: Path, *_mark: int) -> Table:
    """The table of a file; those that were looked at lately stay open for as long as they have the same mark."""
    return KINDS[path.suffix.lower()](path)


def _look_at_its_beginning(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(64 * 1024)
    name, suffix = path.name, path.suffix.lower()
    if not head:
        raise DataError(f"“{name}” is empty.")
    kind = next((words for magic, words in OTHER_KINDS.items() if head.startswith(magic)), None)
    if kind is None and head.startswith(b"PAR1") != (suffix == ".parquet"):
        kind = "a Parquet file" if suffix != ".parquet" else "no Parquet file"
    if kind is None and suffix != ".parquet" and (b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))):
        kind = "binary, or text in UTF-16"
    if kind:
        advice = "Unpack it first." if "compressed" in kind or "archive" in kind else "Save it as UTF-8 text."
        advice = advice if suffix != ".parquet" else "Write it anew."
        raise DataError(f"{name} cannot be read as {suffix[1:].upper()}: it is {kind}. {advice}")
