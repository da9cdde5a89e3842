"""The time a step takes: a range before any like run, and then what like runs of this home took."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import presets
from groupwise.app.pages.new.preflight import timing
from groupwise.app.pages.new.preflight.report import report
from groupwise.storage.home import db, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import DataSpec, ModelSpec, RunSpec
from tests.app.test_preflight_memory import FIELDS, GB, MODEL, offer
from tests.support.made_runs import made_run, running


def a_spec(lora: dict[str, Any] | None = None, **training: Any) -> RunSpec:
    settings = {"max_completion_length": 100, "max_steps": 50, **training}
    return spec.from_dict({"name": "t", "rewards": [{"name": "format"}], "lora": lora, "training": settings})


def slow_down(run_id: str, seconds: float) -> None:
    """Let each step of a run have taken so long."""
    record = db.open_writer(paths.run_folder(run_id).db, journal="wal")
    with record.atomic():
        record.execute("UPDATE acknowledged SET at = 1000 + step * ?", [seconds])
    record.close()


def ran(
    run_spec: RunSpec, seconds: float, *, name: str = "before", steps: int = 12, length: float | None = None
) -> None:
    """A run of this home whose steps took so long, by what it recorded."""
    run_id = registry.create_run(spec.to_yaml(run_spec), name=name, model=run_spec.model.id, data="task:arithmetic")
    path = paths.run_folder(run_id).db
    writer = RunWriter(path, 1, {"format": 1.0})
    for step in range(1, steps + 1):
        writer.commit(step, metrics={"reward": 0.5, **({"completions/mean_length": length} if length else {})})
    writer.close()
    slow_down(run_id, seconds)
    registry.set_facts(run_id, step=steps)


def test_before_any_run_there_is_a_range_that_says_so(registry_home: Path) -> None:
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run is None and 0 < found.low < found.high
    assert " to " in found.words


def test_the_quickstart_on_two_cores_lies_in_the_range(registry_home: Path) -> None:
    """Measured: 0.38 s a step with the machine to itself, 0.5 to 0.8 s beside other work."""
    from groupwise.storage.library.models.model_facts import facts
    from groupwise.worker.builtin import starter

    quickstart = spec.parse_spec((presets.SHIPPED / "quickstart.yaml").read_text())
    two_cores = Offer(FIELDS, hardware={"gpus": [], "cores": 2, "memory": 8 * GB})
    found = timing.pace(quickstart, two_cores, facts(starter.MODEL), prompt_tokens=8)
    assert found is not None and found.low < 0.38 and 0.8 < found.high < 5


def test_a_faster_device_and_vllm_are_faster(registry_home: Path) -> None:
    def on(name: str, **training: Any) -> float:
        gpu = {"name": name, "memory": 80 * GB, "free": 80 * GB}
        found = timing.pace(a_spec(**training), Offer(FIELDS, hardware={"gpus": [gpu]}), MODEL)
        assert found is not None
        return found.high

    assert on("NVIDIA H100 80GB HBM3") < on("NVIDIA A100-SXM4-80GB") < on("Tesla T4")
    assert on("NVIDIA L40S", use_vllm=True) < on("NVIDIA L40S")


def test_a_like_run_says_it_better_scaled_to_more_and_longer_completions(registry_home: Path) -> None:
    ran(a_spec(), 2.0)
    same = timing.pace(a_spec(), offer(), MODEL)
    assert same is not None and same.run == "before" and same.low == pytest.approx(2.0)
    twice = timing.pace(a_spec(per_device_train_batch_size=16), offer(), MODEL)
    longer = timing.pace(a_spec(max_completion_length=300), offer(), MODEL)
    assert twice is not None and twice.low == pytest.approx(4.0)
    assert longer is not None and longer.low == pytest.approx(6.0)
    assert twice.words == "roughly 4.0 s" and twice.source == "from “before”, which had 8 completions a step"
    assert longer.source == "from “before”, which had at most 100 tokens each"
    assert same is not None and same.source == "as a step of “before” took"
    [figure] = [one for one in report(a_spec(), offer(), MODEL).figures if one["label"] == "Time"]
    assert figure["run"] == "before" and "“before”" in figure["detail"]  # which the page cuts where it has no room
    assert same is not None and (same.words, same.times(50).words, same.run) == ("about 2.0 s", "about 2 min", "before")
    running(registry.list_runs()[0].id)
    same = timing.pace(a_spec(), offer(), MODEL)
    assert same is not None and same.source == "as a step of “before” takes"


def test_completions_that_ended_early_end_there_all_the_same(registry_home: Path) -> None:
    ran(a_spec(), 2.0, length=40)
    longer = timing.pace(a_spec(max_completion_length=300), offer(), MODEL)
    assert longer is not None and longer.low == pytest.approx(2.0) and longer.rough
    shorter = timing.pace(a_spec(max_completion_length=20), offer(), MODEL)
    assert shorter is not None and shorter.low == pytest.approx(1.0)


def test_a_run_on_other_data_is_rough_and_one_of_far_more_work_says_nothing(registry_home: Path) -> None:
    ran(a_spec(), 2.0, name="sums")
    other = a_spec().model_copy(update={"data": DataSpec(source="file:mine.csv")})
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and (found.words, found.source) == ("roughly 2.0 s", "from “sums”, which had other data")
    ran(other, 5.0, name="mine")
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and (found.words, found.source) == ("about 5.0 s", "as a step of “mine” took")
    far = timing.pace(a_spec(per_device_train_batch_size=128), offer(), MODEL)
    assert far is not None and far.run is None


def test_a_run_with_other_reward_functions_is_rough_and_one_with_the_same_is_nearer(registry_home: Path) -> None:
    own = a_spec(per_device_train_batch_size=16)
    ran(a_spec(), 1.0, name="formats")
    ran(own.model_copy(update={"rewards": [spec.RewardSpec(name="sleeps")]}), 9.0, name="sleepy")
    found = timing.pace(own, offer(), MODEL)
    assert found is not None and found.run == "formats" and "reward" not in found.rough
    other = a_spec().model_copy(update={"rewards": [spec.RewardSpec(name="length")]})
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and found.source == "from “formats”, which had other reward functions"


def test_a_run_from_a_checkpoint_takes_as_long_as_what_it_was_trained_from(registry_home: Path) -> None:
    ran(a_spec(), 2.0, name="first")
    checkpoint = registry.list_runs()[0].folder.checkpoints / "checkpoint-12"
    second = a_spec().model_copy(update={"model": ModelSpec(id=str(checkpoint))})
    found = timing.pace(second, offer(), MODEL)
    assert found is not None and (found.run, found.words) == ("first", "about 2.0 s")
    ran(second, 3.0, name="second")
    third = a_spec().model_copy(update={"model": ModelSpec(id=str(registry.list_runs()[0].folder.final))})
    found = timing.pace(third, offer(), MODEL)
    assert found is not None and found.run in ("first", "second")
    other = a_spec().model_copy(update={"model": ModelSpec(id="/elsewhere/model")})
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and found.run is None


def test_a_run_that_trains_or_waits_is_said_to_go_first(registry_home: Path) -> None:
    def said() -> list[str]:
        return [one for one in report(a_spec(), offer(), MODEL).sentences if "begins" in one]

    assert said() == []
    run_id = registry.create_run(spec.to_yaml(a_spec()), name="sums", model="starter", data="task:arithmetic")
    assert said() == ["It begins after the 1 run in the queue."]
    registry.set_state(run_id, states.STARTING, "")
    registry.create_run(spec.to_yaml(a_spec()), name="more", model="starter", data="task:arithmetic")
    ahead = "“sums” is training now: this run begins when that has ended, and after the 1 run in the queue."
    assert said() == [ahead]


def test_of_several_like_runs_the_likest_counts(registry_home: Path) -> None:
    ran(a_spec(), 2.0, name="same")
    ran(a_spec(per_device_train_batch_size=64), 20.0, name="larger")
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run == "same"


@pytest.mark.parametrize("other", [{"lora": {"r": 8}}, {"bf16": False}, {"use_cpu": True}])
def test_a_run_that_trained_in_another_way_says_nothing(registry_home: Path, other: dict[str, Any]) -> None:
    ran(a_spec(**other), 2.0)
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run is None


@pytest.mark.parametrize("other", [
    {}, {"seed": 7}, {"logging_steps": 10}, {"learning_rate": 1e-6}, {"beta": 0.5}, {"max_steps": 500},
    {"eval_strategy": "steps", "eval_steps": 20}, {"save_steps": 5},
])  # fmt: skip
def test_a_run_is_similar_whatever_does_not_change_the_time_of_a_step(
    registry_home: Path, other: dict[str, Any]
) -> None:
    wanted = a_spec(beta=0.04)
    [guess] = [one for one in report(wanted, offer(), MODEL).figures if one["label"] == "Time"]
    assert "a rough guess until a similar run has finished" in guess["detail"] and "beta" in guess["hint"]
    training = {**wanted.training, **other}
    every = 10 if "logging_steps" in other else 1
    settings = {"name": "made", "rewards": [{"name": "format"}], "training": training}
    text = spec.to_yaml(spec.from_dict(settings))
    made_run("made", 40, spec_yaml=text, every=every, eval_every=20 if "eval_steps" in other else 0, groups=1)
    found = timing.pace(wanted, offer(), MODEL)
    assert found is not None and found.source == "as a step of “made” took"
    [figure] = [one for one in report(wanted, offer(), MODEL).figures if one["label"] == "Time"]
    assert figure["hint"] == ""


def test_a_run_without_a_kl_term_is_similar_and_says_so(registry_home: Path) -> None:
    """A draft with the default beta and finished runs with 0.02 had nothing to do with each other."""
    ran(a_spec(beta=0.02), 2.0)
    found = timing.pace(a_spec(beta=0.0), offer(), MODEL)
    assert found is not None and found.source == "from “before”, which had a KL term"
    ran(a_spec(beta=0.0), 1.5, name="without")
    found = timing.pace(a_spec(beta=0.0), offer(), MODEL)
    assert found is not None and found.source == "as a step of “without” took"
    found = timing.pace(a_spec(beta=0.1), offer(), MODEL)
    assert found is not None and found.run == "before" and found.rough == ""


def test_a_run_that_has_hardly_begun_or_whose_files_are_gone_says_nothing(registry_home: Path) -> None:
    ran(a_spec(), 2.0, steps=2)
    ran(a_spec(), 2.0)
    newest = registry.list_runs()[0]
    newest.folder.db.unlink()
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run is None


def test_without_a_home_or_a_model_there_is_still_an_answer(own_home: Path) -> None:
    assert timing.pace(a_spec(), offer(), MODEL) is not None
    assert timing.pace(a_spec(), offer(), None) is None


def test_a_home_of_a_thousand_runs_does_not_slow_the_page(registry_home: Path) -> None:
    ran(a_spec(), 2.0)
    row = next(iter(_rows()))
    with registry.write_registry() as writable:
        writable.table("run").insert_all({**row, "id": f"r{n}", "model": f"m{n % 7}"} for n in range(1000))
    timing.pace(a_spec(), offer(), MODEL)
    begun = time.process_time()
    for _ in range(20):
        found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run == "before"
    assert (time.process_time() - begun) / 20 < 0.05  # of the processor: a row each would take more


def _rows() -> list[dict[str, Any]]:
    with registry.read_registry() as readable:
        return list(readable.query("SELECT * FROM run"))


def test_of_many_runs_the_likest_is_taken_however_old(registry_home: Path) -> None:
    ran(a_spec(), 2.0, name="base", length=40)
    for number in range(7):
        ran(a_spec(max_completion_length=4), 0.5, name=f"len4 {number}", length=4)
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and found.run == "base" and found.rough == ""


def test_a_newer_run_with_a_far_lower_limit_is_passed_over_for_the_one_alike(registry_home: Path) -> None:
    """Its completions ended by themselves now and then, so that it would need no scaling."""
    ran(a_spec(), 2.0, name="base", length=3.6)
    ran(a_spec(), 2.5, name="again", length=3.6)
    ran(a_spec(max_completion_length=4), 0.5, name="len4", length=3.5)
    found = timing.pace(a_spec(), offer(), MODEL)
    assert found is not None and (found.run, found.words) == ("again", "about 2.5 s")
    other = a_spec().model_copy(update={"data": DataSpec(source="file:mine.csv")})
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and found.run == "again", "the same limit says more than the same data"
    ran(
        other.model_copy(update={"training": {**other.training, "max_completion_length": 4}}),
        0.5,
        name="mine4",
        length=3.5,
    )
    found = timing.pace(other, offer(), MODEL)
    assert found is not None and found.run == "again" and found.source == "from “again”, which had other data"


@pytest.mark.parametrize("other", [{"num_iterations": 2}, {"steps_per_generation": 4}])
def test_a_run_that_generates_more_or_less_often_says_nothing(registry_home: Path, other: dict[str, Any]) -> None:
    ran(a_spec(), seconds=3.9)
    same, seldom = timing.pace(a_spec(), offer(), MODEL), timing.pace(a_spec(**other), offer(), MODEL)
    assert same is not None and same.run == "before"
    assert seldom is not None and seldom.run is None
    ran(a_spec(**other), seconds=2.0, name="alike")
    again = timing.pace(a_spec(**other), offer(), MODEL)
    assert again is not None and again.run == "alike"
