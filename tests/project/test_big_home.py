"""The bulk writing of tests/support/bulk.py leaves what the recorder itself would have left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.record import groups, metrics
from groupwise.storage.record.rollup import Rollup
from tests.support.bulk import Made, empty_record, write_run
from tests.support.records import rows

MADE = Made(7, "bulk", 300, 5, groups=2, every=3, prompts=10)


@pytest.fixture
def record(registry_home: Path) -> Iterator[Path]:
    empty_record(registry_home / "empty.db")
    write_run(MADE, registry_home / "empty.db")
    yield paths.run_folder(MADE.id).db


def test_a_run_in_bulk_has_the_buckets_that_the_recorder_would_have_closed(record: Path) -> None:
    rollup, closed = Rollup(), []
    values = rows(record, "SELECT step, name, value FROM metric JOIN metric_key ON id = key ORDER BY step, key")
    for step, name, value in values:
        closed += rollup.take(step, {name: value})
    there = rows(record, "SELECT size, name, bucket, n, total, low, high FROM rollup JOIN metric_key ON id = key")
    assert len(closed) == 5 * (300 // 16 + 300 // 128)
    assert [bucket[:4] for bucket in sorted(there)] == [bucket[:4] for bucket in sorted(closed)]
    for ours, its in zip(sorted(there), sorted(closed), strict=True):
        assert ours[4:] == pytest.approx(its[4:])


def test_a_run_in_bulk_is_whole_for_every_reader(record: Path) -> None:
    with closing(sqlite3.connect(record)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.execute("INSERT INTO completion_text (completion_text, rank) VALUES ('integrity-check', 1)")
        found = db.execute("SELECT count(*) FROM completion_text WHERE completion_text MATCH 'think'").fetchone()[0]
        assert found == db.execute("SELECT count(*) FROM completion WHERE text LIKE '%think%'").fetchone()[0] > 0
    assert groups.span(record) == (3, 300)
    group = groups.read_group(record, groups.at_step(record, 300)[0]["id"])
    assert group is not None
    for completion in group["completions"]:
        assert completion["reward"] == sum(score["weight"] * score["value"] for score in completion["scores"])
    rewards = [completion["reward"] for completion in group["completions"]]
    assert group["mean"] == pytest.approx(sum(rewards) / 8)
    curves = metrics.read_metrics(record)["curves"]
    assert len(curves) == 5
    assert len(curves["reward"]["x"]) == 300
