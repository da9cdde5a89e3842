"""run.db, the writing side: what one training process records, one synchronous transaction a step.

The only writer of the file. What cannot be written (a full disk, a locked file) is spilled beside it and written
later, under the numbers it was given at first, so that nothing is lost and nothing doubled.
"""

import hashlib
import math
import os
import sqlite3
import time
from pathlib import Path

from groupwise.storage.home import db, migrations
from groupwise.storage.home.redaction import to_json
from groupwise.storage.record import lineage, totals
from groupwise.storage.record.rollup import Rollup
from groupwise.storage.record.step_record import Batch, Checkpoint, Event, Group, read_lines
from groupwise.storage.spec.words.number_words import count_words

PATIENCE = 5.0  # seconds to wait for a locked file before spilling
ABSENT = (None, "absent")  # in place of a score of a function that this stage does not use; it is not stored


class RecordError(sqlite3.DatabaseError):
    """A record cannot be written by this version of Groupwise; the message says why and what to do."""


class RunWriter:
    """Writes one attempt of one run."""

    def __init__(self, path: Path, attempt: int, weights: dict[str, float], patience: float | None = None) -> None:
        """Open or make the file. Raises RecordError where it is not to be written, else sqlite3.DatabaseError.

        `weights` names the reward functions, in order, with their weights: those of all stages, where a run has them
        (what a stage weighs otherwise is in its “stage” event). `patience`: seconds to wait for a locked file, if not
        as long as a training does.
        """
        self.attempt = attempt
        self._spill = spill_of(path)
        self._db = db.open_writer(path, journal="wal", patience=PATIENCE if patience is None else patience)
        if not set(migrations.applied_migrations(self._db, migrations.record)) <= set(
            migrations.names(migrations.record)
        ):
            self._db.close()
            raise RecordError("a newer version of Groupwise has written it: update Groupwise, then resume")
        migrations.record.apply(self._db)
        self._functions = self._register_functions(weights)
        self._keys: dict[str, int] = dict(self._db.execute("SELECT name, id FROM metric_key").fetchall())
        self._prompts: dict[str, int] = {}
        self._rollup = Rollup()
        self._unwritten = self._take_up()
        self._spilled = len(self._unwritten)  # how many of them, the first ones, are safe in the spill
        left = [(batch.seq, [group.id for group in batch.groups]) for batch in self._unwritten]
        self._seq = max([self._highest("acknowledged", "seq"), *(seq for seq, _ in left)])
        self._group = max([self._highest("grp", "id"), *(id for _, ids in left for id in ids)])

    def commit(
        self,
        step: int,
        *,
        metrics: dict[str, float | None] | None = None,
        groups: list[Group] | None = None,
        events: list[Event] | None = None,
        checkpoint: Checkpoint | None = None,
        at: float | None = None,
        of: int | None = None,
    ) -> None:
        """Write everything of one step in one transaction; it is on the disk when this returns. `at`: when it was, if
        that is not now. `of`: the attempt that the metrics and groups are of, if that is an earlier one.

        A write that fails is spilled beside the file (with an event that says so) and tried again next time.
        """
        metrics = metrics or {}
        self._seq += 1
        for group in groups or []:
            self._group += 1
            group.id = self._group
        batch = Batch(
            self._seq, self.attempt, step, at or time.time(), metrics,
            [] if of else self._rollup.take(step, metrics), groups or [], events or [], checkpoint, of,
        )  # fmt: skip
        try:
            self._write([*self._unwritten, batch])
        except sqlite3.DatabaseError as error:
            if type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
                raise  # not the disk, but a mistake of ours
            self._set_aside(batch, error)
        else:
            if self._unwritten:
                self._forget_spill()

    def _take_up(self) -> list[Batch]:
        """What the last attempt left beside the file. What does not fit into it (the record is another, or it is no
        run's) is set aside, or it would keep this attempt's from being written for ever."""
        found = read_lines(self._spill)
        try:
            if not all(len(c.scores) == len(self._functions) for b in found for g in b.groups for c in g.completions):
                raise sqlite3.IntegrityError("scores of other functions")
            self._write(found)
        except sqlite3.IntegrityError:
            self._spill.replace(self._spill.with_name("run.spill.damaged.jsonl"))
            return []
        except sqlite3.DatabaseError:
            return found  # locked, or the disk is full: later
        self._spill.unlink(missing_ok=True)
        return []

    def reward_range(self) -> tuple[float, float] | None:
        """The least and the greatest total reward recorded so far; None before there is one."""
        low, high = self._db.execute("SELECT min(low), max(high) FROM grp").fetchone()
        return None if low is None else (low, high)

    def last_value(self, metric: str, step: int) -> float | None:
        """What a metric last was at a step or before; None where it was not logged."""
        row = self._db.execute(
            "SELECT value FROM metric JOIN metric_key ON id = key WHERE name = ? AND step <= ? "
            "ORDER BY step DESC, attempt DESC LIMIT 1",
            [metric, step],
        ).fetchone()
        return row[0] if row else None

    def last_total(self, metric: str, step: int) -> float | None:
        """What a total came to up to a step, counted on where it began anew; None where it was not logged."""
        return totals.last_total(self._db, metric, lineage.stretches(self._db), step)

    def trainer_of(self, step: int) -> int | None:
        """The attempt before this one that trained the step that this one goes on from; None where none is known."""
        began = "SELECT max(step) FROM event WHERE kind = 'begin' AND attempt = trained.attempt"
        found = self._db.execute(
            "SELECT max(attempt) FROM acknowledged AS trained WHERE step = ? AND attempt < ? "
            f"AND coalesce(({began}), 0) < step",
            [step, self.attempt],
        )
        return found.fetchone()[0]

    def has_value(self, metric: str, step: int, attempt: int | None) -> bool:
        """Whether a metric is recorded for a step of an attempt, be it as no number."""
        found = self._db.execute(
            "SELECT 1 FROM metric JOIN metric_key ON id = key WHERE name = ? AND attempt = ? AND step = ?",
            [metric, attempt, step],
        )
        return found.fetchone() is not None

    def has_event(self, kind: str, at: float) -> bool:
        """Whether an event of this kind and moment is recorded."""
        return self._db.execute("SELECT 1 FROM event WHERE kind = ? AND at = ?", [kind, at]).fetchone() is not None

    def catch_up(self) -> bool:
        """Try again to write what neither the file nor the spill has taken; whether nothing is in memory only."""
        if self._spilled < len(self._unwritten) and not self._caught_up():
            self._spill_rest()
        return self._spilled == len(self._unwritten)

    def _caught_up(self) -> bool:
        try:
            self._write(self._unwritten)
        except sqlite3.DatabaseError:
            return False
        self._forget_spill()
        return True

    def close(self) -> int:
        """Close the file, after one more try at what it has not taken yet; how many steps are lost, neither in it nor
        in the spill, which the next attempt writes."""
        try:
            if not self._unwritten:
                self._spill.unlink(missing_ok=True)  # of a disk that was full before the first line was whole
            elif not self._caught_up():
                self._spill_rest()
            return len(self._unwritten) - self._spilled
        finally:
            self._db.close()

    def _highest(self, table: str, column: str) -> int:
        return self._db.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0]

    def _register_functions(self, weights: dict[str, float]) -> list[int]:
        with self._db.atomic():
            for name, weight in weights.items():
                self._db.execute(
                    "INSERT INTO reward_function (name, weight) VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET weight = excluded.weight",
                    [name, weight],
                )
        ids = dict(self._db.execute("SELECT name, id FROM reward_function").fetchall())
        return [ids[name] for name in weights]

    def _write(self, batches: list[Batch]) -> None:
        with self._db.atomic():
            for batch in batches:
                known = self._db.execute("SELECT 1 FROM acknowledged WHERE seq = ?", [batch.seq]).fetchone()
                if not known:
                    self._insert(batch)

    def _insert(self, batch: Batch) -> None:
        run_many = self._db.conn.executemany
        owner = batch.of or batch.attempt
        self._db.conn.execute(
            "INSERT INTO acknowledged (seq, attempt, step, at) VALUES (?, ?, ?, ?)",
            [batch.seq, batch.attempt, batch.step, batch.at],
        )
        if batch.metrics:
            run_many(
                "INSERT OR REPLACE INTO metric (key, attempt, step, value) VALUES (?, ?, ?, ?)",
                [(self._key(name), owner, batch.step, value) for name, value in batch.metrics.items()],
            )
        if batch.rollups:
            run_many(
                "INSERT OR REPLACE INTO rollup (size, key, attempt, bucket, n, total, low, high) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(size, self._key(name), batch.attempt, *rest) for size, name, *rest in batch.rollups],
            )
        if batch.groups:
            self._insert_groups(batch)
        for event in batch.events:
            self._db.conn.execute(
                "INSERT INTO event (at, attempt, step, kind, message, data) VALUES (?, ?, ?, ?, ?, ?)",
                [batch.at, batch.attempt, batch.step, event.kind, event.message, to_json(event.data)],
            )
        if batch.checkpoint:
            saved = batch.checkpoint
            self._db.conn.execute(
                "INSERT OR REPLACE INTO checkpoint (step, attempt, at, path, bytes) VALUES (?, ?, ?, ?, ?)",
                [saved.step, batch.attempt, batch.at, saved.path, saved.bytes],
            )

    def _insert_groups(self, batch: Batch) -> None:
        groups, completions, scores, extras = [], [], [], []
        for group in batch.groups:
            rewards = [c.reward for c in group.completions if c.reward is not None]
            groups.append(
                (
                    group.id,
                    batch.of or batch.attempt,
                    group.mode,
                    group.step,
                    self._prompt(group),
                    len(group.completions),
                    *mean_and_std(rewards),
                    min(rewards, default=None),
                    max(rewards, default=None),
                )  # fmt: skip
            )
            for index, c in enumerate(group.completions):
                completions.append((group.id, index, c.text, c.tokens, c.truncated, c.reward, c.advantage))
                if c.extra:
                    extras.append((group.id, index, to_json(c.extra)))
                scores += [
                    (group.id, index, function, value, status)
                    for function, (value, status) in zip(self._functions, c.scores, strict=True)
                    if status != ABSENT[1]
                ]
        run_many = self._db.conn.executemany
        run_many(
            "INSERT INTO grp (id, attempt, mode, step, prompt, size, mean, std, low, high) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            groups,
        )
        run_many(
            "INSERT INTO completion (grp, idx, text, tokens, truncated, reward, advantage) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            completions,
        )
        # what a search looks in; SQLite keeps no texts there, only where their words stand
        run_many(
            "INSERT INTO completion_text (rowid, text) SELECT id, text FROM completion WHERE grp = ?",
            [(group.id,) for group in batch.groups],
        )
        run_many("INSERT INTO score (grp, idx, function, value, status) VALUES (?, ?, ?, ?, ?)", scores)
        run_many("INSERT INTO extra (grp, idx, columns) VALUES (?, ?, ?)", extras)

    def _key(self, name: str) -> int:
        if name not in self._keys:
            self._db.conn.execute("INSERT OR IGNORE INTO metric_key (name) VALUES (?)", [name])
            found = self._db.conn.execute("SELECT id FROM metric_key WHERE name = ?", [name]).fetchone()
            self._keys[name] = found[0]
        return self._keys[name]

    def _prompt(self, group: Group) -> int:
        prompt, columns = to_json(group.prompt), to_json(group.columns)
        digest = hashlib.sha256(f"{prompt}\0{columns}".encode()).hexdigest()
        if digest not in self._prompts:
            self._db.conn.execute(
                "INSERT OR IGNORE INTO prompt (hash, prompt, columns) VALUES (?, ?, ?)", [digest, prompt, columns]
            )
            found = self._db.conn.execute("SELECT id FROM prompt WHERE hash = ?", [digest]).fetchone()
            self._prompts[digest] = found[0]
        return self._prompts[digest]

    def _set_aside(self, batch: Batch, error: sqlite3.DatabaseError) -> None:
        """Keep the batch in memory and, where the disk lets us, beside the file, until the file takes it."""
        self._prompts.clear()  # both may name rows that were rolled back
        self._keys.clear()
        if not self._unwritten:
            message = f"run.db could not be written ({error}); kept beside it until it can be."
            batch.events.insert(0, Event("storage", message))
            self._db.conn.execute("PRAGMA busy_timeout = 50")  # while it lasts, a step waits only a moment
        self._unwritten.append(batch)
        self._spill_rest()

    def _spill_rest(self) -> None:
        """Append to the spill what is in memory only. After a write that was cut off, the same again: lines that are
        not whole are left out when it is read, and one batch is never written twice."""
        try:
            with self._spill.open("a", encoding="utf-8") as file:
                for batch in self._unwritten[self._spilled :]:
                    file.write("\n" + batch.to_line())  # the newline first: it also ends a line that was cut off
                file.flush()
                os.fsync(file.fileno())
            self._spilled = len(self._unwritten)
        except OSError as error:
            steps = len(self._unwritten) - self._spilled
            print(f"groupwise: {count_words(steps, 'step')} held in memory only: {error}", flush=True)

    def _forget_spill(self) -> None:
        self._unwritten.clear()
        self._spilled = 0
        self._spill.unlink(missing_ok=True)
        self._db.conn.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")


def mean_and_std(rewards: list[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation (as torch.std, and so TRL, has it); None where there is none."""
    if not rewards:
        return None, None
    mean = sum(rewards) / len(rewards)
    if len(rewards) < 2:
        return mean, None
    return mean, math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1))


def spill_of(path: Path) -> Path:
    """Where what run.db could not take is kept."""
    return path.with_name("run.spill.jsonl")
