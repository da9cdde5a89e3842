"""Which names statements use of the module they stand in, and which they give it, by Python's own scopes. Pure.

A function's arguments and locals are its own: a local `text` has nothing to do with a `text` of the module.
"""

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

_SCOPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Names:
    """Names of the module. `used`: that a statement reads, also later, from inside of functions; `bound`: that it gives
    a meaning or changes, as in `a = …`, `a.b = …`, `a[0] = …`, `import a.b`; `at_once`: of those used, the ones that
    are read when the statement runs, not first when a function of it is called."""

    used: frozenset[str]
    bound: frozenset[str]
    at_once: frozenset[str]


def names_of_statement(statement: ast.stmt, lines: list[bytes]) -> Names:
    """The names of one statement; `lines`: those of its module, in UTF-8 as a syntax tree counts. Of what Python cannot
    read alone (a `return` outside of a function) all names are taken for the module's."""
    try:
        return _names(symtable.symtable(_source_of(statement, lines), "statement", "exec"), statement)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        used = frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        return Names(used, used, used)


def names_of_expressions(*expressions: ast.expr | None) -> frozenset[str]:
    """The names that these read, as the test of an `if` does."""
    nodes = [node for each in expressions if each is not None for node in ast.walk(each)]
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def first_line(statement: ast.stmt) -> int:
    """The line that a statement begins in, with its decorators."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])


def _source_of(statement: ast.stmt, lines: list[bytes]) -> str:
    """The text of a statement alone, under an `if` where it stands further in."""
    first, last = first_line(statement) - 1, statement.end_lineno or statement.lineno
    text = lines[first:last]
    text[-1] = text[-1][: statement.end_col_offset] if last > first else text[-1]
    if not getattr(statement, "decorator_list", []):
        before = text[0][: statement.col_offset]
        text[0] = (b" " * len(before) if before.strip() else before) + text[0][statement.col_offset :]
    head = b"if 1:\n" if statement.col_offset else b""
    return (head + b"\n".join(text)).decode("utf-8")


def _names(table: symtable.SymbolTable, statement: ast.stmt) -> Names:
    top = table.get_symbols()
    at_once = {one.get_name() for one in top if one.is_referenced()}
    bound = {one.get_name() for one in top if one.is_assigned() or one.is_imported() or one.is_namespace()}
    inner = [one for child in _tables_below(table) for one in child.get_symbols() if one.is_global()]
    # What runs at once although it stands in a scope of its own: the body of a class, and of a comprehension.
    for child in table.get_children():
        if child.get_type() == "class" or child.get_name() in ("listcomp", "setcomp", "dictcomp", "genexpr"):
            at_once |= {one.get_name() for one in child.get_symbols() if one.is_global() and one.is_referenced()}
    used = at_once | {one.get_name() for one in inner if one.is_referenced() or one.is_assigned()}
    return Names(frozenset(used), frozenset(bound | _changed(statement)), frozenset(at_once))


def _tables_below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = list(table.get_children())
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.get_children()


# What changes a list, a dict or a set, called on it.
_CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "remove", "discard", "pop", "sort", "reverse"}


def _changed(statement: ast.stmt) -> set[str]:
    """The names whose object a statement changes where it stands: `a.b = …`, `a["b"] = …`, `a.append(…)`."""
    if isinstance(statement, (*_SCOPED, ast.ClassDef)):
        return set()
    found = {_base(node) for node in ast.walk(statement) if _is_change(node)}
    return found - {""}


def _is_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del))


def _base(node: ast.AST) -> str:
    """The name that a chain of attributes and items begins with: `a` of `a.b[0].c()`; empty where it is none."""
    node = node.func if isinstance(node, ast.Call) else node
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
