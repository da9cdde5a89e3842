"""Formulas of a sheet (.xlsx) whose results the file does not have: a program wrote them, and no spreadsheet has worked
them out yet. They read as empty cells. For a process that may be ended (worker.data.files.convert)."""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.spec.words.number_words import count_part, count_words, join_words
from groupwise.worker.data.files.workbook_parts import (
    PLACE,
    column_name,
    column_number,
    find_heading,
    part_of,
    read_part,
)

# A cell with a formula and nothing that it came to. Excel writes what came to an empty text so, too, as t="str".
WITHOUT_RESULT = re.compile(rb"<c\s([^>]*)>\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
LOST = "the file does not have"  # by which such a note is known
NAMED = 5  # columns that the sentence names


def formula_notes(source: Path, sheet: str, cells: list[list[object]], skip: int, heading: str) -> list[str]:
    """What to say of a sheet's formulas without results: nothing, or a sentence with their columns and how many cells
    those are. `cells`: the sheet's, from its first row; the heading is the first of them that is not empty after
    `skip`."""
    if source.suffix.lower() != ".xlsx":
        return []
    filled, names, first = find_heading(cells, skip, heading)
    found = [(row, column) for row, column in _without_result(source, sheet) if row >= first]
    rows = {n for n in filled if n >= first} | {row for row, _ in found}
    counted = Counter(column for _, column in found)
    return [_sentence({column_name(names, n): count for n, count in counted.most_common()}, len(rows))] if found else []


def _sentence(by_column: dict[str, int], rows: int) -> str:
    said = [f"in “{name}” {count_part(count, rows, 'cell')}" for name, count in by_column.items()]
    if len(said) > NAMED:
        said = [*said[:NAMED], f"cells of {count_words(len(said) - NAMED, 'other column')}"]
    if sum(by_column.values()) == 1:
        about = f"holds a formula whose result {LOST}, and is empty here"
    else:
        about = f"hold formulas whose results {LOST}, and are empty here"
    return f"{join_words(said)} {about}. Open the file in Excel or LibreOffice and save it again."


def _without_result(source: Path, sheet: str) -> Iterator[tuple[int, int]]:
    """(row, column), from 0, of each such cell."""
    with zipfile.ZipFile(source) as archive:
        part = part_of(archive, sheet)
        text = read_part(archive, part) if part else b""
    for attributes in WITHOUT_RESULT.findall(text):
        place = PLACE.search(attributes)
        if place and b't="str"' not in attributes:
            yield int(place[2]) - 1, column_number(place[1].decode()) - 1
