"""How soon another process sees a logged metric: Groupwise's run.db against trackio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.table import Row, ms, percentile
from groupwise.storage.record import metrics
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group

STEPS, EVERY = 60, 0.1  # steps, and seconds between them
POLL = 0.005  # seconds between a reader's looks

WRITE_TRACKIO = f"""
import time, trackio
run = trackio.init(project="bench", name="latency", auto_log_gpu=False, auto_log_cpu=False)
for step in range(1, {STEPS} + 1):
    trackio.log({{f"metric_{{i}}": float(step) for i in range(20)}} | {{"at": time.time()}}, step=step)
    time.sleep({EVERY})
trackio.finish()
"""


def measure() -> list[Row]:
    ours, theirs = _ours(), _trackio()
    mine, trackio = (f"p50 {ms(percentile(lags, 0.5))}, p95 {ms(percentile(lags, 0.95))}" for lags in (ours, theirs))
    return [
        Row(
            "logged → seen by another process, p95", mine, f"trackio {trackio}",
            percentile(ours, 0.95) * 1000, 50, "ms",
        )
    ]  # fmt: skip


def write(path: Path) -> None:
    """The writing process: 20 metrics and 64 completions a step. A step's `at` is taken before its commit."""
    writer = RunWriter(path, 1, {"format": 1.0, "correctness": 1.0})
    for step in range(1, STEPS + 1):
        completions = [Completion("x" * 200, 50, False, 1.0, 0.0, [(1.0, "ok"), (0.0, "ok")]) for _ in range(8)]
        groups = [Group("train", step, f"{step}.{n}", {"answer": "1"}, completions) for n in range(8)]
        writer.commit(step, metrics={f"metric_{i}": float(step) for i in range(20)}, groups=groups)
        time.sleep(EVERY)
    writer.close()


def _ours() -> list[float]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "run.db"
        code = f"from pathlib import Path; from bench.latency import write; write(Path({str(path)!r}))"
        process = subprocess.Popen([sys.executable, "-c", code])
        lags, seen = [], 0
        while process.poll() is None:
            if path.exists():
                seen, lag = _look(path, seen)
                lags += lag
            time.sleep(POLL)
        return lags


def _look(path: Path, seen: int) -> tuple[int, list[float]]:
    """The number last seen, and how old what is new is."""
    import sqlite3

    try:
        new = metrics.read_metrics(path, seen)
        now = time.time()
        if new["seq"] == seen:
            return seen, []
        at = metrics.standing(path)["at"]
    except sqlite3.OperationalError:  # the file is being made
        return seen, []
    return new["seq"], [now - at]


def _trackio() -> list[float]:
    """By the `at` each row carries, read as trackio's own dashboard reads."""
    with tempfile.TemporaryDirectory() as place:
        env = {**os.environ, "TRACKIO_DIR": place, "HF_HUB_OFFLINE": "1"}
        reader = subprocess.Popen(
            [sys.executable, "-c", "from bench.latency import watch_trackio; watch_trackio()"],
            env=env, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        subprocess.run(
            [sys.executable, "-c", WRITE_TRACKIO],
            env=env,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        answer, _ = reader.communicate(timeout=60)
        return [float(lag) for lag in json.loads(answer)]


def watch_trackio() -> None:
    from trackio.sqlite_storage import SQLiteStorage

    seen: dict[int, float] = {}
    end = time.monotonic() + STEPS * EVERY + 30
    while len(seen) < STEPS and time.monotonic() < end:
        for row in SQLiteStorage.get_logs("bench", "latency", max_points=3000):
            if row["step"] not in seen:
                seen[row["step"]] = time.time() - row["at"]
        time.sleep(POLL)
    print(json.dumps(list(seen.values())))
