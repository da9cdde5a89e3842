"""What a workbook (.xlsx) is packed from, where the reader of its cells does not say what is wanted."""

import re
import zipfile
from xml.etree import ElementTree

PLACE = re.compile(rb'\br="([A-Z]+)([0-9]+)"')  # of a cell
LOOKED_THROUGH = 64 * 2**20  # bytes of a part of the workbook that are looked through


def find_heading(cells: list[list[object]], skip: int, heading: str) -> tuple[list[int], list[object], int]:
    """The rows of a sheet that are not empty after `skip`, the names of its columns, which the first of them has
    (`heading` “none”: no row has them), and the row, from 0, from which on there are rows of data."""
    filled = [n for n, row in enumerate(cells) if n >= skip and any(str(cell or "").strip() for cell in row)]
    if heading == "none" or not filled:
        return filled, [], skip
    return filled, cells[filled[0]], filled[0] + 1


def column_name(names: list[object], column: int) -> str:
    """What a column is called (as storage.spec.rows.sheet_rows calls it)."""
    given = str(names[column] or "").strip() if column < len(names) else ""
    return given or f"Column {column + 1}"


def part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Where in a workbook a sheet of this name is; None where it does not say."""
    try:
        book = ElementTree.fromstring(read_part(archive, "xl/workbook.xml"))
        links = ElementTree.fromstring(read_part(archive, "xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    named = [one for one in book.iter() if one.tag.endswith("}sheet") and one.get("name") == sheet]
    ids = {value for one in named for key, value in one.items() if key.endswith("}id")}
    target = next((one.get("Target", "") for one in links if one.get("Id") in ids), "")
    part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return part if part in archive.namelist() else None


def read_part(archive: zipfile.ZipFile, part: str) -> bytes:
    with archive.open(part) as file:
        return file.read(LOOKED_THROUGH)


def column_number(letters: str) -> int:
    """Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
