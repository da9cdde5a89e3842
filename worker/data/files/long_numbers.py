"""Numbers in JSON that are not read as they are written: `datasets` makes 1.2345678901234568e+20 of
123456789012345678901, and 2.0 of a 2 in the same column; beside texts, it makes null of 1e999."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INEXACT = "write the numbers of this column in quotes"  # by which such a note is known
MAY_BE_LONG = re.compile(rb"[0-9]{19}|[0-9][eE]\+?[0-9]{3}")
NAMED, SHOWN = 5, 40  # columns that the note names; characters of a number
LINE = 16 * 2**20  # bytes


def _is_long(digits: str) -> bool:
    """Whether a whole number, as it is written, is beyond 64 bits: those of either sign."""
    return len(digits) > 20 or not -(2**63) <= int(digits) < 2**63


def long_number_notes(path: Path, place: str, upto: int, seconds: float) -> list[str]:
    """A sentence for each column of JSON lines with such a number among the first so many bytes, as far as is looked;
    `place`: what a line is for a person."""
    give_up, found = time.monotonic() + seconds, dict[str, str]()
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE), b""), 1):
            if MAY_BE_LONG.search(line):
                found = {**{name: said.format(f"{place} {number:,}") for name, said in _long_cells(line)}, **found}
            if file.tell() > upto or time.monotonic() > give_up:
                break
    return [_sentence(name, said) for name, said in list(found.items())[:NAMED]]


def _sentence(column: str, said: str) -> str:
    return f"in “{column}”, {said}: {INEXACT}."


@dataclass(frozen=True)
class _Long:
    """A number that is not read as it is written."""

    written: str
    whole: bool

    @classmethod
    def of_whole(cls, written: str) -> _Long | None:
        return cls(written, True) if _is_long(written) else None

    @classmethod
    def of_decimal(cls, written: str) -> _Long | None:
        return cls(written, False) if math.isinf(float(written)) else None

    def in_words(self) -> str:
        number = self.written if len(self.written) <= SHOWN else f"{self.written[:SHOWN]}…"
        if self.whole:
            return f"{number} ({{}}) has too many digits to be read exactly, and others may be read as decimals, as 2.0"
        return f"{number} ({{}}) is too large to be read, and is taken as empty"


def _long_cells(line: bytes) -> Iterator[tuple[str, str]]:
    """(column, what becomes of it, with {} for its place) of each cell of a row that is, or holds, such a number."""
    try:
        row = json.loads(line, parse_int=_Long.of_whole, parse_float=_Long.of_decimal)
    except (ValueError, RecursionError):
        return
    for name, cell in row.items() if isinstance(row, dict) else ():
        found = next(_long_in(cell), None)
        if found is not None:
            yield name, found.in_words()


def _long_in(cell: Any) -> Iterator[_Long]:
    if isinstance(cell, _Long):
        yield cell
    elif isinstance(cell, (list, dict)):
        for one in cell.values() if isinstance(cell, dict) else cell:
            yield from _long_in(one)
