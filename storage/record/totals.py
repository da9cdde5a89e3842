"""run.db: how what only grows goes on where it was counted from nothing again. TRL counts the tokens of each stage
anew, as each has a trainer of its own; the recorder counts them on (worker/training/measures.py) and says so in the
stage's event, older ones wrote them down as they were. This is the one place that decides what is to be added to them;
who reads a total adds it."""

import bisect
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage
from groupwise.storage.record.lineage import Part

OF_TOKENS = re.compile(r"(eval_)?num_tokens$")
TOTALS = re.compile(rf"(time/elapsed|{OF_TOKENS.pattern})$")
COUNTED = "tokens"  # in a stage's event: how many there were before it, which its totals are counted on from


@dataclass(frozen=True)
class Added:
    """What is to be added to a total from each of these steps on; nothing where it never began anew."""

    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def at(self, step: float) -> float:
        """What is to be added to the value of a step."""
        place = bisect.bisect_right(self.steps, step) - 1
        return self.values[place] if place >= 0 else 0.0

    def is_mixed(self, step: float, size: int) -> bool:
        """Whether the bucket of so many steps that a step is in has values of before and after a new beginning: its
        mean says nothing."""
        begin = int(step) // size * size
        place = bisect.bisect_right(self.steps, begin)
        return place < len(self.steps) and self.steps[place] < begin + size


class _Piece(NamedTuple):
    """Steps of one attempt in one stage. `anew`: a total begins anew with them; `counted`: it does not, as the recorder
    counts on."""

    attempt: int
    first: int
    last: int
    anew: bool = False
    counted: bool = False


def find_added(run: Database, name: str, parts: Sequence[Part]) -> Added:
    """What is to be added to a metric's values within these parts, which count together, or are of one attempt."""
    if not parts or not TOTALS.match(name):
        return Added()
    return _find_added_until(run, name, max(attempt for attempt, _, _ in parts))


def _find_added_until(run: Database, name: str, newest: int) -> Added:
    found, adds, total = Added(), 0.0, 0.0
    key = run.execute("SELECT id FROM metric_key WHERE name = ?", [name]).fetchone()
    for piece in _pieces(run, newest) if key else []:
        ends = [_end(run, key[0], piece, order) for order in ("ASC", "DESC")]
        if ends[0] is None or ends[1] is None:
            continue
        may_be = _may_be_added(piece, adds, total) if OF_TOKENS.match(name) else (adds,)
        now = next((value for value in may_be if ends[0] + value >= total), total)
        total = max(total, ends[0] + now, ends[1] + now)
        if now != adds:
            found.steps.append(piece.first)
            found.values.append(now)
        adds = now
    return found


def _may_be_added(piece: _Piece, before: float, total: float) -> tuple[float, ...]:
    """What may be added in a piece; the total before it where each of these would let it fall."""
    return (0.0,) if piece.counted else () if piece.anew else (before,)


def _pieces(run: Database, newest: int) -> Iterator[_Piece]:
    """What counts while an attempt is the newest, stage by stage."""
    stages = _stages(run)
    number: object = None
    for attempt, first, last in lineage.stretches(run, newest):
        begun, here = first, (False, False)
        for after, stage, counted in stages.get(attempt, []):
            if after >= last:
                break
            if begun <= after:
                yield _Piece(attempt, begun, after, *here)
                begun = after + 1
            here = (number not in (None, stage), counted)
            number = stage
        yield _Piece(attempt, begun, last, *here)


def _stages(run: Database) -> dict[int, list[tuple[int, object, bool]]]:
    """By attempt: after which step each stage began, or went on, its number, and whether its totals are counted on."""
    rows = run.execute(
        "SELECT attempt, json_extract(data, '$.after'), json_extract(data, '$.stage'), "
        f"json_extract(data, '$.{COUNTED}') IS NOT NULL FROM event WHERE kind = 'stage' ORDER BY id"
    ).fetchall()
    found: dict[int, list[tuple[int, object, bool]]] = {}
    for attempt, after, stage, counted in rows:
        if isinstance(after, int):
            found.setdefault(attempt, []).append((after, stage, bool(counted)))
    return found


def _end(run: Database, key: int, piece: _Piece, order: str) -> float | None:
    """The first value of a piece (“ASC”) or its last (“DESC”); None where it has none."""
    row = run.execute(
        "SELECT value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? AND abs(value) < 9e999 "
        f"ORDER BY step {order} LIMIT 1",
        [key, piece.attempt, piece.first, piece.last],
    ).fetchone()
    return row[0] if row else None


def last_total(run: Database, name: str, parts: Sequence[Part], until: float = math.inf) -> float | None:
    """What a total came to within these parts, up to a step; None where it was not logged there."""
    key = run.execute("SELECT id FROM metric_key WHERE name = ?", [name]).fetchone()
    for attempt, first, last in reversed(parts if key else []):
        row = run.execute(
            "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            "AND abs(value) < 9e999 ORDER BY step DESC LIMIT 1",
            [key[0], attempt, first, int(min(last, until))],
        ).fetchone()
        if row is not None:
            value: float = row[1] + find_added(run, name, parts).at(row[0])
            return value
    return None
