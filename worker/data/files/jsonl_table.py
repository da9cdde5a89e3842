"""JSONL for looking at: any row of a file of any size, as `datasets` will give it to training.

Which kind each column has is what `datasets` reads from the first 10 MB (1 and 2.5 make 1.0 and 2.5); a row is then
read alone, or, where a column's kinds do not go together, by `datasets` itself, from the file's beginning. Where rows
are is noted a block of some megabytes at a time, for about a second per question.
"""

import bisect
import io
import logging
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.json
from datasets import Features, IterableDataset, Json, List, load_dataset

from groupwise.storage.spec.words.number_words import count_words, join_words, three_figures
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.json_words import (
    EXAMPLE,
    NO_OBJECT,
    begin_words,
    line_fault,
    misfit,
    no_number,
    odd_content,
)
from groupwise.worker.data.files.long_numbers import long_number_notes
from groupwise.worker.data.files.mixed_lines import READ_MIXED
from groupwise.worker.data.files.zero_bytes import refuse_zero_bytes

BLOCK = 4 * 2**20  # bytes
LINE = 16 * 2**20  # bytes: a longer line is no row of prompts
DEPTH = 64  # levels of nesting
HEAD = 10 * 2**20  # bytes from which `datasets` reads the kinds of the columns
LOOKED_FOR = 2.0  # seconds in which the line at fault is looked for
NAMED = 2  # lines at fault that are named beside the first
SCAN_SECONDS = 1.0  # of a question spent on finding where rows are
log = logging.getLogger("groupwise.data")
BOM = b"\xef\xbb\xbf"
KINDS = {"line": "JSON lines", "entry": "a JSON list"}  # by what a row is in it
USUAL = FileReading("json", encoding="utf-8")


