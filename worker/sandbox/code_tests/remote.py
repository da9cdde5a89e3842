"""Objects of the other side's, used from afar: each operation is a question that their side answers.

Only the standard library, and little of it: each sandbox waits for these imports.
"""

import operator
from typing import Any

SHARED = ("len", "iter", "next", "bool", "str", "repr", "neg", "getitem", "setitem", "delitem", "aiter")
ENTERED = ("enter", "exit", "aenter", "aexit")
# Between the code's own objects only: a result that claims to be equal to 3, or 0 away from it, must not count.
BETWEEN = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor")
SCALED = ("mul", "truediv")  # also by plain data, to another object of the code's
CONTAINERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
PLAIN: dict[str, Any] = {**CONTAINERS, "dict": dict, "str": str, "int": int, "float": float}
SLICE = 0.002  # seconds that the code's event loop runs before the tests' has its turn


class Remote:
    """An object of the other side's, used from afar. `kind`: the plain data that it is, too, as a list or an int is."""

    def __init__(self, line: Any, number: int, kind: str = "") -> None:
        vars(self).update({" line": line, " number": number, " kind": kind})  # names that no object's attributes have

    @property  # type: ignore[misc]  # isinstance(…, tuple) looks at it
    def __class__(self) -> type:
        return PLAIN.get(vars(self)[" kind"], Remote)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return vars(self)[" line"].ask("call", self, args, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__members__"):
            raise AttributeError(name)
        return vars(self)[" line"].ask("getattr", self, (name,))

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[" line"].ask("setattr", self, (name, value))

    def __delattr__(self, name: str) -> None:
        vars(self)[" line"].ask("delattr", self, (name,))

    def __hash__(self) -> int:
        if vars(self)[" line"].everything:  # an object of the tests', which the code may not ask for it
            return int(vars(self)[" number"])
        return hash(plain_data(self) if vars(self)[" kind"] else vars(self)[" line"].ask("hash", self))

    def __instancecheck__(self, value: Any) -> bool:
        return type(value) is Remote and bool(vars(self)[" line"].ask("isinstance", value, (self,)))

    def __subclasscheck__(self, value: Any) -> bool:
        return type(value) is Remote and bool(vars(self)[" line"].ask("issubclass", value, (self,)))

    def __await__(self) -> Any:
        return await_remote(self).__await__()

    def __anext__(self) -> Any:
        return vars(self)[" line"].ask("anext", self)


def plain_data(remote: Remote) -> Any:
    """What an object is as plain data, at this moment."""
    return vars(remote)[" line"].ask("plain", remote)


def method(name: str) -> Any:
    """A Remote's method that the other side carries out."""

    def operation(self: Any, *args: Any) -> Any:
        if name in BETWEEN and type(args[0]) is not Remote:
            if vars(self)[" kind"]:
                return getattr(operator, name)(plain_data(self), args[0])
            made = vars(self)[" line"].ask(name, self, args) if name in SCALED else None
            return made if type(made) is Remote and not vars(made)[" kind"] else NotImplemented
        return vars(self)[" line"].ask(name, self, args)

    return operation


def leave(self: Any, kind: Any, error: Any, trace: Any) -> None:
    """The end of a with block. What went wrong in it goes on in any case: the code could hide that a test fails."""
    vars(self)[" line"].ask("exit", self, (kind, None, None))


async def leave_async(self: Any, kind: Any, error: Any, trace: Any) -> None:
    """The same for async with."""
    await vars(self)[" line"].ask("aexit", self, (kind, None, None))


for each in SHARED + ENTERED + BETWEEN:
    setattr(Remote, f"__{each.rstrip('_')}__", {"exit": leave, "aexit": leave_async}.get(each) or method(each))


async def await_remote(remote: Remote) -> Any:
    """What an awaitable of the code's comes to. Its event loop and the tests' take turns."""
    import asyncio

    line = vars(remote)[" line"]
    line.ask("begin", remote)
    try:
        while not line.ask("turn", remote):
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        line.ask("cancel", remote)
        raise
    return line.ask("result", remote)


class Later:
    """The awaitables of the code's that the tests wait for, on an event loop of their own."""

    def __init__(self) -> None:
        import asyncio

        self.asyncio, self.loop, self.tasks = asyncio, asyncio.new_event_loop(), dict[int, Any]()
        asyncio.set_event_loop(self.loop)

    def begin(self, target: Any) -> None:
        """Start waiting for an awaitable."""

        async def wait() -> Any:
            return await target

        self.tasks[id(target)] = self.loop.create_task(wait())

    def turn(self, target: Any, seconds: float = SLICE) -> bool:
        """Run the event loop for a moment; whether it has come to its end."""
        task = self.tasks[id(target)]
        self.loop.run_until_complete(self.asyncio.wait({task}, timeout=seconds))
        return bool(task.done())

    def result(self, target: Any) -> Any:
        """Give what it came to, or raise what it raised."""
        return self.tasks.pop(id(target)).result()

    def cancel(self, target: Any) -> None:
        """Give it up."""
        self.tasks[id(target)].cancel()
        self.turn(target, 1.0)
