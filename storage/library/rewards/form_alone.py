"""Whether a reward function is seen to look at nothing but what the model wrote: neither at the answer nor at any other
column of its rows. Read from the syntax tree, never run."""

import ast
import functools
from collections.abc import Sequence

from groupwise.storage.library.rewards import defined
from groupwise.storage.library.rewards.bodies import Function
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import join_words

# What TRL gives beside the rows. `prompts` is not among it: the answer to a sum can be told by the question.
NO_ROWS = {"completions", "completion_ids", "trainer_state", "log_extra", "log_metric"}
FRAMES = {"_getframe", "currentframe"}
INDIRECT = {"locals", "vars", "eval", "exec", *FRAMES}  # what arguments are read with that are not named


@functools.lru_cache(maxsize=64)
def looks_at_form_alone(code: str, name: str) -> bool:
    """Whether it reads no column of its rows: none among its arguments, and nothing of its **kwargs. Not where there
    is no such function in the code, or it is wrapped, and may then read whatever it likes."""
    try:
        found = next((one for one in defined.top_level_functions(parse_module(code)) if one.name == name), None)
        if found is None or found.decorator_list:
            return False
        return not _read_names(found) & (_may_be_columns(found) | INDIRECT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def say_form_alone(names: Sequence[str]) -> str:
    """What comes of it where all functions that count (`names`) look at form alone."""
    names = list(dict.fromkeys(names))  # one may be listed twice, which is said elsewhere
    several, named = len(names) > 1, join_words([f"“{name}”" for name in names])
    which = "all reward functions with a weight, look" if several else "the only reward function with a weight, looks"
    return (
        f"Rows have an answer, but {named}, {which} only at the completion. Wrong answers can score as high as "
        "correct ones, so the model is not trained to be correct. Add a reward function that checks the answer."
    )


def _may_be_columns(function: Function) -> set[str]:
    """The arguments that a column may be given as. One after a * that has a value is a parameter."""
    given = function.args
    only = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    columns = [each for each, default in only if default is None or ast.unparse(default) == "None"]
    rest = [each for each in (given.vararg, given.kwarg) if each]
    return {each.arg for each in (*given.posonlyargs, *given.args, *columns, *rest)} - NO_ROWS


def _read_names(function: Function) -> set[str]:
    """Of names whose value is used: one that is only assigned anew is not read."""
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    return names | FRAMES.intersection(node.attr for node in nodes if isinstance(node, ast.Attribute))