class JsonlTable:
    """The rows of a JSONL file in UTF-8: a table.Table."""

    def __init__(self, path: Path, reading: FileReading = USUAL) -> None:
        self.path = path
        self.reading = reading
        self.size = path.stat().st_size
        self.notes: list[str] = []
        with path.open("rb") as file:
            start = len(BOM) if file.read(len(BOM)) == BOM else 0
            file.seek(start)
            first, number = b"", 0
            while not first and (line := file.readline(LINE)):
                first, number = line.strip(), number + 1
                _refuse_long(line, path.name, number)
        if not first:
            raise DataError(f"{path.name} holds no rows.")
        if wrong := line_fault(first):
            if path.suffix.lower() == ".json" and wrong.startswith(NO_OBJECT):
                raise DataError(f"{path.name} holds no rows: it should be a list of objects, such as {EXAMPLE}.")
            place = _place(reading)
            said = fault(path, place) or f"{place} {number} {wrong}"
            raise DataError(f"{path.name} cannot be read as {KINDS[place]}: {said}.")
        self._starts, self._rows_before = [start], [0]  # of each block; a block begins where a line does
        self._end = (start, 0)  # offset and rows up to which the file was looked through
        self._training = _as_training_reads(path, _place(reading))
        self.features: Features = self._training.features
        self._mixed = any(map(_is_mixed, self.features.values()))
        if self._mixed:
            check_text(path)
        self.columns = list(self.features)
        self.notes += long_number_notes(path, _place(reading), HEAD, LOOKED_FOR)

    def count(self) -> tuple[int, bool]:
        """Count the rows, as Table has it."""
        self._scan()
        offset, rows = self._end
        if offset >= self.size:
            return rows, True
        return max(rows, three_figures(round(rows * self.size / offset))), False

    def row(self, index: int) -> tuple[dict[str, Any], bool]:
        """Read one row, as Table has it."""
        if index >= self._end[1]:
            self._scan(index)
        offset, rows = self._end
        if index >= rows and offset >= self.size:
            raise DataError(
                f"{self.path.name} has {count_words(rows, 'row')}, so there is no row {index + 1}.", "data.source"
            )
        if self._mixed:
            return self._mixed_row(index), True
        if index >= rows:
            return self._row_nearby(index)
        block = bisect.bisect_right(self._rows_before, index) - 1
        line = _lines(self._block(block))[index - self._rows_before[block]]
        return self._parse([line], f"row {index + 1}")[0], True

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read all rows in order."""
        return self._mixed_rows(0) if self._mixed else self._plain_rows()

    def _mixed_rows(self, first: int) -> Iterator[dict[str, Any]]:
        """The rows from one on, where a column is of mixed kinds: `datasets` alone knows what it makes of those."""
        try:
            for batch in self._training.skip(first).iter(batch_size=100):
                yield from (dict(zip(batch, cells, strict=True)) for cells in zip(*batch.values(), strict=True))
        except Exception as error:  # datasets and pyarrow raise many kinds for a damaged file; all mean the same here
            raise _unreadable(self.path, error, _place(self.reading)) from error

    def _mixed_row(self, index: int) -> dict[str, Any]:
        found = next(self._mixed_rows(index), None)
        if found is None:
            raise DataError(f"{self.path.name} has no row {index + 1}.", "data.source")
        return found

    def _plain_rows(self) -> Iterator[dict[str, Any]]:
        done = 0
        with self.path.open("rb") as file:
            file.seek(self._starts[0])
            while block := _read_block(file, self.path.name):
                lines = _lines(block)
                try:
                    where = f"one of the rows {done + 1} to {done + len(lines)}"
                    yield from self._parse(lines, where) if lines else []
                except DataError:
                    good = bisect.bisect_left(range(1, len(lines)), True, key=lambda n: not self._fits(lines[:n]))
                    yield from self._parse(lines[:good], "") if good else []
                    where = _row_words(file, block, done, good)
                    self._parse(lines[good : good + 1], where)  # which is at fault: say why
                    raise
                done += len(lines)

    def _scan(self, until: int | None = None) -> None:
        """Look for rows from where the last question stopped, for about a second, or up to a row."""
        give_up = time.monotonic() + SCAN_SECONDS
        offset, rows = self._end
        with self.path.open("rb") as file:
            file.seek(offset)
            while offset < self.size and time.monotonic() < give_up and (until is None or rows <= until):
                block = _read_block(file, self.path.name)
                if not block:
                    break
                if offset != self._starts[-1]:
                    self._starts.append(offset)
                    self._rows_before.append(rows)
                offset, rows = offset + len(block), rows + _count(block)
        self._end = (offset, rows)

    def _block(self, number: int) -> bytes:
        stop = self._starts[number + 1] if number + 1 < len(self._starts) else self._end[0]
        with self.path.open("rb") as file:
            file.seek(self._starts[number])
            return file.read(stop - self._starts[number])

    def _row_nearby(self, index: int) -> tuple[dict[str, Any], bool]:
        """A row near to where this one should be, by the mean length of those before."""
        offset, rows = self._end
        guess = min(round(index * offset / max(rows, 1)), self.size - 1)
        with self.path.open("rb") as file:
            file.seek(max(guess - 1, 0))
            file.readline(LINE)
            line = file.readline(LINE).strip()
        if not line:
            raise DataError(
                f"{self.path.name} has about {count_words(self.count()[0], 'row')}, so there is no row {index + 1}."
            )
        return self._parse([line], f"the row near {index + 1}")[0], False

    def _fits(self, lines: list[bytes]) -> bool:
        try:
            self._parse(lines, "")
        except DataError:
            return False
        return True

    def _parse(self, lines: list[bytes], where: str) -> list[dict[str, Any]]:
        """Rows from whole lines, of the kinds that training will see. Raises DataError."""
        block = b"\n".join(lines)
        try:
            _check_text(block, self.path.name, 0, where)
            table = pyarrow.json.read_json(
                io.BytesIO(block),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(block) + 1, 16 * 1024)),
                parse_options=pyarrow.json.ParseOptions(explicit_schema=self.features.arrow_schema),
            )
            unknown = [name for name in table.column_names if name not in self.features]
            if unknown:
                raise DataError(f"{where} of {self.path.name} has a column “{unknown[0]}” that the first rows lack.")
            return list(table.select(self.columns).to_pylist())
        except (pa.ArrowException, ValueError, TypeError, RecursionError) as error:
            reason = line_fault(block) or odd_content(block) or misfit(str(error.__cause__ or error))
            raise DataError(f"{where} of {self.path.name} {reason}.") from error


def check_text(path: Path, upto: int | None = None) -> None:
    """Raises DataError for what would end a process that reads the file (its first so many bytes) as JSON, or break
    it later: nesting so deep that pyarrow, which recurses without a limit, would crash; and bytes that are no UTF-8."""
    with path.open("rb") as file:
        before = 0
        while (upto is None or file.tell() < upto) and (block := _read_block(file, path.name)):
            _check_text(block, path.name, before)
            before += block.count(b"\n")


def _check_text(block: bytes, name: str, before: int, where: str = "") -> None:
    """The same for some whole lines, that many lines into the file, or of a place that has its own words."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        number = before + block.count(b"\n", 0, error.start) + 1
        message = f"{where or f'line {number}'} of {name} is not UTF-8. Choose another encoding, or save it as UTF-8."
        raise DataError(message, "data.encoding", (READ_MIXED,)) from error
    if block.count(b"[") + block.count(b"{") <= DEPTH:
        return
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if line.count(b"[") + line.count(b"{") > DEPTH and _depth(line) > DEPTH:
            at = where or f"line {number}"
            raise DataError(f"{at} of {name} is nested more than {DEPTH} levels deep. Leave it out.")


def _depth(line: bytes) -> int:
    """How deeply a line is nested; brackets inside texts are not counted."""
    depth = deepest = 0
    for found in re.finditer(rb'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', line):
        depth += (found[0] in b"[{") - (found[0] in b"]}")
        deepest = max(deepest, depth)
    return deepest


def _place(reading: FileReading) -> str:
    """What a row is in the file that a person has: an entry of a list stands in a line of ours alone."""
    return "entry" if reading.as_list else "line"


