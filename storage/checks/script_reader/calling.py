"""What a script's calls do: its own functions and classes are followed where they are called, with their arguments and
defaults; attributes and keys that are set on what it does not define are kept as they are said."""

import ast
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.checks.script_reader.callees import copies_config, functions_of, generates, outer_base
from groupwise.storage.checks.script_reader.command_line import (
    PARSES,
    PARSING,
    decorated_options,
    parsed_arguments,
    parsed_object,
    typer_default,
)
from groupwise.storage.checks.script_reader.evaluate import Evaluator
from groupwise.storage.checks.script_reader.fluent_setters import SETTERS, set_by_call
from groupwise.storage.checks.script_reader.given_arguments import arguments_in_script
from groupwise.storage.checks.script_reader.members import (
    Arguments,
    class_member,
    from_python,
    is_hashable,
    is_trl_class,
    spread_into,
)
from groupwise.storage.checks.script_reader.perhaps import as_list, replace_items
from groupwise.storage.checks.script_reader.places import configs_of, is_config, owner_of_dict, part_within
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.plain_calls import items_over
from groupwise.storage.checks.script_reader.scopes import AllNames, Scope, either
from groupwise.storage.checks.script_reader.values import (
    Arm,
    Batch,
    Class,
    Deleted,
    Either,
    Function,
    Given,
    Item,
    Items,
    Made,
    Mapping,
    Outer,
    Plain,
    Row,
    Super,
    Value,
    plain_or,
    where_unmet,
)

MAX_CALLS = 20  # functions of the script inside one another


@dataclass(eq=False)
class Setting:
    """An attribute or a key that the script sets: `os.environ["X"] = …`, `args.beta = 0.1`."""

    node: ast.AST
    of: Value
    name: str
    value: Value
    order: int  # how many calls came before it
    arms: tuple[Arm, ...]  # the undecided branches around it


@dataclass(eq=False)
class Frame:
    """A function of the script while it is followed: what it has returned so far; of a method, the class that it stands
    in and whose it is."""

    returns: list[Value] = field(default_factory=list)
    within: Class | None = None
    owner: Value | None = None


