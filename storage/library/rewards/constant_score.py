"""Whether a reward function is seen to give every completion one score, as `return [0.0] * len(completions)` does. Read
from the syntax tree, never run."""

import ast
import functools
from collections.abc import Iterator

from groupwise.storage.library.rewards import defined
from groupwise.storage.library.rewards.bodies import Function
from groupwise.storage.spec.syntax_tree import parse_module

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@functools.lru_cache(maxsize=64)
def constant_score(code: str, name: str) -> float | None:
    """The score that it gives whatever the completions are; None where it is not seen to give one, or is wrapped."""
    try:
        functions = {one.name: one for one in defined.top_level_functions(parse_module(code))}
        found = functions.get(name)
        return None if found is None or found.decorator_list else _of_all_returns(found, functions)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_all_returns(function: Function, functions: dict[str, Function]) -> float | None:
    nodes = list(_own_nodes(function))
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    scores = [_score_of_list(value, nodes, functions) for value in returned]
    return _one_of(scores)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """What is in its body, but not in functions inside of it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [] if isinstance(node, _INNER) else ast.iter_child_nodes(node)


def _one_of(scores: list[float | None]) -> float | None:
    return scores[0] if scores and len(set(scores)) == 1 else None


def _score_of_list(value: ast.expr | None, nodes: list[ast.AST], functions: dict[str, Function]) -> float | None:
    """The one score of a list: [0.0] * n, [0.0 for … in …], or a name to which nothing but it is appended."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        listed = next((one for one in (value.left, value.right) if isinstance(one, ast.List)), None)
        return _one_of([_score(one, functions) for one in listed.elts]) if listed else None
    if isinstance(value, ast.ListComp):
        return None if any(one.ifs for one in value.generators) else _score(value.elt, functions)
    return _appended(value.id, nodes, functions) if isinstance(value, ast.Name) else None


def _appended(name: str, nodes: list[ast.AST], functions: dict[str, Function]) -> float | None:
    """The one score that is appended to an empty list of this name, which is used for nothing else."""
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    begun = [node for node in nodes if _begins_list(node, name)]
    added = [
        node.args[0] for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{name}.append" and len(node.args) == 1
    ]  # fmt: skip
    returned = sum(isinstance(node, ast.Return) and node.value in uses for node in nodes)
    if len(begun) != 1 or len(uses) != len(begun) + len(added) + returned:
        return None
    return _one_of([_score(one, functions) for one in added])


def _begins_list(node: ast.AST, name: str) -> bool:
    """Whether it sets the name to an empty list: scores = [], with an annotation or without."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, ast.List) or node.value.elts:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [ast.unparse(one) for one in targets] == [name]


def _score(node: ast.expr, functions: dict[str, Function]) -> float | None:
    """The number that a literal is, or that a function of the same text returns wherever it returns."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        return _returned_number(functions[node.func.id])
    try:
        number = ast.literal_eval(node)
    except ValueError:
        return None
    return float(number) if isinstance(number, (int, float)) else None


def _returned_number(function: Function) -> float | None:
    """One that does not end with a return may return None."""
    if function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
        return None
    if not isinstance(function.body[-1], ast.Return):
        return None
    nodes = list(_own_nodes(function))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
        return None
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    return _one_of([_score(value, {}) if value is not None else None for value in returned])
