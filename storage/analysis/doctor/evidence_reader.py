"""Reads the doctor's evidence from a run's record: curves from what is pre-computed, and the first and last groups.

What an older or half-copied file lacks is left out; the rules that need it then say nothing.
"""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.checks.length import room_of
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import metrics, record_check
from groupwise.storage.record.rollup import SIZES
from groupwise.storage.spec.spec import RunSpec

# The metrics that the rules look at, besides rewards/NAME/….
METRICS = (
    "reward", "reward_std", "frac_reward_zero_std", "eval_reward", "kl", "entropy", "loss", "grad_norm",
    "learning_rate", "clip_ratio/region_mean", "completions/mean_length", "completions/clipped_ratio", "step_time",
    "groups/tied", "groups/all_low", "groups/all_high", "groups/tied_other", "groups/spread", "groups/best",
    "groups/worst", "groups/solved", "groups/any_solved", "groups/alike", "groups/repetition", "time/generation",
    "time/rewards", "time/update", "system/memory_share",
)  # fmt: skip
FINITE = ("loss", "grad_norm", "reward", "kl")  # those that must be numbers
RECENT_STEPS = 100  # in which a value that is no number is looked for
RAW_STEPS = 600  # up to here every value is read
GROUPS, COMPLETIONS, READ = 32, 256, 2000  # read at each end: groups, completions of them, characters of each

Bucket = tuple[int, int, float, float, float]  # step, how many values, their total, least and greatest


@dataclass(frozen=True)
class Surroundings:
    """What is published of this home: TRL's defaults, the devices, the optional packages."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    gpus: Sequence[Mapping[str, Any]] = ()
    extras: Mapping[str, str] = field(default_factory=dict)


def gather(path: Path, spec: RunSpec | None, around: Surroundings | None = None, until: int | None = None) -> Evidence:
    """The evidence of a record, or (`until`) what it was after so many steps. `spec`: None where it cannot be read.
    Raises sqlite3.Error where the file cannot."""
    around = around or Surroundings()
    with record_check.read_record(path) as run:
        return _gather_evidence(run, spec, around, 2**62 if until is None else until)


def _gather_evidence(run: Database, spec: RunSpec | None, around: Surroundings, until: int) -> Evidence:
    since, number = _stage(run)
    stages = spec.by_stage() if spec else []
    stage = stages[min(max(0, number - 1), len(stages) - 1)] if stages else None
    there = _read_if_there(lambda: metrics.stretches(run))
    parts = [(attempt, max(first, since + 1), min(last, until)) for attempt, first, last in there]
    parts = [part for part in parts if part[1] <= part[2]]
    keys = dict(_rows(run, "SELECT name, id FROM metric_key"))
    wanted = [name for name in keys if name in METRICS or (name.startswith("rewards/") and name.count("/") == 2)]
    curves = _curves(run, {keys[name]: name for name in wanted}, parts)
    ends = [_group_ids(run, "ASC", since, until), _group_ids(run, "DESC", since, until)]
    first, last = (_samples(run, ids) for ids in ends)
    rewards = [sample.reward for sample in (*first, *last)]
    rewards += [c.high for c in (curves.get("groups/best"),) if c] + [c.low for c in (curves.get("groups/worst"),) if c]
    total = _rows(
        run, "SELECT json_extract(data, '$.total') FROM event WHERE kind IN ('begin', 'stage') ORDER BY id DESC LIMIT 1"
    )
    return Evidence(
        training={**around.defaults, **(stage.training if stage else {})},
        rewards=stage.rewards if stage else (), lora=bool(spec and spec.lora is not None), curves=curves,
        functions=_functions(run, *ends), first=first, last=last, low=min(rewards, default=None),
        high=max(rewards, default=None), not_finite=_not_finite(run, keys, parts), gpus=around.gpus,
        extras=around.extras, step=parts[-1][2] if parts else 0, total=_newest_step(total), since=since,
        settings_known=spec is not None, places=places(spec, number), room=room_of(spec) if spec else None,
    )  # fmt: skip


def places(spec: RunSpec | None, number: int) -> dict[str, str]:
    """Where the stage of this number (from 1) says what it has of its own; its rewards are all its own, or none."""
    if spec is None or not 0 < number <= len(spec.stages):
        return {}
    stage, where = spec.stages[number - 1], f"stages.{number - 1}"
    own = {f"training.{name}": f"{where}.training.{name}" for name in stage.training}
    return own | ({"rewards": f"{where}.rewards"} if stage.rewards else {})


def _rows(run: Database, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Rows; none where the file is older than the table."""
    return _read_if_there(lambda: run.execute(sql, values).fetchall())