class Caller(Evaluator):
    """Follows calls. `settings`: what the script sets, in its order; `followed`: the functions that were followed;
    `parsed`: what it reads from its command line; `environment`: the variables that it reads, with a default;
    `repeated`: calls in a loop whose rounds cannot be told; `unmet`: what stands under a condition that does not hold
    only as nobody gives a command line or an environment, each with that condition; `besides`: what setters of a config
    set without being given it."""

    def __init__(self, not_followed: set[str]) -> None:
        """`not_followed`: functions whose calls stay as they are said."""
        super().__init__()
        self._not_followed = not_followed
        self.settings: list[Setting] = []
        self.followed: set[int] = set()
        self.parsed: list[Value] = []
        self.repeated: set[int] = set()
        self.environment: list[tuple[str, ast.AST]] = []
        self.unmet: list[tuple[ast.expr, Sequence[ast.AST]]] = []
        self.besides: list[tuple[str, ast.AST, dict[str, Any]]] = []
        self.copied: dict[int, Made] = {}  # configs that were made like another, by what was made
        self._defaults: dict[int, Value] = {}  # what is so only where nobody says otherwise from outside
        self._lasting: dict[tuple[int, int], tuple[Value, Scope]] = {}  # lists and dicts that are defaults
        self._commanded: set[int] = set()  # functions whose arguments a command line gives
        self._commands: dict[int, list[Function]] = {}
        self._frames: list[Frame] = []
        self._active: list[ast.AST] = []

    # ---- what a subclass does ----
    def follow_block(self, body: list[ast.stmt], scope: Scope) -> bool:
        """Follow statements; whether they end what they stand in."""
        raise NotImplementedError

    def perhaps(self, body: list[ast.stmt], scope: Scope, node: ast.AST) -> None:
        """Follow statements that may be done, and when, nobody can tell here."""
        raise NotImplementedError

    # ---- functions and classes ----
    def call_function(self, function: Function, call: Arguments, node: ast.AST) -> Value:
        body = function.node
        if body in self._active or len(self._active) >= MAX_CALLS:
            return Value(node)
        read = any(not isinstance(value, Given) for value in function.options.values())
        if read and not call.given and not call.named:
            self.parsed.append(function)
        self.followed.add(id(body))
        bound = self._bound(function, call, node)
        if function.options or id(body) in self._commanded:
            self._keep_defaults(bound.values())
        scope = Scope(dict(bound), function.scope)
        if isinstance(body, ast.Lambda):
            self._active.append(body)
            value = self.evaluate(body.body, scope)
            self._active.pop()
            return value
        frame = Frame(within=function.within, owner=call.given[0] if call.given else None)
        self._frames.append(frame)
        self._active.append(body)
        if generates(body):  # whoever takes what it yields decides when each part is done, and whether
            self.perhaps(body.body, scope, body)
        elif not self.follow_block(body.body, scope):
            frame.returns.append(Plain(node, None))
        self._active.pop()
        self._frames.pop()
        if generates(body):
            return Value(node)
        found: Value | None = None
        for value in frame.returns:
            found = value if found is None else either(node, found, value)
        if isinstance(found, Function) and found.scope is scope and found.made_by is None:
            found.made_by = Made(node, function.name, [], bound, [])
        return found if found is not None else Value(node)

    def _bound(self, function: Function, call: Arguments, node: ast.AST) -> dict[str, Value]:
        """The names of a function's arguments, with what the call gives or their defaults."""
        given = function.node.args
        places = [argument.arg for argument in (*given.posonlyargs, *given.args)]
        names: dict[str, Value] = dict(zip(places, call.given, strict=False))
        rest = call.given[len(places) :]
        defaults = dict(zip(places[len(places) - len(given.defaults) :], given.defaults, strict=True))
        only = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        defaults |= {argument.arg: default for argument, default in only if default is not None}
        every = [*places, *(argument.arg for argument in given.kwonlyargs)]
        extra = {name: value for name, value in call.named.items() if name not in every}
        for name in every:
            if name in call.named:
                names[name] = call.named[name]
            elif name not in names and name in function.options:
                names[name] = function.options[name]
            elif name not in names and name in defaults and not call.dark:
                names[name] = typer_default(self._default_of(defaults[name], function.scope))
            elif name not in names:
                names[name] = Value(node)
        if given.vararg:
            names[given.vararg.arg] = Items(node, rest, bool(call.dark))
        if given.kwarg:
            names[given.kwarg.arg] = Mapping(node, dict(extra), list(call.dark))
        return names

    def read_defaults(self, given: ast.arguments, scope: Scope) -> None:
        """Follow what a function's defaults call, which happens as it is defined."""
        for said in (*given.defaults, *given.kw_defaults):
            if isinstance(said, ast.Call):
                self._default_of(said, scope)

    def _default_of(self, said: ast.expr, scope: Scope) -> Value:
        """An argument's default; a list, a dict or what a call makes is made once, so that one call finds what the one
        before did to it."""
        if not isinstance(said, (ast.Dict, ast.List, ast.Call)):
            return self.evaluate(said, scope)
        key = (id(said), id(scope))
        if key not in self._lasting:
            self._lasting[key] = self.evaluate(said, scope), scope
        return self._lasting[key][0]

    def make_instance(self, cls: Class, call: Arguments, node: ast.AST) -> Value:
        """An object of a class of the script; its __init__ is followed where nothing but the script's own is in it."""
        outer = outer_base(cls)
        made = self.record_call(outer or cls.name, call, node, None, cls)
        start = class_member(cls, "__init__")
        after = class_member(cls, "__post_init__") if start is None and not outer else None
        if isinstance(start, Function) and not outer:
            self.call_function(start, Arguments([made, *call.given], call.named, call.dark), node)
        elif not outer:
            made.later |= dict(zip([n for n in cls.members if not isinstance(cls.members[n], Function)], call.given,
                                   strict=False)) | call.named  # fmt: skip
        if isinstance(after, Function):
            self.call_function(after, Arguments([made]), node)
        return made

    def call(self, callee: Value, call: Arguments, node: ast.AST) -> Value:
        path = callee.path if isinstance(callee, Outer) else ""
        if (
            path in ("setattr", "object.__setattr__")
            and len(call.given) == 3
            and isinstance(name := plain_or(call.given[1]), str)
        ):
            self._set(call.given[0], name, call.given[2], node)
            return Plain(node, None)
        if path == "super" and not call.given and (parent := self._parent(node)) is not None:
            return parent
        if path in ("map", "filter") and len(call.given) == 2 and isinstance(function := call.given[0], Function):
            self.each_time(function, call.given[1], node)
        if (choices := functions_of(callee)) and isinstance(node, ast.Call):
            return Either(node, [self.read_perhaps(functools.partial(self.call, one, call, node)) for one in choices])
        if path == "delattr" and len(call.given) == 2 and isinstance(name := plain_or(call.given[1]), str):
            self._set(call.given[0], name, Deleted(node), node)
            return Plain(node, None)
        if path == "os.environ.setdefault" and len(call.given) == 2:
            self._set_item(Outer(node, "os.environ"), call.given[0], call.given[1], node)
            return call.given[1]
        if path == "getattr" and len(call.given) >= 2 and isinstance(name := plain_or(call.given[1]), str):
            return self.attribute(call.given[0], name, node)
        if path == "hasattr" and call.given and is_trl_class(call.given[0]):
            return Plain(node, True)
        if path in ENVIRONMENT and len(call.given) == 2 and isinstance(name := plain_or(call.given[0]), str):
            self.environment.append((name, node))
            self._keep_defaults(call.given[1:])
            return call.given[1]
        if id(callee) in self._commands:
            self._run_commands(callee, node)
            return Plain(node, None)
        if path.endswith("OmegaConf.from_cli"):
            self.parsed.append(Value(node))
            return Mapping(node)
        if path in PARSING and call.given and isinstance(call.given[0], Class):
            self.parsed.append(Value(node))
            return parsed_object(call.given[0], node)
        if isinstance(callee, Made) and callee.cls is not None:
            method = class_member(callee.cls, "__call__")
            if isinstance(method, Function):
                return self.call_function(method, Arguments([callee, *call.given], call.named, call.dark), node)
        if copies_config(path, call) and isinstance(old := call.given[0], Made):
            self.calls = [one for one in self.calls if one is not old]
            changed = Arguments(old.arguments, {**old.keywords, **old.later, **call.named}, old.dark + call.dark)
            made = self.record_call(old.path, changed, node, None, old.cls)
            self.copied[id(made)] = old
            return made
        if (
            path in _FIELDS_OF
            and len(call.given) == 1
            and (fields := self._fields(path, call.given[0], node)) is not None
        ):
            return fields
        if isinstance(callee, Function) and callee.name in self._not_followed:
            return self.record_call(callee.name, call, node)
        for value in call.given[:1] if path.rpartition(".")[2] in RUNNERS else []:
            if isinstance(value, Function):  # typer.run(main), fire.Fire(main), app.run(main)
                self.parsed.append(Value(node))
                self._commanded.add(id(value.node))
                self.call_function(value, Arguments([]), node)
        return super().call(callee, call, node)

    def _parent(self, node: ast.AST) -> Super | None:
        """What super() is in a method of a class that derives from others of the script."""
        frame = self._frames[-1] if self._frames else None
        if frame is None or frame.within is None or frame.owner is None:
            return None
        bases = [base for base in frame.within.bases if isinstance(base, Class)]
        return Super(node, bases, frame.owner) if bases else None

    def each_time(self, function: Function, over: Value, node: ast.AST) -> None:
        """Follow a function for each item of a list; where they cannot be told, once, perhaps."""
        for item in items_over(over) or []:
            self.call(function, Arguments([item]), node)
        if items_over(over) is None:
            self.loops += 1
            self.read_perhaps(lambda: self.call(function, Arguments([Value(node)]), node))
            self.loops -= 1

    def _fields(self, path: str, of: Value, node: ast.AST) -> Mapping | None:
        """What asdict(settings) and vars(args) give; None where not all fields are known."""
        if not isinstance(of, Made) or (path == "vars" and is_config(of)):
            return None
        if of.path == "argparse.Namespace":
            return Mapping(node, of.later)
        if of.cls is None and (of.parsed or not is_config(of)):
            return None
        members = of.cls.members if of.cls is not None else {}
        names = [name for name, value in members.items() if not isinstance(value, Function)]
        defaults = {name: value for name in names if (value := class_member(of.cls, name)) is not None}
        if of.cls is not None and (of.cls.bases or len(of.arguments) > len(names)):
            return None
        if of.cls is None:
            self.calls = [one for one in self.calls if one is not of]
        return Mapping(node, {**defaults, **of.keywords, **of.later}, list(of.dark))

    def define_command(self, function: Function, decorators: list[Value]) -> None:
        """What the decorators of a function say of its arguments: those of click, typer and Hydra."""
        function.options = decorated_options(function, decorators)
        for value in decorators:
            if isinstance(value, Made) and value.name == "command" and value.receiver is not None:
                self._commands.setdefault(id(value.receiver), []).append(function)

    def _run_commands(self, app: Value, node: ast.AST) -> None:
        """app(), of typer or a group of click: whichever command is named, so each is followed."""
        for function in self._commands.pop(id(app)):
            self.parsed.append(Value(node))
            self._commanded.add(id(function.node))
            self.call_function(function, Arguments([]), node)

    def call_method(self, of: Value, name: str, call: Arguments, node: ast.AST) -> Value:
        if name == "to_dict" and is_config(of) and (fields := self._fields(name, of, node)) is not None:
            return fields
        owner = owner_of_dict(of)
        if name == "update" and owner is not None and self._update(owner, call, node):
            return Plain(node, None)
        if name in SETTERS and (configs := configs_of(of)):
            for config in configs:
                self._set_by_setter(config, name, call, node)
            return of
        if name == "__setattr__" and len(call.given) == 2 and isinstance(said := plain_or(call.given[0]), str):
            self._set(of, said, call.given[1], node)
            return Plain(node, None)
        parsed = parsed_arguments(of, name, call, node)
        if name in PARSES and parsed is not None and arguments_in_script(name, call, node) is None:
            self.parsed.append(parsed)
            first = parsed.items[0] if isinstance(parsed, Items) and parsed.items else parsed
            if isinstance(first, Made):
                self._keep_defaults(first.later.values())
        return parsed if parsed is not None else super().call_method(of, name, call, node)

    def _set_by_setter(self, of: Made, name: str, call: Arguments, node: ast.AST) -> None:
        """args.set_training(…), which gives the config back."""
        found, besides = set_by_call(of, name, call, node)
        for setting, value in (found | {each: from_python(node, said) for each, said in besides.items()}).items():
            self._set(of, setting, value, node)
        of.dark += call.dark
        if besides:
            self.besides.append((name, node, besides))

    # ---- what only a command line or an environment changes ----
    def _keep_defaults(self, values: Iterable[Value]) -> None:
        self._defaults |= {id(value): value for value in values}

    def keep_unmet(self, test: ast.expr, body: Sequence[ast.AST], scope: Scope) -> None:
        if not self.quiet and any(self._is_default(node, scope) for node in ast.walk(test)):
            self.unmet.append((test, body))

    def _is_default(self, node: ast.AST, scope: Scope) -> bool:
        """Whether a name, or an attribute of one, is a default of the command line or of the environment; or what reads
        that."""
        if isinstance(node, ast.Call):
            return ast.unparse(node.func) in ENVIRONMENT and len(node.args) == 2
        if isinstance(node, ast.Name):
            return id(scope.look_up(node.id)) in self._defaults
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        of = scope.look_up(node.value.id)
        if not isinstance(of, Made):
            return False
        return of.parsed and node.attr not in of.later or id(of.later.get(node.attr)) in self._defaults

    def record_call(
        self, path: str, call: Arguments, node: ast.AST, receiver: Value | None = None, cls: Class | None = None
    ) -> Made:
        made = super().record_call(path, call, node, receiver, cls)
        if self.loops:
            self.repeated.add(id(made))
        return made

    # ---- what is set ----
    def assign(self, target: ast.expr, value: Value, scope: Scope, node: ast.AST) -> None:
        if isinstance(target, ast.Attribute):
            self._set(self.evaluate(target.value, scope), target.attr, value, node)
        elif isinstance(target, ast.Subscript):
            self._set_item(self.evaluate(target.value, scope), self.evaluate(target.slice, scope), value, node)
        else:
            super().assign(target, value, scope, node)

    def _set(self, of: Value, name: str, value: Value, node: ast.AST) -> None:
        if name == "__name__" and isinstance(of, Function):
            of.given_name = value
            return
        if name == "__name__" and isinstance(of, Made) and of.name == "partial":
            of.later[name] = value
            return
        if isinstance(of, Class):
            of.members[name] = value
        elif isinstance(of, Made):
            doubtful = any(arm not in of.arms for arm in self.arms)
            old = of.later.get(name, of.keywords.get(name))
            of.later[name] = self._perhaps(node, old, value) if doubtful else value
        elif isinstance(of, Either):  # whichever it is
            for config in configs_of(of):
                config.later[name] = value
        if not self.quiet and not isinstance(of, Class):
            self.settings.append(Setting(node, of, name, value, self.order, self.arms))

    def _perhaps(self, node: ast.AST, old: Value | None, value: Value) -> Value:
        """What something is that is set where a condition is met."""
        return either(node, old, value, where_unmet(old) if all(arm.plain for arm in self.arms) else None)

    def _update(self, owner: Made, call: Arguments, node: ast.AST) -> bool:
        """vars(args).update(…): sets each attribute; whether all their names are known."""
        made = Mapping(node, dict(call.named), list(call.dark))
        for value in call.given:
            spread_into(made, value)
        if made.dark or not all(isinstance(name, str) for name in made.entries):
            return False
        for name, value in made.entries.items():
            self._set(owner, name, value, node)
        return True

    def _set_item(self, of: Value, key: Value, value: Value, node: ast.AST) -> None:
        known = plain_or(key, Unknown)
        plain_key = is_hashable(known)
        if (owner := owner_of_dict(of)) is not None and isinstance(known, str):
            self._set(owner, known, value, node)
        elif isinstance(of, AllNames) and isinstance(known, str):
            of.scope.bind(known, value)
        elif isinstance(of, (Batch, Row)) and isinstance(known, str):
            rows = of.rows if isinstance(of, Batch) else [of]
            values = rows_of_batch(value, len(rows)) if isinstance(of, Batch) else [value]
            for row, given in zip(rows, values, strict=True):
                row.columns[known] = either(node, row.columns.get(known), given) if self.arms else given
        elif isinstance(of, Mapping) and plain_key:
            old = of.entries.get(known)
            of.entries[known] = self._perhaps(node, old, value) if self.arms else value
        elif isinstance(of, Mapping):
            of.dark.append(value)
        elif isinstance(of, Items):
            new = as_list(value) if isinstance(key.node, ast.Slice) else Items(node, [value])
            replace_items(of, key, new, node, self.is_in_doubt(of))
        elif not self.quiet:
            name = known if isinstance(known, str) else ""
            if isinstance(of, Made) and name:  # splits["train"] = splits["train"].map(…)
                old = part_within(value, of, name) or Item(node, of, key)
                of.parts[name] = self._perhaps(node, of.parts.get(name, old), value) if self.arms else value
            self.settings.append(Setting(node, of, name, value, self.order, self.arms))


ENVIRONMENT = {"os.environ.get", "os.getenv", "environ.get", "getenv"}
RUNNERS = {"run", "Fire", "launch", "notebook_launcher", "CLI"}


_FIELDS_OF = {"asdict", "dataclasses.asdict", "vars"}


def rows_of_batch(value: Value, count: int) -> list[Value]:
    """What each of so many rows has of a batch's column; unknown where rows do not match."""
    if isinstance(value, Items) and len(value.items) == count and not value.open:
        return value.items
    return [Value(value.node)] * count
