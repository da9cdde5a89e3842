"""A notebook's own file (.ipynb): the text of its code cells; lines for the notebook or the shell, in it or in what was
pasted; and which strings a line of code leaves open. Pure."""

import json
import re
from typing import Any

TRIPLE = ('"""', "'''")
MAGIC, GOES_ON, INSIDE, CODE = "magic", "goes on", "inside", "code"  # what a line is
_MAGIC = re.compile(r"^(\s*)(?:%{1,2}[A-Za-z_]|!|\?|[A-Za-z_][\w.]*\?{1,2}\s*$|\w+\s*=\s*[%!])")
# A magic for the whole cell; with one that is not of these, the cell is not Python.
_WHOLE_CELL = re.compile(r"^%%([A-Za-z_]\w*)")
_STILL_PYTHON = {"capture", "time", "timeit", "prun", "python", "python3", "ipytest"}
_TOKEN = re.compile("#.*|\"\"\"|'''|" + r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")  # comments and strings of a line


def code_cells(text: str) -> list[str]:
    """The sources of a notebook's code cells, in order, with plain line ends; those of the formats before version 4 lie
    in worksheets. Empty where there are none. Raises ValueError, or RecursionError, where the text is not JSON."""
    whole = json.loads(text.lstrip("\ufeff"))
    sheets = whole.get("worksheets") if isinstance(whole, dict) else []
    parts = sheets if isinstance(sheets, list) else [whole]
    cells = [cell for part in parts if isinstance(part, dict) for cell in _list_of(part.get("cells"))]
    return [_source(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    parts = source if isinstance(source, list) else [source]
    return "".join(part for part in parts if isinstance(part, str)).replace("\r\n", "\n").replace("\r", "\n")


def open_string(line: str, inside: str) -> str:
    """The triple quotes that are still open after a line, given those that were before it; empty for none."""
    at = 0
    while True:
        if inside:
            end = line.find(inside, at)
            if end < 0:
                return inside
            at, inside = end + 3, ""
        opening = next((found for found in _TOKEN.finditer(line, at) if found[0] in TRIPLE), None)
        if opening is None:
            return ""
        at, inside = opening.end(), opening[0]


def is_foreign(line: str) -> bool:
    """Whether a cell that begins with this line is not Python, as one of %%bash is."""
    named = _WHOLE_CELL.match(line)
    return named is not None and named[1] not in _STILL_PYTHON


def as_comment(line: str) -> str | None:
    """A line for the notebook or the shell (%pip, !pip, help?) as Python that does nothing; None for any other."""
    found = _MAGIC.match(line)
    if found is None:
        return None
    return f"{found[1]}pass  # {line.strip()}" if found[1] else f"# {line}"


def without_magics(lines: list[str], *, one_cell: bool) -> list[tuple[str, str]]:
    """Each line as Python has it, and what it was: MAGIC, one that goes on with a line before it (GOES_ON), text inside
    of a string (INSIDE), or CODE. Lines for the notebook or the shell become comments, with those that a backslash at
    their end continues; so does a cell that is not Python, to its end in `one_cell`, else to the next empty line."""
    found: list[tuple[str, str]] = []
    inside, goes_on, began = "", "", False
    for line in lines:
        magic = None if inside or goes_on else as_comment(line)
        if goes_on:
            found.append((f"# {line}" if line else "", GOES_ON))
        elif magic is not None:
            found.append((magic, MAGIC))
        else:
            found.append((line, INSIDE if inside else CODE))
            inside = open_string(line, inside)
        goes_on = _continued(line, goes_on, magic is not None, one_cell, began)
        began = began or bool(line.strip())
    return found


def _continued(line: str, before: str, magic: bool, one_cell: bool, began: bool) -> str:
    """What the next line still belongs to: a cell that is not Python (“%%”), or a line for the shell (a backslash);
    empty for neither. `before`: the same of this line; `began`: other lines stand before it."""
    if before == "%%" or (magic and is_foreign(line) and not (one_cell and began)):
        return "%%" if one_cell or line.strip() else ""
    return "\\" if (magic or before) and line.rstrip().endswith("\\") else ""
