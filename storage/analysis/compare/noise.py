"""How far a run's figures may be off by chance: they are of some completions to some prompts, and of others they would
be others."""

import math
import statistics
from collections.abc import Mapping, Sequence

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import recent
from groupwise.storage.record.lineage import Part

MOST = 20_000  # groups of one figure
SURE = 2.0  # standard errors: what is within them may be chance
Group = tuple[int, float | None]  # how many completions count, and their mean reward, if they have one


def error_of_mean(groups: Sequence[Group]) -> float | None:
    """The standard error of the mean reward of groups; None of fewer than two that have one."""
    means = [mean for _, mean in groups if mean is not None]
    return statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None


def error_between(first: Mapping[int, float], last: Mapping[int, float]) -> float | None:
    """The standard error of how far held-out reward has moved between two evaluations of these means: by prompt,
    where both asked the same. None where that cannot be told."""
    shared = first.keys() & last.keys()
    if len(shared) > 1:
        return error_of_mean([(1, last[prompt] - first[prompt]) for prompt in shared])
    errors = [error_of_mean([(1, mean) for mean in means.values()]) for means in (first, last)]
    return None if None in errors else math.hypot(*(error or 0.0 for error in errors))


_LAST_EVALUATION = (
    "g.mode = 'eval' AND g.step = ? AND g.attempt = (SELECT max(attempt) FROM grp WHERE mode = 'eval' AND step = ?)"
)


def held_out_means(run: Database, step: int) -> dict[int, float]:
    """The mean reward of each prompt of the evaluation of a step, the last one there."""
    found = run.execute(
        f"SELECT g.prompt, avg(g.mean) FROM grp g WHERE {_LAST_EVALUATION} AND g.mean IS NOT NULL "
        "GROUP BY g.prompt LIMIT ?",
        [step, step, MOST],
    )
    return dict(found.fetchall())


def held_out_scores(run: Database, step: int, function: str) -> dict[int, float]:
    """The same of what one function gave."""
    found = run.execute(
        "SELECT g.prompt, avg(s.value) FROM grp g JOIN score s ON s.grp = g.id "
        f"JOIN reward_function f ON f.id = s.function WHERE {_LAST_EVALUATION} AND f.name = ? "
        "AND s.value IS NOT NULL GROUP BY g.prompt LIMIT ?",
        [step, step, function, MOST],
    )
    return dict(found.fetchall())


def error_of_share(share: float | None, groups: Sequence[Group]) -> float | None:
    """The standard error of a share of the completions of groups; one that is 0 or 1 is never quite sure."""
    count = sum(size for size, _ in groups)
    if share is None or not count:
        return None
    near = (share * count + 1) / (count + 2)
    return math.sqrt(near * (1 - near) / count)


def last_parts(logs: recent.Logs, parts: Sequence[Part]) -> list[Part]:
    """The stretches of steps, of these, that what a metric is at the end is the mean of. `logs`: the last logged
    steps."""
    if not logs:
        return []
    window = recent.closing_of(logs)
    clipped = [(attempt, first, min(last, window.until)) for attempt, first, last in recent.since(parts, window.after)]
    return [part for part in clipped if part[1] <= part[2]]


def groups_of(run: Database, mode: str, parts: Sequence[Part]) -> list[Group]:
    """The groups that count of these stretches of steps. `mode`: train or eval."""
    found: list[Group] = []
    for attempt, first, last in parts:
        found += run.execute(
            "SELECT size, mean FROM grp WHERE mode = ? AND attempt = ? AND step BETWEEN ? AND ? LIMIT ?",
            [mode, attempt, first, last, MOST],
        ).fetchall()
    return found
