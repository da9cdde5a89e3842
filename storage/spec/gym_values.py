"""A parameter of a reasoning-gym task, from what a spec can say to what the task's config wants. Pure and of the
standard library, so that a run's plain script carries it too."""

import dataclasses
import datetime
import enum
import typing


def fitted(value: object, hint: object, tasks: dict[str, typing.Any]) -> object:
    """A plain value as a field of this type hint takes it: a list may be meant as a tuple, a text as a date, a time or
    one of an enum, a mapping as a config of its own. `tasks` are reasoning-gym's, name to (task, config), for the parts
    of a mixture, each of which names a task and configures it. Raises TypeError, ValueError."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(value, list):
        items = [fitted(item, inner[0], tasks) if inner else item for item in value]
        return tuple(items) if (origin or hint) is tuple else items
    if not isinstance(hint, type):
        return value
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        part = value.get("config")
        if isinstance(part, dict) and value.get("name") in tasks:
            hints = typing.get_type_hints(tasks[value["name"]][1])
            part = {name: fitted(inside, hints.get(name), tasks) for name, inside in part.items()}
            return hint(**{**value, "config": part})
        return hint(**value)
    if issubclass(hint, (datetime.date, datetime.time)) and isinstance(value, str):
        return hint.fromisoformat(value)
    return hint(value) if issubclass(hint, enum.Enum) else value
