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
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
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
    """One run as the registry knows it. Times are seconds since 1970; `total` is 0 until the trainer has planned."""

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


COLUMNS = ", ".join(field.name for field in fields(Run))


def open_registry() -> bool:
    """Make or migrate the registry of the prepared home; whether it was made. Raises Damaged, Newer, or RegistryError
    where it cannot be used just now."""
    try:
        with _open_writer(make=True) as registry:
            problem = registry.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise _damage_error(str(problem).splitlines()[-1])
            is_new = not migrations.applied_migrations(registry, migrations.registry)
            migrations.registry.apply(registry)
            return is_new
    except sqlite3.OperationalError as error:
        advice = (
            "Another process has held it for 10 s." if "locked" in str(error) else "Is the disk full, or read-only?"
        )
        raise RegistryError(f"The registry {paths.registry_path()} cannot be used ({error}). {advice}") from error


def _damage_error(reason: str) -> Damaged:
    return Damaged(
        f"The registry {paths.registry_path()} is damaged ({reason}). No run is lost: "
        "`groupwise repair` sets it aside and makes a new one from the run folders."
    )


def _refuse_newer(registry: Database) -> None:
    """Raises Newer where the file has had steps that this version does not know."""
    unknown = set(migrations.applied_migrations(registry, migrations.registry)) - set(
        migrations.names(migrations.registry)
    )
    if unknown:
        raise Newer(
            f"A newer version of Groupwise has used {paths.home()} ({min(unknown)}), and this one would not write its "
            "registry as it should be. Update Groupwise, or choose another folder with GROUPWISE_HOME=/some/folder."
        )


def create_run(spec_yaml: str, *, name: str, model: str, data: str) -> str:
    """Make a run's folder with the spec in it and queue it; the new run's id.

    Both or neither: the folder gets its name inside the transaction that adds the row, and goes when that fails.
    Raises OSError or sqlite3.Error.
    """
    draft = paths.runs_folder() / f".draft-{secrets.token_hex(8)}"
    draft.mkdir(mode=0o700)
    made = draft
    try:
        files.write_whole(draft / "spec.yaml", spec_yaml)
        with write_registry() as registry:
            folder = _free_folder(registry, name)
            _insert(registry, folder.id, name=name, model=model, data=data)
            made = draft.rename(folder.path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _keep_beside(folder.id)
    return folder.id


def _free_folder(registry: Database, name: str) -> paths.RunFolder:
    """One that no run has. Of many runs with one name in one minute, two are given the same letters now and then."""
    while True:
        folder = paths.run_folder(paths.new_run_id(name))
        known = registry.execute("SELECT 1 FROM run WHERE id = ?", [folder.id]).fetchone()
        if known is None and not os.path.lexists(folder.path):
            return folder


def _insert(registry: Database, run_id: str, *, name: str, model: str, data: str) -> None:
    now = time.time()
    asked = {"id": run_id, "name": name, "model": model, "data": data, "created": now, "state_at": now}
    told = {"state": states.QUEUED, "sentence": "Waiting for the worker to start it."}
    registry.table("run").insert({**asked, **told, "attempt": 1, "step": 0, "total": 0, "spark": "[]"})


def get_run(run_id: str) -> Run | None:
    """The run of this id; None where there is none."""
    with read_registry() as registry:
        rows = list(registry.query(f"SELECT {COLUMNS} FROM run WHERE id = ?", [run_id]))
    return _run_of_row(rows[0]) if rows else None


def list_runs(*, only: frozenset[str] | set[str] | None = None) -> list[Run]:
    """All runs, newest first, or those in some states."""
    where = f"WHERE state IN ({', '.join('?' * len(only))})" if only is not None else ""
    with read_registry() as registry:
        rows = registry.query(f"SELECT {COLUMNS} FROM run {where} ORDER BY created DESC, id DESC", sorted(only or ()))
        return [_run_of_row(row) for row in rows]


def _run_of_row(row: dict[str, Any]) -> Run:
    return Run(**{**row, "spark": json.loads(row["spark"])})


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
        _keep_beside(run_id)
    return bool(changed)


def set_facts(run_id: str, **facts: Any) -> None:
    """Change a run's progress columns; `spark` is a list of floats."""
    if "spark" in facts:
        facts["spark"] = json.dumps(facts["spark"])
    with write_registry() as registry:
        registry.execute(
            f"UPDATE run SET {', '.join(f'{column} = ?' for column in facts)} WHERE id = ?", [*facts.values(), run_id]
        )


def _keep_beside(run_id: str) -> None:
    """Write the run's row into its folder, where there is one and it lets us: the row is the truth, this a copy."""
    run = get_run(run_id)
    with contextlib.suppress(OSError, ValueError):  # ValueError: the folder is now a link out of the home
        if run is not None and files.is_folder(run.folder.path):
            files.write_json(run.folder.state, asdict(run))


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
                _refuse_newer(registry)
                yield registry
        finally:
            registry.close()


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
            raise _damage_error(str(error)) from error
        gone = "no such table" in str(error) or not paths.registry_path().exists()
        if isinstance(error, sqlite3.OperationalError) and gone:
            raise Damaged(
                f"The registry {paths.registry_path()} is gone. No run is lost: `groupwise repair` makes a new one "
                "from the run folders."
            ) from error
        raise
