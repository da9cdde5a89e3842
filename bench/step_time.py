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
    """In turn, same seed, so the n-th step is the same work on both sides and is compared with itself: its fastest
    time over the rounds, which takes out what else the machine did. Steps differ in work by more than the recording
    costs, so a ratio of two medians, which pick different steps, would be mostly noise."""
    ours: list[list[float]] = []
    plain: list[list[float]] = []
    for round_ in range(ROUNDS):
        with fresh_home():
            folder = queued(quickstart())
            sides = [(ours, "groupwise", folder.id), (plain, "plain", str(folder.script))]
            for times, kind, what in sides if round_ % 2 else reversed(sides):  # neither is always the first
                times.append(_steps(kind, what))
    mine, theirs = ([min(step) for step in zip(*rounds, strict=True)] for rounds in (ours, plain))
    ratio = median([a / b for a, b in zip(mine, theirs, strict=True)])
    sides = f"median {ms(median(mine))}", f"plain TRL script, median {ms(median(theirs))}"
    return [Row("a step with everything recorded, median ratio", *sides, ratio, 1.01, "×")]


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
