"""registry.db: every run of this home, what people asked of it, and what the worker published.

Written by app, command and supervisor alike, in short transactions; an index that storage.library.repair can make anew
from the run folders.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from groupwise.storage.home import db, files, migrations, paths
from groupwise.storage.home.process import Identity
from groupwise.storage.home.redaction import to_json
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import states

if TYPE_CHECKING:  # the models take time to import, and not every command publishes or reads one
    from groupwise.storage.registry.messages.facts import Fact

    AnyFact = TypeVar("AnyFact", bound=Fact)


class RegistryError(sqlite3.DatabaseError):
    """registry.db cannot be used; the message says why and what to do."""


class Damaged(RegistryError):
    """It is damaged, or gone: `groupwise repair` makes a new one."""


class Newer(RegistryError):
    """A newer version of Groupwise has written it: it can be read, but not written."""


@dataclass(frozen=True)
class Run:
    """One run as the registry knows it. Times are seconds since 1970; `total` is 0 until the trainer has planned.
    `number`: the how-many-th of its home it is, from which its colour is. `ended_state`, `ended_sentence`, `ended_at`:
    how it had ended before it was last started again; None where it never was."""

    id: str
    name: str
    model: str
    data: str
    created: float
    state: str
    sentence: str
    state_at: float
    attempt: int
    step: int
    total: int
    reward: float | None
    spark: list[float]
    seen_at: float | None
    boot: str | None
    pid: int | None
    started: int | None
    tag: str | None
    note: str = ""
    tags: list[str] = field(default_factory=list)
    number: int = 0
    ended_state: str | None = None
    ended_sentence: str | None = None
    ended_at: float | None = None

    @property
    def identity(self) -> Identity | None:
        """The training process, if one was recorded."""
        if self.boot is None or self.pid is None or self.started is None:
            return None
        return Identity(self.boot, self.pid, self.started)

    @functools.cached_property
    def folder(self) -> paths.RunFolder:
        """The run's folder in the home."""
        return paths.run_folder(self.id)


COLUMNS = ", ".join(column.name for column in fields(Run))
LISTS = ("spark", "tags")  # columns that are JSON
_LISTS_AT = [at for at, column in enumerate(fields(Run)) if column.name in LISTS]
MOST_COPIES = 5  # of a row that others change as it is copied
# After those of deleted runs, too: one that is restored has the colour of no run that was launched since.
NEXT_NUMBER = """(SELECT coalesce(max(number), -1) + 1 FROM (
    SELECT number FROM run UNION ALL SELECT json_extract(row, '$.number') FROM trash))"""


def open_registry() -> bool:
    """Make or migrate the registry of the prepared home; whether it was made. Raises Damaged, Newer, or RegistryError
    where it cannot be used just now."""
    try:
        with _open_writer(make=True) as registry:
            problem = registry.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise damage_error(str(problem).splitlines()[-1])
            is_new = not migrations.applied_migrations(registry, migrations.registry)
            migrations.registry.apply(registry)
            return is_new
    except sqlite3.OperationalError as error:
        advice = (
            "Another process has held it for 10 s." if "locked" in str(error) else "Is the disk full, or read-only?"
        )
        raise RegistryError(f"The registry {paths.registry_path()} cannot be used ({error}). {advice}") from error


def damage_error(reason: str) -> Damaged:
    """Say of a damaged registry what to do."""
    return Damaged(
        f"The registry {paths.registry_path()} is damaged ({reason}). No run is lost: "
        "`groupwise repair` sets it aside and makes a new one from the run folders."
    )


def refuse_newer(registry: Database) -> None:
    """Raises Newer where the file has had steps that this version does not know."""
    unknown = set(migrations.applied_migrations(registry, migrations.registry)) - set(
        migrations.names(migrations.registry)
    )
    if unknown:
        raise Newer(
            f"A newer version of Groupwise has used {paths.home()} ({min(unknown)}), and this one cannot write "
            "its registry correctly. Update Groupwise, or choose another folder with GROUPWISE_HOME=/some/folder."
        )


