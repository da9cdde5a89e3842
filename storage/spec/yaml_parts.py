"""A spec that YAML cannot read as a whole, read part by part (name, model, data, …): what is wrong in each part, and
what the others mean, so that one slip hides nothing of the rest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from groupwise.storage.spec.problem import Problem, SpecError
from groupwise.storage.spec.yaml_text import read_yaml
from groupwise.storage.spec.yaml_twice import given_twice

BEGINNING = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s|$)")  # of a part: its name, at the margin
MOST = 50  # parts; a spec has eight


@dataclass(frozen=True)
class Parts:
    """`values` and `lines` (dotted path → line): of the parts that can be read; `unread`: the names of the others;
    `problems`: what is wrong in those."""

    values: dict[str, Any]
    lines: dict[str, int]
    unread: frozenset[str]
    problems: list[Problem]


def read_parts(text: str) -> Parts:
    """Read each part of a text by itself."""
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    wrong: dict[str, list[Problem]] = {}
    for name, first, part in list(_split(text))[:MOST]:
        if name in lines:
            twice = Problem(name, given_twice(lines[name]), first)
            wrong.setdefault(name, []).append(twice)
            continue
        lines[name] = first
        try:
            read, within = read_yaml("\n" * (first - 1) + part)
        except SpecError as error:
            wrong.setdefault(name, []).extend(error.problems)
            continue
        values |= read if isinstance(read, dict) else {}
        lines |= within
    problems = [problem for found in wrong.values() for problem in found]
    return Parts(values, lines, frozenset(wrong), sorted(problems, key=lambda one: one.line or 0))


def _split(text: str) -> Iterator[tuple[str, int, str]]:
    """Each part's name, first line (from 1) and text."""
    written = text.splitlines(keepends=True)
    begins = [(found[1], n) for n, line in enumerate(written) if (found := BEGINNING.match(line))]
    ends = [*(n for _, n in begins[1:]), len(written)]
    for (name, first), end in zip(begins, ends, strict=False):  # a text of no part has an end, too
        yield name, first + 1, "".join(written[first:end])
