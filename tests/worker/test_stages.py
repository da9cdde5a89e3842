"""Stages: real runs that train one stage after the other, stopped, killed and resumed in any of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.home import db, paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import checkpoint_files, lineage, metrics, states
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.builtin import starter
from groupwise.worker.launchers import local
from groupwise.worker.training import checkpoints, train
from tests.support.homes import wait_for
from tests.support.offer import OFFER
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue

LORA = {"r": 4, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"}
FORMAT = {"name": "format", "rewards": [{"name": "format"}]}
CORRECTNESS = {
    "name": "correctness", "rewards": [{"name": "correctness", "weight": 2.0}, {"name": "format", "weight": 0.5}],
    "training": {"max_completion_length": 20},
}  # fmt: skip


def staged(*stages: dict[str, Any], training: dict[str, Any] | None = None, **parts: Any) -> RunSpec:
    """Two stages (or those given) of 3 steps × 4 completions."""
    settings = {"max_steps": 3, "max_completion_length": 24, "save_strategy": "steps", "save_steps": 2}
    settings |= training or {}
    return make_spec(training=settings, stages=list(stages) or [FORMAT, CORRECTNESS], **parts)


pytestmark = pytest.mark.usefixtures("keep_signal_handler")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """A finished run of two stages, in a home of its own; tests only read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(tmp_path_factory.mktemp("stages") / "home"))
        paths.prepare()
        registry.open_registry()
        folder = queue(staged(training={"beta": 0.02, "learning_rate": 1e-3, "save_total_limit": 3}))
        assert train.main(folder.id) == 0
    yield folder


def resume_here(folder: RunFolder) -> dict[str, Any]:
    """The next attempt, in this process; its exit record."""
    run = registry.get_run(folder.id)
    assert run is not None
    registry.set_facts(folder.id, attempt=run.attempt + 1)
    assert train.main(folder.id) == 0
    return json.loads(folder.exit.read_text())


def train_until(folder: RunFolder, what: str, reached: Callable[[], Any]) -> dict[str, Any]:
    """Train in this process while someone asks for a stop as soon as `reached`; the exit record."""

    def ask() -> None:
        wait_for(what, reached)
        commands.ask_of_run(folder.id, commands.STOP)

    registry.set_state(folder.id, states.STARTING, "")
    person = threading.Thread(target=ask)
    person.start()
    assert train.main(folder.id) == 0
    person.join()
    return json.loads(folder.exit.read_text())


def messages(folder: RunFolder, kind: str, attempt: int = 1) -> list[str]:
    sql = "SELECT message FROM event WHERE kind = ? AND attempt = ? ORDER BY id"
    return [message for (message,) in ask_db(folder, sql, kind, attempt)]


def weights_in(folder: Path) -> dict[str, Any]:
    name = "adapter_model.safetensors" if (folder / "adapter_config.json").exists() else "model.safetensors"
    return load_file(folder / name)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


def test_steps_are_counted_on_over_stages(trained: RunFolder) -> None:
    assert metrics.read_metrics(trained.db)["curves"]["reward"]["x"] == [1, 2, 3, 4, 5, 6]
    steps = ask_db(trained, "SELECT step, count(*) FROM completion JOIN grp ON grp.id = grp GROUP BY step")
    assert steps == [(step, 4) for step in range(1, 7)]
    record = json.loads(trained.exit.read_text())
    assert (record["outcome"], record["step"], record["planned"]) == ("finished", 6, 6)
    standing = metrics.standing(trained.db)
    assert (standing["step"], standing["total"], standing["begun"]) == (6, 6, True)
    assert lineage.begun_at(db.open_reader(trained.db)) == {1: 0}


def test_tokens_are_counted_on_over_stages(trained: RunFolder) -> None:
    """TRL counts those of each stage anew, and its log says so."""
    sql = "SELECT step, value FROM metric JOIN metric_key ON id = key WHERE name = 'num_tokens' ORDER BY step"
    logged = dict(ask_db(trained, sql))
    assert list(logged) == [1, 2, 3, 4, 5, 6] and sorted(logged.values()) == list(logged.values())
    curve = metrics.read_metrics(trained.db)["curves"]["num_tokens"]
    assert dict(zip(curve["x"], curve["y"], strict=True)) == logged
    per_step = "SELECT sum(tokens) FROM completion JOIN grp ON grp.id = grp GROUP BY step ORDER BY step"
    said = [tokens for (tokens,) in ask_db(trained, per_step)]
    assert all(
        later - before > own for before, later, own in zip([0, *logged.values()], logged.values(), said, strict=False)
    )  # and the prompts' beside them
    facts = "SELECT json_extract(data, '$.tokens') FROM event WHERE kind = 'stage' ORDER BY id"
    assert ask_db(trained, facts) == [(0,), (logged[3],)]


