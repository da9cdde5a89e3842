"""The colours of runs: the one place that decides them, so that no two runs that are seen together have the same. Pure.

A run's own colour is from its number in its home: of any twenty that were launched one after the other no two have the
same. Among others, one that has another's takes a free one; where all are taken, those that are left have none. Of a
few that are compared, one whose colour is much like another's takes one that is not.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

PALETTE = 20  # --r1 … --r20 of tokens.css; as many runs can be compared
NONE = "--ink-3"
DASHES = ("solid", "dash", "dot")  # Plotly's: a further mark of lines, for whoever sees some colours alike
OF_ONE_DASH = 8
FEW = 8  # runs, for which there are colours that are far apart
# Places of colours that are much alike in one theme at least: less than 0.16 apart in OKLab, as their test works out.
ALIKE = {
    0: {3, 6, 13, 17}, 1: {4, 5, 16, 19}, 2: {6, 7, 16, 17}, 3: {0, 5, 13}, 4: {1, 7, 16, 18}, 5: {1, 3, 15, 19},
    6: {0, 2, 17, 18}, 7: {2, 4, 16, 18}, 8: {13, 14, 15, 17, 19}, 9: {15}, 13: {0, 3, 8}, 14: {8}, 15: {5, 8, 9, 19},
    16: {1, 2, 4, 7, 18}, 17: {0, 2, 6, 8}, 18: {4, 6, 7, 16}, 19: {1, 5, 8, 15},
}  # fmt: skip


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
        _give_places(some, places, apart=some is every[0] and len(some) <= FEW)
    return {run.id: _variable(places[run.id]) if run.id in places else NONE for some in every for run in some}


def _give_places(runs: Sequence[Numbered], places: dict[str, int], *, apart: bool) -> None:
    """Give each run its own place where that is free, and then the others a free one; `apart`: far from those that are
    taken, as long as there is one."""
    taken = set(places.values())
    left = {}
    for run in runs:
        own = run.number % PALETTE
        if run.id in places:
            continue
        if own in taken or (apart and _is_like(own, taken)):
            left[run.id] = run
        else:
            places[run.id] = own
            taken.add(own)
    for run_id in left:
        free = [place for place in range(PALETTE) if place not in taken]
        far = [place for place in free if apart and not _is_like(place, taken)]
        if free:
            places[run_id] = (far or free)[0]
            taken.add(places[run_id])


def _is_like(place: int, taken: set[int]) -> bool:
    return bool(ALIKE.get(place, set()) & taken)


def dash_of(colour: str) -> str:
    """The kind of line that goes with a colour."""
    place = int(colour.removeprefix("--r")) - 1 if colour.startswith("--r") else 0
    return DASHES[place // OF_ONE_DASH]


def _variable(place: int) -> str:
    return f"--r{place + 1}"
