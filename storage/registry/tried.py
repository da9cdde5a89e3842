"""Reward functions that failed when they were last tried, by name and the hash of their code: saved versions, and the
last drafts, as what is tried first and saved then has the same hash."""

import time
from dataclasses import dataclass

from groupwise.storage.home.redaction import redact
from groupwise.storage.registry import registry

KEPT_DRAFTS = 100  # code that is no saved version; that which was tried longest ago goes first
SHOWN_ERROR = 160  # characters
_QUOTES = str.maketrans("“”", '""')  # the error stands between these


@dataclass(frozen=True)
class FailedTry:
    """How many completions a function failed on, of how many it was tried on; `error`: the first one, on one line."""

    failed: int
    of: int
    error: str


def failed_tries() -> dict[tuple[str, str], FailedTry]:
    """What failed when it was last tried, by (name, hash of the code)."""
    with registry.read_registry() as db:
        rows = db.execute("SELECT name, hash, failed, of, error FROM reward_tried").fetchall()
    return {(name, digest): FailedTry(*about) for name, digest, *about in rows}


def note_try(name: str, digest: str, failed: int, of: int, error: str) -> None:
    """Keep what a try of this code came to, in place of the one before; nothing where no completion failed."""
    if not failed:
        return _forget_try(name, digest)
    with registry.write_registry() as db:
        db.execute(
            "INSERT OR REPLACE INTO reward_tried (name, hash, failed, of, error, at) VALUES (?, ?, ?, ?, ?, ?)",
            [name, digest, failed, of, _as_one_line(error), time.time()],
        )
        db.execute(
            "DELETE FROM reward_tried WHERE rowid IN (SELECT tried.rowid FROM reward_tried AS tried "
            "LEFT JOIN reward_code AS saved USING (name, hash) WHERE saved.code IS NULL "
            "ORDER BY tried.at DESC, tried.rowid DESC LIMIT -1 OFFSET ?)",
            [KEPT_DRAFTS],
        )
    return None


def _forget_try(name: str, digest: str) -> None:
    if (name, digest) not in failed_tries():  # most tries: nothing is written
        return
    with registry.write_registry() as db:
        db.execute("DELETE FROM reward_tried WHERE name = ? AND hash = ?", [name, digest])


def _as_one_line(error: str) -> str:
    """What anyone's code raised, as part of a sentence: without line ends and marks that steer a terminal."""
    shown = "".join(letter if letter.isprintable() else " " for letter in redact(error).translate(_QUOTES))
    line = " ".join(shown.split()).rstrip(".")
    return line if len(line) <= SHOWN_ERROR else f"{line[: SHOWN_ERROR - 1]}…"
