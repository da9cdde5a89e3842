"""What is wrong inside a reward function, as far as its syntax tree tells: what it returns, what it uses unasked."""

import ast
import re
from collections.abc import Iterator

from groupwise.storage.library.rewards import scopes
from groupwise.storage.library.rewards.names import TRL_ARGUMENTS, quote_name
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING

Function = ast.FunctionDef | ast.AsyncFunctionDef
Finding = tuple[ast.AST, str, str]  # where, what to say, how grave

RELATIVE = "Relative imports don't work here: paste the code itself."
LIST = "Return a list with one score for each completion"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# What a return can be seen to be that no list is.
_NO_LIST = {
    ast.Dict: "a dict", ast.DictComp: "a dict", ast.Set: "a set", ast.SetComp: "a set", ast.JoinedStr: "a text",
    ast.Lambda: "a function", ast.Tuple: "a tuple", ast.GeneratorExp: "a generator",
}  # fmt: skip
_CACHES = {"cache", "lru_cache"}


def findings(function: Function, known: set[str]) -> Iterator[Finding]:
    """What can be seen to be wrong in a reward function. `known`: the names that its module defines."""
    own = list(_own_nodes(function.body))
    yield from _returns(function, own)
    yield from _decorators(function)
    yield from _not_asked(function, known)


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of some statements in their order, without what stands in functions and classes among them."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _returns(function: Function, own: list[ast.AST]) -> Iterator[Finding]:
    produced = next((node for node in own if isinstance(node, (ast.Yield, ast.YieldFrom))), None)
    if produced is not None:
        yield produced, f"{quote_name(function.name)} uses yield. {LIST} instead.", BLOCKING
        return
    returns = [node for node in own if isinstance(node, ast.Return)]
    if not returns and not isinstance(function.body[-1], ast.Raise):
        yield function, f"{quote_name(function.name)} returns nothing. {LIST}.", BLOCKING
    for node in returns:
        yield from _return_findings(node)


def _return_findings(node: ast.Return) -> Iterator[Finding]:
    """What one return statement returns instead of a list."""
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        yield node, f"This returns nothing. {LIST}; None stands in it where a completion has no score.", BLOCKING
    elif _constant(value) is not None:
        said = _constant(value)
        yield node, f"This returns {said}. {LIST}, as in [{said} for _ in completions].", BLOCKING
    elif isinstance(value, ast.List) and value.elts and not any(isinstance(each, ast.Starred) for each in value.elts):
        count = len(value.elts)
        words = "1 score" if count == 1 else f"{count} scores"
        yield node, f"This returns {words}, however many completions there are. {LIST}.", WARNING
    elif isinstance(value, ast.Await):
        return
    elif _NO_LIST.get(type(value)):
        yield node, f"This returns {_NO_LIST[type(value)]}. {LIST}.", BLOCKING


def _constant(value: ast.expr) -> str | None:
    """The source of a single number, text or truth value; None where it is something else."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant):
        return ast.unparse(value)
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes))
    return "a text" if is_text else ast.unparse(value) if isinstance(value, ast.Constant) else None


def _decorators(function: Function) -> Iterator[Finding]:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _CACHES:
            yield decorator, f"{name} needs arguments that can be hashed, and a reward function gets lists.", BLOCKING
        if name in ("staticmethod", "classmethod", "property"):
            yield decorator, f"@{name} belongs in a class. Take it out.", BLOCKING


def _not_asked(function: Function, known: set[str]) -> Iterator[Finding]:
    """TRL's own arguments that are used as if they were there, though the function does not ask for them."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    bound = known | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    bound |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in names:
        if node.id in TRL_ARGUMENTS and node.id not in bound:
            bound.add(node.id)
            message = f"{quote_name(function.name)} uses {node.id} and does not take it: add it to the arguments."
            yield node, message, BLOCKING


def arguments(function: Function) -> list[ast.arg]:
    """Every named argument, and *args and **kwargs."""
    given = function.args
    extra = [argument for argument in (given.vararg, given.kwarg) if argument]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra]


def module_findings(module: ast.Module) -> Iterator[Finding]:
    """What stands beside the functions and would run, or fail, each time they are loaded."""
    for found in _relative_imports(module):
        yield found, RELATIVE, BLOCKING
    for statement in module.body:
        for node in _own_nodes([statement]):
            if isinstance(node, (ast.Await, ast.Return, ast.Yield, ast.YieldFrom)):
                word = type(node).__name__.removesuffix("From").lower()
                yield node, f"“{word}” stands outside of any function.", BLOCKING
            elif isinstance(node, ast.Call) and _trains(node):
                words = ast.unparse(node.func)
                yield node, f"{words}(…) would run each time the function is loaded. Keep only the function.", WARNING
    yield from _network(module)


# What training scripts call what they load, and what stands for it in a reward function.
_ROWS = "A reward function gets the row's columns as arguments, such as answer"
_OF_SCRIPTS = {
    "tokenizer": "completion_ids has the tokens of each completion: add that argument, and use len(ids)",
    "processing_class": "completion_ids has the tokens of each completion: add that argument, and use len(ids)",
    "processor": "completion_ids has the tokens of each completion: add that argument, and use len(ids)",
    "dataset": _ROWS, "train_dataset": _ROWS, "ds": _ROWS, "model": "No model is available while it scores",
    "trainer": "trainer_state has the step: add that argument",
}  # fmt: skip


# An assignment that became a comment (strip_script).
_COMMENTED = re.compile(r"^# [ \t]*(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


def names_left_behind(module: ast.Module, text: str) -> Iterator[Finding]:
    """What functions use of the script that they were taken from, and that is not here."""
    lines = text.encode("utf-8", "replace").split(b"\n")
    names = [scopes.names_of_statement(each, lines) for each in module.body]
    lost = {name for each in names for name in each.used} - {name for each in names for name in each.bound}
    gone = set(_COMMENTED.findall(text))
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and node.id in lost & _OF_SCRIPTS.keys():
            lost.discard(node.id)
            yield node, f"“{node.id}” was loaded by the script, and is not here. {_OF_SCRIPTS[node.id]}.", BLOCKING
        elif isinstance(node, ast.Name) and node.id in lost & gone:
            lost.discard(node.id)
            yield node, f"“{node.id}” got its value from what the script loaded. Give it one above.", BLOCKING


def _relative_imports(module: ast.Module) -> Iterator[ast.ImportFrom]:
    """Those that fail when they are reached: not those in a `try` that catches it."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node
        if isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers)):
            waiting += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            waiting += ast.iter_child_nodes(node)


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    caught = {"ImportError", "Exception", "BaseException"}
    return handler.type is None or bool(
        {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)} & caught
    )


def _trains(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("load_dataset", "train", "get_ipython") or name.endswith("Trainer") or name == "from_pretrained"


_NETWORK = {"requests", "httpx", "aiohttp", "openai", "anthropic", "socket", "urllib3", "http", "litellm"}


def _network(module: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(module):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        found = [n for n in names if n.split(".")[0] in _NETWORK or n.startswith("urllib.request")]
        if found:
            yield node, f"{found[0]} uses the network. The function has none unless it is allowed to.", ADVICE
            return
