"""Writing values, calls and docstrings as Python source that reads well and can mean nothing else. Pure."""

from __future__ import annotations

import ast
import textwrap

WIDTH = 88  # columns, as black has it


def string_literal(value: str) -> str:
    """A string literal in double quotes, or in single ones where that needs fewer backslashes."""
    quote = '"' if value.count('"') <= value.count("'") else "'"
    return quote + "".join(_letter(letter, quote) for letter in value) + quote


def _letter(letter: str, quote: str) -> str:
    if letter in (quote, "\\"):
        return f"\\{letter}"
    return letter if letter.isprintable() else repr(letter)[1:-1]


def pattern_literal(value: str) -> str:
    """A string literal for a regular expression: raw, so that backslashes stay single, where it can be."""
    for raw in (f'r"{value}"', f"r'{value}'"):
        if value.isprintable() and is_literal(raw, value):
            return raw
    return string_literal(value)


def is_literal(source: str, value: object) -> bool:
    """Whether the source is a literal, and of this value."""
    try:
        return bool(ast.literal_eval(source) == value)
    except (SyntaxError, ValueError):
        return False


def number_literal(value: float) -> str:
    """A number as people write it: 42, not 42.0."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def decimal_literal(value: float) -> str:
    """A Decimal of exactly the number that people wrote."""
    written = number_literal(value)
    return f"Decimal({written})" if written.lstrip("-").isdigit() else f"Decimal({string_literal(written)})"


def call(start: str, parts: list[str], end: str, *, indent: int = 0) -> str:
    """`start` + the parts with commas + `end`: in one line where it fits, else with the parts further in, else with
    each part in a line of its own. `indent`: spaces before the first line, which the caller writes."""
    flat = f"{start}{', '.join(parts)}{end}"
    if indent + len(flat) <= WIDTH:
        return flat
    outer, inner = " " * indent, " " * (indent + 4)
    together = inner + ", ".join(parts)
    if len(together) <= WIDTH and not start.endswith("["):
        return f"{start}\n{together}\n{outer}{end}"
    return start + "".join(f"\n{inner}{part}," for part in parts) + f"\n{outer}{end}"


def assign(name: str, literal: str, *, indent: int = 0) -> str:
    """`name = literal`, in parentheses where that makes it fit."""
    outer, inner = " " * indent, " " * (indent + 4)
    flat = f"{name} = {literal}"
    if indent + len(flat) <= WIDTH or len(inner + literal) > WIDTH:
        return flat
    return f"{name} = (\n{inner}{literal}\n{outer})"


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


def visible(value: str) -> str:
    """The text with a dot for what cannot be seen, so that it can stand in a docstring."""
    return "".join(letter if letter.isprintable() else "·" for letter in value)


def quote_in_words(value: str, longest: int = 60) -> str:
    """A text in a sentence: “as it is”, what cannot be seen as a dot, and not too long."""
    shown = visible(value)
    return f"“{shown if len(shown) <= longest else shown[: longest - 1] + '…'}”"
