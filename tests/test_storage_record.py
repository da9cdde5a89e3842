"""run.db: a step is there whole or not at all, and nothing acknowledged is ever lost or doubled."""

from __future__ import annotations

import json
import math
import random
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from storage import db, groups, record, series
from storage.batch import Checkpoint, Completion, Event, Group
from storage.record import RunWriter, mean_and_std
from tests.conftest import Start

WEIGHTS = {"format": 1.0, "correctness": 2.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def group(step: int, rewards: list[float | None], *, prompt: str = "1+1?", mode: str = "train") -> Group:
    completions = [
        Completion(f"answer {index}", 5, False, reward, 0.5, [(reward, "ok"), (None, "error")])
        for index, reward in enumerate(rewards)
    ]
    return Group(mode, step, [{"role": "user", "content": prompt}], {"answer": "2"}, completions)


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    reader = db.open_reader(path)
    try:
        return reader.execute(sql).fetchall()
    finally:
        reader.close()


# --- one step, one transaction


def test_all_of_a_step_is_there_or_none_of_it(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(1, metrics={"loss": 0.1}, groups=[group(1, [1.0, 0.0])], events=[Event("note", "hello", {"a": 1})])
    before = [rows(path, f"SELECT count(*) FROM {table}") for table in ("metric", "grp", "completion", "event")]
    bad = group(2, [1.0])
    bad.completions[0].scores = [(1.0, "ok")]  # one score short: the last thing a step writes
    with pytest.raises(ValueError, match="zip"):
        writer.commit(2, metrics={"loss": 0.2}, groups=[bad], events=[Event("note", "lost")])
    after = [rows(path, f"SELECT count(*) FROM {table}") for table in ("metric", "grp", "completion", "event")]
    assert before == after and rows(path, "SELECT step FROM acknowledged") == [(1,)]
    writer.close()


def test_a_reader_sees_a_step_as_soon_as_commit_returns(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step in range(1, 4):
        writer.commit(step, metrics={"reward": step / 10})
        assert series.progress(path)["step"] == step
    writer.close()


def test_a_commit_is_flushed_to_the_disk(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    assert writer._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert writer._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    writer.close()


def test_a_group_reads_back_as_it_was_written(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(3, groups=[group(3, [1.0, 0.0, None]), group(3, [0.5, 0.5], prompt="é😀\0 'x'")])
    writer.close()
    first, second = groups.at_step(path, 3)
    assert (first["mean"], first["low"], first["high"], first["tied"]) == (0.5, 0.0, 1.0, False)
    assert first["std"] == pytest.approx(math.sqrt(0.5)) and second["tied"] and second["std"] == 0.0
    whole = groups.one(path, first["id"])
    assert whole is not None and [c["reward"] for c in whole["completions"]] == [1.0, 0.0, None]
    assert whole["completions"][0]["scores"] == [
        {"name": "format", "weight": 1.0, "value": 1.0, "status": "ok"},
        {"name": "correctness", "weight": 2.0, "value": None, "status": "error"},
    ]
    assert whole["columns"] == {"answer": "2"} and groups.one(path, 99) is None


def test_half_characters_do_not_stop_a_run(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record, "PATIENCE", 0.05)
    odd = group(1, [1.0], prompt="half \ud83d")
    odd.completions[0].text = "half \ude00"
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(1, groups=[odd], events=[Event("note", "\udcff.txt", {"name": "\udcff"})])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.commit(2, groups=[odd])  # spilled
    other.close()
    writer.commit(3)
    writer.close()
    assert (
        rows(path, "SELECT text FROM completion") == [("half ?",)] * 2 and series.events(path)[0]["message"] == "?.txt"
    )


def test_the_same_prompt_is_kept_once_and_followed_down_the_steps(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step in (1, 2, 5):
        writer.commit(step, groups=[group(step, [float(step)]), group(step, [0.0], prompt="other")])
    writer.close()
    assert rows(path, "SELECT count(*) FROM prompt") == [(2,)]
    whole = groups.one(path, groups.at_step(path, 2)[0]["id"])
    assert whole is not None and [(h["step"], h["mean"]) for h in whole["history"]] == [(1, 1.0), (2, 2.0), (5, 5.0)]
    assert groups.nearest(path, 4) == {"step": 2, "earlier": 1, "later": 5}
    assert groups.nearest(path, 0) == {"step": 1, "earlier": None, "later": 2}
    assert groups.span(path) == (1, 5) and groups.span(path, "eval") is None


def test_events_and_checkpoints_read_back(path: Path):
    writer = RunWriter(path, 2, WEIGHTS)
    writer.commit(0, events=[Event("begin", "60 steps", {"total": 60})])
    writer.commit(20, checkpoint=Checkpoint(20, "checkpoints/checkpoint-20", 99))
    writer.commit(40, checkpoint=Checkpoint(40, "checkpoints/checkpoint-40", 99))
    writer.close()
    assert [(e["kind"], e["attempt"]) for e in series.events(path)] == [("begin", 2)]
    assert [c["step"] for c in series.checkpoints(path)] == [40, 20]
    found = series.progress(path)
    assert (found["attempt"], found["step"], found["total"], found["begun"]) == (2, 40, 60, True)
    assert found["reward"] is None and found["spark"] == []


# --- what is not a number


def test_values_that_are_not_finite_are_kept_apart_and_never_plotted(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step, value in enumerate([1.0, math.nan, math.inf, -math.inf, None, 2.0], 1):
        writer.commit(step, metrics={"reward": value}, groups=[group(step, [value, 1.0])])
    writer.close()
    curve = series.read(path)["curves"]["reward"]
    assert curve == {"x": [1, 2, 3, 4, 5, 6], "y": [1.0, None, None, None, None, 2.0]}
    json.dumps(curve, allow_nan=False)
    assert rows(path, "SELECT value FROM metric WHERE step IN (3, 4)") == [(math.inf,), (-math.inf,)]
    assert series.progress(path)["reward"] == 1.5


@pytest.mark.parametrize(
    ("values", "mean", "std"), [([], None, None), ([2.0], 2.0, None), ([1.0, 3.0], 2.0, math.sqrt(2))]
)
def test_mean_and_std_are_torch_s(values: list[float], mean: float | None, std: float | None):
    assert mean_and_std(values) == (mean, std)


# --- faults


WRITER = """
import sys
from pathlib import Path
from storage.batch import Completion, Event, Group
from storage.record import RunWriter
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
    assert spill.exists() and series.progress(path)["step"] == 1
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "free\n"
    writer.commit(5, metrics={"reward": 0.5}, groups=[group(5, [1.0])])
    writer.close()
    assert not spill.exists()
    assert rows(path, "SELECT seq, step FROM acknowledged") == [(n, n) for n in range(1, 6)]
    assert rows(path, "SELECT step, value FROM metric") == [(n, n / 10) for n in range(1, 6)]
    assert rows(path, "SELECT id, step FROM grp ORDER BY id") == [(n, n) for n in range(1, 6)]
    events = series.events(path)
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
    assert [c["step"] for c in series.checkpoints(path)] == [2] and len(groups.at_step(path, 2)) == 1
    assert series.read(path)["curves"]["reward"] == {"x": [1, 2, 3], "y": [0.1, 0.2, 0.3]}


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
    assert [event["kind"] for event in series.events(path)] == ["storage"]


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
    record.drain(path)
    scores = "SELECT grp, name, value, status FROM score JOIN reward_function ON id = function ORDER BY grp"
    assert rows(path, scores) == [(1, "format", 1.0, "ok"), (2, "correctness", 0.5, "ok")]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from storage.record import RunWriter
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
    curve = series.read(path)["curves"]["m7"]
    assert curve == {"x": list(range(1, 31)), "y": [float(step) for step in range(1, 31)]}
    assert [event["kind"] for event in series.events(path)] == ["storage"]
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
            record.drain(place)
        else:
            writer.close()
        assert series.read(place)["curves"]["reward"]["x"] == [1, 2, 3]
        one = groups.one(place, 3)
        assert one is not None and one["completions"][0]["text"] == "a\u2028b\u0085c"
        assert [s["name"] for s in one["completions"][0]["scores"]] == ["format", "other"]
        assert not record.spill_of(place).exists()
