"""Whether a run.db is one that this version of Groupwise can write, and why not: an enemy, a newer version or a failing
disk may have had it in hand."""

import contextlib
import contextvars
import functools
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groupwise.storage.home import db, files, migrations
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import states

DEEP_SECONDS = 600.0  # reading every page of a record of some gigabytes takes seconds
Shape = dict[str, tuple[object, ...]]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a record. `newer`: nothing is, but this version of Groupwise is too old to write it."""

    reason: str
    newer: bool = False


NEWER = Fault("a newer version of Groupwise has written it", newer=True)
NEWER_SENTENCE = (
    "A newer version of Groupwise has written this run's record: what can be read of it is shown. Update Groupwise to "
    "resume it."
)
LOST_SENTENCE = "{}: what this run recorded cannot be shown. Copy run.db into {} again."
NO_RUN = Fault("its tables are not those that a run makes")
_HUGE = "abs({0}) > 1e300 AND abs({0}) < 9e999"  # an infinity is a value that a run can have
_FROM_0 = {
    "acknowledged": "seq step at", "metric": "step", "event": "step at", "grp": "step size",
    "completion": "tokens idx", "checkpoint": "step at bytes", "rollup": "bucket",
}  # fmt: skip
# What no run writes, though SQLite takes it: words, and a query that finds one such row.
ODD = {
    "a prompt is not JSON": "FROM prompt WHERE NOT json_valid(prompt) OR NOT json_valid(columns)",
    "a prompt's columns are not a mapping": "FROM prompt WHERE json_valid(columns) AND json_type(columns) <> 'object'",
    "what a function logged is not a mapping":
        "FROM extra WHERE NOT json_valid(columns) OR json_type(columns) <> 'object'",
    "an event's data is not a mapping": "FROM event WHERE NOT json_valid(data) OR json_type(data) <> 'object'",
    "an event's numbers are out of range":
        "FROM event WHERE json_valid(data) AND (json_type(data, '$.total') NOT IN ('integer', 'null') "
        "OR json_type(data, '$.stage') NOT IN ('integer', 'null') OR json_type(data, '$.weights') <> 'object' "
        f"OR abs(json_extract(data, '$.total')) > {2**53})",
    "a group has rewards but no mean":
        "FROM grp WHERE (mean IS NULL) <> (low IS NULL) OR (low IS NULL) <> (high IS NULL)",
    "a group has an unknown mode": "FROM grp WHERE mode NOT IN ('train', 'eval')",
    "a group's prompt is missing": "FROM grp WHERE prompt NOT IN (SELECT id FROM prompt)",
    "a score names an unknown function": "FROM score WHERE function NOT IN (SELECT id FROM reward_function)",
    "a weight is not a number": "FROM reward_function WHERE NOT abs(weight) < 1e300",
    "an attempt is out of range": f"FROM acknowledged WHERE attempt NOT BETWEEN 1 AND {2**31}",
    **{
        f"{column} of {table} is far too large": f"FROM {table} WHERE {_HUGE.format(column)}"
        for table, column in (("score", "value"), ("metric", "value"), ("completion", "reward"), ("grp", "mean"),
                              ("completion", "advantage"), ("grp", "std"), ("grp", "low"), ("grp", "high"))
    },
    **{
        f"{column} of {table} is out of range": f"FROM {table} WHERE {column} NOT BETWEEN 0 AND {2**53}"
        for table, columns in _FROM_0.items() for column in columns.split()
    },
}  # fmt: skip


class OddRecord(sqlite3.DatabaseError):
    """A run.db is there that no run has written; the message says why."""


class LostRecord(sqlite3.DatabaseError):
    """A run that did steps has no run.db any more, or an empty one: `how`; the message says so, and what to do."""

    def __init__(self, how: str, folder: RunFolder) -> None:
        super().__init__(LOST_SENTENCE.format(how, folder.path))
        self.how = how


def refuse_lost(folder: RunFolder, state: str, step: int) -> None:
    """Raises LostRecord where a run that ended in this state, after this step, has no run.db: it was not copied along,
    or was removed; or where nothing is in it. (One that begins has an empty one for some milliseconds.)"""
    if state not in states.ENDED or not step or not files.is_folder(folder.path):
        return
    if not files.exists(folder.db):
        raise LostRecord("run.db is missing", folder)
    if files.is_file(folder.db) and folder.db.stat().st_size == 0:
        raise LostRecord("run.db is empty", folder)


def open_record(path: Path, *, seconds: float = db.LONGEST) -> Database:
    """A run's record, for reading. Raises sqlite3.DatabaseError where it is not there, damaged, or none."""
    run = db.open_reader(path, seconds=seconds)
    try:
        (version,) = run.execute("PRAGMA schema_version").fetchone()
        if not _is_ours(path, path.lstat().st_ino, version, run):
            raise OddRecord(NO_RUN.reason)
    except BaseException:
        run.close()
        raise
    return run


