"""Hostile text (names, completions, errors) as a page may show it."""

import html
import re


def visible_text(value: object) -> str:
    """Text that a page places as text: control characters and changes of direction become visible."""
    text = str(value)
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)  # most is plain: 3 times as fast


def escape(value: object) -> str:
    """Text as HTML: what `visible_text` does, and nothing can end the element it stands in."""
    return html.escape(visible_text(value))


def escape_name(value: object) -> str:
    """A name as HTML that may go on in another line after each `_` and `/` in it, and so not within a word."""
    return re.sub(r"([_/]+)", r"\1<wbr>", escape(value))


def escape_value(value: object) -> str:
    """Text as the value of an HTML attribute that a person may edit: what a browser reads there is the text itself,
    and nothing in the HTML turns its direction."""
    return html.escape(str(value)).translate(_REFERRED)


_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_VISIBLE |= {code: f"⟨U+{code:04X}⟩" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_REFERRED = {code: f"&#{code};" for code in _VISIBLE}
