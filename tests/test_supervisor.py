"""The supervisor and the runs it starts, as real processes: launch, stop, kill -9 of either, resume, honest ends."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.homes import wait_for
from storage import home, locks, process, questions, registry, series, states
from storage.checks.check import examine
from storage.home import RunFolder
from storage.offer import Offer
from storage.problem import WARNING
from tests.asking import answer_of, ask, children, taken
from tests.runs import acknowledged_step, ask_db, make_spec, queue, state_of
from worker.supervisor import Supervisor
from worker.training import checkpoints

COMMITS = "SELECT count(*) FROM acknowledged WHERE attempt = ? AND step > 0"
StartWorker = Callable[[], "subprocess.Popen[bytes]"]
LONG = {"max_steps": 3000, "save_strategy": "steps", "save_steps": 10, "save_total_limit": 3}


@pytest.fixture
def start_worker(registry_home: Path) -> Iterator[StartWorker]:
    """Starts supervisors of this test's home; afterwards ends them and whatever runs they left, and nothing else."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        with (registry_home / "worker.log").open("ab") as log:
            begun.append(subprocess.Popen([sys.executable, "-m", "worker"], stdout=log, stderr=log))
        wait_for("the supervisor", lambda: locks.is_held(home.supervisor_lock()))
        return begun[-1]

    registry.publish("catalogue", {"versions": _versions()})  # reading TRL for it is not what these tests are about
    yield begin
    for supervisor in begun:
        supervisor.kill()
        supervisor.wait()
    for run in registry.runs():
        if run.tag:
            process.signal_tagged(run.tag, signal.SIGKILL)


def _versions() -> dict[str, str]:
    from worker.offering import catalogue

    return catalogue.versions()


def wait_state(run_id: str, state: str, seconds: float = 90.0) -> registry.Run:
    wait_for(f"{run_id} to be {state}", lambda: state_of(run_id) == state or _fail_early(run_id, state), seconds)
    run = registry.get(run_id)
    assert run is not None
    return run


def _fail_early(run_id: str, wanted: str) -> bool:
    run = registry.get(run_id)
    assert run is not None
    if run.state in states.ENDED and wanted not in (run.state, states.QUEUED):
        log = run.folder.log.read_text()[-3000:] if run.folder.log.exists() else ""
        raise AssertionError(f"{run.state}: {run.sentence}\n{log}")
    return False


def wait_step(folder: RunFolder, step: int) -> None:
    wait_for(f"step {step}", lambda: acknowledged_step(folder) >= step)


def resume(folder: RunFolder) -> None:
    """Ask for it, and wait until the supervisor has taken it up."""
    run = registry.get(folder.id)
    assert run is not None
    registry.ask(folder.id, registry.RESUME)
    wait_for("the next attempt", lambda: registry.runs()[0].attempt == run.attempt + 1)


def pid_of(folder: RunFolder) -> int:
    run = registry.get(folder.id)
    assert run is not None and run.pid is not None
    return run.pid


def test_stop_saves_then_resume_finishes(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 60, "save_steps": 1000}))
    start_worker()
    wait_step(folder, 3)
    registry.ask(folder.id, registry.STOP)
    registry.ask(folder.id, registry.STOP)  # an impatient second click changes nothing
    run = wait_state(folder.id, states.STOPPED)
    saved = series.checkpoints(folder.db)[0]
    assert f"Resume continues from step {saved['step']}" in run.sentence
    assert checkpoints.problem(folder.path / saved["path"]) is None
    assert saved["step"] == acknowledged_step(folder)
    assert not process.tagged(run.tag or "")

    resume(folder)
    run = wait_state(folder.id, states.FINISHED)
    assert (run.step, run.total, run.attempt) == (60, 60, 2)
    assert (folder.final / "model.safetensors").is_file()
    attempts = ask_db(folder, "SELECT attempt, min(step), max(step) FROM grp GROUP BY attempt")
    assert attempts == [(1, 1, saved["step"]), (2, saved["step"] + 1, 60)]
    curve = series.read(folder.db)["curves"]["reward"]
    assert curve["x"] == list(range(1, 61))