def create_run(spec_yaml: str, *, name: str, model: str, data: str, code: Mapping[str, str] | None = None) -> str:
    """Make a run's folder with the spec in it and queue it; the new run's id. `code`: of the person's own reward
    functions, by name, as it is now: what is saved while the run waits is not what was launched.

    Both or neither: the folder gets its name inside the transaction that adds the row, and goes when that fails.
    Raises OSError or sqlite3.Error.
    """
    draft = paths.runs_folder() / f".draft-{secrets.token_hex(8)}"
    draft.mkdir(mode=0o700)
    made = draft
    try:
        files.write_whole(draft / "spec.yaml", spec_yaml)
        _write_code(paths.RunFolder(draft).rewards, code or {})
        with write_registry() as registry:
            folder = _free_folder(registry, name)
            _insert(registry, folder.id, name=name, model=model, data=data)
            made = draft.rename(folder.path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    keep_beside(folder.id)
    return folder.id


def _write_code(folder: Path, code: Mapping[str, str]) -> None:
    if code:
        folder.mkdir()
    for function, text in code.items():
        files.write_whole(folder / f"{function}.py", text)


def _free_folder(registry: Database, name: str) -> paths.RunFolder:
    """One that no run has. Of many runs with one name in one minute, two are given the same letters now and then."""
    while True:
        folder = paths.run_folder(paths.new_run_id(name))
        query = "SELECT 1 FROM run WHERE id = ? UNION ALL SELECT 1 FROM trash WHERE id = ?"
        known = registry.execute(query, [folder.id, folder.id]).fetchone()
        if known is None and not os.path.lexists(folder.path):
            return folder


def _insert(registry: Database, run_id: str, *, name: str, model: str, data: str) -> None:
    now = time.time()
    asked = {"id": run_id, "name": name, "model": model, "data": data, "created": now, "state_at": now}
    told = {"state": states.QUEUED, "sentence": "Waiting for the worker to start it."}
    insert_row(registry, {**asked, **told, "attempt": 1, "step": 0, "total": 0, "spark": []})


def insert_row(registry: Database, row: dict[str, Any]) -> bool:
    """Add a run's row, as one of the newest where it brings no number; whether there was none of its id."""
    row = {name: json.dumps(value) if name in LISTS else value for name, value in row.items()}
    number = "?" if "number" in row else NEXT_NUMBER
    names = [name for name in row if name != "number"]
    added = registry.execute(
        f"INSERT INTO run ({', '.join(names)}, number) VALUES ({', '.join('?' * len(names))}, {number}) "
        "ON CONFLICT (id) DO NOTHING",
        [*(row[name] for name in names), *([row["number"]] if "number" in row else [])],
    )
    return bool(added.rowcount)


def get_run(run_id: str) -> Run | None:
    """The run of this id; None where there is none."""
    with read_registry() as registry:
        row = registry.execute(f"SELECT {COLUMNS} FROM run WHERE id = ?", [run_id]).fetchone()
    return _run_of_row(row) if row else None


def list_runs(*, only: frozenset[str] | set[str] | None = None, curves: bool = True) -> list[Run]:
    """All runs, newest first, or those in some states. `curves`: with their `spark`, which is most of what is read."""
    where = f"WHERE state IN ({', '.join('?' * len(only))})" if only is not None else ""
    columns = COLUMNS if curves else COLUMNS.replace("spark", "'[]'")
    with read_registry() as registry:
        rows = registry.execute(f"SELECT {columns} FROM run {where} ORDER BY created DESC, id DESC", sorted(only or ()))
        return [_run_of_row(row) for row in rows]


def curves_of(run_ids: Sequence[str]) -> dict[str, list[float]]:
    """The `spark` of some runs."""
    with read_registry() as registry:
        marks = ", ".join("?" * len(run_ids))
        rows = registry.execute(f"SELECT id, spark FROM run WHERE id IN ({marks})", list(run_ids))
        return {run_id: json.loads(spark) for run_id, spark in rows}


def run_names() -> set[str]:
    """The names that runs have."""
    with read_registry() as registry:
        return {name for (name,) in registry.execute("SELECT DISTINCT name FROM run")}


def models_used() -> list[str]:
    """The models of runs, that of the newest first."""
    with read_registry() as registry:
        rows = registry.execute("SELECT model FROM run GROUP BY model ORDER BY max(created) DESC")
        return [model for (model,) in rows]


def _run_of_row(row: Sequence[Any]) -> Run:
    values = list(row)
    for at in _LISTS_AT:
        values[at] = json.loads(values[at]) if values[at] != "[]" else []
    return Run(*values)


def set_state(run_id: str, state: str, sentence: str, **facts: Any) -> bool:
    """Move a run to a state, with the sentence a person reads and any other columns; whether it was allowed.

    Allowed is what `states.NEXT` says: a late or doubled report never undoes an end. Within a state only the
    sentence and the facts change.
    """
    before = sorted(old for old, after in states.NEXT.items() if state in after or old == state)
    columns = {"state": state, "sentence": sentence, "state_at": time.time(), **facts}
    assignments = ", ".join(f"{column} = ?" for column in columns)
    with write_registry() as registry:
        changed = registry.execute(
            f"UPDATE run SET {assignments} WHERE id = ? AND state IN ({', '.join('?' * len(before))})",
            [*columns.values(), run_id, *before],
        ).rowcount
    if changed:
        keep_beside(run_id)
    return bool(changed)


def set_facts(run_id: str, **facts: Any) -> bool:
    """Change columns of a run that are not its state; `spark` is a list of floats, `tags` of texts. Whether there is
    such a run."""
    facts = {name: json.dumps(value, ensure_ascii=False) if name in LISTS else value for name, value in facts.items()}
    with write_registry() as registry:
        changed = registry.execute(
            f"UPDATE run SET {', '.join(f'{column} = ?' for column in facts)} WHERE id = ?", [*facts.values(), run_id]
        ).rowcount
    return bool(changed)


def keep_beside(run_id: str) -> None:
    """Write the run's row into its folder, where there is one and it lets us: the row is the truth, this a copy. What
    another process changed meanwhile is written as well."""
    run = get_run(run_id)
    for _ in range(MOST_COPIES):
        with contextlib.suppress(OSError, ValueError):  # ValueError: the folder is now a link out of the home
            if run is not None and files.is_folder(run.folder.path):
                files.write_json(run.folder.state, asdict(run))
        before, run = run, get_run(run_id)
        if run == before:
            return


def publish_fact(fact: Fact) -> None:
    """Say something to everyone: the catalogue, the hardware, what ships."""
    with write_registry() as registry:
        registry.execute(
            "INSERT OR REPLACE INTO published (key, value, at) VALUES (?, ?, ?)",
            [fact.key, to_json(fact.as_dict()), time.time()],
        )


def read_fact(fact: type[AnyFact]) -> AnyFact | None:
    """What was last published of this kind; None before it was, and where it cannot be understood."""
    with read_registry() as registry:
        row = registry.execute("SELECT value FROM published WHERE key = ?", [fact.key]).fetchone()
    return fact.from_text(row[0]) if row else None


def is_trusted() -> bool:
    """Whether people's own reward functions may run without a sandbox."""
    from groupwise.storage.registry.messages.facts import TrustRewardCode

    fact = read_fact(TrustRewardCode)
    return fact is not None and fact.trusted


@contextlib.contextmanager
def write_registry() -> Iterator[Database]:
    """The registry in one transaction."""
    with _open_writer(make=False) as registry:
        yield registry


@contextlib.contextmanager
def _open_writer(*, make: bool) -> Iterator[Database]:
    with _in_words():
        registry = db.open_writer(paths.registry_path(), journal="delete", make=make)
        try:
            with db.transaction(registry):
                refuse_newer(registry)
                yield registry
        finally:
            registry.close()


def change_stamp() -> tuple[int, int, int]:
    """What another write to the registry changes, as far as its file tells without being opened: two within some
    milliseconds may look like one. Zeros where there is none."""
    try:
        found = paths.registry_path().stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def read_registry() -> Iterator[Database]:
    """The registry, opened to be read. Raises RegistryError."""
    with _in_words(), db.open_for_reading(paths.registry_path(), journal="delete") as registry:
        yield registry


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    """Says of a registry that is damaged, or gone, what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if db.is_damage(error):
            raise damage_error(str(error)) from error
        gone = "no such table" in str(error) or not paths.registry_path().exists()
        if isinstance(error, sqlite3.OperationalError) and gone:
            raise Damaged(
                f"The registry {paths.registry_path()} is gone. No run is lost: `groupwise repair` makes a new one "
                "from the run folders."
            ) from error
        raise
