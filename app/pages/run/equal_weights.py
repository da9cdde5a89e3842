"""Rewards of checkpoints at equal weights. Where what functions count changed while a run trained (a schedule, adapt,
stages), its reward moved for that alone: which checkpoint is the best shows at the weights of the last step."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from groupwise.storage.analysis.doctor import held_out_shift
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import lineage, metrics, record_check
from groupwise.storage.record.lineage import Part
from groupwise.storage.record.span_means import Told

Weights = Mapping[str, float]
PREFIXES = {"reward": "rewards", "held-out reward": "eval_rewards"}  # of a function's mean, by the column


class Moved(NamedTuple):
    """The weights of the last of some steps, and the functions that counted otherwise at another of them."""

    last: Weights
    names: tuple[str, ...]


def read_moved(path: Path, steps: Sequence[int]) -> Moved | None:
    """What functions counted at these steps of a run, where that is not the same at all of them; None elsewhere."""
    with record_check.read_record(path) as run:
        usual = dict(run.execute("SELECT name, weight FROM reward_function ORDER BY id").fetchall())
        parts = lineage.stretches(run)
        weights = [_weights_at(run, parts, usual, step) for step in sorted(steps)]
    last = weights[-1] if weights else {}
    names = tuple(name for name in last if any(one.get(name) != last[name] for one in weights))
    return Moved(last, names) if names else None


def _weights_at(run: Database, parts: Sequence[Part], usual: Mapping[str, float | None], step: int) -> Weights:
    attempts = [attempt for attempt, first, last in parts if first <= step <= last]
    now = metrics.weights_at(run, attempts[-1], step) if attempts else {}
    return {name: float(now.get(name, weight or 0)) for name, weight in usual.items()}


def means_needed(moved: Moved) -> list[str]:
    """The metrics that a reward at equal weights is made of."""
    return [f"{prefix}/{name}/mean" for prefix in PREFIXES.values() for name in _counting(moved)]


def rewards_at(moved: Moved, values: Mapping[str, Told]) -> dict[str, float]:
    """What each of the reward's columns comes to at the weights of the last step, where every function that counts then
    is known. `values`: a checkpoint's, by metric."""
    found = {}
    for column, prefix in PREFIXES.items():
        means = {name: values.get(f"{prefix}/{name}/mean") for name in _counting(moved)}
        known = {name: told.value for name, told in means.items() if told is not None}
        if means and len(known) == len(means):
            found[column] = sum(moved.last[name] * value for name, value in known.items())
    return found


def may_be_chance(path: Path, moved: Moved | None, worth: Mapping[int, float]) -> bool:
    """Whether what held-out reward came to (`worth`) at the first and the last of these steps differs by no more than
    by chance, as Overview judges it: at the weights of the last step, where these moved."""
    then, now = min(worth), max(worth)
    with record_check.read_record(path) as run:
        shift = held_out_shift.read_shift(run, then, now, moved.last if moved else None)
    return held_out_shift.may_be_chance(worth[now] - worth[then], shift)


def moved_by_chance(path: Path, then: int, now: int) -> bool:
    """The same of the evaluations of two steps, by what each of their prompts did; not where that is not known."""
    moved = read_moved(path, [then, now])
    with record_check.read_record(path) as run:
        shift = held_out_shift.read_shift(run, then, now, moved.last if moved else None)
    return bool(shift.changes) and held_out_shift.may_be_chance(statistics.mean(shift.changes or ()), shift)


def _counting(moved: Moved) -> list[str]:
    return [name for name, weight in moved.last.items() if weight]