def test_kill_9_of_the_trainer_at_random_points_loses_no_acknowledged_step(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training=LONG))
    start_worker()
    seen: set[tuple[Any, ...]] = set()
    for attempt in (1, 2, 3):
        wait_for(f"attempt {attempt}", lambda a=attempt: ask_db(folder, COMMITS, a)[:1] > [(12,)])
        time.sleep(random.uniform(0, 0.7))
        seen |= set(ask_db(folder, "SELECT seq, attempt, step FROM acknowledged"))
        os.kill(pid_of(folder), signal.SIGKILL)
        run = wait_state(folder.id, states.KILLED)
        assert "memory ran out" in run.sentence
        assert ask_db(folder, "PRAGMA integrity_check") == [("ok",)]
        assert seen <= set(ask_db(folder, "SELECT seq, attempt, step FROM acknowledged"))
        if attempt < 3:
            resume(folder)
    # each acknowledged step has its reward, and one group of 4 with all its scores
    trained = "step > (SELECT step FROM event WHERE kind = 'begin' AND event.attempt = acknowledged.attempt)"
    steps = ask_db(folder, f"SELECT count(DISTINCT attempt || '.' || step) FROM acknowledged WHERE {trained}")
    rewards = "SELECT count(*) FROM metric JOIN metric_key ON id = key WHERE name = 'reward'"
    assert ask_db(folder, rewards) == steps == ask_db(folder, "SELECT count(*) FROM grp")
    assert ask_db(folder, "SELECT count(*) FROM completion") == [(4 * steps[0][0],)]
    assert ask_db(folder, "SELECT count(*) FROM score") == [(8 * steps[0][0],)]


def test_kill_9_of_the_supervisor_leaves_the_run_going_and_the_next_takes_it_over(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 150}))
    supervisor = start_worker()
    wait_step(folder, 2)
    before = wait_state(folder.id, states.RUNNING)
    supervisor.kill()
    supervisor.wait()
    reached = acknowledged_step(folder)
    wait_step(folder, reached + 3)
    start_worker()
    run = wait_state(folder.id, states.FINISHED)
    assert (run.pid, run.attempt, run.step) == (before.pid, 1, 150)


def test_a_second_supervisor_leaves_at_once(start_worker: StartWorker) -> None:
    start_worker()
    second = subprocess.run([sys.executable, "-m", "worker"], capture_output=True, text=True, timeout=30, check=False)
    assert second.returncode == 1
    assert "already has a worker" in second.stderr


def test_a_living_foreign_process_in_a_row_is_never_signalled(start_worker: StartWorker) -> None:
    """Not by pid, not even with its true start time: only what carries the run's tag is ours."""
    folder = queue(make_spec())
    foreign = subprocess.Popen(["sleep", "60"])
    try:
        identity = process.identity_of(foreign.pid)
        assert identity is not None
        registry.set_state(folder.id, states.STARTING, "", tag=f"{folder.id}:1:fake", **identity.as_dict())
        registry.set_state(folder.id, states.RUNNING, "")
        registry.ask(folder.id, registry.KILL)
        start_worker()
        wait_state(folder.id, states.STOPPING)
        time.sleep(1.0)
        assert foreign.poll() is None
        # and with another start time, as after a reuse of the pid, it is not even taken for the run
        registry.set_facts(folder.id, started=identity.started + 1)
        wait_state(folder.id, states.STOPPED)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def test_another_boot_means_interrupted(start_worker: StartWorker) -> None:
    folder = queue(make_spec())
    registry.set_state(folder.id, states.STARTING, "", boot="another", pid=os.getpid(), started=1, tag="x")
    start_worker()
    assert "machine restarted" in wait_state(folder.id, states.INTERRUPTED).sentence


def test_stop_while_queued_and_while_loading(start_worker: StartWorker) -> None:
    first, second = queue(make_spec(training=LONG)), queue(make_spec())
    start_worker()
    wait_state(first.id, states.STARTING)
    wait_for("its place in line", lambda: "Waiting for small" in (registry.get(second.id) or first).sentence)
    registry.ask(second.id, registry.STOP)
    assert "before it started" in wait_state(second.id, states.STOPPED).sentence
    registry.ask(first.id, registry.STOP)
    run = wait_state(first.id, states.STOPPED)
    assert run.step <= 1  # at most the step it was in when it first looked


