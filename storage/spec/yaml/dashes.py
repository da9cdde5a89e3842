"""Entries of a list of rewards or stages that lack their dash, of which YAML reads settings given twice: written with
it, and nothing of them is lost."""

import re

from ruamel.yaml.nodes import MappingNode, ScalarNode

from groupwise.storage.spec.words.problem import Cut, Fix, Problem

NO_DASH = "the dash before this entry is missing, as in “- name: format”."
SHOWN = 30  # characters of a value on a button
_LISTS = re.compile(r"(?:stages\.\d+\.)?rewards|stages")


def dash_problem(text: str, path: str, mapping: MappingNode, second: int, dash: int | None) -> Problem | None:
    """The problem of a setting of an entry that is given a second time, where it begins another entry: it is the first
    of those of this one, and begins its line. `dash`: the column of the entry's own; None where it has none either and
    the list is a mapping. None where that is not so."""
    key, again = mapping.value[0][0], mapping.value[second][0]
    owner, _, name = path.rpartition(".")
    entry = owner.rpartition(".")
    is_entry = dash is not None and entry[2].isdigit() and _LISTS.fullmatch(entry[0])
    is_list = dash is None and _LISTS.fullmatch(owner)
    if mapping.flow_style or not isinstance(key, ScalarNode) or key.value != name or not (is_entry or is_list):
        return None
    rows, line, column = text.splitlines(), again.start_mark.line, again.start_mark.column
    if rows[line][:column].strip():
        return None
    value = mapping.value[second][1]
    written = f"- {name}: {value.value[:SHOWN]}" if isinstance(value, ScalarNode) else f"- {name}: …"
    if dash is not None:
        cut = Cut(line + 1, dash, rows[line][dash:column], "-".ljust(column - dash))
        return Problem(path, NO_DASH, line + 1, fixes=(Fix(f"Write it as “{written}”", {}, cut=cut),))
    first, last = key.start_mark.line, _last_row(rows, line, column)
    block = rows[first : last + 1]
    cut = Cut(first + 1, 0, "\n".join(block), "\n".join(with_dashes(block, column, column, name)))
    return Problem(owner, "each entry begins with a dash, as in “- name: format”.", first + 1,
                   fixes=(Fix("Write the dashes", {}, cut=cut),))  # fmt: skip


def _last_row(rows: list[str], row: int, column: int) -> int:
    """The last row of the part in which a row's settings begin at a column."""
    ends = next((n for n in range(row, len(rows)) if rows[n].strip() and column_of(rows[n]) < column), len(rows))
    return max(n for n in range(row, ends) if rows[n].strip())


def with_dashes(block: list[str], column: int, dash: int, name: str) -> list[str]:
    """Lines whose settings begin at `column` as entries whose dash stands at `dash`, each beginning with `name`."""
    begins = re.compile(rf" {{{column}}}{re.escape(name)}:(\s|$)")
    pads = [f"{' ' * dash}- " if begins.match(line) else " " * (dash + 2) for line in block]
    return [pad + line[column:] if line[:column].strip() == "" and line.strip() else line
            for pad, line in zip(pads, block, strict=True)]  # fmt: skip


def column_of(line: str) -> int:
    """Where a line begins, from 0."""
    return len(line) - len(line.lstrip(" "))
