"""Pieces of YAML for a text that they are put into: one value in one line, or lines at a column. Pure."""

import difflib
import json
import re
from typing import Any

from groupwise.storage.spec.yaml.yaml_text import dump

ONE_LINE = 10**9  # characters: as a width, without line breaks


def flow_text(value: Any) -> str:
    """Write a list or mapping in one line, in [ ] or { }."""
    return dump(value, flow=True, width=ONE_LINE).rstrip("\n")


def literal_text(value: str, column: int) -> tuple[str, str]:
    """Write a text of several lines below “|”, where it can stand there as it is; else in one line: (what stands behind
    the colon, the lines below it)."""
    lines = value.removesuffix("\n").split("\n")
    if len(lines) < 2 or not all(line.isprintable() and line == line.strip() for line in lines):
        return quote_text(value), ""
    if not lines[0] or not lines[-1]:
        return quote_text(value), ""
    pad = " " * (column + 2)
    below = "".join(f"{pad}{line}\n" if line else "\n" for line in lines)
    return ("|" if value.endswith("\n") else "|-"), below


def quote_text(value: str) -> str:
    """Write a text in one line, in quotes where it needs them."""
    return flow_text([value])[1:-1] if "\n" in value else scalar_text(value)


def quoted_as(mark: str, value: str) -> str:
    """Write a text that can be seen between quotation marks of one kind."""
    return json.dumps(value, ensure_ascii=False) if mark == '"' else "'" + value.replace("'", "''") + "'"


def scalar_text(value: Any) -> str:
    """Write a value that is neither a list nor a mapping."""
    return dump({"x": value}, width=ONE_LINE).rstrip("\n").removeprefix("x: ")


def indent_block(block: str, column: int) -> str:
    """Move a block to a column, but for its blank lines."""
    return "".join(f"{' ' * column}{line}" if line.strip() else line for line in block.splitlines(keepends=True))


def indent_lines(lines: list[str], column: int) -> str:
    """Write lines below each other at a column."""
    return "".join(f"{' ' * column}{line}\n" for line in lines)


def renamed_setting(old: dict[Any, Any], new: dict[Any, Any]) -> dict[Any, Any]:
    """The setting's name before → now, where one has another name and the same value: it keeps its place and what is
    said beside it. Else empty."""
    gone, added = ([key for key in one if key not in other] for one, other in ((old, new), (new, old)))
    if len(gone) != 1 or len(added) != 1 or repr(old[gone[0]]) != repr(new[added[0]]):
        return {}
    return {gone[0]: added[0]} if re.fullmatch(r"[A-Za-z_]\w*", str(added[0])) else {}


def differences(old: list[Any], new: list[Any]) -> list[tuple[int, int, int, int]]:
    """(from, to) of the old and of the new entries that stand for each other. As many as before: each in its place."""
    if len(old) == len(new):
        return [(0, len(old), 0, len(new))]
    matcher = difflib.SequenceMatcher(None, [*map(repr, old)], [*map(repr, new)], autojunk=False)
    return [opcode[1:] for opcode in matcher.get_opcodes()]


def runs_of(numbers: set[int]) -> list[list[int]]:
    """Numbers that follow one another, together."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
