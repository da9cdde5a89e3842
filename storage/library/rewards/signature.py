"""What a reward function's code says of itself: its functions, what each asks for, its parameters, and what is wrong.

Everything is read from the syntax tree. Nothing is ever run or imported: these checks help to write code, they do not
make it safe to run.
"""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.library.rewards import bodies, defined, parameters, pasted
from groupwise.storage.library.rewards.bodies import Function
from groupwise.storage.library.rewards.names import NOT_GIVEN, TRL_ARGUMENTS, quote_name
from groupwise.storage.library.rewards.pasted import clean_paste
from groupwise.storage.spec.python_source import is_usable_name
from groupwise.storage.spec.rows.column_names import column_of_same_meaning, meant_column
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, did_you_mean

FORM = 2  # of what `analyse` finds: another one is stored anew


@dataclass(frozen=True)
class CodeProblem:
    """Something to say about a place in the code; line and column (in characters) count from 1.

    `level` is storage.spec.words.problem's: with what is BLOCKING every call of the function would fail. `asked`: the
    argument that the data does not give, `meant`: the column that it most likely means; `rename`: the function and
    both, where the argument can be called so.
    """

    line: int
    column: int
    message: str
    level: str = BLOCKING
    rename: tuple[str, str, str] | None = None
    asked: str = ""
    meant: str = ""


TOO_DEEP = CodeProblem(1, 1, "This is nested too deeply to be read.")


