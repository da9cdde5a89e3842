"""The adjustable arguments of a function, read from its syntax tree: what each takes, its default, its help. Pure."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

from groupwise.storage.spec.syntax_tree import parse_expression

KINDS = ("int", "float", "bool", "str", "list", "dict", "none")
_NAMES = {
    **{kind: kind for kind in KINDS}, "None": "none", "List": "list", "Sequence": "list", "Iterable": "list",
    "Collection": "list", "tuple": "list", "Tuple": "list", "set": "list", "Set": "list", "frozenset": "list",
    "Dict": "dict", "Mapping": "dict",
}  # fmt: skip
_SECTION = re.compile(r"^\s*(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments)\s*:?\s*$")
_ENTRY = re.compile(
    r"(?P<indent>\s*)(?:[-*] )?(?::param (?:\S+ )?)?[`*]*(?P<name>[^\W\d]\w*)[`*]*\s*"
    r"(?:\([^:]*\)\s*)?:(?:\s+(?P<text>.*)|)"
)
LONGEST_HELP, LONGEST_SOURCE = 1000, 200


class _NotPlain(Exception):
    """The default is no value that a spec (YAML, JSON) can say."""


def parameter(argument: ast.arg, default: ast.expr, help: str) -> dict[str, Any]:
    """{name, types, default, choices, help, adjustable} of one keyword-only argument.

    `types` are those of KINDS that its annotation and its default say, empty where neither does: anything goes.
    A default that is no plain value (`math.pi`) is given as its source text, and the parameter is not adjustable.
    """
    found: dict[str, Any] = {"name": argument.arg, "types": [], "default": None, "choices": None, "help": help}
    try:
        found["default"] = literal_value(default)
    except _NotPlain:
        return {**found, "default": as_unicode(ast.unparse(default))[:LONGEST_SOURCE], "adjustable": False}
    parts = list(_parts(argument.annotation))
    types = list(dict.fromkeys(kind for part in parts for kind in _kinds(part)))
    choices = _choices(parts)
    kind = _kind_of(found["default"])
    if (not types or None in types) and argument.annotation is not None:
        known: list[str] = []  # the annotation says what this cannot know
    elif not types:
        known = [] if kind == "none" else [kind]
    else:
        fits = kind in types or (kind == "int" and "float" in types)
        known = [str(each) for each in types] + ([] if fits else [kind])
    return {**found, "types": known, "choices": choices, "adjustable": True}


def literal_value(node: ast.expr) -> Any:
    """The value of a literal as JSON says it: tuples and sets are lists. Raises _NotPlain."""
    try:
        value = _as_json(ast.literal_eval(node))
        json.dumps(value, allow_nan=False).encode("utf-8")
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # no lone surrogates
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise _NotPlain from error
    return value


def _as_json(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted((_as_json(each) for each in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [_as_json(each) for each in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that JSON cannot hold")
        return {key: _as_json(each) for key, each in value.items()}
    return value


def _kind_of(value: Any) -> str:
    return "none" if value is None else type(value).__name__


def _parts(annotation: ast.expr | None) -> Iterator[ast.expr]:
    """The members of a union, whichever way it is written; else the annotation itself."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = parse_expression(annotation.value)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from (*_parts(annotation.left), *_parts(annotation.right))
    elif isinstance(annotation, ast.Subscript) and _name(annotation.value) in ("Optional", "Union", "Annotated"):
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for part in inner[:1] if _name(annotation.value) == "Annotated" else inner:
            yield from _parts(part)
        if _name(annotation.value) == "Optional":
            yield ast.Constant(None)
    elif annotation is not None:
        yield annotation


def _name(node: ast.expr) -> str:
    """The last word of a name, module and all: `typing.Literal` is Literal."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literals(part: ast.expr) -> list[Any] | None:
    """The values of a `Literal[…]`; None where it is none, or one that JSON cannot say."""
    if not (isinstance(part, ast.Subscript) and _name(part.value) == "Literal"):
        return None
    listed = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    try:
        return [literal_value(each) for each in listed]
    except _NotPlain:
        return None


def _kinds(part: ast.expr) -> list[str | None]:
    """The kinds that one member of an annotation allows; [None] where it cannot be known."""
    if isinstance(part, ast.Constant) and part.value is None:
        return ["none"]
    values = _literals(part)
    if values is not None:
        return [_kind_of(value) for value in values]
    return [_NAMES.get(_name(part.value if isinstance(part, ast.Subscript) else part))]


def _choices(parts: list[ast.expr]) -> list[Any] | None:
    """The values that the annotation lists; None where it also takes a whole kind. “none” stands among the types."""
    listed: list[Any] = []
    for part in parts:
        values = _literals(part)
        if values is None and not (isinstance(part, ast.Constant) and part.value is None):
            return None
        listed += [value for value in values or [] if value is not None]
    return listed or None


def helps(docstring: str, names: list[str]) -> dict[str, str]:
    """What a docstring says of each of these arguments, in one line: `name: text`, `name (type): text`,
    `:param name: text`, or numpy's `name : type` with the text under it. Empty where it says nothing."""
    lines = inspect.cleandoc(docstring).splitlines()
    underlined = (number for number, line in enumerate(lines) if re.fullmatch(r"\s*-{3,}\s*", line))
    numpy = any(number and _SECTION.match(lines[number - 1]) for number in underlined)
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line[:LONGEST_HELP])
        if entry and entry["name"] in names and entry["name"] not in found:
            more = _deeper(lines[number + 1 :], len(entry["indent"]))
            text = "" if numpy and more else entry["text"] or ""
            found[entry["name"]] = as_unicode(" ".join(" ".join([text, *more]).split()))[:LONGEST_HELP]
    return {name: found.get(name, "") for name in names}


def _deeper(lines: list[str], indent: int) -> list[str]:
    """The lines that go on with an entry: those that stand further in, up to the first empty one."""
    kept = []
    for line in lines:
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            break
        kept.append(line.strip())
    return kept


def as_unicode(text: str) -> str:
    """The text with what no UTF-8 can say (half of a pair of code units) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
