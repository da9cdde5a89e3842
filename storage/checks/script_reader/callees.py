"""What is known of what a script calls, by which it is followed or kept as it is said."""

import ast
import functools

from groupwise.storage.checks.script_reader.members import Arguments
from groupwise.storage.checks.script_reader.places import is_config
from groupwise.storage.checks.script_reader.values import (
    Class,
    Either,
    Function,
    Item,
    Made,
    Mapping,
    Outer,
    Part,
    Value,
)


def copies_config(path: str, call: Arguments) -> bool:
    """Whether a call makes another object like the one that it is given: replace(args, beta=0), deepcopy(args)."""
    if len(call.given) != 1 or not isinstance(call.given[0], Made):
        return False
    copied = path in ("copy.deepcopy", "copy.copy", "copy.replace") and is_config(call.given[0])
    return copied or (path in ("dataclasses.replace", "replace") and call.given[0].receiver is None)


def functions_of(callee: Value) -> list[Value]:
    """The functions of which one is called, by a condition or by a key that nobody knows; none where it may be another
    thing."""
    options: list[Value] = callee.options if isinstance(callee, Either) else []
    if isinstance(callee, Item) and isinstance(callee.of, Mapping) and not callee.of.dark:
        options = list(callee.of.entries.values())
    return options if all(isinstance(one, Function) for one in options) else []


def outer_base(cls: Class) -> str:
    """The path of what a class derives from that the script does not define itself; "" for none, and for plain ones."""
    for base in cls.bases:
        if isinstance(base, Outer) and base.path.rpartition(".")[2] not in ("object", "ABC", "Protocol", "Generic"):
            return base.path
        if isinstance(base, Class) and (found := outer_base(base)):
            return found
        if isinstance(base, (Part, Made, Either)):
            return getattr(base, "path", None) or cls.name
    return ""


@functools.cache
def generates(node: ast.AST) -> bool:
    """Whether a function yields, so that a call of it does nothing yet."""
    inner: list[ast.AST] = [node] if isinstance(node, ast.Lambda) else list(ast.iter_child_nodes(node))
    while inner:
        now = inner.pop()
        if isinstance(now, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(now, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner += ast.iter_child_nodes(now)
    return False
