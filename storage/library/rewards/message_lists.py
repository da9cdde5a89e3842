"""Whether a reward function takes a completion for text where it gets a list of messages. Pure."""

import ast
from collections.abc import Iterator

from groupwise.storage.spec.syntax_tree import parse_module

COMPLETIONS, CONTENT = "completions", "content"


def takes_messages_for_text(code: str) -> bool:
    """Whether the code measures or searches what it takes out of `completions` one by one, and nowhere reaches into it.
    Only what is plain to see counts: with a subscript, or the word “content”, anywhere, it does not."""
    try:
        tree = parse_module(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = {name for node in ast.walk(tree) for name in _names_of_each(node)}
    reaches = any(
        isinstance(node, ast.Subscript) or (isinstance(node, ast.Constant) and node.value == CONTENT)
        for node in ast.walk(tree)
    )
    return not reaches and any(_treats(node, names) for node in ast.walk(tree))


def _names_of_each(node: ast.AST) -> Iterator[str]:
    """What a loop or a comprehension over the completions calls each."""
    if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(node.target, ast.Name):
        return
    if isinstance(node.iter, ast.Name) and node.iter.id == COMPLETIONS:
        yield node.target.id


def _treats(node: ast.AST, names: set[str]) -> bool:
    """len(c), c.count(…), or x in c."""
    if isinstance(node, ast.Compare):
        return isinstance(node.ops[0], (ast.In, ast.NotIn)) and _is_one(node.comparators[0], names)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("count", "index") and _is_one(node.func.value, names)
    is_len = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
    return is_len and _is_one(node.args[0], names)


def _is_one(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
