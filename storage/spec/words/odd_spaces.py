"""Spaces where none are meant: at the ends of a value, and those that look like a space and are none to YAML. Pure."""

import re
from typing import Any

from groupwise.storage.spec.words.problem import Fix

# Non-breaking, thin and ideographic spaces, those without width, and the byte order mark.
ODD = "\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"
_ODD = re.compile(f"[{ODD}]")
# All of these, and what \s means besides: to be stripped, which a pattern takes far too long for in a run of spaces.
_SPACES = "\ufeff" + "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace() or _ODD.match(sign))
LONGEST = 200  # characters of a value that is offered on a button


def trim_spaces(text: str) -> str:
    """A text without the spaces of any kind at its ends."""
    return text.strip(_SPACES)


def trimmed_words(value: Any) -> str:
    """“ There is a space at its end.”; nothing of what has none at its ends."""
    plain = trim_spaces(value) if isinstance(value, str) else ""
    if not plain or plain == value:
        return ""
    before, _, after = value.partition(plain)
    where = "both ends" if before and after else "its beginning" if before else "its end"
    return f" There is a space {'that cannot be seen ' if _ODD.search(before + after) else ''}at {where}."


def trimmed_fix(path: str, value: Any) -> tuple[Fix, ...]:
    """The click that takes the spaces at the ends of a value away."""
    plain = trim_spaces(value) if isinstance(value, str) else ""
    return (Fix(f"Use {plain}", {path: plain}),) if plain and plain != value and len(plain) <= LONGEST else ()
