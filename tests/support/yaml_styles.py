"""Specs as people write them: any indentation, spacing, style and comments, from a seed."""

from __future__ import annotations

import json
import random
from typing import Any


class Writer:
    """Writes plain values as YAML in a style of its own; each comment is there once: “# c7”."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.comments = 0

    def write(self, spec: dict[str, Any]) -> str:
        """The text of a whole spec."""
        self._mapping(spec, 0, "")
        if self._sometimes(0.3):
            self.lines.append(self._comment())
        newline = "\r\n" if self._sometimes(0.15) else "\n"
        return newline.join(self.lines) + ("" if self._sometimes(0.15) else newline)

    def _mapping(self, values: dict[str, Any], column: int, first: str) -> None:
        """Each setting on lines of its own, the first behind `first` (a dash, say)."""
        for key, value in values.items():
            if not first:
                self._between(column)
            start, first = first or " " * column, ""
            name = key if key.isidentifier() and key.lower() not in ("true", "false", "null") else json.dumps(key)
            if isinstance(value, (dict, list)) and value and not self._sometimes(0.2):
                self.lines.append(f"{start}{name}:{self._end()}")
                self._below(value, column)
            elif isinstance(value, str) and "\n" in value.strip("\n") and self._fits(value) and self._sometimes(0.6):
                self._literal(f"{start}{name}:", value, column)
            else:
                gap = " " * self.random.choice([1, 1, 1, 2, 4])
                written = self._inline(value)
                self.lines.append(
                    f"{start}{name}:{gap}{written}{self._end()}" if written else f"{start}{name}:{self._end()}"
                )

    def _below(self, value: Any, column: int) -> None:
        if isinstance(value, dict):
            self._mapping(value, column + self.random.choice([1, 2, 2, 2, 4]), "")
            return
        column += self.random.choice([0, 0, 2])
        for entry in value:
            self._between(column)
            dash = f"{' ' * column}-{' ' * self.random.choice([1, 1, 3])}"
            if isinstance(entry, dict) and entry and not self._sometimes(0.2):
                self._mapping(entry, len(dash), dash)
            elif entry is None:
                self.lines.append(f"{dash}null{self._end()}")
            else:
                self.lines.append(f"{dash}{self._inline(entry)}{self._end()}")

    def _literal(self, start: str, value: str, column: int) -> None:
        comment = self._end()
        self.lines.append(f"{start} {'|' if value.endswith(chr(10)) else '|-'}{comment}")
        self.lines += [f"{' ' * (column + 3)}{line}" if line else "" for line in value.removesuffix("\n").split("\n")]

    @staticmethod
    def _fits(value: str) -> bool:
        lines = value.removesuffix("\n").split("\n")
        return all(line.isprintable() and line == line.strip() for line in lines) and bool(lines[0] and lines[-1])

    def _inline(self, value: Any) -> str:
        if value is None:
            return self.random.choice(["null", "~", ""])
        if isinstance(value, float):
            return repr(value).replace("inf", ".inf").replace("nan", ".nan")
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(key)}: {self._flow(inner)}" for key, inner in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._flow, value)) + "]"
        if isinstance(value, str) and value.isidentifier() and value.lower() not in ("true", "false", "null"):
            return self.random.choice([value, f"'{value}'", f'"{value}"'])
        return json.dumps(value, ensure_ascii=not (isinstance(value, str) and value.isprintable()))

    def _flow(self, value: Any) -> str:
        return self._inline(value) or "null"

    def _between(self, column: int) -> None:
        while self._sometimes(0.15):
            self.lines.append(self.random.choice(["", "   ", " " * self.random.choice([0, column]) + self._comment()]))

    def _end(self) -> str:
        if self._sometimes(0.3):
            return " " * self.random.choice([1, 3, 9]) + self._comment()
        return " " * self.random.choice([0, 0, 0, 2])

    def _comment(self) -> str:
        self.comments += 1
        return self.random.choice(["# c{}.", "#c{}.", "# 'c{}. a: [b", "# - c{}. # more"]).format(self.comments)

    def _sometimes(self, share: float) -> bool:
        return self.random.random() < share
