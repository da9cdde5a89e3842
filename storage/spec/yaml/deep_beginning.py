"""A text that begins indented and goes on at the left edge, as one whose first lines were copied from within another:
to the parser it ends there, and every line that follows is wrong."""

import re

from groupwise.storage.spec.yaml.repairs import Repair

WORDS = "the text begins indented, and goes on at the left edge."

_INDENTED = re.compile(r"([ \t]+)[A-Za-z_][\w-]*\s*:(?:\s|$)")
_SAYS = re.compile(r"\s*[^\s#]")


def deep_beginning(rows: list[str]) -> Repair | None:
    """The rows before the left edge without the indentation of the first; None of a text that does not begin so."""
    first = next((row for row, line in enumerate(rows) if _SAYS.match(line)), 0)
    found = _INDENTED.match(rows[first]) if rows else None
    end = next((row for row in range(first + 1, len(rows)) if re.match(r"[A-Za-z_]", rows[row])), None)
    if found is None or end is None:
        return None
    written = [_without(line, found[1]) for line in rows[first:end]]
    label = "Begin it at the left edge" if len(written) == 1 else f"Begin these {len(written)} lines at the left edge"
    return Repair(first, written, label, WORDS, here=True)


def _without(line: str, indentation: str) -> str:
    return line.removeprefix(indentation) if line.startswith(indentation) else line.lstrip(" \t")
