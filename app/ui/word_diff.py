"""What two texts have in common, word by word: the longest common subsequence, in bounded time. Pure.

Hyyrö's bit-vector algorithm ("Bit-parallel LCS-length computation revisited", 2004): one row of the usual table is one
Python integer, so that no text, however made, takes longer than its number of words says. difflib has no such bound.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

MOST = 1500  # words of each text that are compared: about 2 ms at the worst
# A tag, a run of letters and digits, or any other sign that is not white space.
WORD = re.compile(r"</?[A-Za-z][\w-]{0,30}/?>|\w+|[^\w\s]")
Span = tuple[int, int]  # characters: from, up to


@dataclass(frozen=True)
class Difference:
    """Where two texts differ: the spans of each that the other has not, in order. `cut`: where one of them is longer
    than what is compared, how many words of each were (what comes after is in no span); else 0. `alike`: the share of
    the words compared that both have, 0 to 1."""

    left: list[Span]
    right: list[Span]
    cut: int = 0
    alike: float = 1.0


def word_differences(left: str, right: str, most: int = MOST) -> Difference:
    """What each text has that the other has not, in words."""
    if left == right:
        return Difference([], [])
    ours, theirs = _words(left, most + 1), _words(right, most + 1)
    cut = most if len(ours) > most or len(theirs) > most else 0
    ours, theirs = ours[:most], theirs[:most]
    pairs = common([left[a:b] for a, b in ours], [right[a:b] for a, b in theirs])
    alike = 2 * len(pairs) / ((len(ours) + len(theirs)) or 1)
    kept_left, kept_right = {i for i, _ in pairs}, {j for _, j in pairs}
    return Difference(_spans(ours, kept_left), _spans(theirs, kept_right), cut, alike)


def common(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of places, in order."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    ours, theirs = left[start : len(left) - end], right[start : len(right) - end]
    middle = [(start + i, start + j) for i, j in _walk_back(_rows(ours, theirs), len(ours))]
    tail = [(len(left) - n, len(right) - n) for n in range(end, 0, -1)]
    return [(n, n) for n in range(start)] + middle + tail


def _rows(ours: Sequence[str], theirs: Sequence[str]) -> list[int]:
    """Row j: bit i is 0 where the common subsequence of ours[:i+1] and theirs[:j+1] is longer than that of ours[:i]."""
    places: dict[str, int] = {}
    for i, word in enumerate(ours):
        places[word] = places.get(word, 0) | 1 << i
    every = (1 << len(ours)) - 1
    row, rows = every, []
    for word in theirs:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & every
        rows.append(row)
    return rows


def _walk_back(rows: list[int], columns: int) -> list[tuple[int, int]]:
    i, j, pairs = columns, len(rows), []
    while i and j:
        if rows[j - 1] >> i - 1 & 1:
            i -= 1
        elif j > 1 and not rows[j - 2] >> i - 1 & 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _words(text: str, most: int) -> list[Span]:
    return [found.span() for found in islice(WORD.finditer(text), most)]


def _spans(words: list[Span], kept: set[int]) -> list[Span]:
    """The words that were not kept; neighbours are one span, with the space between them."""
    spans: list[Span] = []
    last = -2
    for n, (start, end) in enumerate(words):
        if n in kept:
            continue
        if n == last + 1 and spans:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        last = n
    return spans
