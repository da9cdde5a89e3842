"""The rows of any source of data for looking at: as training will get them, but only those that are looked at."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from groupwise.storage.checks.held_out import MADE
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import are_words, count_words
from groupwise.worker.builtin import shipped
from groupwise.worker.data import gym, sources
from groupwise.worker.data.files import table
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.table import Table

FARTHEST = 2000  # row of a stream that can be looked at: all before it have to be read


def table_of(data: DataSpec) -> Table:
    """The rows of a spec's source, before the filter. Raises DataError."""
    kind, _, name = data.source.partition(":")
    count = data.limit or MADE
    if kind == "task":
        try:
            made = shipped.task_rows(name)(count)
        except shipped.ShippedError as error:
            raise DataError(str(error)) from error
        return MadeTable(made.__getitem__, count)
    if kind == "gym":
        return MadeTable(gym.maker(name, count, data.parameters), count)
    if kind == "file":
        return table.open_table(table.find_data_file(name), data)
    if kind == "hub":
        return HubTable(data)
    sources.load_source(data)  # which says what a source can be
    raise AssertionError("a source of an unknown kind was loaded")


class MadeTable:
    """Rows that are made, not read."""

    reading = None

    def __init__(self, row_of: Callable[[int], dict[str, Any]], count: int) -> None:
        self._row_of, self._count = row_of, count
        self.columns = list(row_of(0))
        self.notes: list[str] = []

    def count(self) -> tuple[int, bool]:
        """Count the rows: as many as are asked for."""
        return self._count, True

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """Make one row."""
        if index >= self._count:
            raise DataError(
                f"there {are_words(self._count)} {count_words(self._count, 'row')}, so there is no row {index + 1}."
            )
        return self._row_of(index), True

    def rows(self) -> Iterator[dict[str, Any]]:
        """Make all rows in order."""
        return map(self._row_of, range(self._count))


class HubTable:
    """A hub dataset: what is already on this machine, else streamed, so that only what is looked at is fetched."""

    reading = None

    def __init__(self, data: DataSpec) -> None:
        self._data = data
        self.notes: list[str] = []
        # From the cache, where that is all there is.
        self._rows = sources.load_source(data.model_copy(update={"streaming": sources.hub_answers()}))
        self._length = len(self._rows) if hasattr(self._rows, "__len__") else None
        self.columns = list(self._rows.column_names or next(self.rows()))

    def count(self) -> tuple[int, bool]:
        """Count the rows; an estimate of a stream, from what the hub says."""
        if self._length is not None:
            return self._length, True
        splits = self._rows.info.splits or {}
        said = splits[self._data.split].num_examples if self._data.split in splits else 0
        return (said, True) if said else (self._data.limit or FARTHEST, False)

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """Read one row; of a stream, all rows before it too."""
        if self._length is None and index >= FARTHEST:
            raise DataError(f"of a stream only the first {FARTHEST} rows can be looked at.")
        found = next(itertools.islice(self.rows(), index, None), None)
        if found is None:
            raise DataError(f"{self._data.source} has no row {index + 1}.")
        return found, True

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read all rows in order."""
        try:
            yield from self._rows
        except Exception as error:  # whatever a download can raise
            raise sources.hub_error(error, self._data) from error
