"""Deleted runs: their rows wait in a table of registry.db and their folders in the home's trash, for a day in which
each can be put back; then both are gone.

A folder moves inside the transaction that moves its row. Where that is cut short between the two,
storage.library.repair puts it right, and makes the table anew from the folders where the registry was lost.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from typing import Any

from groupwise.storage.home import files, locks, paths
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.home.value_types import LAST_SECOND
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.commands import Refused
from groupwise.storage.registry.registry import Run

IDLE = (states.QUEUED, *states.ENDED)  # no process works on it
KEPT = 24 * 3600.0  # seconds for which a deleted run can be put back
NONE_DELETED = "There are no deleted runs. A run that is deleted can be restored for 24 hours."


@dataclass(frozen=True)
class Deleted:
    """A deleted run, and when it was (seconds since 1970)."""

    run: Run
    at: float

    @property
    def folder(self) -> paths.RunFolder:
        """Its folder in the trash."""
        return trashed_folder(self.run.id)


def trashed_folder(run_id: str) -> paths.RunFolder:
    """Where a run's folder lies while it is deleted. Raises ValueError for an id that no run can have."""
    if not paths.RUN_ID.fullmatch(run_id):
        raise ValueError(f"“{run_id[:80]}” is not a run id.")
    return paths.RunFolder(paths.trash_folder() / run_id)


def delete_run(run_id: str) -> None:
    """Delete a run; for a day it can be put back: one that waits into the queue, which it leaves. Raises Refused: a run
    that trains is stopped first, and one is deleted once."""
    run = registry.get_run(run_id)
    if run is None:
        raise Refused(_why_none(run_id))
    _refuse_busy(run)
    source, aside = paths.runs_folder() / run.id, trashed_folder(run.id)
    there = files.is_folder(source)
    now = time.time()
    if there:
        with contextlib.suppress(OSError):  # a full disk: then a registry that is made anew takes it as deleted then
            files.write_json(paths.RunFolder(source).deletion, {"at": now})
    with registry.write_registry() as index:
        gone = index.execute(
            f"DELETE FROM run WHERE id = ? AND state IN ({', '.join('?' * len(IDLE))})", [run.id, *IDLE]
        ).rowcount
        if not gone and _row(index, run.id) is not None:  # as quick as this
            raise Refused(f"{run.name} is deleted already.")
        if not gone:
            raise Refused(f"{run.name} has been started again.")
        _insert(index, asdict(run), now)
        if there:
            source.rename(aside.path)


def _why_none(run_id: str) -> str:
    """Why no run of this id can be deleted."""
    with registry.read_registry() as index:
        row = _row(index, run_id)
    return f"{_run_of(row).name} is deleted already." if row else f"There is no run “{run_id[:80]}”."


def _refuse_busy(run: Run) -> None:
    """Raises Refused where something still needs the run."""
    if run.state not in IDLE:
        raise Refused(f"{run.name} is {states.LABELS[run.state].lower()}: stop it first.")
    source = paths.runs_folder() / run.id
    if files.is_folder(source) and files.is_file(source / "run.lock") and locks.is_held(source / "run.lock"):
        raise Refused(f"A process still works in the folder of {run.name}. Try again when it has ended.")
    for other in registry.list_runs(only={states.QUEUED, *states.LIVE}):
        if os.path.normpath(other.model).startswith(f"{source}{os.sep}"):
            raise Refused(f"{other.name} trains the model of {run.name}: delete this one when that has ended.")


def restore_run(run_id: str) -> None:
    """Put a deleted run back, as it was. Raises Refused."""
    with registry.write_registry() as index:
        row = _row(index, run_id)
        if row is None:
            raise Refused(f"There is no deleted run “{run_id[:80]}”. After a day a deleted run is gone for good.")
        place, aside = paths.runs_folder() / run_id, trashed_folder(run_id)
        if os.path.lexists(place) or not registry.insert_row(index, asdict(_run_of(row))):
            raise Refused(f"There is now another run “{run_id}”.")
        forget(index, run_id)
        if files.is_folder(aside.path):
            aside.path.rename(place)
    with contextlib.suppress(OSError):
        paths.RunFolder(place).deletion.unlink(missing_ok=True)
    registry.keep_beside(run_id)


def forget(index: Database, run_id: str) -> None:
    """Let a run be deleted no more."""
    index.execute("DELETE FROM trash WHERE id = ?", [run_id])


def deleted_runs() -> list[Deleted]:
    """The runs that can be put back, the last deleted first."""
    with registry.read_registry() as index:
        rows = index.execute("SELECT row, deleted_at FROM trash ORDER BY deleted_at DESC, id DESC").fetchall()
    return [Deleted(_run_of(row), at) for row, at in rows]


def find_deleted(run_id: str) -> Deleted | None:
    """The deleted run of this id; None where there is none."""
    return next((one for one in deleted_runs() if one.run.id == run_id), None)


def _row(index: Database, run_id: str) -> str | None:
    """The row of a deleted run, as JSON; None where there is none."""
    found = index.execute("SELECT row FROM trash WHERE id = ?", [run_id]).fetchone()
    return found[0] if found else None


def count_deleted() -> int:
    """How many runs can be put back."""
    with registry.read_registry() as index:
        found: int = index.execute("SELECT count(*) FROM trash").fetchone()[0]
    return found


def _run_of(row: str) -> Run:
    """A run from its row as JSON: what an older version did not know has its default."""
    kept = json.loads(row)
    return Run(**{column.name: kept[column.name] for column in fields(Run) if column.name in kept})


def deleted_at(folder: paths.RunFolder) -> float:
    """When a folder in the trash came there, as it says itself; now, where it does not say."""
    kept = files.read_json(folder.deletion)
    at = kept.get("at") if isinstance(kept, dict) else None
    if isinstance(at, (int, float)) and not isinstance(at, bool) and 0 <= at <= LAST_SECOND:
        return float(at)
    return time.time()


def add_deleted(row: dict[str, Any], at: float) -> None:
    """Add the row of a deleted run whose folder lies in the trash already."""
    with registry.write_registry() as index:
        _insert(index, row, at)


def _insert(index: Database, row: dict[str, Any], at: float) -> None:
    index.execute(
        "INSERT OR REPLACE INTO trash (id, deleted_at, row) VALUES (?, ?, ?)", [row["id"], at, json.dumps(row)]
    )


def erase(run_ids: Collection[str]) -> int:
    """Remove deleted runs for good, folder and all that was said of them; how many. It takes as long as the file system
    does. What could not be removed lies in the trash and is found again."""
    with registry.write_registry() as index:
        ids = [id for (id,) in index.execute("SELECT id FROM trash").fetchall() if id in run_ids]
        for run_id in ids:
            for table, column in (("trash", "id"), ("note", "run"), ("command", "run"), ("outcome", "run")):
                index.execute(f"DELETE FROM {table} WHERE {column} = ?", [run_id])
    for run_id in ids:
        shutil.rmtree(trashed_folder(run_id).path, ignore_errors=True)
    return len(ids)


def erase_old(now: float | None = None) -> int:
    """Remove for good what was deleted longer than a day ago; how many."""
    limit = (time.time() if now is None else now) - KEPT
    old = {gone.run.id for gone in deleted_runs() if gone.at < limit}
    return erase(old) if old else 0
