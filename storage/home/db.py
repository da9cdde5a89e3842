"""How SQLite files are opened here: one place for the settings that durability and speed hang on."""

import contextlib
import contextvars
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from groupwise.storage.home.redaction import redact
from groupwise.storage.home.sqlite_tools import Database

LONGEST = 30.0  # seconds of reading; the statistics of a very long run take some
LARGEST = 64 * 2**20  # bytes of one value, or row
PAGES_AT_ONCE = 1024
LOOK_EVERY = 100_000  # steps of SQLite's own machine between two looks at the clock: some milliseconds


def open_writer(
    path: Path, *, journal: Literal["wal", "delete"], patience: float = 10.0, make: bool = True
) -> Database:
    """Open for reading and writing; a commit is on the disk when it returns (synchronous=FULL). `make`: also where
    there is no such file; else sqlite3.OperationalError.

    `journal` is "wal" for a file with one writer, "delete" where several processes write: SQLite before 3.51.3
    has a rare corruption with several WAL writers. `patience` is how many seconds to wait for a locked file.
    """
    _refuse_odd(path)
    address = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, factory=_Connection)
    connection.execute(f"PRAGMA journal_mode={journal}")
    connection.execute("PRAGMA synchronous=FULL")
    return Database(connection)


def open_reader(
    path: Path,
    *,
    journal: Literal["wal", "delete"] = "wal",
    patience: float = 5.0,
    seconds: float = LONGEST,
    untouched: bool = False,
) -> Database:
    """Open for reading only. Raises sqlite3.OperationalError where there is no such file.

    The file may have been copied from anywhere. All that is read through one such connection may take so many
    `seconds`, whatever its tables are (a view can be without end), and no value may have more than LARGEST bytes.

    A killed writer of a “delete” file leaves its journal, and nobody reads on who could not take back what is half
    written: such a reader may open the file for writing, for that alone. `untouched`: nothing is changed, nor made
    beside the file (but in the index of a log with something in it). Raises sqlite3.OperationalError where it cannot be
    read so.
    """
    _refuse_odd(path)
    mode = _untouching_mode(path, journal) if untouched else "rw" if journal == "delete" else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=patience, factory=_Connection
    )
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, LOOK_EVERY)
    return Database(connection)


def _untouching_mode(path: Path, journal: str) -> str:
    """How a file is opened so that SQLite makes none beside it: of a “wal” file with nothing in its log it is told that
    it cannot change, or it would make log and index anew, and leave them there."""
    log = path.with_name(f"{path.name}-wal")
    if journal == "delete" or (log.exists() and log.stat().st_size):
        if journal == "wal" and not os.path.lexists(f"{path}-shm"):
            raise sqlite3.OperationalError(f"{path.name} was left open by its writer")
        return "ro"
    return "ro&immutable=1"


@contextlib.contextmanager
def open_for_reading(path: Path, *, journal: Literal["wal", "delete"]) -> Iterator[Database]:
    """A file to be read: opened for this, or as `kept_open` has it."""
    kept = _kept.get()
    if kept is None:
        with contextlib.closing(open_reader(path, journal=journal)) as database:
            yield database
        return
    if path not in kept:
        kept[path] = open_reader(path, journal=journal)
    yield kept[path]


_kept: contextvars.ContextVar[dict[Path, Database] | None] = contextvars.ContextVar("kept", default=None)


@contextlib.contextmanager
def kept_open() -> Iterator[None]:
    """Open once, when it is first read, whatever is read in the block through `open_for_reading`. Each reading sees all
    that was written until then."""
    kept: dict[Path, Database] = {}
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)
        for database in kept.values():
            database.close()


@contextlib.contextmanager
def copy_of_one_moment(path: Path, room: Path) -> Iterator[BinaryIO]:
    """A database as it is at one moment, whoever writes to it meanwhile: a file in the folder `room` that has no name
    any more, so that it is gone with this process however that ends. Raises sqlite3.DatabaseError and OSError."""
    place = room / f".copy-{secrets.token_hex(8)}"
    with os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "rb") as file:
        try:
            target = sqlite3.connect(place, isolation_level=None)
        finally:
            place.unlink()
        with contextlib.closing(target), contextlib.closing(open_reader(path)) as source:
            target.execute("PRAGMA journal_mode=OFF")  # a file without a name has no place for one
            target.execute("PRAGMA synchronous=OFF")
            source.conn.execute("BEGIN")  # or the copy would begin anew whenever the file was written to
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.conn.backup(target, pages=PAGES_AT_ONCE, progress=lambda *_: None)  # where Ctrl-C is heard
        yield file


class _Connection(sqlite3.Connection):
    """No text gets into a file, or is looked for, with a secret in it or half a character, which SQLite refuses."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql, _redact(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        rows = list(parameters)
        texts = "\n".join(value for row in rows for value in row if isinstance(value, str))
        return super().executemany(sql, rows if redact(texts) is texts else map(_redact, rows))


def _redact(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {name: _without_secrets(value) for name, value in parameters.items()}
    return [_without_secrets(value) for value in parameters]


def _without_secrets(value: Any) -> Any:
    return redact(value) if isinstance(value, str) else value


def _refuse_odd(path: Path) -> None:
    """Raises sqlite3.OperationalError where the file, or what SQLite keeps beside it, is a link (to another run's, say)
    or a pipe, for which SQLite would wait for ever."""
    for end in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):  # not there, mostly
            if not stat.S_ISREG(os.lstat(f"{path}{end}").st_mode):
                raise sqlite3.OperationalError(f"{path.name}{end} is no file")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether this says that a file is damaged, or no database."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def files_of(path: Path) -> tuple[Path, Path]:
    """The files that a commit to this one is written to: itself, or its write-ahead log."""
    return path, path.with_name(f"{path.name}-wal")


@contextlib.contextmanager
def transaction(database: Database) -> Iterator[Database]:
    """Make several writes all or none, with the write lock held from the start.

    A transaction that read before it wrote would have to wait for the readers while another waits for it: SQLite
    refuses one of the two at once ("database is locked"), however patient it is.
    """
    database.conn.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.conn.execute("COMMIT")
    except BaseException:
        database.conn.rollback()  # nothing where SQLite has done so itself (a full disk): what it said is what counts
        raise
