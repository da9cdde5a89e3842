"""What a run came to, in one row of numbers: the means of the last values that it logged, and its totals."""

import math
import re
from collections.abc import Sequence
from typing import Any

from groupwise.storage.analysis.compare import noise
from groupwise.storage.analysis.compare.curves import keys_of
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, recent, totals
from groupwise.storage.record.lineage import Part

# What is in the row: the metric that it is the last of; of several, the first that the run has.
ENDS = {
    "reward": ("reward",),
    "solved": ("groups/solved",),
    "kl": ("kl",),
    "length": ("completions/mean_length",),
    "tied": ("groups/tied", "frac_reward_zero_std"),
    "held_out": ("eval_reward",),
}


def final_values(run: Database, counting: list[Part] | None = None) -> dict[str, Any]:
    """step; means_of, the first and the last step that the means are of, and earlier, the same of those figures which
    have no value in these (where scoring stopped before the run did);
    reward, solved, kl, length, tied and held_out as they are at the end
    (storage.record.recent), so that a run is ranked by what it came to and not by a peak before a collapse;
    held_out_at, the step of that evaluation; errors, by how much reward, solved and held_out may be off by chance (one
    standard error); tokens, and time in seconds. None for what was not recorded, or never was a number.
    `counting`: as for curves.read_curves."""
    keys, parts = keys_of(run), lineage.stretches(run) if counting is None else counting
    lately = recent.of_last_stage(run, parts)
    logs = recent.last_logs(run, lately)
    found: dict[str, Any] = {"step": parts[-1][2] if parts else 0, "means_of": _steps_of_means(logs)}
    found["earlier"] = earlier = dict[str, recent.Steps]()
    for name, candidates in ENDS.items():
        metric = next((metric for metric in candidates if metric in keys), "")
        points = recent.recent_points(run, keys.get(metric), lately, logs)
        found[name] = recent.now_of(metric, points, logs)
        steps = _steps_now(metric, [step for step, _ in points], logs)
        if points and name != "held_out" and found["means_of"] and steps[1] < found["means_of"][0]:
            earlier[name] = steps
    if found["reward"] is None and "groups/tied" not in keys:
        found["tied"] = None  # nothing was scored: TRL then calls no group tied
    found["held_out_at"] = _last_step(run, keys.get("eval_reward"), lately)
    found["errors"] = _errors(run, keys, lately, found)
    found["tokens"] = totals.last_total(run, "num_tokens", parts)
    found["time"] = seconds_trained(run)
    return found


def _steps_of_means(logs: recent.Logs) -> tuple[int, int] | None:
    """The first and the last of the steps that a mean is of; None where none was logged."""
    if not logs:
        return None
    window = recent.closing_of(logs)
    return window.after + 1, window.until


OF_SOME = "_terminated_length"  # what not every step has: where no completion ended by itself
OF_FUNCTION = re.compile(r"rewards/[^/]+/(mean|std)$")  # nor this: where a function scored nothing
MOST_METRICS = 500  # of one run: a reward function may log as many as it likes


def last_means(run: Database, counting: list[Part] | None = None) -> dict[str, float]:
    """What each metric that a run logged is at the end of it, as its own page says it (storage.record.recent)."""
    lately = recent.of_last_stage(run, lineage.stretches(run) if counting is None else counting)
    keys = keys_of(run)
    some = list(keys.items())[:MOST_METRICS]
    logs = recent.last_logs(run, lately)
    means = {name: recent.now(run, name, key, lately, logs) for name, key in some}
    windows = dict[str, recent.Steps]()
    for name, key in some:
        if of_all := _of_all(name):
            if of_all not in windows:
                points = recent.recent_points(run, keys.get(of_all), lately, logs)
                windows[of_all] = _steps_now(of_all, [step for step, _ in points], logs)
            means[name] = _now_of_some(recent.recent_points(run, key, lately, logs), windows[of_all], logs)
    return {name: mean for name, mean in means.items() if mean is not None}


