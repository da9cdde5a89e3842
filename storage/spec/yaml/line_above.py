"""Where the parser stops at a line, and the slip is in one above: the repairs of that one, so that a single line is
blamed and not all that follow it."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.setting_names import ELSEWHERE, UNDER_TRAINING
from groupwise.storage.spec.yaml.plain_rows import shorten
from groupwise.storage.spec.yaml.repairs import Repair
from groupwise.storage.spec.yaml.yaml_text import ABOVE, COLON, INDENTATION, NO_COLON

UNNAMED = "this entry's first line has no name, as in “- name: format”."
MOST = 3  # lines in a row that may stand wrong
PARTS = ("name", "model", "lora", "data", "rewards", "training", "kl", "launch", "stages")  # of a spec, at its margin

_SETTING = re.compile(r" *[A-Za-z_]\w*:(?: +\S.*)?")
_NO_COLON = re.compile(r"(\s*(?:- +)?)([A-Za-z_]\w*)(?: +([^\s:#]+))?(\s+#.*)?")
_OPENS = re.compile(r".*:\s*(?:#.*)?")
_BARE_ENTRY = re.compile(r"(\s*- +)([^\s:#'\"][^:#]*?)(\s+#.*)?")
_NAME = re.compile(r"(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z_]\w*", re.IGNORECASE)


def repairs_above(rows: list[str], row: int, message: str) -> Iterator[Repair]:
    """What may have been meant by lines above a row that the parser stops at, or by the row itself where its colon is
    missing; the likeliest first."""
    above = next((n for n in range(row - 1, -1, -1) if _is_said(rows[n])), None)
    no_colon = ABOVE in message or NO_COLON in message
    for at in (above, row) if no_colon else (above,):
        if at is not None:
            yield from _without_colon(at, rows[at], sure=no_colon or _is_beside_settings(rows, at, row))
    if above is not None and (INDENTATION in message or COLON in message):
        yield from _unnamed_entry(rows, row, above)
        yield from _out_of_line(rows, row)


def _without_colon(at: int, line: str, *, sure: bool) -> Iterator[Repair]:
    """A setting without its colon. `sure`: the parser misses one; else it has to be a setting's name."""
    found = _NO_COLON.fullmatch(line.rstrip())
    if found is None or not (sure or found[2] in UNDER_TRAINING or found[2] in ELSEWHERE or "_" in found[2]):
        return
    remark = found[4] or ""
    if found[3]:
        written = f"{found[2]}: {found[3]}"
        yield Repair(at, [found[1] + written + remark], f"Write it as “{shorten(written)}”", NO_COLON, here=True)
    elif sure:
        left = found[1] + remark.lstrip() if remark else ""
        yield Repair(at, [left], f"Remove “{shorten(found[2])}”", NO_COLON, here=True)


def _is_beside_settings(rows: list[str], at: int, row: int) -> bool:
    """Whether a line stands among the settings of a part: at the column of the one below it, and of what is above it or
    else first in its part. So it is no text that goes on."""
    column = _column(rows[row])
    above = next((rows[n] for n in range(at - 1, -1, -1) if _is_said(rows[n])), "")
    opens = _column(above) < column and bool(_OPENS.fullmatch(above))
    return _column(rows[at]) == column and bool(_SETTING.match(rows[row])) and (opens or _begins_at(above, column))


def _unnamed_entry(rows: list[str], row: int, above: int) -> Iterator[Repair]:
    """An entry that is only its name, or a value that names nothing, with settings below it."""
    found = _BARE_ENTRY.fullmatch(rows[above].rstrip())
    if found is None or _column(rows[row]) != len(found[1]):
        return
    dash, value, remark = found[1], found[2], found[3] or ""
    if _NAME.fullmatch(value):
        written = f"name: {value}"
        yield Repair(above, [dash + written + remark], f"Write it as “- {shorten(written)}”", UNNAMED, here=True)
    else:
        yield Repair(above, [dash.rstrip() + remark], f"Remove “{shorten(value)}”", UNNAMED, here=True)


def _out_of_line(rows: list[str], row: int) -> Iterator[Repair]:
    """Lines before a row that begin at another column than it and the lines around them."""
    column = _column(rows[row])
    run: list[int] = []
    for at in range(row - 1, -1, -1):
        if not _is_said(rows[at]):
            continue
        opens = _column(rows[at]) < column and rows[at].rstrip().endswith(":")
        if opens or _begins_at(rows[at], column):
            break
        run.insert(0, at)
    else:
        return
    if not run or len(run) > MOST or not all(_is_movable(rows[at]) for at in run):
        return
    first_of_part = opens and _column(rows[run[0]]) > _column(rows[at])
    if first_of_part and _count_following(rows, row) <= len(run):
        return  # as many on either side: the row may be the one that stands wrong
    moved = [
        " " * column + rows[at].lstrip(" ") if at in run else rows[at] for at in range(run[0], run[-1] + 1)
    ]  # fmt: skip
    lines = "line" if len(run) == 1 else f"{len(run)} lines"
    yield Repair(run[0], moved, f"Begin the {lines} at column {column + 1}", INDENTATION, here=True)


def _is_movable(line: str) -> bool:
    """Whether a line is a setting that belongs to a part, and no part itself."""
    return bool(_SETTING.fullmatch(line.rstrip())) and line.strip().split(":")[0] not in PARTS


def _count_following(rows: list[str], row: int) -> int:
    """How many lines from a row on begin at its column, until one that begins before it."""
    column, number = _column(rows[row]), 0
    for line in rows[row:]:
        if _is_said(line) and _column(line) < column:
            break
        number += _is_said(line) and _column(line) == column
    return number


def _begins_at(line: str, column: int) -> bool:
    """Whether a line, or what stands behind its dash, begins at a column."""
    inner = re.match(r" *(?:- +)?", line)
    return column in (_column(line), inner.end() if inner else 0)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_said(line: str) -> bool:
    """Whether a line is more than blank or a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")
