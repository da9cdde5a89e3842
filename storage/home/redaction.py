"""Secrets are hidden by value in whatever this process writes: in files, rows and logs, and so on pages and in exports.

What cannot be hidden: a secret that whoever holds it has changed (reversed, encrypted, with other characters between).
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from groupwise.storage.home import secret_values

PART = 16  # so many characters of a long secret, anywhere in it, are hidden too: texts are cut, and logs in pieces
_GRAM = 8  # bytes that are looked up at once
_LONG_ENOUGH = 2 * _GRAM - 1  # bytes of a form that surely hold eight that begin at a multiple of eight
_AGAIN = 1.0  # seconds after which the environment and the hub's login are looked at again
# Of a secret that is one word; parts of a sentence, a path or an address would be found in ordinary text.
_ONE_WORD = re.compile(rf"(?=.*\d)(?=.*[A-Za-z])(?!/)(?!.*://)[!-~]{{{PART + 1},}}")

# What looks like a key or a token, whoever's it is: (how it begins, all of it).
SHAPES = (
    (b"hf_", re.compile(rb"\bhf_[A-Za-z0-9]{20,}")),
    (b"sk-", re.compile(rb"\bsk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}")),
    (b"ghp_", re.compile(rb"\bghp_[A-Za-z0-9]{20,}")),
    (b"github_pat_", re.compile(rb"\bgithub_pat_[A-Za-z0-9_]{20,}")),
)


def label(name: str) -> str:
    """What stands where a secret was. None of its characters means anything in JSON, YAML, HTML or Python's strings."""
    return f"({name} hidden)"


class Redactor:
    """Hides some secrets, given with their names, and what looks like one."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._labels: dict[bytes, bytes] = {}  # by form
        self._parts: dict[bytes, bytes] = {}  # by part
        for secret, name in secrets.items():
            self._add(secret, label(name).encode("utf-8", "replace"))
        longest_first = sorted(self._labels, key=lambda form: -len(form))
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))
        self._short = [form for form in self._labels if len(form) < _LONG_ENOUGH]
        grams = {form[at : at + _GRAM] for form in self._labels for at in range(len(form) - _GRAM + 1)}
        self._grams = frozenset(int.from_bytes(gram, sys.byteorder) for gram in grams)

    def _add(self, secret: str, shown: bytes) -> None:
        for form in secret_values.encodings(secret):
            self._labels.setdefault(form, shown)
            if _ONE_WORD.fullmatch(secret):
                for at in range(len(form) - PART + 1):
                    self._parts.setdefault(form[at : at + PART], shown)

    def clean(self, data: bytes) -> bytes:
        """The bytes (UTF-8) without secrets; the very same object where there are none."""
        cleaned = data
        if self._may_hold(data):
            cleaned = self._without_parts(self._pattern.sub(lambda found: self._labels[found[0]], data))
        for begins, shape in SHAPES:
            if begins in cleaned:
                cleaned = shape.sub(b"(secret hidden)", cleaned)
        return data if cleaned == data else cleaned

    def _may_hold(self, data: bytes) -> bool:
        """Whether a closer look is needed. Of a long form, or of a part, some eight bytes begin at a multiple of eight,
        so one pass over every eighth place is enough, however many secrets in however many forms there are."""
        return not self._grams.isdisjoint(_eight_bytes(data)) or any(form in data for form in self._short)

    def _without_parts(self, data: bytes) -> bytes:
        pieces, done = [], 0
        for start in self._starts(data):
            if start < done:
                continue
            end = start + PART
            while data[end - PART + 1 : end + 1] in self._parts and end < len(data):
                end += 1
            pieces += [data[done:start], self._parts[data[start : start + PART]]]
            done = end
        return b"".join([*pieces, data[done:]]) if pieces else data

    def _starts(self, data: bytes) -> Iterable[int]:
        """Where parts begin, first to last, near the places that gave them away."""
        near = (number * _GRAM for number, eight in enumerate(_eight_bytes(data)) if eight in self._grams)
        for place in near:
            for start in range(max(0, place - PART + _GRAM), place + 1):
                if data[start : start + PART] in self._parts:
                    yield start


def _eight_bytes(data: bytes) -> Iterable[int]:
    """Each eight bytes, as a number."""
    return memoryview(data)[: len(data) // _GRAM * _GRAM].cast("Q") if len(data) >= _GRAM else ()


_learned: dict[str, str] = {}
_secrets: dict[str, str] | None = None  # None: nobody has looked
_redactor = Redactor({})
_looked_at = 0.0


def learn(secret: str, name: str) -> None:
    """Hide this too: a secret that stands in no variable (any more)."""
    if secret_values.is_secret(secret):
        _learned[secret] = name
        look_again()


def look_again() -> None:
    """Look at the environment and the hub's login now, and not only within the next second."""
    global _secrets, _redactor, _looked_at
    _looked_at = time.monotonic()
    found = {**_learned, **secret_values.known_secrets()}
    if found != _secrets:
        _redactor = Redactor(found)
        _secrets = found


def current() -> Redactor:
    """What hides the secrets that this process can see."""
    if _secrets is None or time.monotonic() - _looked_at > _AGAIN:
        look_again()
    return _redactor


def redact(text: str) -> str:
    """The text as it may leave this process, the very same one where nothing is wrong with it: secrets are hidden, and
    lone surrogates, which neither a file nor a page can hold, are question marks."""
    if len(text) < secret_values.SHORTEST and text.isascii():
        return text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return current().clean(text.encode("utf-8", "replace")).decode()
    cleaned = current().clean(data)
    return text if cleaned is data else cleaned.decode("utf-8", "replace")


def redact_all(value: Any, depth: int = 64) -> Any:
    """Plain values with every text in them redacted, names of mappings as well; tuples become lists. What is nested
    deeper than `depth` is left out: only an enemy nests like that."""
    if isinstance(value, str):
        return redact(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if not depth:
        return None
    if isinstance(value, dict):
        return {redact_all(name): redact_all(inner, depth - 1) for name, inner in value.items()}
    return [redact_all(inner, depth - 1) for inner in value]


def to_json(value: Any, *, indent: int | None = None) -> str:
    """JSON as it may leave this process; what JSON does not know (a date in a dataset row, say) becomes its text."""
    separators = (",", ":") if indent is None else (",", ": ")
    return redact(json.dumps(value, ensure_ascii=False, default=str, indent=indent, separators=separators))


def holds(text: str) -> bool:
    """Whether a text holds a secret."""
    sound = text.encode("utf-8", "replace")
    return current().clean(sound) is not sound


def lines_that_hold(text: str) -> list[int]:
    """The lines of a text that hold a secret, from 1; of one that goes over several lines, where it begins."""
    if not holds(text):
        return []
    alone = [number for number, line in enumerate(text.split("\n"), 1) if holds(line)]
    return alone or [os.path.commonprefix([text, redact(text)]).count("\n") + 1]
