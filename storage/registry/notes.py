"""What people say of completions: a star, or some words. In registry.db, and mirrored in the run's folder."""

import contextlib
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

from groupwise.storage.home import files, paths
from groupwise.storage.home.value_types import Text, When, Whole, field_types, salvage
from groupwise.storage.registry import registry

LONGEST = 2000  # characters of a note
MOST = 100_000  # notes that a folder may bring
_mirroring = threading.Lock()  # two requests at once would write the same draft


@dataclass(frozen=True)
class Note:
    """One completion's note; `at` is seconds since 1970."""

    grp: int
    idx: int
    starred: bool
    words: str
    at: float


# A note as notes.json has it, which anyone may have written.
_KEPT = field_types({"grp": Whole, "idx": Whole, "starred": bool, "words": Text, "at": When})


def star(run_id: str, grp: int, idx: int, on: bool) -> None:
    """Star a completion, or take the star off."""
    _change(run_id, grp, idx, starred=int(on))


def annotate(run_id: str, grp: int, idx: int, words: str) -> None:
    """Say something of a completion; nothing takes back what was said."""
    _change(run_id, grp, idx, words=words.strip()[:LONGEST])


def of_group(run_id: str, grp: int) -> dict[int, Note]:
    """The notes on a group's completions, by their index."""
    return {note.idx: note for note in _read_notes("run = ? AND grp = ?", run_id, grp)}


def of_run(run_id: str) -> list[Note]:
    """All notes on a run's completions, the newest first."""
    return sorted(_read_notes("run = ?", run_id), key=lambda note: -note.at)


def starred_completions(run_id: str) -> list[tuple[int, int]]:
    """(group, index) of every starred completion of a run."""
    return [(note.grp, note.idx) for note in _read_notes("run = ? AND starred", run_id)]


def adopt(folder: paths.RunFolder) -> None:
    """Take in the notes that a run's folder brings, where the registry has none of them."""
    kept = files.read_json(folder.notes)
    found = [salvage(_KEPT, row)[0] for row in (kept[:MOST] if isinstance(kept, list) else [])]
    with registry.write_registry() as index:
        for row in found:
            if "grp" in row and "idx" in row:
                index.execute(
                    "INSERT INTO note (run, grp, idx, starred, words, at) VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    [folder.id, row["grp"], row["idx"], int(row.get("starred", False)),
                     row.get("words", "")[:LONGEST], row.get("at", 0.0)],
                )  # fmt: skip


def _change(run_id: str, grp: int, idx: int, **columns: Any) -> None:
    with registry.write_registry() as index:
        index.execute(
            "INSERT INTO note (run, grp, idx, starred, words, at) VALUES (?, ?, ?, 0, '', ?) ON CONFLICT DO NOTHING",
            [run_id, grp, idx, time.time()],
        )
        changes = {**columns, "at": time.time()}
        index.execute(
            f"UPDATE note SET {', '.join(f'{name} = ?' for name in changes)} WHERE run = ? AND grp = ? AND idx = ?",
            [*changes.values(), run_id, grp, idx],
        )
        index.execute("DELETE FROM note WHERE run = ? AND NOT starred AND words = ''", [run_id])
    _mirror(run_id)


def _mirror(run_id: str) -> None:
    """Write the run's notes into its folder, where it lets us: the rows are the truth, this a copy."""
    folder = paths.run_folder(run_id)
    if files.is_folder(folder.path):
        with _mirroring, contextlib.suppress(OSError):
            files.write_json(folder.notes, [asdict(note) for note in of_run(run_id)])


def _read_notes(where: str, *values: Any) -> list[Note]:
    with registry.read_registry() as index:
        rows = index.query(f"SELECT grp, idx, starred, words, at FROM note WHERE {where} ORDER BY grp, idx", values)
        return [Note(**{**row, "starred": bool(row["starred"])}) for row in rows]
