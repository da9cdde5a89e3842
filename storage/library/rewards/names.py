"""What a reward function may be called, and the names that TRL gives to every reward function. Pure."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Collection

from groupwise.storage.spec.python_source import quote_in_words

# What TRL 1.16 hands to every reward function, beside the dataset's columns.
TRL_ARGUMENTS = ("prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric")
# A dataset's columns of these names are not handed on: TRL has them under the name in the plural.
NOT_GIVEN = {"prompt": "prompts", "completion": "completions"}
LONGEST = 64
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def problem_with(name: str, taken: Collection[str] = ()) -> str:
    """Why a function cannot have this name, as a sentence; empty where it can. `taken`: names of the built-in ones."""
    if not name:
        return "Give the function a name."
    if wrong := too_long(name):
        return wrong
    if not NAME.fullmatch(name):
        return _misfit_in_words(name)
    if keyword.iskeyword(name):
        return f"“{name}” is a word of Python itself. Choose another name."
    if name in TRL_ARGUMENTS or name in ("args", "kwargs"):
        return f"“{name}” is what TRL calls an argument of every reward function. Choose another name."
    if name.casefold() in {word.casefold() for word in taken}:
        return f"“{name}” is a reward function that ships with Groupwise. Choose another name."
    if hasattr(builtins, name):
        return f"“{name}” would hide Python's own {name}. Choose another name."
    return ""


def too_long(name: str) -> str:
    """That a name has too many characters, as a sentence; empty where it has not."""
    return f"The name has {len(name)} characters; {LONGEST} is the most." if len(name) > LONGEST else ""


def quote_name(name: str) -> str:
    """A function's name in a sentence: whole, where it can be a name."""
    return quote_in_words(name, LONGEST)


def written_out(name: str) -> str:
    """A name as a person says it, as Python can have it: Richtige Stückzahl → richtige_stueckzahl. As it is where it
    can be used, where its letters are not what keeps it from that, or nothing is left of them."""
    if NAME.fullmatch(name) or not problem_with(name):
        return name
    near = _spell_plainly(name).lower()
    return near if near and not problem_with(near) else name


_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "æ": "ae",
                          "Æ": "Ae", "ø": "oe", "Ø": "Oe", "ł": "l", "Ł": "L"})  # fmt: skip


# Letters of Cyrillic and Greek that look like one of ours, as they come along when a name is copied.
_LOOKS_LIKE = dict(
    zip(
        "асеіјорѕухһԁԛԝАВЕІЈКМНОРЅСТХУοναικρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aceijopsyxhdqwABEIJKMHOPSCTXYovaikptuxABEZHIKMNOPTYX",
        strict=True,
    )
)


def _is_latin_but_for_look_alikes(name: str) -> bool:
    """Whether the letters that only look like ours stand among ours: a Russian word is none of ours."""
    letters = {letter for letter in name if letter.isalpha() and letter not in _LOOKS_LIKE}
    return any(letter.isascii() for letter in letters) and not any(
        unicodedata.name(letter, "").startswith(("CYRILLIC", "GREEK")) for letter in letters
    )


def _misfit_in_words(name: str) -> str:
    """What of a name cannot stand in it, and one that is near and can be used."""
    odd = next((letter for letter in name if not re.fullmatch(r"[A-Za-z0-9_]", letter)), "")
    why = f"it has “{odd}” in it" if odd.isprintable() and odd else "it does not begin with a letter"
    if odd in _LOOKS_LIKE and _is_latin_but_for_look_alikes(name):
        called = unicodedata.name(odd).replace(" LETTER", "").capitalize()
        why = f"its “{odd}” only looks like {_LOOKS_LIKE[odd]} ({called})"
    if odd and not odd.isprintable():
        why = "it has a character in it that cannot be seen"
    near = _spell_plainly(name)
    hint = f", such as “{near}”" if near else ""
    return f"“{name}” cannot be the name: {why}. Use only a to z, A to Z, digits and _, and begin with a letter{hint}."


def _spell_plainly(name: str) -> str:
    """The name in letters without accents: höflich → hoeflich; empty where nothing is left that can be a name."""
    latin = "".join(_LOOKS_LIKE.get(letter, letter) for letter in name) if _is_latin_but_for_look_alikes(name) else name
    bare = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", latin).translate(_SPELLED))
    words = re.sub(r"[^A-Za-z0-9]+", "_", "".join(letter for letter in bare if not unicodedata.combining(letter)))
    near = words.lstrip("_0123456789").rstrip("_")[:LONGEST]
    return near if NAME.fullmatch(near) and not problem_with(near) else ""
