"""Whether a column of the source holds texts or lists by what a script's functions on rows do with it: len, `in` and
emptiness mean another thing for each, and a spec's conditions read every cell as text."""

import ast
from collections.abc import Collection, Iterator
from typing import Literal

from groupwise.storage.checks.script_reader.values import Function

Kind = Literal["text", "list", "no list"]  # no list: a text or a number, as what is written into a text
_OF_TEXT = {"strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "lower", "upper", "title", "capitalize",
            "casefold", "startswith", "endswith", "find", "rfind", "partition", "rpartition", "replace", "removeprefix",
            "removesuffix", "isdigit", "isnumeric", "isalpha", "encode", "zfill"}  # fmt: skip
_OF_LISTS = {"append", "extend", "insert", "pop", "sort", "reverse"}
_IN_CHATS = {"role", "content"}


def column_kind(names: Collection[str], functions: Collection[Function]) -> Kind | None:
    """What the column holds that has these names, by functions that get a row; None where none of them shows it, or
    one shows that it is text and another that it is a list."""
    shown = {kind for function in functions for kind in _shown(function, names)}
    if "list" in shown:
        return "list" if len(shown) == 1 else None
    return "text" if "text" in shown else "no list" if shown else None


def _shown(function: Function, names: Collection[str]) -> Iterator[Kind]:
    places = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    row = places[1 if function.owner is not None else 0 :][:1]
    if not row:
        return
    around = {inner: node for node in ast.walk(function.node) for inner in ast.iter_child_nodes(node)}
    for node in around:
        if isinstance(node, ast.expr) and _reads(node, row[0], names) and (kind := _kind_of_use(node, around)):
            yield kind


def _reads(node: ast.expr, row: str, names: Collection[str]) -> bool:
    """Whether an expression is row["name"] or row.get("name")."""
    if isinstance(node, ast.Subscript):
        of, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        of, key = node.func.value, node.args[0]
    else:
        return False
    return isinstance(of, ast.Name) and of.id == row and isinstance(key, ast.Constant) and key.value in names


def _kind_of_use(node: ast.expr, around: dict[ast.AST, ast.AST]) -> Kind | None:
    """What an expression is, by what stands around it."""
    use = around[node]
    if isinstance(use, ast.FormattedValue):
        return "no list"
    if isinstance(use, ast.Attribute):
        return "text" if use.attr in _OF_TEXT else "list" if use.attr in _OF_LISTS else None
    if isinstance(use, ast.BinOp) and isinstance(use.op, ast.Add):
        return _kind_of_other(use.right if use.left is node else use.left)
    if isinstance(use, ast.Compare):
        sides = [use.left, *use.comparators]
        ordered = not any(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in use.ops)
        return "text" if ordered and "text" in map(_kind_of_other, sides) else None
    if isinstance(use, ast.Dict):  # {"role": "user", "content": row["question"]}
        keys = [key.value for key, value in zip(use.keys, use.values, strict=True)
                if value is node and isinstance(key, ast.Constant)]  # fmt: skip
        return "no list" if "content" in keys else None
    if isinstance(use, (ast.For, ast.comprehension)):
        return "list" if use.iter is node else None
    if isinstance(use, ast.Subscript) and use.value is node:
        return "list" if _is_message(use, around) else None
    if isinstance(use, (ast.Call, ast.Starred)):
        return _kind_of_argument(node, use)
    return None


def _kind_of_other(node: ast.expr) -> Kind | None:
    """What a written text or list is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _kind_of_other(node.left) or _kind_of_other(node.right)
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return "text"
    return "list" if isinstance(node, (ast.List, ast.ListComp)) else None


def _is_message(node: ast.Subscript, around: dict[ast.AST, ast.AST]) -> bool:
    """Whether an item of a value is a message, whose role or content is read: row["prompt"][0]["content"]."""
    use = around.get(node)
    key = use.slice if isinstance(use, ast.Subscript) and use.value is node else None
    return isinstance(key, ast.Constant) and key.value in _IN_CHATS


def _kind_of_argument(node: ast.expr, use: ast.Call | ast.Starred) -> Kind | None:
    """What an argument is, by what it is given to: re.search(…, text), "".join(list), tokenizer.apply_chat_template."""
    if isinstance(use, ast.Starred):
        return "list"
    called = ast.unparse(use.func)
    if called.startswith("re.") or called in ("int", "float", "str"):
        return "text" if called.startswith("re.") else "no list"
    return "list" if called.rpartition(".")[2] in ("join", "apply_chat_template") and node in use.args[:1] else None