def test_stop_at_once_kills_every_process_and_keeps_the_last_checkpoint(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training=LONG))
    start_worker()
    wait_for("a checkpoint", lambda: ask_db(folder, "SELECT step FROM checkpoint"))
    registry.ask(folder.id, registry.KILL)
    run = wait_state(folder.id, states.STOPPED)
    assert "without saving. Resume continues from step" in run.sentence
    assert not process.tagged(run.tag or "")


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 45}))
    start_worker()
    wait_for("three checkpoints", lambda: len(ask_db(folder, "SELECT step FROM checkpoint")) >= 3)
    registry.ask(folder.id, registry.KILL)
    wait_state(folder.id, states.STOPPED)
    newest, _ = checkpoints.latest_whole(folder.checkpoints)
    assert newest is not None
    with (newest / "optimizer.pt").open("r+b") as file:
        file.truncate(1000)
    before, passed = checkpoints.latest_whole(folder.checkpoints)
    assert before is not None and before != newest and "damaged optimizer.pt" in passed[0]
    resume(folder)
    wait_state(folder.id, states.FINISHED)
    resumed = ask_db(folder, "SELECT message FROM event WHERE kind = 'begin' AND attempt = 2")
    assert f"at step {before.name.rpartition('-')[2]} " in resumed[0][0]
    assert ask_db(folder, "SELECT count(*) FROM event WHERE kind = 'warning' AND attempt = 2") == [(1,)]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"data": {"answer_pattern": "#### (.*)"}}, "found in none"),
        ({"data": {"limit": 1}, "training": {"per_device_train_batch_size": 8}}, "1 rows to train on, but each"),
        ({"training": {"num_generations": 3}}, "must be divisible by num_generations"),
    ],
    ids=["pattern", "few rows", "batch"],
)
def test_what_only_shows_at_the_start_fails_with_the_reason(
    start_worker: StartWorker, parts: dict[str, Any], reason: str
) -> None:
    folder = queue(make_spec(**parts))
    start_worker()
    run = wait_state(folder.id, states.FAILED)
    assert reason in run.sentence
    assert json.loads(folder.exit.read_text())["outcome"] == "failed"


def test_what_the_check_finds_is_not_even_started(start_worker: StartWorker) -> None:
    parts = {"data.prompt_template": {"prompt_template": "{nothing}"}, "data.holdout": {"holdout": 64}}
    folders = {field: queue(make_spec(data=data)) for field, data in parts.items()}
    start_worker()
    for field, folder in folders.items():
        assert f"Could not be started: {field}, line " in wait_state(folder.id, states.FAILED).sentence
        assert not folder.log.exists()


def test_what_is_only_warned_of_keeps_no_run_from_starting(registry_home: Path) -> None:
    run_spec = make_spec(data={"config": "main"})
    assert [problem.level for problem in examine(run_spec, Offer())] == [WARNING]
    run = registry.get(queue(run_spec).id)
    assert run is not None
    assert Supervisor()._prepare(run) == run_spec


def test_a_spec_that_was_edited_by_hand_stops_neither_the_worker_nor_the_next_run(start_worker: StartWorker) -> None:
    broken = {
        "source: file:foo.txt": "should be a JSONL, CSV or Parquet file",
        "source: task:nothing": "no built-in task “nothing”",
        "source: \xe9": "can't decode",
    }
    folders = [queue(make_spec()) for _ in broken]
    for folder, line in zip(folders, broken, strict=True):
        text = folder.spec.read_text().replace("source: task:arithmetic", line)
        folder.spec.write_bytes(text.encode("latin-1"))
    (home.data_folder() / "foo.txt").write_text("x")
    after = queue(make_spec(training={"max_steps": 1}))
    supervisor = start_worker()
    for folder, reason in zip(folders, broken.values(), strict=True):
        assert reason in wait_state(folder.id, states.FAILED).sentence
    wait_state(after.id, states.FINISHED)
    assert supervisor.poll() is None


