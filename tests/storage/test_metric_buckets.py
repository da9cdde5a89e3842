"""Curves of many metrics: buckets of any size, a closer look, what earlier attempts had trained, values that are no
numbers."""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from groupwise.storage.home import db
from groupwise.storage.record import metric_buckets, metrics, step_record
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Event

Value = Callable[[int], float | None]


def write(path: Path, metrics: dict[str, Value], first: int, last: int, attempt: int = 1, stage: int = 0) -> None:
    """One attempt's steps, in one transaction; a metric of which nothing is known at a step (None) is not logged."""
    writer = RunWriter(path, attempt, {"format": 1.0})
    events = [Event("begin", "", {"total": last})]
    events += [Event("stage", "", {"stage": stage, "total": last})] if stage else []
    writer.commit(first - 1, events=events)
    with writer._db.atomic():
        for step in range(first, last + 1):
            writer._seq += 1
            values: dict[str, float | None] = {
                name: value for name, of in metrics.items() if (value := of(step)) is not None
            }
            closed = writer._rollup.take(step, values)
            made = step_record.Batch(writer._seq, attempt, step, float(step), values, closed, [], [], None)
            writer._insert(made)
    writer.close()


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[float]]]:
    """20,000 steps of a metric of each step, one of each tenth, one that stopped and one that came late."""
    rng = random.Random(5)
    values = [rng.gauss(0, 1) for _ in range(20_001)]
    path = tmp_path_factory.mktemp("long") / "run.db"
    write(
        path,
        {
            "reward": lambda step: values[step],
            "tenth": lambda step: values[step] if step % 10 == 0 else None,
            "early": lambda step: values[step] if step <= 40 else None,
            "late": lambda step: values[step] if step > 19_990 else None,
        },
        1,
        20_000,
    )
    return path, {"reward": values}


