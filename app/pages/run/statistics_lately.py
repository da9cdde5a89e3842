"""Which groups the sentences of the Statistics are about: those of the steps that “now” is of on every page, or of the
last evaluation. Pure."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from groupwise.app.core import format
from groupwise.storage.record.recent import Logs, steps_now

LAST = 100  # groups that scores are counted of
NEWEST = 3  # stretches of steps that a sentence about a line over the steps is about


class AtStep(Protocol):
    """A group, of which the step is looked at."""

    @property
    def step(self) -> int:
        """The step that it was generated in."""


G = TypeVar("G", bound=AtStep)


def newest(groups: Sequence[G], mode: str, logged: tuple[int, Logs]) -> Sequence[G]:
    """Of some groups in the order of their steps those of the steps that “now” is of (storage.record.recent), so that
    they come to what the Overview says; of evaluations those of the last one. `logged`: Statistics.logged_lately."""
    if mode == "eval":
        return [group for group in groups if group.step == groups[-1].step]
    began, logs = logged
    steps = sorted({group.step for group in groups})
    first, last = steps_now([step for step in steps if step > began] or steps, logs)
    return [group for group in groups if first <= group.step <= last]


def where_newest(part: Sequence[AtStep], mode: str) -> str:
    """Which groups these are, in words: the 80 of steps 51–60, the only one, or those of the last evaluation."""
    if mode == "eval" or len(part) == 1:
        return of_last(len(part), part[-1].step, mode)
    return f"in the {format.plural(len(part), 'group')} of {format.step_range((part[0].step, part[-1].step))}"


def of_last(groups: int, step: int, mode: str) -> str:
    """Which groups a sentence is about: the last 100, the only one, or those of the last evaluation. `step`: that of
    the newest."""
    if mode == "eval":
        return f"in the last evaluation ({format.step_range((step, step))}, {format.plural(groups, 'group')})"
    return "in the only group" if groups == 1 else f"in the last {groups} groups"


def newest_stretches(steps: Sequence[tuple[int, int]], mode: str) -> tuple[int, str]:
    """How many of the newest stretches of steps a sentence is about, and which these are in words: of evaluations the
    last."""
    if mode == "eval":
        return 1, f"in the last evaluation ({format.step_range(steps[-1])})"
    part = steps[-NEWEST:]
    return len(part), f"in {format.step_range((part[0][0], part[-1][1]))}"


def mean_of_last(values: Sequence[float | None], count: int) -> float | None:
    """The mean of the last so many values, of those that are there."""
    some = [value for value in values[-count:] if value is not None]
    return sum(some) / len(some) if some else None
