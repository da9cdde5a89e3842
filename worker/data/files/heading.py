"""Which line of a table is its heading: whether titles stand above it, and whether the first line is a row already, by
how its cells are like those below. Pure."""

import re
from collections import Counter
from typing import Any

from groupwise.storage.spec.rows.column_names import ANSWERS, CHATS, PROMPTS, find_named

NUMBER = re.compile(r"[-+−$€£]?\s*[0-9][0-9.,'\u00a0 ]*[%€$£]?")
SENTENCE = re.compile(r"[?!.=…]\s*$")
WORDS = 4  # in a heading at most, mostly
ROWS = 10  # that are compared
TITLES = 20  # rows above a heading at most
ALIKE = 0.9  # share of rows below a heading that have as many cells


def count_titles(rows: list[list[str]]) -> int:
    """How many rows stand above the heading: a title, a date, a unit, in fewer cells than the table has. The heading is
    the first row of as many cells as the body, each with a name of its own; 0 where that is not plain to see."""
    width = max(Counter(map(len, rows[1:])).items(), key=lambda one: (one[1], one[0]), default=(0, 0))[0]
    at = next((n for n, row in enumerate(rows[: TITLES + 1]) if not _is_title(row, width)), 0)
    if width < 2 or not at or _is_named(rows[:at]):
        return 0
    names, body = [name.strip() for name in rows[at]], rows[at + 1 :]
    fits = sum(len(row) == width for row in body) >= ALIKE * len(body)
    if len(names) != width or not all(names) or len(set(names)) < width or not body or not fits:
        return 0
    below = [dict(zip(rows[at], row, strict=True)) for row in body[:ROWS] if len(row) == width]
    plain = not any(NUMBER.fullmatch(name) or _is_sentence(name) for name in names)
    return at if plain and not is_a_row(rows[at], below) else 0


def find_heading_below(first: list[str], rows: list[list[str]]) -> int | None:
    """Which of the rows is plainly the heading, where a title was taken for it (`first`; what has no name is ""):
    titles in one cell, then names that people give to questions and answers, or texts over numbers. None where it is
    not plain to see."""
    at = next((n for n, row in enumerate(rows[:TITLES]) if sum(map(_is_filled, row)) > 1), None)
    if at is None or _is_named([first]):
        return None
    names, body = [name.strip() for name in rows[at]], rows[at + 1 :][:ROWS]
    if not all(names) or len(set(names)) < len(names) or any(NUMBER.fullmatch(n) or _is_sentence(n) for n in names):
        return None
    asks, answers = (find_named(known, names) for known in ((*PROMPTS, *CHATS), ANSWERS))
    one_cell = sum(map(_is_filled, first)) == 1 and _is_filled(first[0])
    over_numbers = any(_are_numbers(column) for column in zip(*body, strict=False))
    return at if (asks and answers) or (one_cell and body and (asks or answers or over_numbers)) else None


def _are_numbers(cells: tuple[str, ...]) -> bool:
    return all(NUMBER.fullmatch(cell.strip()) for cell in cells)


def _is_filled(cell: str) -> bool:
    return bool(cell.strip())


def _is_title(row: list[str], width: int) -> bool:
    """Fewer cells than the body; or as many, and only the first says something. Of two cells one may be the heading:
    pandas names no index."""
    filled = [cell for cell in row if cell.strip()]
    if not filled or len(row) < width:
        return True
    return width > 2 and len(row) == width and len(filled) == 1 and bool(row[0].strip())


def _is_named(rows: list[list[str]]) -> bool:
    """Whether one of these rows has the name of a column that people give questions or answers."""
    return find_named((*PROMPTS, *ANSWERS, *CHATS), [cell for row in rows for cell in row]) is not None


def is_a_row(heading: list[str], rows: list[dict[str, Any]]) -> bool:
    """Whether a heading is probably the first row: a number over numbers, a sentence over sentences, the same text
    again; and none of its names is one that people give a column of questions or answers."""
    if not rows or find_named((*PROMPTS, *ANSWERS, *CHATS), heading):
        return False
    return any(_is_alike(name, [str(row.get(name) or "") for row in rows[:ROWS]]) for name in heading)


def _is_alike(name: str, below: list[str]) -> bool:
    cells = [cell for cell in below if cell.strip()]
    if not cells:
        return False
    if NUMBER.fullmatch(name.strip()):
        return all(NUMBER.fullmatch(cell.strip()) for cell in cells)
    return _is_sentence(name) and sum(map(_is_sentence, cells)) > len(cells) / 2


def _is_sentence(text: str) -> bool:
    return len(text.split()) > WORDS or (bool(SENTENCE.search(text)) and len(text.split()) > 1)
