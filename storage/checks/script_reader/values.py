"""What an expression of a script stands for, as far as reading tells: plain values, functions, what calls made."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.spec.yaml.yaml_text import MAX_DEPTH

LAMBDA = "lambda"  # what a function is called that no name was given
MAX_PARTS = 50_000  # values inside a value that are looked at: lists of the same list could go on for ever


@dataclass(eq=False)
class Value:
    """Anything; `node` is where the script says it. Of this class itself: what only running the script would tell."""

    node: ast.AST


@dataclass(eq=False)
class Plain(Value):
    """None, a truth value, a number or a text."""

    value: Any


@dataclass(eq=False)
class Given(Value):
    """What the script is given from outside. `source`: from where, in words."""

    source: str


@dataclass(eq=False)
class Deleted(Value):
    """What is no longer there: del args.beta."""


@dataclass(eq=False)
class Items(Value):
    """A list, tuple or set. `more`: more may be in it than is seen, or another order; `arms`: the undecided branches
    that it is made in."""

    items: list[Value]
    more: bool = False
    arms: tuple[Arm, ...] = ()

    @property
    def open(self) -> bool:
        """Whether it cannot be told what is in it."""
        return self.more or any(isinstance(item, Perhaps) for item in self.items)


@dataclass(eq=False)
class Perhaps(Value):
    """An item of a list of which a condition decides whether it is there; `unmet`: it is where that is not met."""

    of: Value
    unmet: bool = False


@dataclass(eq=False)
class Mapping(Value):
    """A dict by its keys; `dark`: what is spread into it, or done to it, of which the keys cannot be told."""

    entries: dict[Any, Value] = field(default_factory=dict)
    dark: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Outer(Value):
    """What the script imports or never defines, by its dotted path: `trl.rewards.accuracy_reward`."""

    path: str


@dataclass(eq=False)
class Function(Value):
    """A function or lambda of the script. `owner`: the object whose method it is; `within`: the class that it stands
    in; `made_by`: the call of a function of the script that made it, with all its arguments by their names."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    name: str
    owner: Value | None = None
    top: bool = False  # at the script's top level
    within: Class | None = None
    made_by: Made | None = None
    options: dict[str, Value] = field(default_factory=dict)  # what a command line gives its arguments
    given_name: Value | None = None  # its __name__, where the script sets that


@dataclass(eq=False)
class Class(Value):
    """A class of the script, with what its body sets."""

    node: ast.ClassDef
    name: str
    bases: list[Value]
    members: dict[str, Value]


@dataclass(eq=False)
class Arm:
    """One branch of a condition that nobody can decide here. `plain`: of an `if` without an else."""

    plain: bool = False


@dataclass(eq=False)
class Made(Value):
    """What a call makes. `path`: the dotted path of what is called, or “.method”; `receiver`: whose method it is;
    `later`: the attributes that are set on it, as the script leaves them, and `parts` the keys; `order`: which call of
    the script it is; `arms`: the undecided branches around it; `names`: of a step on rows, what the names of its
    function stood for when it was called (Scope.snapshot)."""

    path: str
    arguments: list[Value]
    keywords: dict[str, Value]
    dark: list[Value]
    receiver: Value | None = None
    cls: Class | None = None
    later: dict[str, Value] = field(default_factory=dict)
    order: int = 0
    arms: tuple[Arm, ...] = ()
    names: Any = ()
    parsed: bool = False  # by a parser of the command line, of which only the defaults are known
    parts: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]


@dataclass(eq=False)
class Super(Value):
    """What super() is in a method: what the classes `bases` say, done with the object `owner`."""

    bases: list[Class]
    owner: Value


@dataclass(eq=False)
class Part(Value):
    """An attribute of something: `model.config`."""

    of: Value
    name: str


@dataclass(eq=False)
class Item(Value):
    """What stands at a key of something: `splits["train"]`."""

    of: Value
    key: Value


@dataclass(eq=False)
class Row(Value):
    """A row of the data as a function gets it. `columns`: what earlier steps put there; others are the source's own;
    `number`: which row it is, where several are told apart."""

    columns: dict[str, Value]
    number: int | None = None

    def column(self, name: str, node: ast.AST) -> Value:
        """What the row has in a column."""
        return self.columns.get(name) or Column(node, name, self.number)

    def copy(self) -> Row:
        """One that is not changed with this one."""
        return Row(self.node, dict(self.columns), self.number)