def test_each_stage_says_when_it_begins(trained: RunFolder) -> None:
    told = ask_db(trained, "SELECT kind, step, message FROM event WHERE kind IN ('begin', 'stage') ORDER BY id")
    assert told == [
        ("begin", 0, "Training begins: 6 steps."),
        ("stage", 0, "Stage 1 of 2: format."),
        ("stage", 3, "Stage 2 of 2: correctness."),
    ]


def test_each_stage_scores_with_its_own_functions_and_weights(trained: RunFolder) -> None:
    used = ask_db(
        trained,
        "SELECT DISTINCT step, name FROM score JOIN grp ON grp.id = grp JOIN reward_function ON reward_function.id = "
        "function ORDER BY step, name",
    )
    assert used == [(step, "format") for step in (1, 2, 3)] + [
        (step, name) for step in (4, 5, 6) for name in ("correctness", "format")
    ]
    reader = db.open_reader(trained.db)
    weights = {step: metrics.stage_weights(reader, 1, step) for step in (3, 4)}
    assert weights == {3: {"format": 1.0}, 4: {"correctness": 2.0, "format": 0.5}}
    rows = ask_db(
        trained,
        "SELECT step, completion.reward, sum(value * CASE WHEN step < 4 THEN 1.0 WHEN name = 'format' THEN 0.5 "
        "ELSE 2.0 END) FROM completion JOIN grp ON grp.id = completion.grp JOIN score USING (grp, idx) "
        "JOIN reward_function ON reward_function.id = function GROUP BY completion.id",
    )
    assert len(rows) == 24
    assert all(reward == pytest.approx(total) for _, reward, total in rows)


def test_checkpoints_say_the_runs_step(trained: RunFolder) -> None:
    saved = [(row["step"], row["path"]) for row in metrics.checkpoints(trained.db)]
    assert saved == [
        (6, "checkpoints/stage-2/checkpoint-3"), (5, "checkpoints/stage-2/checkpoint-2"),
        (3, "checkpoints/stage-1/checkpoint-3"), (2, "checkpoints/stage-1/checkpoint-2"),
    ]  # fmt: skip
    assert not (trained.path / saved[3][1]).exists()  # save_total_limit of 3 counts over stages
    for step, path in saved[:3]:
        assert checkpoint_files.problem(trained.path / path) is None
        assert checkpoint_files.step_of(trained.path / path) == step
    newest = checkpoint_files.latest_sealed(trained.checkpoints)
    assert newest == trained.path / saved[0][1]
    assert (trained.final / "model.safetensors").is_file()


@pytest.mark.parametrize("lora", [None, LORA], ids=["full", "lora"])
def test_a_stage_begins_with_the_model_of_the_one_before(registry_home: Path, lora: dict[str, Any] | None) -> None:
    """A second stage that learns nothing ends with exactly what the first ended with."""
    second = {"training": {"learning_rate": 0.0, "max_steps": 1}}
    first = {"rewards": [{"name": "correctness"}]}
    folder = queue(staged(first, second, training={"max_steps": 2, "learning_rate": 1e-2, "beta": 0.02}, lora=lora))
    assert train.main(folder.id) == 0
    ended, final = weights_in(checkpoints.stage_folder(folder.checkpoints, 1) / "model"), weights_in(folder.final)
    assert same(ended, final)
    begun = load_file(starter.MODEL / "model.safetensors") if lora is None else None
    assert (not same(final, begun)) if begun else any(t.abs().max() > 0 for n, t in final.items() if "lora_B" in n)
    assert messages(folder, "stage")[1] == "Stage 2 of 2: format, correctness."
    # the reference is the run's own model in every stage, so kl, and what beta means, go on over stages
    kl = metrics.read_metrics(folder.db)["curves"]["kl"]["y"]
    assert kl[0] == pytest.approx(0.0, abs=1e-6) and kl[2] > 1e-5


def test_the_total_is_planned_before_the_later_stages_are_built(registry_home: Path) -> None:
    """By epochs: 10 rows hold 2 × 4 prompts (16 completions a generation, in groups of 4), each trained twice."""
    epochs = {"max_steps": -1, "num_train_epochs": 1.0, "gradient_accumulation_steps": 4, "num_iterations": 2}
    folder = queue(staged({"training": {"max_steps": 1}}, {"training": epochs}, data={"limit": 10}))
    assert train.main(folder.id) == 0
    totals = ask_db(folder, "SELECT json_extract(data, '$.total') FROM event WHERE kind IN ('begin', 'stage')")
    assert totals == [(5,)] * 3
    assert json.loads(folder.exit.read_text())["step"] == 5


