"""Plain expressions of a script to what they stand for: constants, texts, operators, comparisons, choices. Nothing of
the script is executed: plain values are computed within bounds, and what cannot be told stays a value of its own."""

import ast
from collections.abc import Callable, Sequence

from groupwise.storage.checks.script_reader import plain, plain_calls
from groupwise.storage.checks.script_reader.members import (
    combine_plain,
    is_fields_of_trl,
    is_object,
    spread_into,
)
from groupwise.storage.checks.script_reader.perhaps import join_lists
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.scopes import Scope, either
from groupwise.storage.checks.script_reader.text_values import fill_percent, is_text, join_texts
from groupwise.storage.checks.script_reader.values import (
    LAMBDA,
    Arm,
    Class,
    Either,
    Function,
    Items,
    Mapping,
    Outer,
    Perhaps,
    Plain,
    Row,
    Value,
    plain_or,
)
from groupwise.storage.spec.words.problem import Problem, SpecError

MAX_WORK = 300_000  # expressions that are followed: loops in functions in loops could go on for ever


class Expressions:
    """Reads expressions that make plain values; those of names, containers and calls are a subclass's."""

    def __init__(self) -> None:
        self.work = 0
        self.arms: tuple[Arm, ...] = ()  # the undecided branches around what is read now

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression stands for."""
        self.count()
        reader = getattr(self, f"_read_{type(node).__name__.lower()}", None)
        return reader(node, scope) if reader is not None else self._unread(node, scope)

    def keep_unmet(self, test: ast.expr, body: Sequence[ast.AST], scope: Scope) -> None:
        """What stands under a condition that does not hold."""
        raise NotImplementedError

    def count(self, work: int = 1) -> None:
        """Count work. Raises SpecError where it is too much for any script that is meant."""
        self.work += work
        if self.work > MAX_WORK:
            raise SpecError([Problem("", "The script does too much to be followed. Paste the part that trains.")])

    def _unread(self, node: ast.expr, scope: Scope) -> Value:
        """Of no kind that is followed: its calls are, as they happen anyway."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        return Value(node)

    def _read_constant(self, node: ast.Constant, scope: Scope) -> Value:
        said = node.value
        if isinstance(said, str):
            self.count(len(said) // 100)
        if type(said) is int and abs(said) >= 2**256:
            return Value(node)
        return Plain(node, said) if said is None or isinstance(said, (bool, int, float, str)) else Value(node)

    def _read_name(self, node: ast.Name, scope: Scope) -> Value:
        found = scope.look_up(node.id)
        return found if found is not None else Outer(node, node.id)

    def _read_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts: list[Value] = []
        for part in node.values:
            inner = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            bare = not isinstance(part, ast.FormattedValue) or (part.conversion == -1 and part.format_spec is None)
            simple = isinstance(inner, Plain) and isinstance(inner.value, (str, int)) and bare
            parts.append(Plain(node, str(inner.value)) if simple else inner if bare else Value(part))  # type: ignore[attr-defined]
        made = join_texts(node, parts)
        self.count(len(made.value) // 100 if isinstance(made, Plain) and isinstance(made.value, str) else 0)
        return made

    def _read_unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        operand = self.evaluate(node.operand, scope)
        inner = plain_or(operand, Unknown)
        if isinstance(node.op, ast.Not) and (truth := self.truth(operand)) is not None:
            return Plain(node, not truth)
        if isinstance(node.op, (ast.USub, ast.UAdd)) and isinstance(inner, (int, float)):
            try:
                number = plain.as_number(inner)
            except Unknown:
                return Value(node)
            return Plain(node, -number if isinstance(node.op, ast.USub) else number)
        return Value(node)

    def _read_binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        return self.combine(node.op, left, right, node)

    def combine(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        """What an operator makes of two values."""
        if isinstance(op, ast.BitOr) and isinstance(left, (Mapping, Row)) and isinstance(right, (Mapping, Row)):
            both = Mapping(node)
            spread_into(both, left)
            spread_into(both, right)
            return both
        if isinstance(op, ast.Add) and (joined := join_lists(node, left, right, self.arms)) is not None:
            return joined
        if (known := combine_plain(op, left, right)) is not Unknown:
            self.count(len(known) // 100 if isinstance(known, str) else 0)
            return Plain(node, known)
        if isinstance(op, ast.Add) and (is_text(left) or is_text(right)):
            return join_texts(node, [left, right])
        if isinstance(op, ast.Mod) and isinstance(left, Plain) and isinstance(left.value, str):
            return fill_percent(node, left.value, right.items if isinstance(right, Items) else [right])
        return Value(node)

    def _read_compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.evaluate(part, scope) for part in (node.left, *node.comparators)]
        sides = [plain_or(value, Unknown) for value in values]
        if sides[1:] == [None] and is_object(values[0]) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return Plain(node, isinstance(node.ops[0], ast.IsNot))
        if len(values) == 2 and isinstance(values[1], Mapping) and not values[1].dark:
            sides[1] = dict.fromkeys(values[1].entries)  # a key is in it, whatever the values are
        if len(values) == 2 and isinstance(node.ops[0], (ast.In, ast.NotIn)) and is_fields_of_trl(values[1]):
            return Plain(node, isinstance(node.ops[0], ast.In))
        if len(sides) != 2 or Unknown in [side for side in sides if side is Unknown]:
            return Value(node)
        said = plain_calls.compare(node.ops[0], *sides)
        return Value(node) if said is None else Plain(node, said)

    def _read_boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        stops = isinstance(node.op, ast.Or)
        options: list[Value] = []
        for part in node.values:
            value = self._read_perhaps(part, scope) if options else self.evaluate(part, scope)
            truth = self.truth(value)
            if truth is None:
                options.append(value)
            elif truth is stops or part is node.values[-1]:
                options.append(value)
                break
        return options[0] if len(options) == 1 else Either(node, options or [Value(node)])

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true; None where only running the script would tell."""
        if isinstance(value, (Items, Mapping)):
            items = value.items if isinstance(value, Items) else []
            parts = [one for one in items if not isinstance(one, Perhaps)] if items else getattr(value, "entries", [])
            dark = value.open if isinstance(value, Items) else bool(value.dark)
            return True if parts else None if dark else False
        if isinstance(value, (Function, Class)) or is_object(value):
            return True
        return bool(value.value) if isinstance(value, Plain) else None

    def _read_ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        truth = self.truth(self.evaluate(node.test, scope))
        if truth is False:
            self.keep_unmet(node.test, [node.body], scope)
        if truth is not None:
            return self.evaluate(node.body if truth else node.orelse, scope)
        return either(node, self._read_perhaps(node.body, scope), self._read_perhaps(node.orelse, scope))

    def _read_perhaps(self, node: ast.expr, scope: Scope) -> Value:
        """An expression that an undecided condition leads to."""
        return self.read_perhaps(lambda: self.evaluate(node, scope))

    def read_perhaps(self, read: Callable[[], Value]) -> Value:
        """What is read where an undecided condition leads to it."""
        around, self.arms = self.arms, (*self.arms, Arm())
        value = read()
        self.arms = around
        return value

    def _read_lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Function(node, scope, LAMBDA)

    def _read_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        scope.bind(node.target.id, value)
        return value

    def _read_await(self, node: ast.Await, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _read_starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)
