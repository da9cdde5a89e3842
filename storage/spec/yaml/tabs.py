"""Tabs where YAML takes none: before a line's text and between its parts. Those of texts and remarks are meant."""

import re

_OPENS_TEXT = re.compile(r"\s*\S.*[:-]\s*[|>][-+0-9]*\s*(?:#.*)?")
_QUOTED = {'"': re.compile(r'(?:[^"\\]|\\.?)*'), "'": re.compile(r"(?:[^']|'')*")}
_SPACE = re.compile(r"[ \t]*")


def without_tabs(rows: list[str], width: int) -> list[str]:
    """The rows with so many spaces for each tab before their text, and one for those between their parts."""
    written = []
    quote, text, first = "", None, ""  # the open quotation mark; the column of the name above a text (“|”); its indent
    for row in rows:
        indentation = _SPACE.match(row)[0]  # type: ignore[index]
        column = len(indentation.replace("\t", " " * width))
        if text is not None and (not row.strip() or column > text):
            first = first or (indentation if row.strip() else "")
            written.append(_row_of_text(row, text, first, width))
            continue
        text, first = None, ""
        line, quote_after = _row_of_settings(row, quote, width)
        text = column if not quote_after and not quote and _OPENS_TEXT.fullmatch(row) else None
        quote = quote_after
        written.append(line)
    return written


def _row_of_text(row: str, column: int, first: str, width: int) -> str:
    """`first`: what the text's first row begins with; a tab behind enough spaces is the text's own."""
    if len(row) - len(row.lstrip(" ")) > column or not row.startswith(first):
        return row
    return first.replace("\t", " " * width) + row[len(first) :]


def _row_of_settings(row: str, quote: str, width: int) -> tuple[str, str]:
    """The row, and the quotation mark that is open at its end. `quote`: the one that is open at its beginning."""
    at = 0 if quote else len(_SPACE.match(row)[0])  # type: ignore[index]
    written, before = row[:at].replace("\t", " " * width), ""
    while at < len(row):
        sign, end = row[at], at + 1
        if quote or (sign in _QUOTED and _begins_value(row, at, before)):
            begin = at if quote else end
            quote = quote or sign
            end = _QUOTED[quote].match(row, begin).end()  # type: ignore[union-attr]
            if end >= len(row):
                return written + row[at:], quote
            end, quote, before = end + 1, "", "]"
            written += row[at:end]
        elif sign == "#" and (at == 0 or row[at - 1] in " \t"):
            return written + row[at:], ""
        elif sign in " \t":
            end = _SPACE.match(row, at).end()  # type: ignore[union-attr]
            parts = _parts(row, at, end, before)
            written += row[at:end].replace("\t", " ") if parts else row[at:end]
        else:
            written += sign
            before = sign
        at = end
    return written, ""


def _begins_value(row: str, at: int, before: str) -> bool:
    return before in ("", ",", "[", "{") or (before in ":-" and row[at - 1] in " \t")


def _parts(row: str, at: int, end: int, before: str) -> bool:
    """Whether the white space from `at` to `end` stands between two parts of a row, and in no text."""
    is_dash = before == "-" and not row[:at].strip(" \t-")
    return is_dash or before in (":", ",", "[", "{", "]", "}") or row[end : end + 1] in ("", "#", ",", "]", "}")
