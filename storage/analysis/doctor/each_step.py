"""What TRL logs of completions, of each step where it logs only every tenth, say: the groups of all are recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.sample_reader import rows_of
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import recent

ENOUGH = 20  # logged steps: from there on they tell a trend by themselves, and groups the first step alone
MOST = 100  # steps that are read: of more, every second, third, …
OF_EACH_STEP = ("kl", "entropy")  # what TRL logs of these is the mean of all steps since it last did
MEANS = ("reward", "completions/clipped_ratio", "completions/mean_length", "completions/mean_terminated_length")
Points = list[tuple[int, float]]  # by their steps


def with_each_step(
    run: Database, curves: Mapping[str, Curve], names: Mapping[int, str], since: int, until: int, interval: int
) -> dict[str, Curve]:
    """These curves, where TRL logs only every `interval` steps with what the groups of the steps between say; the
    figures that pages say stay those of what was logged. `names`: of the reward functions, by their number."""
    logged = curves.get("reward", Curve())
    steps = _steps_with_groups(run, since, until) if len(logged) < ENOUGH or interval > 1 else []
    per = recent.values_a_log(steps, interval)
    if not steps or len(logged) and per <= 1:
        return dict(curves)
    chosen = steps[:: -(-len(steps) // MOST)] if len(logged) < ENOUGH else steps[:1]
    read = _read(run, chosen, names)
    found = {name: _curve_with(points, curves.get(name), int(per)) for name, points in read.items()}
    told = {name: replace(curves[name], every=interval) for name in OF_EACH_STEP if name in curves}
    return {**curves, **told, **found}


def _curve_with(points: Points, logged: Curve | None, per: int) -> Curve:
    """A curve of these points; where they are the first step's alone, of it and what was logged."""
    steps, values = [step for step, _ in points], [value for _, value in points]
    if logged is None or not len(logged):
        return Curve.of(steps, values)
    if len(logged) < ENOUGH:
        return Curve.of(steps, values, course=logged.course)
    if steps[-1] >= logged.steps[0]:  # it was logged, too
        return replace(logged, every=per)
    return replace(
        logged, steps=(*steps, *logged.steps), values=(*values, *logged.values), lows=(*values, *logged.lows),
        highs=(*values, *logged.highs), every=per,
    )  # fmt: skip


def _steps_with_groups(run: Database, since: int, until: int) -> list[int]:
    sql = "SELECT DISTINCT step FROM grp WHERE mode = 'train' AND step > ? AND step <= ? ORDER BY step"
    return [step for (step,) in rows_of(run, sql, [since, until])]


def _read(run: Database, steps: Sequence[int], names: Mapping[int, str]) -> dict[str, Points]:
    """metric → what it is at each of these steps, as TRL logs it: of all completions of the step."""
    marks = ", ".join("?" * len(steps))
    of_these = f"WHERE g.mode = 'train' AND g.step IN ({marks}) GROUP BY g.step"
    rows = rows_of(
        run,
        "SELECT g.step, avg(c.reward), avg(c.truncated), avg(c.tokens), avg(iif(c.truncated, NULL, c.tokens)) "
        f"FROM grp g JOIN completion c ON c.grp = g.id {of_these}",
        steps,
    )
    # A column for each function, as grouping by it would sort all scores.
    each = "".join(f", avg(iif(s.function = {int(number)}, s.value, NULL))" for number in names)
    scores = rows_of(run, f"SELECT g.step{each} FROM grp g JOIN score s ON s.grp = g.id {of_these}", steps)
    found = {name: _points([(row[0], row[at]) for row in rows]) for at, name in enumerate(MEANS, 1)}
    for at, name in enumerate(names.values(), 1):
        found[f"rewards/{name}/mean"] = _points([(row[0], row[at]) for row in scores])
    return {name: points for name, points in found.items() if points}


def _points(rows: Sequence[tuple[int, Any]]) -> Points:
    """Those with a finite value."""
    return [(step, value) for step, value in rows if value is not None and abs(value) < 1e300]
