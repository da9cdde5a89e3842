"""Texts of a script that are put together from plain ones and from what stands in a row's columns."""

import ast

from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.values import Plain, Row, Text, Value, plain_or
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES

MOST_PARTS = 1000


def join_texts(node: ast.AST, parts: list[Value]) -> Value:
    """Texts put together; one text where all are plain."""
    flat: list[Value] = []
    for part in parts:
        for each in part.parts if isinstance(part, Text) else [part]:
            last = flat[-1] if flat else None
            if isinstance(last, Plain) and isinstance(last.value, str) and isinstance(each, Plain) and is_text(each):
                if len(last.value) + len(each.value) > MAX_BYTES:
                    return Value(node)
                flat[-1] = Plain(node, last.value + each.value)
            else:
                flat.append(each)
    if len(flat) > MOST_PARTS:
        return Value(node)
    return flat[0] if len(flat) == 1 and is_text(flat[0]) else Text(node, flat) if flat else Plain(node, "")


def fill_percent(node: ast.AST, template: str, values: list[Value]) -> Value:
    """The text of `"Question: %s" % row["question"]`."""
    pieces = template.split("%s")
    if len(pieces) != len(values) + 1 or "%" in "".join(pieces):
        return Value(node)
    parts: list[Value] = [Plain(node, pieces[0])]
    for value, piece in zip(values, pieces[1:], strict=True):
        parts += [value, Plain(node, piece)]
    return join_texts(node, parts)


def is_text(value: Value) -> bool:
    """Whether a value is text for certain."""
    return isinstance(value, Text) or (isinstance(value, Plain) and isinstance(value.value, str))


def fill_replace(of: Value, given: list[Value], node: ast.AST) -> Value | None:
    """TEMPLATE.replace("<<question>>", row["question"]), where the template's own text has that mark."""
    mark = plain_or(given[0]) if len(given) == 2 else None
    pieces = of.parts if isinstance(of, Text) else [of]
    if not isinstance(mark, str) or not mark or not any(mark in str(plain_or(each, "")) for each in pieces):
        return None
    parts: list[Value] = []
    for each in pieces:
        if not isinstance(each, Plain):
            parts.append(each)
            continue
        for number, part in enumerate(str(each.value).split(mark)):
            parts += [given[1], Plain(node, part)] if number else [Plain(node, part)]
    return join_texts(node, parts) if len(parts) <= MOST_PARTS else None


def fill_format(
    text: str, given: list[Value], named: dict[str, Value], node: ast.AST, row: Row | None = None
) -> Value | None:
    """TEMPLATE.format(question=row["question"]), where the template holds nothing but plain {names}. `row`: one whose
    columns are spread into it: TEMPLATE.format(**row)."""
    parts: list[Value] = []
    rest, counted = text, 0
    while "{" in rest or "}" in rest:
        before, opened, rest = rest.partition("{")
        if "}" in before or not opened or rest.startswith("{"):
            return None
        inside, closed, rest = rest.partition("}")
        if not inside:
            value, counted = (given[counted] if counted < len(given) else None), counted + 1
        else:
            value = given[int(inside)] if inside.isdecimal() and int(inside) < len(given) else named.get(inside)
        if value is None and row is not None and inside.isidentifier():
            value = row.column(inside, node)
        if value is None or not closed:
            return None
        said = plain_or(value, Unknown)
        parts += [Plain(node, before), Plain(node, str(said)) if isinstance(said, (str, int)) else value]
    return join_texts(node, [*parts, Plain(node, rest)])
