"""Signs in a text that nobody sees and that are no control characters: they turn its direction, or draw nothing. They
are shown by their names. Pure."""

import re

TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = {"\u00ad": "soft hyphen", "\u200b": "zero-width space", "\u2060": "word joiner", "\ufeff": "BOM"} | {
    sign: f"U+{ord(sign):04X}" for sign in TURNS + "\u2061\u2062\u2063\u2064\u3164\uffa0"
}
_SIGNS = re.compile(f"[{''.join(NAMES)}]")
# Joiners are part of how letters and emoji are written, but between two signs that are neither they do nothing.
_LETTER = r"[^\x00-\x7f\s\u200c\u200d]"
_IDLE_JOINERS = re.compile(rf"(?<!{_LETTER})[\u200c\u200d]|[\u200c\u200d](?!{_LETTER})")
JOINERS = {"\u200c": "zero-width non-joiner", "\u200d": "zero-width joiner"}


def show_signs(text: str) -> str:
    """The text with the name of each such sign in its place, in brackets; joiners that join stay."""
    if text.isascii():
        return text
    shown = _IDLE_JOINERS.sub(lambda found: f"⟨{JOINERS[found[0]]}⟩", text)
    return _SIGNS.sub(lambda found: f"⟨{NAMES[found[0]]}⟩", shown)


def without_signs(text: str) -> str:
    """The text without them."""
    return _IDLE_JOINERS.sub("", _SIGNS.sub("", text))


def signs_in(text: str) -> list[str]:
    """The names of those in a text, each once."""
    return list(dict.fromkeys(re.findall("⟨(.+?)⟩", show_signs(re.sub("[⟨⟩]", "", text)))))
