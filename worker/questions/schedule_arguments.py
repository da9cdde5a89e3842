"""What of lr_scheduler_kwargs the scheduler does not take, read from its signature: each argument is blamed by itself,
and those that are right stay."""

import inspect
from typing import Any

from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.setting_names import meant_name

TYPE, ARGUMENTS = "lr_scheduler_type", "lr_scheduler_kwargs"
_OURS = ("optimizer", "num_warmup_steps", "num_training_steps")  # which the trainer gives
_IGNORING = ("constant", "constant_with_warmup")  # transformers hands them no arguments


def argument_problems(
    asked: dict[str, Any], given: dict[str, Any], default: Any
) -> tuple[list[Problem], dict[str, Any]]:
    """The problems of the arguments, and the settings without what is wrong with them. `asked`: all that is set;
    `given`: what of it nothing was found about; `default`: the scheduler where none is set."""
    arguments = given.get(ARGUMENTS)
    if not isinstance(arguments, dict) or not arguments:
        return [], given
    others = {name: value for name, value in given.items() if name != ARGUMENTS}
    if TYPE in asked and TYPE not in given:
        return [], others  # which scheduler is meant is not known yet
    scheduler, taken = str(given.get(TYPE, default)), _taken_by_scheduler()
    if scheduler not in taken or scheduler in _IGNORING:
        return [], given
    wrong = [name for name in arguments if name not in taken[scheduler]]
    found = [_problem(str(name), arguments, scheduler, taken) for name in wrong]
    right = {name: value for name, value in arguments.items() if name not in wrong}
    return found, {**others, **({ARGUMENTS: right} if right else {})}


def without_lack_of_arguments(parts: list[Problem], found: list[Problem]) -> list[Problem]:
    """What was found when the parts were tried, without what the scheduler said that was tried without its arguments,
    as those are wrong: it has not got what it needs only so. `found`: all there is."""
    arguments = f"training.{ARGUMENTS}."
    if not any(f"{problem.field}.".startswith(arguments) for problem in found):
        return parts
    return [problem for problem in parts if problem.field != f"training.{TYPE}"]


def _taken_by_scheduler() -> dict[str, list[str]]:
    """The arguments of each scheduler, but for those that take any."""
    from transformers.optimization import TYPE_TO_SCHEDULER_FUNCTION

    taken = {}
    for kind, schedule in TYPE_TO_SCHEDULER_FUNCTION.items():
        parameters = inspect.signature(schedule).parameters
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
            taken[kind.value] = [name for name in parameters if name not in _OURS]
    return taken


def _problem(name: str, arguments: dict[str, Any], scheduler: str, taken: dict[str, list[str]]) -> Problem:
    """Of an argument that the scheduler does not have: a slip of one, one of another scheduler, or none."""
    whole = f"training.{ARGUMENTS}"
    path = f"{whole}.{name}" if "." not in name else whole
    remove = Fix(f"Remove {name}", {}, (path if len(arguments) > 1 else whole,))
    message = f"“{scheduler}” has no argument “{name}”."
    close = meant_name(name, taken[scheduler], arguments)
    if close:
        rename = Fix(f"Rename it to {close}", {f"{whole}.{close}": arguments[name]}, (path,))
        return Problem(path, f"{message} Did you mean “{close}”?", fixes=(rename, remove))
    having = [one for one, names in taken.items() if name in names]
    fitting = [one for one in having if set(arguments) <= set(taken[one])]
    use = [Fix(f"Use {one} as the scheduler", {f"training.{TYPE}": one}) for one in fitting[:1]]
    names = [one for one in taken[scheduler] if one != "last_epoch"]
    hint = f" It has {', '.join(names)}." if names else " It has none."
    if having:
        hint = f" {join_words([f'“{one}”' for one in having], 3)} {'has' if len(having) == 1 else 'have'} it."
    return Problem(path, f"{message}{hint}", fixes=(*use, remove))
