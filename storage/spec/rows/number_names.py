"""Whole numbers that are written out in English: thirty, twenty-five, two hundred. Pure."""

import re

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_BELOW_HUNDRED = {word: n for n, word in enumerate(_ONES, 1)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_WORTH = {"hundred": 100, "thousand": 1000}
LONGEST = 40  # characters of a number in words


def number_by_name(text: str) -> int | None:
    """The number from one to 99 thousand that a text is the name of; None of any other."""
    words = re.split(r"[\s-]+", text.strip().casefold()) if len(text) <= LONGEST else []
    worth = _WORTH.get(words[-1], 1) if words else 1
    count = words[:-1] if worth > 1 else words
    if worth > 1 and count in ([], ["a"]):
        return worth
    found = _below_hundred(count)
    return None if found is None else found * worth


def _below_hundred(words: list[str]) -> int | None:
    """Of one word, or of tens and ones."""
    tens, ones = (words[0], words[1]) if len(words) == 2 else ("", words[0] if len(words) == 1 else "")
    if tens:
        return _BELOW_HUNDRED[tens] + _BELOW_HUNDRED[ones] if tens in _TENS and ones in _ONES[:9] else None
    return _BELOW_HUNDRED.get(ones)
