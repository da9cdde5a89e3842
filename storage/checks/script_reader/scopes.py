"""Names and what they stand for, in a script and its functions; and what undecided branches make of them."""

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from groupwise.storage.checks.script_reader.values import Either, Plain, Value, where_unmet

Names = dict[str, Value]


@dataclass(eq=False)
class Scope:
    """The names of a module or of a function that runs; `parent`: where else they are looked for."""

    names: Names
    parent: "Scope | None" = None
    outside: set[str] = field(default_factory=set)  # declared global or nonlocal here

    def look_up(self, name: str) -> Value | None:
        """What the name stands for; None where the script gives it nothing."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value from now on."""
        holder = self
        while name in self.outside and holder.parent is not None:
            holder = holder.parent
            if name in holder.names:
                break
        holder.names[name] = value

    def snapshot(self) -> list[tuple["Scope", Names]]:
        """All names as they are now, to come back to."""
        found, scope = [], self
        while scope is not None:
            found.append((scope, dict(scope.names)))
            scope = scope.parent  # type: ignore[assignment]
        return found


@dataclass(eq=False)
class AllNames(Value):
    """All names of a scope by their texts: globals(), locals()."""

    scope: Scope


def restore(snapshot: list[tuple[Scope, Names]]) -> None:
    """Let all names stand for what they stood for."""
    for scope, names in snapshot:
        scope.names = dict(names)


@contextlib.contextmanager
def as_it_was(snapshot: list[tuple[Scope, Names]]) -> Iterator[None]:
    """Let all names stand for what they stood for then, and afterwards for what they do now."""
    now = [(scope, scope.names) for scope, _ in snapshot]
    restore(snapshot)
    try:
        yield
    finally:
        restore(now)


def join(
    one: list[tuple[Scope, Names]], other: list[tuple[Scope, Names]], node: ast.AST, before: list[tuple[Scope, Names]]
) -> None:  # fmt: skip
    """Let each name stand for what either branch gave it. `before`: the names outside of the condition."""
    for (scope, first), (_, second), (_, outside) in zip(one, other, before, strict=True):
        scope.names = {
            name: either(node, first.get(name), second.get(name), _unmet(node, second.get(name), outside.get(name)))
            for name in dict.fromkeys([*first, *second])
        }


def _unmet(node: ast.AST, other: Value | None, outside: Value | None) -> Value | None:
    """What a name stands for where the condition of an `if` is not met: what it did before, also through an `elif`."""
    found = where_unmet(other) if isinstance(node, ast.If) else None
    return found if found is not None and found is where_unmet(outside) else None


def either(node: ast.AST, one: Value | None, other: Value | None, unmet: Value | None = None) -> Value:
    """One value where both are the same, or only one is there at all; else Either. `unmet`: see there."""
    if one is None or other is None or same(one, other):
        found = one if one is not None else other
        assert found is not None
        return found if one is not None and other is not None else Either(node, [found])
    options = [option for each in (one, other) for option in (each.options if isinstance(each, Either) else [each])]
    return Either(node, list({id(option): option for option in options}.values())[:20], unmet)


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same one, or equal plain ones."""
    if isinstance(one, Plain) and isinstance(other, Plain):
        return type(one.value) is type(other.value) and one.value == other.value
    return one is other
