"""A reward function that asks for a column under another name than the data has it: the same with the data's. Pure."""

import ast

from groupwise.storage.library.rewards import defined
from groupwise.storage.library.rewards.bodies import Function, arguments
from groupwise.storage.spec.python_source import is_usable_name
from groupwise.storage.spec.syntax_tree import parse_module


def can_rename(function: Function, new: str) -> bool:
    """Whether an argument can take this name: Python can say it, and the function does not use it yet."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return is_usable_name(new) and new not in names | {each.arg for each in arguments(function)}


def rename_argument(code: str, function: str, old: str, new: str) -> str:
    """The code with one argument of a function renamed, wherever the function uses it; unchanged where it cannot be."""
    try:
        found = next(each for each in defined.top_level_functions(parse_module(code)) if each.name == function)
    except (SyntaxError, ValueError, RecursionError, MemoryError, StopIteration):
        return code
    if not can_rename(found, new):
        return code
    lines = code.encode("utf-8", "surrogatepass").split(b"\n")
    for line, column in sorted(_places(found, old), reverse=True):
        end = column + len(old.encode())
        if lines[line - 1][column:end] == old.encode():
            lines[line - 1] = lines[line - 1][:column] + new.encode() + lines[line - 1][end:]
    return b"\n".join(lines).decode("utf-8", "surrogatepass")


def _places(function: Function, name: str) -> set[tuple[int, int]]:
    """(line, column in bytes) of an argument and all that reads it, but where an inner function has one of its own."""
    found, waiting = set[tuple[int, int]](), list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.arg) and node.arg == name or isinstance(node, ast.Name) and node.id == name:
            found.add((node.lineno, node.col_offset))
        own = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and any(
            each.arg == name for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        )
        waiting += [] if own else ast.iter_child_nodes(node)
    return found
