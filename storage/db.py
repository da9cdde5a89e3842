"""How SQLite files are opened here: one place for the settings that durability and speed hang on."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from sqlite_utils import Database


def open_writer(path: Path, *, journal: Literal["wal", "delete"], patience: float = 10.0) -> Database:
    """Open for reading and writing; a commit is on the disk when it returns (synchronous=FULL).

    `journal` is "wal" for a file with one writer, "delete" where several processes write: SQLite before 3.51.3
    has a rare corruption with several WAL writers. `patience` is how many seconds to wait for a locked file.
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={journal}")
    connection.execute("PRAGMA synchronous=FULL")
    return Database(connection)


def open_reader(path: Path, *, journal: Literal["wal", "delete"] = "wal", patience: float = 5.0) -> Database:
    """Open for reading only. Raises sqlite3.OperationalError where there is no such file.

    A killed writer of a “delete” file leaves its journal, and nobody reads on who could not take back what is half
    written: such a reader may open the file for writing, for that alone.
    """
    mode = "rw" if journal == "delete" else "ro"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=patience)
    connection.execute("PRAGMA query_only=ON")
    return Database(connection)


def files_of(path: Path) -> tuple[Path, Path]:
    """The files that a commit to this one is written to: itself, or its write-ahead log."""
    return path, path.with_name(f"{path.name}-wal")


@contextlib.contextmanager
def transaction(database: Database) -> Iterator[Database]:
    """All of it or nothing, with the write lock held from the start.

    A transaction that read before it wrote would have to wait for the readers while another waits for it: SQLite
    refuses one of the two at once ("database is locked"), however patient it is.
    """
    database.conn.execute("BEGIN IMMEDIATE")
    try:
        yield database
    except BaseException:
        database.conn.execute("ROLLBACK")
        raise
    database.conn.execute("COMMIT")
