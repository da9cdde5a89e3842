"""The colours of runs: the one place that decides them, so that no two runs that are seen together have the same. Pure.

A run's own colour is from its number in its home: of any twenty that were launched one after the other no two have the
same. Among others, one that has another's takes a free one; where all are taken, those that are left have none. A run
keeps its own wherever it can, so that it is known by it from page to page.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

NONE = "--ink-3"
# Plotly's kind of line that goes with each of --r1 … --r20 of tokens.css. Twenty colours cannot all be far apart: those
# of one dash are, and two that look alike have different ones, whatever runs are seen together.
DASHES = (*["solid"] * 8, *["dash"] * 6, *["dot"] * 6)
PALETTE = len(DASHES)  # as many runs can be compared


class Numbered(Protocol):
    """A run, as far as its colour hangs on it."""

    @property
    def id(self) -> str: ...
    @property
    def number(self) -> int: ...


def own_colour(run: Numbered) -> str:
    """The CSS variable of a run that is seen alone."""
    return _variable(run.number % PALETTE)


def colours_of(runs: Iterable[Numbered], others: Sequence[Numbered] = ()) -> dict[str, str]:
    """The CSS variable of each of these runs, by id: no two the same, but that more than PALETTE have none of their
    own. They do not hang on the order of `runs`, nor on the `others` seen beside them, which take what is left, the
    first of them first."""
    places: dict[str, int] = {}
    every = [sorted(runs, key=lambda run: (run.number, run.id)), others]
    for some in every:
        _give_places(some, places)
    return {run.id: _variable(places[run.id]) if run.id in places else NONE for some in every for run in some}


def has_its_own(run: Numbered, colour: str) -> bool:
    """Whether a run has the colour that it has alone."""
    return colour == own_colour(run)


def _give_places(runs: Sequence[Numbered], places: dict[str, int]) -> None:
    """Give each run its own place where that is free, and then the others a free one."""
    taken = set(places.values())
    left = {}
    for run in runs:
        own = run.number % PALETTE
        if run.id in places:
            continue
        if own in taken:
            left[run.id] = run
        else:
            places[run.id] = own
            taken.add(own)
    free = [place for place in range(PALETTE) if place not in taken]
    places.update(zip(left, free, strict=False))


def dash_of(colour: str) -> str:
    """The kind of line that goes with a colour."""
    return DASHES[int(colour.removeprefix("--r")) - 1] if colour.startswith("--r") else "solid"


def _variable(place: int) -> str:
    return f"--r{place + 1}"
