"""run.db, reading metrics: whole curves in at most ~1,000 points, a closer look at some steps, and what is new since a
reader last looked."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.home.value_types import Form, Positive, When, Whole, value_if_fitting
from groupwise.storage.record import metric_buckets, recent, record_check
from groupwise.storage.record.lineage import Part, attempts, overwritten, parts_within, stretches
from groupwise.storage.record.metric_buckets import MAX_POINTS, Span

SETTLED = 5  # steps of a resumed run, from where on what they take is told by themselves
MOST_MARKS = 100
MOST_PAST = 8  # stretches of overwritten past that are drawn, the newest


class Standing(Form):
    """What the registry takes over of a record."""

    attempt: Positive
    step: Whole
    at: When


_STANDING, _WHOLE = TypeAdapter(Standing), TypeAdapter(Whole)


def read_metrics(path: Path, after: int = 0) -> dict[str, Any]:
    """The run's curves, or what was acknowledged after number `after`.

    `seq` is the number to pass next time. `reset` says that the curves are whole (the first look, or a new attempt
    began) and replace what the reader has; else their points come after, or replace, those of the same step. A whole
    look has also `past`, what earlier attempts had trained beyond the step where the next began, `marks`, where
    attempts and stages began, and `odd`, how many values were no numbers.
    """
    with record_check.read_record(path) as run:
        newest = run.execute("SELECT seq, attempt FROM acknowledged ORDER BY seq DESC LIMIT 1").fetchone()
        if newest is None or newest[0] <= after:
            return {"seq": after, "reset": False, "curves": {}}
        seq, attempt = newest
        before = run.execute("SELECT attempt FROM acknowledged WHERE seq = ?", [after]).fetchone()
        if before is not None and before[0] == attempt and seq - after <= MAX_POINTS:
            first = run.execute("SELECT min(step) FROM acknowledged WHERE seq > ?", [after]).fetchone()[0]
            if first == 0 or first > _first_step(run, attempt):  # else an earlier attempt's step was evaluated
                found = metric_buckets.logged_curves(run, [(attempt, first, metric_buckets.ALL_STEPS[1])])
                return {"seq": seq, "reset": False, "curves": found}
        return {"seq": seq, "reset": True, **_whole_curves(run)}


def _first_step(run: Database, attempt: int) -> int:
    return run.execute("SELECT min(step) FROM acknowledged WHERE attempt = ?", [attempt]).fetchone()[0]


def window(path: Path, names: Sequence[str], first: int, last: int) -> dict[str, Any]:
    """The curves of these metrics from step `first` to step `last`, in at most ~1,000 points each, with what
    earlier attempts had trained there (`past`)."""
    with record_check.read_record(path) as run:
        return _whole_curves(run, names, (first, last))


def _whole_curves(
    run: Database, names: Sequence[str] | None = None, span: Span = metric_buckets.ALL_STEPS
) -> dict[str, Any]:
    parts, gone = parts_within(stretches(run), span), parts_within(overwritten(run), span)
    metrics = len(names) if names is not None else run.execute("SELECT count(*) FROM metric_key").fetchone()[0]
    size, past_size = (metric_buckets.bucket_size(_steps(some, span), metrics) for some in (parts, gone))
    past = [
        {"attempt": part[0], "first": part[1], "last": part[2],
         "curves": metric_buckets.bucket_curves(run, [part], past_size, names, span, tail=False)}
        for part in gone[-MOST_PAST:]
    ]  # fmt: skip
    return {
        "bucket": size, "curves": metric_buckets.bucket_curves(run, parts, size, names, span), "past": past,
        "marks": _marks(run), "odd": metric_buckets.count_not_finite(run, parts) if size > 1 else {},
    }  # fmt: skip


def _steps(parts: list[Part], span: Span) -> int:
    return sum(min(last, span[1]) - max(first, span[0], 1) + 1 for _, first, last in parts)


def marks(path: Path) -> list[dict[str, Any]]:
    """Where attempts after the first that trained, and stages, began: step, kind (begin or stage), attempt, stage."""
    with record_check.read_record(path) as run:
        return _marks(run)


def _marks(run: Database) -> list[dict[str, Any]]:
    """The newest 100. An attempt that begins within a stage names it again; that is no new stage."""
    rows = run.execute(
        "SELECT step, kind, attempt, json_extract(data, '$.stage') FROM event WHERE kind = 'stage' "
        "OR (kind = 'begin' AND attempt > (SELECT min(attempt) FROM acknowledged WHERE step > 0)) ORDER BY id"
    ).fetchall()
    found: list[dict[str, Any]] = []
    stage: int | None = None
    for step, kind, attempt, number in rows:
        if kind == "stage" and number == stage:
            continue
        if kind == "stage":
            before, stage = stage, number
            if before is None:  # the run begins in it
                continue
        found.append({"step": step, "kind": kind, "attempt": attempt, "stage": number})
    return found[-MOST_MARKS:]


def stage_weights(run: Database, attempt: int, step: int) -> dict[str, float] | None:
    """What each reward function counted in the stage that this step of this attempt belongs to; None in a run
    without stages, where it is the same all along (`reward_function.weight`)."""
    row = run.execute(
        "SELECT json_extract(data, '$.weights') FROM event WHERE kind = 'stage' AND attempt = ? AND step < ? "
        "ORDER BY id DESC LIMIT 1",
        [attempt, step],
    ).fetchone()
    weights = json.loads(row[0]) if row and row[0] else None
    return weights if isinstance(weights, dict) else None


def weights_at(run: Database, attempt: int, step: int) -> dict[str, float]:
    """What reward functions counted at a step, where that is not the same all along: the weights of its stage, and
    those that changed."""
    return (stage_weights(run, attempt, step) or {}) | _changing_weights(run, attempt, step)


def _changing_weights(run: Database, attempt: int, step: int) -> dict[str, float]:
    """What those reward functions counted at a step whose weight changes in its stage (a schedule, the success rate):
    it is recorded as rewards/NAME/weight."""
    (began,) = run.execute(
        "SELECT coalesce(min(step), 0) FROM event WHERE kind = 'stage' AND json_extract(data, '$.stage') = (SELECT "
        "json_extract(data, '$.stage') FROM event WHERE kind = 'stage' AND attempt = ? AND step < ? "
        "ORDER BY id DESC LIMIT 1)",
        [attempt, step],
    ).fetchone()
    found: dict[str, tuple[int, int, float]] = {}
    for key, name in run.execute("SELECT id, name FROM metric_key WHERE name LIKE 'rewards/%/weight'").fetchall():
        for one in [known for known in attempts(run) if known <= attempt]:
            row = run.execute(
                "SELECT step, attempt, value FROM metric WHERE key = ? AND attempt = ? AND step > ? AND step <= ? "
                "AND value IS NOT NULL ORDER BY step DESC LIMIT 1",
                [key, one, began, step],
            ).fetchone()
            if row is not None:
                found[name] = max(row, found.get(name, row))
    return {name.split("/")[1]: value for name, (_, _, value) in found.items()}


def standing(path: Path) -> dict[str, Any]:
    """Where a run is: number (`seq`), attempt and step last acknowledged and when (`at`), `total` steps planned, and
    whether training has `begun` in this attempt. Cheap, for every poll."""
    with record_check.read_record(path) as run:
        return _standing(run)


def _standing(run: Database) -> dict[str, Any]:
    last = run.execute("SELECT attempt, step, at, seq FROM acknowledged ORDER BY seq DESC LIMIT 1").fetchone()
    if last is None:
        return {"seq": 0, "attempt": 0, "step": 0, "at": None, "total": 0, "begun": False}
    plan = run.execute(
        "SELECT json_extract(data, '$.total'), attempt FROM event WHERE kind IN ('begin', 'stage') "
        "ORDER BY id DESC LIMIT 1"
    ).fetchone()
    total, begun = (value_if_fitting(_WHOLE, plan[0]) or 0, plan[1] == last[0]) if plan else (0, False)
    found = {"seq": last[3], "attempt": last[0], "step": last[1], "at": last[2], "total": total, "begun": begun}
    if value_if_fitting(_STANDING, found) is None:
        raise record_check.OddRecord("its last step is not valid")
    return found


def progress(path: Path) -> dict[str, Any]:
    """`standing`, and what the Runs page shows: `reward` as it is now (see storage.record.recent), and `spark`, at
    most 40 points of it."""
    with record_check.read_record(path) as run:
        parts = stretches(run)
        key = run.execute("SELECT id FROM metric_key WHERE name = 'reward'").fetchone()
        newest = recent.since(parts, recent.stage_began(run)[0])
        return _standing(run) | {
            "reward": recent.now(run, "reward", key[0] if key else None, newest, recent.last_logs(run, newest)),
            "spark": [round(value, 4) for value in _thin(_rewards(run, parts), 40)],
        }


def progress_if_readable(path: Path) -> dict[str, Any] | None:
    """The progress of a run (`progress`); None while there is no readable record."""
    try:
        return progress(path)
    except sqlite3.DatabaseError:
        return None
    except Exception:
        if record_check.of_file(path, odd=True) is None:
            raise
        return None


def _rewards(run: Database, parts: list[Part]) -> list[float]:
    """The reward's points, as they are drawn."""
    size = metric_buckets.bucket_size(_steps(parts, metric_buckets.ALL_STEPS))
    curve = metric_buckets.bucket_curves(run, parts, size, ["reward"]).get("reward", {"y": []})
    points, tail = [value for value in curve["y"] if value is not None], curve.get("tail", {"x": [], "y": []})
    return points + (metric_buckets.fold_values(tail["x"], tail["y"], size)[1] if tail["x"] else [])


