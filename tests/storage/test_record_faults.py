"""run.db when processes die, files are locked and disks are full: nothing acknowledged is ever lost or doubled."""

from __future__ import annotations

import math
import random
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.record import attempts, groups, metrics, record
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Checkpoint, Completion, Group
from groupwise.storage.registry import commands, registry
from tests.conftest import Start
from tests.support.records import WEIGHTS, group, rows
from tests.support.runs import make_spec, queue


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


WRITER = """
import sys
from pathlib import Path
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.record.record import RunWriter
writer = RunWriter(Path(sys.argv[1]), int(sys.argv[2]), {"f": 1.0})
for step in range(1, 100000):
    one = Group("train", step, f"p{step % 7}", {}, [Completion("x" * 500, 3, False, 0.5, 0.0, [(0.5, "ok")])] * 8)
    writer.commit(step, metrics={f"m{i}": step + i / 100 for i in range(20)}, groups=[one], events=[Event("e", "x")])
    print(step, flush=True)
"""


@pytest.mark.parametrize("attempt", range(1, 21))
def test_kill_9_at_any_point_loses_no_acknowledged_step(start: Start, path: Path, attempt: int):
    child = start("-c", WRITER, str(path), str(attempt))
    assert child.stdout is not None
    for _ in range(random.Random(attempt).randint(1, 60)):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    acknowledged = [int(line) for line in child.stdout.read().splitlines() if line]
    child.wait()
    assert rows(path, "PRAGMA quick_check") == [("ok",)]
    (last,) = rows(path, "SELECT max(step) FROM acknowledged")[0]
    assert last >= max(acknowledged, default=1)
    everything = list(range(1, last + 1))
    assert [step for (step,) in rows(path, "SELECT step FROM acknowledged ORDER BY seq")] == everything
    for sql in ("SELECT step FROM grp ORDER BY id", "SELECT step FROM event ORDER BY id"):
        assert [step for (step,) in rows(path, sql)] == everything
    assert rows(path, "SELECT count(*), count(DISTINCT step) FROM metric") == [(20 * last, last)]
    assert rows(path, "SELECT count(*) FROM completion") == [(8 * last,)]
    RunWriter(path, attempt + 1, {"f": 1.0}).close()  # and the next attempt can go on


LOCKER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
other.execute("ROLLBACK")
print("free", flush=True)
sys.stdin.readline()
"""


def test_what_a_locked_file_refuses_is_spilled_and_later_there_exactly_once(
    start: Start, path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(record, "PATIENCE", 0.2)
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(1, metrics={"reward": 0.1}, groups=[group(1, [1.0])])
    other = start("-c", LOCKER, str(path), stdin=subprocess.PIPE)
    assert other.stdin is not None and other.stdout is not None and other.stdout.readline() == "locked\n"
    for step in (2, 3, 4):
        writer.commit(step, metrics={"reward": step / 10}, groups=[group(step, [1.0], prompt=f"new {step}")])
    spill = path.with_name("run.spill.jsonl")
    assert spill.exists() and metrics.progress(path)["step"] == 1
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "free\n"
    writer.commit(5, metrics={"reward": 0.5}, groups=[group(5, [1.0])])
    writer.close()
    assert not spill.exists()
    assert rows(path, "SELECT seq, step FROM acknowledged") == [(n, n) for n in range(1, 6)]
    assert rows(path, "SELECT step, value FROM metric") == [(n, n / 10) for n in range(1, 6)]
    assert rows(path, "SELECT id, step FROM grp ORDER BY id") == [(n, n) for n in range(1, 6)]
    events = metrics.events(path)
    assert [(e["kind"], e["step"]) for e in events] == [("storage", 2)] and "could not be written" in events[0][
        "message"
    ]


def test_a_spill_that_a_crash_left_is_written_by_the_next_attempt(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(1, metrics={"reward": 0.1})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.commit(2, metrics={"reward": 0.2}, groups=[group(2, [1.0])], checkpoint=Checkpoint(2, "c", 1))
    writer.commit(3, metrics={"reward": math.nan})
    other.execute("ROLLBACK")
    other.close()
    writer._db.close()  # as a crash would: nothing more is written
    spill = path.with_name("run.spill.jsonl")
    with spill.open("a") as file:
        file.write('\n{"seq": 4, "att')  # cut off in the middle of a write
    again = RunWriter(path, 2, WEIGHTS)
    again.commit(3, metrics={"reward": 0.3})
    again.close()
    assert not spill.exists()
    acknowledged = rows(path, "SELECT seq, attempt, step FROM acknowledged")
    assert acknowledged == [(1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 3)]
    assert [c["step"] for c in metrics.checkpoints(path)] == [2] and len(groups.at_step(path, 2)) == 1
    assert metrics.read_metrics(path)["curves"]["reward"] == {"x": [1, 2, 3], "y": [0.1, 0.2, 0.3]}


def test_a_spill_that_was_written_just_before_a_crash_is_not_doubled(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    writer = RunWriter(path, 1, WEIGHTS)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.commit(1, metrics={"reward": 0.1}, groups=[group(1, [1.0])])
    other.execute("ROLLBACK")
    spill = path.with_name("run.spill.jsonl")
    kept = spill.read_text()
    writer.commit(2, metrics={"reward": 0.2})
    writer.close()
    spill.write_text(kept)  # the crash came between the commit and the removal
    again = RunWriter(path, 2, WEIGHTS)
    again.commit(3, metrics={"reward": 0.3})
    again.close()
    assert rows(path, "SELECT seq, step FROM acknowledged") == [(1, 1), (2, 2), (3, 3)]
    assert rows(path, "SELECT count(*) FROM grp") == [(1,)]
    assert [event["kind"] for event in metrics.events(path)] == ["storage"]


def test_what_a_stage_does_not_score_is_not_stored_nor_mixed_up_in_a_spill(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    writer = RunWriter(path, 1, WEIGHTS)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for step, scores in ((1, [(1.0, "ok"), record.ABSENT]), (2, [record.ABSENT, (0.5, "ok")])):
        scored = group(step, [1.0])
        scored.completions[0].scores = scores
        writer.commit(step, groups=[scored])
    other.execute("ROLLBACK")
    other.close()
    writer._db.close()  # as a crash would: the spill is all there is
    attempts.drain(path)
    scores = "SELECT grp, name, value, status FROM score JOIN reward_function ON id = function ORDER BY grp"
    assert rows(path, scores) == [(1, "format", 1.0, "ok"), (2, "correctness", 0.5, "ok")]


def test_a_spill_with_no_whole_line_keeps_nobody_waiting(path: Path) -> None:
    """As a disk leaves it that was full at once: there is nothing to drain."""
    RunWriter(path, 1, WEIGHTS).close()
    record.spill_of(path).write_text('\n{"seq": 1, "attempt": 1, "st')
    assert attempts.drain(path)
    assert not record.spill_of(path).exists()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from groupwise.storage.record.record import RunWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as on a full disk: the write fails, nobody is killed
path = Path(sys.argv[1])
writer = RunWriter(path, 1, {"f": 1.0})
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
for step in range(1, 31):
    if step == 5:
        limit(1024)
    if step == 25:
        limit(resource.RLIM_INFINITY)
    writer.commit(step, metrics={f"m{i}": float(step) for i in range(20)})
writer.close()
"""


