"""What of a pasted training script its functions need: the rest (loading data, making a trainer) becomes comments."""

import ast

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def keep_only(code: str) -> str:
    """The code with each top-level statement that no function or class of it needs turned into a comment.

    What binds a name that is used stays, and what that needs in turn. Lines are never added or taken away, so a
    line's number means the same before and after. Text that is not Python, or defines nothing, stays as it is; so do
    statements that share a line with one that is needed.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    idle = _unneeded_statements(body)
    if not any(_has_call(statement) for statement in idle):
        return code
    kept = {line for statement in body if statement not in idle for line in _lines_of(statement)}
    out = {line for statement in idle for line in _lines_of(statement)} - kept
    return "\n".join(f"# {line}" if n in out and line else line for n, line in enumerate(code.split("\n"), 1))


def _unneeded_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that nothing defined here needs; none where nothing is defined."""
    defined = [statement for statement in body if isinstance(statement, _DEFINED)]
    if not defined:
        return []
    rest = [statement for statement in body if statement not in defined and not _must_stay(statement)]
    needed = {name for statement in defined for name in _names_used(statement)}
    while wanted := [statement for statement in rest if _names_bound(statement) & needed]:
        rest = [statement for statement in rest if statement not in wanted]
        needed |= {name for statement in wanted for name in _names_used(statement)}
    return rest


def _must_stay(statement: ast.stmt) -> bool:
    """A docstring, and what is imported from __future__, or whole: they stand where they stand for a reason."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__" or any(alias.name == "*" for alias in statement.names)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _names_used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _names_bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a meaning, or changes the meaning of: `a = …`, `a.b = …`, `import a.b`."""
    names = {alias.asname or alias.name.split(".")[0] for node in ast.walk(statement) for alias in _aliases(node)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            names |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names


def _aliases(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []


def _has_call(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _lines_of(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
