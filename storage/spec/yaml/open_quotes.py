"""A quotation mark that is not closed in its line and is by a later one: YAML takes the settings between for its text,
and complains of none of them."""

import re
from collections.abc import Iterator

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.words.problem import Cut, Fix, Problem

_SETTING = re.compile(r"( *)(?:- +)?[A-Za-z_]\w*:(?:\s|$)")
REMARK = re.compile(r"(?<!\s)\s+#.*")  # at a line's end; a long run of spaces is looked at once
LONGEST = 40  # characters of a button


def open_quote_problems(text: str, root: Node) -> list[Problem]:
    """A problem for each such mark, with the button that closes it in its line."""
    rows = text.splitlines()
    return [_problem_of_quote(rows, path, value) for path, key, value in _settings_of(root, "")
            if _swallows_settings(rows, key, value)]  # fmt: skip


def _settings_of(node: Node, path: str) -> Iterator[tuple[str, Node, ScalarNode]]:
    """The settings of a node whose value is a text or a number: path, name, value."""
    if isinstance(node, SequenceNode):
        for place, item in enumerate(node.value):
            yield from _settings_of(item, f"{path}.{place}".lstrip("."))
    elif isinstance(node, MappingNode) and not node.flow_style:
        for key, value in node.value:
            inner = f"{path}.{key.value}".lstrip(".")
            if isinstance(value, ScalarNode):
                yield inner, key, value
            yield from _settings_of(value, inner)


def _swallows_settings(rows: list[str], key: Node, value: ScalarNode) -> bool:
    """Whether a quoted text goes on over settings that begin no further to the right than its own name: text that is
    meant to go on is indented."""
    if value.style not in ("'", '"'):
        return False
    between = rows[value.start_mark.line + 1 : value.end_mark.line + 1]
    settings = (_SETTING.match(row) for row in between)
    return any(found is not None and len(found[1]) <= key.start_mark.column for found in settings)


def _problem_of_quote(rows: list[str], path: str, value: ScalarNode) -> Problem:
    at, column = value.start_mark.line, value.start_mark.column
    rest = rows[at][column:]
    remark = found[0] if (found := REMARK.search(rest)) else ""
    closed = rest.removesuffix(remark).rstrip() + value.style
    label = f"Close the quotation mark: {closed if len(closed) <= LONGEST else closed[: LONGEST - 1] + '…'}"
    message = (
        f"the quotation mark in this line is not closed before line {value.end_mark.line + 1}: YAML reads all "
        "between as text."
    )
    fix = Fix(label, {}, cut=Cut(at + 1, column, rest, closed + remark))
    return Problem(path, message, at + 1, fixes=(fix,))
