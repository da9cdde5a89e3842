"""Plain values → Python source that means them: valid for any text, laid out as a person would."""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

WIDTH = 120


def literal(value: Any, indent: int = 0, taken: int = 0) -> str:
    """The source of a value, on one line where it fits; `taken` columns of that line are already used."""
    flat = _flat(value)
    if not isinstance(value, (list, dict)) or not value or indent + taken + len(flat) <= WIDTH:
        return flat
    pad = " " * (indent + 4)
    if isinstance(value, list):
        items = [f"{pad}{literal(item, indent + 4)},\n" for item in value]
    else:
        items = [
            f"{pad}{_flat(key)}: {literal(item, indent + 4, len(_flat(key)) + 3)},\n" for key, item in value.items()
        ]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{''.join(items)}{' ' * indent}{closing}"


def text_literal(value: str) -> str:
    """The source of a text at the left margin: its lines as they are, where that can be read back."""
    plain = all(character == "\n" or (character.isprintable() and character != "\\") for character in value)
    if plain and "\n" in value.strip("\n") and '""' not in value and value[-1] != '"':
        return f'"""{value}"""'
    if len(value) <= WIDTH - 30:
        return _quoted_text(value)
    pieces = re.findall(r"(?s).{1,100}(?: |$)|.{1,100}", value)
    return "(\n" + "".join(f"    {_quoted_text(piece)}\n" for piece in pieces) + ")"


def docstring_literal(value: str) -> str:
    """A text as a docstring: only what must be is escaped."""
    return '"""' + "".join(_in_docstring(character) for character in value) + '"""'


def keywords(values: dict[str, Any], indent: int) -> str:
    """The values as keyword arguments, one to a line; a name that Python cannot say so as **{…}."""
    return "".join(" " * indent + _keyword(name, value, indent) for name, value in values.items())


def flat_keywords(values: dict[str, Any], width: int) -> str | None:
    """The values as keyword arguments on one line; None where that is wider, or a name cannot be said so."""
    written = inline({name: _flat(value) for name, value in values.items()})
    return written if len(written) <= width and all(map(is_usable_name, values)) else None


def _keyword(name: str, value: Any, indent: int) -> str:
    if is_usable_name(name):
        return f"{name}={literal(value, indent, len(name) + 2)},\n"
    return f"**{literal({name: value}, indent, 3)},\n"


def is_usable_name(name: str) -> bool:
    """Whether a name can stand in code as it is: Python would fold other letters into plain ones (NFKC)."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and name != "__debug__"


def inline(values: dict[str, str]) -> str:
    """Keyword arguments on one line; the values are source already."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_flat, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_flat(key)}: {_flat(item)}' for key, item in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return _quoted_text(value) if isinstance(value, str) else repr(value)


def _quoted_text(value: str) -> str:
    """repr, in the double quotes that formatters want."""
    shown = repr(value)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown


def _in_docstring(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    return character if character.isprintable() else repr(character)[1:-1]
