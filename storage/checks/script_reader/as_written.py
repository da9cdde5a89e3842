"""Values that a script computes from its own constants, such as re.compile(PATTERN + END): written as they stand there,
where that means the same beside those constants and reads nothing else."""

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator

from groupwise.storage.checks.script_reader.values import Item, Items, Made, Text, Value

# What computes the same wherever it runs, and does nothing else.
_PURE_MODULES = {
    "collections", "decimal", "fractions", "functools", "itertools", "json", "math", "operator", "re", "regex",
    "string", "textwrap",
}  # fmt: skip
_PURE_CALLS = {
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "map", "max", "min",
    "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_UNLIKE = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)


def written_anew(value: Value, tree: ast.Module) -> tuple[str, set[str]] | None:
    """The expression that a value is, and the names of the script's top level that it reads; None where it may mean
    something else there, or anything but plain computing is in it."""
    node = value.node
    if not isinstance(node, ast.expr) or isinstance(node, ast.FormattedValue) or not _is_as_said(value, node):
        return None
    used, around = _names_read(node), _names_around(node, tree)
    if used is None or around is None or used & around:
        return None
    return ast.unparse(node), used - _PURE_CALLS


def only_constants(statements: Iterable[ast.stmt], binds: Callable[[ast.stmt], set[str]], tree: ast.Module) -> bool:
    """Whether statements of a script give nothing but constants and what is computed from them, each name once, and
    nothing else changes them."""
    seen, changed = set[str](), set(_changed_names(tree))
    for each in statements:
        bound = binds(each)
        if bound & (seen | changed) or not _is_constant(each):
            return False
        seen |= bound
    return True


def _changed_names(tree: ast.Module) -> Iterator[str]:
    """The names that a function sets at the top level, and those whose methods are called for what they do."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Global):
            yield from each.names
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            called = each.value.func
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                yield called.value.id


def _is_constant(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in _PURE_MODULES for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").partition(".")[0] in {*_PURE_MODULES, "__future__"} and not statement.level
    plain = isinstance(statement, ast.AnnAssign) or (
        isinstance(statement, ast.Assign) and all(isinstance(each, ast.Name) for each in statement.targets)
    )
    return plain and statement.value is not None and _names_read(statement.value) is not None  # type: ignore[attr-defined]


def _is_as_said(value: Value, node: ast.expr) -> bool:
    """Whether nothing was done to a value since it was made."""
    if isinstance(value, Made):
        return not value.later
    if isinstance(value, Items):
        whole = isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(node.elts) == len(value.items)
        return whole and not value.open
    return type(value) in (Value, Text, Item)


def _names_read(node: ast.expr) -> set[str] | None:
    """The names that an expression reads from around it; None where something in it is no plain computing."""
    own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, _UNLIKE) or (isinstance(each, ast.Call) and not _is_pure(each.func)):
            return None
    impure = (read - own) & set(dir(builtins)) - _PURE_CALLS
    return None if impure or _read_outside(node, own) else read - own


def _read_outside(node: ast.expr, own: set[str]) -> set[str]:
    """Of the names that comprehensions in an expression bind those that are read outside of them, too."""
    inside = {
        id(name) for each in ast.walk(node)
        if isinstance(each, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        for name in ast.walk(each)
    }  # fmt: skip
    outside = (each for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in inside)
    return {each.id for each in outside} & own


def _is_pure(called: ast.expr) -> bool:
    """Whether what is called is a method of a plain value, of a module that only computes, or Python's own."""
    if isinstance(called, ast.Name):
        return called.id in _PURE_CALLS
    return isinstance(called, ast.Attribute) and not called.attr.startswith("_")


def _names_around(node: ast.expr, tree: ast.Module) -> set[str] | None:
    """The names that the functions and classes bind in which an expression stands; empty at the top level, None where
    it is none of the script's."""
    if not any(each is node for each in ast.walk(tree)):
        return None
    found: set[str] = set()
    for outer in ast.walk(tree):
        if isinstance(outer, _INNER) and any(each is node for each in ast.walk(outer)):
            found |= {each.arg for each in ast.walk(outer) if isinstance(each, ast.arg)}
            names = (each for each in ast.walk(outer) if isinstance(each, ast.Name))
            found |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
            found |= {
                alias.asname or alias.name.partition(".")[0] for each in ast.walk(outer)
                if isinstance(each, (ast.Import, ast.ImportFrom)) for alias in each.names
            }  # fmt: skip
            found |= {each.name for each in ast.walk(outer) if isinstance(each, _INNER[:2]) and each is not outer}
    return found
