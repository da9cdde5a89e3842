"""What a question of the workbench asks for that only the worker can tell is not there."""

from typing import Any, get_args

from groupwise.storage.registry.messages.functions import Aggregation, Function, Scale
from groupwise.storage.spec.words.problem import nearest_name
from groupwise.worker.builtin import shipped


class Refused(Exception):
    """A question that cannot be answered as it is asked; `field` says which part of it is wrong."""

    def __init__(self, message: str, at: str = "") -> None:
        super().__init__(message)
        self.field = at


def refuse_unknown(functions: list[Function]) -> None:
    """Raises Refused for a function that comes without its code and does not ship."""
    ships = shipped.shipped_names(shipped.REWARDS)
    for number, one in enumerate(functions):
        if one.code is None and one.name not in ships:
            known = nearest_name(one.name, ships)
            hint = f" Did you mean {known}?" if known else ""
            message = f"No reward function “{one.name}” ships with Groupwise, and its code is not given.{hint}"
            raise Refused(message, f"functions.{number}.name")


def usual_scale(settings: dict[str, Any]) -> Scale:
    """A run's own scale_rewards, whose booleans mean “group” and “none”; TRL's default where it has none."""
    given = settings.get("scale_rewards")
    found: Scale = "none" if given is False else "group"
    return next((scale for scale in get_args(Scale) if scale == given), found)


def usual_aggregation(settings: dict[str, Any]) -> Aggregation:
    """A run's own multi_objective_aggregation; TRL's default where it has none. Raises Refused for an unknown one."""
    given = settings.get("multi_objective_aggregation") or get_args(Aggregation)[0]
    found: Aggregation | None = next((one for one in get_args(Aggregation) if one == given), None)
    if found is None:
        words = f"multi_objective_aggregation should be one of {', '.join(get_args(Aggregation))}."
        raise Refused(words, "multi_objective_aggregation")
    return found
