"""Parquet for looking at: one row at a time, from the row group it is in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from worker.rows.data_error import DataError

BATCH = 64  # rows that are unpacked at once
GROUP = 4 * 2**30  # bytes that a row group may say it unpacks to
COLUMNS = 2000


class ParquetTable:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        with _words(path), pyarrow.parquet.ParquetFile(path) as file:
            meta = file.metadata
            self.columns = list(file.schema_arrow.names)
            self._sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
            largest = max((meta.row_group(n).total_byte_size for n in range(meta.num_row_groups)), default=0)
        if len(self.columns) > COLUMNS:
            raise DataError(f"{path.name} has {len(self.columns)} columns; at most {COLUMNS} can be read.")
        if len(set(self.columns)) != len(self.columns):
            raise DataError(f"{path.name} has two columns of one name. Give each a name of its own.")
        if largest > GROUP:
            raise DataError(
                f"a row group of {path.name} unpacks to {largest / 2**30:.0f} GB. Write smaller row groups."
            )
        if not sum(self._sizes):
            raise DataError(f"{path.name} holds no rows.")

    def count(self) -> tuple[int, bool]:
        return sum(self._sizes), True

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        if index >= sum(self._sizes):
            raise DataError(f"{self.path.name} has {sum(self._sizes)} rows, so there is no row {index + 1}.")
        group, left = 0, index
        while left >= self._sizes[group]:
            group, left = group + 1, left - self._sizes[group]
        with _words(self.path), pyarrow.parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=BATCH, row_groups=[group], use_threads=False):
                if left < batch.num_rows:
                    return batch.slice(left, 1).to_pylist()[0], True
                left -= batch.num_rows
        raise DataError(f"{self.path.name} is damaged: row {index + 1} is not where the file says.")

    def rows(self) -> Iterator[dict[str, Any]]:
        with _words(self.path), pyarrow.parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
                yield from batch.to_pylist()


class _words:
    """Turns what pyarrow raises for a damaged file into a DataError."""

    def __init__(self, path: Path) -> None:
        self.name = path.name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (pa.ArrowException, OSError, ValueError, TypeError)):
            reason = (str(error).splitlines() or ["it is damaged"])[0][:200].rstrip(".")
            raise DataError(f"{self.name} cannot be read as PARQUET: {reason}. Write it anew.") from error
