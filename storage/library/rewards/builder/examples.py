"""Examples for a regular expression: a text that fits it, and one that does not, for the test of a block. Pure."""

from __future__ import annotations

import contextlib
import importlib
import random
import re
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_parser: Any = importlib.import_module("re._parser")  # Python's own, and its only reading of a pattern

LONGEST = 100  # characters
# Where a pattern could take one text apart in many ways, an example that does not fit after all is looked at in all of
# them: 3 choices at each of 12 characters are half a million.
LONGEST_OF_MANY_WAYS = 12
TRIES = 40
LETTERS = string.ascii_lowercase + "123456789" + string.ascii_uppercase + "0" + string.punctuation + " \n"
PLAIN = ["", "no", "7", "-", " "]  # what most patterns do not fit
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip
_LETTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_LOOKS = {"ASSERT", "ASSERT_NOT", "AT", "ATOMIC_GROUP", "POSSESSIVE_REPEAT", "GROUPREF", "GROUPREF_EXISTS"}

Choose = Callable[[Sequence[Any]], Any]


class NoExample(Exception):
    """None can be written this way."""


def matching_example(pattern: re.Pattern[str], fits: Callable[[str], bool]) -> str | None:
    """A text for which `fits` holds, which looks for the pattern in its way; None where none is found."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    longest = LONGEST_OF_MANY_WAYS if _many_ways(tree) and _looks(tree) else LONGEST
    seen: set[str] = set()
    for text in _texts(tree, pattern.pattern):
        if text not in seen and len(text) <= longest and fits(text):
            return text
        seen.add(text)
    return "" if fits("") else None


def other_example(pattern: re.Pattern[str], fits: Callable[[str], bool]) -> str | None:
    """A short text for which `fits` does not hold; None where none is found."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    return next((text for text in (*PLAIN, *_refused(tree)) if not fits(text)), None)


def _texts(tree: Any, seed: str) -> Iterator[str]:
    """What may fit: the plainest first, then others; always the same ones for a pattern."""
    chance = random.Random(seed).choice
    ways = [_Writer(_first), _Writer(_first, looks=True), _Writer(_first, least=1), _Writer(_first, True, 1)]
    ways += [_Writer(chance, looks=bool(number % 2), least=number % 3) for number in range(TRIES)]
    for way in ways:
        try:
            text = way.text(tree)
        except NoExample:
            continue
        if text:
            yield text


def _first(choices: Sequence[Any]) -> Any:
    return choices[0]


class _Writer:
    """Writes a text from a pattern's tree. `looks`: also what stands in its lookaheads and lookbehinds. `least`: how
    often what may be absent is repeated."""

    def __init__(self, choose: Choose, looks: bool = False, least: int = 0) -> None:
        self.choose, self.looks, self.least = choose, looks, least
        self.groups: dict[int, str] = {}

    def text(self, tree: Any) -> str:
        """Raises NoExample."""
        found = "".join(self._one(op.name, given) for op, given in tree)
        if len(found) > LONGEST:
            raise NoExample
        return found

    def _one(self, op: str, given: Any) -> str:
        if op == "LITERAL":
            return chr(given)
        if op in ("ANY", "NOT_LITERAL", "IN"):
            return self._letter(op, given)
        if op in _REPEATS:
            return self._repeated(*given)
        if op == "BRANCH":
            return self.text(self.choose(given[1]))
        if op == "SUBPATTERN":
            inside = self.text(given[-1])
            self.groups[given[0] or 0] = inside
            return inside
        if op == "ATOMIC_GROUP":
            return self.text(given)
        if op == "GROUPREF":
            return self.groups.get(given, "")
        if op == "GROUPREF_EXISTS":
            group, present, absent = given
            return self.text((present if group in self.groups else absent) or ())
        return self.text(given[1]) if op == "ASSERT" and self.looks else ""  # AT and ASSERT_NOT are places

    def _repeated(self, least: int, most: int, body: Any) -> str:
        times = min(max(least, self.least), most)
        if times > LONGEST:
            raise NoExample
        return "".join(self.text(body) for _ in range(times))

    def _letter(self, op: str, given: Any) -> str:
        if op == "ANY":
            return str(self.choose(LETTERS[:-1]))
        if op == "NOT_LITERAL":
            return str(self.choose([letter for letter in LETTERS if ord(letter) != given]))
        fitting = [letter for letter in LETTERS if _holds(given, letter)] or _named(given)
        if not fitting:
            raise NoExample
        return str(self.choose(fitting))


def _holds(items: Any, letter: str) -> bool:
    """Whether a set such as [^a-z_] has this letter."""
    negated, found = False, False
    for op, given in items:
        if op.name == "NEGATE":
            negated = True
        elif op.name == "LITERAL":
            found |= ord(letter) == given
        elif op.name == "RANGE":
            found |= given[0] <= ord(letter) <= given[1]
        else:
            found |= re.fullmatch(_CATEGORIES[given.name], letter) is not None
    return found != negated


def _named(items: Any) -> list[str]:
    """Letters that a set names itself, for one that has none of the usual ones."""
    if any(op.name == "NEGATE" for op, _ in items):
        return []
    return [chr(given if op.name == "LITERAL" else given[0]) for op, given in items if op.name in ("LITERAL", "RANGE")]


def _nodes(tree: Any) -> Iterator[tuple[str, Any]]:
    """Every part of a pattern's tree, with what it is made of."""
    for op, given in tree:
        yield op.name, given
        bodies = given if isinstance(given, tuple) else [given]
        for body in [*bodies, *(each for part in bodies if isinstance(part, list) for each in part)]:
            if isinstance(body, _parser.SubPattern):
                yield from _nodes(body)


def _many_ways(tree: Any) -> bool:
    def is_letter(body: Any) -> bool:
        return len(body) == 1 and body[0][0].name in _LETTER

    return any(op == "BRANCH" or (op in _REPEATS and not is_letter(given[2])) for op, given in _nodes(tree))


def _looks(tree: Any) -> bool:
    return any(op in _LOOKS for op, _ in _nodes(tree))


def _refused(tree: Any) -> Iterator[str]:
    """Short texts that a pattern says must not stand there."""
    for op, given in _nodes(tree):
        if op == "ASSERT_NOT":
            with contextlib.suppress(NoExample):
                text = _Writer(_first).text(given[1])
                yield from [text] if len(text) <= LONGEST_OF_MANY_WAYS else []
