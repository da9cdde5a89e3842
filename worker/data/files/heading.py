"""Whether the first line of a table is a row already, and no heading: by how its cells are like those below. Pure."""

import re
from typing import Any

from groupwise.storage.spec.column_names import ANSWERS, CHATS, PROMPTS, find_named

NUMBER = re.compile(r"[-+−$€£]?\s*[0-9][0-9.,'\u00a0 ]*[%€$£]?")
SENTENCE = re.compile(r"[?!.=…]\s*$")
WORDS = 4  # in a heading at most, mostly
ROWS = 10  # that are compared


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