def test_a_resume_between_two_stages_begins_the_next_from_the_last_whole_model(registry_home: Path) -> None:
    """As after a kill -9 right after stage 1; then with its model damaged; then with nothing left whole."""
    folder = queue(staged(training={"max_steps": 1, "save_steps": 1}))
    assert train.main(folder.id) == 0
    for attempt, harmed in ((2, []), (3, ["model"]), (4, ["model", "checkpoint-1"])):
        shutil.rmtree(checkpoints.stage_folder(folder.checkpoints, 2))
        shutil.rmtree(folder.final)
        for name in harmed:
            (checkpoints.stage_folder(folder.checkpoints, 1) / name / "model.safetensors").write_bytes(b"x")
        record = resume_here(folder)
        assert (record["outcome"], record["step"], record["planned"]) == ("finished", 2, 2)
        whole = attempt < 4
        trained = ask_db(folder, "SELECT min(step), max(step) FROM grp WHERE attempt = ?", attempt)
        assert trained == [(2, 2) if whole else (1, 2)]
        begun = "Training resumes at step 1 of 2." if whole else "Training begins: 2 steps."
        assert messages(folder, "begin", attempt) == [begun]
        stages = ["Stage 1 of 2: format.", "Stage 2 of 2: correctness."]
        assert messages(folder, "stage", attempt) == stages[whole:]
        assert len(messages(folder, "warning", attempt)) == len(harmed)
        assert metrics.read_metrics(folder.db)["curves"]["reward"]["x"] == [1, 2]
        assert weights_in(folder.final)
    passed = "The model of stage 1 has a damaged model.safetensors, so it was skipped."
    assert messages(folder, "warning", 3) == [passed]


def test_stop_in_stage_2_saves_and_resume_goes_on_there(registry_home: Path) -> None:
    folder = queue(staged(FORMAT, {**CORRECTNESS, "training": {"max_steps": 20}}, training={"save_strategy": "no"}))
    stopped = train_until(folder, "stage 2", lambda: acknowledged_step(folder) >= 4)
    assert stopped["outcome"] == "stopped" and 4 < stopped["step"] < 23
    saved = checkpoint_files.latest_sealed(folder.checkpoints)
    assert (
        saved is not None
        and checkpoint_files.stage_of(saved) == 2
        and checkpoint_files.step_of(saved) == stopped["step"]
    )
    record = resume_here(folder)
    assert (record["outcome"], record["step"], record["planned"]) == ("finished", 23, 23)
    assert messages(folder, "begin", 2) == [f"Training resumes at step {stopped['step']} of 23."]
    assert ask_db(folder, "SELECT min(step), max(step) FROM grp WHERE attempt = 2") == [(stopped["step"] + 1, 23)]


def test_a_stop_in_the_last_step_of_a_stage_ends_the_run_before_the_next(registry_home: Path) -> None:
    folder = queue(staged({**FORMAT, "training": {"max_steps": 1}}, CORRECTNESS))
    stopped = train_until(folder, "the first step to begin", lambda: messages(folder, "begin"))
    assert (stopped["outcome"], stopped["step"]) == ("stopped", 1)
    saved = checkpoint_files.latest_sealed(folder.checkpoints)
    assert saved is not None and saved.name == "model" and checkpoint_files.step_of(saved) == 1
    assert messages(folder, "stage") == ["Stage 1 of 2: format."]
    assert resume_here(folder)["step"] == 4
    assert messages(folder, "stage", 2) == ["Stage 2 of 2: correctness."]


def test_kill_9_in_stage_1_and_resume_goes_on_there(registry_home: Path) -> None:
    folder = queue(staged({**FORMAT, "training": {"max_steps": 30}}, CORRECTNESS, lora=LORA))
    child = local.start(folder, f"{folder.id}:1:x", 1)
    try:
        wait_for("a checkpoint", lambda: len(ask_db(folder, "SELECT step FROM checkpoint")) >= 2)
    finally:
        process.signal_tagged(f"{folder.id}:1:x", folder.path, signal.SIGKILL)
        child.wait()
    point, _ = checkpoints.latest_whole(folder.checkpoints)
    assert point is not None and checkpoint_files.stage_of(point) == 1
    step = checkpoint_files.step_of(point)
    assert not folder.exit.exists()
    record = resume_here(folder)
    assert (record["outcome"], record["step"], record["planned"]) == ("finished", 33, 33)
    assert messages(folder, "begin", 2) == [f"Training resumes at step {step} of 33."]
    assert messages(folder, "stage", 2) == ["Stage 1 of 2: format.", "Stage 2 of 2: correctness."]
    assert (folder.final / "adapter_model.safetensors").is_file()
    assert {path.name for path in folder.final.iterdir()} & {"ref"} == set()


