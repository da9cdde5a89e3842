"""A home made of a backup: unpacked beside it, checked, its registry made from its folders, and only then given its
name."""

import contextlib
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.backup.names import CHECKPOINTS, PRESETS, RUNS, BackupError, WrongGiven
from groupwise.storage.backup.told import Restored
from groupwise.storage.backup.unpack import unpack
from groupwise.storage.home import db, disk, files, locks, migrations, paths
from groupwise.storage.library import presets, repair
from groupwise.storage.record import checkpoint_files, record_check, states
from groupwise.storage.registry import registry


def restore_backup(archive: Path, into: Path) -> Restored:
    """Make a home of a backup, where there is none or an empty folder. No code in it is run, and no run is started.
    Raises BackupError, OSError and sqlite3.DatabaseError, with nothing left behind."""
    into = into.resolve()
    _refuse_home(into)
    with _folder_beside(into) as place:
        try:
            head = unpack(archive, place)
            restored = Restored(head.runs, time.strftime("%Y-%m-%d %H:%M", time.localtime(head.made)))
            for run in sorted(_run_folders(place), key=lambda folder: folder.id):
                _remove_unsealed(run)
                _check_record(run, head.groupwise, restored)
            with paths.use_as_home(place):
                _fill_registry(restored)
        except (OSError, sqlite3.DatabaseError) as error:
            if disk.is_full(error):
                raise BackupError(f"The disk of {into.parent} is full. Nothing was restored.") from error
            raise
        place.rename(into)  # over an empty folder; over no other
    return restored


def _refuse_home(into: Path) -> None:
    if files.exists(into) and not files.is_folder(into):
        raise WrongGiven(f"{into} is not a folder. Give another one: --into FOLDER.")
    if locks.is_held(into / paths.supervisor_lock().name):
        raise BackupError(
            f"A worker runs for {into}. End it and its dashboard, or restore into another folder (--into)."
        )
    if files.is_folder(into) and any(into.iterdir()):
        raise WrongGiven(
            f"{into} is not empty, and a backup is restored as a whole home. Give a new folder, --into FOLDER, and "
            "open it with GROUPWISE_HOME=FOLDER groupwise; or move this one away first."
        )
    if not into.parent.is_dir():
        raise WrongGiven(f"There is no folder {into.parent}. Make it first.")


@contextlib.contextmanager
def _folder_beside(into: Path) -> Iterator[Path]:
    """A folder of our own on the same disk, which is gone after the block unless it has another name by then."""
    place = into.with_name(f".{into.name}.restore-{secrets.token_hex(8)}")
    place.mkdir(mode=0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _run_folders(place: Path) -> list[paths.RunFolder]:
    there = place / RUNS
    return [paths.RunFolder(path) for path in there.iterdir()] if there.is_dir() else []


def _remove_unsealed(run: paths.RunFolder) -> None:
    """Remove checkpoints that were not packed to the end: files that do not count are gone already."""
    there = run.path / CHECKPOINTS
    for point in [*checkpoint_files.points(there), *checkpoint_files.set_aside_points(there)]:
        if not files.is_file(point / checkpoint_files.MANIFEST):
            shutil.rmtree(point)


def _check_record(run: paths.RunFolder, made_by: str, restored: Restored) -> None:
    """Bring a record to this version's form. One that is damaged stays as it is, and its run says so; one of a newer
    version could not be gone on with. Raises BackupError."""
    fault = record_check.of_file(run.db, deep=True)
    if fault is not None and fault.newer:
        raise BackupError(
            f"A newer version of Groupwise ({made_by}) has written the record of {run.id}. Update Groupwise, then "
            "restore it. Nothing was restored."
        )
    if fault is not None:
        restored.damaged.append(f"{run.id} ({fault.reason})")
    elif files.is_file(run.db) and run.db.stat().st_size:
        with contextlib.closing(db.open_writer(run.db, journal="wal", make=False)) as record:
            migrations.record.apply(record)


def _fill_registry(restored: Restored) -> None:
    paths.prepare()
    restored.runs = repair.open_or_rebuild()
    presets.adopt_rows(files.read_json(paths.home() / PRESETS))
    (paths.home() / PRESETS).unlink(missing_ok=True)
    restored.interrupted += [run.id for run in registry.list_runs(only={states.INTERRUPTED}, curves=False)]
