"""Braces and brackets in which a comma is missing between two settings or entries: where, and the rows with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.yaml.plain_rows import shorten

ONE = "a comma is missing between “{}” and “{}”."
SEVERAL = "commas are missing before {}."
MOST = 3  # that are named
FARTHEST = 200  # rows above in which the braces are looked for

_OPENS = re.compile(r"\s*(?:- +)*(?:[\"']?[\w.-]+[\"']?\s*:\s+)?(?=[{\[])")
_TOKEN = re.compile(
    r"""(?P<space>\s+|(?<=\s)\#.*)|(?P<text>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<open>[{\[])|(?P<close>[}\]])|(?P<comma>,)"""
    r"""|(?P<colon>:(?=[\s,}\]"'{\[]|$))|(?P<plain>(?:[^\s,{}\[\]:"']|:(?![\s,}\]]|$)|(?<=\w)['"])+)""",
    re.X,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    row: int
    start: int
    end: int


def missing_commas(rows: list[str], last: int) -> Iterator[tuple[int, list[str], str, str]]:
    """Of the braces that the row `last` stands in, with a comma in each place that lacks one: the first row, the rows,
    the button's label and what is wrong there."""
    for first in range(last, max(-1, last - FARTHEST), -1):
        tokens = _tokens(rows, first) if _OPENS.match(rows[first]) else []
        if tokens and (first == last or tokens[-1].row >= last) and (places := _lacking(tokens)):
            yield _with_commas(rows, places)


def _with_commas(rows: list[str], places: list[tuple[_Token, _Token]]) -> tuple[int, list[str], str, str]:
    written = {row: rows[row] for row in range(places[0][0].row, places[-1][0].row + 1)}
    for before, _ in reversed(places):
        line = written[before.row]
        written[before.row] = f"{line[: before.end]},{line[before.end :]}"
    names = [f"“{shorten(behind.text.strip(chr(34) + chr(39)))}”" for _, behind in places]
    words = SEVERAL.format(join_words(names, MOST))
    if len(places) == 1:
        words = ONE.format(*(shorten(one.text.strip("\"'")) for one in places[0]))
    label = f"Put a comma before {names[0]}" if len(places) == 1 else f"Put commas before {join_words(names, MOST)}"
    return places[0][0].row, list(written.values()), label, words


def _tokens(rows: list[str], first: int) -> list[_Token]:
    """What stands in the braces that open in a row; nothing where they are not closed before the next setting, or hold
    a quotation mark that is not closed in its row."""
    opened = _OPENS.match(rows[first])
    margin = re.compile(rf" {{0,{len(rows[first]) - len(rows[first].lstrip(' '))}}}[A-Za-z_][\w-]*:(?:\s|$)")
    named = bool(margin.match(rows[first]))
    found, depth, column = list[_Token](), 0, opened.end() if opened else 0
    for row in range(first, len(rows)):
        if named and row > first and margin.match(rows[row]):
            break
        while column < len(rows[row]):
            hit = _TOKEN.match(rows[row], column)
            if hit is None:
                return []
            column = hit.end()
            if hit.lastgroup != "space":
                found.append(_Token(str(hit.lastgroup), hit[0], row, hit.start(), hit.end()))
            depth += (hit.lastgroup == "open") - (hit.lastgroup == "close")
            if not depth:
                return found
        column = 0
    return []


def _lacking(tokens: list[_Token]) -> list[tuple[_Token, _Token]]:
    """The tokens between which a comma is missing: the end of a value, and what begins the next setting or entry."""
    found = []
    given = False  # whether the setting has its colon: what follows it is a value, however many words that has
    for before, token, after in zip(tokens[:-1], tokens[1:], [*tokens[2:], None], strict=True):
        given = before.kind == "colon" or (given and before.kind not in ("comma", "open"))
        ends = before.kind in ("text", "close") or (before.kind == "plain" and given)
        begins_setting = token.kind in ("text", "plain") and after is not None and after.kind == "colon"
        if ends and (begins_setting or token.kind == "open" or (token.kind == "text" and before.kind != "plain")):
            found.append((before, token))
            given = False
    return found
