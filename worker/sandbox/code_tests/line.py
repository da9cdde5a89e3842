"""The messages between the model's code and its tests, and what of each side's objects the other may use."""

import builtins
import collections.abc
import enum
import functools
import json
import operator
import os
import types
from collections.abc import Callable
from typing import Any

from groupwise.worker.sandbox.code_tests.remote import (
    BETWEEN,
    CONTAINERS,
    ENTERED,
    PLAIN,
    SHARED,
    Later,
    Remote,
    await_remote,
)


def _number(kind: str) -> Callable[[str], Any]:
    """Reads a kind of number whose module few programs use."""

    def read(text: str) -> Any:
        import decimal
        import fractions

        return {"Fraction": fractions.Fraction, "Decimal": decimal.Decimal}[kind](text)

    return read


def _day(kind: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        import datetime

        return {"date": datetime.date, "datetime": datetime.datetime}[kind].fromisoformat(text)

    return read


READERS: dict[str, Any] = {
    "int": lambda text: int(text, 16), "bytes": bytes.fromhex, "complex": complex, "Fraction": _number("Fraction"),
    "Decimal": _number("Decimal"), "date": _day("date"), "datetime": _day("datetime"),
}  # fmt: skip
WRITERS: dict[str, Any] = {"int": hex, "bytes": bytes.hex}
CAP = 1 << 22  # bytes of a message


class Line:
    """The messages between the two sides: JSON, one a line. Either asks the other to use an object of its own."""

    def __init__(self, descriptor: int, everything: bool) -> None:
        self.incoming, self.outgoing = os.fdopen(descriptor, "rb"), os.fdopen(os.dup(descriptor), "wb")
        self.everything = everything  # whether any object of this side may be used from afar, or just what is lent
        self.mine: dict[int, Any] = {}
        self.theirs: dict[int, Remote] = {}
        self.coroutines: dict[int, tuple[Any, Remote]] = {}
        self.errors: dict[str, type] = {}
        self.later: Later | None = None

    def post(self, message: dict) -> None:
        """Send a message. Raises ValueError where it is too large."""
        data = json.dumps(message).encode()
        if len(data) > CAP:
            raise ValueError("too large to be handed over")
        self.outgoing.write(data + b"\n")
        self.outgoing.flush()

    def receive(self) -> dict:
        """Wait for a message. Raises EOFError where the other side has ended."""
        data = self.incoming.readline(CAP + 2)
        if not data.endswith(b"\n"):
            raise EOFError("the other side has ended")
        return dict(json.loads(data))

    def pack(self, value: Any, whole: bool = False) -> Any:
        """A value as JSON: plain data as such, other objects by a number. `whole`: as plain data in any case."""
        if type(value) is Remote:
            return {"yours": vars(value)[" number"]}
        if self.everything and not whole and (kind := own_kind(value)):
            self.mine[id(value)] = value
            return {"own": [id(value), kind]}
        if value is None or isinstance(value, (bool, str, float)) or (isinstance(value, int) and abs(value) < 1 << 53):
            return value
        for name, container in CONTAINERS.items():
            if isinstance(value, container):
                return {name: [self.pack(item) for item in container.__iter__(value)]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(key), self.pack(item)] for key, item in dict.items(value)]}
        name = type(value).__name__
        if name in READERS and type(value).__module__ in ("builtins", "fractions", "decimal", "datetime"):
            return {name: WRITERS.get(name, str)(value)}
        if is_error(value):
            return {"error": str(value.__name__)}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            return self.pack(value.tolist())
        return self.handle(value)

    def handle(self, value: Any) -> Any:
        """An object that is no plain data, by its number."""
        if id(value) in self.coroutines:
            return self.pack(self.coroutines[id(value)][1])
        if not self.everything and isinstance(value, types.CoroutineType):
            return {"came to": self.pack(run_coroutine(value))}
        if not (self.everything or may_do(value, "call", []) or may_do(value, "next", [])):
            raise TypeError(f"a {type(value).__name__} cannot be given to the code")
        self.mine[id(value)] = value
        return {"later" if isinstance(value, types.CoroutineType) else "mine": id(value)}

    def unpack(self, packed: Any) -> Any:
        """Turn what `pack` made of a value back into it; objects of the other side become Remotes."""
        if not isinstance(packed, dict):
            return packed
        [(name, content)] = packed.items()
        if name == "mine":
            return self.theirs.setdefault(content, Remote(self, content))
        if name == "own":
            return self.theirs.setdefault(content[0], Remote(self, *content))
        if name == "later":
            coroutine = await_remote(self.theirs.setdefault(content, Remote(self, content)))
            self.coroutines[id(coroutine)] = (coroutine, self.theirs[content])
            return coroutine
        if name == "came to":
            return return_value(self.unpack(content))
        if name == "yours":
            return self.mine[content]
        if name == "dict":
            return {self.unpack(key): self.unpack(item) for key, item in content}
        if name == "range":
            return range(*content)
        if name == "error":
            return next(kind for kind in [getattr(builtins, content)] if issubclass(kind, BaseException))
        return READERS[name](content) if name in READERS else CONTAINERS[name](map(self.unpack, content))

    def ask(self, operation: str, target: Remote, args: tuple = (), named: dict | None = None) -> Any:
        """Have the other side use an object of its own; what it changes in the arguments is changed here, too."""
        words = {name: self.pack(value) for name, value in (named or {}).items()}
        self.post({"do": operation, "on": self.pack(target), "with": list(map(self.pack, args)), "named": words})
        reply = self.receive()
        while "do" in reply:
            self.post(self.answer(reply))
            reply = self.receive()
        if "raises" in reply:
            raise self.error(reply)
        for before, after in zip(args, reply["changed"], strict=False):
            replace(before, self.unpack(after))
        return self.unpack(reply["gives"])

    def answer(self, asked: dict) -> dict:
        """Use an object of this side's as the other asks."""
        try:
            name, target = asked["do"], self.mine[asked["on"]["yours"]]
            args = [self.unpack(item) for item in asked["with"]]
            named = {name: self.unpack(item) for name, item in asked["named"].items()}
            if not self.everything and not may_do(target, name, args):
                raise TypeError("the code cannot do this with an object of the tests'")
            result = self.act(name, target)(*args, **named)
            changed = [self.pack(item if isinstance(item, (list, dict, set)) else None) for item in args]
            return {"gives": self.pack(result, whole=name == "plain"), "changed": changed}
        except BaseException as error:
            return {"raises": [kind.__name__ for kind in type(error).__mro__], "says": str(error)[:500]}

    def act(self, name: str, target: Any) -> Any:
        """What the other side asks for: the object itself as a function, or something that is done to it."""
        if name == "call":
            return target
        if name == "plain":
            return lambda: target
        if name in ("begin", "turn", "result", "cancel"):
            self.later = self.later or Later()
            return functools.partial(getattr(self.later, name), target)
        if name in ENTERED:
            return functools.partial(getattr(type(target), f"__{name}__"), target)
        return functools.partial(getattr(operator, name, None) or getattr(builtins, name), target)

    def error(self, reply: dict) -> Exception:
        """The error that the other side met, as one of its kind."""
        for name in reply["raises"]:
            kind = self.errors.get(name) or getattr(builtins, str(name), None)
            if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
                return kind(reply["says"])
        return RuntimeError(reply["says"])


