"""run.db: which of a run's attempts counts at which steps. A resumed run trains some of its past again."""

import math
from collections.abc import Sequence

from groupwise.storage.home.sqlite_tools import Database

MOST_ATTEMPTS = 1000
Part = tuple[int, int, int]  # attempt, first step, last step


def stretches(run: Database, until: int | None = None) -> list[Part]:
    """(attempt, first step, last step) of what each attempt contributes: a resumed run overlaps its past, and from the
    step where an attempt began, it counts. `until`: as it was while this attempt was the newest."""
    found: list[Part] = []
    end = math.inf
    begun = begun_at(run)
    for attempt in attempts(run, until):
        begin = begun.get(attempt, 0)
        reach = _reach(run, attempt, after=begin or -1)  # step 0 has what was evaluated before the first step
        if reach is not None and reach[0] < end:
            found.insert(0, (attempt, reach[0], int(min(reach[1], end - 1))))
        if attempt in begun:
            end = min(end, begin + 1 if begin else 0)
        elif reach is not None:
            end = min(end, reach[0])
    return found


def overwritten(run: Database) -> list[Part]:
    """(attempt, first step, last step) of what earlier attempts had trained and a later one trained again, from the
    step that they share on."""
    kept = {attempt: last for attempt, _, last in stretches(run)}
    found = []
    for attempt in attempts(run)[1:][::-1]:
        reach = _reach(run, attempt)
        if reach is not None:
            first, last = reach
            found.append((attempt, max(first, kept.get(attempt, first)), last))
    return [part for part in found if part[2] > part[1] or part[0] not in kept]


def parts_within(parts: Sequence[Part], span: tuple[int, int]) -> list[Part]:
    """Those that have any of these steps, by the first and the last of them; each whole."""
    return [part for part in parts if part[1] <= span[1] and part[2] >= span[0]]


def attempts(run: Database, until: int | None = None) -> list[int]:
    """Those that have recorded anything, up to one where that is said, the newest first; each a step along the index,
    however long the run is."""
    found: list[int] = []
    before = 2**62 if until is None else until + 1
    while len(found) < MOST_ATTEMPTS:
        (newest,) = run.execute("SELECT max(attempt) FROM acknowledged WHERE attempt < ?", [before]).fetchone()
        if newest is None:
            break
        found.append(newest)
        before = newest
    return found


def _reach(run: Database, attempt: int, after: int = -1) -> tuple[int, int] | None:
    """The first and the last step of an attempt beyond one; None: it has none there. Asked one by one, each is the end
    of an index; asked together, SQLite reads all that is between."""
    of_attempt = "FROM acknowledged WHERE attempt = ? AND step > ?"
    first, last = run.execute(
        f"SELECT (SELECT min(step) {of_attempt}), (SELECT max(step) {of_attempt})", [attempt, after] * 2
    ).fetchone()
    return None if first is None else (first, last)


def begun_at(run: Database) -> dict[int, int]:
    """The step after which each attempt trained."""
    rows = run.execute("SELECT attempt, max(step) FROM event WHERE kind = 'begin' GROUP BY attempt").fetchall()
    return dict(rows)
