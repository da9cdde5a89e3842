"""A part's name that lacks its colon, with its settings below: the parser stops at those, and to take the name out
would leave them to nothing."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.yaml.line_above import PARTS
from groupwise.storage.spec.yaml.plain_rows import rows_outside_text, shorten
from groupwise.storage.spec.yaml.repairs import Repair
from groupwise.storage.spec.yaml.yaml_text import NO_COLON

_BARE = re.compile(rf"((?: *- +)?|  +)({'|'.join(PARTS)})[ \t]*(#.*)?")
_BEFORE_BRACES = re.compile(rf"({'|'.join(PARTS)})[ \t]+([{{\[].*)")
_BEGINS = re.compile(r"([A-Za-z_]\w*)")
_BELOW = re.compile(r"( *)(?:([^\w\s'\"#])[ \t]*)?[A-Za-z_]\w*[ \t]*(?:[:=]|$)")


def parts_without_colon(rows: list[str]) -> Iterator[Repair]:
    """Each such row of the spec, or of a stage, with its colon; first those with settings in braces behind it."""
    said = [row for row in rows_outside_text(rows) if rows[row].strip() and not rows[row].lstrip().startswith("#")]
    for row in said:
        if braces := _BEFORE_BRACES.fullmatch(rows[row]):
            written = f"{braces[1]}: {braces[2]}"
            yield Repair(row, [written], f"Write it as “{shorten(written)}”", NO_COLON, here=True)
    part = ""
    for at, row in enumerate(said[:-1]):
        begins, found = _BEGINS.match(rows[row]), _BARE.fullmatch(rows[row])
        part = begins[1] if begins else part
        if found and (begins or part == "stages") and _has_settings(rows[said[at + 1]], found):
            written = f"{found[1]}{found[2]}:{' ' + found[3] if found[3] else ''}"
            yield Repair(row, [written], f"Write it as “{found[2]}:”", NO_COLON, here=True)


def _has_settings(below: str, part: re.Match[str]) -> bool:
    """Whether the line below begins what belongs to a part: deeper, or as an entry at its own column."""
    found = _BELOW.match(below)
    return found is not None and (len(found[1]) > len(part[1]) or bool(found[2] and len(found[1]) == len(part[1])))
