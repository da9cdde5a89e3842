"""Run folders as an enemy writes them: each file of a folder, with each odd value in each of its fields, or with what
is no file in its place. And everything that looks at a folder, from its adoption to the supervisor."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

from groupwise.app.cli import runs
from groupwise.app.cli.parser import build_parser
from groupwise.app.pages.run_list import runs_table
from groupwise.storage.home import paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library import repair
from groupwise.storage.record import record, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import checkpoints
from tests.support.made_runs import made_run
from tests.support.pages import first_asked, of_a_run, wrongs
from tests.support.runs import make_spec, queue

DEEP = 200_000  # levels of nesting
WAIT = 20.0  # seconds after which looking at a folder is taken to hang
MOST_LINES = 60  # that one hostile folder may cost the worker's log, however long it lies there
# As JSON writes them; Infinity and NaN are what Python's own reader takes.
ODD = [
    "1180591620717411303424", "-1180591620717411303424", "9223372036854775807", "-9223372036854775808", "-1", "0",
    "1e300", "-1e300", "1e400", "Infinity", "-Infinity", "NaN", "2.5", "true", "null", '""', '"12"', '"\\ud800"',
    '"\\u0000\\u001b[31m"', f'"{"x" * 300_000}"', "[]", "{}", "[[[1]]]", '[NaN, Infinity, "x", 1e300]',
    '{"a": {"b": []}}', "1" + "0" * 5000, "[" * 500 + "]" * 500, '"../../../etc/passwd"', '"/etc/passwd"',
]  # fmt: skip
# Whole files.
RAW: dict[str, bytes] = {
    "nothing": b"", "nonsense": b"\x00\xff\xfe" * 400, "nested lists": b"[" * DEEP + b"]" * DEEP,
    "nested mappings": b'{"a":' * DEEP + b"1" + b"}" * DEEP, "a list": b"[1, 2]", "a text": b'"hello"',
    "a number": b"1e999", "half a file": b'{"state": "fin', "another encoding": "{}".encode("utf-16"),
    "half a character": b'{"name": "\\ud800"}', "an endless number": b"9" * 100_000,
    "an alias bomb": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "a tag": b"!!python/object/apply:os.system [id]",
}  # fmt: skip


def odd_file(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _outside(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def _nowhere(path: Path) -> None:
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**43)


KINDS: dict[str, Callable[[Path], None]] = {
    "a pipe": _pipe, "a folder": _folder, "an endless device": _endless, "a link out": _outside,
    "a link to itself": _nowhere, "8 TB": _huge,
}  # fmt: skip
# What lies in a folder beside its record. Those of the checkpoint come last.
FILES = ("state.json", "exit.json", "notes.json", "spec.yaml", "run.spill.jsonl", "log.txt", "train.py", "task.py",
         "run.lock", "run.db", "run.db-wal", "rewards/format.py", "checkpoints/checkpoint-20/manifest.json",
         "checkpoints/checkpoint-20/trainer_state.json", "checkpoints/checkpoint-20/model.safetensors")  # fmt: skip
FOLDERS = ("rewards", "checkpoints", "checkpoints/checkpoint-20", "final")
# The fields of those that are JSON, each with a value that a healthy run has.
FIELDS: dict[str, dict[str, Any]] = {
    "state.json": {
        "name": "odd", "model": "starter", "data": "task:arithmetic", "created": 1.7e9, "state": "failed",
        "sentence": "It failed.", "state_at": 1.7e9, "attempt": 1, "step": 20, "total": 60, "reward": 0.5,
        "spark": [0.1, 0.5], "seen_at": 1.7e9, "boot": None, "pid": None, "started": None, "tag": None,
    },
    "exit.json": {"attempt": 1, "outcome": "failed", "step": 20, "planned": 60, "reason": "no reason", "at": 1.7e9,
                  "traceback": "Traceback"},
    "notes.json": {"grp": 1, "idx": 0, "starred": True, "words": "good", "at": 1.7e9},
    "checkpoints/checkpoint-20/manifest.json": {"step": 20, "files": {}},
    "checkpoints/checkpoint-20/trainer_state.json": {"global_step": 20, "max_steps": 60, "log_history": []},
    "run.spill.jsonl": {"seq": 10**6, "attempt": 1, "step": 21, "at": 1.7e9, "metrics": {"reward": 0.5},
                        "rollups": [], "groups": [], "events": [], "checkpoint": None},
}  # fmt: skip
GROUP = {"mode": "train", "step": 21, "prompt": "1+1?", "columns": {}, "completions": [], "id": 10**6}
COMPLETION = {"text": "2", "tokens": 1, "truncated": False, "reward": 1.0, "advantage": 0.0,
              "scores": [[1.0, "ok"], [1.0, "ok"]], "extra": {}}  # fmt: skip
# More that may be odd within those: where it stands, and the healthy whole.
WITHIN: dict[str, tuple[str, dict[str, Any]]] = {
    "an entry of a manifest": ("checkpoints/checkpoint-20/manifest.json", {"bytes": 3, "sha256": "0" * 64}),
    "a group of a spill": ("run.spill.jsonl", GROUP),
    "a completion of a spill": ("run.spill.jsonl", COMPLETION),
    "an event of a spill": ("run.spill.jsonl", {"kind": "warning", "message": "x", "data": {}}),
    "a checkpoint of a spill": ("run.spill.jsonl", {"step": 21, "path": "checkpoints/checkpoint-21", "bytes": 5}),
}


def written(values: dict[str, Any], field: str | None, odd: str) -> str:
    """A JSON object in which one field has an odd value, as it is written; None: all has."""
    if field is None:
        return odd
    return "{" + ", ".join(f'"{k}": {odd if k == field else json.dumps(v)}' for k, v in values.items()) + "}"


def odd_within(where: str, field: str | None, odd: str) -> str:
    """The file's text with an odd value within one of its parts."""
    name, values = WITHIN[where]
    part = written(values, field, odd)
    if "manifest" in where:
        return '{"step": 20, "files": {"model.safetensors": ' + part + "}}"
    line = dict(FIELDS[name])
    key = {"a group of a spill": "groups", "a completion of a spill": "groups", "an event of a spill": "events"}
    if where == "a checkpoint of a spill":
        return written(line, "checkpoint", part)
    if where == "a completion of a spill":
        part = written(GROUP, "completions", f"[{part}]")
    return written(line, key[where], f"[{part}]")


