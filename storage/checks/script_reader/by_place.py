"""Whether a function that maps rows makes the same of each. It is followed for several rows, alone or in batches of
several sizes: what is then not the same text around the same columns of the row itself depends on where the row stands,
such as its number, the row before it, or how many there are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.script_reader.values import (
    ByPlace,
    Column,
    Either,
    Item,
    Items,
    Made,
    Mapping,
    Outer,
    Part,
    Plain,
    Row,
    Text,
    Value,
)

_MOST = 5_000  # values of a row that are looked at
_DEPTH = 40
_SIZES = (1, 2, 3)  # of the batches that are tried

Columns = dict[str, Value]


def tried_rows(row: Row, batched: bool) -> list[list[Row]]:
    """The rows that a function is followed with at each of its calls. The first has no number: what is made of it is
    what is taken."""
    sizes = _SIZES if batched else [1] * len(_SIZES)
    numbers = iter([None, *range(1, sum(sizes))])
    return [[_numbered(row, next(numbers)) for _ in range(size)] for size in sizes]


def same_for_all(made: Sequence[tuple[Row, Columns]]) -> Columns:
    """The columns that were made of the first row; ByPlace for those that are others for another row."""
    (first, columns), *others = made
    found = {}
    for name, value in columns.items():
        shape = _shape(value, first.number)
        alike = shape is not None and all(
            name in other and _shape(other[name], row.number) == shape for row, other in others
        )
        found[name] = value if alike else ByPlace(value.node)
    return found


def _numbered(row: Row, number: int | None) -> Row:
    return Row(row.node, {name: _renumber(value, number, _DEPTH) for name, value in row.columns.items()}, number)


def _renumber(value: Value, number: int | None, depth: int) -> Value:
    """The value with this row's columns; itself where there are none in it."""
    if isinstance(value, Column):
        return value if value.row == number else replace(value, row=number)
    parts = _parts(value)
    if not depth or not parts:
        return value
    changed = [_renumber(part, number, depth - 1) for part in parts]
    same = all(new is old for new, old in zip(changed, parts, strict=True))
    return value if same else _with_parts(value, changed)


def _parts(value: Value) -> list[Value]:
    """What a value that rows are made of is put together from."""
    if isinstance(value, (Items, Text, Either)):
        return value.items if isinstance(value, Items) else value.parts if isinstance(value, Text) else value.options
    if isinstance(value, Mapping):
        return [*value.entries.values(), *value.dark]
    if isinstance(value, Part):
        return [value.of]
    if isinstance(value, Item):
        return [value.of, value.key]
    if isinstance(value, Made):
        own = [*value.arguments, *value.keywords.values(), *value.dark]
        return own if value.receiver is None else [value.receiver, *own]
    return []


def _with_parts(value: Value, parts: list[Value]) -> Value:
    if isinstance(value, Items):
        return replace(value, items=parts)
    if isinstance(value, Text):
        return replace(value, parts=parts)
    if isinstance(value, Either):
        return replace(value, options=parts)
    if isinstance(value, Mapping):
        count = len(value.entries)
        return replace(value, entries=dict(zip(value.entries, parts, strict=False)), dark=parts[count:])
    if isinstance(value, Part):
        return replace(value, of=parts[0])
    if isinstance(value, Item):
        return replace(value, of=parts[0], key=parts[1])
    assert isinstance(value, Made)
    receiver, own = (None, parts) if value.receiver is None else (parts[0], parts[1:])
    given, named = len(value.arguments), len(value.arguments) + len(value.keywords)
    keywords = dict(zip(value.keywords, own[given:named], strict=True))
    return replace(value, arguments=own[:given], keywords=keywords, dark=own[named:], receiver=receiver)


def _shape(value: Value, row: int | None) -> Any:
    """What is the same in two values that were made alike of two rows; None where another row's column is in it."""
    shape: list[Any] = []
    waiting = [value]
    while waiting:
        now = waiting.pop()
        if isinstance(now, Column) and now.row != row:
            return None
        shape.append(_kind(now))
        if len(shape) > _MOST:
            break
        waiting += _parts(now)
    return shape


def _kind(value: Value) -> tuple[Any, ...]:
    """A value without what it is made of."""
    if isinstance(value, Column):
        return ("column", value.name)
    if isinstance(value, Plain):
        return ("plain", repr(value.value))
    if isinstance(value, Mapping):
        return ("mapping", *map(repr, value.entries), len(value.dark))
    if isinstance(value, Made):
        return ("made", value.path, len(value.arguments), *value.keywords, value.receiver is None)
    if isinstance(value, Items):
        return ("items", len(value.items), value.open)
    if isinstance(value, (Part, Outer)):
        return ("name", value.name if isinstance(value, Part) else value.path)
    return (type(value).__name__, len(_parts(value)), id(value.node))
