"""Arithmetic on what a script says in plain values, within bounds: what is larger, or of another kind, is Unknown."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES


class Unknown(Exception):
    """A value that only running the script would tell."""


_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def combine(op: ast.operator, left: Any, right: Any) -> Any:
    """Arithmetic on numbers of a sane size, and texts, lists or mappings joined."""
    if isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return refuse_long(left + right)
    if isinstance(op, ast.Add) and isinstance(left, list) and isinstance(right, list):
        return refuse_long(left + right)
    if isinstance(op, ast.BitOr):
        return {**as_mapping(left), **as_mapping(right)}
    numbers = as_number(left), as_number(right)
    if isinstance(op, ast.Pow):
        if not (abs(numbers[0]) <= 1000 and 0 <= abs(numbers[1]) <= 64):
            raise Unknown
        return compute_safely(lambda: numbers[0] ** numbers[1])
    operation = _OPERATIONS.get(type(op))
    if operation is None:
        raise Unknown
    return compute_safely(lambda: operation(*numbers))


def compute_safely(compute: Callable[[], Any]) -> Any:
    """The value of a computation that may fail. Raises Unknown where it does."""
    try:
        result = compute()
    except (ArithmeticError, ValueError) as error:
        raise Unknown from error
    return as_number(result)


def as_number(value: Any) -> Any:
    """The value where it is a number of a sane size; else raises Unknown."""
    small = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**256)
    if not small or isinstance(value, bool):
        raise Unknown
    return value


def as_decimal(value: Any) -> float:
    """The value where it is a number, as a float; else raises Unknown."""
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise Unknown from error


def as_text(value: Any) -> str:
    """The value where it is text; else raises Unknown."""
    if not isinstance(value, str):
        raise Unknown
    return value


def as_mapping(value: Any) -> dict[Any, Any]:
    """The value where it is a mapping; else raises Unknown."""
    if not isinstance(value, dict):
        raise Unknown
    return value


def refuse_long(value: Any) -> Any:
    """The value where it is no longer than can be meant; else raises Unknown."""
    if len(value) > MAX_BYTES:
        raise Unknown
    return value
