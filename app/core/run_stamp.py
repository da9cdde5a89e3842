"""Whether what a page draws of a run was written to since, told by `stat` alone.

To open a file that SQLite has open, and close it, would drop its locks.
"""

from pathlib import Path

from groupwise.storage.home import db, files, paths


def stamp_of_answer(run_id: object) -> files.Stamp | None:
    """Of everything that an answer about this run is drawn from: its folder, its record and the registry; None where it
    cannot be told (just after a write)."""
    try:
        folder = paths.run_folder(run_id if isinstance(run_id, str) else "")
    except ValueError:
        return None
    return files.stamp(folder.path, *db.files_of(folder.db), *db.files_of(paths.registry_path()))


def mark_of_run(run_id: object) -> str:
    """Of a run's record, as a text that a page can give back; "" where it cannot be told."""
    try:
        folder = paths.run_folder(run_id if isinstance(run_id, str) else "")
    except ValueError:
        return ""
    # An empty log is what a reader leaves, or takes away: that is no news.
    stamp = files.stamp(*(path for path in db.files_of(folder.db) if _has_bytes(path)))
    return "" if stamp is None else f"{hash(stamp) % 2**64:x}"


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
