"""A sheet of a workbook (.xlsx, .xls, .ods) as CSV. Formulas give the values they had when the workbook was saved;
nothing in it is run. For a process that may be ended (worker.data.files.convert)."""

import csv
import re
import zipfile
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, ZipError

from groupwise.storage.spec.rows.containers import NO_WORKBOOK
from groupwise.storage.spec.rows.sheet_rows import rank_sheet, sheet_lines
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker.data.files.data_error import DataError, named_sheets
from groupwise.worker.data.files.formulas import formula_notes
from groupwise.worker.data.files.shown_otherwise import shown_otherwise_notes

UNPACKED = 2 * 2**30  # bytes that a workbook may say it unpacks to
PARTS = 10_000  # files in a workbook
CELLS = 20_000_000  # cells from the first to the last that is used, which a sheet may have
UNNAMED, MERGED = "has columns without a heading", "cells of the heading of"  # by which notes about it are known
HIDDEN_NAMES = 20  # sheets that a sentence names


def write_sheet(source: Path, target: Path, sheet: str, skip: int, heading: str = "line") -> dict[str, Any]:
    """Write a sheet ("": the table that storage.spec.rows.sheet_rows ranks highest) as CSV; the names of all sheets,
    its own, and what to say about it. Raises DataError, with the names of the sheets where the workbook has them."""
    if source.suffix.lower() != ".xls":
        _refuse_bombs(source)
    book = _open(source)
    with named_sheets(book.sheet_names):
        return _write_sheet_of(book, source, target, sheet, skip, heading)


def _write_sheet_of(
    book: CalamineWorkbook, source: Path, target: Path, sheet: str, skip: int, heading: str
) -> dict[str, Any]:
    names = list(book.sheet_names)
    if sheet and sheet not in names:
        listed = ", ".join(f"“{name}”" for name in names[:HIDDEN_NAMES])
        raise DataError(f"{source.name} has no sheet “{sheet}”. It has {listed}.", "data.sheet")
    chosen = sheet or _find_table(source, book, skip, heading)
    try:
        found = book.get_sheet_by_name(chosen)
        if found.total_height * found.total_width > CELLS:
            raise DataError(
                f"the sheet “{chosen}” of {source.name} reaches over {found.total_height:,} rows and "
                f"{found.total_width:,} columns, too many to read. Delete what is empty, or save it as .csv."
            )
        cells, merged = found.to_python(skip_empty_area=False), found.merged_cell_ranges or []
    except CalamineError as error:
        raise DataError(_damaged_sheet(source, chosen)) from error
    lines = sheet_lines(cells, skip, heading)
    if not lines and sheet_lines(cells, 0):
        first = count_words(skip, "line")
        message = f"the sheet “{chosen}” of {source.name} has nothing below its first {first}. Skip fewer."
        raise DataError(message, "data.skip_lines")
    if not lines:
        raise DataError(f"the sheet “{chosen}” of {source.name} is empty. Choose another.", "data.sheet")
    with target.open("w", encoding="utf-8", newline="") as sink:
        csv.writer(sink).writerows(lines)
    called = f"the sheet “{chosen}” of {source.name}"
    about = [] if heading == "none" else _heading_notes(called, lines[0], merged, skip)
    rows = _sheet_rows(cells, skip, heading)
    about += formula_notes(source, chosen, cells, skip, heading)
    about += shown_otherwise_notes(source, chosen, cells, skip, heading)
    return {"sheets": names, "sheet": chosen, "rows": rows, "notes": about}


def _is_filled(cell: object) -> bool:
    return cell is not None and bool(str(cell).strip())


def _sheet_rows(cells: list[list[object]], skip: int, heading: str) -> list[tuple[int, int]]:
    """(row from 0, its number in the sheet) at the first row, and behind each gap: empty rows are left out."""
    there = [number for number, row in enumerate(cells[skip:], skip + 1) if any(map(_is_filled, row))]
    numbers = there if heading == "none" else there[1:]
    return [
        (n, number) for n, number in enumerate(numbers) if n == 0 or number != numbers[n - 1] + 1
    ]  # fmt: skip


def _open(source: Path) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_path(str(source))
    except (CalamineError, ZipError, OSError, ValueError) as error:
        raise DataError(NO_WORKBOOK.format(name=source.name)) from error


def _refuse_bombs(source: Path) -> None:
    """Raises DataError for what is no zip archive, or says itself that it unpacks to too much."""
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DataError(NO_WORKBOOK.format(name=source.name)) from error
    if len(parts) > PARTS or sum(part.file_size for part in parts) > UNPACKED:
        raise DataError(
            f"{source.name} unpacks to more than {UNPACKED >> 30} GB. Save the sheet that is meant as .csv."
        )


def _find_table(source: Path, book: CalamineWorkbook, skip: int, heading: str) -> str:
    """The sheet that ranks highest: a run's plain script takes the same."""
    sheets, unread = [], []
    for name in book.sheet_names:
        try:
            sheets.append(book.get_sheet_by_name(name))
        except CalamineError:  # a chart's sheet, which has no cells; or one that is damaged
            unread.append(name)
    best = max(sheets, key=lambda each: rank_sheet(each, skip, heading), default=None)
    if best is None or not best.height:
        raise DataError(
            _damaged_sheet(source, unread[0]) if unread else f"{source.name} has no sheet with cells in it."
        )
    return str(best.name)


def _damaged_sheet(source: Path, sheet: str) -> str:
    return (
        f"the sheet “{sheet}” of {source.name} cannot be read: it holds no cells, or is damaged. Open the file, and "
        "save it again as .xlsx or .csv."
    )


def _heading_notes(name: str, heading: list[str], merged: list[Any], skip: int) -> list[str]:
    found = []
    unnamed = [each for each in heading if re.fullmatch(r"Column [0-9]+", each)]
    if unnamed:
        found.append(f"{name} {UNNAMED}; they are called {', '.join(unnamed[:5])}.")
    wide = [(top, left) for (top, left), (bottom, right) in merged if top <= skip <= bottom and right > left]
    if wide:
        found.append(
            f"{MERGED} {name} are merged: only the first of them has the name. If it is a title above "
            "the heading, skip its line."
        )
    return found
