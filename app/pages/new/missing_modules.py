"""Of a script's reward functions what they import that is not installed here: they could not be loaded."""

import ast
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder

from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import join_words


def missing_notes(functions: Iterable[ScriptFunction]) -> list[str]:
    """A sentence for each function that imports what is not here, also where it does that only when it is called."""
    found = []
    for one in functions:
        missing = sorted({name for name in _modules_of(one.code) if not _is_here(name)})
        if missing:
            which, them = ("which is", "it") if len(missing) == 1 else ("which are", "them")
            after = f"install {them}, or put what it needs into its code under Rewards"
            found.append(f"“{one.name}” imports {join_words(missing)}, {which} not installed here: {after}.")
    return found


def _modules_of(code: str) -> list[str]:
    """The modules that a function's code imports, as it writes them."""
    nodes = list(ast.walk(parse_module(code)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [
        *plain,
        *(node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level and node.module),
    ]


def _is_here(module: str) -> bool:
    """Whether the package of a module is there. Nothing is imported for it: what stands in this folder is none."""
    first = module.partition(".")[0]
    if first in sys.stdlib_module_names or first == __name__.partition(".")[0]:
        return True
    installed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return PathFinder.find_spec(first, installed) is not None
