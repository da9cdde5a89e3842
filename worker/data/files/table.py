"""A data file of the home, read row by row for looking at: what training will read, without reading it all.

Every fault of a file is a DataError that names the line or row and says what to do. Sizes are capped: neither a
hostile nor an enormous file costs more than a look is worth.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS, file_kind, missing_file_words
from groupwise.storage.spec.rows.other_kinds import unreadable_kind
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data.files import plain_file
from groupwise.worker.data.files.csv_table import CsvTable
from groupwise.worker.data.files.data_error import DataError, named_sheets
from groupwise.worker.data.files.file_reading import FileReading, find_reading
from groupwise.worker.data.files.jsonl_table import JsonlTable
from groupwise.worker.data.files.misnamed import refuse_other_kinds
from groupwise.worker.data.files.parquet_table import ParquetTable


class Table(Protocol):
    """Rows of a file. `columns` are in the file's order; `notes` are sentences; `reading`: None for what is no file."""

    columns: list[str]

    @property
    def notes(self) -> list[str]:
        """What is worth saying about the file."""

    @property
    def reading(self) -> FileReading | None:
        """How the file is read."""

    def count(self) -> tuple[int, bool]:
        """How many rows there are, and whether that is exact or estimated from what was read so far."""

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """A row, from 0, and whether it is exactly that one: far into a file that is slow to read it is one nearby.
        Raises DataError where there is none."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows in order."""


KINDS: dict[str, Callable[[Path, FileReading], Table]] = {
    "json": JsonlTable, "csv": CsvTable, "sheet": CsvTable, "parquet": ParquetTable,
}  # fmt: skip


def find_data_file(name: str) -> Path:
    """The data file of the home that `file:NAME` means. Raises DataError where it is none that can be read."""
    try:
        path = paths.data_file(name)
        if not path.is_file():
            raise DataError(missing_file_words(name, paths.data_folder()))
        if not file_kind(name):
            raise DataError(unreadable_kind(name))
        refuse_other_kinds(path)
    except ValueError as error:
        raise DataError(str(error)) from error
    except OSError as error:
        raise DataError(f"“{name}” cannot be read: {error.strerror}.") from error
    return path


def open_table(path: Path, data: DataSpec) -> Table:
    """The rows of a file that `find_data_file` found, read as the spec's data says. Raises DataError."""
    try:
        status = path.stat()
        asked = tuple((name, getattr(data, name)) for name in FILE_SETTINGS)
        return _open_unchanged(path, asked, status.st_ino, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise DataError(f"“{path.name}” cannot be read: {error.strerror or error}.") from error


@functools.lru_cache(maxsize=4)
def _open_unchanged(path: Path, asked: tuple[tuple[str, Any], ...], *_mark: int) -> Table:
    """The table of a file; those that were looked at lately stay open for as long as they have the same mark."""
    plain, reading = plain_file.make_plain(path, find_reading(path, DataSpec(**dict(asked))))
    with named_sheets(reading.sheets):
        return KINDS[reading.kind](plain, reading)
