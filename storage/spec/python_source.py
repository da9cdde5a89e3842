"""Writing values, calls and docstrings as Python source that reads well and can mean nothing else. Pure."""

import ast
import keyword
import math
import re
import textwrap
from typing import Any

from groupwise.storage.spec.syntax_tree import parse_expression

WIDTH = 88  # columns of a reward function, as black has it
SCRIPT_WIDTH = 120  # columns of a run's plain script


def string_literal(value: str) -> str:
    """A string literal in double quotes, or in single ones where that needs fewer backslashes."""
    quote = '"' if value.count('"') <= value.count("'") else "'"
    return quote + _escape(value, quote) + quote


def _escape(value: str, quote: str = '"') -> str:
    return "".join(f"\\{each}" if each in (quote, "\\") else each if each.isprintable() else repr(each)[1:-1]
                   for each in value)  # fmt: skip


def pattern_literal(value: str) -> str:
    """A string literal for a regular expression: raw, so that backslashes stay single, where it can be."""
    for raw in (f'r"{value}"', f"r'{value}'"):
        if value.isprintable() and _is_literal(raw, value):
            return raw
    return string_literal(value)


def _is_literal(source: str, value: object) -> bool:
    """Whether the source is a literal, and of this value."""
    try:
        return bool(ast.literal_eval(parse_expression(source)) == value)
    except (SyntaxError, ValueError):
        return False


def number_literal(value: float) -> str:
    """A number as people write it: 42, not 42.0."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def decimal_literal(value: float) -> str:
    """A Decimal of exactly the number that people wrote."""
    written = number_literal(value)
    return f"Decimal({written})" if written.lstrip("-").isdigit() else f"Decimal({string_literal(written)})"


def literal(value: Any, indent: int = 0, taken: int = 0) -> str:
    """The source of a plain value, on one line of a script where it fits; `taken` columns of that line are already
    used."""
    flat = _on_one_line(value)
    if not isinstance(value, (list, dict)) or not value or indent + taken + len(flat) <= SCRIPT_WIDTH:
        return flat
    if isinstance(value, list):
        return f"[{_join_lines([literal(item, indent + 4) for item in value], indent)}]"
    names = {name: _on_one_line(name) for name in value}
    items = [f"{names[name]}: {literal(item, indent + 4, len(names[name]) + 3)}" for name, item in value.items()]
    return f"{{{_join_lines(items, indent)}}}"


def _on_one_line(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_on_one_line(key)}: {_on_one_line(item)}' for key, item in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return string_literal(value) if isinstance(value, str) else repr(value)


def _join_lines(parts: list[str], indent: int) -> str:
    return "".join(f"\n{' ' * (indent + 4)}{part}," for part in parts) + f"\n{' ' * indent}"


def text_literal(value: str) -> str:
    """The source of a text at the left margin: its lines as they are, where that can be read back."""
    plain = all(character == "\n" or (character.isprintable() and character != "\\") for character in value)
    if plain and "\n" in value.strip("\n") and '""' not in value and value[-1] != '"':
        return f'"""{value}"""'
    if len(value) <= SCRIPT_WIDTH - 30:
        return string_literal(value)
    pieces = re.findall(r"(?s).{1,100}(?: |$)|.{1,100}", value)
    return "(\n" + "".join(f"    {string_literal(piece)}\n" for piece in pieces) + ")"


def keywords(values: dict[str, Any], indent: int) -> str:
    """The values as keyword arguments, one to a line; a name that Python cannot say so as **{…}."""
    return "".join(" " * indent + _keyword(name, value, indent) for name, value in values.items())


def flat_keywords(values: dict[str, Any], width: int) -> str | None:
    """The values as keyword arguments on one line; None where that is wider, or a name cannot be said so."""
    written = inline({name: _on_one_line(value) for name, value in values.items()})
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


def call(start: str, parts: list[str], end: str, *, indent: int = 0) -> str:
    """`start` + the parts with commas + `end`: in one line where it fits, else with the parts further in, else with
    each part in a line of its own. `indent`: spaces before the first line, which the caller writes."""
    flat = f"{start}{', '.join(parts)}{end}"
    if indent + len(flat) <= WIDTH:
        return flat
    together = " " * (indent + 4) + ", ".join(parts)
    if len(together) <= WIDTH and not start.endswith("["):
        return f"{start}\n{together}\n{' ' * indent}{end}"
    return start + _join_lines(parts, indent) + end


def assign(name: str, value: str, *, indent: int = 0) -> str:
    """`name = value`, which is source already, in parentheses where that makes it fit."""
    outer, inner = " " * indent, " " * (indent + 4)
    flat = f"{name} = {value}"
    if indent + len(flat) <= WIDTH or len(inner + value) > WIDTH:
        return flat
    return f"{name} = (\n{inner}{value}\n{outer})"


def indented_docstring(paragraphs: list[str]) -> str:
    """A docstring of several lines, indented as in a function; the first line stays one line. Lines that begin with
    “- ” are a list."""
    paragraphs = [paragraph.strip() for paragraph in paragraphs if paragraph.strip()]
    lines = [paragraphs[0]]
    for paragraph in paragraphs[1:]:
        lines.append("")
        for item in paragraph.split("\n"):
            hanging = "  " if item.startswith("- ") else ""
            lines += textwrap.wrap(item, WIDTH - 4, subsequent_indent=hanging, break_long_words=False)
    body = "\n".join(f"    {line}".rstrip() for line in lines)
    body = body.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').strip()
    return f'    """{body}\n    """' if len(paragraphs) > 1 else f'    """{body}"""'


def module_docstring(title: str, more: str) -> str:
    """A module's docstring: its title, of which no letter is lost, and what is said under it, which is source."""
    return f'"""{_escape(title)}\n\n{more}\n"""'


def visible(value: str) -> str:
    """The text with a dot for what cannot be seen, so that it can stand in a docstring."""
    return "".join(letter if letter.isprintable() else "·" for letter in value)


def quote_in_words(value: str, longest: int = 60) -> str:
    """A text in a sentence: “as it is”, what cannot be seen as a dot, and not too long."""
    shown = visible(value)
    return f"“{shown if len(shown) <= longest else shown[: longest - 1] + '…'}”"
