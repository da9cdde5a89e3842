"""reasoning-gym's tasks, where that package is installed: what there is, and with which parameters."""

import dataclasses
import inspect
import json
import re
import typing
from typing import Any

from groupwise.worker.capabilities import field_types

OURS = {"size": "use data.limit instead"}  # what a task takes and Groupwise decides


def describe_tasks() -> dict[str, Any]:
    """Each task by name: help, and its parameters as fields {types, default, choices, help}."""
    tasks = registered_tasks()
    return {name: {"help": _help(*tasks[name]), "parameters": _fields(tasks[name][1])} for name in sorted(tasks)}


def registered_tasks() -> dict[str, tuple[type, type]]:
    """Each task by name: what makes it, and its config."""
    import reasoning_gym  # noqa: F401 - its import fills the registry
    from reasoning_gym.factory import DATASETS

    return dict(DATASETS)


def _fields(config: type) -> dict[str, Any]:
    """A task's parameters, as the catalogue describes fields; the help is the comment beside each in its source."""
    hints, comments = typing.get_type_hints(config), _comments(config)
    return {
        field.name: {
            "types": field_types.kinds(hints[field.name]),
            "default": 0 if field.name == "seed" else _as_json(field_types.default(field)),
            "choices": field_types.choices(hints[field.name]),
            "help": comments.get(field.name, ""),
        }
        for field in dataclasses.fields(config)
        if field.init and field.name not in OURS
    }


def _as_json(value: Any) -> Any:
    """A default as JSON says it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    return json.loads(json.dumps(value, default=str))


def _comments(config: type) -> dict[str, str]:
    try:
        source = inspect.getsource(config)
    except OSError:
        return {}
    found = re.findall(r"^    (\w+):[^#\n]*#\s*(.+)$", source, re.MULTILINE)
    return {name: text.strip() for name, text in found}


def _help(task: type, config: type) -> str:
    """The first sentence that says something of its own."""
    for documented in (task, config):
        first = (documented.__doc__ or "").strip().split("\n")[0]
        if first and not first.startswith(documented.__name__):
            return first
    return ""
