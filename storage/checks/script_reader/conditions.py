"""A filter's function → the conditions of a spec that mean the same, where there are such."""

import ast
from collections.abc import Collection
from typing import Any

from groupwise.storage.checks.script_reader.column_kinds import Kind, column_kind
from groupwise.storage.checks.script_reader.reading import Reading, quote_code
from groupwise.storage.checks.script_reader.scopes import Scope
from groupwise.storage.checks.script_reader.values import (
    Column,
    Function,
    Made,
    Outer,
    Row,
    Value,
    plain_or,
    script_line,
)
from groupwise.storage.spec.rows import row_filter

_OPERATORS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=", ast.NotEq: "!="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def keeps_words(reading: Reading, function: Value | None) -> str:
    """Which rows a filter keeps, by its condition as the script writes it, or by the function that says so."""
    if not isinstance(function, Function):
        name = f"“{function.path}”" if isinstance(function, Outer) else quote_code(function.node) if function else "it"
        return f"it keeps the rows that {name} chooses."
    test = _only_expression(function)
    if test is not None:
        return f"it keeps rows where {quote_code(test)}."
    return f"it keeps the rows that “{function.name}” ({reading.place(script_line(function))}) chooses."


def _only_expression(function: Function) -> ast.expr | None:
    """What a function returns that does nothing else; None where it does more."""
    body = function.node.body
    if not isinstance(body, list):
        return body
    rest = body[1:] if ast.get_docstring(function.node) is not None else body  # type: ignore[arg-type]
    return rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Return) else None


def conditions_of(reading: Reading, function: Function, row: Row, functions: Collection[Function]) -> list[str] | None:
    """The conditions that all must hold; None where one of them is more than a spec can say. `functions`: those that
    get a row of the data, which show what its columns hold."""
    body = _only_expression(function)
    names = [argument.arg for argument in function.node.args.args]
    owner = [function.owner] if function.owner is not None else []
    if body is None or len(names) <= len(owner):
        return None
    given = [*owner, Row(function.node, dict(row.columns))]
    scope = Scope(dict(zip(names, given, strict=False)), function.scope)
    parts = body.values if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And) else [body]
    found = [(_condition(reading, link, scope), link) for one in parts for link in _links(one)]
    known = [(one, at, column_kind(_names_of(one.column, row), functions)) for one, at in found if one is not None]
    if len(known) < len(found) or any(_means_other(one, kind) for one, _, kind in known):
        return None
    for one, at, kind in known:
        if kind is None:
            _note_reading_as_text(reading, one, at)
    return [str(one) for one, _, _ in known]


def _names_of(column: str, row: Row) -> set[str]:
    """A column's name in the source, and those that earlier steps gave it."""
    given = (name for name, value in row.columns.items() if isinstance(value, Column) and value.name == column)
    return {column, *given}


def _means_other(condition: row_filter.Condition, kind: Kind | None) -> bool:
    """Whether a condition means another thing here than in the script, as the column is of this kind: a spec reads a
    list as one text, and a text that writes a number as that number."""
    if kind == "list":
        return True
    of_number = condition.operator in ("=", "!=") and not condition.length and not condition.value.startswith('"')
    return kind == "text" and of_number


def _note_reading_as_text(reading: Reading, condition: row_filter.Condition, at: ast.expr) -> None:
    """Note what a condition means where its column turns out to be a chat or another list."""
    if condition.length:
        here, there = "counts characters here", "the script counts its messages or items"
    elif condition.operator in ("contains", "does not contain"):
        here, there = "looks in the text here", "the script looks for a whole item"
    elif condition.operator in row_filter.EMPTINESS:
        here, there = "is whether the cell is empty here", "an empty one is a value in the script"
    else:
        return
    reading.note(quote_code(at), at, f"{here}; if “{condition.column}” is a chat or another list, {there}.")


def _links(node: ast.expr) -> list[ast.expr]:
    """1 < x <= 5 as 1 < x and x <= 5."""
    if not isinstance(node, ast.Compare) or len(node.ops) < 2:
        return [node]
    sides = [node.left, *node.comparators]
    pairs = zip(sides[:-1], node.ops, sides[1:], strict=True)
    return [ast.copy_location(ast.Compare(left=a, ops=[op], comparators=[b]), node) for a, op, b in pairs]


def _condition(reading: Reading, node: ast.expr, scope: Scope) -> row_filter.Condition | None:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    script = reading.script
    script.quiet += 1
    left, right = script.evaluate(node.left, scope), script.evaluate(node.comparators[0], scope)
    script.quiet -= 1
    op = node.ops[0]
    if isinstance(op, (ast.In, ast.NotIn)):
        name = "contains" if isinstance(op, ast.In) else "does not contain"
        return _written(right, name, left) if isinstance(plain_or(left), str) else None
    if isinstance(op, (ast.Is, ast.IsNot)) or plain_or(right, 0) in (None, ""):
        empty = isinstance(op, (ast.Is, ast.Eq))
        known = isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) and plain_or(right, 0) in (None, "")
        return _written(left, "is empty" if empty else "is not empty", None) if known else None
    name = _OPERATORS[type(op)]
    if isinstance(plain_or(left), (int, float, str)):
        left, right, name = right, left, _MIRRORED.get(name, name)
    return _written(left, name, right)


def _written(column: Value, operator: str, value: Value | None) -> row_filter.Condition | None:
    """The condition as a spec has it, checked by its own reader."""
    length = isinstance(column, Made) and column.path == "len" and len(column.arguments) == 1
    if isinstance(column, Made) and length:
        column = column.arguments[0]
    said: Any = plain_or(value) if value is not None else ""
    if not isinstance(column, Column) or isinstance(said, bool) or not isinstance(said, (int, float, str)):
        return None
    words = f'"{said}"' if isinstance(said, str) and said and '"' not in said and "\\" not in said else str(said)
    try:
        return row_filter.from_form(column.name, f"length {operator}" if length else operator, words)
    except row_filter.ConditionError:
        return None