# (table, column) of a record, each to be given an odd value; and what SQLite can hold.
COLUMNS = [
    ("metric", "step"), ("metric", "value"), ("metric", "attempt"), ("metric_key", "name"), ("acknowledged", "seq"),
    ("acknowledged", "attempt"), ("acknowledged", "step"), ("acknowledged", "at"), ("grp", "step"), ("grp", "size"),
    ("grp", "mean"), ("grp", "std"), ("grp", "mode"), ("grp", "prompt"), ("grp", "attempt"), ("completion", "text"),
    ("completion", "tokens"), ("completion", "reward"), ("completion", "advantage"), ("completion", "truncated"),
    ("completion", "idx"), ("score", "value"), ("score", "status"), ("score", "function"), ("prompt", "prompt"),
    ("prompt", "columns"), ("reward_function", "name"), ("reward_function", "weight"), ("event", "data"),
    ("event", "at"), ("event", "step"), ("event", "attempt"), ("event", "kind"), ("event", "message"),
    ("checkpoint", "step"), ("checkpoint", "path"), ("checkpoint", "bytes"), ("checkpoint", "at"),
    ("rollup", "n"), ("rollup", "total"), ("rollup", "low"), ("rollup", "bucket"), ("rollup", "size"),
]  # fmt: skip
CELLS: list[Any] = [
    2**63 - 1, -(2**63), 2**53 + 1, -1, 0, 1e308, -1e308, 1e-320, float("inf"), float("-inf"), None, "", "x" * 100_000,
    "null", "[]", "{", "[1]", '{"total": 1e400}', '{"total": "x", "stage": "x", "weights": 7}', '{"total": null}',
    '{"total": 99999999999999999999999, "stage": {}, "weights": {"format": "x"}}', "NaN", b"\x00\xff", "\x00\x1b[31m",
    "[" * 2000, '[{"role": 1}]', '"text"', '{"traceback": [1]}', "../../etc", "train", 1.5,
]  # fmt: skip


