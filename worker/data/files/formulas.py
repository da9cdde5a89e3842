"""Formulas of a sheet (.xlsx) whose results the file does not have: a program wrote them, and no spreadsheet has worked
them out yet. They read as empty cells. For a process that may be ended (worker.data.files.convert)."""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from groupwise.storage.spec.words.number_words import count_words, join_words

# A cell with a formula and nothing that it came to. Excel writes what came to an empty text so, too, as t="str".
WITHOUT_RESULT = re.compile(rb"<c\s([^>]*)>\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
PLACE = re.compile(rb'\br="([A-Z]+)([0-9]+)"')
LOOKED_THROUGH = 64 * 2**20  # bytes of a part of the workbook that are looked through
NAMED = 5  # columns that the sentence names


def formula_notes(source: Path, sheet: str, cells: list[list[object]], skip: int, heading: str) -> list[str]:
    """What to say of a sheet's formulas without results: nothing, or a sentence with their columns and how many cells
    those are. `cells`: the sheet's, from its first row; the heading is the first of them that is not empty after
    `skip`."""
    if source.suffix.lower() != ".xlsx":
        return []
    filled = [n for n, row in enumerate(cells) if n >= skip and any(str(cell or "").strip() for cell in row)]
    names = [] if heading == "none" or not filled else cells[filled[0]]
    first = skip if heading == "none" or not filled else filled[0] + 1
    found = [(row, column) for row, column in _without_result(source, sheet) if row >= first]
    rows = {n for n in filled if n >= first} | {row for row, _ in found}
    counted = Counter(column for _, column in found)
    return [_sentence({_name(names, n): count for n, count in counted.most_common()}, len(rows))] if found else []


def _sentence(by_column: dict[str, int], rows: int) -> str:
    said = [f"in “{name}” {count:,} of {count_words(rows, 'cell')}" for name, count in by_column.items()]
    if len(said) > NAMED:
        said = [*said[:NAMED], f"cells of {count_words(len(said) - NAMED, 'other column')}"]
    if sum(by_column.values()) == 1:
        about = "holds a formula whose result the file does not have, and is empty here"
    else:
        about = "hold formulas whose results the file does not have, and are empty here"
    return f"{join_words(said)} {about}. Open the file in Excel or LibreOffice and save it again."


def _name(names: list[object], column: int) -> str:
    """What a column is called (as storage.spec.rows.sheet_rows calls it)."""
    given = str(names[column] or "").strip() if column < len(names) else ""
    return given or f"Column {column + 1}"


def _without_result(source: Path, sheet: str) -> Iterator[tuple[int, int]]:
    """(row, column), from 0, of each such cell."""
    with zipfile.ZipFile(source) as archive:
        part = _part_of(archive, sheet)
        text = _read(archive, part) if part else b""
    for attributes in WITHOUT_RESULT.findall(text):
        place = PLACE.search(attributes)
        if place and b't="str"' not in attributes:
            yield int(place[2]) - 1, _number(place[1].decode()) - 1


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Where in a workbook a sheet of this name is; None where it does not say."""
    try:
        book = ElementTree.fromstring(_read(archive, "xl/workbook.xml"))
        links = ElementTree.fromstring(_read(archive, "xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    named = [one for one in book.iter() if one.tag.endswith("}sheet") and one.get("name") == sheet]
    ids = {value for one in named for key, value in one.items() if key.endswith("}id")}
    target = next((one.get("Target", "") for one in links if one.get("Id") in ids), "")
    part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return part if part in archive.namelist() else None


def _read(archive: zipfile.ZipFile, part: str) -> bytes:
    with archive.open(part) as file:
        return file.read(LOOKED_THROUGH)


def _number(letters: str) -> int:
    """Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
