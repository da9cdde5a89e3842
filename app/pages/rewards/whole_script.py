"""A whole training script: which reward functions it trains with that cannot be listed as functions of the text, be
they imported or made by a call. Pure, on syntax trees."""

import ast
from collections.abc import Iterator

from groupwise.storage.checks.known_rewards import Known, known_reward
from groupwise.storage.library.rewards import defined, signature, strip_script
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import ADVICE

MADE = "Import the script under New run, which takes what it makes, with the values of the call."
UNCALLED = (
    "Write a function that returns what NAME(…)(completions, **kwargs) gives, or import the script under New run."
)
IMPORT = "To take over the whole script, import it under New run."


def say_script_alone(code: str) -> str:
    """What is said of a text that trains, or loads what is needed for it, and defines nothing that may be meant as a
    reward function: which functions of TRL's or open-r1's it uses, and what to do with it; "" of any other text."""
    try:
        module = parse_module(code)
        if not any(map(strip_script.is_heavy, module.body)) or _has_own(module):
            return ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    known = _known(module)
    names = [name for name, _ in known]
    uses = f"; it uses {join_words(names)}{_built_in_words([one.name for _, one in known])}" if known else ""
    return f"This script has no reward function of its own{uses}. {IMPORT}"


def _built_in_words(names: list[str]) -> str:
    different = list(dict.fromkeys(names))
    return f", built in here as {join_words([f'“{name}”' for name in different])}"


def _has_own(module: ast.Module) -> bool:
    """Whether a function here is a reward function, or may be meant as one: what a trainer is given, or nearly one."""
    if defined.reward_functions(module) or any(map(defined.holds_reward_function, module.body)):
        return True
    if defined.nearly(module):
        return True
    names = {function.name for function in defined.top_level_functions(module)}
    return any(
        isinstance(node, ast.Name) and node.id in names for value in _reward_funcs(module) for node in ast.walk(value)
    )


def say_makers(code: str) -> list[signature.CodeProblem]:
    """What is said of each function (a factory) or class of a text which makes a reward function that its trainer is
    given: it is none itself, so that it is not listed, and New run's import takes what it makes."""
    return [_problem(node, MADE) for node, is_called in _makers(code) if is_called]


def say_uncalled_makers(code: str) -> list[signature.CodeProblem]:
    """The same of those that nothing in the text calls, as where its script was commented out: what they make would be
    missed by whoever saves the other functions."""
    return [_problem(node, UNCALLED.replace("NAME", node.name)) for node, is_called in _makers(code) if not is_called]


def _makers(code: str) -> list[tuple[ast.FunctionDef | ast.ClassDef, bool]]:
    """What makes a reward function, being none itself, and whether a trainer is given what it makes; without those that
    serve other code of the text."""
    try:
        module = parse_module(code)
        known = {function.name for function in defined.reward_functions(module)}
        called = set(_names_called_for_rewards(module))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    read = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return [
        (node, node.name in called)
        for node in module.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and node.name not in known
        and (node.name in called or (node.name not in read and _is_maker(node)))
        and defined.holds_reward_function(node)
    ]


def _is_maker(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether it is one by its own code: a class with __call__, which a trainer's class has not, or any function."""
    return isinstance(node, ast.FunctionDef) or any(getattr(one, "name", "") == "__call__" for one in node.body)


def _problem(node: ast.FunctionDef | ast.ClassDef, what_to_do: str) -> signature.CodeProblem:
    makes = "an object that scores" if isinstance(node, ast.ClassDef) else "a reward function when it is called"
    said = f"{node.name}(…) makes {makes}, and is no reward function itself: it is not listed here. {what_to_do}"
    return signature.CodeProblem(node.lineno, 1, said, ADVICE)


def _reward_funcs(module: ast.Module) -> list[ast.expr]:
    """What the trainers of a script are given as reward_funcs."""
    return [node.value for node in ast.walk(module) if isinstance(node, ast.keyword) and node.arg == "reward_funcs"]


def _names_called_for_rewards(module: ast.Module) -> Iterator[str]:
    """The names that are called in reward_funcs, and in what is bound or appended to a name that stands there."""
    bound, waiting, seen = _values_by_name(module), _reward_funcs(module), set[str]()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += bound.get(node.id, [])


def _values_by_name(module: ast.Module) -> dict[str, list[ast.expr]]:
    """What a script binds to each name, or adds to it: `name = …`, `name += …`, `name.append(…)`."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, []).extend([node.value] if node.value else [])
        elif isinstance(node, ast.Call) and (name := _list_added_to(node)):
            found.setdefault(name, []).extend(node.args)
    return found


def _list_added_to(call: ast.Call) -> str:
    """The name of the list to which a call adds; “” of any other call."""
    at = call.func
    adds = isinstance(at, ast.Attribute) and at.attr in ("append", "extend", "insert")
    return at.value.id if isinstance(at, ast.Attribute) and adds and isinstance(at.value, ast.Name) else ""


def _known(module: ast.Module) -> list[tuple[str, Known]]:
    """The reward functions of TRL's and open-r1's that a script imports and for which there is a built-in one."""
    found: dict[str, Known] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known = known_reward(f"{node.module}.{alias.name}")
                if known and known.name:
                    found.setdefault(alias.name, known)
    return list(found.items())
