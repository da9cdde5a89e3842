"""A script's own copies of TRL's and open-r1's reward factories: known again by their names, by what they are called
with, and by what they do. Then the built-in function stands for them, as it does for those that are imported."""

import ast

from groupwise.storage.checks.known_rewards import OPEN_R1, TRL, Known
from groupwise.storage.checks.script_reader.values import Function

# A word of the factory's name → the arguments that it must have, the names that must stand in what it makes, TRL's
# function and open-r1's. TRL's count tokens, open-r1's read the text.
_KINDS = {
    "cosine": ({"max_len"}, {"cos"}, TRL["get_cosine_scaled_reward"], OPEN_R1["cosine"]),
    "repetition": ({"ngram_size", "max_penalty"}, {"set"}, TRL["get_repetition_penalty_reward"],
                   OPEN_R1["repetition_penalty"]),
    "overlong": ({"max_completion_len", "soft_punish_cache"}, {"len"}, TRL["get_soft_overlong_punishment"],
                 OPEN_R1["soft_overlong_punishment"]),
}  # fmt: skip
_MAY_HAVE = {"language"}  # which open-r1's newest have, and no built-in


def copied_reward(function: Function) -> Known | None:
    """The built-in function that does what a function does which a factory of the script's own made; None where the
    factory's name, its arguments or what it made are others."""
    call = function.made_by
    if call is None:
        return None
    for word, (needed, used, by_tokens, by_text) in _KINDS.items():
        known = by_tokens if "completion_ids" in _arguments(function.node) else by_text
        given = set(call.keywords)
        fits = needed <= given <= {*known.places, *_MAY_HAVE}
        if word in call.path.lower() and fits and used <= _names(function.node):
            return known
    return None


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }
