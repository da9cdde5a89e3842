"""The buttons that write a number in a text that is no YAML yet: there are no settings to edit, and its own line can be
read as it stands. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from ruamel.yaml.nodes import ScalarNode

from groupwise.storage.spec.rows.number_remarks import keep_remarks, writes_number
from groupwise.storage.spec.rows.number_text import nodes_by_path
from groupwise.storage.spec.words.problem import Cut, Fix, Problem
from groupwise.storage.spec.yaml.yaml_text import yaml_number


def write_in_place(problems: Iterable[Problem], text: str, written: str) -> list[Problem]:
    """The problems of a text, with such buttons as write the number in its line, where that is the same in the text
    past whose slips it is read (`written`)."""
    found = list(problems)
    fields = {one.field for one in found if any(writes_number(one.field, fix) for fix in one.fixes)}
    nodes = nodes_by_path(text, _is_in_one_line) if fields else {}
    read, typed = text.split("\n"), written.replace("\r\n", "\n").split("\n")
    same = {row for row, (one, other) in enumerate(zip(read, typed, strict=False)) if one == other}
    placed = {path: node for path, node in nodes.items() if path in fields and node.start_mark.line in same}
    kept = keep_remarks(found, text) if placed else found
    return [_placed(with_remark, placed[one.field], read) if one.field in placed else one
            for one, with_remark in zip(found, kept, strict=True)]  # fmt: skip


def _is_in_one_line(node: ScalarNode) -> bool:
    return bool(node.value) and node.start_mark.line == node.end_mark.line


def _placed(problem: Problem, node: ScalarNode, rows: list[str]) -> Problem:
    line, begin, end = node.start_mark.line, node.start_mark.column, node.end_mark.column
    gone = rows[line][begin:end]
    fixes = tuple(
        Fix(fix.label, {}, cut=Cut(line + 1, begin, gone, fix.label.removeprefix("Use ")))
        if writes_number(problem.field, fix) and yaml_number(fix.label.removeprefix("Use ")) is not None else fix
        for fix in problem.fixes
    )  # fmt: skip
    return replace(problem, fixes=fixes)
