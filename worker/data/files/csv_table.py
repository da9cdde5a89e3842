"""CSV for looking at: every cell is text exactly as it was written, as training reads it."""

import bisect
import csv
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from groupwise.storage.spec.rows.file_format import SEPARATOR_WORDS
from groupwise.storage.spec.rows.heading_names import numbered_names, unnamed_columns
from groupwise.storage.spec.words.number_words import count_part, count_words, join_words, three_figures
from groupwise.storage.spec.words.problem import Fix
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.heading import find_heading_below
from groupwise.worker.data.files.mixed_lines import READ_MIXED
from groupwise.worker.data.files.separators import csv_options
from groupwise.worker.data.files.zero_bytes import damaged_line

CELL = 16 * 2**20  # characters
SCAN_SECONDS = 1.0  # of a question spent on finding where rows are
EVERY = 500  # rows between two places that are noted
COLUMNS = 2000
LOOKED_AT = 40  # rows among which a heading below a title is looked for
NAMED, MOST_LISTED = 3, 6  # columns that a button, and a sentence, names
csv.field_size_limit(CELL)
USUAL = FileReading("csv", "comma", "double", "utf-8")


class CsvTable:
    """The rows of a CSV file in UTF-8: a table.Table."""

    def __init__(self, path: Path, reading: FileReading = USUAL) -> None:
        self.path = path
        self.reading = reading
        self.size = path.stat().st_size
        self.columns, start = header(path, reading)
        self._rows_at, self._places = [0], [start]  # (row, (offset, line)) every so many rows
        self._end = (0, start)
        self._short, self._first_short = 0, (0, 0)  # rows that lack cells; the line of the first, and its cells
        if self._cells(0) is None:
            raise DataError(f"{path.name} has only a heading and no rows.", fixes=(NO_HEADING,))

    @property
    def notes(self) -> list[str]:
        """What is worth saying about the file."""
        if not self._end[0]:
            self._scan()
        mixed = mixed_words(self.path.name, self.reading)
        return [*self.reading.notes, *([mixed] if mixed else self._note_of_short_rows())]

    def _note_of_short_rows(self) -> list[str]:
        if not self._short:
            return []
        line, cells = self._first_short
        rows, width = self._end[0], len(self.columns)
        if self._short == 1:
            said = f"line {line} of {self.path.name} has {count_words(cells, 'cell')}, but the heading has {width}"
        else:
            some = f"{count_part(self._short, rows, 'row')} of {self.path.name} have fewer cells"
            said = f"{some} than the heading (line {line}: {cells} of {width})"
        return [f"{said}: missing cells are taken as empty."]

    def title_fix(self) -> Fix | None:
        """The click that takes the heading below a title; None where the heading looks like one."""
        return title_fix(self.path, self._places[0], self.columns, self.reading)

    def count(self) -> tuple[int, bool]:
        """Count the rows, as Table has it."""
        self._scan()
        rows, (offset, _) = self._end
        if offset >= self.size:
            return rows, True
        return max(rows, three_figures(round(rows * self.size / max(offset, 1)))), False

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """Read one row, as Table has it."""
        self._scan(index)
        rows, (offset, _) = self._end
        if index >= rows and offset >= self.size:
            raise DataError(f"{self.path.name} has {count_words(rows, 'row')}, so there is no row {index + 1}.")
        if index >= rows:  # only reading on can tell where rows begin, so the last row that was reached stands for it
            return self.row(rows - 1)[0], False
        found = self._cells(index)
        assert found is not None  # it lies before what was read to
        return self._by_column_name(found), True

    def _by_column_name(self, cells: list[str]) -> dict[str, Any]:
        """A row by column name. What is missing at its end is empty, as in training; that is said of all such rows."""
        return dict(zip(self.columns, cells + [""] * (len(self.columns) - len(cells)), strict=True))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read all rows in order."""
        with self.path.open("rb") as file:
            for _, cells in self._read_rows(file, self._places[0]):
                yield self._by_column_name(cells)

    def _read_rows(self, file: BinaryIO, place: "Place") -> Iterator[tuple["Place", list[str]]]:
        return read_rows(file, place, self.path.name, len(self.columns), self.reading)

    def _cells(self, index: int) -> list[str] | None:
        at = bisect.bisect_right(self._rows_at, index) - 1
        with self.path.open("rb") as file:
            rows = self._read_rows(file, self._places[at])
            for number, (_, cells) in enumerate(rows, self._rows_at[at]):
                if number == index:
                    return cells
        return None

    def _scan(self, until: int | None = None) -> None:
        give_up = time.monotonic() + SCAN_SECONDS
        row, place = self._end
        short, first_short = self._short, self._first_short
        if place[0] >= self.size:
            return
        with self.path.open("rb") as file:
            for after, cells in self._read_rows(file, place):
                row, place = row + 1, after
                if len(cells) < len(self.columns):
                    first_short = first_short if short else (place[1], len(cells))
                    short += 1
                if row % EVERY == 0:
                    self._rows_at.append(row)
                    self._places.append(place)
                    if time.monotonic() > give_up or (until is not None and row > until):
                        break
            else:
                place = (self.size, place[1])
        self._end, self._short, self._first_short = (row, place), short, first_short


NO_HEADING = Fix("It is a row: there is no heading", {"data.heading": "none"})
Place = tuple[int, int]  # where a row begins: byte offset, and lines before it


def header(path: Path, reading: FileReading) -> tuple[list[str], Place]:
    """(column names, where the rows begin). Raises DataError where there are no usable names."""
    with path.open("rb") as file:
        for _ in range(reading.skip_lines if reading.kind == "csv" else 0):
            file.readline(CELL)
        place = file.tell(), reading.skip_lines if file.tell() else 0
        first = next(read_rows(file, place, path.name, None, reading), None)
    if first is None and place[0]:
        message = f"{path.name} has nothing below its first {count_words(reading.skip_lines, 'line')}. Skip fewer."
        raise DataError(message, "data.skip_lines")
    if first is None:
        raise DataError(f"{path.name} is empty.")
    after, names = first
    called = f"the sheet “{reading.sheet}” of {path.name}" if reading.sheet else path.name
    if len(names) > COLUMNS:
        raise DataError(f"{called} has {len(names)} columns; at most {COLUMNS} can be read.")
    if reading.kind == "csv" and reading.heading == "none":
        names = unnamed_columns(len(names))
    else:
        names = numbered_names(names) if reading.heading == "numbered" else names
        place = after
    _refuse_unclear_names(called, names, title_fix(path, after, names, reading))
    return names, place


def title_fix(path: Path, after: Place, names: list[str], reading: FileReading) -> Fix | None:
    """The click that takes the heading below a title, where a title was taken for it. `after`: where the rows begin."""
    if reading.heading == "none":
        return None
    lines, rows = [after[1]], []
    try:
        with path.open("rb") as file:
            for (_, line), cells in itertools.islice(read_rows(file, after, path.name, None, reading), LOOKED_AT):
                lines.append(line)
                rows.append(cells + [""] * (len(names) - len(cells)))
    except DataError:  # of a row farther on: said where it is read
        return None
    unnamed = reading.kind == "sheet"
    first = ["" if unnamed and name == f"Column {n}" else name for n, name in enumerate(names, 1)]
    at = find_heading_below(first, rows)
    if at is None:
        return None
    row = reading.sheet_row(at)
    skip = lines[at] if row is None else row - 1
    listed = ", ".join(f"“{name.strip()}”" for name in rows[at][:NAMED])
    more = ", …" if len(rows[at]) > NAMED else ""
    return Fix(f"The heading is in line {skip + 1}: {listed}{more}", {"data.skip_lines": skip})


def _refuse_unclear_names(called: str, names: list[str], below: Fix | None) -> None:
    """Raises DataError where columns share a name or have none, with all of them at once."""
    twice = [f"“{name}”" for name in dict.fromkeys(names) if name.strip() and names.count(name) > 1]
    empty = [str(place) for place, name in enumerate(names, 1) if not name.strip()]
    found = [f"{join_words(twice, MOST_LISTED)} twice"] if twice and max(map(names.count, names)) == 2 else []
    found = [f"{join_words(twice, MOST_LISTED)} more than once"] if twice and not found else found
    if empty:
        listed = join_words(empty, MOST_LISTED)
        found.append(f"empty names (columns {listed})" if len(empty) > 1 else f"an empty name (column {listed})")
    if not found:
        return
    new = [now for name, now in zip(names, numbered_names(names), strict=True) if name != now]
    fix = Fix(f"Number them: {', '.join(new[:NAMED])}{', …' if len(new) > NAMED else ''}", {"data.heading": "numbered"})
    message = f"the heading of {called} has {' and '.join(found)}. "
    message += "Give each column a name of its own, or let heading: numbered do so."
    if below:
        message = f"the first line of {called} looks like a title, but is taken for the heading: “{names[0]}”."
    raise DataError(message, "data.heading", (below, fix) if below else (fix,))


def read_rows(
    file: BinaryIO, place: Place, name: str, width: int | None, reading: FileReading
) -> Iterator[tuple[Place, list[str]]]:
    """(where the next row begins, cells) of each row from a place on. A row with more cells than the heading is a
    DataError, as is all that is no CSV."""
    offset, lines = place
    begun = lines

    def decode_lines() -> Iterator[str]:
        nonlocal offset, lines
        file.seek(offset)
        while line := file.readline(CELL):
            offset, lines = offset + len(line), lines + 1
            if len(line) == CELL and not line.endswith(b"\n"):
                raise DataError(
                    f"line {lines} of {name} is longer than {CELL >> 20} MB: too long for a row of prompts."
                )
            text = line.decode("utf-8").removeprefix("\ufeff" if lines == 1 else "")
            if "\0" in text:
                raise DataError(damaged_line(name, lines))
            if "\r" in text.rstrip("\r\n") and '"' not in text:
                raise DataError(
                    f"line {lines} of {name} has old Macintosh line ends (CR). Save it with today’s line ends (LF)."
                )
            yield text

    separator = reading.separator or "comma"
    rows = csv.reader(decode_lines(), strict=True, **csv_options(separator, reading.quote or "double"))
    while True:
        begun = lines + 1
        try:
            cells = next(rows, None)
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {lines} of {name} is not UTF-8 (byte {error.start + 1}). Choose another encoding, or save it as "
                "UTF-8.", "data.encoding", (READ_MIXED,),
            ) from error  # fmt: skip
        except csv.Error as error:
            raise DataError(f"line {begun} of {name} cannot be read: {_error_in_words(error)}.") from error
        if cells is None:
            return
        if not cells or (len(cells) == 1 and not cells[0].strip() and lines == begun and width != 1):
            continue  # a blank line
        if width is not None and len(cells) > width:
            why = f"Is it separated by {SEPARATOR_WORDS[separator]}? A cell that holds one stands in quotes."
            raise DataError(
                f"line {begun} of {name} has {count_words(len(cells), 'cell')}, but the heading has {width}. "
                f"{mixed_words(name, reading) or why}"
            )
        yield (offset, lines), cells


def mixed_words(name: str, reading: FileReading) -> str:
    """That rows are separated otherwise than the heading; "" where none are."""
    return reading.mixed.in_words(name, headed=reading.heading != "none") if reading.mixed else ""


def _error_in_words(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quoted cell that begins there is never closed"
    if "field larger" in text:
        return f"a cell is longer than {CELL // 2**20} MB"
    if "expected after" in text:
        return 'a quoted cell goes on after its closing quote; a quote inside one is written twice ("")'
    return text
