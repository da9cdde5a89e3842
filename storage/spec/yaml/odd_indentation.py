"""Lines that are indented with spaces which are none to YAML, such as the non-breaking ones of a web page: written with
ordinary ones, all at once, as who copied one has copied several."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.odd_spaces import ODD
from groupwise.storage.spec.yaml.plain_rows import rows_outside_text
from groupwise.storage.spec.yaml.repairs import Repair

ONE = "a special space, such as a non-breaking one, stands before this line's text: it is not indentation."
SEVERAL = "special spaces, such as non-breaking ones, stand before the text of {}: they are not indentation."
WITHOUT_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
WIDTHS = (1, 2)  # columns that one of them may stand for: an ideographic space looks like two
MOST = 3  # lines that are named

_ODDLY_INDENTED = re.compile(rf"( *(?:- +)?[{ODD}][ {ODD}]*)(?=(?:- )?\s*[A-Za-z_][\w.-]*\s*[:=]|-\s)")


def odd_indentation(rows: list[str]) -> Iterator[Repair]:
    """The rows from the first that is indented so to the last, with ordinary spaces; the likeliest width first."""
    odd = [row for row in rows_outside_text(rows) if _indentation(rows, row)]
    if not odd:
        return
    first, last = odd[0], odd[-1]
    one = len(odd) == 1
    label = "Write ordinary spaces" if one else f"Write ordinary spaces in {len(odd)} lines"
    words = ONE if one else SEVERAL.format(f"lines {join_words([str(row + 1) for row in odd], MOST)}")
    for width in WIDTHS:
        written = [_spaced(rows[row], width) if row in odd else rows[row] for row in range(first, last + 1)]
        yield Repair(first, written, label, words, here=True)


def _indentation(rows: list[str], row: int) -> str:
    """The white space before a row's text, where some of it is none to YAML; that a file begins with a byte order mark
    is no slip."""
    found = _ODDLY_INDENTED.match(rows[row], 1 if row == 0 and rows[0].startswith("\ufeff") else 0)
    return found[1] if found else ""


def _spaced(line: str, width: int) -> str:
    found = _ODDLY_INDENTED.match(line)
    before = found[1] if found else ""
    written = "".join(
        sign if sign in " -" else "" if sign in WITHOUT_WIDTH else " " * width for sign in before
    )  # fmt: skip
    return written + line[len(before) :]
