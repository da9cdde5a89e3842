"""A run of 100,000 steps × 20 metrics: its first drawing, and one poll with one new step, against trackio's poll."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gradio.routes import ORJSONResponse

from bench.table import Row, median, ms
from groupwise.app.pages.run.header import run_status
from groupwise.app.pages.run.overview import draw_board
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group
from tests.support.homes import fresh_home, queued, quickstart

STEPS, METRICS, ROUNDS = 100_000, 20, 15

TRACKIO = f"""
import json, time
from trackio.sqlite_storage import SQLiteStorage
def rows(first, last):
    return [{{f"metric_{{i}}": (step * (i + 1)) % 97 / 97 for i in range({METRICS})}} for step in range(first, last)]
for first in range(1, {STEPS} + 1, 10_000):
    SQLiteStorage.bulk_log("bench", "long", rows(first, first + 10_000), steps=list(range(first, first + 10_000)))
times = []
for round in range(3):
    step = {STEPS} + 1 + round
    SQLiteStorage.bulk_log("bench", "long", rows(step, step + 1), steps=[step])
    begun = time.perf_counter()
    json.dumps(SQLiteStorage.get_logs("bench", "long", max_points=3000), default=str)
    times.append(time.perf_counter() - begun)
print(json.dumps(times))
"""


def measure() -> list[Row]:
    with fresh_home():
        folder = queued(quickstart())
        writer = RunWriter(folder.db, 1, {"format": 1.0, "correctness": 1.0})
        fill(writer, STEPS)
        first, polls = [], []
        whole = draw_board({"run": folder.id})
        for round_ in range(ROUNDS):
            begun = time.perf_counter()
            ORJSONResponse([run_status({"run": folder.id}), draw_board({"run": folder.id})])
            first.append(time.perf_counter() - begun)
            writer.commit(STEPS + 1 + round_, metrics=metrics(STEPS + 1 + round_), groups=[group(STEPS + 1 + round_)])
            begun = time.perf_counter()
            whole = draw_board({"run": folder.id, "after": whole["seq"], "drawn": True})
            ORJSONResponse([run_status({"run": folder.id}), whole])
            polls.append(time.perf_counter() - begun)
            assert not whole["reset"] and len(whole["curves"]) == METRICS
        writer.close()
    theirs = median(_trackio())
    size = f"{STEPS // 1000} k steps × {METRICS} metrics"
    return [
        Row(f"one poll, {size}", ms(median(polls)), f"trackio {ms(theirs)}", median(polls) * 1000, 10, "ms"),
        Row(f"first drawing, {size}", ms(median(first)), "–", median(first) * 1000, 300, "ms"),
    ]


def metrics(step: int) -> dict[str, float | None]:
    """Twenty of TRL's own names, so that the charts that are drawn are fed."""
    names = (
        "reward", "loss", "kl", "entropy", "grad_norm", "learning_rate", "step_time", "num_tokens", "reward_std",
        "frac_reward_zero_std", "rewards/format/mean", "rewards/correctness/mean", "rewards/format/std",
        "rewards/correctness/std", "completions/mean_length", "completions/clipped_ratio",
        "completions/mean_terminated_length", "clip_ratio/region_mean", "completions/min_length",
        "completions/max_length",
    )  # fmt: skip
    return {name: step * (i + 1) % 97 / 97 for i, name in enumerate(names)}


def fill(writer: RunWriter, steps: int) -> None:
    """Many steps through the real writer, but in one transaction instead of one each: only filling may do that."""
    with writer._db.atomic():
        for step in range(1, steps + 1):
            writer.commit(step, metrics=metrics(step), groups=[group(step)])


def group(step: int) -> Group:
    """A small group, so that the groups of so many steps are in the file too."""
    scored = [Completion("4", 1, False, float(n), n - 0.5, [(float(n), "ok"), (0.0, "ok")]) for n in (0, 1)]
    return Group("train", step, f"{step % 2000}+1?", {"answer": "2"}, scored)


def _trackio() -> list[float]:
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-c", TRACKIO], env={**os.environ, "TRACKIO_DIR": place, "HF_HUB_OFFLINE": "1"},
            capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1],
        )  # fmt: skip
        return [float(value) for value in json.loads(done.stdout.splitlines()[-1])]
