"""Expressions of a script to what they stand for (see values): containers, attributes and keys, and calls. Nothing of
the script is executed: known values are followed, and calls of what it does not define are kept as they are said."""

import ast
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.script_reader import plain_calls
from groupwise.storage.checks.script_reader.expressions import Expressions
from groupwise.storage.checks.script_reader.made_rows import comprehended_rows
from groupwise.storage.checks.script_reader.members import (
    Arguments,
    class_member,
    is_hashable,
    note_unknown_change,
    spread_into,
)
from groupwise.storage.checks.script_reader.perhaps import MOST_ITEMS, as_list, changed_in_doubt, in_doubt
from groupwise.storage.checks.script_reader.places import given_by_place, is_trainer
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.scopes import AllNames, Scope, either
from groupwise.storage.checks.script_reader.text_values import fill_format
from groupwise.storage.checks.script_reader.values import (
    Batch,
    Class,
    Either,
    Function,
    Item,
    Items,
    Made,
    Mapping,
    Outer,
    Part,
    Perhaps,
    Plain,
    Row,
    Super,
    Value,
    plain_or,
)

_Comprehension = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp


class Evaluator(Expressions):
    """Reads expressions. `calls`: what was called, in the order in which it would run."""

    def __init__(self) -> None:
        super().__init__()
        self.module = Scope({})
        self.calls: list[Made] = []
        self.order = 0  # how many calls there were, also those that are told otherwise by now
        self.loops = 0  # > 0: inside a loop whose rounds cannot be told
        self.quiet = 0  # > 0: inside a function that shapes rows, whose calls are no steps of the script

    # ---- what a subclass does ----
    def call_function(self, function: Function, call: Arguments, node: ast.AST) -> Value:
        raise NotImplementedError

    def make_instance(self, cls: Class, call: Arguments, node: ast.AST) -> Value:
        raise NotImplementedError

    # ---- attributes, keys and containers ----
    def _read_attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr, node)

    def attribute(self, of: Value, name: str, node: ast.AST) -> Value:
        """What stands at an attribute."""
        if isinstance(of, Outer):
            return Outer(node, f"{of.path}.{name}")
        if isinstance(of, Super):
            found = next((one for base in of.bases if (one := class_member(base, name)) is not None), None)
            if isinstance(found, Function):
                return replace(found, owner=of.owner)
            return found or Part(node, of, name)
        found = self._member(of, name)
        if isinstance(found, Function) and isinstance(of, (Made, Class)):
            decorators = [ast.unparse(one) for one in getattr(found.node, "decorator_list", [])]
            if "classmethod" in decorators:
                cls = of.cls if isinstance(of, Made) else of
                return Function(found.node, found.scope, found.name, cls, within=found.within)
            if "staticmethod" in decorators or isinstance(of, Class):
                return found
            if any(one.endswith("property") for one in decorators):
                return self.call_function(found, Arguments([of]), node)
            return Function(found.node, found.scope, found.name, of, within=found.within)
        return found if found is not None else Part(node, of, name)

    def _member(self, of: Value, name: str) -> Value | None:
        if isinstance(of, Class):
            return class_member(of, name)
        if isinstance(of, Function) and name == "__name__":
            return Plain(of.node, of.name)
        if isinstance(of, AllNames):
            return of.scope.look_up(name)
        if isinstance(of, Mapping):  # OmegaConf's and their like
            return of.entries.get(name)
        if not isinstance(of, Made):
            return None
        if name in of.later:
            return of.later[name]
        if of.name[:1].isupper() and name in of.keywords:  # settings are read back by their names
            return of.keywords[name]
        if (placed := given_by_place(of, name)) is not None:
            return placed
        return class_member(of.cls, name) if of.cls is not None else None

    def _read_subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        return self.item(self.evaluate(node.value, scope), self.evaluate(node.slice, scope), node)

    def item(self, of: Value, key: Value, node: ast.AST) -> Value:
        """What stands at a key."""
        known = plain_or(key, Unknown)
        if isinstance(of, Mapping) and is_hashable(known) and known in of.entries:
            return of.entries[known]
        if isinstance(of, Mapping) and isinstance(known, str) and len(of.dark) == 1 and isinstance(of.dark[0], Row):
            return self.item(of.dark[0], key, node)
        if isinstance(of, Items) and type(known) is int and -len(of.items) <= known < len(of.items) and not of.open:
            return of.items[known]
        if isinstance(of, AllNames) and isinstance(known, str) and (named := of.scope.look_up(known)) is not None:
            return named
        if isinstance(of, Outer) and of.path == "sys.modules" and known == "__main__":
            return AllNames(node, self.module)
        if isinstance(of, Batch) and isinstance(known, str):
            return of.column(known, node)
        if isinstance(of, Row) and isinstance(known, str):
            return of.column(known, node)
        if isinstance(of, Made) and is_hashable(known) and known in of.parts:
            return of.parts[known]
        if isinstance(of, Plain) and isinstance(of.value, str) and type(known) is int and abs(known) < len(of.value):
            return Plain(node, of.value[known])
        return Item(node, of, key)

    def _read_slice(self, node: ast.Slice, scope: Scope) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.evaluate(part, scope)
        return Value(node)

    def _read_list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        made = Items(node, [], arms=self.arms)
        for item in node.elts:
            inner = self.evaluate(item.value if isinstance(item, ast.Starred) else item, scope)
            if not isinstance(item, ast.Starred):
                made.items.append(inner)
            elif (spread := as_list(inner)) is not None:
                room = max(MOST_ITEMS - len(made.items), 0)
                made.items += spread.items[:room]
                made.more |= spread.more or len(spread.items) > room
            else:
                made.more = True
        return made

    _read_tuple = _read_set = _read_list

    def _read_dict(self, node: ast.Dict, scope: Scope) -> Value:
        made = Mapping(node)
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.evaluate(value, scope)
            if key is None:
                spread_into(made, inner)
                continue
            said = plain_or(self.evaluate(key, scope), Unknown)
            if is_hashable(said):
                made.entries[said] = inner
            else:
                made.dark.append(inner)
        return made

    def _read_listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Value:
        """[f(x) for x in LIST] over a list that is known; what else a comprehension makes is not."""
        of = self.evaluate(node.generators[0].iter, scope)
        if plain_calls.items_over(of) is None and (rows := comprehended_rows(node, of, scope)) is not None:
            return rows
        rounds = self._rounds(node, of, scope)
        if rounds is None:
            return self._round_perhaps(node, scope, node.elt)
        made = [(self.evaluate(node.elt, inner), item) for inner, item in rounds]
        items = [Perhaps(node, one, item.unmet) if isinstance(item, Perhaps) else one for one, item in made]
        return Items(node, items, arms=self.arms)

    _read_generatorexp = _read_setcomp = _read_listcomp

    def _read_dictcomp(self, node: ast.DictComp, scope: Scope) -> Value:
        made = Mapping(node)
        rounds = self._rounds(node, self.evaluate(node.generators[0].iter, scope), scope)
        if rounds is None or any(isinstance(item, Perhaps) for _, item in rounds):
            return self._round_perhaps(node, scope, node.key, node.value)
        for inner, _ in rounds:
            key, value = plain_or(self.evaluate(node.key, inner), Unknown), self.evaluate(node.value, inner)
            if not is_hashable(key):
                return Value(node)
            made.entries[key] = value
        return made

    def _rounds(self, node: _Comprehension, of: Value, scope: Scope) -> list[tuple[Scope, Value]] | None:
        """The names in each round of a comprehension that makes something, and the item that it is for, Perhaps where
        a condition decides whether it makes something; None where they cannot be told."""
        first, items = node.generators[0], as_list(of)
        over = items.items if items is not None and not items.more else plain_calls.items_over(of)
        if over is None or len(node.generators) > 1 or len(over) > MOST_ITEMS:
            return None
        rounds = []
        for item in over:
            given = item.of if isinstance(item, Perhaps) else item
            self.assign(first.target, given, inner := Scope({}, scope), node)
            kept = [self.truth(self.evaluate(test, inner)) for test in first.ifs]
            if False not in kept:
                rounds.append((inner, in_doubt(node, item) if None in kept else item))
        return rounds

    def _round_perhaps(self, node: _Comprehension, scope: Scope, *made: ast.expr) -> Value:
        """Follow a comprehension once whose rounds cannot be told, for what it calls: perhaps it never does."""
        inner = Scope({}, scope)
        self.loops += 1
        for number, each in enumerate(node.generators):
            if number:
                self._read_perhaps(each.iter, inner)
            self.assign(each.target, Value(node), inner, node)
            for test in each.ifs:
                self._read_perhaps(test, inner)
        for part in made:
            self._read_perhaps(part, inner)
        self.loops -= 1
        return Value(node)

    def assign(self, target: ast.expr, value: Value, scope: Scope, node: ast.AST) -> None:
        """Give a target (a name, a tuple of them) a value; other targets are a subclass's."""
        if isinstance(target, ast.Name):
            scope.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(each, ast.Starred) for each in target.elts)
            for number, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                part = Value(node) if starred else self.item(value, Plain(node, number), node)
                self.assign(inner, part, scope, node)

    # ---- calls ----
    def _read_call(self, node: ast.Call, scope: Scope) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value, scope)
            callee = self.attribute(receiver, node.func.attr, node.func)
        else:
            receiver, callee = None, self.evaluate(node.func, scope)
        call = self._arguments(node, scope)
        if isinstance(callee, Outer) and callee.path in _ALL_NAMES and not (node.args or node.keywords):
            return AllNames(node, self.module if callee.path == "globals" else scope)
        if isinstance(callee, Part) and isinstance(node.func, ast.Attribute):
            return self.call_method(callee.of, callee.name, call, node)
        return self.call(callee, call, node)

    def _arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        call = Arguments([])
        for argument in node.args:
            value = self.evaluate(argument, scope)
            if not isinstance(argument, ast.Starred):
                call.given.append(value)
            elif isinstance(value, Items) and not value.open:
                call.given += value.items[:MOST_ITEMS]
            else:
                call.dark.append(value)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg:
                call.named[keyword.arg] = value
                continue
            spread = Mapping(node)
            spread_into(spread, value)
            call.named |= {str(name): inner for name, inner in spread.entries.items()}
            call.dark += spread.dark
        return call

    def call(self, callee: Value, call: Arguments, node: ast.AST) -> Value:
        """What a call makes."""
        if isinstance(callee, Function):
            if callee.owner is not None:
                call = Arguments([callee.owner, *call.given], call.named, call.dark)
            return self.call_function(callee, call, node)
        if isinstance(callee, Class):
            return self.make_instance(callee, call, node)
        if isinstance(callee, Made) and callee.name == "partial" and callee.arguments:
            named = {**callee.keywords, **call.named}
            return self.call(
                callee.arguments[0], Arguments([*callee.arguments[1:], *call.given], named, call.dark), node
            )
        path = callee.path if isinstance(callee, Outer) else ""
        if path.endswith("shuffle") and call.given:  # random's and numpy's, which do it in place
            note_unknown_change(call.given[0], node)
        known = plain_calls.call_known(path, call.given, call.named, call.dark, node) if path else None
        if known is not None:
            return known
        return self.record_call(path, call, node, None if path else callee)

    def record_call(
        self, path: str, call: Arguments, node: ast.AST, receiver: Value | None = None, cls: Class | None = None
    ) -> Made:
        """What a call makes that the script does not define; it is kept among the calls."""
        made = Made(node, path, call.given, call.named, call.dark, receiver, cls, {}, self.order, self.arms)
        if is_trainer(made):  # whose rewards are those of now, whatever the script adds to the list later
            made.arguments = [_own_copy(value) for value in made.arguments]
            made.keywords = {name: _own_copy(value) for name, value in made.keywords.items()}
        if path in _ROW_STEPS:
            made.names = _names_then([*call.given, *call.named.values()])
        if not self.quiet:
            self.order += 1
            self.calls.append(made)
        return made

    def call_method(self, of: Value, name: str, call: Arguments, node: ast.AST) -> Value:
        """What a method makes: of texts, lists and mappings by what it is known to do, else as it is said."""
        if isinstance(of, Either) and name in plain_calls.CHANGES and as_list(of) is not None:
            return self._change_whichever(of, name, call, node)
        before = dict(of.columns) if isinstance(of, Row) else {}
        items = list(of.items) if isinstance(of, Items) else []
        if name == "shuffle" and call.given:  # Random(0).shuffle(rows)
            note_unknown_change(call.given[0], node)
        if name == "get" and isinstance(of, AllNames) and len(call.given) == 1:
            return self.item(of, call.given[0], node)
        if name == "format" and isinstance(of, Plain) and len(call.dark) == 1 and isinstance(call.dark[0], Row):
            known = fill_format(str(of.value), call.given, call.named, node, call.dark[0])
        else:
            known = plain_calls.call_method(of, name, call.given, call.named, node)
        if isinstance(of, Items) and self.is_in_doubt(of):
            of.items = changed_in_doubt(items, of.items, node)
        if isinstance(of, Row) and self.arms:
            of.columns = {column: either(node, before.get(column), value) for column, value in of.columns.items()}
        if isinstance(of, Mapping) and self.arms and name in plain_calls.CHANGES:
            note_unknown_change(of, node)
        return known if known is not None else self.record_call(f".{name}", call, node, of)

    def _change_whichever(self, of: Either, name: str, call: Arguments, node: ast.AST) -> Value:
        """Change the list that a condition decides of: each that it may be."""
        made = [self.call_method(option, name, call, node) for option in of.options]
        return made[0] if len(made) == 1 else Value(node)

    def is_in_doubt(self, of: Items) -> bool:
        """Whether what is done to a list now is done only where a condition is met that it does not stand under."""
        return any(arm not in of.arms for arm in self.arms)


_ALL_NAMES = ("globals", "locals", "vars")
_ROW_STEPS = (".map", ".filter")


def _names_then(given: list[Value]) -> Any:
    """What the names of the first function that a step is given stand for now."""
    for value in given:
        inner = value.arguments[0] if isinstance(value, Made) and value.name == "partial" and value.arguments else value
        if isinstance(inner, Function):
            return [
                (scope, {name: _own_copy(of) for name, of in names.items()}) for scope, names in inner.scope.snapshot()
            ]
    return ()


def _own_copy(value: Value) -> Value:
    """A list or a mapping as it is now, whatever is done to it later."""
    if isinstance(value, Items):
        return Items(value.node, list(value.items), value.more, value.arms)
    return Mapping(value.node, dict(value.entries), list(value.dark)) if isinstance(value, Mapping) else value
