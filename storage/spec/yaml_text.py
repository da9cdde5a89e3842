"""YAML as specs are written in: safe, bounded, numbers and words read as people expect, and the line of each field."""

from __future__ import annotations

import re
from typing import Any

import yaml

from groupwise.storage.spec.problem import Problem, SpecError

MAX_BYTES = 256 * 1024  # a spec is written by hand; anything larger is a mistake or an attack
MAX_DEPTH = 32
MAX_DIGITS = 64  # of a whole number: more mean nothing, and Python itself refuses to write out some thousands


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C one where there is one
    """Safe YAML in which `1e-4` is a number and `on` is a word, as everyone expects who writes one today."""


class Dumper(yaml.SafeDumper):
    """The same reading of words and numbers when writing, so that what is written reads back equal."""


def _text(dumper: Dumper, value: str) -> yaml.ScalarNode:
    """Line breaks that only Unicode knows are escaped: bare, they would be read back as spaces."""
    style = '"' if set(value) & set("\x85\u2028\u2029\ufeff") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


Dumper.add_representer(str, _text)
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.inf|\.nan)$", re.I)
# As YAML 1.1 has them, but for base 60: 59:59 is a time, and 59:59:… with a thousand parts a number without end.
_INT = re.compile(r"[-+]?(?:0b_*[01][01_]*|0[0-7_]+|0x_*[0-9a-f][0-9a-f_]*|0|[1-9][0-9_]*)$", re.I)
for _class in (Loader, Dumper):
    _class.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith(":null")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _class.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
    _class.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false", re.I), list("tTfF"))
    _class.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def _whole(loader: Loader, node: yaml.ScalarNode) -> int:
    """A whole number; an endless one is read as one that is just too long (see storage.spec.spec), so that the rest of
    the text can be read and the problem has its field."""
    if len(node.value) > MAX_DIGITS:
        return 10**MAX_DIGITS
    return int(loader.construct_yaml_int(node))


Loader.add_constructor("tag:yaml.org,2002:int", _whole)


def read(text: str) -> tuple[Any, dict[str, int]]:
    """Plain values and the line of each field. Raises SpecError for what is not plain YAML."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise SpecError([Problem("", f"The spec is larger than {MAX_BYTES // 1024} KB.")])
    lines: dict[str, int] = {}
    try:
        _refuse_tricks(text)
        node = yaml.compose(text, Loader=Loader)
        if node is not None:
            _note_lines(node, "", lines)
        return yaml.load(text, Loader=Loader), lines  # noqa: S506 - Loader is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        line = min(mark.line + 1, text.count("\n") + 1) if mark else None  # the end of a text is in its last line
        raise SpecError([Problem("", f"This is not YAML: {message}", line)]) from error


def _refuse_tricks(text: str) -> None:
    """Raises SpecError for what makes a small text large (aliases) or slow (deep nesting: PyYAML's time is quadratic
    in it), as soon as it is met."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent):
            raise SpecError([Problem("", "Aliases (*name) are not allowed in a spec.", line)])
        if getattr(event, "tag", None) and getattr(event, "implicit", None) in (False, (False, False)):
            raise SpecError([Problem("", "This is not YAML that a spec may hold: tags (!name) are not allowed.", line)])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise SpecError([Problem("", f"Nested more than {MAX_DEPTH} levels deep.", line)])


def _note_lines(node: yaml.Node, path: str, lines: dict[str, int]) -> None:
    """Walk the nodes. Raises SpecError for a field given twice, which YAML would silently let win."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}".lstrip(".")
            line = key.start_mark.line + 1
            if inner in lines:
                raise SpecError([Problem(inner, f"given twice (first in line {lines[inner]}).", line)])
            lines[inner] = line
            _note_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            inner = f"{path}.{index}".lstrip(".")
            lines[inner] = item.start_mark.line + 1
            _note_lines(item, inner, lines)


def yaml_number(text: str) -> int | float | None:
    """The number that a text writes, read as in a spec."""
    try:
        value = read(text)[0]
    except SpecError:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
