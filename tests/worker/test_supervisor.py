"""The supervisor and the runs it started, as real processes: stop, kill -9 of either, resume, honest ends."""

from __future__ import annotations

import importlib.metadata
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths, process
from groupwise.storage.record import checkpoint_files, metrics, run_files, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import checkpoints
from tests.support.homes import wait_for
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue
from tests.support.supervised import LONG, StartWorker, pid_of, resume, supervisors, trains, wait_state, wait_step

COMMITS = "SELECT count(*) FROM acknowledged WHERE attempt = ? AND step > 0"


@pytest.fixture
def start_worker(registry_home: Path) -> Iterator[StartWorker]:
    with supervisors(registry_home) as begin:
        yield begin


def test_stop_saves_then_resume_finishes(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 60, "save_steps": 1000}))
    start_worker()
    wait_step(folder, 3)
    commands.ask_of_run(folder.id, commands.STOP)
    commands.ask_of_run(folder.id, commands.STOP)  # an impatient second click changes nothing
    run = wait_state(folder.id, states.STOPPED)
    saved = metrics.checkpoints(folder.db)[0]
    assert f"Resume continues from step {saved['step']}" in run.sentence
    assert checkpoint_files.problem(folder.path / saved["path"]) is None
    assert saved["step"] == acknowledged_step(folder)
    assert not process.tagged_anywhere(run.tag or "")

    resume(folder)
    run = wait_state(folder.id, states.FINISHED)
    assert (run.step, run.total, run.attempt) == (60, 60, 2)
    assert (folder.final / "model.safetensors").is_file()
    attempts = ask_db(folder, "SELECT attempt, min(step), max(step) FROM grp GROUP BY attempt")
    assert attempts == [(1, 1, saved["step"]), (2, saved["step"] + 1, 60)]
    curve = metrics.read_metrics(folder.db)["curves"]["reward"]
    assert curve["x"] == list(range(1, 61))
    log = folder.log.read_text()
    assert "missing keys" not in log  # tied weights are saved once
    assert [int(step) for step in re.findall(r"^\{'loss'.*'step': (\d+)\}$", log, re.MULTILINE)] == list(range(1, 61))
    notes = re.findall(r"^— [\d-]{10} [\d:]{8} (.*) —$", log, re.MULTILINE)
    step = saved["step"]
    assert notes[:2] == ["Attempt 1 starts: loading the model and the data.", "Training begins: 60 steps."]
    # the trainer and the supervisor both look for what was asked: either may see it first
    assert sorted(notes[2:4]) == ["Asked to stop and save.", f"Checkpoint saved at step {step}."]
    assert notes[4].startswith("Stopped at step ")
    assert notes[5:7] == ["Attempt 2 starts: loading the model and the data.",
                          f"Training resumes at step {step} of 60."]  # fmt: skip
    assert notes[-1].startswith("Finished. Done: step 60 of 60.")


def test_kill_9_of_the_trainer_at_random_points_loses_no_acknowledged_step(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training=LONG))
    start_worker()
    seen: set[tuple[Any, ...]] = set()
    for attempt, how in ((1, signal.SIGKILL), (2, signal.SIGKILL), (3, signal.SIGSEGV)):
        wait_for(f"attempt {attempt}", lambda a=attempt: trains(folder) and ask_db(folder, COMMITS, a)[:1] > [(12,)])
        time.sleep(random.uniform(0, 0.7))
        seen |= set(ask_db(folder, "SELECT seq, attempt, step FROM acknowledged"))
        os.kill(pid_of(folder), how)
        run = wait_state(folder.id, states.KILLED)
        assert ("memory ran out" if how == signal.SIGKILL else "by SIGSEGV") in run.sentence
        assert ask_db(folder, "PRAGMA integrity_check") == [("ok",)]
        assert seen <= set(ask_db(folder, "SELECT seq, attempt, step FROM acknowledged"))
        if attempt < 3:
            resume(folder)
    told = ask_db(folder, "SELECT attempt, message FROM event WHERE kind = 'killed' ORDER BY id")
    assert [attempt for attempt, _ in told] == [1, 2] and all("memory ran out" in str(said) for _, said in told)
    assert "Fatal Python error: Segmentation fault" in folder.log.read_text(), "a crash says where it was"
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
    second = subprocess.run(
        [sys.executable, "-m", "groupwise.worker"], capture_output=True, text=True, timeout=30, check=False
    )
    assert second.returncode == 1
    assert "already has a worker" in second.stderr


