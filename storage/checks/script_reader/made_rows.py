"""Rows that a comprehension makes of a dataset, as the filter and map that mean the same, or reads from a file."""

import ast

from groupwise.storage.checks.script_reader.scopes import Scope
from groupwise.storage.checks.script_reader.values import LAMBDA, Function, Made, Value

_LINES = {"readlines", "splitlines", "read", "read_text"}


def comprehended_rows(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, of: Value, scope: Scope) -> Value | None:
    """What [{"prompt": r["q"]} for r in data if …] makes of rows; None where it is none of a dataset's."""
    first = node.generators[0]
    if not isinstance(node, ast.ListComp) or len(node.generators) > 1 or not isinstance(first.target, ast.Name):
        return None
    if (path := _opened(of)) is not None:
        return Made(node, "read_json", [path], {}, [], of) if _reads_json(node.elt, first.target.id) else None
    if not isinstance(node.elt, (ast.Dict, ast.Call, ast.Name)) or not _is_loaded(of):
        return None
    rows = of
    for test in first.ifs:
        rows = _step(node, ".filter", first.target.id, test, rows, scope)
    same = isinstance(node.elt, ast.Name) and node.elt.id == first.target.id
    return rows if same else _step(node, ".map", first.target.id, node.elt, rows, scope)


def is_comprehension(value: Value | None) -> bool:
    """Whether a value is rows that a comprehension makes."""
    return isinstance(value, Made) and isinstance(value.node, ast.ListComp)


def _step(node: ast.AST, path: str, name: str, body: ast.expr, rows: Value, scope: Scope) -> Made:
    given = ast.arguments(posonlyargs=[], args=[ast.arg(arg=name)], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.copy_location(ast.Lambda(args=given, body=body), body)
    return Made(node, path, [Function(function, scope, LAMBDA)], {}, [], rows, names=scope.snapshot())


def _is_loaded(value: Value | None) -> bool:
    """Whether rows come from load_dataset, or from a file of lines, through whatever steps."""
    for _ in range(50):
        if isinstance(value, Made) and (value.name == "load_dataset" or is_comprehension(value)):
            return True
        value = value.receiver if isinstance(value, Made) else getattr(value, "of", None)
    return False


def _opened(value: Value) -> Value | None:
    """The path of open(path), and of its lines."""
    while isinstance(value, Made) and value.receiver is not None and value.name in _LINES:
        value = value.receiver
    return value.arguments[0] if isinstance(value, Made) and value.path == "open" and value.arguments else None


def _reads_json(node: ast.expr, line: str) -> bool:
    """Whether an expression is json.loads(line)."""
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "loads"
        and len(node.args) == 1
        and any(isinstance(inner, ast.Name) and inner.id == line for inner in ast.walk(node.args[0]))
    )
