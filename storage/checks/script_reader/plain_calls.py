"""The few calls whose result reading tells: dict(a=1), " text ".strip(), range(3), settings.update(…), and the like."""

import ast
import textwrap
from typing import Any

from groupwise.storage.checks.script_reader.members import from_python, is_hashable
from groupwise.storage.checks.script_reader.perhaps import MOST_ITEMS, as_list
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.text_values import fill_format, fill_replace
from groupwise.storage.checks.script_reader.values import (
    Batch,
    Column,
    Items,
    Mapping,
    Outer,
    Plain,
    Row,
    Text,
    Value,
    plain_or,
    to_plain,
)
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES

CHANGES = {"update", "setdefault", "pop", "clear", "append", "extend", "insert", "remove", "sort",
           "reverse"}  # fmt: skip
_LONGEST_RANGE = 64
_TEXT_METHODS = {
    "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "replace", "removeprefix", "removesuffix",
    "split", "rsplit", "splitlines", "startswith", "endswith", "join",
}  # fmt: skip


def compare(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    """What a comparison of plain values says; None where it cannot be told."""
    try:
        return {
            ast.Eq: lambda: left == right,
            ast.NotEq: lambda: left != right,
            ast.Is: lambda: left is right if left is None or isinstance(left, bool) else left == right,
            ast.IsNot: lambda: left is not right if left is None or isinstance(left, bool) else left != right,
            ast.In: lambda: left in right,
            ast.NotIn: lambda: left not in right,
            ast.Lt: lambda: left < right,
            ast.LtE: lambda: left <= right,
            ast.Gt: lambda: left > right,
            ast.GtE: lambda: left >= right,
        }[type(op)]()
    except TypeError:
        return None


def items_over(over: Value) -> list[Value] | None:
    """The items that a loop goes over; None where they cannot be told."""
    if isinstance(over, Items) and not over.open:
        return over.items
    if isinstance(over, Mapping) and not over.dark:
        return [Plain(over.node, key) for key in over.entries]
    return None


def call_known(
    path: str, given: list[Value], named: dict[str, Value], dark: list[Value], node: ast.AST
) -> Value | None:
    """The result of a call by its path; None where it is not known here."""
    name = path.rpartition(".")[2]
    if path == "dict" and len(given) <= 1:
        return _dict(given, named, dark, node)
    if path in ("list", "tuple", "set", "sorted") and not named and not dark:
        return _list_of(given, node) if path != "sorted" else None
    if path == "range" and not named and 1 <= len(given) <= 3:
        return _range(given, node)
    if name in ("dedent", "cleandoc") and len(given) == 1 and isinstance(said := plain_or(given[0]), str):
        return Plain(node, textwrap.dedent(said))
    if path in ("str", "int", "float", "bool", "len", "min", "max", "abs") and not named and not dark:
        return _builtin(path, given, node)
    if path == "enumerate" and len(given) == 1 and (over := items_over(given[0])) is not None:
        return Items(node, [Items(node, [Plain(node, n), item]) for n, item in enumerate(over)])
    if path == "zip" and given and not named:
        lists = [items_over(value) for value in given]
        known = [each for each in lists if each is not None]
        return (
            Items(node, [Items(node, list(row)) for row in zip(*known, strict=False)])
            if len(known) == len(lists)
            else None
        )
    if path in _LOADERS and len(given) == 1 and isinstance(given[0], Plain) and isinstance(given[0].value, str):
        return _loaded(given[0].value, node)
    if path.endswith("OmegaConf.create") and len(given) == 1 and isinstance(given[0], (Mapping, Items)):
        return given[0]
    if path.endswith("OmegaConf.merge") and given and not named:
        return _merged(given, node)
    if path.endswith("OmegaConf.to_container") and given and isinstance(given[0], (Mapping, Items)):
        return given[0]
    if path in ("__import__", "importlib.import_module") and given and isinstance(module := plain_or(given[0]), str):
        return Outer(node, module)
    if path == "getattr" and len(given) >= 2 and isinstance(given[0], Outer) and isinstance(plain_or(given[1]), str):
        return Outer(node, f"{given[0].path}.{plain_or(given[1])}")
    if name in ("deepcopy", "copy") and len(given) == 1 and isinstance(given[0], (Mapping, Items, Plain)):
        return _copied(given[0])
    return None


_LOADERS = {"yaml.safe_load", "yaml.load", "json.loads", "OmegaConf.create", "omegaconf.OmegaConf.create"}


def _loaded(text: str, node: ast.AST) -> Value | None:
    """What a text in YAML or JSON, which stands in the script, means."""
    try:
        return from_python(node, yaml_text.read_yaml(text)[0])
    except SpecError:
        return None


def _merged(given: list[Value], node: ast.AST) -> Value:
    """Mappings over one another, at every depth, as OmegaConf.merge joins them."""
    made = Mapping(node)
    for value in given:
        if not isinstance(value, Mapping):
            made.dark.append(value)
            continue
        for key, inner in value.entries.items():
            before = made.entries.get(key)
            both = isinstance(before, Mapping) and isinstance(inner, Mapping)
            made.entries[key] = _merged([before, inner], node) if both and before is not None else inner
        made.dark += value.dark
    return made


def _dict(given: list[Value], named: dict[str, Value], dark: list[Value], node: ast.AST) -> Value:
    made = Mapping(node)
    _update(made, given, named)
    made.dark += dark
    return made


def _update(of: Mapping, given: list[Value], named: dict[str, Value]) -> None:
    """What dict.update takes in; of what is not known to be a mapping, that it is there."""
    for value in given:
        if isinstance(value, Mapping):
            of.entries |= value.entries
            of.dark += value.dark
        else:
            of.dark.append(value)
    of.entries |= named


def _list_of(given: list[Value], node: ast.AST) -> Value | None:
    """What list(…) makes; None where that cannot be told."""
    known = as_list(given[0]) if len(given) == 1 else None
    if known is not None:
        return Items(node, list(known.items), known.more)
    over = items_over(given[0]) if len(given) == 1 else [] if not given else None
    return Items(node, list(over)) if over is not None else None


def _range(given: list[Value], node: ast.AST) -> Value | None:
    numbers = [plain_or(value) for value in given]
    if not all(type(number) is int and abs(number) < 10**12 for number in numbers) or 0 in numbers[2:]:
        return None
    counted = range(*numbers)
    return Items(node, [Plain(node, n) for n in counted]) if len(counted) <= _LONGEST_RANGE else None


def _builtin(path: str, given: list[Value], node: ast.AST) -> Value | None:
    if path == "str" and len(given) == 1 and isinstance(given[0], (Column, Text)):
        return given[0] if isinstance(given[0], Text) else Text(node, [given[0]])
    if path == "len" and len(given) == 1 and isinstance(given[0], Items) and not given[0].open:
        return Plain(node, len(given[0].items))
    try:
        values = [to_plain(value) for value in given]
        if not values or any(isinstance(value, str) and len(value) > 1000 for value in values if path != "str"):
            return None
        functions: dict[str, Any] = {
            "str": str, "int": int, "float": float, "bool": bool, "len": len, "min": min, "max": max, "abs": abs,
        }  # fmt: skip
        said = functions[path](*values)
    except (Unknown, ValueError, TypeError, OverflowError):
        return None
    return Plain(node, said) if isinstance(said, (str, int, float, bool)) else None


def call_method(of: Value, name: str, given: list[Value], named: dict[str, Value], node: ast.AST) -> Value | None:
    """The result of a method of a text, a list, a mapping or a row; None where it is not known here."""
    by_column = name == "replace" and len(given) == 2 and not isinstance(given[1], Plain)
    if by_column and (isinstance(of, Text) or (isinstance(of, Plain) and isinstance(of.value, str))):
        return fill_replace(of, given, node)
    if isinstance(of, Plain) and isinstance(of.value, str):
        return _text_method(of.value, name, given, named, node)
    if isinstance(of, Items):
        return _list_method(of, name, given, node)
    if isinstance(of, Batch):
        return _batch_method(of, name, given, node)
    if isinstance(of, (Mapping, Row)):
        return _mapping_method(of, name, given, named, node)
    return None


def _text_method(text: str, name: str, given: list[Value], named: dict[str, Value], node: ast.AST) -> Value | None:
    if name == "format":
        return fill_format(text, given, named, node)
    if name == "format_map" and len(given) == 1 and isinstance(given[0], Row):
        return fill_format(text, [], {}, node, given[0])
    try:
        values = [to_plain(value) for value in given]
        if name not in _TEXT_METHODS or named or len(text) > MAX_BYTES:
            return None
        if name == "join" and sum(len(part) + len(text) for part in values[0]) > MAX_BYTES:
            return None
        if name == "replace" and len(text) * max(len(str(values[-1])), 1) > MAX_BYTES:
            return None
        said = getattr(text, name)(*values)
    except (Unknown, TypeError, ValueError, IndexError):
        return None
    return Items(node, [Plain(node, part) for part in said[:1000]]) if isinstance(said, list) else Plain(node, said)


def _list_method(of: Items, name: str, given: list[Value], node: ast.AST) -> Value | None:
    if name == "append" and len(given) == 1:
        of.items.append(given[0])
    elif name == "extend" and len(given) == 1:
        added = as_list(given[0])
        items = added.items if added is not None else items_over(given[0]) or []
        room = max(MOST_ITEMS - len(of.items), 0)
        of.items += items[:room]
        of.more |= len(items) > room or (added.more if added is not None else items_over(given[0]) is None)
    elif name == "insert" and len(given) == 2 and type(plain_or(given[0])) is int:
        of.items.insert(plain_or(given[0]), given[1])
    elif name == "copy":
        return Items(node, list(of.items), of.more)
    elif name == "pop":
        return _popped_item(of, plain_or(given[0]) if given else -1, node)
    elif name == "remove" and len(given) == 1 and any(one is given[0] for one in of.items):
        del of.items[next(place for place, one in enumerate(of.items) if one is given[0])]
    elif name == "clear":
        of.items.clear()
        of.more = False
    elif name in CHANGES:
        of.more = True
    else:
        return None
    return Plain(node, None)


def _popped_item(of: Items, index: Any, node: ast.AST) -> Value:
    if type(index) is int and not of.open and -len(of.items) <= index < len(of.items):
        return of.items.pop(index)
    of.more = True
    return Value(node)


def _batch_method(of: Batch, name: str, given: list[Value], node: ast.AST) -> Value | None:
    key = plain_or(given[0], Unknown) if given else Unknown
    return of.column(key, node) if name in ("get", "pop") and isinstance(key, str) else None


def _mapping_method(
    of: Mapping | Row, name: str, given: list[Value], named: dict[str, Value], node: ast.AST
) -> Value | None:
    key = plain_or(given[0], Unknown) if given else Unknown
    if isinstance(of, Row):
        if name in ("get", "pop") and isinstance(key, str):
            return of.column(key, node)
        if name == "update":
            for value in [*given, Mapping(node, dict(named))]:
                of.columns |= {str(k): v for k, v in value.entries.items()} if isinstance(value, Mapping) else {}
            return Plain(node, None)
        return of.copy() if name == "copy" else None
    if name == "get" and not isinstance(key, (list, dict)) and key is not Unknown:
        if key in of.entries:
            return of.entries[key]
        if of.dark:
            return None
        return given[1] if len(given) > 1 else Plain(node, None)
    if name == "items" and not of.dark:
        return Items(node, [Items(node, [Plain(node, k), v]) for k, v in of.entries.items()])
    if name in ("keys", "values") and not of.dark:
        return Items(node, [Plain(node, k) for k in of.entries] if name == "keys" else list(of.entries.values()))
    if name == "copy":
        return Mapping(node, dict(of.entries), list(of.dark))
    return _change_mapping(of, name, key, given, named, node)


def _change_mapping(
    of: Mapping, name: str, key: Any, given: list[Value], named: dict[str, Value], node: ast.AST
) -> Value | None:
    if name == "update":
        _update(of, given, named)
    elif name in ("pop", "setdefault"):
        return _entry_or_default(of, name, key, given, node)
    elif name == "clear":
        of.entries.clear()
        of.dark.clear()
    elif name in CHANGES:
        of.dark.append(Value(node))
    else:
        return None
    return Plain(node, None)


def _entry_or_default(of: Mapping, name: str, key: Any, given: list[Value], node: ast.AST) -> Value:
    """What pop and setdefault give: what stands at a key, or else what the call has for that case."""
    keeps = name == "setdefault"
    if is_hashable(key) and key in of.entries:
        return of.entries[key] if keeps else of.entries.pop(key)
    if of.dark or not is_hashable(key):
        of.dark.append(Value(node))
        return Value(node)
    default = given[1] if len(given) > 1 else Plain(node, None) if keeps else Value(node)
    if keeps:
        of.entries[key] = default
    return default


def _copied(value: Value) -> Value:
    if isinstance(value, Mapping):
        return Mapping(value.node, {key: _copied(inner) for key, inner in value.entries.items()}, list(value.dark))
    return Items(value.node, [_copied(item) for item in value.items], value.more) if isinstance(value, Items) else value
