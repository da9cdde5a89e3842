"""What a script says of its reward functions: their names, weights and parameters, and how the weights change."""

import ast
import re
from typing import Any

from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.syntax import Script, dotted_name
from groupwise.storage.checks.script_reader.training import Reading, config_call

FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
WRAPPERS = ("with_parameters", "partial")  # storage.checks.script's own, and how people do it: functools.partial


def read_rewards(reading: Reading) -> list[dict[str, Any]] | None:
    """The reward functions by name, with their weights; None where the script says none that can be read."""
    node = reading.trainer.get("reward_funcs")
    if node is None:
        return None
    resolved = reading.script.resolve(node)
    nodes = resolved.elts if isinstance(resolved, (ast.List, ast.Tuple)) else [resolved]
    weights = _weights(reading, len(nodes))
    said = reading.trainer.get("changes")
    changes = said.elts if isinstance(said, ast.List) and len(said.elts) == len(nodes) else [None] * len(nodes)
    found = []
    for function, weight, change in zip(nodes, weights, changes, strict=True):
        named = of_function(reading, function)
        if named is None:
            reading.note("A reward", function, "is no function that can be taken by its name: choose one here.")
        else:
            found.append({**named, "weight": weight, **of_change(reading, change)})
    return found or None


def of_function(reading: Reading, node: ast.expr) -> dict[str, Any] | None:
    """name, and parameters where the script gives some; None for what is no function by its name."""
    node = reading.script.resolve(node)
    wrapped = isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] in WRAPPERS
    if not isinstance(node, ast.Call) or not wrapped or len(node.args) != 1:
        name = _name(reading.script, node)
        return None if name is None else {"name": name}
    name = _name(reading.script, node.args[0])
    found, dark = reading.script.arguments(ast.Call(node.func, [], node.keywords))
    parameters: dict[str, Any] = {}
    for key, value in found.items():
        try:
            parameters[key] = reading.script.value(value)
        except Unknown:
            reading.note_computed(f"{name}'s parameter {key}", value)
    for part in dark:
        reading.note_computed(f"A parameter of {name}", part)
    return None if name is None else {"name": name, "parameters": parameters}


def _name(script: Script, node: ast.expr) -> str | None:
    """The name of a reward function, under which it was imported if it was."""
    node = script.resolve(node)
    said = dotted_name(node).rpartition(".")[2] if isinstance(node, (ast.Name, ast.Attribute)) else ""
    if isinstance(node, ast.Call) and dotted_name(node.func) == "getattr" and len(node.args) == 2:
        said = str(script.value_or(node.args[1], ""))
    said = script.imported.get(said, said)
    return said if FUNCTION.fullmatch(said) else None


def of_change(reading: Reading, node: ast.expr | None) -> dict[str, Any]:
    """schedule and adapt of a function, as WeighingTrainer (storage.checks.script.rewards) takes them."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return {}
    said = reading.script.value_or(node)
    points = said.get("schedule", []) if isinstance(said, dict) else None
    if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 for point in points):
        reading.note("How a weight changes", node, "could not be taken: set it here.")
        return {}
    schedule = [{"step": step, "weight": weight} for step, weight in points]
    return {"schedule": schedule} | ({"adapt": said["adapt"]} if "adapt" in said else {})


def _weights(reading: Reading, count: int) -> list[float]:
    call, _ = config_call(reading)
    node = reading.script.arguments(call)[0].get("reward_weights") if call else None
    given = reading.script.value_or(node)
    fits = isinstance(given, list) and len(given) == count
    if fits and all(isinstance(weight, (int, float)) and not isinstance(weight, bool) for weight in given):
        return [float(weight) for weight in given]
    if node is not None and given is not None:
        reading.note("reward_weights", node, f"does not have one number for each of the {count} rewards.")
    elif node is not None and reading.script.value_or(node, 0) is not None:
        reading.note_computed("reward_weights", node)
    return [1.0] * count
