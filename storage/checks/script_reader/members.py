"""What evaluating a script leans on: what a call is given, what a class says under a name, plain Python as values."""

import ast
import builtins
from typing import Any

from groupwise.storage.checks.script_reader import plain
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.scopes import either
from groupwise.storage.checks.script_reader.values import (
    Class,
    Either,
    Function,
    Items,
    Made,
    Mapping,
    Outer,
    Part,
    Plain,
    Value,
    to_plain,
)


class Arguments:
    """What a call is given: by place, by name, and what is spread into it of which the names cannot be told."""

    def __init__(
        self, given: list[Value], named: dict[str, Value] | None = None, dark: list[Value] | None = None
    ) -> None:
        self.given, self.named, self.dark = given, named if named is not None else {}, dark if dark is not None else []


def class_member(cls: Class | None, name: str) -> Value | None:
    """What a class or those it derives from set under a name; a dataclass's field() by its default."""
    for _ in range(8):
        if cls is None:
            return None
        if name in cls.members:
            return _field_default(cls.members[name])
        cls = next((base for base in cls.bases if isinstance(base, Class)), None)
    return None


def _field_default(value: Value) -> Value:
    if not isinstance(value, Made) or value.name not in ("field", "Field"):
        return value
    if "default" in value.keywords:
        return value.keywords["default"]
    factory = value.keywords.get("default_factory")
    if isinstance(factory, Function) and isinstance(factory.node, ast.Lambda):
        return _constant_of(factory)
    if isinstance(factory, Outer) and factory.path in ("list", "dict"):
        return Items(value.node, []) if factory.path == "list" else Mapping(value.node)
    return Value(value.node)


def _constant_of(factory: Function) -> Value:
    """What `lambda: [...]` makes, where that is written out."""
    assert isinstance(factory.node, ast.Lambda)
    try:
        said = ast.literal_eval(factory.node.body)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return Value(factory.node)
    return from_python(factory.node, said)


def from_python(node: ast.AST, said: Any) -> Value:
    """Plain Python as a value."""
    if isinstance(said, (list, tuple, set)):
        return Items(node, [from_python(node, item) for item in said])
    if isinstance(said, dict):
        return Mapping(node, {key: from_python(node, item) for key, item in said.items()})
    return Plain(node, said) if said is None or isinstance(said, (bool, int, float, str)) else Value(node)


def spread_into(made: Mapping, inner: Value) -> None:
    """What `**inner` does to a mapping."""
    if isinstance(inner, Mapping):
        made.entries |= inner.entries
        made.dark += inner.dark
    elif isinstance(inner, Either) and (options := _plain_mappings(inner)):  # {…} if x else {}
        for name in dict.fromkeys(name for one in options for name in one.entries):
            before = made.entries.get(name)
            now: Value | None = options[0].entries.get(name, before)
            for one in options[1:]:
                other = one.entries.get(name, before)
                now = either(inner.node, now, other) if now is not None or other is not None else None
            assert now is not None
            made.entries[name] = now
    else:
        made.dark.append(inner)


def _plain_mappings(value: Either) -> list[Mapping]:
    """The mappings of which a condition decides; none where one is something else, or not all its keys are known."""
    found = [option for option in value.options if isinstance(option, Mapping) and not option.dark]
    return found if len(found) == len(value.options) > 1 else []


def combine_plain(op: ast.operator, left: Value, right: Value) -> Any:
    """What an operator makes of two plain values; Unknown itself where that cannot be told."""
    try:
        return plain.combine(op, to_plain(left), to_plain(right))
    except Unknown:
        return Unknown


def is_builtin(path: str) -> bool:
    """Whether a path is a name of Python's own."""
    return hasattr(builtins, path)


def is_fields_of_trl(value: Value) -> bool:
    """Whether a value is all that TRL's config or trainer takes: `inspect.signature(GRPOConfig.__init__).parameters`. A
    script asks that for the TRL that is there; a spec's own check says what the installed one does not have."""
    asked = False
    for _ in range(12):
        if isinstance(value, Made) and value.name in _ASKING:
            asked = True
        if isinstance(value, Outer):
            names = value.path.split(".")
            return (asked or names[-1] in _FIELDS) and any(name in ("GRPOConfig", "GRPOTrainer") for name in names)
        if isinstance(value, Part):
            asked |= value.name in _FIELDS
            value = value.of
        elif isinstance(value, Made):
            inner = value.arguments[0] if value.arguments else value.receiver
            if inner is None:
                return False
            value = inner
        else:
            return False
    return False


def is_trl_class(value: Value) -> bool:
    """Whether a value is TRL's config or trainer itself."""
    return isinstance(value, Outer) and value.path.rpartition(".")[2] in ("GRPOConfig", "GRPOTrainer")


_OBJECTS = ("Config", "Trainer", "Arguments", "Args")  # how the classes end whose objects always count as true


def is_object(value: Value) -> bool:
    """Whether a value is an object that counts as true, and is not None, whatever it was made with."""
    if not isinstance(value, Made) or value.receiver is not None:
        return False
    if value.cls is not None:
        return not any(class_member(value.cls, name) for name in ("__bool__", "__len__"))
    return value.path[:1].isalpha() and value.name[:1].isupper() and value.name.endswith(_OBJECTS)


_ASKING = {"signature", "fields", "getfullargspec", "get_type_hints"}
_FIELDS = {"__dataclass_fields__", "__annotations__"}


def is_hashable(said: Any) -> bool:
    """Whether plain Python that could be told can be a key."""
    return said is not Unknown and not isinstance(said, (list, dict))


def note_unknown_change(of: Value, node: ast.AST) -> None:
    """A list or mapping was changed under a condition that nobody can decide here."""
    if isinstance(of, Items):
        of.more = True
    elif isinstance(of, Mapping):
        of.dark.append(Value(node))
