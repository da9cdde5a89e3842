"""What a search for text means: its terms, what of them the full-text index can answer, and where they stand in a text.

Words are divided by spaces, and each must be there. A bare word is found where a word begins with it; one with
punctuation in it, or in quotation marks, is found where exactly this stands. Case never counts. A regular expression
is read as the package `regex` reads it, whose searches can be ended after a time.
"""

import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import regex

from groupwise.storage.spec.rows.pattern_words import say_fault

NO_PATTERN = "This is not a regular expression: "
LONGEST = 500  # characters of what is searched for
MOST_TERMS = 16
NO_INDEX = {"Lo", "Lm"}  # letters of scripts without spaces among others: the index knows only where such words begin


class BadPattern(ValueError):
    """What was written is no regular expression; says where."""


@dataclass(frozen=True)
class Term:
    """A word or a piece of text. `indexed`: the index can name candidates; `exact`: they must then be looked at."""

    text: str
    indexed: bool
    exact: bool


def terms(words: str) -> list[Term]:
    """`carry "two digits" <answer>42` as three terms."""
    cleaned = words.replace("\0", " ")[:LONGEST]
    return [_term(part, quoted) for part, quoted in _parts(cleaned)][:MOST_TERMS]


def _parts(words: str) -> Iterator[tuple[str, bool]]:
    for quoted, bare in re.findall(r'"([^"]+)"|(\S+)', words):
        yield (quoted, True) if quoted else (bare, False)


def _term(text: str, quoted: bool) -> Term:
    kinds = {unicodedata.category(character) for character in text}
    letters = any(kind[0] == "L" or kind[0] == "N" for kind in kinds)
    plain = all(kind[0] in "LN" for kind in kinds) and not quoted
    return Term(text, indexed=letters and not kinds & NO_INDEX, exact=not plain or bool(kinds & NO_INDEX))


def index_query(wanted: list[Term]) -> str:
    """The terms in FTS5's language; empty where the index can say nothing of them."""
    return " AND ".join(_quote(term.text) for term in wanted if term.indexed)


def _quote(text: str) -> str:
    """The beginning of a word; a single character only as a word of its own, since nearly all begin with it."""
    escaped = text.replace('"', '""')
    return f'"{escaped}"*' if len(text) > 1 else f'"{escaped}"'


# What stands in patterns and seldom in words: \\d, [a-z]+, .*, (?:, {3}, ^…, …$.
_OF_PATTERNS = regex.compile(r"\\[bdsw]|\.[*+]|\(\?|[\])][*+?]|\[\^?[^\]\s]-[^\]]*\]|\{\d+(,\d*)?\}|^\^|\$$", regex.I)


def looks_like_pattern(words: str) -> bool:
    """Whether words that were searched for as they stand read as a regular expression."""
    if not _OF_PATTERNS.search(words):
        return False
    try:
        compile_pattern(words)
    except BadPattern:
        return False
    return True


def unfinished_pattern(words: str) -> str:
    """What keeps words that read as a regular expression from being one (“the ( at character 8 is never closed”);
    else empty."""
    if not _OF_PATTERNS.search(words):
        return ""
    try:
        compile_pattern(words)
    except BadPattern as problem:
        return str(problem).removeprefix(NO_PATTERN).rstrip(".")
    return ""


def compile_pattern(pattern: str) -> Any:
    """The regular expression. Raises BadPattern."""
    try:
        return regex.compile(pattern.replace("\0", "")[:LONGEST], regex.IGNORECASE | regex.MULTILINE)
    except regex.error as error:
        raise BadPattern(f"{NO_PATTERN}{say_fault(_as_python_finds(error, pattern))}.") from error
    except (RecursionError, OverflowError, MemoryError) as error:
        raise BadPattern("This regular expression is nested too deeply.") from error


def _as_python_finds(fault: regex.error, pattern: str) -> re.error | regex.error:
    """The fault where Python's own parser places it: `regex` points behind what is never closed."""
    if fault.msg.startswith(("unterminated character set", "missing )")):
        try:
            re.compile(pattern)
        except re.error as error:
            return error
    return fault


def sieve(wanted: list[Term], *, indexed: bool) -> Callable[[str], bool] | None:
    """Whether a text has what the index (where it is `indexed`) cannot vouch for; None: nothing is left to be seen."""
    parts = [term.text.casefold() for term in wanted if term.exact or not indexed or not term.indexed]
    if not parts:
        return None

    def has(text: str) -> bool:
        folded = text.casefold()
        return all(part in folded for part in parts)

    return has


def prompt_sieve(wanted: list[Term]) -> Callable[[str], bool]:
    """Whether a prompt has every term, as a completion would be found by it: bare words where a word begins."""
    patterns = [regex.compile(_as_pattern(term), regex.IGNORECASE) for term in wanted]
    return lambda text: all(pattern.search(text) for pattern in patterns)


def raw_parts(wanted: list[Term]) -> list[str]:
    """What SQL's LIKE can say of a prompt as it is recorded, in JSON, escaped by a backslash: of the terms that are
    written the same there, and whose case SQLite knows."""
    plain = [term.text for term in wanted if term.text.isascii() and term.text.isprintable()]
    return [f"%{_escape_like(text)}%" for text in plain if not set('"\\') & set(text)]


def _escape_like(text: str) -> str:
    return text.replace("%", "\\%").replace("_", "\\_")


def _as_pattern(term: Term) -> str:
    return ("(?<![^\\W_])" if not term.exact else "") + regex.escape(term.text)


def matches(pattern: Any, until: float) -> Callable[[str], bool]:
    """Whether a text has a match; raises TimeoutError once `until` (of time.monotonic) is over."""

    def has(text: str) -> bool:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return pattern.search(text, timeout=left, concurrent=True) is not None

    return has


def finder(words: str, is_regex: bool) -> Any:
    """A compiled pattern that finds in a text what was searched for, to be marked; None where nothing was."""
    if is_regex:
        return compile_pattern(words) if words else None
    parts = [_as_pattern(term) for term in terms(words)]
    return regex.compile("|".join(parts), regex.IGNORECASE) if parts else None


def spans(pattern: Any, text: str, *, seconds: float, most: int = 50) -> list[tuple[int, int]]:
    """(start, end) of the first matches that are not empty; none where looking took too long."""
    found: list[tuple[int, int]] = []
    try:
        for match in pattern.finditer(text, timeout=seconds, concurrent=True):
            if match.end() > match.start():
                found.append(match.span())
            if len(found) >= most:
                break
    except TimeoutError:
        return []
    return found
