"""Remarks behind a number as other languages write them, “1e-5 // lower”: YAML takes all of it for a text. The button
that writes the number keeps what stands behind it as a comment. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.rows.number_text import split_remark
from groupwise.storage.spec.words.problem import Cut, Fix, Problem, SpecError
from groupwise.storage.spec.yaml.plain_rows import shorten
from groupwise.storage.spec.yaml.yaml_text import parse_document


def keep_remarks(problems: Iterable[Problem], text: str) -> list[Problem]:
    """The problems of a text, with such buttons."""
    found = list(problems)
    offered = {one.field for one in found if any(writes_number(one.field, fix) for fix in one.fixes)}
    values = {path: node for path, node in _block_values(text) if path in offered} if offered else {}
    return [replace(one, fixes=tuple(_with_remark(one.field, fix, values[one.field]) for fix in one.fixes))
            if one.field in values else one for one in found]  # fmt: skip


def writes_number(field: str, fix: Fix) -> bool:
    value = fix.settings.get(field)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and len(fix.settings) == 1 and not fix.fallback and fix.label.startswith("Use ")


def _with_remark(field: str, fix: Fix, node: ScalarNode) -> Fix:
    remark = split_remark(str(node.value))[1]
    if not remark or not writes_number(field, fix):
        return fix
    put = f"{fix.label.removeprefix('Use ')}  # {remark}"
    cut = Cut(node.start_mark.line + 1, node.start_mark.column, str(node.value), put)
    return Fix(f"Write it as “{shorten(put)}”", {}, cut=cut)


def _block_values(text: str) -> list[tuple[str, ScalarNode]]:
    """The plain values that end their line, by dotted path: within braces a comment would hide what follows."""
    try:
        root = parse_document(text).root
    except SpecError:
        return []
    return list(_of_node(root, "")) if root is not None else []


def _of_node(node: Node, path: str) -> Iterator[tuple[str, ScalarNode]]:
    if isinstance(node, ScalarNode) and node.style is None and node.start_mark.line == node.end_mark.line:
        yield path, node
    elif isinstance(node, MappingNode) and not node.flow_style:
        for key, value in node.value:
            yield from _of_node(value, f"{path}.{key.value}".lstrip("."))
    elif isinstance(node, SequenceNode) and not node.flow_style:
        for place, value in enumerate(node.value):
            yield from _of_node(value, f"{path}.{place}".lstrip("."))
