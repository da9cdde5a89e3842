"""What recording costs: the quickstart's steps, recorded, against the run folder's own plain TRL script."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.table import Row, median, ms
from groupwise.worker.launchers.local import training_environment
from tests.support.homes import fresh_home, queued, quickstart

ROUNDS = 4
Training = tuple[str, str]  # bench.clock's kind of training, and what it trains
Times = list[tuple[float, float]]  # when each step began and ended, in seconds of the clock that all processes share


def measure() -> list[Row]:
    pairs: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        with fresh_home():
            folder = queued(quickstart())
            pairs += in_turns(("groupwise", folder.id), ("plain", str(folder.script)))
    ours, theirs = (median(list(side)) for side in zip(*pairs, strict=True))
    return [
        Row(
            "a step with everything recorded, median ratio", f"median {ms(ours)}",
            f"plain TRL script, median {ms(theirs)}", median([a / b for a, b in pairs]), 1.01, "×",
        )
    ]  # fmt: skip


def in_turns(one: Training, other: Training) -> list[tuple[float, float]]:
    """Seconds of the steps of two trainings that take turns, step by step, each with the machine to itself: with the
    same seed the n-th step is the same work in both, and is done a moment later in the other, whatever else the
    machine does by then."""
    mine, to_me = os.pipe()
    others, to_other = os.pipe()
    os.write(to_me, b".")
    with training(one, (mine, to_other)) as ours, training(other, (others, to_me)) as theirs:
        for end in (mine, to_me, others, to_other):
            os.close(end)  # so that one that ends, ends the other's waiting
        return list(zip(lengths(ours()), lengths(theirs()), strict=True))


def lengths(times: Times) -> list[float]:
    """Seconds of each step."""
    return [ended - begun for begun, ended in times]


@contextlib.contextmanager
def training(what: Training, turn: Sequence[int] = (), core: int | None = None) -> Iterator[Callable[[], Times]]:
    """A training that was just started, on this core; call what it gives to wait for its times. It has one thread: how
    long torch's threads wait for one another differs from step to step by more than what is measured here."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "times.json"
        child = subprocess.Popen(
            [sys.executable, "-m", "bench.clock", str(path), *what, *map(str, turn)],
            pass_fds=turn,
            env={
                **os.environ,
                **training_environment("bench:1:clock", 1),
                "PYTHONSAFEPATH": "",
                "PYTHONPATH": os.getcwd(),
                "OMP_NUM_THREADS": "1",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if core is not None:
            os.sched_setaffinity(child.pid, [core])

        def times() -> Times:
            if child.wait():
                raise RuntimeError(f"{what} ended with {child.returncode}")
            return [(begun, ended) for begun, ended in json.loads(path.read_text())]

        try:
            yield times
        finally:
            child.kill()
            child.wait()
