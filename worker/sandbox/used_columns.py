"""Which columns a reward function can reach: the others need not be sent to it. Standard library only."""

import dis
import inspect
import types
from collections.abc import Callable
from typing import Any

# What would let a function see its arguments without naming them.
_INDIRECT = {"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe"}


def needs(function: Callable[..., Any]) -> list[str] | None:
    """The arguments a function can make use of; None when it may be any.

    A function of TRL's takes **kwargs because TRL passes every column, but mostly looks at none of them, or at some by
    name: kwargs["x"], kwargs.get("x"). Read from its bytecode, where any other use of them shows.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType) or code.co_flags & inspect.CO_VARARGS:
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    named = list(code.co_varnames[:count])
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return named
    rest = code.co_varnames[count]
    if _INDIRECT & set(code.co_names) or rest in code.co_cellvars:
        return None
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "NOP", "PUSH_NULL")]
    looked_up = [_names_looked_up(steps[at : at + 3], rest) for at, step in enumerate(steps) if _mentions(step, rest)]
    found = [name for name in looked_up if name is not None]
    return named + found if len(found) == len(looked_up) else None


def _mentions(step: dis.Instruction, name: str) -> bool:
    """From Python 3.13 on one instruction may load two variables."""
    return name in step.argval if isinstance(step.argval, tuple) else step.argval == name


def _names_looked_up(steps: list[dis.Instruction], rest: str) -> str | None:
    """The name in `rest["name"]` or `rest.get("name"`; None for any other use, or one that another Python compiles in
    another way."""
    if len(steps) < 3 or not steps[0].opname.startswith("LOAD_FAST") or steps[0].argval != rest:
        return None
    _, second, third = steps
    if second.opname == "LOAD_CONST" and third.opname == "BINARY_SUBSCR":
        name = second.argval
    elif second.opname in ("LOAD_METHOD", "LOAD_ATTR") and second.argval == "get" and third.opname == "LOAD_CONST":
        name = third.argval
    else:
        return None
    return name if isinstance(name, str) else None
