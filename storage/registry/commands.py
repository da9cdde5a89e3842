"""What people ask of a run: stop, kill, resume. Rows of registry.db, which the supervisor takes up and the training
process looks for."""

import contextlib
import os
import sqlite3
import time
from dataclasses import dataclass

from groupwise.storage.home import db, paths
from groupwise.storage.record import checkpoint_files, record_check, states
from groupwise.storage.registry import registry

STOP, KILL, RESUME = "stop", "kill", "resume"
DONE, NOT_COUNTED = "done", "done; the attempt is the same"  # what became of a command
ALLOWED = {STOP: {states.QUEUED, *states.LIVE}, KILL: states.LIVE, RESUME: states.RESUMABLE}


class Refused(Exception):
    """What was asked cannot be done to this run now; the message says why."""


@dataclass(frozen=True)
class Command:
    """One thing a person asked of one attempt of a run."""

    id: int
    run: str
    attempt: int
    kind: str  # stop, kill, resume, or “resume 20”: from the checkpoint of that step

    @property
    def action(self) -> str:
        """What was asked, without the step: STOP, KILL or RESUME."""
        return self.kind.partition(" ")[0]

    @property
    def step(self) -> int | None:
        """The checkpoint that a resume goes on from; None: the newest."""
        step = self.kind.partition(" ")[2]
        return int(step) if step.isdecimal() else None


def ask_of_run(run_id: str, kind: str, step: int | None = None) -> None:
    """Record what a person wants of a run. Asking twice is asking once, unless nothing came of the first time. `step`:
    resume from the checkpoint of that step, not from the newest. Raises Refused."""
    run = registry.get_run(run_id)
    if run is None:
        raise Refused(f"There is no run “{run_id[:80]}”.")
    if run.state not in ALLOWED[kind]:
        raise Refused(_why_not(run, kind))
    if kind == RESUME and record_check.is_newer(run.folder.db):
        raise Refused(record_check.NEWER_SENTENCE)
    if step is not None:
        if kind != RESUME or checkpoint_files.sealed_at(run.folder.checkpoints, step) is None:
            raise Refused(f"There is no complete checkpoint of step {step:,} to resume from.")
        kind = f"{kind} {step}"
    with registry.write_registry() as index:
        index.execute(
            "INSERT INTO command (run, attempt, kind, asked_at) SELECT ?, ?, ?, ? WHERE NOT EXISTS "
            "(SELECT 1 FROM command WHERE run = ? AND attempt = ? AND kind = ? AND (taken_at IS NULL OR result = ?))",
            [run_id, run.attempt, kind, time.time(), run_id, run.attempt, kind, DONE],
        )


def _why_not(run: registry.Run, kind: str) -> str:
    """Why nothing comes of a wish: of a run that goes on already, its state may be another a moment later."""
    if kind == RESUME and (run.state == states.QUEUED or run.state in states.LIVE):
        was_resumed = run.attempt > 1 or run.ended_state is not None
        return f"“{run.name}” was resumed already." if was_resumed else f"“{run.name}” has not ended yet."
    return f"“{run.name}” is {states.LABELS[run.state].lower()}: there is nothing to {kind}."


def next_attempt(run: registry.Run) -> int:
    """The attempt that a resume begins: another one, but where the first was never started, that one."""
    return run.attempt if run.attempt == 1 and not _was_started(run) else run.attempt + 1


def _was_started(run: registry.Run) -> bool:
    """Whether a process was ever started for it, or left something here."""
    left = any(os.path.lexists(path) for path in (run.folder.db, run.folder.log, run.folder.exit))
    return left or run.tag is not None or run.step > 0 or bool(checkpoint_files.points(run.folder.checkpoints))


def forget_taken(run_id: str, attempt: int) -> None:
    """Forget what was asked of an attempt that is to begin only now: an earlier stop would end it."""
    with registry.write_registry() as index:
        index.execute("DELETE FROM command WHERE run = ? AND attempt = ? AND taken_at IS NOT NULL", [run_id, attempt])


def open_commands() -> list[Command]:
    """What was asked and not yet taken up, oldest first."""
    with registry.read_registry() as index:
        rows = index.query("SELECT id, run, attempt, kind FROM command WHERE taken_at IS NULL ORDER BY id")
        return [Command(**row) for row in rows]


def take_command(command: Command, result: str) -> None:
    """Note what became of a command."""
    with registry.write_registry() as index:
        index.execute("UPDATE command SET taken_at = ?, result = ? WHERE id = ?", [time.time(), result, command.id])


def asked_at(run_id: str, attempt: int, kind: str) -> float | None:
    """When this was first asked of this attempt, taken up or not."""
    with registry.read_registry() as index:
        row = index.execute(
            "SELECT min(asked_at) FROM command WHERE run = ? AND attempt = ? AND (kind = ? OR kind LIKE ?)",
            [run_id, attempt, kind, f"{kind} %"],
        ).fetchone()
    return row[0] if row else None


def waiting_action(run_id: str, attempt: int) -> str | None:
    """What was asked of this attempt last and not yet taken up: STOP, KILL or RESUME."""
    with registry.read_registry() as index:
        row = index.execute(
            "SELECT kind FROM command WHERE run = ? AND attempt = ? AND taken_at IS NULL ORDER BY id DESC LIMIT 1",
            [run_id, attempt],
        ).fetchone()
    return row[0].partition(" ")[0] if row else None


class StopFlag:
    """What the training process asks at each step boundary: did someone say stop? It never waits for a lock.

    Most steps cost one look at the file's time: it is read again only when someone wrote to it. (A write in the same
    tick of the clock as our reading is seen with the next one: the worker writes at least twice for every stop.)
    """

    def __init__(self, run_id: str, attempt: int) -> None:
        self._about = [run_id, attempt, STOP]
        self._read_at: tuple[int, int] | None = None  # the file and its time when it was read
        self._found = False

    def is_set(self) -> bool:
        """Whether a stop was asked. While the registry cannot be read (locked, damaged, being replaced), what was
        known before; it is opened anew at the next step."""
        try:
            status = paths.registry_path().stat()
            if (status.st_ino, status.st_mtime_ns) != self._read_at:
                self._found = self._look()
                self._read_at = status.st_ino, status.st_mtime_ns
        except (OSError, sqlite3.Error):
            return self._found
        return self._found

    def _look(self) -> bool:
        with contextlib.closing(db.open_reader(paths.registry_path(), journal="delete", patience=0.0)) as index:
            query = "SELECT 1 FROM command WHERE run = ? AND attempt = ? AND kind = ?"
            return index.execute(query, self._about).fetchone() is not None
