"""Which groups the sentences of the Statistics are about: the newest, or those of the last evaluation. Pure."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from groupwise.app.core import format

LAST = 100  # groups that “lately” means


class AtStep(Protocol):
    """A group, of which the step is looked at."""

    @property
    def step(self) -> int:
        """The step that it was generated in."""


G = TypeVar("G", bound=AtStep)


def newest(groups: Sequence[G], mode: str) -> Sequence[G]:
    """The last 100 of some groups in the order of their steps; of evaluations those of the last one."""
    if mode == "eval":
        return [group for group in groups if group.step == groups[-1].step]
    return groups[-LAST:]


def of_last(groups: int, step: int, mode: str) -> str:
    """Which groups a sentence is about: the last 100, the only one, or those of the last evaluation. `step`: that of
    the newest."""
    if mode == "eval":
        return f"in the last evaluation (step {step}, {format.plural(groups, 'group')})"
    return "in the only group" if groups == 1 else f"in the last {groups} groups"


def when(mode: str) -> str:
    """Which part of a run a sentence about its newest stretch is about."""
    return "in the last evaluation" if mode == "eval" else "lately"


def recent_mean(values: list[float | None], mode: str) -> float | None:
    """The mean of the newest three that are there; of evaluations the last."""
    some = [value for value in values if value is not None][-1 if mode == "eval" else -3 :]
    return sum(some) / len(some) if some else None