def test_a_full_disk_ends_nothing_and_loses_nothing(tmp_path: Path, start: Start) -> None:
    """Neither run.db nor the spill beside it can grow for twenty steps; then they can again."""
    path = tmp_path / "run.db"
    writing = start("-c", FULL_DISK, str(path))
    out, errors = writing.communicate(timeout=60)
    assert writing.returncode == 0, errors
    assert "held in memory only" in out
    curve = metrics.read_metrics(path)["curves"]["m7"]
    assert curve == {"x": list(range(1, 31)), "y": [float(step) for step in range(1, 31)]}
    assert [event["kind"] for event in metrics.events(path)] == ["storage"]
    assert not (tmp_path / "run.spill.jsonl").exists()


def test_what_is_left_at_the_end_is_written_by_close_or_by_drain(path: Path, monkeypatch: pytest.MonkeyPatch):
    """A finished run has no next attempt that would write it. Line separators inside a text are text."""
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    for crash in (False, True):
        place = path.with_name(f"{crash}.db")
        writer = RunWriter(place, 1, {"format": 1.0, "other": 2.0})
        other = sqlite3.connect(place, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        completion = Completion("a\u2028b\u0085c", 3, False, 1.0, 0.5, [(1.0, "ok"), (None, "none")])
        for step in (1, 2, 3):
            writer.commit(step, metrics={"reward": 1.0}, groups=[Group("train", step, "p", {}, [completion])])
        other.execute("ROLLBACK")
        other.close()
        if crash:
            writer._db.close()
            with record.spill_of(place).open("a") as spill:
                spill.write('\n{"seq": 9, "att')
            attempts.drain(place)
        else:
            writer.close()
        assert metrics.read_metrics(place)["curves"]["reward"]["x"] == [1, 2, 3]
        one = groups.read_group(place, 3)
        assert one is not None and one["completions"][0]["text"] == "a\u2028b\u0085c"
        assert [s["name"] for s in one["completions"][0]["scores"]] == ["format", "other"]
        assert not record.spill_of(place).exists()


KILLED_WRITER = """
import os, signal
from groupwise.storage.registry import registry
with registry.write_registry() as db:
    db.execute("PRAGMA cache_size = 1")
    db.execute("UPDATE run SET sentence = 'half written'")
    for n in range(200):
        db.execute("INSERT INTO published (key, value, at) VALUES (?, ?, 0)", [f"big {n}", "x" * 4000])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_registry_whose_writer_was_killed_is_read_as_it_was_before(registry_home: Path, start: Start):
    """With its journal left behind, SQLite lets nobody read who could not also take back what is half written."""
    folder = queue(make_spec())
    before = registry.get_run(folder.id)
    start("-c", KILLED_WRITER).wait()
    assert paths.registry_path().with_name("registry.db-journal").stat().st_size > 0
    assert registry.get_run(folder.id) == before
    with registry.read_registry() as reader:
        assert reader.execute("SELECT count(*) FROM published").fetchone() == (0,)
    assert commands.StopFlag(folder.id, 1).is_set() is False
    with pytest.raises(sqlite3.OperationalError), registry.read_registry() as reader:
        reader.execute("UPDATE run SET sentence = 'written by a reader'")
