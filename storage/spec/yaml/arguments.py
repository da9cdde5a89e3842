"""Settings as a script or a command line writes them (“beta = 0.1,”, “--beta 0.1”), and a chat's fences around them."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.yaml.fences import FENCE
from groupwise.storage.spec.yaml.plain_rows import shorten
from groupwise.storage.spec.yaml.repairs import EQUALS, Repair

FENCE_WORDS = "this line is not a setting: it marks code in a chat or a Markdown text."
OF_A_COMMAND = "this is an argument of a command. A setting is its name, a colon and its value."
_ARGUMENT = re.compile(r"( *)(?:--([A-Za-z_][\w-]*)(?: *= *| +)|([A-Za-z_]\w*) *= *)([^\s=].*?),? *")


def repair_arguments(rows: list[str], row: int) -> Iterator[Repair]:
    """A row that is a fence, without it; those around it that are arguments, as settings. YAML takes lines without a
    colon for one text: what puts one of them right alone does not let it read on."""
    if FENCE.fullmatch(rows[row]):
        yield Repair(row, [""], "Remove the line", FENCE_WORDS)
    for at in (row, row - 1):
        if at >= 0 and (hit := _ARGUMENT.fullmatch(rows[at])):
            first, last = _reach_of(rows, at, -1), _reach_of(rows, at, 1)
            written = [_as_setting(line) for line in rows[first : last + 1]]
            one = f"Write it as “{shorten(written[0].strip())}”"
            label = one if first == last else f"Write these {len(written)} lines with a colon"
            yield Repair(first, written, label, OF_A_COMMAND if hit[2] else EQUALS, here=True)


def _reach_of(rows: list[str], at: int, step: int) -> int:
    while 0 <= at + step < len(rows) and _ARGUMENT.fullmatch(rows[at + step]):
        at += step
    return at


def _as_setting(line: str) -> str:
    found = _ARGUMENT.fullmatch(line)
    if found is None:
        return line
    return f"{found[1]}{(found[2] or found[3]).replace('-', '_')}: {found[4]}"
