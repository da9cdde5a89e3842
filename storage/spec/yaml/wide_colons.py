"""A full-width colon (：), as a Chinese or Japanese keyboard types it: to YAML it is a letter of a text."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.odd_spaces import ODD

SIGN = "："
WIDE = "the colon after the name is a full-width one, which means nothing in YAML."
SEVERAL = "the colons after the names in lines {} to {} are full-width ones, which mean nothing in YAML."
LABEL = "Write :"

_SETTING = re.compile(rf"(\s*(?:- +)?[A-Za-z_]\w*) *{SIGN}[{ODD} ]*(.*)", re.A)


def wide_colons(rows: list[str], around: slice) -> Iterator[tuple[int, list[str], str, str]]:
    """Of some of the rows those that follow each other with such a colon after their names: the first of them, all with
    the colon that is meant, the label of the button that writes those, and what is wrong."""
    run: list[str] = []
    for row in range(around.start, around.stop + 1):
        found = _SETTING.fullmatch(rows[row]) if row < around.stop else None
        if found:
            run.append(f"{found[1]}: {found[2]}".rstrip())
        elif run:
            first, several = row - len(run), len(run) > 1
            label = f"{LABEL} in {len(run)} lines" if several else LABEL
            yield first, run, label, SEVERAL.format(first + 1, row) if several else WIDE
            run = []
