"""Whether a reward function takes a completion for text where it gets a list of messages. Pure."""

import ast
import functools
from collections.abc import Iterator

from groupwise.storage.library.rewards.bodies import Function
from groupwise.storage.spec.syntax_tree import parse_module

COMPLETIONS, CONTENT = "completions", "content"
MESSAGES = 'A completion is a list of messages here: its text is completion[-1]["content"].'  # what is said of it
AS_TEXT = f"Its code treats a completion as text. {MESSAGES}"  # of a function


@functools.lru_cache(maxsize=64)
def takes_messages_for_text(code: str, name: str = "") -> bool:
    """Whether the code measures, searches or compares what it takes out of `completions` one by one, and nowhere
    reaches into it. Only what is plain to see counts: with a subscript, but of a type or of another argument, or the
    word “content”, anywhere, it does not. `name`: the function that is meant, where a file has others, too."""
    try:
        tree = parse_module(code)
        nodes = [node for part in _parts_of(tree, name) for node in ast.walk(part)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    anew = {name for node in nodes for name in _assigned(node)}  # its text, perhaps
    names = {name for node in nodes for name in _names_of_each(node)} - anew
    harmless = {inner for node in nodes for inner in _reach_elsewhere(node)}
    reaches = any(
        isinstance(node, ast.Subscript)
        and node not in harmless
        or (isinstance(node, ast.Constant) and node.value == CONTENT)
        for node in nodes
    )
    return not reaches and any(_treats(node, names) for node in nodes)


def _parts_of(tree: ast.Module, name: str) -> list[ast.AST]:
    """The functions of a file that one of them calls, with itself, and all that is none; the whole file where there is
    no such function."""
    functions = {node.name: node for node in tree.body if isinstance(node, Function)}
    if name not in functions:
        return [tree]
    wanted, reached = [name], set[str]()
    while wanted:
        one = wanted.pop()
        reached.add(one)
        called = {node.id for node in ast.walk(functions[one]) if isinstance(node, ast.Name)}
        wanted += called & functions.keys() - reached
    body = [node for node in tree.body if not isinstance(node, Function) or node.name in reached]
    return [ast.Module(body, [])]


def _names_of_each(node: ast.AST) -> Iterator[str]:
    """What a loop or a comprehension over the completions calls each."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield from _names_in(node.target, node.iter)


def _names_in(target: ast.expr, over: ast.expr) -> Iterator[str]:
    """The same of what is gone over by itself, numbered (enumerate), or beside others (zip)."""
    if _is_name(over, COMPLETIONS):
        if isinstance(target, ast.Name):
            yield target.id
        return
    if not isinstance(over, ast.Call) or not isinstance(target, (ast.Tuple, ast.List)):
        return
    if _is_name(over.func, "enumerate") and len(target.elts) == 2 and over.args:
        yield from _names_in(target.elts[1], over.args[0])
    elif _is_name(over.func, "zip") and len(target.elts) == len(over.args):
        for inner, each in zip(target.elts, over.args, strict=True):
            yield from _names_in(inner, each)


def _assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        yield from (each.id for each in node.targets if isinstance(each, ast.Name))
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
        yield node.target.id


def _reach_elsewhere(node: ast.AST) -> Iterator[ast.AST]:
    """Subscripts that reach into no completion: those of types, of what the module keeps outside its functions, and in
    a reward function of its other arguments."""
    if isinstance(node, ast.Module):
        kept = {name for each in node.body for name in _assigned(each)}
        yield from (one for one in ast.walk(node) if isinstance(one, ast.Subscript) and _is_one(one.value, kept))
    elif isinstance(node, Function):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *(one for one in (given.kwarg,) if one)]
        names = {each.arg for each in every}
        if COMPLETIONS in names:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Subscript) and _is_one(inner.value, names - {COMPLETIONS}):
                    yield inner
        yield from ast.walk(node.returns) if node.returns else ()
    elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
        yield from ast.walk(node.annotation)


def _treats(node: ast.AST, names: set[str]) -> bool:
    """len(c), c.count(…), x in c, or c == x."""
    if isinstance(node, ast.Compare):
        return any(
            _compares(left, operator, right, names)
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        )
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("count", "index") and _is_one(node.func.value, names)
    return _is_name(node.func, "len") and len(node.args) == 1 and _is_one(node.args[0], names)


def _compares(left: ast.expr, operator: ast.cmpop, right: ast.expr, names: set[str]) -> bool:
    """Whether something is looked for in one of them, or one is compared with what is none, and no list either."""
    if isinstance(operator, (ast.In, ast.NotIn)):
        return _is_one(right, names)
    if not isinstance(operator, (ast.Eq, ast.NotEq)) or _is_one(left, names) == _is_one(right, names):
        return False
    other = right if _is_one(left, names) else left
    return not isinstance(other, (ast.List, ast.ListComp)) and not (
        isinstance(other, ast.Constant) and other.value is None
    )


def _is_one(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
