"""Which function the tests are about, where it has a name of Python's own: read from their syntax."""

import ast
import builtins
import importlib.util
import sys

HELPERS = {  # Python's own that tests use on what others give
    "list", "tuple", "set", "frozenset", "dict", "str", "int", "float", "bool", "bytes", "complex", "range", "len",
    "isinstance", "issubclass", "type", "repr", "hasattr", "getattr", "callable", "print", "iter", "next",
}  # fmt: skip


def subject(tests: list[str] | str, entry_point: str | None) -> str | None:
    """The name among Python's own that the tests mean as the code's. Only the row says which, never the code: else it
    could give the tests a function of its own to compare with."""
    try:
        trees = [ast.parse(test) for test in tests] if isinstance(tests, list) else [ast.parse(tests)]
    except SyntaxError:
        return None
    nodes = [node for tree in trees for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if "candidate" in used:
        return None
    if entry_point:
        return entry_point if hasattr(builtins, entry_point) else None
    if used - bound_in(nodes) - {*dir(builtins), *sys.stdlib_module_names}:
        return None  # the tests use other names of the code's: those are meant
    tops = [statement for tree in trees for statement in tree.body]
    statements = [each for each in tops if any(isinstance(node, ast.Assert) for node in ast.walk(each))]
    called = [innermost(each) for each in statements]
    common = set.intersection(*called) if called else set()
    found = common - HELPERS or common
    return found.pop() if len(found) == 1 else None


def bound_in(nodes: list[ast.AST]) -> set[str]:
    """The names that the tests define themselves; what they import from a module that is not there is the code's."""
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            bound.add(node.name or "")
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            source = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            if source and importlib.util.find_spec(source.split(".")[0]):
                bound |= {(each.asname or each.name).split(".")[0] for each in node.names}
    return bound


def innermost(statement: ast.AST) -> set[str]:
    """The functions of Python's own that a statement calls with nothing that another of them gives, helpers aside."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    named = {id(node): node.func.id for node in calls if isinstance(node.func, ast.Name)}
    inner = {
        named[id(node)]
        for node in calls
        if not any(id(each) in named and named[id(each)] not in HELPERS for each in ast.walk(node) if each is not node)
    }
    return {name for name in inner if hasattr(builtins, name)}
