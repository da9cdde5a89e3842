"""What two texts have in common: as much as there is, and in bounded time whatever the texts."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as some

from groupwise.app.ui import word_diff
from groupwise.app.ui.word_diff import common, word_differences

words = some.lists(some.sampled_from("abc"), max_size=9)


def longest(left: list[str], right: list[str]) -> int:
    """The length of a longest common subsequence, by its definition."""

    @cache
    def of(i: int, j: int) -> int:
        if not i or not j:
            return 0
        if left[i - 1] == right[j - 1]:
            return of(i - 1, j - 1) + 1
        return max(of(i - 1, j), of(i, j - 1))

    return of(len(left), len(right))


@given(words, words)
def test_the_common_words_are_as_many_as_there_can_be(left: list[str], right: list[str]):
    pairs = common(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in zip(pairs, pairs[1:], strict=False))
    assert len(pairs) == longest(left, right)


@given(some.text(max_size=60), some.text(max_size=60))
def test_what_is_not_marked_is_the_same_in_both(left: str, right: str):
    found = word_differences(left, right)

    def kept(text: str, spans: list[word_diff.Span]) -> list[str]:
        for start, end in reversed(spans):
            text = f"{text[:start]} {text[end:]}"
        return word_diff.WORD.findall(text)

    assert kept(left, found.left) == kept(right, found.right)


def test_neighbouring_words_are_one_span():
    found = word_differences("so it is 12 in all", "so it was then 13 in all")
    assert [("so it is 12 in all")[a:b] for a, b in found.left] == ["is 12"]
    assert [("so it was then 13 in all")[a:b] for a, b in found.right] == ["was then 13"]
    assert found.cut == 0 and found.alike == pytest.approx(8 / 13)


def test_long_texts_are_compared_in_their_first_words_only():
    left, right = "a " * 5000, "a " * 4000 + "b " * 1000
    found = word_differences(left, right, most=100)
    assert (found.left, found.right, found.cut, found.alike) == ([], [], 100, 1.0)


@pytest.mark.parametrize("unit", ["a ", "<a>", "<", "ab", "\u202e", "漢", "\ud800 "])
def test_odd_texts_of_a_hundred_thousand_characters_are_compared(unit: str):
    text = (unit * 100_000)[:100_000]
    found = word_differences(text, f"x {text} y")
    assert found.right[0] == (0, 1) and len(found.left) <= 1 and found.cut in (0, word_diff.MOST)
