"""Reward functions that ask for the answer by the script's name of its column: here they get it as “answer”."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.checks.script_reader.values import Column, Value
from groupwise.storage.library.rewards import signature
from groupwise.storage.spec.syntax_tree import parse_module

ANSWER = "answer"
_Defined = ast.FunctionDef | ast.AsyncFunctionDef
_TAKES = ("get", "pop")


def ask_for_answer(
    reading: Reading, functions: list[ScriptFunction], given: tuple[str, Value, str | None], set_here: Collection[str]
) -> list[ScriptFunction]:
    """The functions, with their parameter for the answer called as it is given here; the note says so, and which of
    them could not be changed. `given`: the script's name of the answer's column, its value, and the column that it is
    taken from; `set_here`: the functions of which the script sets that parameter, which stay as they are."""
    column, value, source = given
    said = f"is the answer, which rewards here are given as “{ANSWER}”"
    if isinstance(value, Column) and value.name == column:  # which the run gives as well
        reading.note(f"The column “{column}”", value, f"{said}.")
        return functions
    changed, renamed, left = [], [], []
    for one in functions:
        node = None if one.name in set_here else _function(one)
        # **kwargs has the column as well then: twice where it is passed on beside the parameter
        twice = node is not None and source == column and _rest(node) in _names(node.body)
        code = _with_parameter_renamed(one.code, node, column) if node is not None and not twice else None
        renamed += [one.name] if code is not None else []
        left += [one.name] if node is not None and code is None and _asks_for(node, column) else []
        changed.append(one if code is None else _with_code(one, code))
    parts = [f"{name}'s parameter {column} is called {ANSWER} now" for name in renamed]
    reading.note(f"The column “{column}”", value, f"{said}: {', '.join(parts)}." if parts else f"{said}.")
    why = "which the run gives as the data has it" if source == column else "which the run does not give"
    for name in left:
        reading.note(f"The reward “{name}”", value, f"asks for the column “{column}”, {why}: once it is saved, change "
                     f"it under Rewards to take “{ANSWER}” in its place.")  # fmt: skip
    return changed


def _function(one: ScriptFunction) -> _Defined | None:
    """The function itself in its code."""
    found = [each for each in parse_module(one.code).body if isinstance(each, _Defined) and each.name == one.name]
    return found[-1] if found else None


def _with_code(one: ScriptFunction, code: str) -> ScriptFunction:
    """The function with other code of the same lines, and what is wrong with that."""
    places = {problem.line: where for problem, where in zip(one.problems, one.where, strict=True)}
    problems = [each for each in signature.analyse(code, one.name).problems if each.line in places]
    return replace(one, code=code, problems=problems, where=[places[each.line] for each in problems])


def _parameters(node: _Defined) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _asks_for(node: _Defined, column: str) -> bool:
    """Whether a function gets a column, by a parameter or out of its **kwargs."""
    if any(each.arg == column for each in _parameters(node)):
        return True
    return column in _taken_of_rest(node)


def _rest(node: _Defined) -> str | None:
    return node.args.kwarg.arg if node.args.kwarg else None


def _names(body: list[ast.stmt]) -> set[str]:
    return {inner.id for each in body for inner in ast.walk(each) if isinstance(inner, ast.Name)}


def _taken_of_rest(node: _Defined) -> set[object]:
    """What a function takes as kwargs["it"] and kwargs.get("it")."""
    rest = _rest(node)
    return {_taken_of(inner, rest) for inner in ast.walk(node)} if rest is not None else set()


def _taken_of(node: ast.AST, rest: str) -> object:
    if isinstance(node, ast.Subscript):
        of, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES and node.args:
        of, key = node.func.value, node.args[0]
    else:
        return None
    return key.value if isinstance(of, ast.Name) and of.id == rest and isinstance(key, ast.Constant) else None


def _with_parameter_renamed(code: str, node: _Defined, column: str) -> str | None:
    """The code with the function's parameter called “answer”; None where it has no such parameter, or where that would
    change what the function does."""
    own = [each for each in _parameters(node) if each.arg == column]
    inside = [inner for each in node.body for inner in ast.walk(each)]
    others = {name for inner in inside for name in _bound_otherwise(inner)}
    others |= {each.arg for each in _every_argument(node) if each not in own}
    used = _names(node.body)
    by_name = used & {
        "locals",
        "vars",
        "eval",
        "exec",
        node.name,
    }  # which may say the parameter's name in their own way
    if not own or by_name or ANSWER in used | others | _taken_of_rest(node) or column in others:
        return None
    named: list[ast.arg | ast.Name] = [*own, *(i for i in inside if isinstance(i, ast.Name) and i.id == column)]
    changed = _replace_names(code, {(each.lineno, each.col_offset) for each in named}, column)
    for each in named:  # what the tree of the changed code has to be
        if isinstance(each, ast.arg):
            each.arg = ANSWER
        else:
            each.id = ANSWER
    return changed if changed is not None and _means(changed, node) else None


def _every_argument(node: _Defined) -> list[ast.arg]:
    return [inner for inner in ast.walk(node.args) if isinstance(inner, ast.arg)]


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a meaning other than by a plain name."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ClassDef):  # what it binds are names of the class, too
        yield node.name
        yield from (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield node.name or ""
    elif isinstance(node, ast.MatchMapping):
        yield node.rest or ""


def _replace_names(code: str, places: set[tuple[int, int]], name: str) -> str | None:
    """The code with “answer” for a name at these places, lines from 1 and columns in bytes; None where one of them has
    something else."""
    lines = [line.encode() for line in code.split("\n")]
    old = name.encode()
    for line, column in sorted(places, reverse=True):
        text = lines[line - 1] if line <= len(lines) else b""
        if text[column : column + len(old)] != old:
            return None
        lines[line - 1] = text[:column] + ANSWER.encode() + text[column + len(old) :]
    return b"\n".join(lines).decode()


def _means(code: str, node: _Defined) -> bool:
    """Whether a function of the code is this one: before Python 3.12 the places of what stands in an f-string are not
    to be relied on."""
    try:
        found = [each for each in parse_module(code).body if getattr(each, "name", None) == node.name]
    except (SyntaxError, ValueError):
        return False
    return bool(found) and ast.dump(found[-1]) == ast.dump(node)
