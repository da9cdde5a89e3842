"""One run, start to end: `python -m worker.training.train RUN_ID` (one process, or each rank of several).

Reads the run's folder, trains with TRL's GRPOTrainer, records into run.db, and writes exit.json last of all.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from storage import files, group_metrics, home, locks, registry, spec
from storage.batch import Event
from storage.home import RunFolder
from storage.record import RunWriter
from worker import shipped
from worker.rows import data
from worker.sandbox import client
from worker.training import checkpoints, endings, settings, trainer

MIN_FREE = 256 * 2**20  # bytes of disk under which no run is begun


class Signals:
    """SIGTERM asks for the same as Stop: finish the step, save, end."""

    def __init__(self) -> None:
        self.stop = False
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, *_: Any) -> None:
        self.stop = True


def main(run_id: str) -> int:
    """Train the run; 0 when it ended as planned or asked, 1 when it failed."""
    faulthandler.enable()  # where a crash of a library was is in the log then
    is_main = int(os.environ.get("RANK", "0")) == 0
    folder = home.run_folder(run_id)
    if is_main and locks.hold(folder.lock) is None:
        print("groupwise: this run is already being trained by another process", flush=True)
        return 1
    run = registry.get(run_id)
    if run is None:
        print(f"groupwise: there is no run {run_id}", flush=True)
        return 1
    record: dict[str, Any] = {"attempt": run.attempt, "outcome": endings.FAILED, "step": 0, "planned": 0}
    try:
        record |= train(folder, run.attempt, is_main)
    except Exception as error:
        traceback.print_exc()
        record |= {"reason": explain(error), "traceback": traceback.format_exc()}
    if is_main:
        try:
            files.write_json(folder.exit, {**record, "at": time.time()})
        except OSError as error:
            print(f"groupwise: how it ended could not be written: {error}. {record}", flush=True)
    return 0 if record["outcome"] != endings.FAILED else 1


def train(folder: RunFolder, attempt: int, is_main: bool) -> dict[str, Any]:
    """Train, and say how it ended: outcome, step, planned."""
    stop = Signals()
    run_spec = spec.parse(folder.spec.read_text(encoding="utf-8"))
    if shutil.disk_usage(folder.path).free < MIN_FREE:
        raise trainer.CannotRun(f"less than {MIN_FREE >> 20} MB of disk is free in {folder.path}.")
    flag = registry.StopFlag(folder.id, attempt) if is_main else None

    from worker.training import stages  # torch and trl: seconds
    from worker.training.failures import Failures
    from worker.training.recorder import Recorder

    weights = stages.weights(run_spec)
    writer = RunWriter(folder.db, attempt, weights) if is_main else None
    recorder = Recorder(
        writer,
        folder.path,
        lambda: stop.stop or (flag is not None and flag.is_set()),
        settings.checkpoints_to_keep(run_spec),
        list(weights),
        Failures(run_spec.launch.reward_failures),
        group_metrics.target(run_spec.rewards),
    )
    try:
        return stages.train(run_spec, folder, recorder, _resume_point(folder, attempt, writer))
    finally:
        recorder.flush()
        if writer is not None:
            writer.close()


def _resume_point(folder: RunFolder, attempt: int, writer: RunWriter | None) -> Path | None:
    """Where a resume goes on from, if this is one: the newest point that is whole. What was passed over is said in an
    event."""
    if attempt == 1:
        return None
    checkpoint, passed = checkpoints.latest_whole(folder.checkpoints)
    if writer is not None and passed:
        step = checkpoints.step_of(checkpoint) if checkpoint else 0
        writer.commit(step, events=[Event("warning", sentence) for sentence in passed])
    return checkpoint


def explain(error: Exception) -> str:
    """Why it failed, in a sentence that says what to do where that is known."""
    name, text = type(error).__name__, str(error).strip()
    first = text.splitlines()[0] if text else name
    if name == "OutOfMemoryError" or "out of memory" in text.lower():
        return (
            "the device ran out of memory. Lower per_device_train_batch_size or max_completion_length, "
            "or train with LoRA."
        )
    if (isinstance(error, OSError) and error.errno == 28) or "no space left on device" in text.lower():
        return "the disk is full. Free some space; Resume continues from the last whole checkpoint."
    if isinstance(error, sqlite3.Error):
        return f"its record could not be opened ({first})."
    if isinstance(error, (trainer.CannotRun, data.DataError, shipped.ShippedError, spec.SpecError, client.NoSandbox)):
        return first
    return f"{name}: {first[:400]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
