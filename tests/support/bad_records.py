"""Runs whose records are not what a page hopes for. `make_all()` makes one of each in this home."""

from __future__ import annotations

import math
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from groupwise.storage.home import db, migrations, paths
from groupwise.storage.library import repair
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import registry
from tests.support.bulk import Made, empty_record, write_run
from tests.support.made_runs import curves, made_run

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "<img src=x onerror=window.pwned=1><img src=http://192.0.2.1/pixel.png>",
    "${window.pwned = 1}{{window.pwned = 1}}<%= 1 %>`${window.pwned = 1}`",
    "\"'><svg onload=window.pwned=1></svg><iframe src=javascript:window.pwned=1>",
    "[x](javascript:window.pwned=1) ![x](http://192.0.2.1/pixel.png)",
    "\u202eright to left\u202c \x00\x07\x1b[31mcontrol\x1b[0m \r\n שלום مرحبا",
    "</textarea></pre></style></script><style>*{display:none}</style>",
    "\ud800 %s %(x)s {0} \\ NULL '; DROP TABLE grp; --",
]
LONG = "wordier " * 12_500  # 100,000 characters
UNBROKEN = "x" * 100_000
MANY = 30_000  # steps of the longest record here; bench/understand.py has a million
WORKS = "works"  # the name of a run beside which the bad ones are compared


def groupless() -> str:
    return made_run("no completions", 30, groups=0)


def stepless() -> str:
    """The record of a run that ended before its first step."""
    run_id = made_run("no step", 0, groups=0)
    with closing(sqlite3.connect(paths.run_folder(run_id).db)) as record, record:
        for table in ("metric", "acknowledged", "event"):
            record.execute(f"DELETE FROM {table}")
    return run_id


def one_step() -> str:
    return made_run("one step", 1, groups=1, size=2)


def one_completion() -> str:
    """Groups of one: no spread, no advantage."""
    return made_run("groups of one", 5, groups=2, size=1)


def odd_numbers() -> str:
    """Metrics, scores and rewards that are NaN, infinite, huge, tiny or missing."""
    odd = [math.nan, math.inf, -math.inf, 3e38, -3e38, 1e-45, None]

    def metrics(step: int) -> dict[str, float | None]:
        names = ("reward", "loss", "kl", "grad_norm", "entropy", "num_tokens", "time/elapsed", "step_time")
        return {name: odd[(step + n) % len(odd)] for n, name in enumerate(names)} | {"nothing": None, "never": math.nan}

    def group(step: int, n: int) -> Group:
        made = [
            Completion(f"{k}", step, bool(step % 2), value, 0.0 if value is None else value, [(value, "ok")] * 2)
            for k, value in enumerate(odd if n else [None] * 4)
        ]
        for completion in made:  # worker.training.capture writes it so
            completion.advantage = completion.advantage if math.isfinite(completion.advantage) else 0.0
        return Group("train", step, "1+1?", {"answer": None, "odd": str(math.nan)}, made)

    return made_run("odd numbers", 40, groups=2, metrics=metrics, make_group=group)


def late_metrics() -> str:
    """A metric that comes once, at the end, one that stops early, and one with gaps."""
    rng = random.Random(0)

    def metrics(step: int) -> dict[str, float | None]:
        values = {name: value for name, value in curves(step, 60, rng).items() if name == "reward" or step > 50}
        return values | ({"once": 1.0} if step == 60 else {}) | ({"early": 1.0} if step < 3 else {})

    return made_run("late metrics", 60, metrics=metrics)


def deleted_folder() -> str:
    run_id = made_run("deleted folder", 20)
    shutil.rmtree(paths.run_folder(run_id).path)
    return run_id


def no_record() -> str:
    """The folder is there, its run.db is not."""
    run_id = made_run("no record", 20)
    for path in paths.run_folder(run_id).path.glob("run.db*"):
        path.unlink()
    return run_id


def no_spec() -> str:
    run_id = made_run("no spec", 20)
    paths.run_folder(run_id).spec.write_text("rewards: [: {{ nothing\n")
    return run_id


def older() -> str:
    """A run.db of the first version: no full text, no index by reward, nothing that functions logged."""
    run_id = made_run("older", 20, eval_every=5)
    path = paths.run_folder(run_id).db
    old = path.with_name("old.db")
    made = db.open_writer(old, journal="wal")
    migrations.record.apply(made, stop_before="d002_what_functions_logged")
    made.execute("ATTACH ? AS new", [str(path)])
    tables = [row[0] for row in made.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()]
    with made.atomic():
        for table in tables:
            if not table.startswith("_"):
                made.execute(f"INSERT INTO main.{table} SELECT * FROM new.{table}")
        own = "SELECT id FROM metric_key WHERE name GLOB 'groups/*' OR name GLOB 'eval_groups/*' OR name GLOB 'time/*'"
        made.execute(f"DELETE FROM metric WHERE key IN ({own})")  # this product's own metrics came later, too
        made.execute(f"DELETE FROM metric_key WHERE id IN ({own})")
    made.close()
    _drop(path)
    old.rename(path)
    return run_id


