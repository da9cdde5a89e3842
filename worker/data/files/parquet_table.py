"""Parquet for looking at: one row at a time, from the row group it is in."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from groupwise.storage.spec.rows.containers import NO_PARQUET, parquet_end_fault
from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading

BATCH = 32  # rows that are unpacked at once
ROW = 16 * 2**20  # bytes that a row may unpack to, as long as a line of JSONL may be
GROUP = 4 * 2**30  # bytes that a row group may say it unpacks to
COLUMNS = 2000


class ParquetTable:
    """The rows of a Parquet file: a table.Table."""

    def __init__(self, path: Path, reading: FileReading) -> None:
        self.path = path
        self.reading = reading
        self.notes: list[str] = []
        with parquet_words(path), pyarrow.parquet.ParquetFile(path) as file:
            meta = file.metadata
            self.columns = list(file.schema_arrow.names)
            self._sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
            schema = file.schema_arrow
            largest = max((meta.row_group(n).total_byte_size for n in range(meta.num_row_groups)), default=0)
        if len(self.columns) > COLUMNS:
            raise DataError(f"{path.name} has {len(self.columns)} columns; at most {COLUMNS} can be read.")
        if len(set(self.columns)) != len(self.columns):
            raise DataError(f"{path.name} has two columns of one name. Give each a name of its own.")
        _refuse_unknown_types(path, schema)
        if largest > GROUP:
            raise DataError(
                f"a row group of {path.name} unpacks to {largest / 2**30:.0f} GB. Write smaller row groups."
            )
        if not sum(self._sizes):
            raise DataError(f"{path.name} holds no rows.")

    def count(self) -> tuple[int, bool]:
        """Count the rows, as the file says."""
        return sum(self._sizes), True

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """Read one row from the row group it is in."""
        if index >= sum(self._sizes):
            raise DataError(
                f"{self.path.name} has {count_words(sum(self._sizes), 'row')}, so there is no row {index + 1}."
            )
        group, left = 0, index
        while left >= self._sizes[group]:
            group, left = group + 1, left - self._sizes[group]
        with parquet_words(self.path), pyarrow.parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=BATCH, row_groups=[group], use_threads=False):
                refuse_long_rows(self.path, batch, index - left)
                if left < batch.num_rows:
                    return batch.slice(left, 1).to_pylist()[0], True
                left -= batch.num_rows
        raise DataError(f"{self.path.name} is damaged: row {index + 1} is not where the file says.")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read all rows in order."""
        with parquet_words(self.path), pyarrow.parquet.ParquetFile(self.path) as file:
            before = 0
            for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
                refuse_long_rows(self.path, batch, before)
                before += batch.num_rows
                yield from batch.to_pylist()


def _refuse_unknown_types(path: Path, schema: pa.Schema) -> None:
    """Raises DataError for columns of types that `datasets`, by which training reads them, cannot hold."""
    odd = [field for field in schema if not _can_be_held(field)]
    if not odd:
        return
    names = [field.name for field in odd]
    kinds = join_words(list(dict.fromkeys(_kind_in_words(field.type) for field in odd)))
    listed = join_words([f"“{name}”" for name in names[:5]])
    columns, hold, them = ("column", "holds", "it") if len(odd) == 1 else ("columns", "hold", "them")
    new = json.dumps(f"{path.stem}-2.parquet", ensure_ascii=False)
    read = f"pq.read_table({json.dumps(path.name, ensure_ascii=False)})"
    line = f"pq.write_table({read}.drop_columns({json.dumps(names, ensure_ascii=False)}), {new})"
    raise DataError(
        f"the {columns} {listed} of {path.name} {hold} {kinds}, which cannot be trained on, used or not. "
        f"Write the file anew without {them}, in Python: import pyarrow.parquet as pq; {line}"
    )


def _can_be_held(field: pa.Field) -> bool:
    from datasets import Features  # here: whoever only unpacks needs none of it

    try:
        Features.from_arrow_schema(pa.schema([field.remove_metadata()]))
    except (ValueError, TypeError, NotImplementedError):
        return False
    return True


def _kind_in_words(kind: pa.DataType) -> str:
    """A type as people call it, as far as that is known."""
    return "maps of keys to values" if "map<" in str(kind) else f"values of the type {str(kind)[:80]}"


def refuse_long_rows(path: Path, batch: pa.RecordBatch, before: int) -> None:
    """Raises DataError for the first row of a batch that is too long to be one; `before`: how many come before it."""
    if batch.nbytes <= ROW:
        return
    for number in range(batch.num_rows):
        size = batch.slice(number, 1).nbytes
        if size > ROW:
            raise DataError(
                f"row {before + number + 1:,} of {path.name} unpacks to {size / 2**20:,.0f} MB; a row may have "
                f"{ROW >> 20}. Shorten its texts."
            )


@contextlib.contextmanager
def parquet_words(path: Path) -> Iterator[None]:
    """Turns what pyarrow raises for a damaged file into a DataError. What finds no room stays a MemoryError."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise DataError(NO_PARQUET.format(name=path.name, fault=_parquet_fault(path, error))) from error


def _parquet_fault(path: Path, error: Exception) -> str:
    """Why, in our words, by what the file has at its end, or else in it."""
    if fault := parquet_end_fault(path):
        return fault
    if isinstance(error, (pa.ArrowNotImplementedError, NotImplementedError)):
        return "it uses a compression or type that this reader does not support. Save it with snappy or zstd."
    try:
        pyarrow.parquet.read_metadata(path)
    except (pa.ArrowException, OSError, ValueError, TypeError):
        return "its list of columns (the footer) is damaged, or newer than this reader supports. Save it again."
    return "the rows in it are damaged. Save or download it again."
