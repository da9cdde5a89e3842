"""A run's record between two attempts, while no process trains: what a dead one left is written, how it ended is noted,
and the next one takes it up."""

import contextlib
import time
from pathlib import Path

from groupwise.storage.home import db, files
from groupwise.storage.record import record_check
from groupwise.storage.record.record import RecordError, RunWriter, spill_of
from groupwise.storage.record.step_record import Event

PATIENCE = 0.2  # seconds that a supervisor, who has other runs to watch, waits for a locked file


def drain(path: Path) -> bool:
    """Write what a dead training process left beside its run.db; whether nothing is left there. Only when nobody else
    writes. It waits for nothing.

    Raises sqlite3.DatabaseError where the file is damaged.
    """
    if not files.is_file(spill_of(path)) or not files.is_file(path):
        return True
    writer, _ = _reopen(path)
    writer.close()
    return not spill_of(path).exists()


def note_end(path: Path, event: Event, at: float) -> None:
    """Add how the last attempt ended to a run's events, once; `at`: when it did. Only when nobody else writes. Raises
    sqlite3.DatabaseError."""
    if not files.is_file(path):
        return
    writer, step = _reopen(path)
    try:
        if not writer.has_event(event.kind, at):
            writer.commit(step, events=[event], at=at)
    finally:
        writer.close()


def is_end_noted(path: Path, kind: str, at: float) -> bool:
    """Whether an end of this kind and moment is among a run's events. Raises sqlite3.DatabaseError."""
    with record_check.read_record(path) as reader:
        return reader.execute("SELECT 1 FROM event WHERE kind = ? AND at = ?", [kind, at]).fetchone() is not None


def _reopen(path: Path) -> tuple[RunWriter, int]:
    """The writer of the last attempt of a run whose process is gone, and its last step."""
    fault = record_check.of_file(path)
    if fault is not None:
        raise RecordError(fault.reason)
    with contextlib.closing(db.open_reader(path, patience=PATIENCE)) as reader:
        last = reader.execute("SELECT attempt, step FROM acknowledged ORDER BY seq DESC LIMIT 1").fetchone()
        weights = dict(reader.execute("SELECT name, weight FROM reward_function ORDER BY id").fetchall())
    attempt, step = last or (1, 0)
    return RunWriter(path, attempt, weights, PATIENCE), step


def resume_record(path: Path, attempt: int, weights: dict[str, float]) -> RunWriter:
    """The writer of an attempt. A record that is damaged is set aside, under another name in the same folder, and a new
    one begun, which says so in an event: a resume needs only its checkpoint."""
    fault = record_check.of_file(path, deep=True)
    aside = set_aside(path) if fault is not None and not fault.newer and files.is_file(path) else None
    writer = RunWriter(path, attempt, weights)
    if aside is not None and fault is not None:
        words = f"The record was damaged ({fault.reason}). It is kept as {aside.name}, and this one begins here."
        writer.commit(0, events=[Event("warning", words)])
    return writer


def set_aside(path: Path) -> Path:
    """Give a record, with what SQLite keeps beside it, another name; that name."""
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
    for end in ("-wal", "-shm", ""):
        if files.exists(path.with_name(f"{path.name}{end}")):
            path.with_name(f"{path.name}{end}").rename(aside.with_name(f"{aside.name}{end}"))
    return aside