def _thin(values: list[float], count: int) -> list[float]:
    """Means of `count` equal stretches."""
    if len(values) <= count:
        return values
    edges = [round(i * len(values) / count) for i in range(count + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in zip(edges, edges[1:], strict=False)]


def step_seconds(path: Path) -> float | None:
    """What a step of training takes now, wherever it is said: the mean of the last logged `step_time` of the stage that
    trains (storage.record.recent), so neither evaluation nor the slow first steps are in it. Where none is logged, the
    median between steps (`pace`)."""
    told = value_now(path, "step_time")
    return pace(path)["median"] if told is None else told


def value_now(path: Path, name: str) -> float | None:
    """What a metric of a run is now: the mean of the last logged values of the stage that trains; None of none."""
    with record_check.read_record(path) as run:
        key = run.execute("SELECT id FROM metric_key WHERE name = ?", [name]).fetchone()
        newest = recent.since(stretches(run), recent.stage_began(run)[0])
        return recent.now(run, name, key[0], newest, recent.last_logs(run, newest)) if key else None


def pace(path: Path) -> dict[str, float | None]:
    """Seconds between acknowledged steps of the latest attempt, whatever they were spent on, evaluation, too: the
    median of the last of them, as many as `step_seconds` is of, and the longest of the last 50. The first of a resumed
    run's are slow, beside what its steps took before: of fewer than `SETTLED` no median is told."""
    with record_check.read_record(path) as run:
        rows = run.execute(
            "SELECT max(at), attempt FROM acknowledged WHERE attempt = (SELECT max(attempt) FROM acknowledged) "
            "AND step > 0 GROUP BY step ORDER BY step DESC LIMIT 51"
        ).fetchall()
    times, is_resumed = [at for at, _ in rows], bool(rows) and rows[0][1] > 1
    gaps = [later - earlier for later, earlier in zip(times, times[1:], strict=False)]  # the last first
    newest = [] if is_resumed and len(gaps) < SETTLED else sorted(gaps[: recent.window_of(len(times))])
    return {"median": newest[len(newest) // 2] if newest else None, "longest": max(gaps, default=None)}


def events(path: Path, after: int = 0) -> list[dict[str, Any]]:
    """What happened, oldest first; `trace` is the traceback of what failed, if one was kept."""
    with record_check.read_record(path) as run:
        columns = "id, at, attempt, step, kind, message, json_extract(data, '$.traceback') AS trace"
        return list(run.query(f"SELECT {columns} FROM event WHERE id > ?", [after]))


def waits_for(path: Path) -> str | None:
    """What training waits for, in a sentence, where that is the last that happened; None while it goes on."""
    with record_check.read_record(path) as run:
        last = run.execute(
            "SELECT message, json_extract(data, '$.waits') FROM event ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return last[0] if last and last[1] else None


def checkpoints(path: Path) -> list[dict[str, Any]]:
    """Checkpoints that were completed, newest first; the folder may since have been rotated away."""
    with record_check.read_record(path) as run:
        return list(run.query("SELECT step, attempt, at, path, bytes FROM checkpoint ORDER BY step DESC"))
