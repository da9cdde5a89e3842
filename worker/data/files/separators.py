"""What separates and quotes the cells of a text table, by what makes its first rows all as wide as the heading."""

import csv
import io
import re
from dataclasses import dataclass
from typing import Any

from groupwise.storage.spec.rows.file_format import QUOTES, SEPARATORS
from groupwise.worker.data.files.heading import count_titles

ROWS = 300  # rows that are weighed
GOOD = 0.9  # share of rows as wide as the heading, from which nothing else is tried
EXCEL_LINE = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)  # with which Excel says the separator above the heading


@dataclass(frozen=True)
class Layout:
    """How cells are separated and quoted, by the names that a spec gives it; `skip_lines`: lines above the heading."""

    separator: str
    quote: str
    skip_lines: int


def find_layout(
    text: str, *, whole: bool, usual: str, said: dict[str, str], skip: int | None, headed: bool = True
) -> Layout:
    """The layout of the text that a file begins with. `whole`: the file ends there; `usual`: the separator where
    nothing speaks for another; `said`: the separator or quote that a person chose; `skip`: lines above the heading
    (None: titles are looked for); `headed`: whether there is a heading."""
    own = EXCEL_LINE.match(text)
    names = {mark: name for name, mark in SEPARATORS.items()}
    lines = skip if skip is not None else int(own is not None)
    separators = [said["separator"]] if "separator" in said else list(SEPARATORS)
    if own and own[1] in names and "separator" not in said:
        separators = [names[own[1]]]
    body = without_lines(text, lines)
    ways = [(separator, quote) for quote in _quotes(said) for separator in separators]
    best = max((_Weighed(body, *way, whole) for way in ways), key=lambda one: one.weight)
    if headed and skip is None and not best.names_all():
        best = max((_Weighed(body, *way, whole, titled=True) for way in ways), key=lambda one: one.weight)
    if best.weight[0] == 0:
        separator = separators[0] if len(separators) == 1 else usual
        return Layout(separator, said.get("quote", "double"), lines)
    return Layout(best.separator, best.quote, lines + best.titles)


def _quotes(said: dict[str, str]) -> list[str]:
    return [said["quote"]] if "quote" in said else list(QUOTES)


def without_lines(text: str, lines: int) -> str:
    """The text below so many lines."""
    for _ in range(lines):
        text = text.partition("\n")[2]
    return text


class _Weighed:
    """How well one separator and one quote fit, and how many lines of titles stand above the heading then."""

    def __init__(self, text: str, separator: str, quote: str, whole: bool, *, titled: bool = False) -> None:
        self.separator, self.quote = separator, quote
        placed = placed_rows(text, separator, quote, whole)
        above = count_titles([row for _, row in placed or []]) if titled else 0
        self.titles = placed[above][0] if placed and above else 0
        heading, *rest = [row for _, row in (placed or [])[above:]] or [[]]
        self.heading, self.weight = heading, _weigh(heading, rest, separator, quote)

    def names_all(self) -> bool:
        """Whether nearly all rows are as wide as the heading, and each column has a name."""
        return bool(self.weight[0]) and all(name.strip() for name in self.heading)


def _weigh(heading: list[str], rows: list[list[str]], separator: str, quote: str) -> tuple[float, ...]:
    """The more, the better: rows as wide as the heading; usual quotes; separators that are not punctuation; cells that
    no other separator could cut; more columns."""
    if len(heading) < 2:
        return (0.0,)
    fits = sum(len(row) == len(heading) for row in rows) / len(rows) if rows else 1.0
    cells = [cell for row in [heading, *rows] for cell in row]
    wrapped = sum(len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"" for cell in cells) / len(cells)
    spaced = sum(cell.startswith(" ") for row in [heading, *rows] for cell in row[1:]) / len(cells)
    others = "".join(mark for name, mark in SEPARATORS.items() if name != separator and mark != ",")
    clean = sum(not any(mark in cell for mark in others) for cell in cells) / len(cells)
    usual = {"double": 2.0, "none": 1.0, "single": 0.0}[quote]
    if fits < 0.5:
        return (0.0,)
    return (float(fits >= GOOD), -round(wrapped, 1), round(fits, 2), usual, -round(spaced, 1), round(clean, 1),
            float(len(heading)))  # fmt: skip


def parse_rows(text: str, separator: str, quote: str, whole: bool) -> list[list[str]] | None:
    """The first rows of a text, without blank lines; None where it cannot be read so. `whole`: else its end, which may
    be within a cell, is left out."""
    placed = placed_rows(text, separator, quote, whole)
    return None if placed is None else [row for _, row in placed]


def placed_rows(text: str, separator: str, quote: str, whole: bool) -> list[tuple[int, list[str]]] | None:
    """As parse_rows, each row with the number of lines before it."""
    options = csv_options(separator, quote)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, **options)
    rows: list[tuple[int, list[str]]] = []
    before = 0
    try:
        for row in reader:
            rows += [(before, row)] if row else []
            before = reader.line_num
            if len(rows) > ROWS:
                return rows
    except csv.Error as error:
        return rows if "unexpected end" in str(error) and not whole and rows else None
    return rows if whole else rows[:-1]


def csv_options(separator: str, quote: str) -> dict[str, Any]:
    """What csv.reader, and pandas by other names, need for it."""
    mark = QUOTES[quote]
    how = {"quotechar": mark} if mark else {"quoting": csv.QUOTE_NONE}
    return {"delimiter": SEPARATORS[separator], **how}