def test_two_real_ranks_train_stage_after_stage(registry_home: Path) -> None:
    folder = queue(staged(launch={"processes": 2}, training={"max_steps": 2}))
    done = subprocess.run(
        local.training_command(folder.id, 2),
        cwd=folder.path,
        env={**os.environ, **local.training_environment("test:1:x", 2)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-12_000:]
    assert ask_db(folder, "SELECT step, count(*) FROM grp GROUP BY step") == [(step, 2) for step in (1, 2, 3, 4)]
    assert json.loads(folder.exit.read_text())["planned"] == 4
    assert len(messages(folder, "stage")) == 2


def test_a_later_stage_that_cannot_be_built_is_said_before_the_first_trains(registry_home: Path) -> None:
    folder = queue(staged(FORMAT, {"training": {"num_generations": 3}}))
    assert train.main(folder.id) == 1
    record = json.loads(folder.exit.read_text())
    assert "stage 2 cannot be trained: generation_batch_size (4) must be divisible by" in record["reason"]
    assert acknowledged_step(folder) == 0


def checked(*stages: dict[str, Any], training: dict[str, Any] | None = None, source: str = "task:arithmetic") -> Any:
    """The problems of stages by field, by the small catalogue of tests/support/offer.py."""
    settings = {"name": "x", "data": {"source": source}, "rewards": [{"name": "format"}], "training": training or {}}
    found = examine_spec(spec.from_dict({**settings, "stages": list(stages)}), OFFER)
    assert len({problem.field for problem in found}) == len(found)
    return {problem.field: problem for problem in found}


def test_what_is_wrong_in_one_stage_is_said_and_mended_there() -> None:
    wrong = {"rewards": [{"name": "correctnes"}], "training": {"lerning_rate": 1.0}}
    found = checked(FORMAT, wrong, {"training": {"num_generations": 3}})
    assert set(found) == {
        "stages.1.training.lerning_rate", "stages.1.rewards.0.name", "stages.2.training.num_generations"
    }  # fmt: skip
    misspelt = found["stages.1.training.lerning_rate"].fixes[0]
    assert misspelt.settings == {"stages.1.training.learning_rate": 1.0}
    assert misspelt.removed == ("stages.1.training.lerning_rate",)
    assert found["stages.1.rewards.0.name"].fixes[0].settings == {"stages.1.rewards.0.name": "correctness"}
    sizes = [fix.settings for fix in found["stages.2.training.num_generations"].fixes]
    assert {"stages.2.training.num_generations": 4} in sizes


def test_what_is_wrong_in_every_stage_is_said_once_at_the_runs_own_field() -> None:
    wrong = {"loss_type": "dap"}
    right = {"training": {"loss_type": "grpo"}}
    assert list(checked(FORMAT, FORMAT, training=wrong, source="task:nothing")) == ["training.loss_type", "data.source"]
    assert list(checked(right, FORMAT, training=wrong)) == ["training.loss_type"]
    assert list(checked(right, right, training=wrong)) == []  # what no stage uses harms none


def test_what_one_process_decides_once_is_refused_in_a_stage() -> None:
    (problem,) = examine_spec(staged(FORMAT, {"training": {"ddp_backend": "gloo"}}), Offer())
    assert problem.field == "stages.1.training.ddp_backend"
    assert problem.fixes[0].settings == {"training.ddp_backend": "gloo"}


def test_vllm_inside_the_process_twice_is_a_warning() -> None:
    (problem,) = examine_spec(staged(training={"use_vllm": True}), Offer())
    assert (problem.level, problem.field) == ("warning", "training.vllm_mode")
    assert examine_spec(staged(training={"use_vllm": True, "vllm_mode": "server"}), Offer()) == []


def test_a_run_without_stages_has_its_problems_at_its_own_fields() -> None:
    fields = {problem.field for problem in examine_spec(make_spec(training={"loss_type": "dap"}), OFFER)}
    assert "training.loss_type" in fields and not any(field.startswith("stages") for field in fields)
