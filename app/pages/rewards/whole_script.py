"""A whole training script that has no reward function of its own: which ones it trains with. Pure, on syntax trees."""

import ast

from groupwise.storage.checks.known_rewards import Known, known_reward
from groupwise.storage.library.rewards import defined, strip_script
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import join_words

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
    given = [node.value for node in ast.walk(module) if isinstance(node, ast.keyword) and node.arg == "reward_funcs"]
    return any(isinstance(node, ast.Name) and node.id in names for value in given for node in ast.walk(value))


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
