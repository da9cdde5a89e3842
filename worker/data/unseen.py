"""Characters in a text that nobody sees and a model reads, by their names. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.spec.words.number_words import count_words

UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
NAMES = {
    "\0": "NUL", "\x07": "BEL (bell)", "\x08": "BS (backspace)", "\x0c": "FF (page break)", "\x1b": "ESC (escape)",
    "\x7f": "DEL", "\u00ad": "soft hyphen", "\u200b": "zero-width space", "\u2060": "word joiner",
    "\ufeff": "byte order mark (BOM)",
}  # fmt: skip
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMED = 4  # characters that a sentence names


def unseen_names(text: str) -> list[str]:
    """The names of the characters in a text that cannot be seen, each once."""
    return list(dict.fromkeys(map(_name, UNSEEN.findall(text)))) if not text.isprintable() else []


def _name(letter: str) -> str:
    turn = "change of direction" if letter in TURNS else "control character"
    return NAMES.get(letter, f"{turn} U+{ord(letter):04X}")


@dataclass
class UnseenCharacters:
    """Where they are: name → (column, first row counted from 0, how many rows)."""

    found: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    def note_row(self, number: int, row: dict[str, Any], columns: list[str]) -> None:
        """Take note of those in these columns of a row."""
        for column in columns:
            cell = row.get(column)
            for name in unseen_names(cell) if isinstance(cell, str) else ():
                first = self.found.get(name, (column, number, 0))
                self.found[name] = (*first[:2], first[2] + 1)

    def sentence(self, row_words: Callable[[int], str]) -> str:
        """What to say of them; empty where there are none. `row_words`: where a row, counted from 0, stands."""
        if not self.found:
            return ""
        listed = [
            f"{name} in “{column}” of {row_words(first)}" + (f" and {count - 1:,} more" if count > 1 else "")
            for name, (column, first, count) in list(self.found.items())[:NAMED]
        ]
        more = len(self.found) - NAMED
        listed += [count_words(more, "more kind")] if more > 0 else []
        return f"there are invisible characters, which the model reads: {'; '.join(listed)}."
