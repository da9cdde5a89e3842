"""The numbers of compared runs: curves in few points over every axis, final values, and whether rewards are alike."""

from __future__ import annotations

import contextlib
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.compare import compare
from groupwise.storage.analysis.compare import alike, curves, finals
from groupwise.storage.home import db, paths
from groupwise.storage.record import metrics
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.spec import spec
from tests.support.made_runs import made_run


def written(path: Path, metrics: dict[int, dict[str, float | None]], attempt: int = 1, begin: int = 0) -> None:
    writer = RunWriter(path, attempt, {"format": 1.0})
    with writer._db.atomic():
        writer.commit(begin, events=[Event("begin", "Training begins.", {"total": 10})])
        for step, values in metrics.items():
            writer.commit(step, metrics=values)
    writer.close()


def lines(path: Path, name: str, axis: str = "step") -> list[curves.Line]:
    record = db.open_reader(path)
    try:
        return curves.read_curves(record, [name], axis).get(name, [])
    finally:
        record.close()


def final(path: Path) -> dict[str, Any]:
    record = db.open_reader(path)
    try:
        return finals.final_values(record)
    finally:
        record.close()


# ---- lines ----
def test_a_short_run_is_drawn_as_it_was_logged(tmp_path: Path) -> None:
    written(tmp_path / "run.db", {step: {"reward": step / 4} for step in range(1, 21)})
    (line,) = lines(tmp_path / "run.db", "reward")
    assert line["x"] == list(range(1, 21)) and line["y"] == [step / 4 for step in range(1, 21)] and line["per"] == 1


def test_a_line_says_where_a_later_stage_begins(tmp_path: Path) -> None:
    """Smoothed across it, a line would climb for ten steps from one measure to another."""
    written(tmp_path / "run.db", {step: {"reward": 0.0} for step in range(1, 26)})
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0})
    for after, stage, upto in ((0, 1, 0), (25, 2, 50), (25, 2, 60)):  # a resume within a stage names it again
        writer.commit(after, events=[Event("stage", "", {"stage": stage, "of": 2, "after": after, "total": 60})])
        for step in range(after + 1, upto + 1):
            writer.commit(step, metrics={"reward": 1.0})
    writer.close()
    (line,) = lines(tmp_path / "run.db", "reward")
    assert line["begins"] == [25] and line["x"][25] == 26
    (by_attempt,) = lines(tmp_path / "run.db", "reward", "attempt")
    assert by_attempt["begins"] == [25]


def test_a_long_run_has_few_points_with_the_mean_of_all_its_values(tmp_path: Path) -> None:
    steps = 5000
    written(tmp_path / "run.db", {step: {"reward": float(step)} for step in range(1, steps + 1)})
    (line,) = lines(tmp_path / "run.db", "reward")
    assert 100 <= len(line["x"]) <= curves.POINTS
    assert all(abs(x - y) <= line["per"] for x, y in zip(line["x"], line["y"], strict=True))
    assert line["x"] == sorted(line["x"]) and line["x"][0] < 50 and line["x"][-1] > steps - 50
    apart = [after - before for before, after in pairwise(line["x"])]
    assert min(apart) > max(apart) / 3, "the newest steps are put together as all the others are"


