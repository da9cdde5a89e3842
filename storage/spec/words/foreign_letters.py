"""Letters of another alphabet in a name, which look like those that are meant: “nаme” with a Cyrillic а. Pure."""

import re
import unicodedata

from groupwise.storage.spec.words.number_words import join_words

# Of Cyrillic and Greek, those that look like a letter of English.
_ALIKE = str.maketrans("аеорсхуіѕјԁкмнтвοαενρτυικ", "aeopcxyisjdkmhtboaevptuik")
_STROKES = str.maketrans("øØłŁđĐı", "oOlLdDi")  # which are no letter with a mark on it
_KINDS = {"FULLWIDTH": "full-width", "MATHEMATICAL": "mathematical"}  # what is no alphabet
_UNSEEN = " There is a sign in it that cannot be seen."


def as_english(name: str) -> str:
    """A name in small letters without accents, with English ones for those that look like them."""
    return without_accents(unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE))


def without_accents(text: str) -> str:
    """A text with o for ö, e for é: the letters without the marks that European alphabets put on them."""
    parts = unicodedata.normalize("NFD", text.translate(_STROKES))
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", parts))


def letter_words(name: str) -> str:
    """“ “а” in it is a Cyrillic letter.”, of a name of which other letters are English, and likewise of signs without
    width; "" where there are none."""
    if not any(sign.isascii() and sign.isalpha() for sign in name):
        return ""
    kinds: dict[str, list[str]] = {}
    for sign in dict.fromkeys(name):
        kind = unicodedata.name(sign, "").partition(" ")[0]
        if sign.isalpha() and not sign.isascii() and kind not in ("", "LATIN"):
            kinds.setdefault(_KINDS.get(kind, kind.capitalize()), []).append(f"“{sign}”")
    said = [
        f" {join_words(signs)} in it " + (f"is a {kind} letter." if len(signs) == 1 else f"are {kind} letters.")
        for kind, signs in kinds.items()
    ]
    unseen = any(unicodedata.category(sign) == "Cf" for sign in name)
    return "".join(said) + (_UNSEEN if unseen else "")
