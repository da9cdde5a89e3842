"""reasoning-gym's tasks, where that package is installed: what there is, with which parameters, and their rows."""

import json
import re
import typing
from collections.abc import Callable
from typing import Any

from groupwise.storage.spec.gym_values import fitted
from groupwise.storage.spec.words.problem import Fix, did_you_mean
from groupwise.worker.capabilities import extras, gym_tasks
from groupwise.worker.data.files.data_error import DataError

SHOWN = 4000  # characters of an error that are looked at


def gym_rows(name: str, count: int, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """`count` rows of a task, the same for the same parameters (among them `seed`; 0 where it is not given): question,
    answer, and metadata as JSON text, from which gym_score scores. Raises DataError."""
    row_of = maker(name, count, parameters)
    return [row_of(number) for number in range(count)]


def maker(name: str, count: int, parameters: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """What makes each of `count` rows when it is asked for. Raises DataError, as what it returns does."""
    if not extras.is_installed("reasoning_gym"):
        raise DataError(f"reasoning-gym is not installed. Install it: {extras.how_to_install('reasoning_gym')}")
    tasks = gym_tasks.registered_tasks()
    if name not in tasks:
        raise DataError(f"reasoning-gym has no task “{name}”.{did_you_mean(name, list(tasks))}")
    import reasoning_gym

    settings = {"seed": 0, **_values(name, parameters, tasks[name][1])}
    try:
        made = reasoning_gym.create_dataset(name, size=count, **settings)
    except Exception as error:  # tasks check their parameters with assert, and fail in ways of their own without
        raise _fault(name, parameters, error) from error

    def row_of(number: int) -> dict[str, Any]:
        try:
            return row(made[number], parameters)
        except Exception as error:  # parameters can also turn out wrong only when a row is made
            raise _fault(name, parameters, error) from error

    return row_of


def _fault(name: str, parameters: dict[str, Any], error: Exception) -> DataError:
    """What a task says of its parameters, at the one that it names."""
    message = (str(error)[:SHOWN].splitlines() or [type(error).__name__])[0].rstrip(".")
    about = [field for field in parameters if re.search(rf"\b{re.escape(field)}\b", message)]
    where = f"data.parameters.{about[0]}" if about else "data.parameters"
    fixes = [Fix(f"Use the default of {field}", {}, (f"data.parameters.{field}",)) for field in about or parameters]
    return DataError(f"{name} cannot be made with these parameters: {message}", where, tuple(fixes[:4]))


def row(entry: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """One entry as a row of plain texts. The parameters it was made with, where there are any, are part of its
    metadata: some scorers go by them."""
    own = {"parameters": parameters} if parameters else {}
    return {
        "question": entry["question"],
        "answer": entry["answer"],
        "metadata": json.dumps({**entry["metadata"], **own}, default=str),
    }


def _values(name: str, parameters: dict[str, Any], config: type) -> dict[str, Any]:
    """Parameters as the task's config wants them: tuples, dates and nested configs are lists, texts and mappings in
    a spec. Raises DataError for those that the task does not have."""
    hints = typing.get_type_hints(config)
    values = {}
    for field, value in parameters.items():
        path = f"data.parameters.{field}"
        if field in gym_tasks.OURS or field not in hints:
            wrong = gym_tasks.OURS.get(field, f"there is no such parameter.{did_you_mean(field, list(hints))}")
            raise DataError(f"{name} cannot take {field}: {wrong}", path, (Fix("Remove it", {}, (path,)),))
        try:
            values[field] = fitted(value, hints[field], gym_tasks.registered_tasks())
        except (TypeError, ValueError) as error:
            fixes = (Fix("Use the default", {}, (path,)),)
            raise DataError(f"{field} of {name} cannot be {json.dumps(value)[:60]}: {error}", path, fixes) from error
    return values