def _read_if_there(read: Callable[[], list[Any]]) -> list[Any]:
    try:
        return read()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            return []
        raise


def _stage(run: Database) -> tuple[int, int]:
    """(the step after which the stage that trains now began, its number); (0, 0) in a run without stages."""
    rows = _rows(
        run,
        "SELECT json_extract(data, '$.after'), json_extract(data, '$.stage') FROM event WHERE kind = 'stage' "
        "ORDER BY id DESC LIMIT 1",
    )
    after, number = rows[0] if rows else (0, 0)
    return (after, number) if isinstance(after, int) and isinstance(number, int) else (0, 0)


def _newest_step(rows: list[Any]) -> int:
    return rows[0][0] if rows and isinstance(rows[0][0], int) else 0


def _curves(run: Database, keys: dict[int, str], parts: list[tuple[int, int, int]]) -> dict[str, Curve]:
    steps = sum(last - first + 1 for _, first, last in parts)
    size = 1 if steps <= RAW_STEPS else next((n for n in SIZES if steps / n <= RAW_STEPS), SIZES[-1])
    return {name: curve for key, name in keys.items() if len(curve := _curve(run, key, parts, size))}


def _curve(run: Database, key: int, parts: list[tuple[int, int, int]], size: int) -> Curve:
    """The buckets of so many steps that are whole, and what is not in one yet as a point of its own; size 1: every
    value."""
    found: list[Bucket] = []
    for attempt, first, last in parts:
        begin = first
        tail: list[Bucket] = []
        for smaller in [one for one in reversed(SIZES) if one <= size]:
            buckets = _buckets(run, key, attempt, begin, last, smaller)
            begin = buckets[-1][0] // smaller * smaller + smaller if buckets else begin
            (found if smaller == size else tail).extend(buckets)
        raw = _raw(run, key, attempt, begin, last)
        if size == 1:
            found += raw
        elif tail or raw:
            found.append(_merge_buckets(tail + raw))
    return Curve.of([b[0] for b in found], [b[2] / b[1] for b in found], [(b[3], b[4]) for b in found])


