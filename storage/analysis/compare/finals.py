"""What a run came to, in one row of numbers: the means of the last values that it logged, and its totals."""

import math
from typing import Any

from groupwise.storage.analysis.compare.curves import Part, keys_of, rising
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import metrics

LAST = 10  # values of which a final is the mean, as everywhere in Groupwise
# What is in the row: the metric whose last values it is the mean of; of several, the first that the run has.
MEANS = {
    "reward": ("reward",),
    "solved": ("groups/solved",),
    "kl": ("kl",),
    "length": ("completions/mean_length",),
    "tied": ("groups/tied", "frac_reward_zero_std"),
}


def final_values(run: Database, counting: list[Part] | None = None) -> dict[str, Any]:
    """step; reward, solved, kl, length, tied: the mean of the last ten logged values, `held_out`: the best one;
    tokens, and time in seconds. None for what was not recorded, or never was a number.
    `counting`: as for curves.read_curves."""
    keys, parts = keys_of(run), metrics.stretches(run) if counting is None else counting
    found: dict[str, Any] = {"step": parts[-1][2] if parts else 0}
    for name, candidates in MEANS.items():
        key = next((keys[metric] for metric in candidates if metric in keys), None)
        values = _last_values(run, key, parts) if key is not None else []
        found[name] = math.fsum(values) / len(values) if values else None
    found["held_out"] = _highest(run, keys.get("eval_reward"), parts)
    found["tokens"] = _last_total(run, keys.get("num_tokens"), parts)
    found["time"] = _last_total(run, keys.get("time/elapsed"), parts)
    if found["time"] is None and parts:
        found["time"] = _seconds_by_clock(run)
    return found


def _last_values(run: Database, key: int, parts: list[Part]) -> list[float]:
    found: list[float] = []
    for attempt, first, last in reversed(parts):
        rows = run.execute(
            "SELECT value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? AND value IS NOT NULL "
            "AND abs(value) < 9e999 ORDER BY step DESC LIMIT ?",
            [key, attempt, first, last, LAST - len(found)],
        )
        found += [value for (value,) in rows]
        if len(found) == LAST:
            break
    return found


def _highest(run: Database, key: int | None, parts: list[Part]) -> float | None:
    found = [
        run.execute(
            "SELECT max(value) FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            "AND abs(value) < 9e999",
            [key, *part],
        ).fetchone()[0]
        for part in (parts if key is not None else [])
    ]
    return max((value for value in found if value is not None), default=None)


def _last_total(run: Database, key: int | None, parts: list[Part]) -> float | None:
    """The last value of what only grows, over all attempts that count."""
    ends: list[tuple[float, float]] = []
    for attempt, first, last in parts if key is not None else []:
        for order in ("ASC", "DESC"):
            row = run.execute(
                "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
                f"AND abs(value) < 9e999 ORDER BY step {order} LIMIT 1",
                [key, attempt, first, last],
            ).fetchone()
            ends += [row] if row else []
    return rising(ends)[1][-1] if ends else None


def _seconds_by_clock(run: Database) -> float | None:
    begin, end = run.execute("SELECT min(at), max(at) FROM acknowledged").fetchone()
    return end - begin if begin is not None and end > begin else None
