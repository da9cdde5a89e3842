"""Entries of a list of rewards or stages that the parser stops at, as they lack their dash."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.reward_entries import OF_AN_ENTRY
from groupwise.storage.spec.yaml.dashes import NO_DASH, column_of, with_dashes
from groupwise.storage.spec.yaml.plain_rows import shorten
from groupwise.storage.spec.yaml.repairs import Repair

_OPENS = re.compile(r" *(?:- +)?(?:rewards|stages):\s*(?:#.*)?")
_BARE = re.compile(r"( *)([A-Za-z_]\w*)\s*(?:#.*)?")
_ENTRY = re.compile(r"( *)- +\S")
_WEIGHED = re.compile(r"( *)([A-Za-z_]\w*): +([-+]?(?:\d+\.?\d*|\.\d+))( *#.*)?\s*")  # a function with its weight


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
    if _weighed(said[0]):
        yield _named_entries(rows, first, row, column, len(dash[1]))
        return
    written = with_dashes(block, column, len(dash[1]), said[0].strip().split(":")[0])
    yield Repair(first, written, f"Write it as “- {shorten(said[0].strip())}”", NO_DASH, here=True)


def _later_entry(rows: list[str], row: int) -> Iterator[Repair]:
    """The settings of an entry at the column of the dash of the one above."""
    found = re.match(r"( *)([A-Za-z_]\w*):(\s|$)", rows[row])
    column = column_of(rows[row])
    above = next((at for at in range(row - 1, -1, -1) if rows[at].strip() and column_of(rows[at]) <= column), -1)
    weighed = _weighed(rows[row])
    if found is None or above < 0 or not re.match(rf" {{{column}}}- +{'' if weighed else f'{found[2]}:'}", rows[above]):
        return
    ends = (n for n in range(row + 1, len(rows)) if column_of(rows[n]) < column or rows[n][column:].startswith("- "))
    end = next((n for n in ends if rows[n].strip()), len(rows))
    if not _is_of_rewards(rows, above):
        return
    if weighed:
        yield _named_entries(rows, row, end, column, column)
    else:
        written = with_dashes(rows[row:end], column, column, found[2])
        yield Repair(row, written, f"Write it as “- {shorten(rows[row].strip())}”", NO_DASH, here=True)


def _weighed(line: str) -> re.Match[str] | None:
    """A line that is a function's name with its weight, as in “format: 1.0”."""
    found = _WEIGHED.fullmatch(line)
    return found if found and found[2] not in OF_AN_ENTRY else None


def _named_entries(rows: list[str], first: int, end: int, column: int, dash: int) -> Repair:
    """Rows at a column, of which some are a function's name with its weight, as entries whose dash stands at `dash`:
    the name in one line and the weight in the next, unless it is given below."""
    read: list[str] = []
    put: list[str] = []
    made: dict[str, str] = {}  # the names → what stands below each that is written
    for at in range(first, end):
        found = _weighed(rows[at]) if column_of(rows[at]) == column else None
        if found is None:
            read.append(" " * (dash + 2) + rows[at][column:] if rows[at][:column].isspace() else rows[at])
            put.append(read[-1])
            continue
        read.append(f"{' ' * dash}- name: {found[2]}")
        put.append(read[-1] + (found[4] or ""))
        given = at + 1 < end and re.match(r" *weight:", rows[at + 1])
        made[found[2]] = "" if given else f" and “weight: {found[3]}”"
        put += [] if given else [f"{' ' * dash}  weight: {found[3]}"]
    each = [f"“- name: {name}”{weight}" for name, weight in made.items()]
    one = f"Write it as {each[0]}"
    label = one if len(made) == 1 else f"Write an entry each for {join_words([f'“{name}”' for name in made])}"
    return Repair(first, read, label, NO_DASH, put="\n".join(put), here=True)


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