def test_a_resume_after_the_last_step_only_finishes(start_worker: StartWorker) -> None:
    """As after a kill between the last checkpoint and the last word."""
    folder = queue(make_spec(training={**LONG, "max_steps": 10}))
    start_worker()
    wait_state(folder.id, states.FINISHED)
    shutil.rmtree(folder.final)
    folder.exit.unlink()
    with registry.writing() as index:
        index.execute("UPDATE run SET state = ? WHERE id = ?", [states.KILLED, folder.id])
    resume(folder)
    run = wait_state(folder.id, states.FINISHED)
    assert (run.step, run.total) == (10, 10)
    assert {path.name for path in folder.final.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    assert not (folder.final / "optimizer.pt").exists()


def test_lora_resumes_and_keeps_as_many_checkpoints_as_asked(start_worker: StartWorker) -> None:
    lora = {"r": 4, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}
    folder = queue(make_spec(training={**LONG, "max_steps": 45, "save_total_limit": 2}, lora=lora))
    start_worker()
    wait_for("a checkpoint", lambda: ask_db(folder, "SELECT step FROM checkpoint"))
    os.kill(pid_of(folder), signal.SIGKILL)
    wait_state(folder.id, states.KILLED)
    resume(folder)
    wait_state(folder.id, states.FINISHED)
    assert sorted(path.name for path in folder.checkpoints.glob("checkpoint-*")) == ["checkpoint-40", "checkpoint-45"]
    assert (folder.final / "adapter_model.safetensors").is_file()


def test_a_damaged_registry_does_not_end_training(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 120}))
    supervisor = start_worker()
    wait_step(folder, 2)
    good = home.registry_path().read_bytes()
    home.registry_path().write_bytes(b"garbage" * 1000)
    reached = acknowledged_step(folder)
    wait_step(folder, reached + 5)
    assert supervisor.poll() is None
    home.registry_path().write_bytes(good)
    wait_state(folder.id, states.FINISHED)


def test_a_run_folder_that_is_copied_into_the_home_appears(start_worker: StartWorker, tmp_path: Path) -> None:
    folder = queue(make_spec(training={"max_steps": 1}))
    start_worker()
    wait_state(folder.id, states.FINISHED)
    copy = home.run_folder("a-copy")
    shutil.copytree(folder.path, copy.path)
    run = wait_for("the copy", lambda: registry.get("a-copy"), 30)
    assert (run.state, run.name, run.step) == (states.FINISHED, "small", 1)


def test_code_in_the_folder_that_did_not_ship_is_never_run(start_worker: StartWorker) -> None:
    folder = queue(make_spec())
    trace = folder.path / "ran"
    (folder.rewards / "format.py").write_text(f"open({str(trace)!r}, 'w')\ndef format(completions, **_): return []\n")
    start_worker()
    run = wait_state(folder.id, states.FAILED)
    assert "rewards/format.py is not the code that ships" in run.sentence
    assert not trace.exists()


def test_a_bench_is_started_for_a_question_and_again_after_a_kill_9(start_worker: StartWorker) -> None:
    supervisor = start_worker()
    build = {"spec": make_spec().model_dump()}
    assert ask(questions.BUILD, build) == {"problems": []}
    (first,) = children(supervisor.pid)
    (home.data_folder() / "hangs.jsonl").write_text('{"question": "1?", "answer": "%s!"}\n' % ("a" * 60))
    data = {"source": "file:hangs.jsonl", "answer_pattern": "(a+)+$"}
    stuck = questions.ask(questions.PREVIEW, {"data": data, "model": {}, "row": 0})
    wait_for("it to be taken up", lambda: taken(stuck))
    os.kill(first, signal.SIGKILL)
    assert "ended before it could answer" in answer_of(stuck, 10)["error"]
    assert ask(questions.BUILD, build) == {"problems": []}
    (second,) = children(supervisor.pid)
    assert second != first


def test_a_restarted_supervisor_never_has_two_benches(start_worker: StartWorker) -> None:
    first = start_worker()
    build = {"spec": make_spec().model_dump()}
    ask(questions.BUILD, build)
    (old,) = children(first.pid)
    first.kill()
    first.wait()
    second = start_worker()
    assert ask(questions.BUILD, build) == {"problems": []}
    (new,) = children(second.pid)
    assert new != old and process.identity_of(old) is None
