"""The cells of a spreadsheet as lines of text. Pure; a run's plain script has this very code."""

import datetime
import typing


def sheet_lines(cells: list[list[object]], skip: int, heading: str = "line") -> list[list[str]]:
    """The heading and the rows of a sheet, without its empty rows and columns; `skip`: rows above the heading;
    `heading`: “none” where the first of them is a row already.

    58.0 is 58, a date is ISO text, what is true is “true”. A column without a heading is called “Column 3”.
    """

    def text(cell: object) -> str:
        if isinstance(cell, (datetime.date, datetime.time)):
            return cell.isoformat()
        if isinstance(cell, datetime.timedelta):
            seconds = round(cell.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e16:
            return str(int(cell))
        return str(cell).lower() if isinstance(cell, bool) else "" if cell is None else str(cell)

    lines = [[text(cell) for cell in row] for row in cells[skip:]]
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    used = [n for n in range(len(lines[0]) if lines else 0) if any(line[n].strip() for line in lines)]
    lines = [[line[n] for n in used] for line in lines]
    if not lines:
        return []
    first = [""] * len(used) if heading == "none" else lines.pop(0)
    return [[name.strip() or f"Column {n + 1}" for n, name in zip(used, first, strict=True)], *lines]


def rank_sheet(sheet: typing.Any, skip: int, heading: str = "line") -> tuple[bool, bool, int]:
    """What puts a sheet before others where none is chosen: several columns, a heading that names each of them
    differently, and the most rows."""
    begin = sheet.to_python(skip_empty_area=False, nrows=skip + 100) if heading != "none" else []
    named = [[str(cell).strip() for cell in row if str(cell).strip()] for row in begin[skip:]]
    first = next((names for names in named if names), [])
    return min(sheet.height, sheet.width) > 1, len(first) == len(set(first)), sheet.height
