"""Hostile text (names, completions, errors) as a page may show it."""

import html
import re

from groupwise.storage.spec.words.unseen_signs import NAMES, show_signs


def visible_text(value: object) -> str:
    """Text that a page places as text: control characters, changes of direction and signs that draw nothing become
    visible."""
    text = str(value)
    if text.isascii() and text.isprintable():  # most is plain: 3 times as fast
        return text
    return show_signs(text.translate(_VISIBLE))


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
_REFERRED = {code: f"&#{code};" for code in (*_VISIBLE, *map(ord, NAMES))}