def _as_training_reads(path: Path, place: str) -> IterableDataset:
    """The rows as a stream, with what `datasets` takes the columns to be. Raises DataError."""
    check_text(path, HEAD)
    try:
        rows = load_dataset("json", data_files=str(path), split="train", streaming=True)
    except Exception as error:  # datasets and pyarrow raise many kinds for a damaged file; all mean the same here
        raise _unreadable(path, error, place) from error
    if rows.features is None:  # datasets would read all of it to find out
        raise _unreadable(path, ValueError("its first rows do not fit together"), place)
    if not rows.features:
        raise DataError(f'{path.name} holds no rows. Each line should be a JSON object such as {{"question": "1+1?"}}.')
    return rows


def _is_mixed(feature: Any) -> bool:
    if isinstance(feature, List):
        return _is_mixed(feature.feature)
    return any(map(_is_mixed, feature.values())) if isinstance(feature, dict) else isinstance(feature, Json)


def _unreadable(path: Path, error: Exception, place: str) -> DataError:
    log.info("%s cannot be read", path.name, exc_info=error)
    give_up = time.monotonic() + LOOKED_FOR
    refuse_zero_bytes(path, lambda: time.monotonic() < give_up)
    unknown = f"{'an' if place == 'entry' else 'a'} {place} of it is no whole object, or does not fit those before it"
    return DataError(f"{path.name} cannot be read as {KINDS[place]}: {fault(path, place) or unknown}.")


def fault(path: Path, place: str = "line", seconds: float = LOOKED_FOR) -> str:
    """The first line (“entry” of a list, each in a line) that is no JSON object, and why, and which more are none; ""
    where none is found in this time."""
    give_up = time.monotonic() + seconds
    first, named, more = "", list[int](), 0
    odd = ""  # which alone does not always keep a file from being read
    beside = ""  # of a line that can be read, and not as it is meant
    with path.open("rb") as file:
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        number = 0
        while time.monotonic() < give_up and (line := file.readline(LINE)):
            number += 1
            if not first:
                _refuse_long(line, path.name, number)
            reason = line_fault(line) if line.strip() else ""
            if reason:
                if first and len(named) < NAMED:
                    named.append(number)
                else:
                    more += bool(first)
                first = first or f"{place} {number} {reason}"
            if not reason and not beside and (said := no_number(line)):
                beside = f". {place.capitalize()} {number:,} {said}"
            if not first and not odd and (reason := odd_content(line)):
                odd = f"{place} {number} {reason}"
    least = "at least " if line else ""  # not all of the file was looked through
    found = f"{first}. {_name_others(place, named, more, least)}" if named else first or odd
    return f"{found}{beside}" if found else ""


def _name_others(place: str, named: Sequence[int], more: int, least: str) -> str:
    """Lines 7, 9 and 4 others cannot be read either."""
    several = {"entry": "entries"}.get(place, f"{place}s")
    said = [f"{number:,}" for number in named] + ([f"{least}{count_words(more, 'other')}"] if more else [])
    return f"{(place if len(said) == 1 else several).capitalize()} {join_words(said)} cannot be read either"


def _refuse_long(line: bytes, name: str, number: int) -> None:
    """Raises DataError for a line of which only so much was read."""
    if len(line) == LINE and not line.endswith(b"\n"):
        long = f"is longer than {LINE // 2**20} MB: too long for a row"
        raise DataError(f"line {number:,} of {name} {long}. {begin_words(line)}.")


def _read_block(file: BinaryIO, name: str) -> bytes:
    """Some megabytes of whole lines; empty at the end of the file."""
    block = file.read(BLOCK)
    if block and not block.endswith(b"\n"):
        rest = file.readline(LINE)
        if len(rest) == LINE and not rest.endswith(b"\n"):
            begun = block.rpartition(b"\n")[2]
            _refuse_long((begun + rest)[:LINE], name, _line_number(file, file.tell() - len(begun + rest)))
        block += rest
    return block


def _line_number(file: BinaryIO, offset: int) -> int:
    """The number of the line that begins there."""
    file.seek(0)
    number, left = 1, offset
    while left and (block := file.read(min(BLOCK, left))):
        number, left = number + block.count(b"\n"), left - len(block)
    return number


def _row_words(file: BinaryIO, block: bytes, done: int, at: int) -> str:
    """Where a row of the block that was just read stands: “row 7”, and its line where blank ones stand before it.
    `done`: rows before the block; `at`: rows before it in the block."""
    filled = [number for number, line in enumerate(block.split(b"\n")) if line.strip()]
    line = _line_number(file, file.tell() - len(block)) + filled[at]
    row = done + at + 1
    return f"row {row}" if line == row else f"row {row} (line {line})"


def _lines(block: bytes) -> list[bytes]:
    """The rows of a block: its lines, but for blank ones."""
    return [line for line in block.split(b"\n") if line.strip()]


def _count(block: bytes) -> int:
    """How many rows a block holds. Splitting it is slow, and only needed where lines may be blank."""
    characters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    begins = np.append(0, ends[: len(ends) - block.endswith(b"\n")] + 1)
    if (characters[begins] <= ord(" ")).any():
        return len(_lines(block))
    return len(begins)
