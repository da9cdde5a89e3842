"""A reward function that stands inside another one, is a lambda, or a method of an object of the script: as code that
stands alone, with the values that it was made with."""

import ast
import contextlib
import re
import symtable
import textwrap
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.checks.script_reader.as_written import written_anew
from groupwise.storage.checks.script_reader.members import class_member
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.scopes import Scope
from groupwise.storage.checks.script_reader.values import (
    LAMBDA,
    Class,
    Function,
    Made,
    Outer,
    Value,
    to_plain,
)
from groupwise.storage.library.rewards import names
from groupwise.storage.spec.python_source import literal, pattern_literal
from groupwise.storage.spec.syntax_tree import parse_module

MOST_CLOSED = 200  # names that are looked up, for functions inside functions inside functions


class Unclosed(Exception):
    """What a function uses that only running the script would tell; its words name it."""


@dataclass
class Closed:
    """A function as statements of a module. `before`: those that it needs, in their order; `code`: the function itself;
    `needed`: the names of the script's own top level that it uses."""

    code: str
    before: list[str] = field(default_factory=list)
    needed: set[str] = field(default_factory=set)
    computed: dict[str, set[str]] = field(default_factory=dict)  # name → the names that its value is computed from


def close_function(function: Function, name: str, lines: list[str], tree: ast.Module) -> Closed:
    """A function of the script, whose `lines` and `tree` these are, under a name. Raises Unclosed."""
    if function.within is not None or function.owner is not None:
        return _wrapped(function, name)
    closer = _Closer(lines, tree)
    closer.close(function, name)
    return Closed(closer.last, closer.before, closer.needed, closer.computed)


class _Closer:
    """Writes out a function, and before it what it uses of the functions that it stands in."""

    def __init__(self, lines: list[str], tree: ast.Module) -> None:
        self.lines = lines
        self.tree = tree
        self.computed: dict[str, set[str]] = {}
        self.before: list[str] = []
        self.needed: set[str] = set()
        self.last = ""
        self._done: dict[str, Value] = {}

    def close(self, function: Function, name: str) -> None:
        code = _standing_alone(function, name, self.lines)
        for used in sorted(_globals_of(code)):
            if used not in (name, function.name):
                self._use(used, function.scope)
        if self.last:
            self.before.append(self.last)
        self.last = code

    def _use(self, name: str, scope: Scope) -> None:
        """Write out what a name stands for, if it is none of the script's top level."""
        found = _inner_value(name, scope)
        if found is None:
            self.needed.add(name)
            return
        if self._done.setdefault(name, found) is not found or len(self._done) > MOST_CLOSED:
            raise Unclosed(f"“{name}”, which means two things")
        if isinstance(found, Function) and not found.top and found.owner is None:
            inner = _Closer(self.lines, self.tree)
            inner._done, inner.computed = self._done, self.computed
            inner.close(found, name)
            self.before += [one for one in (*inner.before, inner.last) if one not in self.before]
            self.needed |= inner.needed
            return
        self._add(self._line(name, found))

    def _add(self, line: str) -> None:
        if line and line not in self.before:
            self.before.append(line)

    def _line(self, name: str, value: Value) -> str:
        if isinstance(value, (Function, Class)):
            self.needed.add(value.name)
            return f"{name} = {value.name}" if name != value.name else ""
        if isinstance(value, Outer) and isinstance(value.node, (ast.Import, ast.ImportFrom)):
            return ast.unparse(value.node)
        if isinstance(value, Made) and value.path in ("re.compile", "regex.compile") and len(value.arguments) == 1:
            with contextlib.suppress(Unclosed):
                line = f"{name} = {value.path}({pattern_literal(_plain(name, value.arguments[0]))})"
                self._add(f"import {value.path.partition('.')[0]}")
                return line
        try:
            return f"{name} = {literal(_plain(name, value))}"
        except Unclosed:
            return self._computed_line(name, value)

    def _computed_line(self, name: str, value: Value) -> str:
        """A value as the script computes it from its own constants."""
        found = written_anew(value, self.tree)
        if found is None:
            raise Unclosed(f"“{name}”")
        code, self.computed[name] = found
        self.needed |= self.computed[name]
        return f"{name} = {code}"


def _plain(name: str, value: Value) -> Any:
    try:
        return to_plain(value)
    except Unknown as error:
        raise Unclosed(f"“{name}”") from error


def _inner_value(name: str, scope: Scope | None) -> Value | None:
    """What a name stands for in the functions around; None where it is one of the module's, or of nobody's."""
    while scope is not None and scope.parent is not None:
        if name in scope.names:
            return scope.names[name]
        scope = scope.parent
    return None


