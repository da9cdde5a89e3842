"""A quotation mark that is left open inside braces or brackets: everything to the text's end is in it for YAML, the
brackets too. Closed where its text most likely ends, with the brackets that are open then."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.odd_spaces import ODD
from groupwise.storage.spec.yaml.open_quotes import REMARK

BOTH = "a quotation mark and a bracket are not closed."
_NEXT_SETTING = re.compile(r"\s*,\s*[\"']?[A-Za-z_]\w*[\"']?\s*:\s")
_NEXT_ENTRY = re.compile(r"\s*,")
_CLOSING = re.compile(rf"[\]}}\s{ODD}]*$")
_CLOSED_BY = {"{": "}", "[": "]"}


def closed_quotes(line: str) -> Iterator[tuple[str, str, bool]]:
    """The line as it may be meant, the likeliest first: with what a button shows of it, and whether brackets had to be
    closed, too. None of a line in which no quotation mark is left open inside of brackets."""
    opened = _open_quote(line)
    if opened is None:
        return
    at, brackets = opened
    rest = line[at + 1 :]
    remark = found[0] if (found := REMARK.search(rest)) else ""
    rest = rest.removesuffix(remark)
    for end in dict.fromkeys(_ends(rest, brackets[-1])):
        whole = line[:at] + line[at] + rest[:end].rstrip() + line[at] + rest[end:]
        missing = _open_at_end(whole)
        if missing is not None:
            yield whole + missing + remark, (whole + missing)[at:], bool(missing)


def _ends(rest: str, bracket: str) -> Iterator[int]:
    """Where a text may end that begins in a bracket: before what comes next, before what closes it, or with the
    line."""
    following = (_NEXT_SETTING if bracket == "{" else _NEXT_ENTRY).search(rest)
    if following:
        yield following.start()
    yield _CLOSING.search(rest).start()  # type: ignore[union-attr]
    yield len(rest)


def _open_quote(line: str) -> tuple[int, str] | None:
    """Where a quotation mark stands that is open at the line's end, and the brackets that it stands in."""
    brackets, quote = "", None
    for n, sign in enumerate(line):
        if quote is not None:
            quote = None if sign == line[quote] else quote
        elif sign in "'\"" and (not (before := line[:n].rstrip()) or before[-1] in ":,[{-"):
            quote = n
        elif sign in _CLOSED_BY:
            brackets += sign
        elif brackets and sign == _CLOSED_BY[brackets[-1]]:
            brackets = brackets[:-1]
    return (quote, brackets) if quote is not None and brackets else None


def _open_at_end(line: str) -> str | None:
    """What closes the brackets of a line without open quotation marks; None where it has one still."""
    if _open_quote(line):
        return None
    return missing_brackets(line)


def missing_brackets(line: str) -> str:
    """What closes the brackets that are open at a line's end."""
    open_ones: list[str] = []
    for sign in re.sub(r"'[^']*'|\"[^\"]*\"", "", line):
        if sign in _CLOSED_BY:
            open_ones.append(_CLOSED_BY[sign])
        elif open_ones and sign == open_ones[-1]:
            open_ones.pop()
    return "".join(reversed(open_ones))
