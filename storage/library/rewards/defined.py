"""Which of a text's functions are reward functions, and what to say where none is. Pure, on syntax trees."""

import ast
from collections.abc import Iterator

from groupwise.storage.library.rewards.bodies import Finding, Function, arguments
from groupwise.storage.library.rewards.names import NOT_GIVEN, quote_name
from groupwise.storage.spec.words.problem import BLOCKING, did_you_mean

USUAL = "def {name}(completions, **kwargs)"


def reward_functions(module: ast.Module) -> list[Function]:
    """The functions that look like reward functions, in the order of the text.

    One that takes completions and **kwargs is one. One without **kwargs may be a reward function that lacks them, or
    only a helper: it is taken for one where nothing else in the text uses it.
    """
    found = top_level_functions(module)
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return [each for each in found if _takes_completions(each) and (each.args.kwarg or each.name not in used)]


def holds_reward_function(node: ast.stmt) -> bool:
    """Whether a function or a class takes completions, or a function inside of it does."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(each, functions) and _takes_completions(each) for each in ast.walk(node))


def top_level_functions(module: ast.Module) -> list[Function]:
    """The functions at the top level of a text, the last of each name, as Python has it; @overload's are none."""
    found: dict[str, Function] = {}
    for node in _top(module.body):
        decorators = {ast.unparse(each).split(".")[-1] for each in getattr(node, "decorator_list", [])}
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and "overload" not in decorators:
            found[node.name] = node
    return sorted(found.values(), key=lambda function: function.lineno)


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is loaded, those in if, try and with included; not `__main__`'s."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            yield from _top(node.orelse)
        elif isinstance(node, (ast.If, ast.With, ast.Try)):
            yield from _top([each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)])
            for handler in getattr(node, "handlers", []):
                yield from _top(handler.body)


def _takes_completions(function: Function | ast.Lambda) -> bool:
    """Whether it asks for completions, or takes them out of its **kwargs; or for another of TRL's lists."""
    names = {argument.arg for argument in _arguments(function)}
    if names & {"completions", "completion_ids"}:
        return True
    if not function.args.kwarg:
        return False
    words = {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
    return bool(names & {"prompts", *NOT_GIVEN}) or "completions" in words or _returns_a_list(function)


def _returns_a_list(function: Function | ast.Lambda) -> bool:
    """Whether the annotation says that it returns a list of numbers."""
    returns = getattr(function, "returns", None)
    return returns is not None and ast.unparse(returns).replace(" ", "").lower().startswith(("list[float", "list[int"))


def _arguments(function: Function | ast.Lambda) -> list[ast.arg]:
    if isinstance(function, ast.Lambda):
        return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return arguments(function)


def names_of(module: ast.Module) -> set[str]:
    """The names that the module itself defines or imports."""
    found = {node.name for node in _top(module.body) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for node in _top(module.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
            found |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return found


def missing(module: ast.Module, name: str | None) -> list[Finding]:
    """Why there is no reward function (of this name) here, at the place that comes nearest to one."""
    if near := nearly(module, name):
        return near[:1]
    functions = top_level_functions(module)
    if name:
        names = [function.name for function in functions]
        known = did_you_mean(name, names) or (f" It defines {', '.join(names[:8])}." if names else "")
        return [(module, f"The code does not define a function {quote_name(name)}.{known}", BLOCKING)]
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    # what is called, or given to a dataset's map, is something else
    meant = [each for each in functions if each.name not in used and each.name != "main"]
    usual = USUAL.format(name=meant[0].name if meant else "my_reward")
    if functions:
        message = f"No function here takes completions. A reward function begins {usual}:"
        return [((meant or functions)[0], message, BLOCKING)]
    return [(module, f"There is no function here. A reward function begins {usual}:", BLOCKING)]


def nearly(module: ast.Module, name: str | None = None) -> list[Finding]:
    """What would be a reward function (of this name) if it were written otherwise, and what to write."""
    return [*_assigned_callables(module, name), *_enclosed_functions(module, name)]


def _assigned_callables(module: ast.Module, name: str | None) -> Iterator[Finding]:
    """Lambdas, functools.partial and other values that are called, but that no def makes."""
    for node in _top(module.body):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if not names or (name and name not in names):
            continue
        words = _value_in_words(node.value, bool(name))
        if words:
            usual = USUAL.format(name=names[0])
            yield node, f"{quote_name(names[0])} is {words}. Make it a def: {usual}: return …", BLOCKING


def _value_in_words(value: ast.expr | None, asked: bool) -> str:
    """What a value is that might be meant as a reward function; empty where it is none of these."""
    if isinstance(value, ast.Lambda) and (asked or _takes_completions(value)):
        return "a lambda"
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("partial", "functools.partial"):
        return "made with functools.partial"
    return "not a function that is defined here" if asked and value is not None else ""


def _enclosed_functions(module: ast.Module, name: str | None) -> Iterator[Finding]:
    """Functions that would do, but stand inside of another function or of a class."""
    for outer in _top(module.body):
        if not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in ast.walk(outer):
            if node is outer or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if _takes_completions(node) and name in (None, node.name, outer.name):
                yield node, _enclosed_in_words(node.name, outer), BLOCKING


def _enclosed_in_words(name: str, outer: Function | ast.ClassDef) -> str:
    if isinstance(outer, ast.ClassDef):
        return f"{quote_name(name)} stands in the class {outer.name}. Make it a function of its own, without self."
    made = f"{quote_name(name)} is made inside of {outer.name}()."
    return f"{made} Let it stand alone, with what {outer.name}() takes as settings after a *."
