"""What an address asks of a run's completions: the Completions tab and the export read it here, the same way."""

import math
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import parse_qs

from groupwise.app.core.errors import Unanswerable
from groupwise.storage.record import find
from groupwise.storage.record.find import OPEN, Range, Wanted
from groupwise.storage.registry import notes
from groupwise.storage.spec.rows.number_text import no_number_words

LONGEST = 4000  # characters of an address
TRUNCATED = {"yes": True, "no": False}
# Of what there is no part and nothing below 0, and what one of it is called.
COUNTED = {"steps": "step", "tokens": "number of tokens"}
T = TypeVar("T")


def query_parameters(query: str) -> dict[str, str]:
    """The parameters of a query string, each once. Raises Unanswerable."""
    try:
        given = parse_qs(query[:LONGEST].removeprefix("?"), errors="replace", max_num_fields=50)
    except ValueError as error:
        raise Unanswerable("This address has too many parts.") from error
    return {name: values[0] for name, values in given.items()}


def read_query(run_id: str, given: dict[str, str]) -> Wanted:
    """What is looked for. Raises Unanswerable for ranges that mean nothing, a sentence and line for each."""
    faults: list[str] = []

    def range_of(name: str, what: str) -> Range:
        return _try(faults, OPEN, lambda: read_range(given.get(name, ""), what))

    reward = range_of("reward", "reward")
    function, score, status = _try(faults, ("", OPEN, ""), lambda: _function(given.get("function", "")))
    steps, length = range_of("steps", "steps"), range_of("length", "tokens")
    if faults:
        raise Unanswerable("\n".join(faults))
    return Wanted(
        words=given.get("q", "").strip(),
        regex=given.get("regex") == "1",
        reward=reward,
        function=function,
        score=score,
        status=status,
        steps=steps,
        length=length,
        truncated=TRUNCATED.get(given.get("truncated", "")),
        mode=_one_of(given.get("mode", ""), find.MODES),
        starred=notes.starred_completions(run_id) if given.get("starred") == "1" else None,
    )


def _try(faults: list[str], otherwise: T, read: Callable[[], T]) -> T:
    """What is read; `otherwise`, with one more fault, where it means nothing."""
    try:
        return read()
    except Unanswerable as fault:
        faults.append(str(fault))
        return otherwise


def sort(given: dict[str, str]) -> str:
    """The order that is asked for, a name of find.SORTS; the newest first where none is."""
    return _one_of(given.get("sort", ""), find.SORTS)


def page(given: dict[str, str]) -> int:
    """The page asked for, from 1."""
    asked = given.get("page", "")
    return max(1, int(asked)) if asked.isdecimal() and len(asked) < 7 else 1


def read_range(words: str, what: str) -> Range:
    """Read a range: “0.5..2”, “0.5..”, “..2” or “1” (which is 1..1) as two ends; nothing is open at both."""
    low, dots, high = words.partition("..")
    faults: list[str] = []
    first = _try(faults, None, lambda: _end(low, what, "from"))
    last = _try(faults, None, lambda: _end(high, what, "to")) if dots else first
    if faults:
        raise Unanswerable("\n".join(faults))
    if first is not None and last is not None and first > last:
        raise Unanswerable(f"The range for {what} ends ({high}) before it begins ({low}).")
    return first, last


def _end(words: str, what: str, end: str) -> float | None:
    """One end of a range; where it is no number, which one that is, and the number that it may mean."""
    place = f"{what[:1].upper()}{what[1:]}, {end}"
    try:
        value = _number(words)
    except ValueError:
        raise Unanswerable(f"{place}: {no_number_words(words)}") from None
    if what in COUNTED and value is not None and (value < 0 or not value.is_integer()):
        raise Unanswerable(f"{place}: “{words[:40]}” is no {COUNTED[what]}: type a whole number, 0 or more.")
    return value


def _number(words: str) -> float | None:
    if not words.strip():
        return None
    value = float(words.replace("−", "-"))
    if not math.isfinite(value):
        raise ValueError(words)
    return value


def _function(words: str) -> tuple[str, Range, str]:
    """“NAME:0.5..1” or “NAME:error” as name, range and status; of a function of which any score will do nothing, since
    it keeps nothing out. A name may have colons in it."""
    name, _, rest = words.rpartition(":")
    if rest in find.STATUSES and name:
        return name, OPEN, rest
    score = read_range(rest, f"the score of {name[:40]}") if name else OPEN
    return ("", OPEN, "") if score == OPEN else (name, score, "")


def _one_of(given: str, known: tuple[str, ...]) -> str:
    return given if given in known else known[0]
