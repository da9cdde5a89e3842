"""Making the registry anew from the run folders: after damage, or for folders that were copied here, or deleted."""

import contextlib
import itertools
import logging
import os
import re
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from groupwise.storage.home import files, locks, paths
from groupwise.storage.library import lost_state
from groupwise.storage.library.rewards import library
from groupwise.storage.record import run_files, states
from groupwise.storage.registry import notes, registry, trash

log = logging.getLogger("groupwise")


def open_or_rebuild() -> int:
    """registry.open_registry; one that was not there is filled from the folders. How many runs were found in them."""
    if not registry.open_registry():
        return 0
    library.adopt_files()
    adopt_trash()
    return adopt_folders()


def repair() -> tuple[Path | None, int]:
    """Set a damaged registry aside and make a new one from the run folders; the old file and how many runs."""
    path = paths.registry_path()
    aside = None
    if path.exists():
        aside = path.with_name(f"registry.damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
        path.rename(aside)
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
    registry.open_registry()
    library.adopt_files()
    adopt_trash()
    return aside, adopt_folders()


def adopt_folders(*, settled: float = 0.0) -> int:
    """Add a row for each run folder that has none (copied here, or lost with a registry); how many.

    `settled`: leave out folders that changed in the last so many seconds, and may still be in the making.
    """
    runs = registry.list_runs(curves=False)
    known, originals = {run.id for run in runs}, {(run.name, run.created): run.id for run in runs}
    return _count_adopted(paths.runs_folder(), known, lambda folder: _adopt_run(folder, originals, settled))


def _count_adopted(within: Path, known: Collection[str], adopt: Callable[[paths.RunFolder], bool]) -> int:
    """How many of the run folders there, but for those that are known, are adopted. Whatever is wrong with one of them,
    the others are seen to."""
    found = 0
    for path in sorted(within.iterdir()):
        if path.name in known or not paths.RUN_ID.fullmatch(path.name) or not files.is_folder(path):
            continue
        try:
            found += adopt(paths.RunFolder(path))
        except (OSError, ValueError) as error:
            log.warning("%s could not be taken in: %s", path, error)
    return found


def _adopt_run(folder: paths.RunFolder, originals: dict[tuple[str, float], str], settled: float) -> bool:
    if not files.is_file(folder.spec) or time.time() - folder.path.lstat().st_mtime < settled:
        return False
    row = _row_from_folder(folder)
    original = originals.setdefault((row["name"], row["created"]), folder.id)
    _add(row if original == folder.id else _as_copy(row, original))
    if original != folder.id:
        registry.keep_beside(folder.id)  # its name: a registry that is made anew would have two of one again
    notes.adopt(folder)
    return True


def stray_folders(known: Collection[str], *, settled: float = 0.0) -> list[tuple[str, str]]:
    """What lies among the folders of these runs and is no run: (its name, what is wrong with it). `settled`: as for
    `adopt_folders`."""
    found = []
    for name in sorted(os.listdir(paths.runs_folder())):
        if name in known or name.startswith("."):
            continue
        path = paths.runs_folder() / name
        with contextlib.suppress(OSError):  # gone meanwhile
            if time.time() - path.lstat().st_mtime >= settled and (why := why_no_run(path)):
                found.append((name, why))
    return found


def why_no_run(path: Path) -> str:
    """What is wrong with something in runs/ that is no run's folder; "" where it could be one."""
    if not files.is_folder(path):
        return "is not a folder"
    if not files.is_file(paths.RunFolder(path).spec):
        return "has no spec.yaml"
    return "" if paths.RUN_ID.fullmatch(path.name) else "is not named as a run is"


def adopt_trash() -> int:
    """See to folders in the trash that the registry does not know as deleted: of a run that it has (its deletion was
    cut short) it goes back; of any other it is a deleted run; how many of these."""
    return _count_adopted(paths.trash_folder(), {gone.run.id for gone in trash.deleted_runs()}, _adopt_deleted)


def _adopt_deleted(folder: paths.RunFolder) -> bool:
    if registry.get_run(folder.id) is not None:
        if not os.path.lexists(paths.runs_folder() / folder.id):
            folder.path.rename(paths.runs_folder() / folder.id)
        return False
    trash.add_deleted(_row_from_folder(folder), trash.deleted_at(folder))
    notes.adopt(folder)
    return True


def _as_copy(row: dict[str, Any], original: str) -> dict[str, Any]:
    """The row of a folder that is a copy of another run's, under a name of its own: who could tell them apart?"""
    taken = registry.run_names()
    endings = itertools.chain([" (copy)"], (f" (copy {number})" for number in itertools.count(2)))
    longest = run_files.LONGEST_NAME
    first = re.sub(r"( \(copy( \d+)?\))+$", "", row["name"])  # of a copy of a copy: (copy 2), not (copy) (copy)
    names = (f"{first[: longest - len(ending)]}{ending}" for ending in endings)
    name = next(name for name in names if name not in taken)
    return row | {"name": name, "sentence": f"{row['sentence']} This folder is a copy of {original}."}


def _add(row: dict[str, Any]) -> None:
    with registry.write_registry() as index:
        registry.insert_row(index, row)
        if not files.exists(trash.trashed_folder(row["id"]).path):  # its restoring was cut short
            trash.forget(index, row["id"])  # or its notes would go with what is deleted


def _not_started(row: dict[str, Any]) -> dict[str, Any]:
    """What a run becomes that waited to be started: one that was to be started again is as it had ended before."""
    if row.get("ended_state") and row.get("ended_sentence"):
        ended = {"state": row["ended_state"], "sentence": row["ended_sentence"]}
        return ended | {"state_at": row.get("ended_at", row["state_at"]), "attempt": max(1, row["attempt"] - 1)}
    return {"state": states.STOPPED, "sentence": "It was waiting to start, and was not started."}


def _row_from_folder(folder: paths.RunFolder) -> dict[str, Any]:
    """A run's row from the state that was kept beside it, or as much as its folder tells."""
    kept, odd = run_files.kept_state(folder)
    run_id, now = folder.id, time.time()
    row: dict[str, Any] = {
        "id": run_id, "name": run_id, "model": "", "data": "", "created": now, "state": states.INTERRUPTED,
        "sentence": "",
        "state_at": now, "attempt": 1, "step": 0, "total": 0, "reward": None, "spark": [], "seen_at": None,
        "boot": None, "pid": None, "started": None, "tag": None, "note": "", "tags": [],
    }  # fmt: skip
    if "state" in kept:
        row["sentence"] = f"{states.LABELS[kept['state']]}."
    else:
        row |= lost_state.told_by_other_files(folder)
        odd = odd or "Its state.json is missing, so a later name, note and tags are not known."
    row |= kept
    if row["state"] == states.QUEUED:  # copying a folder must not start anything
        row |= _not_started(row)
    if row["state"] in states.LIVE and not (files.is_file(folder.lock) and locks.is_held(folder.lock)):
        # Nothing trains in this very folder: the process its state speaks of is gone, or belongs to the original that
        # this is a copy of. Forget it, or stopping the copy would end the original.
        row |= {"boot": None, "pid": None, "started": None, "tag": None, "state": states.INTERRUPTED}
        row["sentence"] = "Found as a folder in which nothing trains. Resume continues from its last checkpoint."
    row["sentence"] = f"{row['sentence']} {odd}".strip()
    return row
