"""Follows a script statement by statement, as it would run, without running anything: what each name stands for when
it is used, what is called, and what is set. Functions of the script are followed where they are called."""

import ast
import functools

from groupwise.storage.checks.script_reader import plain_calls
from groupwise.storage.checks.script_reader.calling import Caller
from groupwise.storage.checks.script_reader.members import Arguments, class_member, note_unknown_change
from groupwise.storage.checks.script_reader.perhaps import replace_items
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.scopes import Scope, join, restore
from groupwise.storage.checks.script_reader.values import (
    LAMBDA,
    Arm,
    Batch,
    Class,
    Deleted,
    Either,
    Function,
    Items,
    Made,
    Mapping,
    Outer,
    Plain,
    Row,
    Value,
    plain_or,
)
from groupwise.storage.spec.syntax_tree import parse_expression


class Interpreter(Caller):
    """Follows a script. Then: `module`, its names; `calls` and `settings`, in their order; `skipped`: statements that
    were not followed; `followed`: the functions that were; `stars`: the modules of which all names are imported."""

    def __init__(self, tree: ast.Module, not_followed: set[str]) -> None:
        """`not_followed`: functions whose calls stay as they are said."""
        super().__init__(not_followed)
        self.tree = tree
        self.skipped: list[ast.stmt] = []
        self.stars: list[str] = []

    def run(self) -> None:
        """Follow the whole script."""
        self.module.bind("__name__", Plain(self.tree, "__main__"))
        self.follow_block(self.tree.body, self.module)

    def follow_uncalled(self, function: Function) -> None:
        """Follow a function that the script itself calls nowhere, with the defaults of its arguments."""
        self.call_function(function, Arguments([]), function.node)

    # ---- statements: each says whether the block ends there ----
    def follow_block(self, body: list[ast.stmt], scope: Scope) -> bool:
        return any(self._statement(statement, scope) for statement in body)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        self.count()
        reader = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        return bool(reader(node, scope)) if reader is not None else False

    def _do_expr(self, node: ast.Expr, scope: Scope) -> bool:
        value = self.evaluate(node.value, scope)
        return isinstance(value, Made) and value.path in ("sys.exit", "exit", "quit") and not self.arms

    def _do_assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            _name_lambda(value, target)
            self.assign(target, value, scope, node)

    def _do_annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            value = self.evaluate(node.value, scope)
            _name_lambda(value, node.target)
            self.assign(node.target, value, scope, node)

    def _do_augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        before = self.evaluate(_loaded(node.target), scope)
        value = self.evaluate(node.value, scope)
        if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and _is_list(before):
            self.call_method(before, "extend", Arguments([value]), node)  # the same list, whatever else it is called
            return
        value = self.combine(node.op, before, value, node)
        self.assign(node.target, value, scope, node)

    def _do_if(self, node: ast.If, scope: Scope) -> bool:
        truth = self.truth(self.evaluate(node.test, scope))
        if truth is not None:
            if not truth:
                self.keep_unmet(node.test, node.body, scope)
            return self.follow_block(node.body if truth else node.orelse, scope)
        return self._branches([node.body, node.orelse], scope, node)

    def _branches(self, bodies: list[list[ast.stmt]], scope: Scope, node: ast.AST) -> bool:
        """Follow each of two blocks of which one runs; the names mean afterwards what either made of them."""
        before = scope.snapshot()
        self.count(sum(len(names) for _, names in before) // 5)
        around, is_plain = self.arms, isinstance(node, ast.If) and not node.orelse
        ends, after = [], []
        for body in bodies:
            restore(before)
            self.arms = (*around, Arm(is_plain))
            ends.append(self.follow_block(body, scope))
            after.append(scope.snapshot())
        self.arms = around
        if ends[0] != ends[1]:
            restore(after[ends.index(False)])
        elif not all(ends):
            join(after[0], after[1], node, before)
        return all(ends)

    def perhaps(self, body: list[ast.stmt], scope: Scope, node: ast.AST) -> None:
        self._branches([body, []], scope, node)

    def _do_match(self, node: ast.Match, scope: Scope) -> bool:
        self.evaluate(node.subject, scope)
        for case in node.cases:
            if case.guard is not None:
                self._read_perhaps(case.guard, scope)
            self.perhaps(case.body, scope, node)
        return False

    def _do_for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        over = plain_calls.items_over(self.evaluate(node.iter, scope))
        if over is not None and len(over) <= 64 and not _leaves(node):
            for item in list(over):
                self.assign(node.target, item, scope, node)
                if self.follow_block(node.body, scope):
                    break
            return self.follow_block(node.orelse, scope)
        self._round(node, scope)
        if not _leaves(node):
            return self.follow_block(node.orelse, scope)
        self.perhaps(node.orelse, scope, node)
        return False

    _do_asyncfor = _do_for

    def _round(self, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        """Follow a loop once whose rounds cannot be told: perhaps it never runs."""
        if not isinstance(node, ast.While):
            self.assign(node.target, Value(node), scope, node)
        self.loops += 1
        self.perhaps(node.body, scope, node)
        self.loops -= 1

    def _do_while(self, node: ast.While, scope: Scope) -> bool:
        if self.truth(self.evaluate(node.test, scope)) is False:
            return self.follow_block(node.orelse, scope)
        self._round(node, scope)
        self.perhaps(node.orelse, scope, node)
        return False

    def _do_with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        managers = []
        for item in node.items:
            managers.append(value := self.evaluate(item.context_expr, scope))
            entered = self._own_method(value, ("__enter__", "__aenter__"), node)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered or value, scope, node)
        ends = self.follow_block(node.body, scope)
        for value in reversed(managers):
            self._own_method(value, ("__exit__", "__aexit__"), node)
        return ends

    def _own_method(self, of: Value, names: tuple[str, ...], node: ast.AST) -> Value | None:
        """What a method gives that Python calls by itself; None where the script's class has none."""
        methods = (class_member(of.cls, name) for name in names) if isinstance(of, Made) else ()
        found = next((one for one in methods if isinstance(one, Function)), None)
        given = [of] + [Plain(node, None) for _ in found.node.args.args[1:]] if found is not None else []
        return self.call_function(found, Arguments(given), node) if found is not None else None

    _do_asyncwith = _do_with

    def _do_try(self, node: ast.Try, scope: Scope) -> bool:
        """What is tried, as it goes well; what is done where it fails is told apart (see leftovers)."""
        self.skipped += [statement for handler in node.handlers for statement in handler.body]
        ends = self.follow_block(node.body, scope) or self.follow_block(node.orelse, scope)
        return self.follow_block(node.finalbody, scope) or ends

    _do_trystar = _do_try

    def _do_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        function = Function(node, scope, node.name, None, scope is self.module)
        self.read_defaults(node.args, scope)
        scope.bind(node.name, function)
        if node.decorator_list:
            self.quiet += 1
            decorators = [self.evaluate(each, scope) for each in node.decorator_list]
            self.define_command(function, decorators)
            for decorator in decorators:  # of the script's own, for what it puts the function into: REWARDS[name] = f
                if isinstance(decorator, Function):
                    self.call(decorator, Arguments([function]), node)
            self.quiet -= 1

    _do_asyncfunctiondef = _do_functiondef

    def _do_classdef(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = Scope({}, scope)
        self.follow_block(node.body, inner)
        bases = [self.evaluate(base, scope) for base in node.bases]
        members = dict(inner.names)
        made = Class(node, node.name, bases, members)
        for member in members.values():  # a method does not see the names of its class
            if isinstance(member, Function) and member.scope is inner:
                member.scope, member.within = scope, made
        scope.bind(node.name, made)

    def _do_return(self, node: ast.Return, scope: Scope) -> bool:
        value = self.evaluate(node.value, scope) if node.value is not None else Plain(node, None)
        if self.arms and isinstance(value, (Batch, Row)):
            value = value.copy()  # what is set behind this return is not in it
        if self._frames:
            self._frames[-1].returns.append(value)
        return True

    def _do_raise(self, node: ast.Raise, scope: Scope) -> bool:
        for said in (node.exc, node.cause):  # raise SystemExit(main())
            if said is not None:
                self.evaluate(said, scope)
        return True

    def _do_assert(self, node: ast.Assert, scope: Scope) -> None:
        self.evaluate(node.test, scope)

    def _do_break(self, node: ast.stmt, scope: Scope) -> bool:
        return True

    _do_continue = _do_break

    def _do_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            scope.bind(name, Outer(node, alias.name if alias.asname else name))

    def _do_importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                scope.bind(alias.asname or alias.name, Outer(node, f"{module}.{alias.name}"))

    def _do_global(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.outside |= set(node.names)

    _do_nonlocal = _do_global

    def _do_delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                self.assign(target, Deleted(node), scope, node)
            elif isinstance(target, ast.Subscript):
                of, key = self.evaluate(target.value, scope), plain_or(self.evaluate(target.slice, scope), Unknown)
                if isinstance(of, Mapping) and isinstance(key, str) and key in of.entries and not self.arms:
                    del of.entries[key]
                elif isinstance(of, Items):
                    replace_items(of, self.evaluate(target.slice, scope), Items(node, []), node, self.is_in_doubt(of))
                elif isinstance(of, Mapping):
                    note_unknown_change(of, node)
                else:
                    self.assign(target, Deleted(node), scope, node)


def _name_lambda(value: Value, target: ast.expr) -> None:
    """A lambda is called as the name that it is given first: short = lambda …"""
    if isinstance(value, Function) and value.name == LAMBDA and isinstance(target, ast.Name):
        value.name = target.id


def _is_list(value: Value) -> bool:
    """Whether += adds to a value itself: to a list, not to a tuple."""
    options = value.options if isinstance(value, Either) else [value]
    return all(isinstance(one, Items) and not isinstance(one.node, ast.Tuple) for one in options)


def _loaded(target: ast.expr) -> ast.expr:
    """A target, as an expression that is read."""
    copied = parse_expression(ast.unparse(target))
    return ast.copy_location(copied, target)


@functools.cache
def _leaves(node: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop may end early or skip a part of a round."""
    return any(isinstance(inner, (ast.Break, ast.Continue, ast.Return)) for inner in ast.walk(node))
