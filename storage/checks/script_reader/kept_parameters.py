"""What a script gives its reward function, by partial(f, low=20) or by the call of a factory that makes it, as
parameters that a run can set: only keyword-only arguments with a default are, so the code that comes along has them
so."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.library.rewards import signature
from groupwise.storage.library.rewards.names import TRL_ARGUMENTS
from groupwise.storage.spec.python_source import literal
from groupwise.storage.spec.syntax_tree import parse_module

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameter_names(one: ScriptFunction) -> set[str]:
    """The names of the parameters that a run can set."""
    found = next((each for each in signature.analyse(one.code, one.name).functions if each.name == one.name), None)
    return {each["name"] for each in found.parameters} if found is not None else set()


def keep_parameters(one: ScriptFunction, given: dict[str, Any]) -> ScriptFunction:
    """The function with those of its arguments that are given moved behind a *; one without a default gets the value
    that is given. As it is where other code of its own calls it, which may do so by place."""
    try:
        module = parse_module(one.code)
    except (SyntaxError, ValueError):  # which its problems say
        return one
    node = next((each for each in module.body if isinstance(each, _Function) and each.name == one.name), None)
    if node is None or _is_used(module, one.name) or not _move(node.args, given):
        return one
    code = _with_arguments(one.code, node)
    return _with_code(one, code) if code else one


def take_in_values(one: ScriptFunction, given: Collection[str]) -> ScriptFunction:
    """The function with those values as arguments that stand above it (`most = 9`), as a factory that was called with
    these (`given`: their names) left them to it; without those that other code of its own reads, too."""
    module = parse_module(one.code)
    node = next((each for each in module.body if isinstance(each, _Function) and each.name == one.name), None)
    above = {_plain_name(each): each for each in module.body if isinstance(each, ast.Assign)}
    found = {name: above[name] for name in given if name in above and name not in TRL_ARGUMENTS}
    found = {name: each for name, each in found.items() if node and _reads_alone(module, each, node, name)}
    if node is None or not found:
        return one
    for name, each in found.items():
        node.args.kwonlyargs.append(ast.arg(name))
        node.args.kw_defaults.append(each.value)
    code = _with_arguments(one.code, node)
    if not code:
        return one
    lines = code.split("\n")  # what stands above keeps its lines
    for each in sorted(found.values(), key=lambda each: -each.lineno):
        del lines[each.lineno - 1 : each.end_lineno]
    return _with_code(one, re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).lstrip("\n"))


def _plain_name(node: ast.Assign) -> str:
    """The name that an assignment gives a plain number, text or flag; “” for any other."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return ""
    value = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
    is_plain = isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float, str))
    return node.targets[0].id if is_plain else ""


def _reads_alone(module: ast.Module, value: ast.stmt, node: _Function, name: str) -> bool:
    """Whether a name is read in the body of one function alone, which gives it no other value."""
    around = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    others = [each for each in module.body if each not in (value, node)]
    if any(_named(each, name) for each in (*around, *others)):
        return False
    inside = [one for each in node.body for one in _named(each, name)]
    return bool(inside) and all(isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) for one in inside)


def _named(node: ast.AST, name: str) -> list[ast.AST]:
    """What in a part of the code has a name: reads it, gives it a value, or is an argument or a definition of it."""
    return [
        each
        for each in ast.walk(node)
        if name in (getattr(each, "id", ""), getattr(each, "arg", ""), getattr(each, "name", ""))
        and not isinstance(each, ast.keyword)
        or name in getattr(each, "names", ())
    ]


def _is_used(module: ast.Module, name: str) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load) for each in ast.walk(module)
    )


def _move(arguments: ast.arguments, given: dict[str, Any]) -> bool:
    """Move what is given behind the *; whether that changed anything."""
    plain = arguments.args
    without = len(arguments.posonlyargs) + len(plain) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [*[None] * without, *arguments.defaults][len(arguments.posonlyargs) :]
    moved = [(each, default) for each, default in zip(plain, defaults, strict=True) if each.arg in given]
    stays = [default for each, default in zip(plain, defaults, strict=True) if each.arg not in given]
    arguments.args = [each for each in plain if each.arg not in given]
    before = arguments.defaults[: max(len(arguments.posonlyargs) - without, 0)]
    arguments.defaults = [*before, *(default for default in stays if default is not None)]
    only = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    every = [(each, _default(each.arg, default, given)) for each, default in [*moved, *only]]
    changed = bool(moved) or [default for _, default in every] != arguments.kw_defaults
    arguments.kwonlyargs, arguments.kw_defaults = [each for each, _ in every], [default for _, default in every]
    return changed


def _default(name: str, default: ast.expr | None, given: dict[str, Any]) -> ast.expr | None:
    if default is not None or name not in given:
        return default
    said = parse_module(literal(given[name])).body[0]
    assert isinstance(said, ast.Expr)
    return said.value


def _with_arguments(code: str, node: _Function) -> str:
    """The code with the head of the function written anew; "" where that would be other code."""
    lines = code.split("\n")
    first, end = node.lineno - 1, node.body[0].lineno - 1
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = f"{start} {node.name}({ast.unparse(node.args)}){returns}:"
    if end == first:  # def f(completions): return …
        lines[first] = f"{head} {'; '.join(ast.unparse(each) for each in node.body)}"
        lines[first + 1 : node.end_lineno] = []
    else:
        kept = [line for line in lines[first + 1 : end] if line.strip().startswith("#")]
        lines[first:end] = [head, *kept]
    changed = "\n".join(lines)
    try:
        found = next(each for each in parse_module(changed).body if getattr(each, "name", "") == node.name)
    except (SyntaxError, ValueError, StopIteration):
        return ""
    return changed if ast.dump(found) == ast.dump(node) else ""


def _with_code(one: ScriptFunction, code: str) -> ScriptFunction:
    """The function with other code, and of its problems those that are still there."""
    still = Counter(each.message for each in signature.analyse(code, one.name).problems)
    kept = list(_still_there(one, still))
    return replace(one, code=code, problems=[each for each, _ in kept], where=[where for _, where in kept])


def _still_there(one: ScriptFunction, still: Counter[str]) -> Iterator[tuple[signature.CodeProblem, str]]:
    for problem, where in zip(one.problems, one.where, strict=True):
        if still[problem.message] > 0:
            still[problem.message] -= 1
            yield problem, where
