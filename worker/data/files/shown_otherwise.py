"""Cells of a sheet that a spreadsheet shows otherwise than they are read: 2,5 % is 0.025 there, and 15:30 has its
seconds. For a process that may be ended (worker.data.files.convert)."""

import datetime
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.worker.data.files.workbook_parts import (
    PLACE,
    column_name,
    column_number,
    find_heading,
    part_of,
    read_part,
)

PERCENT = {9, 10}  # Excel's own formats of per cent: 0% and 0.00%
STYLED = re.compile(rb'<c\s([^>]*\bs="([0-9]+)"[^>]*)>\s*<v>([-0-9.eE]+)</v>')
OTHER_TYPE = re.compile(rb'\bt="(?!n")')  # than a number
OTHERWISE = "read differently from what a spreadsheet shows"  # by which such a note is known
QUOTED = re.compile(r'"[^"]*"|\\.')  # of a format: signs that are shown as they are
NAMED = 5  # columns that a sentence names


def shown_otherwise_notes(source: Path, sheet: str, cells: list[list[object]], skip: int, heading: str) -> list[str]:
    """A sentence for per cents and one for times, where the sheet has any; `skip` and `heading` as write_sheet has
    them."""
    _, names, first = find_heading(cells, skip, heading)
    found = []
    percents = [one for one in _percents(source, sheet) if one[0] >= first]
    if percents:
        value = percents[0][2]
        found.append(_sentence(names, [column for _, column, _ in percents], f"{value * 100:g} %", f"{value:g}"))
    times = [
        (column, cell) for row in cells[first:] for column, cell in enumerate(row) if isinstance(cell, datetime.time)
    ]
    if times:
        time = times[0][1]
        found.append(_sentence(names, [column for column, _ in times], f"{time:%H:%M}", time.isoformat()))
    return found


def _sentence(names: list[object], columns: list[int], shown: str, read: str) -> str:
    counted = Counter(columns)
    said = [f"in “{column_name(names, n)}” {count_words(count, 'cell')}" for n, count in counted.most_common(NAMED)]
    are = "is" if len(columns) == 1 else "are"
    return (
        f"{join_words(said)} {are} {OTHERWISE}: {shown} is {read} here. Write them as "
        "text where a completion is to say what is shown."
    )


def _percents(source: Path, sheet: str) -> Iterator[tuple[int, int, float]]:
    """(row, column), from 0, and the number of each cell that is shown as per cent."""
    if source.suffix.lower() != ".xlsx":
        return
    with zipfile.ZipFile(source) as archive:
        part, styles = part_of(archive, sheet), _percent_styles(archive)
        text = read_part(archive, part) if part and styles else b""
    for attributes, style, number in STYLED.findall(text):
        place = PLACE.search(attributes)
        if place and int(style) in styles and not OTHER_TYPE.search(attributes):
            yield int(place[2]) - 1, column_number(place[1].decode()) - 1, float(number)


def _percent_styles(archive: zipfile.ZipFile) -> set[int]:
    """The numbers of the styles that show per cents; none where the workbook does not say."""
    try:
        root = ElementTree.fromstring(read_part(archive, "xl/styles.xml"))
    except (KeyError, ElementTree.ParseError):
        return set()
    own = {
        int(one.get("numFmtId", "0")) for one in root.iter()
        if one.tag.endswith("}numFmt") and "%" in QUOTED.sub("", one.get("formatCode", ""))
    }  # fmt: skip
    cells: Iterable[ElementTree.Element] = next((one for one in root if one.tag.endswith("}cellXfs")), ())
    return {n for n, one in enumerate(cells) if int(one.get("numFmtId", "0")) in PERCENT | own}
