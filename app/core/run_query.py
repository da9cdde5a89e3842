"""Choosing among runs, on the Runs page and in `groupwise list`: by words, by state, in an order; and since when a run
has been in its state, in words."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any

from groupwise.app.core import format
from groupwise.storage.record import states
from groupwise.storage.registry.registry import Run

STATES = tuple(states.LABELS)
NOTHING: tuple[int, Any] = (2, "")  # what has no value comes last, in either direction


def age_words(run: Run) -> str:
    """How long ago a run was launched: its age, the same on every page and in `groupwise list`."""
    return format.age(run.created)


def state_and_age(run: Run) -> str:
    """Finished · launched 3 min ago."""
    return f"{states.LABELS.get(run.state, run.state)} · launched {age_words(run)}"


# Letters that are a plain one with a stroke, which Unicode does not take apart.
STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe"})


def plain_letters(text: str) -> str:
    """In small letters without accents, ß as ss: März is found by marz, and marz by März."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold().translate(STROKES))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


BEGINS_ID = re.compile(r"\d{8}-")  # the day it was launched


def searched_text(run: Run) -> str:
    """What is searched of a run, as `plain_letters`."""
    label = states.LABELS.get(run.state, run.state)
    return plain_letters(f"{run.name}\n{label}\n{run.model}\n{run.data}\n{run.note}\n{' '.join(run.tags)}")


def matches(run: Run, words: Collection[str], *, any_of_id: bool = False) -> bool:
    """Whether each of these words (see `words_of`) is somewhere in the run's name, state, model, data, note or tags; or
    in its id. That is made of the name it once had, and no page shows it: there only what is written as an id begins
    is looked for in it. `any_of_id`: anything is, where ids are shown."""
    if not words:
        return True
    about, run_id = searched_text(run), run.id.lower()
    return all(word in about or (word in run_id and (any_of_id or _is_as_id(word, run_id))) for word in words)


def _is_as_id(word: str, run_id: str) -> bool:
    return word == run_id or BEGINS_ID.match(word) is not None


def words_of(search: str) -> list[str]:
    """The words that are searched for, as `plain_letters`."""
    return plain_letters(search).split()


def in_order(runs: Sequence[Run], values: Sequence[Any], down: bool) -> list[Run]:
    """The runs in the order of a value of each: numbers before words, and none last. Equal ones stay as they are."""
    keys = [order_key(value) for value in values]
    there = [at for at, key in enumerate(keys) if key != NOTHING]
    found = sorted(there, key=keys.__getitem__, reverse=down)
    return [runs[at] for at in [*found, *(at for at, key in enumerate(keys) if key == NOTHING)]]


def order_key(value: Any) -> tuple[int, Any]:
    """A value of any kind as one that can be compared with any other."""
    if value is None or value == "" or value != value:
        return NOTHING
    if isinstance(value, bool):
        return (1, str(value).lower())
    return (0, value) if isinstance(value, (int, float)) else (1, str(value).casefold())


def queue_places(runs: Sequence[Run]) -> dict[str, int]:
    """Of the runs that wait, the how-many-th to start each is, by id."""
    waiting = sorted((run for run in runs if run.state == states.QUEUED), key=lambda run: (run.created, run.id))
    return {run.id: place for place, run in enumerate(waiting, 1)}


def queue_words(place: int | None) -> str:
    """“2nd in queue”; nothing for a run that does not wait."""
    if place is None:
        return ""
    end = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{end} in queue"


def place_once_queued(run: Run, busy: Sequence[Run]) -> int:
    """The how-many-th to start a run is that is put in the queue now. `busy`: the runs that train or wait."""
    waiting = [other for other in busy if other.state == states.QUEUED and other.id != run.id]
    return 1 + sum((other.created, other.id) < (run.created, run.id) for other in waiting)


def turn_words(run: Run, busy: Sequence[Run]) -> str:
    """When a run that is to be resumed will start. `busy`: the runs that train or wait."""
    training = next((other for other in busy if other.state in states.LIVE), None)
    place = place_once_queued(run, busy)
    if place > 1:
        return f"One run trains at a time: it will be {queue_words(place)}."
    if training is None:
        return "The worker starts it in a moment."  # or one that waits, if it is quicker than this click
    starts = f"One run trains at a time: it starts when {format.shorten(training.name, 60)} has ended."
    return f"{starts} {_before_words(run, busy)}".rstrip()


def order_words(run: Run, busy: Sequence[Run]) -> str:
    """Of a run that waits, what the place of a resumed one, which is by when it was launched, means to it: that it goes
    before runs that have waited for longer, or that another does; "" where neither is so."""
    if run.ended_state is not None:
        return _before_words(run, busy)
    first = next((one for one in busy if one.state == states.QUEUED and (one.ended_at or 0) > run.created), None)
    if first is None or (first.created, first.id) > (run.created, run.id):
        return ""
    return f"“{format.shorten(first.name, 60)}”, launched earlier, was resumed and goes before it."


def _before_words(run: Run, busy: Sequence[Run]) -> str:
    """Which runs that wait start after it."""
    later = sum(place_once_queued(run, [one]) == 1 for one in busy if one.state == states.QUEUED and one.id != run.id)
    return f"It goes before {format.plural(later, 'run')} in the queue, launched later." if later else ""