@pytest.mark.parametrize("size", [2, 8, 16, 32, 64, 128, 256, 2048])
def test_buckets_of_any_size_hold_exactly_their_values(long: tuple[Path, dict[str, list[float]]], size: int) -> None:
    path, known = long
    run = db.open_reader(path)
    found = metric_buckets.bucket_curves(run, [(1, 1, 20_000)], size)
    run.close()
    curve, values = found["reward"], known["reward"]
    assert curve["of"] == 20_000
    steps = curve["x"] + curve["tail"]["x"]
    assert steps == sorted(set(steps)) and steps[-10:] == list(range(19_991, 20_001)) == curve["tail"]["x"][-10:]
    for x, mean, low, high in list(zip(curve["x"], curve["y"], curve["low"], curve["high"], strict=True))[:5]:
        own = values[max(1, x // size * size) : x // size * size + size]
        assert (low, high) == (min(own), max(own)) and mean == pytest.approx(math.fsum(own) / len(own))
    highest, lowest = max(curve["high"] + curve["tail"]["y"]), min(curve["low"] + curve["tail"]["y"])
    assert (highest, lowest) == (max(values[1:]), min(values[1:])), "no spike is lost"
    assert (found["tenth"]["of"], found["early"]["of"], found["late"]["of"]) == (2000, 40, 10)
    assert found["early"]["x"] == list(range(1, 41)) and found["late"]["x"] == list(range(19_991, 20_001))
    assert found["early"]["y"] == found["early"]["low"] == values[1:41], "what is logged seldom, at its own steps"


@pytest.mark.parametrize(("first", "last"), [(100, 600), (5000, 8000), (1, 20_000), (19_500, 40_000), (700, 1690)])
def test_a_closer_look_shows_at_most_a_thousand_points_of_just_these_steps(
    long: tuple[Path, dict[str, list[float]]], first: int, last: int
) -> None:
    path, known = long
    found = metrics.window(path, ["reward", "no such metric"], first, last)
    curve, end = found["curves"]["reward"], min(last, 20_000)
    assert set(found["curves"]) == {"reward"}
    steps = curve["x"] + curve.get("tail", {"x": []})["x"]
    assert len(steps) <= metric_buckets.MAX_POINTS + 2 * found["bucket"]
    assert first - found["bucket"] <= steps[0] <= first + found["bucket"]
    assert end - found["bucket"] <= steps[-1] <= end + found["bucket"]
    if end - first < metric_buckets.MAX_POINTS:
        assert curve == {"x": list(range(first, end + 1)), "y": known["reward"][first : end + 1]}


@pytest.mark.parametrize("size", [16, 64, 128])
def test_the_newest_steps_are_points_too_where_they_are_not_asked_for_apart(
    long: tuple[Path, dict[str, list[float]]], size: int
) -> None:
    path, known = long
    run = db.open_reader(path)
    curve = metric_buckets.bucket_curves(run, [(1, 1, 20_000)], size, ["reward"], tail=False)["reward"]
    run.close()
    assert curve["tail"] == {"x": [], "y": []} and curve["of"] == 20_000
    assert len({x // size for x in curve["x"]}) == len(curve["x"]) == 20_000 // size + 1
    own = known["reward"][20_000 // size * size :]
    assert curve["y"][-1] == pytest.approx(math.fsum(own) / len(own))
    assert (curve["low"][-1], curve["high"][-1]) == (min(own), max(own)) and curve["x"][-1] <= 20_000


def test_many_metrics_are_drawn_from_what_was_counted_before_and_few_more_finely() -> None:
    assert metric_buckets.bucket_size(1000, 60) == 1
    assert metric_buckets.bucket_size(5000, 1) == 8
    assert metric_buckets.bucket_size(5000, 60) == 16
    assert metric_buckets.bucket_size(100_000, 60) == metric_buckets.bucket_size(100_000, 1) == 128
    assert metric_buckets.bucket_size(30_000_000, 1) == 32_768


def test_what_an_earlier_attempt_had_trained_is_kept_beside_what_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    write(path, {"reward": lambda step: 1.0}, 1, 50)
    write(path, {"reward": lambda step: 2.0}, 41, 60, attempt=2)
    found = metrics.read_metrics(path)
    assert found["curves"]["reward"] == {"x": list(range(1, 61)), "y": [1.0] * 40 + [2.0] * 20}
    (past,) = found["past"]
    assert (past["attempt"], past["first"], past["last"]) == (1, 40, 50), "from the step that both share"
    assert past["curves"]["reward"] == {"x": list(range(40, 51)), "y": [1.0] * 11}
    assert found["marks"] == [{"step": 40, "kind": "begin", "attempt": 2, "stage": None}]
    near = metrics.window(path, ["reward"], 45, 48)
    assert near["past"][0]["curves"]["reward"]["x"] == [45, 46, 47, 48]
    assert metrics.window(path, ["reward"], 1, 30)["past"] == []


def test_a_run_that_went_on_where_it_stopped_has_no_past_to_draw(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    write(path, {"reward": lambda step: 1.0}, 1, 20)
    write(path, {"reward": lambda step: 1.0}, 21, 30, attempt=2)
    assert metrics.read_metrics(path)["past"] == []


def test_a_stage_is_marked_where_it_begins_and_not_again_where_it_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    write(path, {}, 1, 10, stage=1)
    write(path, {}, 11, 20, stage=2)
    write(path, {}, 16, 20, attempt=2, stage=2)
    assert [(mark["kind"], mark["step"]) for mark in metrics.marks(path)] == [("stage", 10), ("begin", 15)]


def test_values_that_are_no_numbers_are_counted_also_where_they_are_in_no_bucket(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    odd = {7: math.nan, 900: math.inf, 1500: -math.inf}
    write(path, {"kl": lambda step: odd.get(step, 0.5), "loss": lambda step: 0.0}, 1, 2000)
    found = metrics.read_metrics(path)
    assert found["bucket"] > 1 and found["odd"] == {"kl": 3}
    assert found["curves"]["kl"]["of"] == 1997 and set(found["curves"]["loss"]["y"]) == {0.0}
    assert None in metrics.window(path, ["kl"], 1, 20)["curves"]["kl"]["y"]
    change = sqlite3.connect(path)
    change.execute("DROP INDEX metric_not_finite")  # a record of before there was one
    change.close()
    assert metrics.read_metrics(path)["odd"] == {}


def test_a_delta_is_one_question_however_many_metrics_there_are(tmp_path: Path) -> None:
    """Also of metrics that came late, and of those with names that SQL or LIKE could read as more."""
    path, names = tmp_path / "run.db", [f"m{n}" for n in range(60)] + ["'; DROP", "%", "groups/tied"]
    write(path, {name: lambda step: 1.0 for name in names}, 1, 30)
    writer = RunWriter(path, 1, {"format": 1.0})
    seq = metrics.read_metrics(path)["seq"]
    writer.commit(31, metrics=dict.fromkeys([*names, "late"], 2.0))
    writer.close()
    asked: list[str] = []
    run = db.open_reader(path)
    run.conn.set_trace_callback(asked.append)
    found = metric_buckets.logged_curves(run, [(1, 31, 31)])
    run.close()
    assert len(asked) == 1
    assert (
        found == dict.fromkeys([*names, "late"], {"x": [31], "y": [2.0]}) == metrics.read_metrics(path, seq)["curves"]
    )
