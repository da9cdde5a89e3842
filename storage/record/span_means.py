"""run.db: what metrics came to in some steps, such as those between two checkpoints, and of which steps that tells.

One of TRL's logs is of all steps since the log before it: where logs do not end with the steps asked for, it tells of
steps before them, too. The reward is known of each step, by its completions; of the others the log's own steps are
named."""

import bisect
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, metric_buckets, recent, record_check, totals
from groupwise.storage.record.lineage import Part
from groupwise.storage.record.metric_buckets import Span
from groupwise.storage.record.recent import Logs

REWARD = "reward"


class Told(NamedTuple):
    """What a metric came to. `over`: the first and the last of the steps that it is the mean of; None where it is the
    last value."""

    value: float
    over: Span | None = None


def spans_before(steps: Sequence[int]) -> list[Span]:
    """The steps that lie between each of these and the one before it, as (first, last)."""
    ordered = sorted(set(steps))
    return [(before + 1, step) for before, step in zip([0, *ordered], ordered, strict=False)]


def means_of_spans(
    path: Path, names: Sequence[str], spans: Sequence[Span], attempt: int | None = None
) -> dict[int, dict[str, Told]]:
    """What these metrics came to in each span of steps, by its last step: the mean of what was logged by the attempts
    that count there, or by this one, or the last value of a metric that no mean says anything of."""
    with record_check.read_record(path) as run:
        keys = dict(run.execute("SELECT name, id FROM metric_key").fetchall())
        parts = lineage.stretches(run) if attempt is None else [_all_of(run, attempt)]
        logs = [recent.all_logs(run, [part]) for part in parts]
        found: dict[int, dict[str, Told]] = {}
        for span in spans:
            inside = _clip(parts, span)
            ended = _logs_in(logs, span)
            told = {name: _told(run, name, keys[name], inside, ended, span) for name in names if name in keys}
            found[span[1]] = {name: value for name, value in told.items() if value is not None}
        return found


def _all_of(run: Database, attempt: int) -> Part:
    return attempt, lineage.begun_at(run).get(attempt, -1) + 1, metric_buckets.ALL_STEPS[1]


def _clip(parts: Sequence[Part], span: Span) -> list[Part]:
    return [
        (attempt, max(first, span[0]), min(last, span[1])) for attempt, first, last in lineage.parts_within(parts, span)
    ]


def _logs_in(logs: Sequence[Logs], span: Span) -> Logs:
    """The logs that end within these steps, behind the step after which the first of them began; nothing of none.
    `logs`: those of each attempt that counts, in their order."""
    found: Logs = ()
    for of_part in logs:
        begin, end = (bisect.bisect_right(of_part, step, min(1, len(of_part))) for step in (span[0] - 1, span[1]))
        if begin < end:
            found = (*found, *of_part[begin:end]) if found else of_part[begin - 1 : end]
    return found


def _told(run: Database, name: str, key: int, parts: list[Part], logs: Logs, span: Span) -> Told | None:
    points = recent.all_points(run, key, parts)
    if points and totals.TOTALS.match(name):
        total = totals.last_total(run, name, parts, parts[-1][2])
        return None if total is None else Told(total)
    if points and recent.SINGLE.match(name):
        return Told(points[-1][1])
    over = (logs[0] + 1, logs[-1]) if logs else span
    of_each = _mean_reward(run, parts) if name == REWARD and (over != span or not logs) else None
    if of_each is not None:
        return Told(of_each, span)
    mean = recent.mean_of_all(points, logs)
    return None if mean is None else Told(mean, over)


def _mean_reward(run: Database, parts: Sequence[Part]) -> float | None:
    """The mean reward of all completions of these steps; None where none has one."""
    total, count = 0.0, 0
    for attempt, first, last in parts:
        some = run.execute(
            "SELECT total(mean * size), coalesce(sum(size), 0) FROM grp WHERE mode = 'train' AND step BETWEEN ? AND ? "
            "AND attempt = ? AND abs(mean) < 9e999",
            [first, last, attempt],
        ).fetchone()
        total, count = total + some[0], count + some[1]
    return total / count if count else None