OPENLY, LOOSELY, HIDDEN = "as SQLite takes it", "into loose tables", "into loose tables that say they are strict"


def spoil(path: Path, table: str, column: str, value: Any, how: str) -> bool:
    """Put a value into some rows of a record; whether SQLite took it. Not OPENLY: into a table that does not say of
    which type its columns are, as an enemy makes one; HIDDEN: and who then says that it had."""
    with closing(sqlite3.connect(path)) as db:
        before = db.execute("SELECT name, sql FROM sqlite_master WHERE name = ?", [table]).fetchall()
        if how != OPENLY:
            db.execute("PRAGMA writable_schema = ON")
            db.execute("UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT', ')'), 'NOT NULL', '') "
                       "WHERE name = ?", [table])  # fmt: skip
            db.commit()
    with closing(sqlite3.connect(path)) as db:
        try:
            where = "rowid % 3 = 0" if table not in ("metric", "score", "rollup") else "abs(random()) % 3 = 0"
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {where}", [value])
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})"
                       if table not in ("metric", "score", "rollup") else "SELECT ?", [value])  # fmt: skip
            db.commit()
        except sqlite3.Error:
            return False
    if how == HIDDEN:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA writable_schema = ON")
            db.executemany("UPDATE sqlite_master SET sql = ?2 WHERE name = ?1", before)
            db.commit()
    return True


class Hung(BaseException):
    """Something waited for what will never come. No Exception, which much may catch."""