def half_copied() -> str:
    """A copy that was cut off in the middle of the file."""
    return _cut("half copied", 0.5)


def begun_copy() -> str:
    """Only the first page came: the tables are there by name, and nothing behind them."""
    return _cut("begun copy", 0.0)


def no_database() -> str:
    run_id = made_run("no database", 20)
    path = paths.run_folder(run_id).db
    _drop(path)
    path.write_text("<html>404 not found</html>\n" * 400)
    return run_id


def long_texts() -> str:
    """Completions and a prompt of 100,000 characters, with and without places to break a line."""

    def group(step: int, n: int) -> Group:
        texts = [LONG, UNBROKEN, "<think>" * 12_000, "\n" * 100_000, LONG + "!", "short"]
        made = [
            Completion(text, 30_000, True, float(i), 0.0, [(0.5, "ok"), (float(i), "ok")])
            for i, text in enumerate(texts)
        ]
        return Group("train", step, [{"role": "user", "content": LONG}], {"answer": UNBROKEN}, made)

    return made_run("long texts", 3, groups=1, make_group=group)


def hostile() -> str:
    """Everything that a person or a model can write, written to do harm; also the names of metrics and functions."""
    run_id = made_run("hostile", 0, groups=0)
    writer = RunWriter(paths.run_folder(run_id).db, 1, {HOSTILE[1]: 1.0, HOSTILE[2]: 2.0})
    for step in range(1, 9):
        completions = [
            Completion(text, 9, False, float(n % 3), n - 1.0, [(float(n % 3), "ok"), (None, HOSTILE[0])],
                       {HOSTILE[3]: text})
            for n, text in enumerate(HOSTILE)
        ]  # fmt: skip
        groups = [
            Group("train", step, [{"role": text, "content": text}], {text.replace("\ud800", "?"): text}, completions)
            for text in HOSTILE
        ]
        metrics: dict[str, float | None] = {"reward": 1.0, f"rewards/{HOSTILE[0]}/mean": 0.5, "kl": 0.1}
        metrics |= {text.replace("\ud800", "?"): 0.1 * step for text in HOSTILE}
        writer.commit(step, metrics=metrics, groups=groups, events=[Event("warning", text) for text in HOSTILE])
    writer.close()
    name = "".join(HOSTILE)[:80].replace("\ud800", "?")
    with registry.write_registry() as index:
        index.execute("UPDATE run SET name = ?, model = ?, data = ?, sentence = ? WHERE id = ?",
                      [name, HOSTILE[1], HOSTILE[2], " ".join(HOSTILE[:7]), run_id])  # fmt: skip
    return run_id


def very_long() -> str:
    made = Made(1, "very-long", MANY, 3, groups=1, every=1000)
    empty = paths.home() / "empty.db"
    empty_record(empty)
    write_run(made, empty)
    repair.adopt_folders()
    return made.id


def resumed_over() -> str:
    """A second attempt that began before the first one's end, whose own record was cut short."""
    return made_run("resumed over", 30, resumed_at=15, eval_every=10)


MAKERS: dict[str, Callable[[], str]] = {
    make.__name__: make
    for make in (
        groupless, stepless, one_step, one_completion, odd_numbers, late_metrics, deleted_folder, no_record, no_spec,
        older, half_copied, begun_copy, no_database, long_texts, hostile, very_long, resumed_over,
    )
}  # fmt: skip
# Those of which nothing can be read, and a word of what must be said of each.
UNREADABLE = {
    "stepless": "before|recorded|No ", "deleted_folder": "deleted",
    "no_record": "run.db is missing|the record cannot be read",
    "half_copied": "malformed|damaged|cannot be read|could not be read|recorded",
    "begun_copy": "damaged|cannot be read|recorded|before|No ", "no_database": "not a database|cannot be read",
}  # fmt: skip


def make_all() -> dict[str, str]:
    """Kind → run id, with one healthy run, `works`, among them."""
    return {WORKS: made_run(WORKS, 20)} | {kind: make() for kind, make in MAKERS.items()}


def _cut(name: str, share: float) -> str:
    run_id = made_run(name, 40)
    path = paths.run_folder(run_id).db
    with closing(sqlite3.connect(path)) as record:
        record.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    _drop(path)
    path.write_bytes(data[: max(4096, int(len(data) * share))])
    return run_id


def _drop(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
