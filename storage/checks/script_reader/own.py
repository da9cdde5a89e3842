"""What the constants of a script say that storage.checks.script wrote: every setting, exactly."""

import ast
import re
from typing import Any

from groupwise.storage.checks.script import TITLE, UNUSED, prompts
from groupwise.storage.checks.script_reader import dataset
from groupwise.storage.checks.script_reader.rewards import of_change, of_function
from groupwise.storage.checks.script_reader.training import Reading

PROCESSES = re.compile(r"--num_processes (\d{1,4})(?!\d)")
DATA = {
    "PARAMETERS": "parameters", "SHUFFLE_SEED": "shuffle", "LIMIT": "limit", "HOLDOUT": "holdout",
    "SYSTEM_PROMPT": "system_prompt", "PROMPT_COLUMN": "prompt_column", "PROMPT_TEMPLATE": "prompt_template",
    "ANSWER_COLUMN": "answer_column", "ANSWER_PATTERN": "answer_pattern", "COLUMNS": "columns",
}  # fmt: skip


def is_own(tree: ast.Module) -> bool:
    """Whether a script is one that storage.checks.script wrote, however it was edited since: it has prompts(chat)."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "prompts")
    return any([argument.arg for argument in node.args.args] == ["chat"] for node in functions)


def title(tree: ast.Module) -> dict[str, Any]:
    """name, and launch where there are several processes, from the docstring."""
    words = ast.get_docstring(tree, clean=False) or ""
    name, _, command = words.rpartition(TITLE)
    processes = PROCESSES.search(command)
    launch = {"launch": {"processes": int(processes[1])}} if processes else {}
    return ({"name": name} if name else {}) | launch


def own_data(reading: Reading) -> dict[str, Any]:
    """The settings of the data that only a script of Groupwise's own says."""
    script = reading.script
    taken: dict[str, Any] = {"answer_column": None}
    for name, field in DATA.items():
        node = script.constant(name)
        if node is None:
            continue
        taken[field] = script.value_or(node)
        if taken[field] is None:
            del taken[field]
            reading.note_computed(name, node)
    return taken | _source(reading) | _examples(reading) | _filter(reading)


def _examples(reading: Reading) -> dict[str, Any]:
    node = reading.script.constant("EXAMPLES")
    said = reading.script.value_or(node, [])
    messages = said if isinstance(said, list) else []
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    if node is not None and (not contents or len(contents) % 2):
        reading.note("EXAMPLES", node, "should be pairs of messages, of a user and of an assistant.")
        return {}
    return {"examples": [{"prompt": a, "completion": b} for a, b in zip(contents[::2], contents[1::2], strict=True)]}


def _filter(reading: Reading) -> dict[str, Any]:
    """The conditions as they are written; a note where the code beside one says something else."""
    node = reading.script.constant("FILTER")
    pairs = list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else []
    written = []
    for key, code in pairs:
        condition = reading.script.value_or(key)
        if not isinstance(condition, str):
            reading.note("A filter", code, "was not taken: its text is missing.")
            continue
        written.append(condition)
        if ast.unparse(code) != ast.unparse(ast.parse(prompts.condition(condition), mode="eval")):
            reading.note("The code of a filter", code, f"was changed. What was taken is its text: “{condition}”.")
    return {"filter": written}


def unused_settings(reading: Reading) -> dict[str, dict[str, Any]]:
    """section → field → value of what the script had no use for."""
    said = reading.script.value_or(reading.script.constant(UNUSED), {})
    found: dict[str, dict[str, Any]] = {}
    for path, value in said.items() if isinstance(said, dict) else []:
        section, _, field = str(path).partition(".")
        found.setdefault(section, {})[field] = value
    return found


def with_unused(raw: dict[str, Any], kept: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The settings with what the script had no use for at its place: “rewards.0.timeout”, “launch.reward_failures”."""
    for section in ("model", "data", "launch", "rewards", "stages"):
        for path, value in kept.get(section, {}).items():
            *way, last = path.split(".")
            place = raw.setdefault(section, {})
            for part in way:
                place = _step_into(place, part)
            if isinstance(place, dict):
                place[last] = value
    return raw


def _step_into(place: Any, part: str) -> Any:
    if isinstance(place, list):
        return place[int(part)] if part.isdecimal() and len(part) < 6 and int(part) < len(place) else None
    return place.get(part) if isinstance(place, dict) else None


def stages(reading: Reading) -> dict[str, Any]:
    """rewards, training and stages of a script with stages; empty where it has none."""
    script = reading.script
    node = script.constant("STAGES")
    if not isinstance(node, ast.List):
        return {}
    rewards, settings = script.constant("REWARDS"), script.constant("TRAINING")
    run = {"rewards": _pairs(reading, rewards), "training": _settings(reading, settings)}
    return run | {"stages": [_stage(reading, stage) for stage in node.elts]}


def _stage(reading: Reading, node: ast.expr) -> dict[str, Any]:
    found, dark = reading.script.mapping_items(node)
    for part in dark:
        reading.note_computed("A stage", part)
    taken: dict[str, Any] = {"name": reading.script.value_or(found["name"])} if "name" in found else {}
    if "rewards" in found:
        taken["rewards"] = _pairs(reading, found["rewards"])
    if "training" in found:
        taken["training"] = _settings(reading, found["training"])
    return taken


def _settings(reading: Reading, node: ast.expr | None) -> dict[str, Any]:
    return reading.settings("training", ast.Call(ast.Name("dict"), [], [ast.keyword(None, node)])) if node else {}


def _pairs(reading: Reading, node: ast.expr | None) -> list[dict[str, Any]]:
    """[(format_reward, 1.0), …], or with how each weight changes as a third, as rewards."""
    found = []
    for pair in node.elts if isinstance(node, ast.List) else []:
        parts = pair.elts if isinstance(pair, ast.Tuple) else []
        function, weight, change = (*parts, None) if len(parts) == 2 else parts if len(parts) == 3 else (None,) * 3
        named = of_function(reading, function) if function is not None else None
        value = reading.script.value_or(weight)
        if named is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            reading.note("A reward", pair, "could not be taken: it should be a function and its weight.")
        else:
            found.append({**named, "weight": float(value), **of_change(reading, change)})
    return found


def _source(reading: Reading) -> dict[str, Any]:
    """Where rows() takes them from."""
    script = reading.script
    imports = (node for node in ast.walk(script.tree) if isinstance(node, ast.ImportFrom))
    task = next((node.names[0] for node in imports if node.module == "task"), None)
    if task is not None:
        return {"source": f"task:{task.asname or task.name}"}
    made = next(iter(script.calls.get("create_dataset", [])), None)
    if made is not None:
        return {"source": f"gym:{script.value_or(made.args[0])}"} if made.args else {}
    load = next(iter(script.calls.get("load_dataset", [])), None)
    path = script.constant("path")
    if load is not None and isinstance(path, ast.BinOp):
        return {"source": f"file:{script.value_or(path.right)}"}
    return dataset.source(reading, load) if load is not None else {}
