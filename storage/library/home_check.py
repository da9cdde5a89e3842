"""What in the home is not as runs leave it, looked at without changing anything: folders, records, leftovers."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from groupwise.storage.home import files, paths
from groupwise.storage.record import record_check, states
from groupwise.storage.record.record_check import Fault
from groupwise.storage.registry.registry import Run

OLD = 3600.0  # seconds after which nobody writes to a draft any more
# By folder of the home: how the names of what is written there begin until it is whole.
DRAFTS = {"": ".write-test-", "runs": ".draft-", "data": ".draft-", "models": ".starter-copying-"}
SET_ASIDE = "registry.damaged-"


@dataclass(frozen=True)
class RecordsLook:
    """What is wrong with runs' records: (run id, why) of those that are damaged or lost; the runs whose record a newer
    version of Groupwise has written; how many were looked at, and how many were not: nobody could tell just now, or
    there was no time."""

    faulty: list[tuple[str, str]]
    newer: list[str]
    looked: int
    left_out: int


def look_at_records(runs: Sequence[Run], until: float) -> RecordsLook:
    """Whether the record of each of these runs is one; by `until` (monotonic) the looking ends. Their pages are not all
    read: that takes minutes."""
    faulty: list[tuple[str, str]] = []
    newer: list[str] = []
    looked = 0
    for run in runs:
        if time.monotonic() > until:
            break
        with contextlib.suppress(sqlite3.DatabaseError, OSError):
            fault = _fault_of_record(run)
            looked += 1
            if fault is not None and fault.newer:
                newer.append(run.id)
            elif fault is not None:
                faulty.append((run.id, fault.reason))
    return RecordsLook(faulty, newer, looked, len(runs) - looked)


def _fault_of_record(run: Run) -> Fault | None:
    """What is wrong with a run's record; None where nothing is, or where none is due yet."""
    try:
        folder = run.folder
    except ValueError as error:
        return Fault(str(error))
    if run.state in states.LIVE or run.state == states.QUEUED or not files.is_folder(folder.path):
        return None  # it is being written; or there is no folder, which is said of the folder
    try:
        record_check.refuse_lost(folder, run.state, run.step)
    except record_check.LostRecord as error:
        return Fault(error.how)
    return record_check.of_file(folder.db, untouched=True)


def runs_without_folder(runs: Iterable[Run]) -> list[str]:
    """The ids of those runs whose folder is gone."""
    return [run.id for run in runs if not files.is_folder(paths.runs_folder() / run.id)]


def unlisted_folders(known: Collection[str]) -> list[str]:
    """The ids of run folders that the registry does not know."""
    with contextlib.suppress(OSError):
        names = sorted(os.listdir(paths.runs_folder()))
        return [
            name for name in names
            if name not in known and paths.RUN_ID.fullmatch(name)
            and files.is_file(paths.RunFolder(paths.runs_folder() / name).spec)
        ]  # fmt: skip
    return []


def old_drafts() -> list[Path]:
    """What processes that were killed left half written, older than an hour."""
    return sorted(path for name, begin in DRAFTS.items() for path in _old_ones(paths.home() / name, begin))


def _old_ones(folder: Path, begin: str) -> Iterator[Path]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(begin) and time.time() - entry.stat(follow_symlinks=False).st_mtime > OLD:
                yield Path(entry.path)


def registries_set_aside() -> list[Path]:
    """The damaged registries that were kept when they were made anew."""
    with contextlib.suppress(OSError):
        return sorted(path for path in paths.home().iterdir() if path.name.startswith(SET_ASIDE))
    return []
