"""Whether a run can be called so: a name is what a person reads and clicks in every list. Pure."""

import re
import unicodedata

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.storage.spec.words.unseen_signs import signs_in, without_signs
from groupwise.storage.spec.words.word_quotes import QUOTES_ARE_LETTERS, inside_quotes

USUAL_NAME = "my-run"  # where nothing better is known
NEEDED = "A run needs a name"
UNSEEN = f"{NEEDED}: this one has no visible character."
CONTROL = "has a control character, which cannot be seen. Remove it."
SEVERAL_LINES = "has several lines: lists and charts show one."
# The kinds of characters that draw nothing by themselves: spaces, line ends, controls, zero-width signs and turns of
# direction, half characters, and marks, which change the letter before them.
_WITHOUT_INK = ("Z", "C", "M")
_DRAWN_AFTER_ALL = ("Co", "Cn")  # a font's own, and those that are newer than this Python
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul's fillers, and a cell of Braille without dots
# What YAML has no plain character for: control characters but tab and line ends.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")


def name_fault(name: str) -> str:
    """Why no run can have a name; "" where one can. What begins with a small letter goes on behind “name”."""
    if not name.strip():
        return f"{NEEDED}."
    if not any(map(_is_seen, name)):
        return UNSEEN
    if len(name.splitlines()) > 1:
        return SEVERAL_LINES
    return CONTROL if _CONTROLS.search(name) else ""


def on_one_line(name: str) -> str:
    """A name as it is kept."""
    return " ".join(name.split())


def without_controls(name: str) -> str:
    """A name without its control characters."""
    return _CONTROLS.sub("", name)


def signs_problem(name: str) -> Problem | None:
    """What to say of a name that can be one and holds signs that nobody sees; None where it has none."""
    named = signs_in(name)
    if not named:
        return None
    one = len(name) - len(without_signs(name)) == 1
    what = "a character that cannot be seen" if one else "characters that cannot be seen"
    message = f"has {what}: {join_words(named)}. Two names that look alike would be different."
    fix = Fix("Remove the character" if one else "Remove the characters", {"name": without_signs(name)})
    return Problem("name", message, level=WARNING, fixes=(fix,))


def quotes_problem(name: str) -> Problem | None:
    """What to say of a name in a word processor's quotation marks; None of any other."""
    plain = inside_quotes(name)
    if plain == name or name_fault(plain):
        return None
    return Problem("name", QUOTES_ARE_LETTERS, level=WARNING, fixes=(Fix(f"Use {plain}", {"name": plain}),))


def _is_seen(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return letter not in _BLANK_LETTERS and (kind in _DRAWN_AFTER_ALL or kind[0] not in _WITHOUT_INK)