def test_a_living_foreign_process_in_a_row_is_never_signalled(start_worker: StartWorker) -> None:
    """Not by pid, not with its true start time, not even where it works in the run's folder: only what carries the
    run's tag is ours."""
    folder = queue(make_spec())
    foreign = subprocess.Popen(["sleep", "60"], cwd=folder.path)
    try:
        identity = process.identity_of(foreign.pid)
        assert identity is not None
        registry.set_state(folder.id, states.STARTING, "", tag=f"{folder.id}:1:fake", **identity.as_dict())
        registry.set_state(folder.id, states.RUNNING, "")
        commands.ask_of_run(folder.id, commands.KILL)
        start_worker()
        wait_state(folder.id, states.STOPPED)
        time.sleep(1.0)
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
    first, second, third = queue(make_spec(training=LONG)), queue(make_spec()), queue(make_spec())
    start_worker()
    wait_state(first.id, states.STARTING)
    wait_for("its place in line", lambda: "Waiting for small" in (registry.get_run(second.id) or first).sentence)
    ahead = "Waiting: 2 runs are before it, small first."
    wait_for("both before it", lambda: ahead in (registry.get_run(third.id) or first).sentence)
    commands.ask_of_run(third.id, commands.STOP)
    commands.ask_of_run(second.id, commands.STOP)
    assert "before it started" in wait_state(second.id, states.STOPPED).sentence
    commands.ask_of_run(first.id, commands.STOP)
    run = wait_state(first.id, states.STOPPED)
    assert run.step <= 1  # at most the step it was in when it first looked


def test_a_stop_while_it_loads_says_when_it_ends(registry_home: Path) -> None:
    folder = queue(make_spec())
    registry.set_state(folder.id, states.STARTING, "Loading the model and the data.")
    commands.ask_of_run(folder.id, commands.STOP)
    (asked,) = commands.open_commands()
    Supervisor().obey(asked)
    run = registry.get_run(folder.id)
    assert run is not None
    assert (run.state, run.sentence) == (states.STOPPING, "Loading. It ends after its first step, with a checkpoint.")


def test_stop_at_once_kills_every_process_and_keeps_the_last_checkpoint(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training=LONG))
    start_worker()
    wait_for("a checkpoint", lambda: ask_db(folder, "SELECT step FROM checkpoint"))
    commands.ask_of_run(folder.id, commands.KILL)
    run = wait_state(folder.id, states.STOPPED)
    assert "without saving. Resume continues from step" in run.sentence
    assert not process.tagged_anywhere(run.tag or "")

    wait_state(queue(make_spec(training=LONG)).id, states.STARTING)
    commands.ask_of_run(folder.id, commands.RESUME)  # it waits for that one, and is removed from the queue
    wait_state(folder.id, states.QUEUED)
    commands.ask_of_run(folder.id, commands.STOP)
    again = wait_state(folder.id, states.STOPPED)
    assert (again.sentence, again.state_at, again.step) == (run.sentence, run.state_at, run.step)


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(start_worker: StartWorker) -> None:
    folder = queue(make_spec(training={**LONG, "max_steps": 45}))
    start_worker()
    wait_for("three checkpoints", lambda: len(ask_db(folder, "SELECT step FROM checkpoint")) >= 3)
    commands.ask_of_run(folder.id, commands.KILL)
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


def test_a_resume_after_the_last_step_only_finishes(start_worker: StartWorker) -> None:
    """As after a kill between the last checkpoint and the last word."""
    folder = queue(make_spec(training={**LONG, "max_steps": 10}))
    start_worker()
    wait_state(folder.id, states.FINISHED)
    shutil.rmtree(folder.final)
    folder.exit.unlink()
    with registry.write_registry() as index:
        index.execute("UPDATE run SET state = ? WHERE id = ?", [states.KILLED, folder.id])
    resume(folder)
    run = wait_state(folder.id, states.FINISHED)
    assert (run.step, run.total) == (10, 10)
    assert {path.name for path in folder.final.iterdir()} >= {"model.safetensors", "config.json", "tokenizer.json"}
    assert not (folder.final / "optimizer.pt").exists()
    known = run_files.library_versions(folder)
    assert tuple(known) == run_files.LIBRARIES and known["trl"] == importlib.metadata.version("trl")


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
    good = paths.registry_path().read_bytes()
    paths.registry_path().write_bytes(b"garbage" * 1000)
    reached = acknowledged_step(folder)
    wait_step(folder, reached + 5)
    assert supervisor.poll() is None
    paths.registry_path().write_bytes(good)
    wait_state(folder.id, states.FINISHED)