@dataclass(eq=False)
class Batch(Value):
    """Rows of the data as a function gets them that maps them in batches."""

    rows: list[Row]

    def column(self, name: str, node: ast.AST) -> Items:
        """What the rows have in a column."""
        return Items(node, [row.column(name, node) for row in self.rows])

    def copy(self) -> Batch:
        """One that is not changed with this one."""
        return Batch(self.node, [row.copy() for row in self.rows])


@dataclass(eq=False)
class Column(Value):
    """What a row of the source has in a column. `row`: the number of that row, where several are told apart."""

    name: str
    row: int | None = None


@dataclass(eq=False)
class ByPlace(Value):
    """What is another one for each row, whatever the row's columns hold: its number is in it, or another row."""


@dataclass(eq=False)
class Text(Value):
    """Texts and columns, one after the other: an f-string, or + between them."""

    parts: list[Value]


@dataclass(eq=False)
class Either(Value):
    """One of several values, by a condition that only running the script would decide. `unmet`: the one of where the
    condition is not met, if it was set outside of it."""

    options: list[Value]
    unmet: Value | None = None


def where_unmet(value: Value | None) -> Value | None:
    """What a value is where no condition is met that it depends on; None where that is not said."""
    return value.unmet if isinstance(value, Either) else value


def beginning(value: Value, through: tuple[str, ...] = ()) -> Value:
    """What a chain of attributes, keys and methods begins with; also of calls of the functions `through`."""
    for _ in range(50):
        if isinstance(value, (Part, Item)):
            value = value.of
        elif isinstance(value, Made) and value.receiver is not None:
            value = value.receiver
        elif isinstance(value, Made) and value.path in through and value.arguments:
            value = value.arguments[0]
        else:
            break
    return value


def origin(value: Value) -> Value:
    """What a value was taken out of, by keys, attributes, and calls such as float(…)."""
    return beginning(value, ("float", "int", "str", "bool"))


def script_line(value: Value | ast.AST) -> int:
    """The line where a value is said."""
    node = value.node if isinstance(value, Value) else value
    return getattr(node, "lineno", 1)


def to_plain(value: Value) -> Any:
    """The Python value of plain values, lists and mappings of them. Raises Unknown."""
    return _Plainly().read(value, 0)


def plain_or(value: Value | None, default: Any = None) -> Any:
    """The Python value where it can be told, else the default."""
    try:
        return default if value is None else to_plain(value)
    except Unknown:
        return default


class _Plainly:
    def __init__(self) -> None:
        self.left = MAX_PARTS

    def read(self, value: Value, depth: int) -> Any:
        self.left -= 1
        if depth > MAX_DEPTH + 8 or self.left < 0:
            raise Unknown
        if isinstance(value, Plain):
            return value.value
        if isinstance(value, Items) and not value.open:
            return [self.read(item, depth + 1) for item in value.items]
        if isinstance(value, Mapping) and not value.dark:
            return {key: self.read(item, depth + 1) for key, item in value.entries.items()}
        if isinstance(value, Outer) and (said := _enum_value(value.path)) is not None:
            return said
        raise Unknown


# Enumerations of transformers and PEFT whose values are their names: TaskType.CAUSAL_LM, IntervalStrategy.STEPS.
_ENUMS = {"IntervalStrategy", "SaveStrategy", "SchedulerType", "OptimizerNames", "HubStrategy", "EvaluationStrategy"}


def _enum_value(path: str) -> str | None:
    *_, owner, name = ["", *path.split(".")]
    if owner == "TaskType":
        return name
    return name.lower() if owner in _ENUMS else None


def inner_values(value: Value, known: Collection[int] = ()) -> Iterator[Value]:
    """A value and all that it is made of, without what is `known` by its id, and what that is made of."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MAX_PARTS:
        now = waiting.pop()
        if id(now) in seen or id(now) in known:
            continue
        seen.add(id(now))
        yield now
        waiting += _children(now)


def _children(value: Value) -> list[Value]:
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Mapping):
        return [*value.entries.values(), *value.dark]
    if isinstance(value, Made):
        own = [*value.arguments, *value.keywords.values(), *value.dark, *value.later.values()]
        return [*own, value.receiver] if value.receiver is not None else own
    if isinstance(value, (Part, Item, Perhaps)):
        return [value.of]
    if isinstance(value, (Either, Text)):
        return value.options if isinstance(value, Either) else value.parts
    return []
