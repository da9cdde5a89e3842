"""What a person typed into a block, read from the code that it made. Pure."""

import ast
from typing import Any

Function = ast.FunctionDef
Settings = dict[str, Any]
Constants = dict[str, ast.expr]


def literal_of(node: ast.AST | None) -> Any:
    """The value of a literal; None where it is none."""
    try:
        return ast.literal_eval(node) if isinstance(node, ast.expr) else None
    except (ValueError, TypeError, SyntaxError):
        return None


def _of_pattern(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    made = constants.get(f"PATTERN{suffix}")
    arguments = made.args if isinstance(made, ast.Call) else []
    flags = {node.attr for each in arguments[1:] for node in ast.walk(each) if isinstance(node, ast.Attribute)}
    found = {"pattern": _text(arguments[0] if arguments else None), "ignore_case": "IGNORECASE" in flags}
    return {**found, "dot_all": "DOTALL" in flags, **_examples(part.name, test)}


def _examples(helper: str, test: Function | None) -> Settings:
    """The examples that a test has of a pattern."""
    found: Settings = {}
    example = ""
    for node in test.body if test else []:
        if isinstance(node, ast.Assign):
            example = _text(node.value)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Call):
            called = node.test.left
            if isinstance(called.func, ast.Name) and called.func.id == helper and called.args:
                first = called.args[0]
                key = "earns" if isinstance(node.test.ops[0], ast.Eq) else "fails"
                found[key] = example if isinstance(first, ast.Name) else _text(first)
    return found


def _of_texts(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    return {"texts": _texts(constants.get(f"TEXTS{suffix}"))}


def _of_keys(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    return {"keys": _texts(constants.get(f"KEYS{suffix}"))}


def _of_number(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    """`wanted = Decimal(3)`, `given = number_in(answer_in(text, "answer"), "point")`, `<= Decimal("0.5")`,
    `* Decimal(5) / 100`."""
    found: Settings = {"tolerance": 0.0, "value": None}
    for node in ast.walk(part):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "wanted":
            found["value"] = _decimal(node.value)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "given":
            found |= _place_of_number(node.value)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.LtE):
            found["tolerance"] = _decimal(node.comparators[0]) or 0.0
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _decimal(node.right) is not None:
            found["near"] = _decimal(node.right)
    return found


def _place_of_number(node: ast.expr) -> Settings:
    """`number_in(answer_in(text, "answer"), "point")` → where the number stands, and how it is written."""
    taken = _called(node)
    arguments = node.args if isinstance(node, ast.Call) else []
    inner = arguments[0] if arguments else None
    about = _text(inner.args[1]) if isinstance(inner, ast.Call) and len(inner.args) > 1 else ""
    found: Settings = {"decimal": _text(arguments[-1]) or "point"} if arguments else {}
    if (name := _called(inner)) == "answer_in":
        return found | {"where": "tag", "tag": about}
    if name == "after_marker":
        return found | {"where": "marker", "marker": about}
    if name == "boxed_in":
        return found | {"where": "boxed"}
    return found | {"where": "first" if taken == "first_number_in" else "last"}


def _called(node: ast.AST | None) -> str:
    """The name of what a call calls."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _decimal(node: ast.expr) -> float | None:
    """The number of `Decimal(3)` or `Decimal("3.5")`."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Decimal"
    value = literal_of(node.args[0]) if called and node.args else None  # type: ignore[attr-defined]
    try:
        return float(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    except ValueError:
        return None


def _of_length(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    """`1 <= … <= 200`; with partial credit `if count < 1` and `200 / max(…)`."""
    found: Settings = {"least": 0}
    for node in ast.walk(part):
        if isinstance(node, ast.Compare) and len(node.ops) == 2:
            found |= {"least": literal_of(node.left), "most": literal_of(node.comparators[1])}
        elif isinstance(node, ast.Compare):
            found["least"] = literal_of(node.comparators[0])
        elif isinstance(node, ast.BinOp) and isinstance(node.right, ast.Call):
            found["most"] = literal_of(node.left)
    return {key: value for key, value in found.items() if isinstance(value, int)}


def _of_judge(part: Function, constants: Constants, suffix: str, test: Function | None) -> Settings:
    question, model, url = (
        _text(constants.get(f"{name}{suffix}")) for name in ("QUESTION", "JUDGE_MODEL", "JUDGE_URL")
    )
    return {"question": question, "model": model, "endpoint": url.removesuffix("/chat/completions")}


def _text(node: ast.expr | None) -> str:
    value = literal_of(node)
    return value if isinstance(value, str) else ""


def _texts(node: ast.expr | None) -> list[str]:
    value = literal_of(node)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


# By kind: (the helper, the constants, its suffix, the test) → settings.
READERS = {
    "matches": _of_pattern, "contains": _of_texts, "number_equals": _of_number, "length_between": _of_length,
    "valid_json": _of_keys, "judge_says": _of_judge,
}  # fmt: skip