def _buckets(run: Database, key: int, attempt: int, first: int, last: int, size: int) -> list[Bucket]:
    rows = _rows(
        run,
        "SELECT bucket, n, total, low, high FROM rollup WHERE size = ? AND key = ? AND attempt = ? "
        "AND bucket BETWEEN ? AND ? ORDER BY bucket",
        [size, key, attempt, first // size, (last + 1) // size - 1],
    )
    return [(bucket * size + size // 2, *rest) for bucket, *rest in rows]


def _raw(run: Database, key: int, attempt: int, first: int, last: int) -> list[Bucket]:
    rows = _rows(
        run,
        "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
        "AND value IS NOT NULL ORDER BY step LIMIT 4096",
        [key, attempt, first, last],
    )
    return [(step, 1, value, value, value) for step, value in rows if math.isfinite(value)]


def _merge_buckets(buckets: list[Bucket]) -> Bucket:
    _, counts, totals, lows, highs = zip(*buckets, strict=True)
    return buckets[-1][0], sum(counts), math.fsum(totals), min(lows), max(highs)


def _not_finite(run: Database, keys: dict[str, int], parts: list[tuple[int, int, int]]) -> dict[str, int]:
    """The last step at which a metric that must be a number was none, of the last steps. NaN is stored as NULL."""
    if not parts:
        return {}
    attempt, first, last = parts[-1]
    found = {}
    for name in FINITE:
        rows = _rows(
            run,
            "SELECT max(step) FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            "AND (value IS NULL OR abs(value) > 1e300)",
            [keys.get(name), attempt, max(first, last - RECENT_STEPS), last],
        )
        if rows and rows[0][0] is not None:
            found[name] = rows[0][0]
    return found


def _group_ids(run: Database, order: str, since: int, until: int) -> list[int]:
    """The first (ASC) or last (DESC) training groups of the stage."""
    rows = _rows(
        run,
        f"SELECT id FROM grp WHERE mode = 'train' AND step > ? AND step <= ? ORDER BY step {order} LIMIT {GROUPS}",
        [since, until],
    )
    return [row[0] for row in rows]


def _samples(run: Database, ids: list[int]) -> list[Sample]:
    marks = ", ".join("?" * len(ids))
    rows = _rows(
        run,
        f"SELECT c.grp, c.idx, g.step, substr(c.text, 1, {READ}), c.reward, substr(p.prompt, 1, {READ}) "
        "FROM grp g JOIN completion c ON c.grp = g.id LEFT JOIN prompt p ON p.id = g.prompt "
        f"WHERE g.id IN ({marks}) AND c.reward IS NOT NULL LIMIT {COMPLETIONS}",
        ids,
    )
    return [
        Sample(grp, idx, step, text, reward, _question_text(prompt))
        for grp, idx, step, text, reward, prompt in rows
        if math.isfinite(reward)
    ]


def _question_text(prompt: str | None) -> str:
    """What a person asked: the last message of a chat, or the text itself; empty where the prompt was cut."""
    try:
        read = json.loads(prompt or '""')
    except ValueError:
        return ""
    last = read[-1] if isinstance(read, list) and read else read
    return str(last.get("content") or "") if isinstance(last, dict) else str(last)


def _functions(run: Database, first: list[int], last: list[int]) -> dict[str, Function]:
    known = _rows(run, "SELECT id, name, weight FROM reward_function ORDER BY id")
    now, before = _scores(run, last), _scores(run, first)
    messages = dict(
        _rows(
            run,
            "SELECT json_extract(data, '$.function'), message FROM event WHERE kind = 'reward' "
            "ORDER BY id DESC LIMIT 64",
        )[::-1]
    )
    found = {}
    for id, name, weight in known:
        values, statuses = now.get(id, ([], {}))
        earlier = before.get(id, ([], {}))[0]
        found[name] = Function(
            weight, statuses, min(values, default=None), max(values, default=None), _std(values),
            (min(earlier), max(earlier)) if earlier else None, str(messages.get(name) or ""),
        )  # fmt: skip
    return found


def _scores(run: Database, ids: list[int]) -> dict[int, tuple[list[float], dict[str, int]]]:
    """function → its finite scores in these groups, and how often it had each status."""
    marks = ", ".join("?" * len(ids))
    found: dict[int, tuple[list[float], dict[str, int]]] = defaultdict(lambda: ([], defaultdict(int)))
    for function, value, status in _rows(
        run, f"SELECT function, value, status FROM score WHERE grp IN ({marks}) LIMIT 8192", ids
    ):
        found[function][1][status] += 1
        if value is not None and math.isfinite(value):
            found[function][0].append(value)
    return found


def _std(values: list[float]) -> float:
    if not values:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def newest_batch(path: Path) -> int:
    """The number of the last batch that was recorded: while it is the same, so is the evidence."""
    with record_check.read_record(path) as run:
        rows = _rows(run, "SELECT max(seq) FROM acknowledged")
    return rows[0][0] or 0 if rows else 0