def _of_all(name: str) -> str:
    """The metric that has a value wherever there is anything to say of one that not every step has; "" of others."""
    if OF_FUNCTION.match(name):
        return "reward"
    return name.replace(OF_SOME, "_length") if name.endswith(OF_SOME) else ""


def _steps_now(name: str, steps: list[int], logs: recent.Logs) -> recent.Steps:
    """The first and the last of the steps that a metric with values at these is now of."""
    if recent.SINGLE.match(name):
        steps, logs = steps[-1:], ()
    return recent.steps_now(steps, logs) if steps else (0, -1)


def _now_of_some(known: list[recent.Point], steps: recent.Steps, logs: recent.Logs) -> float | None:
    """The mean over the steps that the metric of all is now of, as a run's page has it; None where none of these has a
    value: what the steps before them had says nothing of now."""
    first, until = steps
    if logs and first < until:
        return recent.mean_of_window(known, logs, recent.Window(first - 1, until, 0))
    values = [value for step, value in known if first <= step <= until]
    return math.fsum(values) / len(values) if values else None


def seconds_trained(run: Database) -> float | None:
    """For how long a run has trained, all its attempts together, steps that a resume did anew, too, without the pauses
    between them: so it never falls. By what it logged, or else by the clock; None of a run without a step, which may
    have loaded and evaluated, but trained for no time."""
    if not any(last for _, _, last in lineage.stretches(run)):
        return None
    begun, found, attempts = lineage.begun_at(run), list[float](), lineage.attempts(run)[::-1]
    for place, attempt in enumerate(attempts):
        found += _seconds_of_attempt(run, attempt, attempts[:place], begun.get(attempt, 0))
    return math.fsum(found) if found else _seconds_by_clock(run)


def _seconds_of_attempt(run: Database, attempt: int, earlier: Sequence[int], begin: int) -> list[float]:
    """What an attempt added to time/elapsed, which it counts on from what that was at the step it began after; nothing
    where it logged none."""
    ends = [_elapsed(run, attempt, order) for order in ("ASC", "DESC")]
    before = max((known for one in earlier if (known := _elapsed(run, one, "DESC", begin))), default=(0, 0.0))
    if ends[0] is None or ends[1] is None:
        return []
    counted = before[1] if before[1] <= ends[0][1] else 0.0  # an old record may count from nothing again
    return [ends[1][1] - counted]


def _elapsed(run: Database, attempt: int, order: str, most: int = 2**62) -> tuple[int, float] | None:
    """The first or last time/elapsed that an attempt logged up to a step, behind its step."""
    found: tuple[int, float] | None = run.execute(
        "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step <= ? AND abs(value) < 9e999 "
        f"ORDER BY step {order} LIMIT 1",
        [keys_of(run).get("time/elapsed"), attempt, most],
    ).fetchone()
    return found


def _errors(run: Database, keys: dict[str, int], lately: list[Part], found: dict[str, Any]) -> dict[str, float | None]:
    told = [part for part in lately if part[1] <= (found["held_out_at"] or 0) <= part[2]]
    at = [(attempt, found["held_out_at"], found["held_out_at"]) for attempt, _, _ in told]
    trained = noise.groups_of(run, "train", noise.last_parts(recent.last_logs(run, lately), lately))
    evaluated = noise.groups_of(run, "eval", at if found["held_out_at"] is not None else [])
    return {
        "reward": noise.error_of_mean(trained), "solved": noise.error_of_share(found["solved"], trained),
        "held_out": noise.error_of_mean(evaluated),
    }  # fmt: skip


def _last_step(run: Database, key: int | None, parts: list[Part]) -> int | None:
    """The step of a metric's last finite value within these stretches."""
    for part in reversed(parts if key is not None else []):
        found: int | None = run.execute(
            "SELECT max(step) FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            "AND abs(value) < 9e999",
            [key, *part],
        ).fetchone()[0]
        if found is not None:
            return found
    return None


def _seconds_by_clock(run: Database) -> float | None:
    begin, end = run.execute("SELECT min(at), max(at) FROM acknowledged").fetchone()
    return end - begin if begin is not None and end > begin else None
