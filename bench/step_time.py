"""What recording costs: the quickstart's steps, recorded, against the run folder's own plain TRL script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.homes import fresh_home, queued, quickstart
from bench.table import Row, median, ms
from worker.launchers.local import environment

ROUNDS = 4


def measure() -> list[Row]:
    """In turn, same seed, so the n-th step is the same work on both sides. Each step's time is its fastest over the
    rounds, which takes out what else the machine did; the medians over the steps are compared."""
    ours: list[list[float]] = []
    plain: list[list[float]] = []
    for round_ in range(ROUNDS):
        with fresh_home():
            folder = queued(quickstart())
            sides = [(ours, "groupwise", folder.id), (plain, "plain", str(folder.script))]
            for times, kind, what in sides if round_ % 2 else reversed(sides):  # neither is always the first
                times.append(_steps(kind, what))
    mine, theirs = (median([min(step) for step in zip(*rounds, strict=True)]) for rounds in (ours, plain))
    return [
        Row("median step, everything recorded", ms(mine), f"plain TRL script {ms(theirs)}", mine / theirs, 1.01, "×")
    ]


def _steps(kind: str, what: str) -> list[float]:
    """Seconds from the beginning of each step to the next one's."""
    with tempfile.TemporaryDirectory() as place:
        times = Path(place) / "times.json"
        subprocess.run(
            [sys.executable, "-m", "bench.clock", str(times), kind, what],
            env={**os.environ, **environment("bench:1:clock", 1), "PYTHONSAFEPATH": "", "PYTHONPATH": os.getcwd()},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        begun = json.loads(times.read_text())
    return [later - earlier for earlier, later in zip(begun, begun[1:], strict=False)]
