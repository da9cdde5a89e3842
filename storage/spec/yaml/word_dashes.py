"""An entry's dash as a word processor writes it (“–”, “•”): to YAML it is a letter of what follows, and the entry a
setting or a text. Written as the dash that is meant, in all lines of its list at once."""

import re
from collections.abc import Iterator

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.odd_spaces import ODD
from groupwise.storage.spec.words.problem import Problem
from groupwise.storage.spec.yaml.plain_rows import TEXTS, rows_outside_text, shorten

SIGNS = "–—−‒―‐‑•●◦▪‣·∙⁃"
WORDS = "“{}” before this entry is not a dash in YAML: an entry begins with “-”."
SEVERAL = "“{}” before the entries in lines {} is not a dash in YAML: an entry begins with “-”."
MOST = 3  # lines that are named

_ODD_ENTRY = re.compile(rf"( *)([{SIGNS}])[ \t{ODD}]*(?=[^\W\d]|[\"'{{“])(.*)")
_ENTRY = re.compile(r"( *)- ")
_OPENS = re.compile(r" *(?:- +)?([A-Za-z_][\w-]*)[ \t]*:[ \t]*(?:#.*)?")
_ANY = re.compile(rf"^ *[{SIGNS}]", re.M)


def word_dashes(rows: list[str]) -> Iterator[tuple[int, list[str], str, str]]:
    """Of each list its first row with such a dash, the rows from there to the last with the dash that is meant, the
    button's label and what is wrong there."""
    lists: dict[int, list[int]] = {}  # the row that opens a list → those with such a dash
    opened = _list_openings(rows)
    for row in rows_outside_text(rows):
        if row in opened and _ODD_ENTRY.fullmatch(rows[row]):
            lists.setdefault(opened[row], []).append(row)
    for odd in lists.values():
        first, last = odd[0], odd[-1]
        written = [_with_dash(rows[row]) if row in odd else rows[row] for row in range(first, last + 1)]
        one, sign = len(odd) == 1, rows[first].lstrip()[0]
        label = f"Write it as “{shorten(written[0].strip())}”" if one else f"Write “-” in {len(odd)} lines"
        lines = join_words([str(row + 1) for row in odd], MOST)
        yield first, written, label, WORDS.format(sign) if one else SEVERAL.format(sign, lines)


def _list_openings(rows: list[str]) -> dict[int, int]:
    """By entry, the row that opens its list; none of one that may be a line of a text."""
    found: dict[int, int] = {}
    around: list[tuple[int, bool, int | None]] = []  # lines that others are below: (column, whether it opens, its list)
    for row, line in enumerate(rows):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        column = len(line) - len(line.lstrip(" "))
        while around and around[-1][0] > column:
            around.pop()
        opens, is_entry = _OPENS.fullmatch(line), _ENTRY.match(line) or _ODD_ENTRY.fullmatch(line)
        above = around[-1] if around else None
        leads = above[2] if above and is_entry and (above[1] or above[0] == column) else None
        if leads is not None:
            found[row] = leads
        if opens:
            leads = None if opens[1] in TEXTS else row
        while around and around[-1][0] >= column:
            around.pop()
        around.append((column, bool(opens), leads))
    return found


def _with_dash(line: str) -> str:
    found = _ODD_ENTRY.fullmatch(line)
    return f"{found[1]}- {found[3]}" if found else line


def word_dash_problems(text: str, root: Node) -> list[Problem]:
    """Of a text that YAML reads, a problem for each such list: its first entry has to begin what YAML reads as a name
    or a text there, so that it is no line of a longer text."""
    if not _ANY.search(text):
        return []
    begun = set(_plain_beginnings(root))
    return [Problem("", f"This is not YAML: {words}", first + 1)
            for first, _, _, words in word_dashes(text.splitlines()) if first in begun]  # fmt: skip


def _plain_beginnings(node: Node) -> Iterator[int]:
    """The rows in which a name or a text without quotes begins."""
    if isinstance(node, ScalarNode) and node.style is None:
        yield node.start_mark.line
    elif isinstance(node, MappingNode):
        for each in node.value:
            for inner in each:
                yield from _plain_beginnings(inner)
    elif isinstance(node, SequenceNode):
        for inner in node.value:
            yield from _plain_beginnings(inner)