def _standing_alone(function: Function, name: str, lines: list[str]) -> str:
    """The function's own text at the left edge, as it is written if that means the same there."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return f"def {name}({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}\n"
    if any(isinstance(inner, ast.Nonlocal) for inner in ast.walk(node)):
        raise Unclosed("names that it shares with the function around it (nonlocal)")
    code = at_left_edge(node, lines) + "\n"
    return re.sub(rf"^((?:async )?def ){re.escape(node.name)}\b", rf"\g<1>{name}", code, count=1, flags=re.MULTILINE)


def at_left_edge(node: ast.stmt, lines: list[str]) -> str:
    """A statement as it is written, without the spaces before it; anew where a text inside would lose some, too."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    written = "\n".join(line.rstrip() for line in lines[first - 1 : node.end_lineno])
    if not node.col_offset:
        return written
    written = textwrap.dedent(written)
    try:
        same = ast.dump(parse_module(written).body[0]) == ast.dump(node)
    except (SyntaxError, ValueError, IndexError):
        same = False
    return written if same else ast.unparse(node)


def _globals_of(code: str) -> set[str]:
    """The names that a function, as a module, uses and does not bind."""
    try:
        waiting = [symtable.symtable(code, "train.py", "exec")]
    except (SyntaxError, RecursionError, ValueError) as error:
        raise Unclosed("what cannot be read apart from the script") from error
    found: set[str] = set()
    while waiting:
        table = waiting.pop()
        outermost = table.get_type() == "module"
        found |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or (outermost and not symbol.is_assigned()))
        }
        waiting += table.get_children()
    return found


# ---- methods, and objects that can be called ----
def _wrapped(function: Function, name: str) -> Closed:
    """A function that calls a method of a class, or of an object that is made as the script makes it."""
    owner, node = function.owner, function.node
    assert not isinstance(node, ast.Lambda)
    cls = owner.cls if isinstance(owner, Made) else function.within
    if cls is None or cls.node.col_offset:
        raise Unclosed("a class inside a function")
    if isinstance(owner, Made):
        arguments, called = _skip_self(node.args), f"_{name}" if node.name == "__call__" else f"_{name}.{node.name}"
        before = [f"_{name} = {_made_as_written(owner, cls)}\n"]
    elif _is_static(node):
        arguments, called, before = node.args, f"{cls.name}.{node.name}", []
    else:
        raise Unclosed(f"an object of {cls.name}, which it is a method of")
    passed = [f"{each.arg}={each.arg}" for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    passed += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    start, wait = ("async def", "await ") if isinstance(node, ast.AsyncFunctionDef) else ("def", "")
    words = ast.get_docstring(node, clean=True)
    doc = f'    """{_one_line(words)}"""\n' if words else ""
    code = f"{start} {name}({ast.unparse(arguments)}):\n{doc}    return {wait}{called}({', '.join(passed)})\n"
    return Closed(code, before, {cls.name})


def _one_line(words: str) -> str:
    """The first line of a docstring, as it can stand in one."""
    return words.splitlines()[0].replace("\\", " ").replace('"', "'")


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each) == "staticmethod" for each in node.decorator_list)


def _skip_self(given: ast.arguments) -> ast.arguments:
    copied = ast.arguments(**{name: getattr(given, name) for name in given._fields})
    copied.posonlyargs, copied.args = given.posonlyargs[1:], given.args[0 if given.posonlyargs else 1 :]
    return copied


def _made_as_written(owner: Made, cls: Class) -> str:
    given = [literal(_plain(f"{cls.name}({number})", value)) for number, value in enumerate(owner.arguments, 1)]
    given += [f"{name}={literal(_plain(name, value))}" for name, value in owner.keywords.items()]
    if owner.dark:
        raise Unclosed(f"what {cls.name} is made with")
    return f"{cls.name}({', '.join(given)})"


def callable_method(value: Value) -> Function | None:
    """The method that is called where an object of the script's own is; None for what is no such object."""
    method = class_member(value.cls, "__call__") if isinstance(value, Made) and value.cls is not None else None
    if not isinstance(method, Function):
        return None
    return Function(method.node, method.scope, method.name, value, within=method.within)


def usual_name(function: Function) -> str:
    """A name for a function in a library: its own, an object's class, or “reward” for a lambda without a name that can
    be kept."""
    if isinstance(function.node, ast.Lambda) and (function.name == LAMBDA or names.problem_with(function.name, ())):
        return "reward"
    if function.name == "__call__" and isinstance(function.owner, Made) and function.owner.cls is not None:
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function.owner.cls.name).lower()
    return function.name
