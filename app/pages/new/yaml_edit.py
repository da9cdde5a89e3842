"""Change one setting in a YAML text and leave the rest as it was typed: order, comments, other fields."""

from __future__ import annotations

from typing import Any

import yaml

from groupwise.storage.spec import yaml_text
from groupwise.storage.spec.problem import SpecError

ABSENT = object()  # as a value: the setting is not there
Path = tuple[str, ...]


def load(text: str) -> dict[str, Any] | None:
    """The settings as plain values; None where the text is no YAML mapping."""
    try:
        raw, _ = yaml_text.read(text)  # the reading of words and numbers that the spec itself uses
    except SpecError:
        return None
    return raw if isinstance(raw, dict) else None


def get(raw: dict[str, Any], path: Path) -> Any:
    """The value at a path, or ABSENT."""
    for part in path:
        if not isinstance(raw, dict) or part not in raw:
            return ABSENT
        raw = raw[part]
    return raw


def put(text: str, path: Path, value: Any, written: str | None = None) -> str:
    """The text with one setting changed, added or (ABSENT) removed. `written` is how a person typed the value.

    Where the place cannot be found by itself (flow style, a missing parent), the whole is written anew.
    """
    raw = load(text)
    if raw is None:
        return text
    wanted = _with(raw, path, value)
    edited = _edit(text, path, value, written)
    return edited if edited is not None and load(edited) == wanted else dump(wanted)


def dump(value: Any) -> str:
    """YAML that reads back equal."""
    return yaml.dump(value, Dumper=yaml_text.Dumper, sort_keys=False, allow_unicode=True, width=110)


def _with(raw: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    key, *rest = path
    if rest:
        inner = raw.get(key)
        return {**raw, key: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}
    return {k: v for k, v in raw.items() if k != key} if value is ABSENT else {**raw, key: value}


def _edit(text: str, path: Path, value: Any, written: str | None) -> str | None:
    """The edit in place; None where it cannot be made."""
    parent = yaml.compose(text, Loader=yaml_text.Loader)
    for part in path[:-1]:
        parent = _child(parent, part)[1]
    if not isinstance(parent, yaml.MappingNode) or not parent.value:
        return None
    key, node = _child(parent, path[-1])
    simple = isinstance(node, yaml.ScalarNode) and not isinstance(value, (dict, list)) and value is not ABSENT
    if simple and node is not None and node.start_mark.line == node.end_mark.line:
        gap = "" if text[node.start_mark.index - 1 : node.start_mark.index] in (" ", "") else " "
        return text[: node.start_mark.index] + gap + _scalar(value, written) + text[node.end_mark.index :]
    if parent.flow_style:
        return None
    if node is None or key is None:
        return text if value is ABSENT else _insert(text, parent, path[-1], value, written)
    start, end = _line_start(text, key.start_mark.index), _line_end(text, _last(node))
    lines = "" if value is ABSENT else _block(path[-1], value, key.start_mark.column, written)
    return text[:start] + lines + text[end:]


def _insert(text: str, parent: yaml.MappingNode, key: str, value: Any, written: str | None) -> str:
    """A new line behind the last of its siblings."""
    end = _line_end(text, _last(parent))
    before = text[:end] if text[:end].endswith("\n") else text[:end] + "\n"
    return before + _block(key, value, parent.value[0][0].start_mark.column, written) + text[end:]


def _block(key: str, value: Any, indent: int, written: str | None) -> str:
    lines = f"{key}: {written}\n" if written is not None else dump({key: value})
    return "".join(" " * indent + line for line in lines.splitlines(keepends=True))


def _scalar(value: Any, written: str | None) -> str:
    return written if written is not None else dump({"x": value}).rstrip("\n").removeprefix("x: ")


def _child(node: yaml.Node | None, name: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == name), (None, None))
    return None, None


def _last(node: yaml.Node) -> int:
    """Where the text of a node really ends: its own end mark stands behind comments and blank lines."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return node.end_mark.index
    last = node.value[-1]
    return _last(last[1] if isinstance(last, tuple) else last)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    if index and text[index - 1] == "\n":  # a block scalar ends behind its own line
        return index
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1
