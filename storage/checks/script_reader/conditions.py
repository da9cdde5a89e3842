"""A filter's function → the conditions of a spec that mean the same, where there are such."""

import ast
from typing import Any

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


def conditions_of(reading: Reading, function: Function, row: Row) -> list[str] | None:
    """The conditions that all must hold; None where one of them is more than a spec can say."""
    body = _only_expression(function)
    names = [argument.arg for argument in function.node.args.args]
    owner = [function.owner] if function.owner is not None else []
    if body is None or len(names) <= len(owner):
        return None
    given = [*owner, Row(function.node, dict(row.columns))]
    scope = Scope(dict(zip(names, given, strict=False)), function.scope)
    parts = body.values if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And) else [body]
    found = [_condition(reading, one, scope) for part in parts for one in _links(part)]
    return [one for one in found if one is not None] if None not in found else None


def _links(node: ast.expr) -> list[ast.expr]:
    """1 < x <= 5 as 1 < x and x <= 5."""
    if not isinstance(node, ast.Compare) or len(node.ops) < 2:
        return [node]
    sides = [node.left, *node.comparators]
    pairs = zip(sides[:-1], node.ops, sides[1:], strict=True)
    return [ast.copy_location(ast.Compare(left=a, ops=[op], comparators=[b]), node) for a, op, b in pairs]


def _condition(reading: Reading, node: ast.expr, scope: Scope) -> str | None:
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


def _written(column: Value, operator: str, value: Value | None) -> str | None:
    """The condition as a spec has it, checked by its own reader."""
    length = isinstance(column, Made) and column.path == "len" and len(column.arguments) == 1
    if isinstance(column, Made) and length:
        column = column.arguments[0]
    said: Any = plain_or(value) if value is not None else ""
    if not isinstance(column, Column) or isinstance(said, bool) or not isinstance(said, (int, float, str)):
        return None
    words = f'"{said}"' if isinstance(said, str) and said and '"' not in said and "\\" not in said else str(said)
    try:
        return str(row_filter.from_form(column.name, f"length {operator}" if length else operator, words))
    except row_filter.ConditionError:
        return None