def test_a_short_attempt_of_a_long_run_is_as_coarse_as_the_others(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    written(path, {step: {"reward": float(step)} for step in range(1, 5001)})
    written(path, {step: {"reward": float(step)} for step in range(5001, 5401)}, attempt=2, begin=5000)
    (line,) = lines(path, "reward")
    apart = [after - before for before, after in pairwise(line["x"])]
    assert line["x"][-1] > 5350 and min(apart) > max(apart) / 4


def test_a_closer_look_at_a_long_run_is_of_every_step(tmp_path: Path) -> None:
    written(tmp_path / "run.db", {step: {"reward": float(step)} for step in range(1, 5001)})
    record = db.open_reader(tmp_path / "run.db")
    (whole,) = curves.read_curves(record, ["reward"])["reward"]
    (line,) = curves.read_curves(record, ["reward"], span=(700, 900))["reward"]
    assert line["x"] == line["y"] == list(range(700 - curves.POINTS, 901)) and line["per"] == 1
    assert line["of"] == whole["of"] == len(whole["x"]), "it is smoothed as strongly as all of it"
    (wide,) = curves.read_curves(record, ["reward"], span=(2000, 4000))["reward"]
    per = {after - before for before, after in pairwise(wide["x"])}
    assert wide["per"] > 1 and min(wide["x"]) < wide["per"], "before it as far back as smoothing looks, and as coarse"
    assert max(per) <= 2 * wide["per"] and min(per) >= wide["per"] / 2
    assert curves.read_curves(record, ["reward"], span=(6000, 7000)) == {}
    record.close()


@pytest.mark.parametrize("axis", ["tokens", "time"])
def test_a_closer_look_over_tokens_or_time_is_of_every_step_and_stands_where_it_was(tmp_path: Path, axis: str) -> None:
    """Also after a resume that counts from nothing again, which a line goes on from."""
    path = tmp_path / "run.db"

    def logged(step: int, since: int) -> dict[str, float | None]:
        return {"reward": float(step), "num_tokens": 100.0 * (step - since), "time/elapsed": 100.0 * (step - since)}

    written(path, {step: logged(step, 0) for step in range(1, 5001)})
    written(path, {step: logged(step, 4000) for step in range(4001, 9001)}, attempt=2, begin=4000)
    record = db.open_reader(path)
    for low, high in ((2000, 2100), (3950, 4050), (7000, 7020)):
        (line,) = curves.read_curves(record, ["reward"], axis, span=(100.0 * low, 100.0 * high))["reward"]
        inside = [(x, y) for x, y in zip(line["x"], line["y"], strict=True) if 100 * low <= x <= 100 * high]
        assert line["per"] == 1 and [x for x, _ in inside] == pytest.approx([100 * y for _, y in inside], rel=1e-4)
        assert abs(len(inside) - (high - low + 1)) <= 1  # the steps at the edges may stand a little beyond them
        assert min(line["x"]) <= 100 * low and max(line["x"]) >= 100 * high, (
            "the line reaches the edges of what is seen"
        )
    assert curves.read_curves(record, ["reward"], axis, span=(1e9, 2e9)) == {}
    record.close()


def test_a_closer_look_over_attempts_is_of_each_from_its_own_beginning(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    written(path, {step: {"reward": float(step)} for step in range(1, 5001)})
    written(path, {step: {"reward": float(step)} for step in range(4001, 9001)}, attempt=2, begin=4000)
    record = db.open_reader(path)
    first, second = curves.read_curves(record, ["reward"], "attempt", span=(100, 140))["reward"]
    assert first["x"] == list(range(1, 141)) == first["y"]
    assert second["x"] == list(range(1, 141)) and second["y"] == list(range(4001, 4141))
    record.close()


@pytest.mark.parametrize("axis", ["step", "tokens", "time", "attempt"])
def test_a_line_with_few_points_is_drawn_across_the_ends_of_a_closer_look(tmp_path: Path, axis: str) -> None:
    """To its neighbours outside, which stand where they stand in the whole; where it has none, it ends within."""
    path = tmp_path / "run.db"
    each = {s: {"reward": 1.0, "num_tokens": 10.0 * s, "time/elapsed": 10.0 * s} for s in range(1, 61)}
    written(path, {0: {"eval_reward": 0.0}, **{s: v | ({"eval_reward": s / 60} if s % 20 == 0 else {})
                                                for s, v in each.items() if s < 60}})  # fmt: skip
    record = db.open_reader(path)
    times = 10.0 if axis in ("tokens", "time") else 1.0

    def at(low: int, high: int) -> list[float]:
        found = curves.read_curves(record, ["eval_reward", "reward"], axis, span=(times * low, times * high))
        assert all(x <= times * (high + 2) for line in found["reward"] for x in line["x"])
        return [x / times for line in found.get("eval_reward", []) for x in line["x"]]

    first = 0 if axis in ("step", "attempt") else 1  # before the first step nothing is known of tokens and time
    assert at(12, 32) == [first, 20, 40] and at(22, 38) == [20, 40]
    assert at(32, 58) == [first, 20, 40] and at(42, 58) == []
    assert at(12, 20)[-1] in (20, 40) and at(12, 20)[:2] == [first, 20]
    record.close()


@pytest.mark.parametrize(
    "sent", [None, 7, [], [1], [5, 2], [1, 2, 3], ["1", "2"], [math.nan, 2.5], [-1, 4], [0, 2**70], [True, 4]]
)
def test_a_zoom_that_is_none_shows_all(sent: Any) -> None:
    assert compare.zoom({"zoom": sent}) is None
    assert compare.zoom({"zoom": [0, 40]}) == (0, 40)
    assert compare.zoom({"zoom": [1.5, 2.5e6]}) == (1.5, 2.5e6)


def test_thinning_keeps_the_mean() -> None:
    rows = [(float(step), 1 + step % 3, float(step) * (1 + step % 3)) for step in range(1001)]
    few = curves.thin(rows, 300)
    assert len(few) <= 300
    assert sum(n for _, n, _ in few) == sum(n for _, n, _ in rows)
    assert math.isclose(sum(total for *_, total in few), sum(total for *_, total in rows))


def test_what_is_no_number_leaves_a_gap_and_an_infinite_sum_is_no_point(tmp_path: Path) -> None:
    values = {1: 1.0, 2: math.nan, 3: math.inf, 4: None, 5: 5.0}
    written(tmp_path / "run.db", {step: {"kl": value} for step, value in values.items()})
    assert [(line["x"], line["y"]) for line in lines(tmp_path / "run.db", "kl")] == [([1, 5], [1.0, 5.0])]
    assert curves._six_digits(math.inf) is None


def test_over_tokens_and_time_a_point_stands_where_the_run_was_then(tmp_path: Path) -> None:
    metrics = {s: {"reward": 1.0, "num_tokens": 100.0 * s, "time/elapsed": 2.0 * s} for s in range(1, 4)}
    written(tmp_path / "run.db", {**metrics, 4: {"reward": 1.0}})  # not all is logged at each step
    assert lines(tmp_path / "run.db", "reward", "tokens")[0]["x"] == [100, 200, 300, 300]
    assert lines(tmp_path / "run.db", "reward", "time")[0]["x"] == [2, 4, 6, 6]


def test_a_record_without_elapsed_time_goes_by_the_clock_and_one_without_tokens_has_no_line(tmp_path: Path) -> None:
    written(tmp_path / "run.db", {step: {"reward": 1.0} for step in range(1, 4)})
    over_time = lines(tmp_path / "run.db", "reward", "time")[0]["x"]
    assert len(over_time) == 3 and over_time == sorted(over_time) and over_time[0] >= 0
    assert lines(tmp_path / "run.db", "reward", "tokens") == []


def test_a_resumed_run_is_one_line_over_steps_and_one_for_each_attempt_over_attempts(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    written(path, {step: {"reward": 1.0} for step in range(1, 9)})
    written(path, {step: {"reward": 2.0} for step in range(6, 11)}, attempt=2, begin=5)
    (whole,) = lines(path, "reward")
    assert whole["x"] == list(range(1, 11)) and whole["y"] == [1.0] * 5 + [2.0] * 5
    first, second = lines(path, "reward", "attempt")
    assert (first["attempt"], first["x"]) == (1, list(range(1, 9)))
    assert (second["attempt"], second["x"]) == (2, list(range(1, 6)))


def test_a_scale_never_falls() -> None:
    assert curves.rising([(1, 10), (2, 20), (3, 5), (4, 25)]) == ([1, 2, 3, 4], [10, 20, 20, 25])
    assert curves.axis_value(([1, 3], [10.0, 30.0]), 2) == 20 and curves.axis_value(([1, 3], [10.0, 30.0]), 9) == 30


# ---- finals ----
def test_finals_are_the_means_of_the_last_ten_over_all_attempts_and_the_last_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    first = {s: {"reward": 1.0, "eval_reward": float(s == 2), "num_tokens": 10.0 * s} for s in range(1, 19)}
    written(path, first)
    second = {s: {"reward": 3.0, "eval_reward": 0.5, "num_tokens": 10.0 * (s - 15)} for s in range(16, 21)}
    written(path, second, attempt=2, begin=15)
    found = final(path)
    assert (found["step"], found["reward"], found["held_out"]) == (20, 2.0, 0.5)
    assert found["tokens"] == 150 + 50 and found["kl"] is None and found["time"] is not None


def test_the_length_of_those_that_ended_is_of_the_steps_that_the_others_are_of(tmp_path: Path) -> None:
    """As the run's page has it; where none has ended since, it is not what it once was."""
    path, name = tmp_path / "run.db", "completions/mean_terminated_length"
    lengths = {s: {"completions/mean_length": 48.0, name: 10.0 if s < 25 else None} for s in range(1, 41)}
    written(path, lengths)
    with contextlib.closing(db.open_reader(path)) as record:
        assert name not in finals.last_means(record)
    written(path, {s: {"completions/mean_length": 48.0, name: float(s)} for s in (41, 42)}, attempt=2, begin=40)
    with contextlib.closing(db.open_reader(path)) as record:
        assert finals.last_means(record)[name] == 41.5


def test_a_function_that_scores_nothing_any_more_has_no_mean_of_the_last_steps(tmp_path: Path) -> None:
    path, name = tmp_path / "run.db", "rewards/bomb/mean"
    written(path, {s: {"reward": 1.0, name: 1.2 if s < 5 else None} for s in range(1, 10)})
    with contextlib.closing(db.open_reader(path)) as record:
        assert name not in finals.last_means(record)


def test_a_run_that_collapsed_is_not_ranked_by_its_peak_and_every_reader_has_the_same_held_out_reward(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.db"
    rising = {s: {"reward": s / 40, "eval_reward": s / 40 if s % 10 == 0 else None} for s in range(1, 41)}
    written(path, {0: {"eval_reward": 0.5}, **rising, **{s: {"reward": 0.1} for s in range(41, 60)}})
    record = db.open_reader(path)
    assert final(path)["held_out"] == 1.0 == finals.last_means(record)["eval_reward"]
    assert (final(path)["held_out_at"], final(path)["step"]) == (40, 59)
    record.close()
    written(path, {60: {"reward": 0.1, "eval_reward": 0.2}}, attempt=2, begin=59)
    record = db.open_reader(path)
    assert final(path)["held_out"] == 0.2 == finals.last_means(record)["eval_reward"]
    assert final(path)["held_out_at"] == 60 and final(path)["reward"] == pytest.approx(0.1)
    record.close()


def test_how_far_the_end_may_be_off_by_chance_is_told_of_what_was_scored_there(tmp_path: Path) -> None:
    def group(mode: str, step: int, rewards: tuple[float, ...]) -> Group:
        scored = [Completion("x", 1, False, reward, 0.0, [(reward, "ok")]) for reward in rewards]
        return Group(mode, step, f"{step} {rewards}", {}, scored)

    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0})
    for step in range(1, 21):
        groups = [group("train", step, (1.0, 0.0, 0.0, 1.0)), group("train", step, (1.0,) * 4)]
        groups += [group("eval", step, (earned,) * 2) for earned in (0.0, 1.0)] if step == 20 else []
        held_out = {"eval_reward": 0.5} if step == 20 else {}
        writer.commit(step, metrics={"reward": 0.75, "groups/solved": 0.75, **held_out}, groups=groups)
    writer.close()
    errors = final(tmp_path / "run.db")["errors"]
    assert errors["solved"] == pytest.approx(math.sqrt(0.75 * 0.25 / 80), rel=0.01), "80 completions in ten steps"
    assert errors["reward"] == pytest.approx(0.2565 / math.sqrt(20), rel=0.01)
    assert errors["held_out"] == pytest.approx(0.5), "of two prompts"
    written(tmp_path / "none.db", {1: {"reward": 0.1}})
    assert final(tmp_path / "none.db")["errors"] == {"reward": None, "solved": None, "held_out": None}


def test_an_evaluation_before_the_first_step_is_the_last_of_a_run_that_had_no_other(tmp_path: Path) -> None:
    written(tmp_path / "run.db", {0: {"eval_reward": 0.5}, 1: {"reward": 1.0}})
    assert final(tmp_path / "run.db")["held_out"] == 0.5


def test_finals_of_what_was_never_a_number_are_none(tmp_path: Path) -> None:
    written(tmp_path / "run.db", {1: {"reward": math.nan, "eval_reward": math.inf}, 2: {"reward": math.inf}})
    found = final(tmp_path / "run.db")
    assert found["reward"] is None and found["held_out"] is None and found["step"] == 2


def test_curves_of_a_resumed_run_agree_with_its_overview(registry_home: Path) -> None:
    folder = paths.run_folder(made_run("resumed", 40, groups=0, resumed_at=20))
    (line,) = lines(folder.db, "kl")
    whole = metrics.read_metrics(folder.db)["curves"]["kl"]
    assert line["x"] == whole["x"] and line["y"] == pytest.approx(whole["y"], rel=1e-5)


# ---- whether rewards can be compared ----
def marks_of(text: str, code: dict[str, str] | None = None, stage: int = 0) -> dict[str, Any]:
    return alike.reward_marks(spec.parse_spec(text), code or {}, stage)


def test_rewards_are_alike_where_the_same_functions_weigh_the_same() -> None:
    plain = marks_of("name: a\nrewards: [{name: format}, {name: correctness}]\n")
    assert set(plain) == {"reward", "solved", "solved_of"}
    assert marks_of("name: b\nrewards: [{name: correctness}, {name: format, weight: 1.0}]\n") == plain, "any order"
    heavier = marks_of("name: a\nrewards: [{name: format}, {name: correctness, weight: 2.0}]\n")
    assert heavier["reward"] != plain["reward"] and heavier["solved"] == plain["solved"]
    form = marks_of("name: a\nrewards: [{name: length}]\n")
    assert set(form) == {"reward"}, "nothing says what is right"
    told = marks_of("name: a\nrewards: [{name: length}, {name: correctness, weight: 0}]\n")
    assert told == {**plain, "reward": form["reward"]}
    own = "name: a\nrewards: [{name: own}]\n"
    assert marks_of(own, {"own": "a"}) != marks_of(own, {"own": "b"})
    stages = "stages: [{name: one}, {rewards: [{name: length}]}]"
    staged = f"name: a\nrewards: [{{name: format}}]\n{stages}\n"
    assert marks_of(staged, stage=1) != marks_of(staged, stage=2) == form


def test_what_counts_as_solved_is_no_matter_of_how_weights_move() -> None:
    def marks(change: str, code: str = "the same") -> dict[str, Any]:
        rewards = f"[{{name: format}}, {{name: correctness, weight: 2.0{change}}}]"
        return marks_of(f"name: a\nrewards: {rewards}\n", {"correctness": code})

    plain = marks("")
    for same in (", adapt: {every: 3}", ", schedule: [{step: 0, weight: 1}, {step: 9, weight: 2}]", ", timeout: 3"):
        assert marks(same)["solved"] == plain["solved"], same
    others = {"score": marks(", adapt: {success: 0.5}"), "parameters": marks(", parameters: {a: 1}"),
              "code": marks("", "other")}  # fmt: skip
    for name, other in others.items():
        parts = plain["solved_of"]
        assert other["solved"] != plain["solved"]
        assert [part for part in parts if parts[part] != other["solved_of"][part]] == [name]


def measured(text: str, stage: int = 0) -> dict[str, object]:
    defaults = {"temperature": 1.0, "max_completion_length": 256, "top_p": 1.0}
    return alike.measure_marks(spec.parse_spec(f"name: a\nrewards: [{{name: format}}]\n{text}"), defaults, stage)


def test_figures_are_measured_alike_on_the_same_data_sampled_the_same_way() -> None:
    plain = measured("")
    assert (plain["temperature"], plain["limit"]) == (1.0, 256.0)
    assert measured("training: {learning_rate: 1.0e-5, temperature: 1, top_p: 1.0}\n") == plain
    other = {
        "data: {source: 'file:a.csv'}": "data", "data: {limit: 60}": "data", "data: {system_prompt: Short.}": "data",
        "data: {shuffle: 7}": "held_out", "data: {holdout: 20}": "held_out",
        "training: {temperature: 0.05}": "temperature", "training: {max_completion_length: 48}": "limit",
        "training: {top_p: 0.9}": "sampling",
    }  # fmt: skip
    for text, name in other.items():
        found = measured(text)
        assert [one for one in plain if found[one] != plain[one]] == [name], text
    staged = "stages: [{name: one}, {training: {temperature: 0.5}}]"
    assert measured(staged, stage=1) == plain and measured(staged, stage=2)["temperature"] == 0.5


def test_each_run_comes_with_what_its_rewards_are_compared_by(registry_home: Path) -> None:
    one, two = made_run("one", 20), made_run("two", 20)
    form, lost = made_run("form", 20, functions=["length"]), made_run("lost", 20)
    paths.run_folder(lost).spec.unlink()
    first, second, third, fourth = compare.compare_runs({"ids": [one, two, form, lost]})["runs"]
    assert first["alike"] == second["alike"] and first["final"]["solved"] is not None
    assert "solved" not in third["alike"] and third["final"]["solved"] is None
    assert third["alike"]["reward"] != first["alike"]["reward"] and fourth["alike"] == {}


def test_it_is_known_over_which_steps_the_final_figures_are(tmp_path: Path) -> None:
    for every, steps in ((1, (51, 60)), (5, (31, 60)), (20, (41, 80))):
        path = tmp_path / f"{every}.db"
        written(path, {step: {"reward": step / 60} for step in range(every, 61 if every < 20 else 81, every)})
        assert final(path)["means_of"] == steps
    written(tmp_path / "none.db", {1: {"kl": 0.0}})
    assert final(tmp_path / "none.db")["means_of"] is None
