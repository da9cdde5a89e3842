"""A Python script as a syntax tree, and the values that can be read off it. Nothing is ever executed or imported."""

import ast
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any

from groupwise.storage.checks.script_reader import plain
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.spec.problem import Problem, SpecError
from groupwise.storage.spec.yaml_text import MAX_BYTES, MAX_DEPTH

MAX_WORK = 200_000  # parts of values that are looked at: names that stand for names for names … could go on for ever
MUTATORS = {"update", "setdefault", "pop", "clear", "append", "extend", "insert", "remove"}


def parse_script(text: str) -> ast.Module:
    """The tree of a script. Raises SpecError with a sentence, and the line, for what is not Python."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise _refusal(f"The script is larger than {MAX_BYTES // 1024} KB.")
    if "\0" in text:
        raise _refusal("The script holds a NUL byte: it is no text file.", text[: text.index("\0")].count("\n") + 1)
    if text.lstrip().startswith("{") and '"cells"' in text:
        raise _refusal("This is a notebook file. Export it as a Python script first (File, Save and Export As).")
    try:
        return ast.parse(text, "train.py")
    except SyntaxError as error:
        raise _refusal(_words(error, text), error.lineno) from error
    except (RecursionError, MemoryError) as error:
        raise _refusal("The script is nested too deeply to be read.") from error
    except ValueError as error:
        raise _refusal(f"The script cannot be read: {error}.") from error


def _refusal(message: str, line: int | None = None) -> SpecError:
    return SpecError([Problem("", message, line)])


def _words(error: SyntaxError, text: str) -> str:
    lines = text.split("\n")
    at = (error.lineno or 1) - 1
    line = lines[at].strip() if 0 <= at < len(lines) else ""
    if line.startswith(("!", "%", "?")):
        return f"“{line[:40]}” is a notebook's command, not Python. Remove the line."
    if "print" in error.msg or "except" in error.msg or line.startswith(("print ", "exec ")):
        return f"This is Python 2, it seems: {error.msg}"
    return f"This is not Python: {error.msg}."


class Script:
    """What is called in a script, and what its names stand for, where each is given a value only once."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._values: dict[str, ast.expr] = {}
        self._given: Counter[str] = Counter()
        self._changed: set[str] = set()
        self.calls: dict[str, list[ast.Call]] = {}
        self.attributes: dict[str, dict[str, ast.expr]] = {}  # what is set on a name later: args.beta = 0.1
        self.imported: dict[str, str] = {}  # the name here → the name there
        self._work = 0
        for node in ast.walk(tree):
            self._note(node)
        for found in self.calls.values():
            found.sort(key=lambda call: (call.lineno, call.col_offset))

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self._given[node.id] += 1
        elif isinstance(node, ast.arg):
            self._given[node.arg] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._given[node.name] += 1
            if isinstance(node, ast.ClassDef):
                self._note_class(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._given.update(alias.asname or alias.name for alias in node.names)
            self.imported |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            self._given[dotted_name(node)] += 1
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            self._changed.add(dotted_name(node.value))
        elif isinstance(node, ast.Call):
            self._note_call(node)
        for name, value in _assignments(node):
            self._values[name] = value
        if isinstance(node, ast.Assign):
            for target in (target for target in node.targets if isinstance(target, ast.Attribute)):
                self.attributes.setdefault(dotted_name(target.value), {})[target.attr] = node.value

    def _note_call(self, node: ast.Call) -> None:
        path = dotted_name(node.func)
        owner, _, name = path.rpartition(".")
        self.calls.setdefault(name, []).append(node)
        if name in MUTATORS:
            self._changed.add(owner)

    def _note_class(self, node: ast.ClassDef) -> None:
        """`class CFG: lr = 1e-5` is how notebooks keep settings."""
        for statement in node.body:
            for name, value in _assignments(statement):
                self._values[f"{node.name}.{name}"] = value
                self._given[f"{node.name}.{name}"] += 1

    def constant(self, name: str) -> ast.expr | None:
        """What a name at the script's top is given, or None."""
        return self._values.get(name) if self._given[name] == 1 and name not in self._changed else None

    def resolve(self, node: ast.expr) -> ast.expr:
        """What a name stands for, as far as that is plain to see; other expressions are themselves."""
        for _ in range(MAX_DEPTH):
            name = dotted_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
            if self._given[name] != 1 or name not in self._values or name in self._changed:
                return node
            node = self._values[name]
        return node

    def value(self, node: ast.expr) -> Any:
        """The plain value of an expression. Raises Unknown."""
        return self._value(node, 0)

    def value_or(self, node: ast.expr | None, default: Any = None) -> Any:
        """The value where it can be told, else the default."""
        try:
            return default if node is None else self.value(node)
        except Unknown:
            return default

    def _value(self, node: ast.expr, depth: int) -> Any:
        node, inner = self.resolve(node), depth + 1
        said = node.value if isinstance(node, ast.Constant) else None
        self._work += 1 + (len(said) // 16 if isinstance(said, str) else 0)
        if depth > MAX_DEPTH + 8 or self._work > MAX_WORK:
            raise Unknown
        if isinstance(node, ast.Constant) and (said is None or isinstance(said, (bool, int, float, str))):
            return plain.as_number(said) if type(said) is int else said
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [value for item in node.elts for value in self._items(item, inner)]
        if isinstance(node, ast.Dict):
            return dict(self._entries(node, inner))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return -plain.as_number(self._value(node.operand, inner)) * (1 if isinstance(node.op, ast.USub) else -1)
        if isinstance(node, ast.BinOp):
            return plain.combine(node.op, self._value(node.left, inner), self._value(node.right, inner))
        if isinstance(node, ast.JoinedStr):
            return plain.refuse_long("".join(self._piece(part, inner) for part in node.values))
        if isinstance(node, ast.Subscript):
            return self._look_up(node, inner)
        if isinstance(node, ast.Call):
            return self._call_result(node, inner)
        raise Unknown

    def _items(self, item: ast.expr, depth: int) -> list[Any]:
        if not isinstance(item, ast.Starred):
            return [self._value(item, depth)]
        spread = self._value(item.value, depth)
        if not isinstance(spread, list):
            raise Unknown
        return spread

    def _entries(self, node: ast.Dict, depth: int) -> Iterator[tuple[Any, Any]]:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                name = self._value(key, depth)
                if isinstance(name, (list, dict)):
                    raise Unknown
                yield name, self._value(value, depth)
            else:
                yield from plain.as_mapping(self._value(value, depth)).items()

    def _piece(self, part: ast.expr, depth: int) -> str:
        if not isinstance(part, ast.FormattedValue):
            return str(self._value(part, depth))
        if part.conversion != -1 or part.format_spec is not None:
            raise Unknown
        value = self._value(part.value, depth)
        if not isinstance(value, (str, int)):
            raise Unknown
        return str(value)

    def _look_up(self, node: ast.Subscript, depth: int) -> Any:
        holder, key = self._value(node.value, depth), self._value(node.slice, depth)
        if isinstance(holder, dict) and not isinstance(key, (list, dict)) and key in holder:
            return holder[key]
        if isinstance(holder, list) and isinstance(key, int) and -len(holder) <= key < len(holder):
            return holder[key]
        raise Unknown

    def _call_result(self, node: ast.Call, depth: int) -> Any:
        """The few calls whose result is plain: dict(a=1), float("inf"), " text ".strip(), dedent("…")."""
        name = dotted_name(node.func)
        if name == "dict" and len(node.args) <= 1:
            first = plain.as_mapping(self._value(node.args[0], depth)) if node.args else {}
            return {**first, **dict(self._keywords(node, depth))}
        values = [self._value(argument, depth) for argument in node.args]
        if name == "float" and len(values) == 1 and not node.keywords:
            return plain.as_decimal(values[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "strip" and not values:
            return plain.as_text(self._value(node.func.value, depth)).strip()
        if name.rpartition(".")[2] in ("dedent", "cleandoc") and len(values) == 1:
            return textwrap.dedent(plain.as_text(values[0]))
        raise Unknown

    def _keywords(self, node: ast.Call, depth: int) -> Iterator[tuple[str, Any]]:
        for keyword in node.keywords:
            value = self._value(keyword.value, depth)
            yield from [(keyword.arg, value)] if keyword.arg else plain.as_mapping(value).items()

    def arguments(self, call: ast.Call, *positional: str) -> tuple[dict[str, ast.expr], list[ast.expr]]:
        """(argument name → expression, the **spreads whose names cannot be told) of a call."""
        found = dict(zip(positional, call.args, strict=False))
        dark = list(call.args[len(positional) :])
        for keyword in call.keywords:
            if keyword.arg:
                found[keyword.arg] = keyword.value
            else:
                named, rest = self.mapping_items(keyword.value)
                found |= named
                dark += rest
        return found, dark

    def mapping_items(self, node: ast.expr, depth: int = 0) -> tuple[dict[str, ast.expr], list[ast.expr]]:
        """The same of a mapping alone: a dict, dict(a=1), or several joined."""
        node = self.resolve(node)
        found: dict[str, ast.expr] = {}
        dark: list[ast.expr] = []
        parts: list[tuple[ast.expr | str | None, ast.expr]]
        if depth > MAX_DEPTH:
            return {}, [node]
        if isinstance(node, ast.Dict):
            parts = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.Call) and dotted_name(node.func) == "dict":
            parts = [(None, argument) for argument in node.args]
            parts += [(keyword.arg, keyword.value) for keyword in node.keywords]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            parts = [(None, node.left), (None, node.right)]
        else:
            return {}, [node]
        for key, value in parts:
            name = key if isinstance(key, str) else self.value_or(key) if key is not None else None
            if key is None:
                named, rest = self.mapping_items(value, depth + 1)
                found |= named
                dark += rest
            elif isinstance(name, str):
                found[name] = value
            else:
                dark.append(value)
        return found, dark


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` of such an expression; "" before the first dot where something else stands there."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)])


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
