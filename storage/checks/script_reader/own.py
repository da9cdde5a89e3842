"""What the constants of a script say that storage.checks.script wrote: every setting, exactly."""

import ast
import re
from typing import Any

from groupwise.storage.checks.script import TITLE, UNUSED, prompts
from groupwise.storage.checks.script.data_file import IN_CHARACTERS
from groupwise.storage.checks.script_reader import source
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.rewards import RewardReader
from groupwise.storage.checks.script_reader.values import Items, Made, Mapping, Value, plain_or
from groupwise.storage.spec.syntax_tree import parse_expression

PROCESSES = re.compile(r"--num_processes (\d{1,4})(?!\d)")
DATA = {
    "PARAMETERS": "parameters", "SHUFFLE_SEED": "shuffle", "LIMIT": "limit", "HOLDOUT": "holdout",
    "SYSTEM_PROMPT": "system_prompt", "PROMPT_COLUMN": "prompt_column", "PROMPT_TEMPLATE": "prompt_template",
    "ANSWER_COLUMN": "answer_column", "ANSWER_PATTERN": "answer_pattern", "COLUMNS": "columns",
    "ENCODING": "encoding", "SHEET": "sheet", "SKIP_LINES": "skip_lines", "HEADING": "heading",
    "ANSWER_NUMBERS": "answer_numbers",
}  # fmt: skip
NOT_FOLLOWED = {"with_parameters"}  # of such a script: its call says the parameters


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
    taken: dict[str, Any] = {"answer_column": None}
    for name, field in DATA.items():
        value = _constant(reading, name)
        if value is None:
            continue
        taken[field] = plain_or(value)
        if taken[field] is None:
            del taken[field]
            reading.note_computed(name, value)
    return taken | _in_words(reading) | _source(reading) | _examples(reading) | _filter(reading)


def _in_words(reading: Reading) -> dict[str, Any]:
    """The settings that a script says in characters."""
    found: dict[str, Any] = {}
    for field, characters in IN_CHARACTERS.items():
        said = plain_or(_constant(reading, field.upper()))
        words = [word for word, value in characters.items() if value == said]
        found |= {field: words[0]} if words else {}
    return found


def _constant(reading: Reading, name: str) -> Value | None:
    """What a name at the script's top stands for."""
    return reading.script.module.names.get(name)


def kl_settings(reading: Reading) -> dict[str, Any]:
    """How beta follows the KL, where the script says it."""
    said = plain_or(_constant(reading, "KL"))
    return {"kl": said} if isinstance(said, dict) else {}


def _examples(reading: Reading) -> dict[str, Any]:
    value = _constant(reading, "EXAMPLES")
    said = plain_or(value, [])
    messages = said if isinstance(said, list) else []
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    if value is not None and (not contents or len(contents) % 2):
        reading.note("EXAMPLES", value, "should be pairs of messages, of a user and of an assistant.")
        return {}
    return {"examples": [{"prompt": a, "completion": b} for a, b in zip(contents[::2], contents[1::2], strict=True)]}


def _filter(reading: Reading) -> dict[str, Any]:
    """The conditions as they are written; a note where the code beside one says something else."""
    value = _constant(reading, "FILTER")
    node = value.node if value is not None else None
    written = []
    for key, code in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else []:
        condition = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(condition, str):
            reading.note("A filter", code, "was not taken: its text is missing.")
            continue
        written.append(condition)
        if ast.unparse(code) != ast.unparse(parse_expression(prompts.condition(condition))):
            reading.note("The code of a filter", code, f"was changed. What was taken is its text: “{condition}”.")
    return {"filter": written}


def unused_settings(reading: Reading) -> dict[str, dict[str, Any]]:
    """section → field → value of what the script had no use for."""
    said = plain_or(_constant(reading, UNUSED), {})
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
    value = _constant(reading, "STAGES")
    if not isinstance(value, Items):
        return {}
    run = {
        "rewards": _pairs(reading, _constant(reading, "REWARDS")),
        "training": _settings(reading, _constant(reading, "TRAINING")),
    }
    return run | {"stages": [_stage(reading, stage) for stage in value.items]}


def _stage(reading: Reading, stage: Value) -> dict[str, Any]:
    if not isinstance(stage, Mapping):
        reading.note_computed("A stage", stage)
        return {}
    for part in stage.dark:
        reading.note_computed("A stage", part)
    taken: dict[str, Any] = {"name": plain_or(stage.entries["name"])} if "name" in stage.entries else {}
    if "rewards" in stage.entries:
        taken["rewards"] = _pairs(reading, stage.entries["rewards"])
    if "training" in stage.entries:
        taken["training"] = _settings(reading, stage.entries["training"])
    return taken


def _settings(reading: Reading, value: Value | None) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    reading.note_dark(value.dark, "the settings under training")
    return reading.settings("training", {str(name): given for name, given in value.entries.items()})


def _pairs(reading: Reading, value: Value | None) -> list[dict[str, Any]]:
    """[(format_reward, 1.0), …], or with how each weight changes as a third, as rewards."""
    reader, found = RewardReader(reading), []
    for pair in value.items if isinstance(value, Items) else []:
        parts = pair.items if isinstance(pair, Items) else []
        function, weight, change = (*parts, None) if len(parts) == 2 else parts if len(parts) == 3 else (None,) * 3
        said = plain_or(weight)
        fits = function is not None and isinstance(said, (int, float)) and not isinstance(said, bool)
        named = reader.of_function(function) if fits and function is not None else None
        if named is None:
            reading.note("A reward", pair, "could not be taken: it should be a function and its weight.")
        else:
            found.append({**named, "weight": float(said), **reader.of_change(change)})
    return found


def _source(reading: Reading) -> dict[str, Any]:
    """Where rows() takes them from."""
    script = reading.script
    imports = [node for node in ast.walk(script.tree) if isinstance(node, ast.ImportFrom)]
    task = next((node.names[0] for node in imports if node.module == "task"), None)
    if task is not None:
        return {"source": f"task:{task.asname or task.name}"}
    made = _first(reading, "create_dataset")
    if made is not None:
        return {"source": f"gym:{plain_or(made.arguments[0])}"} if made.arguments else {}
    path = _assigned_path(script.tree)
    if path is not None:
        return {"source": f"file:{source.file_name(Value(path))}"}
    load = _first(reading, "load_dataset")
    return source.source_settings(reading, load) if load is not None else {}


def _assigned_path(tree: ast.Module) -> ast.BinOp | None:
    """What rows() calls the path of its file."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and ast.unparse(node.targets[0]) == "path"
        ):
            return node.value
    return None


def _first(reading: Reading, name: str) -> Made | None:
    return next((call for call in reading.script.calls if call.name == name), None)
