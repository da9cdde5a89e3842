"""Entries of a list of rewards or stages that the parser stops at, as they lack their dash."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.yaml.dashes import NO_DASH, column_of, with_dashes
from groupwise.storage.spec.yaml.repairs import Repair, shorten

_OPENS = re.compile(r" *(?:- +)?(?:rewards|stages):\s*(?:#.*)?")
_BARE = re.compile(r"( *)([A-Za-z_]\w*)\s*(?:#.*)?")
_ENTRY = re.compile(r"( *)- +\S")


def entries_without_dash(rows: list[str], row: int) -> Iterator[Repair]:
    """An entry above the first dash of its list, or below another's, which the parser stops at; and a bare name below
    an entry that is one, too."""
    yield from _first_entry(rows, row)
    yield from _later_entry(rows, row)
    for at in (row, row - 1):
        yield from _bare_name(rows, at)


def _first_entry(rows: list[str], row: int) -> Iterator[Repair]:
    dash = _ENTRY.match(rows[row])
    first = next((at + 1 for at in range(row - 1, -1, -1) if _OPENS.fullmatch(rows[at].rstrip())), row)
    block = rows[first:row]
    said = [line for line in block if line.strip() and not line.lstrip().startswith("#")]
    if dash is None or not said or any(line.lstrip().startswith("- ") for line in said):
        return
    column = column_of(said[0])
    if min(map(column_of, said)) < column or not re.match(r" *[A-Za-z_]\w*:(\s|$)", said[0]):
        return
    written = with_dashes(block, column, len(dash[1]), said[0].strip().split(":")[0])
    yield Repair(first, written, f"Write it as “- {shorten(said[0].strip())}”", NO_DASH, here=True)


def _later_entry(rows: list[str], row: int) -> Iterator[Repair]:
    """The settings of an entry at the column of the dash of the one above."""
    found = re.match(r"( *)([A-Za-z_]\w*):(\s|$)", rows[row])
    column = column_of(rows[row])
    above = next((at for at in range(row - 1, -1, -1) if rows[at].strip() and column_of(rows[at]) <= column), -1)
    if found is None or above < 0 or not re.match(rf" {{{column}}}- +{found[2]}:", rows[above]):
        return
    ends = (n for n in range(row + 1, len(rows)) if column_of(rows[n]) < column or rows[n][column:].startswith("- "))
    end = next((n for n in ends if rows[n].strip()), len(rows))
    if _is_of_rewards(rows, above):
        written = with_dashes(rows[row:end], column, column, found[2])
        yield Repair(row, written, f"Write it as “- {shorten(rows[row].strip())}”", NO_DASH, here=True)


def _bare_name(rows: list[str], at: int) -> Iterator[Repair]:
    found = _BARE.fullmatch(rows[at]) if at >= 0 else None
    above = next((n for n in range(at - 1, -1, -1) if rows[n].strip()), -1)
    entry = _ENTRY.match(rows[above]) if above >= 0 else None
    if found and entry and found[1] == entry[1] and _is_of_rewards(rows, above):
        written = f"- name: {found[2]}"
        yield Repair(at, [found[1] + written], f"Write it as “{shorten(written)}”", NO_DASH, here=True)


def _is_of_rewards(rows: list[str], at: int) -> bool:
    """Whether the part that a row stands in is a list of rewards."""
    column = column_of(rows[at])
    opens = next((n for n in range(at, -1, -1) if re.match(r" *(- +)?\w+:", rows[n]) and column_of(rows[n]) < column + 1
                  and not rows[n].lstrip().startswith("- name")), -1)  # fmt: skip
    return opens >= 0 and re.match(r" *(- +)?rewards:", rows[opens]) is not None