@contextlib.contextmanager
def read_record(path: Path, *, seconds: float = db.LONGEST) -> Iterator[Database]:
    """A run's record, open to be read in the block: opened for this, or as `one_look` has it. Raises as `open_record`
    does."""
    looked_at = _looked_at.get()
    if looked_at is not None and looked_at[0] == path:
        yield looked_at[1]
        return
    with contextlib.closing(open_record(path, seconds=seconds)) as run:
        yield run


_looked_at: contextvars.ContextVar[tuple[Path, Database] | None] = contextvars.ContextVar("looked_at", default=None)


@contextlib.contextmanager
def one_look(path: Path) -> Iterator[None]:
    """All that is read of a record in the block, through `read_record`, is of one moment, and it is opened once. A
    record that cannot be opened is for whoever reads it to say."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(sqlite3.DatabaseError):
            run = stack.enter_context(contextlib.closing(open_record(path)))
            run.conn.execute("BEGIN")
            token = _looked_at.set((path, run))
            stack.callback(_looked_at.reset, token)
        yield


def of_file(path: Path, *, deep: bool = False, odd: bool = False, untouched: bool = False) -> Fault | None:
    """What is wrong with a record; None where nothing is, or there is none. `deep` also looks at every page, `odd` at
    every row as well: whether it could be a run's. `untouched`: as for db.open_reader. Raises
    sqlite3.DatabaseError where that cannot be told just now: it is locked, or nobody may read it."""
    if not files.exists(path):
        return None
    if not files.is_file(path):
        return Fault("it is not a file")
    try:
        run = db.open_reader(path, seconds=DEEP_SECONDS if deep or odd else db.LONGEST, untouched=untouched)
        try:
            return _fault(run, deep or odd) or (_odd_row(run) if odd else None)
        finally:
            run.close()
    except sqlite3.DatabaseError as error:
        if not db.is_damage(error):
            raise
        return Fault(str(error))


def is_newer(path: Path) -> bool:
    """Whether a newer version of Groupwise has written a record; False where that cannot be told."""
    try:
        with read_record(path) as run:
            return _is_of_newer(run)
    except sqlite3.DatabaseError:
        return False


def _is_of_newer(run: Database) -> bool:
    applied = migrations.applied_migrations(run, migrations.record)
    return bool(set(applied) - set(migrations.names(migrations.record)))


_known: dict[tuple[Path, int, int], bool] = {}  # by file and version of its tables: whether they are a run's
MOST_KNOWN = 4096


def _is_ours(path: Path, inode: int, version: int, run: Database) -> bool:
    """Whether the tables are a run's, or a newer version's, which nobody here can tell; looked at once."""
    key = path, inode, version
    if key not in _known:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[key] = _fault(run, deep=False) in (None, NEWER)
    return _known[key]


def _fault(run: Database, deep: bool) -> Fault | None:
    if _is_of_newer(run):
        return NEWER
    odd = run.execute("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone()
    found, usual = _shape(run), _expected_shape(tuple(migrations.applied_migrations(run, migrations.record)))
    # A table that is missing is for whoever reads it to say: for some milliseconds a run's first ones are.
    if odd or (found != usual if deep else not found.items() <= usual.items()):
        return NO_RUN
    if deep:
        word = run.execute("PRAGMA quick_check(1)").fetchone()[0]
        return None if word == "ok" else Fault(str(word).splitlines()[-1])
    return None


def _odd_row(run: Database) -> Fault | None:
    tables = {name for (name,) in run.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
    for words, query in ODD.items():
        if query.split()[1] in tables and run.execute(f"SELECT 1 {query} LIMIT 1").fetchone():
            return Fault(words)
    return None


def _shape(run: Database) -> Shape:
    """Each table with whether it is STRICT, and its columns. Those of the migrations and of SQLite itself are left
    out."""
    rows = run.execute(
        'SELECT t.name, t.strict, t.wr, c.name, c.type, c."notnull", c.pk, c.hidden FROM pragma_table_list AS t '
        "JOIN pragma_table_xinfo(t.name) AS c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "AND t.name NOT LIKE '\\_sqlite\\_%' ESCAPE '\\' ORDER BY t.name, c.cid"
    ).fetchall()
    found: Shape = {}
    for name, *about in rows:
        found[name] = (*found.get(name, ()), tuple(about))
    return found


@functools.lru_cache(maxsize=16)
def _expected_shape(applied: tuple[str, ...]) -> Shape:
    """The tables after these migrations."""
    made = Database(memory=True)
    try:
        migrations.record.apply(made, stop_before=set(migrations.names(migrations.record)) - set(applied))
        return _shape(made)
    finally:
        made.close()