@dataclass(frozen=True)
class FunctionSig:
    """One reward function. `help` is its docstring's first line, `arguments` the columns that it cannot do without and
    TRL's own values that it takes, `parameters` what can be adjusted: {name, types, default, choices, help,
    adjustable}. `takes_rest`: has **kwargs. `line`: where it begins. `places`: the line and column of each argument."""

    name: str
    help: str
    arguments: list[str]
    parameters: list[dict[str, Any]]
    is_async: bool
    takes_rest: bool
    line: int
    places: dict[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Analysis:
    """The reward functions of a text, in its order, and what is wrong with it, by line."""

    functions: list[FunctionSig]
    problems: list[CodeProblem]


def analyse(code: str, name: str | None = None) -> Analysis:
    """The reward functions of a text: those that look like one, or only the one of this name, whatever it looks like.

    Lines that a notebook or a terminal added (see `clean_paste`) are problems, and what is left of the text is read.
    """
    odd = [CodeProblem(line, 1, message) for line, message in pasted.oddities(code)]
    text = clean_paste(code) if odd else code
    module, broken = _parse(text)
    if module is None:
        return Analysis([], sorted([*odd, *broken], key=_place))
    try:
        functions, problems = _read_functions(module, text, name)
    except RecursionError:  # Python could still read it, and walking its tree goes deeper
        functions, problems = [], [TOO_DEEP]
    return Analysis(functions, sorted(dict.fromkeys([*odd, *problems]), key=_place))


def _read_functions(module: ast.Module, text: str, name: str | None) -> tuple[list[FunctionSig], list[CodeProblem]]:
    """The functions of a syntax tree, and what is wrong with it."""
    every = defined.top_level_functions(module) if name else defined.reward_functions(module)
    found = [function for function in every if not name or function.name == name]
    missing = [] if found else defined.missing(module, name)
    left = bodies.names_left_behind(module, text)
    said = [*missing, *bodies.module_findings(module), *left, *_shape_findings(module, found)]
    lines = text.split("\n")
    problems = [CodeProblem(*_position(node, lines), message, level) for node, message, level in said]
    return [_signature(function, lines) for function in found], problems


def _place(problem: CodeProblem) -> tuple[int, int]:
    return problem.line, problem.column


def _parse(code: str) -> tuple[ast.Module | None, list[CodeProblem]]:
    """The syntax tree, or why there is none."""
    try:
        return parse_module(code), []
    except SyntaxError as error:
        words = (error.msg or "invalid syntax").rstrip(".")
        return None, [CodeProblem(error.lineno or 1, max(error.offset or 1, 1), f"This is not Python: {words}.")]
    except ValueError as error:  # a NUL, or half of a pair of code units
        return None, [CodeProblem(1, 1, f"This is not Python: {error}.")]
    except (RecursionError, MemoryError):
        return None, [TOO_DEEP]


def _position(node: ast.AST, lines: list[str]) -> tuple[int, int]:
    """Where a node stands, from 1 and in characters: a syntax tree counts bytes."""
    line = getattr(node, "lineno", 1)
    before = lines[line - 1].encode("utf-8", "replace")[: getattr(node, "col_offset", 0)] if line <= len(lines) else b""
    return line, len(before.decode("utf-8", "replace")) + 1


def _shape_findings(module: ast.Module, found: list[Function]) -> Iterator[bodies.Finding]:
    """What is wrong with each function's arguments and body."""
    known = defined.names_of(module)
    for function in found:
        yield from _argument_findings(function)
        yield from bodies.findings(function, known)


def _argument_findings(function: Function) -> Iterator[bodies.Finding]:
    given, name = function.args, quote_name(function.name)
    if given.posonlyargs:
        message = f"TRL gives {name} every argument by its name: take the / out."
        yield given.posonlyargs[0], message, BLOCKING
    if given.vararg:
        yield given.vararg, f"*{given.vararg.arg} stays empty: TRL gives every argument by its name.", ADVICE
    if not given.kwarg:
        message = f"{name} has to end its arguments with **kwargs: TRL gives it every column of the data."
        yield function, message, BLOCKING
    for argument, default in _plain_defaults(function):
        if isinstance(default, ast.Constant) and default.value is not None and argument.arg not in TRL_ARGUMENTS:
            message = f"“{argument.arg}” is taken from a column of that name; without one it is {ast.unparse(default)}."
            how = f"(completions, *, {_as_written(argument, default)}, **kwargs)"
            yield argument, f"{message} For a parameter that a run can set, write it after a *: {how}.", ADVICE
    for argument in (*given.args, *given.kwonlyargs):
        if argument.arg in NOT_GIVEN:
            yield argument, f"TRL gives “{NOT_GIVEN[argument.arg]}”, a list, not “{argument.arg}”.", BLOCKING
    for argument in _required_arguments(function):
        if argument.arg in ("self", "cls"):
            message = f"“{argument.arg}” belongs to a class's method, and nothing is given for it. Take it out."
            yield argument, message, BLOCKING


def _signature(function: Function, lines: list[str]) -> FunctionSig:
    doc = parameters.as_unicode(ast.get_docstring(function) or "")
    places = {argument.arg: _position(argument, lines) for argument in bodies.arguments(function)}
    taken = {column: _position(node, lines) for column, node in _taken_of_the_rest(function)}
    return FunctionSig(
        name=function.name,
        help=doc.strip().split("\n")[0].strip(),
        arguments=list(dict.fromkeys([*_given_arguments(function), *taken])),
        parameters=_adjustable(function, doc),
        is_async=isinstance(function, ast.AsyncFunctionDef),
        takes_rest=function.args.kwarg is not None,
        line=function.lineno,
        places=taken | places,
    )


def _given_arguments(function: Function) -> Iterator[str]:
    """The arguments that it cannot do without, and those that TRL always gives, whatever their default."""
    required = {argument.arg for argument in _required_arguments(function)}
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if argument.arg in required or argument.arg in TRL_ARGUMENTS:
            yield argument.arg


def _taken_of_the_rest(function: Function) -> Iterator[tuple[str, ast.AST]]:
    """(column, where) of what it takes as `kwargs["a name that Python cannot say"]`: it cannot do without them."""
    rest = function.args.kwarg.arg if function.args.kwarg else None
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            column = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if node.value.id == rest and isinstance(column, str):
                yield column, node


def _required_arguments(function: Function) -> list[ast.arg]:
    """The arguments that have no default."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    plain = plain[: len(plain) - len(given.defaults)]
    only = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*plain, *(argument for argument, default in only if default is None)]


def plain_arguments(code: str, name: str) -> dict[str, str]:
    """The arguments with a default of a function that stand before any *, so that they are no parameters: {name: as it
    is written}. Empty where there is no such function."""
    module, _ = _parse(code)
    found = next((one for one in defined.top_level_functions(module) if one.name == name), None) if module else None
    if found is None:
        return {}
    return {one.arg: _as_written(one, default) for one, default in _plain_defaults(found)}


def _plain_defaults(function: Function) -> list[tuple[ast.arg, ast.expr]]:
    """The arguments before any * that have a default, each with it."""
    given = [*function.args.posonlyargs, *function.args.args]
    return list(zip(given[len(given) - len(function.args.defaults) :], function.args.defaults, strict=True))


def _as_written(argument: ast.arg, default: ast.expr) -> str:
    """An argument with its default, as people write it: most=20, most: int = 20."""
    between = " = " if argument.annotation else "="
    return f"{ast.unparse(argument)}{between}{ast.unparse(default)}"


def _adjustable(function: Function, doc: str) -> list[dict[str, Any]]:
    """The keyword-only arguments with a default that are none of TRL's own."""
    pairs = [
        (argument, default)
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default is not None and argument.arg not in (*TRL_ARGUMENTS, *NOT_GIVEN)
    ]
    helps = parameters.helps(doc, [argument.arg for argument, _ in pairs])
    return [parameters.parameter(argument, default, helps[argument.arg]) for argument, default in pairs]


def problems_for(sig: FunctionSig, columns: set[str] | None) -> list[CodeProblem]:
    """What a function asks for that this data does not give, and its parameters that hide a column.

    `columns`: the dataset's, as its rows have them when TRL gets them; None: not known, and nothing is said.
    """
    if columns is None:
        return []
    given = columns - NOT_GIVEN.keys()
    names = {*given, *TRL_ARGUMENTS}
    found = []
    for argument in sig.arguments:
        if argument not in names and argument not in (*NOT_GIVEN, "self", "cls"):
            found.append(_not_given(sig, argument, given))
    for parameter in sig.parameters:
        if parameter["name"] in given:
            message = f"The parameter “{parameter['name']}” hides the dataset's column of the same name."
            found.append(CodeProblem(*_asked_at(sig, parameter["name"]), message, WARNING))
    return found


def _not_given(sig: FunctionSig, argument: str, given: set[str]) -> CodeProblem:
    """What to say of a column that is not there: by what name the data has it, if it has."""
    same = column_of_same_meaning(argument, sorted(given))
    if same:
        message = f"{quote_name(sig.name)} takes “{argument}”; in your data it is “{same}”."
        if argument == "answer":  # which any column can be given as: no code has to change
            message += f" Choose “{same}” as the answer column under New run: then it is given as “answer”."
    else:
        message = f"{quote_name(sig.name)} takes “{argument}”, which this dataset does not have."
        same = meant_column(argument, sorted(given)) or ""
        ours = difflib.get_close_matches(argument, TRL_ARGUMENTS, n=1, cutoff=0.8)
        message += did_you_mean(argument, [same] if same else ours)
    rename = (sig.name, argument, same) if is_usable_name(same) else None
    return CodeProblem(*_asked_at(sig, argument), message, rename=rename, asked=argument, meant=same)


def _asked_at(sig: FunctionSig, argument: str) -> tuple[int, int]:
    return sig.places.get(argument, (sig.line, 1))
