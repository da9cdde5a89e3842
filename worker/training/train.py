"""One run, start to end: `python -m groupwise.worker.training.train RUN_ID` (one process, or each rank of several).

Reads the run's folder, trains with TRL's GRPOTrainer, records into run.db, and writes exit.json last of all.
"""

import contextlib
import faulthandler
import importlib.metadata
import os
import platform
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from groupwise.storage.home import files, locks, paths, process_log
from groupwise.storage.home.large_imports import no_collections
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, endings, group_metrics, run_files
from groupwise.storage.record.attempts import resume_record
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Event
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec import spec
from groupwise.worker.training import checkpoints, hung_threads, settings, why_failed

RECORD = 128 * 1024  # bytes set aside for how a run ends: it must be said on a full disk too
REASON, TRACE = 1000, run_files.LONGEST_TRACE  # characters of it, at 12 bytes each at most
PRINTED = 256 * 1024  # bytes of the log in which a GPU's words are looked for: it says them for each of its threads


class Signals:
    """SIGTERM and SIGINT ask for the same as Stop: finish the step, save, end."""

    def __init__(self) -> None:
        self.stop = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "stop", True))


def main(run_id: str) -> int:
    """Train the run; 0 when it ended as planned or asked, 1 when it failed."""
    faulthandler.enable()  # where a crash of a library was is in the log then
    stop = Signals()
    is_main = int(os.environ.get("RANK", "0")) == 0
    folder = paths.run_folder(run_id)
    if is_main and locks.hold(folder.lock) is None:
        print("groupwise: this run is already being trained by another process", flush=True)
        return 1
    run = registry.get_run(run_id)
    if run is None:
        print(f"groupwise: there is no run {run_id}", flush=True)
        return 1
    record: dict[str, Any] = {"attempt": run.attempt, "outcome": endings.FAILED, "step": 0, "planned": 0}
    began = folder.log.stat().st_size if files.is_file(folder.log) else 0
    last_word = files.Reserved(folder.exit, RECORD) if is_main else None
    try:
        train(folder, run.attempt, is_main, stop, record)
    except BaseException as error:  # also sys.exit of a library: it must not pass for an end that nobody explains
        cause, reason = why_failed.cause_and_reason(error, printed_since(folder.log, began))
        record |= {"cause": cause, "reason": reason[:REASON], "traceback": traceback.format_exc()[-TRACE:]}
    if last_word is not None:  # before anything is printed
        last_word.write_json({**record, "at": time.time()})
    if record.get("traceback"):
        print(record["traceback"], file=sys.stderr, flush=True)
    return 0 if record["outcome"] != endings.FAILED else 1


def train(folder: RunFolder, attempt: int, is_main: bool, stop: Signals, record: dict[str, Any]) -> None:
    """Train, and add to the record how it ended: outcome, step, planned."""
    run_spec = spec.parse_spec(run_files.spec_text(folder))
    flag = commands.StopFlag(folder.id, attempt) if is_main else None

    with no_collections():
        from groupwise.worker.training import ranks, stages  # torch and trl: seconds
        from groupwise.worker.training.failures import Failures
        from groupwise.worker.training.recorder import Recorder

    if is_main:
        record_versions(folder)
    weights = stages.weights(run_spec)
    writer = resume_record(folder.db, attempt, weights) if is_main else None
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
        record |= stages.train_stages(run_spec, folder, recorder, _resume_point(folder, attempt, writer))
    finally:
        recorder.flush()
        if writer is not None:
            record["unrecorded"] = writer.close()
    ranks.part()


def record_versions(folder: RunFolder) -> None:
    """Write which Python and libraries train here."""
    names = [name for name in run_files.LIBRARIES if name != "python"]
    known = {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}
    with contextlib.suppress(OSError):  # a full disk: a run that can train does
        files.write_json(folder.versions, known)


def _resume_point(folder: RunFolder, attempt: int, writer: RunWriter | None) -> Path | None:
    """Where a resume goes on from, if this is one: the newest point that is whole. What was passed over is said in an
    event."""
    if attempt == 1:
        return None
    checkpoint, passed = checkpoints.latest_whole(folder.checkpoints)
    if writer is not None and passed:
        step = checkpoint_files.step_of(checkpoint) if checkpoint else 0
        writer.commit(step, events=[Event("warning", sentence) for sentence in passed])
    return checkpoint


def rank_name() -> str:
    """What a rank's lines begin with in the log that it shares with others; nothing where it trains alone."""
    return f"[rank {os.environ.get('RANK', '0')}] " if os.environ.get("WORLD_SIZE", "1") != "1" else ""


def printed_since(log: Path, began: int) -> str:
    """The end of what a log got since it had so many bytes: of this attempt, C code's words included."""
    with contextlib.suppress(OSError), files.open_file(log) as file:
        file.seek(max(began, os.fstat(file.fileno()).st_size - PRINTED))
        return file.read(PRINTED).decode("utf-8", "replace")
    return ""


if __name__ == "__main__":
    process_log.keep_secrets(rank_name())
    sys.exit(hung_threads.leave_process(main(sys.argv[1])))
