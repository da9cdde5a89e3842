"""What recording costs: the quickstart's steps, recorded, against the run folder's own plain TRL script."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil

from bench.homes import fresh_home, queued, quickstart
from bench.table import Row, median, ms
from worker.launchers.local import environment

ROUNDS = 4
Training = tuple[str, str]  # bench.clock's kind of training, and what it trains
Times = list[float]  # when each step began, in seconds on the clock that all processes share


def measure() -> list[Row]:
    rounds = []
    for round_ in range(ROUNDS):
        with fresh_home():
            folder = queued(quickstart())
            rounds.append(side_by_side(("groupwise", folder.id), ("plain", str(folder.script)), round_))
    sides = [median([step for times in side for step in lengths(times)]) for side in zip(*rounds, strict=True)]
    return [
        Row(
            "a step with everything recorded, median ratio", f"median {ms(sides[0])}",
            f"plain TRL script, median {ms(sides[1])}", ratio(rounds), 1.01, "×",
        )
    ]  # fmt: skip


def side_by_side(one: Training, other: Training, round_: int) -> tuple[Times, Times]:
    """When the steps of two trainings began that went on at the same time, each on a core of its own: whatever else the
    machine does, it does to both. Cores are changed about from round to round."""
    cores = sorted(os.sched_getaffinity(0))
    first, last = (cores[0], cores[-1]) if round_ % 2 else (cores[-1], cores[0])
    with training(one, first) as ours, training(other, last) as theirs:
        return ours(), theirs()


def lengths(times: Times) -> list[float]:
    """Seconds from the beginning of each step to the next one's."""
    return [later - earlier for earlier, later in zip(times, times[1:], strict=False)]


def ratio(rounds: Sequence[tuple[Times, Times]]) -> float:
    """The median over the steps. With the same seed the n-th step is the same work on both sides, and is compared
    with itself: the mean over the rounds, which takes out what the cores differ in."""
    steps = zip(*([a / b for a, b in zip(*map(lengths, sides), strict=True)] for sides in rounds), strict=True)
    return median([math.prod(step) ** (1 / len(step)) for step in steps])


@contextlib.contextmanager
def training(what: Training, core: int) -> Iterator[Callable[[], Times]]:
    """A training that was just started, on this core; call what it gives to wait for its times."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "times.json"
        child = subprocess.Popen(
            [sys.executable, "-m", "bench.clock", str(path), *what],
            env={**os.environ, **environment("bench:1:clock", 1), "PYTHONSAFEPATH": "", "PYTHONPATH": os.getcwd()},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        psutil.Process(child.pid).cpu_affinity([core])

        def times() -> Times:
            if child.wait():
                raise RuntimeError(f"{what} ended with {child.returncode}")
            begun: Times = json.loads(path.read_text())
            return begun

        try:
            yield times
        finally:
            child.kill()
            child.wait()