def may_do(target: Any, name: str, args: list) -> bool:
    """Whether the code may do this with an object of the tests'. It may call functions, go through iterators, and use
    objects of the tests' own classes, but what their classes define it may not put another thing in the place of."""
    own, attribute = type(target).__module__ == "tests", str(args[0]) if args else "_"
    if name == "call":
        return isinstance(target, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type))
    if name in ("getattr", "setattr", "delattr"):
        known = own and not attribute.startswith("_")
        return known and (name == "getattr" or not callable(getattr(type(target), attribute, None)))
    goes_through = isinstance(target, collections.abc.Iterator) and name in ("iter", "next")
    return goes_through or (own and name in SHARED + BETWEEN)


def is_error(value: Any) -> bool:
    """Whether this is one of Python's own kinds of error."""
    known = isinstance(value, type) and issubclass(value, BaseException)
    return known and vars(builtins).get(value.__name__) is value


def own_kind(value: Any) -> str:
    """The plain data that an object of the code's own class is, too; empty where it is none. An int, float or str of
    such a class is only plain data, but for an enum."""
    own = type(value).__module__ == "solution"
    names = PLAIN if isinstance(value, enum.Enum) else [*CONTAINERS, "dict"] if own else []
    return next((name for name in names if isinstance(value, PLAIN[name])), "")


def run_coroutine(coroutine: Any) -> Any:
    """What a coroutine of the tests' comes to, in a thread: the tests' own event loop may wait for this very line."""
    import asyncio
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def return_value(value: Any) -> Any:
    """Come to a value at once, as a coroutine."""
    return value


def replace(before: Any, after: Any) -> None:
    """Give a list, dict or set other content."""
    if type(before) in (list, dict, set) and type(before) is type(after) and before != after:
        before.clear()
        add: Any = before.extend if isinstance(before, list) else before.update
        add(after)