@contextlib.contextmanager
def not_for_ever(seconds: float = WAIT) -> Iterator[None]:
    def hung(_: int, frame: FrameType | None) -> None:
        raise Hung(f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "")

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class HostileHome:
    """A home with a healthy run in the queue, and a folder to make hostile ones from. `look` has everything look."""

    def __init__(self, place: Path) -> None:
        paths.prepare()
        registry.open_registry()
        self.healthy = queue(make_spec(training={"max_steps": 2}))
        self.mould = place / "mould"
        self._make_mould()
        self.made = 0

    def _make_mould(self) -> None:
        made = paths.run_folder(made_run("mould", 24, groups=1, size=3, eval_every=12, state=states.FAILED))
        point = made.checkpoints / "checkpoint-20"
        point.mkdir(parents=True)
        for name in (*checkpoints.NEEDED, "rng_state.pth", "model.safetensors"):
            (point / name).write_text('{"global_step": 20, "max_steps": 60}' if name.endswith("json") else "abc")
        checkpoints.seal(point)
        writer = record.RunWriter(made.db, 1, {})
        writer.commit(24, checkpoint=record.Checkpoint(20, "checkpoints/checkpoint-20", 1000))
        writer.close()
        (made.rewards).mkdir()
        (made.rewards / "format.py").write_text("def format(completions, **kwargs):\n    return [0.0]\n")
        made.final.mkdir()
        made.log.write_text("step 20\n")
        for name in ("state.json", "notes.json", "exit.json"):
            (made.path / name).write_text(written(FIELDS[name], None, json.dumps(
                [FIELDS[name]] if name == "notes.json" else FIELDS[name])))  # fmt: skip
        with closing(sqlite3.connect(made.db)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        made.path.rename(self.mould)
        with registry.write_registry() as index:
            index.execute("DELETE FROM run WHERE id = ?", [made.id])

    @contextlib.contextmanager
    def folder(self) -> Iterator[RunFolder]:
        """A copy of the mould to spoil, not yet adopted; gone afterwards."""
        self.made += 1
        draft = self.mould.with_name(f"draft-{self.made}")
        shutil.copytree(self.mould, draft, symlinks=True)
        spoilt = RunFolder(draft)
        try:
            yield spoilt
        finally:
            for place in (draft, paths.runs_folder() / draft.name):
                if place.is_symlink():
                    place.unlink()
                elif place.exists():
                    for sub in (place, *(Path(root) for root, _, _ in os.walk(place))):
                        sub.chmod(0o700)
                    shutil.rmtree(place)
            with registry.write_registry() as index:
                index.execute("DELETE FROM run WHERE id = ?", [draft.name])
                index.execute("DELETE FROM command WHERE run = ?", [draft.name])
                index.execute("DELETE FROM note WHERE run = ?", [draft.name])

    def look(self, spoilt: RunFolder, log: list[str], *, closely: bool = False) -> list[str]:
        """Let everything look at the folder as one run among others; what went wrong. `log` collects the worker's.
        `closely`: every part of its page is asked everything."""
        spoilt.path.rename(paths.runs_folder() / spoilt.id)
        folder = RunFolder(paths.runs_folder() / spoilt.id)
        with not_for_ever():
            repair.adopt_folders()
            if registry.get_run(folder.id) is None:
                return ["it is not adopted"]
            found = self._listed(folder)
            found += wrongs(of_a_run(folder.id) if closely else first_asked(folder.id))
            found += self._supervised(folder)
        found += [f"{len(log)} lines in the log: {log[-1]}"] if len(log) > MOST_LINES else []
        return found

    def _listed(self, folder: RunFolder) -> list[str]:
        found = []
        for as_json in (False, True):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                runs.list_runs(build_parser().parse_args(["list", *(["--json"] if as_json else [])]))
            found += [f"list leaves out {one}" for one in (self.healthy.id, folder.id) if one not in out.getvalue()]
        said = runs_table.draw_runs({})
        rows = str(said.get("rows"))
        found += wrongs(iter([(runs_table.draw_runs, {})]))
        found += [f"the page leaves out {one}" for one in (self.healthy.id, folder.id) if f'"{one}"' not in rows]
        run = registry.get_run(folder.id)
        return found + ([] if run is not None and run.sentence.strip() else ["its row says nothing"])

    def _supervised(self, folder: RunFolder) -> list[str]:
        """Its process is found dead; it is asked to resume; and all the while another run waits to be started."""
        found = []
        with registry.write_registry() as index:
            index.execute("UPDATE run SET state = 'running', boot = ?, pid = ?, started = 1, tag = 'x:1:gone' "
                          "WHERE id = ?", [process.boot_id(), 2**22 - 1, folder.id])  # fmt: skip
        supervisor = Supervisor()
        for _ in range(3):
            supervisor.tick()
        run = registry.get_run(folder.id)
        assert run is not None
        if run.state not in states.ENDED:
            found.append(f"still {run.state} though its process is gone: {run.sentence}")
        if not run.sentence.strip():
            found.append("its end has no words")
        if not self._launches(supervisor, self.healthy):
            found.append("the healthy run is not started")
        with contextlib.suppress(commands.Refused):
            commands.ask_of_run(folder.id, commands.RESUME)
        self._launches(supervisor, folder)
        if not self._launches(supervisor, self.healthy):
            found.append("the healthy run is not started beside it")
        return found

    def _launches(self, supervisor: Supervisor, folder: RunFolder) -> bool:
        """Whether the supervisor starts it within some looks; it is ended at once and put back into the queue."""
        for _ in range(4):
            supervisor.tick()
            child = supervisor.children.pop(folder.id, None)
            if child is not None:
                child.kill()
                child.wait()
                again = "queued" if folder.id == self.healthy.id else "failed"
                with registry.write_registry() as index:
                    index.execute("UPDATE run SET state = ?, boot = NULL, pid = NULL, started = NULL, tag = NULL "
                                  "WHERE id = ?", [again, folder.id])  # fmt: skip
                return True
        return False
