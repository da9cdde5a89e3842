"""How often a script trains: a run does it once, so what the script does several times is said."""

import ast

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import Made

_ONCE = "a run trains once. Raise training.max_steps or num_train_epochs, use Resume on the run's page, or add stages."
_ENDS = (ast.Return, ast.Raise)


def note_rounds(reading: Reading, trained: list[Made]) -> None:
    """Say that the trainer is trained several times. `trained`: the calls that do so, as the script was followed."""
    if reading.own or not trained or id(reading.made_trainer) in reading.script.repeated:  # of which is said that
        return
    looped = [call for call in trained if id(call) in reading.script.repeated]
    rounds = _most_rounds(reading.script.tree, trained)
    if looped:
        reading.note("trainer.train(…)", looped[0], f"is called in a loop, and {_ONCE}")
    elif rounds > 1:
        reading.note("trainer.train(…)", trained[0], f"is called {rounds} times, and {_ONCE}")


def _most_rounds(tree: ast.Module, trained: list[Made]) -> int:
    """How many of the calls can happen in one go: of two branches only those of one."""
    kept: list[Made] = []
    for call in trained:
        if not any(_excludes(tree, before.node, call.node) for before in kept):
            kept.append(call)
    return len(kept)


def _excludes(tree: ast.Module, first: ast.AST, second: ast.AST) -> bool:
    """Whether only one of two calls happens, by a condition around either."""
    for node in ast.walk(tree):
        arms = _arms(node)
        one, other = _arm_of(arms, first), _arm_of(arms, second)
        apart = one is not None and other is not None and one != other
        if apart or (one is not None and other is None and isinstance(arms[one][-1], _ENDS)):
            return True
    return False


def _arms(node: ast.AST) -> list[list[ast.AST]]:
    """The branches of which only one is taken."""
    if isinstance(node, ast.If):
        return [list(node.body), list(node.orelse)]
    if isinstance(node, ast.IfExp):
        return [[node.body], [node.orelse]]
    return [list(case.body) for case in node.cases] if isinstance(node, ast.Match) else []


def _arm_of(arms: list[list[ast.AST]], call: ast.AST) -> int | None:
    """Which of the branches a call stands in."""
    for number, arm in enumerate(arms):
        if any(inner is call for part in arm for inner in ast.walk(part)):
            return number
    return None
