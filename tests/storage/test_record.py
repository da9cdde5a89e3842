"""run.db: a step is there whole or not at all, and reads back as it was written."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import pytest

from groupwise.storage.record import groups, metrics, record
from groupwise.storage.record.record import RunWriter, mean_and_std
from groupwise.storage.record.step_record import Checkpoint, Event
from tests.support.records import WEIGHTS, group, rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


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
        assert metrics.progress(path)["step"] == step
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
    whole = groups.read_group(path, first["id"])
    assert whole is not None and [c["reward"] for c in whole["completions"]] == [1.0, 0.0, None]
    assert whole["completions"][0]["scores"] == [
        {"name": "format", "weight": 1.0, "value": 1.0, "status": "ok"},
        {"name": "correctness", "weight": 2.0, "value": None, "status": "error"},
    ]
    assert whole["columns"] == {"answer": "2"} and groups.read_group(path, 99) is None


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
        rows(path, "SELECT text FROM completion") == [("half ?",)] * 2 and metrics.events(path)[0]["message"] == "?.txt"
    )


def test_the_same_prompt_is_kept_once_and_followed_down_the_steps(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step in (1, 2, 5):
        writer.commit(step, groups=[group(step, [float(step)]), group(step, [0.0], prompt="other")])
    writer.close()
    assert rows(path, "SELECT count(*) FROM prompt") == [(2,)]
    whole = groups.read_group(path, groups.at_step(path, 2)[0]["id"])
    assert whole is not None and [(h["step"], h["mean"]) for h in whole["history"]] == [(1, 1.0), (2, 2.0), (5, 5.0)]
    assert groups.nearest_step(path, 3) == {"step": 2, "earlier": 1, "later": 5}
    assert groups.nearest_step(path, 4) == {"step": 5, "earlier": 2, "later": None}
    assert groups.nearest_step(path, 0) == {"step": 1, "earlier": None, "later": 2}
    assert groups.span(path) == (1, 5) and groups.span(path, "eval") is None


def test_events_and_checkpoints_read_back(path: Path):
    writer = RunWriter(path, 2, WEIGHTS)
    writer.commit(0, events=[Event("begin", "60 steps", {"total": 60})])
    writer.commit(20, checkpoint=Checkpoint(20, "checkpoints/checkpoint-20", 99))
    writer.commit(40, checkpoint=Checkpoint(40, "checkpoints/checkpoint-40", 99))
    writer.close()
    assert [(e["kind"], e["attempt"]) for e in metrics.events(path)] == [("begin", 2)]
    assert [c["step"] for c in metrics.checkpoints(path)] == [40, 20]
    found = metrics.progress(path)
    assert (found["attempt"], found["step"], found["total"], found["begun"]) == (2, 40, 60, True)
    assert found["reward"] is None and found["spark"] == []


def test_values_that_are_not_finite_are_kept_apart_and_never_plotted(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step, value in enumerate([1.0, math.nan, math.inf, -math.inf, None, 2.0], 1):
        writer.commit(step, metrics={"reward": value}, groups=[group(step, [value, 1.0])])
    writer.close()
    curve = metrics.read_metrics(path)["curves"]["reward"]
    assert curve == {"x": [1, 2, 3, 4, 5, 6], "y": [1.0, None, None, None, None, 2.0]}
    json.dumps(curve, allow_nan=False)
    assert rows(path, "SELECT value FROM metric WHERE step IN (3, 4)") == [(math.inf,), (-math.inf,)]
    assert metrics.progress(path)["reward"] == 2.0  # of the later half of six, the one that is a number


@pytest.mark.parametrize(
    ("values", "mean", "std"), [([], None, None), ([2.0], 2.0, None), ([1.0, 3.0], 2.0, math.sqrt(2))]
)
def test_mean_and_std_are_torch_s(values: list[float], mean: float | None, std: float | None):
    assert mean_and_std(values) == (mean, std)
