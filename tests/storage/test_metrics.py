"""Curves: exact at any length in about a thousand points, whole or only what is new, over all attempts of a run."""

from __future__ import annotations

import math
import random
import sqlite3
import statistics
from pathlib import Path

import pytest

from groupwise.storage.analysis.compare import curves, finals
from groupwise.storage.home import db, paths
from groupwise.storage.record import groups, lineage, metrics, recent, record_check, span_means, states, step_record
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from tests.support.made_runs import made_run
from tests.support.records import rows

WEIGHTS = {"format": 1.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def write_curve(
    path: Path, values: list[float | None], *, attempt: int = 1, first: int = 1, name: str = "reward"
) -> None:
    """Many steps fast: the same rows as that many commits would leave, in one."""
    writer = RunWriter(path, attempt, WEIGHTS)
    with writer._db.atomic():
        for step, value in enumerate(values, first):
            writer._seq += 1
            metrics = {name: value}
            writer._insert(
                step_record.Batch(
                    writer._seq, attempt, step, float(step), metrics, writer._rollup.take(step, metrics), [], [], None
                )
            )
    writer.close()


def brute(values: list[float], first: int, size: int) -> dict[int, tuple[float, float, float]]:
    """bucket → (mean, low, high), counted by hand."""
    buckets: dict[int, list[float]] = {}
    for step, value in enumerate(values, first):
        buckets.setdefault(step // size, []).append(value)
    return {bucket: (math.fsum(vs) / len(vs), min(vs), max(vs)) for bucket, vs in buckets.items()}


@pytest.mark.parametrize("steps", [1, 999, 1000, 1001, 5_000, 40_000])
def test_a_curve_of_any_length_is_exact_in_a_thousand_points(path: Path, steps: int):
    rng = random.Random(steps)
    values = [rng.gauss(0, 1) for _ in range(steps)]
    write_curve(path, values)
    found = metrics.read_metrics(path)
    curve, size = found["curves"]["reward"], found["bucket"]
    assert found["reset"] and found["seq"] == steps and len(curve["x"]) <= metrics.MAX_POINTS + size
    tail = curve.get("tail", {"x": [], "y": []})
    assert curve["x"] + tail["x"] == sorted({*curve["x"], *tail["x"]}) and (curve["x"] + tail["x"])[-1] == steps
    if steps <= metrics.MAX_POINTS:
        assert size == 1 and curve == {"x": list(range(1, steps + 1)), "y": values}
        return
    exact = brute(values, 1, size)
    # Buckets before this one are whole; after them come the steps themselves, always the last twenty.
    closed = (steps + 1 - recent.NEEDED) // size
    for at, (mean, low, high) in enumerate(exact[bucket] for bucket in sorted(exact) if bucket < closed):
        assert curve["y"][at] == pytest.approx(mean, abs=1e-12)
        assert (curve["low"][at], curve["high"][at]) == (low, high)
    assert len(curve["y"]) == len([bucket for bucket in exact if bucket < closed])
    newest = list(enumerate(values, 1))[closed * size - 1 :]
    assert list(zip(tail["x"], tail["y"], strict=True)) == newest and len(newest) >= recent.NEEDED
    assert size == next(2**n for n in range(20) if steps / 2**n <= metrics.MAX_POINTS)


def test_a_reader_is_given_only_what_is_new(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    for step in range(1, 31):
        writer.commit(step, metrics={"reward": float(step), **({"eval_reward": 0.5} if step == 10 else {})})
    first = metrics.read_metrics(path)
    assert first["reset"] and first["seq"] == 30 and set(first["curves"]) == {"reward", "eval_reward"}
    assert metrics.read_metrics(path, 30) == {"seq": 30, "reset": False, "curves": {}}
    writer.commit(31, metrics={"reward": 31.0})
    writer.commit(31, metrics={"eval_reward": 0.7})  # an evaluation at a step that was already acknowledged
    assert metrics.read_metrics(path, 30) == {
        "seq": 32, "reset": False,
        "curves": {"reward": {"x": [31], "y": [31.0]}, "eval_reward": {"x": [31], "y": [0.7]}},
    }  # fmt: skip
    writer.close()


def test_following_from_the_start_gives_what_one_look_at_the_end_gives(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    seen: dict[int, float] = {}
    seq, rng = 0, random.Random(1)
    for step in range(1, 200):
        writer.commit(step, metrics={"reward": rng.random()})
        if rng.random() < 0.2 or step == 199:
            delta = metrics.read_metrics(path, seq)
            curve = delta["curves"]["reward"]
            seen = ({} if delta["reset"] else seen) | dict(zip(curve["x"], curve["y"], strict=True))
            seq = delta["seq"]
    writer.close()
    whole = metrics.read_metrics(path)["curves"]["reward"]
    assert seen == dict(zip(whole["x"], whole["y"], strict=True))


def test_a_resumed_run_overlaps_its_past_and_the_latest_attempt_counts(path: Path):
    write_curve(path, [1.0] * 50)
    write_curve(path, [2.0] * 30, attempt=2, first=41)
    assert metrics.read_metrics(path, 50)["reset"], "a new attempt replaces what a reader has"
    write_curve(path, [3.0] * 5, attempt=3, first=61)
    curve = metrics.read_metrics(path)["curves"]["reward"]
    assert curve["x"] == list(range(1, 66))
    assert curve["y"] == [1.0] * 40 + [2.0] * 20 + [3.0] * 5
    assert rows(path, "SELECT count(*) FROM metric") == [(85,)]  # the past is still there
    progress = metrics.progress(path)
    assert (progress["attempt"], progress["step"]) == (3, 65)


def test_attempts_of_a_long_run_meet_without_a_gap_or_a_double(path: Path):
    write_curve(path, [1.0] * 3000)
    write_curve(path, [2.0] * 2005, attempt=2, first=2501)
    found = metrics.read_metrics(path)
    curve = found["curves"]["reward"]
    assert curve["x"] == sorted(set(curve["x"])) and set(curve["y"]) == {1.0, 2.0}
    assert max(x for x, y in zip(curve["x"], curve["y"], strict=True) if y == 1.0) <= 2500
    assert min(x for x, y in zip(curve["x"], curve["y"], strict=True) if y == 2.0) >= 2501


def test_the_first_steps_of_a_resumed_run_tell_no_pace(path: Path) -> None:
    """“0.49 s a step · 10 min left” stood there of 290 steps: the one of ten steps, the other of the first two."""
    writer = RunWriter(path, 2, WEIGHTS)
    medians = []
    for step in range(101, 109):
        writer.commit(step, at=step * (20.0 if step < 103 else 1.0))
        medians.append(metrics.pace(path)["median"])
    writer.close()
    assert medians[:5] == [None] * 5 and medians[7] == 1.0
    writer = RunWriter(path.with_name("first.db"), 1, WEIGHTS)
    writer.commit(1, at=1.0)
    writer.commit(2, at=3.0)
    writer.close()
    assert metrics.pace(path.with_name("first.db"))["median"] == 2.0, "of a first attempt there is nothing beside it"


def test_a_run_with_nothing_in_it_yet_reads_as_nothing(path: Path):
    RunWriter(path, 1, WEIGHTS).close()
    assert metrics.read_metrics(path) == {"seq": 0, "reset": False, "curves": {}}
    assert metrics.progress(path)["step"] == 0 and metrics.events(path) == [] and metrics.checkpoints(path) == []
    assert metrics.pace(path) == {"median": None, "longest": None} and groups.at_step(path, 1) == []
    assert groups.nearest_step(path, 3) == {"step": None, "earlier": None, "later": None}


def test_a_resume_cuts_the_overwritten_past_at_once_everywhere(path: Path):
    """Charts, the newest groups, and a tab that was open all the while."""
    completion = Completion("x", 1, False, 1.0, 0.0, [(1.0, "ok")])
    first = RunWriter(path, 1, WEIGHTS)
    first.commit(0, events=[Event("begin", "", {"total": 60})])
    for step in range(1, 51):
        first.commit(step, metrics={"reward": 1.0}, groups=[Group("train", step, f"p{step}", {}, [completion])])
    first.close()
    seen = metrics.read_metrics(path)
    second = RunWriter(path, 2, WEIGHTS)
    second.commit(40, events=[Event("begin", "", {"total": 60})])
    again = metrics.read_metrics(path, seen["seq"])
    assert again["reset"] and again["curves"]["reward"]["x"] == list(range(1, 41))
    assert groups.span(path) == (1, 40)
    second.commit(41, metrics={"reward": 2.0}, groups=[Group("train", 41, "new", {}, [completion])])
    assert metrics.read_metrics(path, again["seq"])["curves"]["reward"] == {"x": [41], "y": [2.0]}
    assert groups.span(path) == (1, 41)
    assert groups.nearest_step(path, 50) == {"step": 41, "earlier": 40, "later": None}
    second.close()


def test_a_metric_that_is_never_a_number_costs_nothing(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    with writer._db.atomic():
        for step in range(1, 2100):
            writer.commit(step, metrics={"reward": 1.0, "broken": math.nan})
    writer.close()
    assert "broken" not in metrics.read_metrics(path)["curves"]


def test_a_stage_says_the_total_and_the_weights_from_its_first_step_on(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    weights = {"format": 1.0}
    writer.commit(0, events=[Event("begin", "", {"total": 9}), Event("stage", "", {"total": 9, "weights": weights})])
    for step in (1, 2, 3):
        writer.commit(step, metrics={"rewards/format/weight": step / 10})
    assert metrics.standing(path)["total"] == 9
    writer.commit(3, events=[Event("stage", "", {"stage": 2, "total": 10, "weights": {"format": 0.5}})])
    writer.commit(4)
    writer.close()
    standing = metrics.standing(path)
    assert (standing["total"], standing["step"], standing["begun"]) == (10, 4, True)
    reader = db.open_reader(path)
    assert lineage.begun_at(reader) == {1: 0}  # a stage is no new attempt
    assert [metrics.stage_weights(reader, 1, step) for step in (3, 4)] == [weights, {"format": 0.5}]
    assert metrics.stage_weights(reader, 2, 4) is None
    at = [metrics.weights_at(reader, 1, step) for step in (2, 4)]
    assert at == [{"format": 0.2}, {"format": 0.5}], "what moved in the stage before no longer counts"
    reader.close()


def staged(
    path: Path, values: dict[int, list[float]], *, after: int = 0, attempt: int = 1, counted: float | None = None
):
    """An attempt whose stages, by number, each log these num_tokens, one a step."""
    writer = RunWriter(path, attempt, WEIGHTS)
    writer.commit(after, events=[Event("begin", "", {"total": 9})])
    step = after
    for number, some in values.items():
        told = {} if counted is None else {"tokens": counted}
        writer.commit(step, events=[Event("stage", "", {"stage": number, "after": step, **told})])
        for value in some:
            step += 1
            writer.commit(step, metrics={"reward": 1.0, "num_tokens": value})
    writer.close()


def tokens(path: Path) -> list[float | None]:
    """As the page has them whole; as it has them one by one, Runs, Compare and a checkpoint have them, they are the
    same."""
    whole = metrics.read_metrics(path)["curves"]["num_tokens"]
    assert len(whole["x"]) == len(set(whole["x"])), "each step once"
    reader = db.open_reader(path)
    parts, key = lineage.stretches(reader), curves.keys_of(reader)["num_tokens"]
    last = whole["y"][-1]
    assert finals.final_values(reader)["tokens"] == finals.last_means(reader)["num_tokens"] == last
    assert recent.now(reader, "num_tokens", key, recent.since(parts, recent.stage_began(reader)[0]), ()) == last
    (line,) = curves.read_curves(reader, ["num_tokens"], "tokens")["num_tokens"]
    assert (line["x"], line["y"]) == (whole["y"], whole["y"])
    spans = [(step, step) for step in whole["x"]]
    told = span_means.means_of_spans(path, ["num_tokens"], spans)
    assert [figures["num_tokens"].value for figures in told.values()] == whole["y"]
    newest = reader.execute("SELECT max(seq) FROM acknowledged").fetchone()[0]
    reader.close()
    assert metrics.read_metrics(path, newest - 1)["curves"]["num_tokens"]["y"] == [last]
    return whole["y"]


def test_what_a_stage_counts_anew_goes_on_from_the_stages_before(path: Path):
    """TRL counts num_tokens of each stage from nothing, and older versions wrote that down as it was."""
    staged(path, {1: [10, 20], 2: [5, 15, 25]})
    assert tokens(path) == [10, 20, 25, 35, 45]
    staged(path, {2: [18, 30], 3: [50, 60]}, after=4, attempt=2)  # resumed in the second, as TRL knows where it was
    assert tokens(path) == [10, 20, 25, 35, 38, 50, 100, 110], "also where the third begins higher than it could seem"
    (gone,) = metrics.read_metrics(path)["past"]
    assert gone["curves"]["num_tokens"] == {"x": [4, 5], "y": [35, 45]}, "what was trained over stands where it stood"
    reader = db.open_reader(path)
    assert [line["y"][-1] for line in curves.read_curves(reader, ["num_tokens"], "attempt")["num_tokens"]] == [45, 110]
    reader.close()


def test_what_is_counted_on_as_it_is_written_is_added_to_nothing_again(path: Path):
    staged(path, {1: [10, 20], 2: [5, 15]})
    writer = RunWriter(path, 2, WEIGHTS)
    assert [writer.last_total("num_tokens", step) for step in (0, 2, 3, 4)] == [None, 20, 25, 35]
    writer.close()
    staged(path, {2: [40, 50]}, after=4, attempt=2, counted=20)
    assert tokens(path) == [10, 20, 25, 35, 40, 50]
    staged(path, {3: [60, 70]}, after=6, attempt=3, counted=50)
    assert tokens(path) == [10, 20, 25, 35, 40, 50, 60, 70]


def test_a_total_of_a_long_run_has_no_point_that_is_of_two_stages(path: Path):
    write_curve(path, [float(value) for value in (*range(1, 1502), *range(1, 1500))], name="num_tokens")
    writer = RunWriter(path, 1, WEIGHTS)
    stages = [Event("stage", "", {"stage": number, "after": after}) for number, after in ((1, 0), (2, 1501))]
    writer.commit(0, events=[Event("begin", ""), *stages])
    writer.close()
    found = metrics.read_metrics(path)
    curve, size = found["curves"]["num_tokens"], found["bucket"]
    assert size > 1 and max(abs(x - y) for x, y in zip(curve["x"], curve["y"], strict=True)) <= size
    assert curve["tail"]["y"] == curve["tail"]["x"] and curve["low"] == sorted(curve["low"])
    reader = db.open_reader(path)
    (line,) = curves.read_curves(reader, ["num_tokens"], "tokens")["num_tokens"]
    assert line["x"] == pytest.approx(line["y"]) and line["y"] == sorted(line["y"])
    reader.close()


def test_one_look_is_of_one_moment_whatever_is_written_meanwhile(path: Path):
    writer = RunWriter(path, 1, WEIGHTS)
    writer.commit(1, metrics={"reward": 1.0})
    with record_check.one_look(path):
        assert metrics.standing(path)["step"] == 1
        writer.commit(2, metrics={"reward": 2.0})
        now = metrics.read_metrics(path)
        assert (metrics.standing(path)["seq"], now["curves"]["reward"]["x"]) == (now["seq"], [1])
    assert metrics.standing(path)["step"] == 2
    writer.close()


def test_a_look_at_what_is_no_record_is_for_its_readers_to_refuse(tmp_path: Path):
    with record_check.one_look(tmp_path / "run.db"), pytest.raises(sqlite3.OperationalError):
        metrics.standing(tmp_path / "run.db")


def test_an_attempt_is_marked_only_where_one_before_it_had_trained(tmp_path: Path) -> None:
    """Taken from the queue, or ended while it loaded: of that attempt there is nothing in the charts."""
    path, begins = tmp_path / "run.db", Event("begin", "Training begins: 9 steps.", {"total": 9})
    for attempt, step in ((1, 0), (2, 0), (3, 4)):
        writer = RunWriter(path, attempt, {})
        writer.commit(step, events=[begins])
        writer.commit(step + 1, metrics={"reward": 0.5}) if attempt > 1 else None
        writer.close()
    assert [(mark["attempt"], mark["step"]) for mark in metrics.marks(path)] == [(3, 4)]


def test_what_came_between_two_checkpoints_is_of_the_attempt_that_counts(registry_home: Path) -> None:
    run_id = made_run("resumed", 30, groups=0, resumed_at=15, metrics=lambda step: {"reward": float(step)})
    path = paths.run_folder(run_id).db
    assert span_means.means_of_spans(path, ["reward", "kl"], [(1, 10), (11, 20)]) == {
        10: {"reward": (5.5, (1, 10))},
        20: {"reward": (15.5, (11, 20))},
    }
    writer = RunWriter(path, 2, {})
    writer.commit(31, metrics={"eval_reward": 0.25})
    writer.commit(32, metrics={"eval_reward": 0.5})
    writer.close()
    assert span_means.means_of_spans(path, ["eval_reward"], [(21, 40)]) == {40: {"eval_reward": (0.5, None)}}


def test_what_came_between_two_checkpoints_counts_each_log_for_its_steps(path: Path) -> None:
    """Stopped at 33 of logs every 10: the Overview said 2.33, the checkpoint 2.37, as the last log is of 3 steps."""
    writer = RunWriter(path, 1, WEIGHTS)
    logged = {10: {"reward": 2.0}, 20: {"reward": 2.2}, 30: {"reward": 2.3}, 33: {"reward": 2.5}}
    for step in range(1, 34):
        writer.commit(step, metrics=logged.get(step, {}))
    writer.close()
    whole = {33: {"reward": (pytest.approx((20 + 22 + 23 + 7.5) / 33), (1, 33))}}
    assert span_means.means_of_spans(path, ["reward"], [(1, 33)]) == whole
    last = {33: {"reward": (pytest.approx((10 * 2.3 + 3 * 2.5) / 13), (21, 33))}}
    assert span_means.means_of_spans(path, ["reward"], [(26, 33)]) == last, "the first of them began before"
    assert span_means.means_of_spans(path, ["reward"], [(11, 15)]) == {15: {}}


def test_the_reward_between_two_checkpoints_is_of_their_steps_where_completions_tell(registry_home: Path) -> None:
    """12 steps, logged every 10, a checkpoint every 5: that of 10 had the log of all ten steps as the mean of 6–10."""
    path = paths.run_folder(made_run("seldom", 12, groups=2, every=10, state=states.STOPPED)).db
    with record_check.read_record(path) as record:
        means = dict(record.execute("SELECT step, avg(mean) FROM grp WHERE mode = 'train' GROUP BY step").fetchall())
        logged = dict(record.execute(
            "SELECT step, value FROM metric JOIN metric_key ON id = key WHERE name = 'kl'"
        ).fetchall())  # fmt: skip
    assert list(logged) == [10, 12]
    told = span_means.means_of_spans(path, ["reward", "kl"], [(1, 5), (6, 10), (11, 12)])
    of_steps = {last: statistics.mean(means[step] for step in range(last - 4, last + 1)) for last in (5, 10)}
    assert told[5] == {"reward": (pytest.approx(of_steps[5]), (1, 5))}
    assert told[10] == {"reward": (pytest.approx(of_steps[10]), (6, 10)), "kl": (logged[10], (1, 10))}
    assert told[12]["kl"] == (logged[12], (11, 12)) and told[12]["reward"].over == (11, 12)
