"""To go on from an earlier checkpoint: what was newer is set aside and its steps are trained again; and held-out
prompts are evaluated before the first step, once, whatever comes after."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library import repair
from groupwise.storage.record import attempts, checkpoint_files, metrics, run_files, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import commands, registry
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import checkpoints, train
from tests.support.records import seal_checkpoint
from tests.support.run_states import get
from tests.support.runs import ask_db, make_spec, queue

pytestmark = pytest.mark.usefixtures("keep_signal_handler")
SETTINGS = {
    "max_steps": 6, "save_strategy": "steps", "save_steps": 2, "eval_strategy": "steps", "eval_steps": 3,
    "eval_on_start": True, "per_device_eval_batch_size": 4,
}  # fmt: skip


def test_training_goes_on_from_the_checkpoint_that_was_chosen(registry_home: Path) -> None:
    folder = queue(make_spec(training=SETTINGS, data={"holdout": 4}))
    assert train.main(folder.id) == 0
    before = metrics.read_metrics(folder.db)["curves"]
    assert before["eval_reward"]["x"] == [0, 3, 6] and before["reward"]["x"] == [1, 2, 3, 4, 5, 6]

    registry.set_state(folder.id, states.STARTING, "")
    registry.set_state(folder.id, states.STOPPED, "Stopped.")
    commands.ask_of_run(folder.id, commands.RESUME, 2)
    [asked] = commands.open_commands()
    Supervisor().obey(asked)
    run = registry.get_run(folder.id)
    assert run is not None and (run.state, run.attempt) == (states.QUEUED, 2)
    assert train.main(folder.id) == 0

    assert json.loads(folder.exit.read_text())["outcome"] == "finished"
    begun = ask_db(folder, "SELECT message FROM event WHERE kind = 'begin' AND attempt = 2")
    assert begun == [("Training resumes at step 2 of 6.",)]
    after = metrics.read_metrics(folder.db)["curves"]
    assert after["reward"]["x"] == [1, 2, 3, 4, 5, 6] and after["eval_reward"]["x"] == [0, 3, 6]
    assert after["reward"]["y"][:2] == before["reward"]["y"][:2]
    assert ask_db(folder, "SELECT DISTINCT step FROM grp WHERE mode = 'eval' AND attempt = 2") == [(3,), (6,)]
    aside = [
        point.relative_to(folder.path).as_posix() for point in checkpoint_files.set_aside_points(folder.checkpoints)
    ]
    assert aside == [f"checkpoints/before-attempt-2/checkpoint-{step}" for step in (6, 4)]
    assert [checkpoint_files.step_of(point) for point in checkpoint_files.points(folder.checkpoints)] == [6, 4, 2]


def stop_once_begun(folder: RunFolder) -> None:
    """As the supervisor does, as soon as the run of this process trains."""
    while not files.is_file(folder.db) or not ask_db(folder, "SELECT 1 FROM event WHERE kind = 'begin'"):
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGTERM)


def test_an_evaluation_that_a_stop_came_before_is_made_up_on_resume(registry_home: Path) -> None:
    folder = queue(make_spec(training={**SETTINGS, "eval_steps": 1, "max_steps": 12}, data={"holdout": 4}))
    threading.Thread(target=stop_once_begun, args=[folder], daemon=True).start()
    assert train.main(folder.id) == 0
    ended = json.loads(folder.exit.read_text())
    stopped = ended["step"]
    assert ended["outcome"] == "stopped" and 0 < stopped < 12
    assert metrics.read_metrics(folder.db)["curves"]["eval_reward"]["x"] == list(range(stopped))

    resumed(folder)
    assert train.main(folder.id) == 0
    curves = metrics.read_metrics(folder.db)["curves"]
    assert curves["eval_reward"]["x"] == list(range(13)) and curves["reward"]["x"] == list(range(1, 13))
    found = ask_db(folder, "SELECT step, message FROM event WHERE kind = 'evaluation'")
    assert found == [(stopped, f"The held-out evaluation of step {stopped} is run now: the run ended before it.")]
    assert ask_db(folder, "SELECT count(*) FROM grp WHERE mode = 'eval' AND step = ?", stopped) == [(4,)]
    begun, one_step = (ask_db(folder, f"SELECT min(seq) FROM acknowledged WHERE attempt = 2 {where}")[0][0]
                       for where in ("", f"AND step > {stopped}"))  # fmt: skip
    looked_before, looked_after = (metrics.read_metrics(folder.db, after=seq) for seq in (begun, one_step))
    assert looked_before["reset"] and not looked_after["reset"]  # who watched meanwhile has it too


@pytest.mark.parametrize(
    ("when", "every"), [({"eval_steps": 2}, 2), ({"eval_strategy": "epoch", "num_train_epochs": 3, "max_steps": -1}, 4)]
)
def test_an_evaluation_is_made_up_where_it_was_due_and_is_not_on_record(
    registry_home: Path, when: dict[str, Any], every: int
) -> None:
    """As after a crash between a checkpoint and its evaluation; and not a second time."""
    settings = {**SETTINGS, "save_steps": 4, **when}
    folder = queue(make_spec(training=settings, data={"holdout": 4, "limit": 8}))
    assert train.main(folder.id) == 0
    evaluated = metrics.read_metrics(folder.db)["curves"]["eval_reward"]["x"]
    assert evaluated == list(range(0, evaluated[-1] + 1, every)) and 4 in evaluated[:-1]
    for attempt, made_up in ((2, 1), (3, 1)):
        if attempt == 2:
            with sqlite3.connect(folder.db) as record:
                keys = "SELECT id FROM metric_key WHERE name LIKE 'eval_%'"
                record.execute(f"DELETE FROM metric WHERE step = 4 AND key IN ({keys})")
        checkpoints.set_newer_aside(folder.checkpoints, 4, attempt)
        resumed(folder)
        assert train.main(folder.id) == 0
        assert metrics.read_metrics(folder.db)["curves"]["eval_reward"]["x"] == evaluated
        assert ask_db(folder, "SELECT count(*) FROM event WHERE kind = 'evaluation'") == [(made_up,)]


def resumed(folder: RunFolder) -> None:
    """It was ended, and is to be trained again."""
    registry.set_state(folder.id, states.STARTING, "")
    registry.set_state(folder.id, states.STOPPED, "Stopped.")
    obeyed(folder.id, commands.RESUME)


ENDS = {
    states.KILLED: "Killed at step 11 (SIGKILL), which Groupwise did not send: by hand. {}",
    states.INTERRUPTED: "The machine restarted at step 11. {}",
    states.STOPPED: "Stopped at step 11, as asked. {}",
    states.FAILED: "Failed at step 11: the device ran out of memory.",
}


@pytest.mark.parametrize("state", ENDS)
def test_a_run_to_be_started_again_that_is_removed_from_the_queue_is_as_it_had_ended(
    registry_home: Path, state: str
) -> None:
    """Twice, from an earlier checkpoint; also where its folder is found while it waits, by another registry."""
    folder = queue(make_spec())
    for step in (2, 4):
        seal_checkpoint(folder.checkpoints / f"checkpoint-{step}")
    RunWriter(folder.db, 1, {"exact": 1.0}).close()
    if state == states.FAILED:
        told = {"attempt": 1, "outcome": "failed", "step": 11, "planned": 40, "reason": "the device ran out of memory"}
        files.write_json(folder.exit, told)
    registry.set_state(folder.id, states.STARTING, "")
    registry.set_state(folder.id, state, ENDS[state].format("Resume continues from step 4."), step=11, total=40)
    ended = get(folder.id)
    for attempt, chosen in ((1, 2), (2, None)):
        obeyed(folder.id, commands.RESUME, chosen)
        assert (get(folder.id).state, get(folder.id).attempt) == (states.QUEUED, attempt + 1)
        obeyed(folder.id, commands.STOP)
        again = get(folder.id)
        assert (again.state, again.state_at, again.step) == (state, ended.state_at, 11)
        assert again.sentence == ENDS[state].format("Resume continues from step 2.")
        assert (run_files.exit_record(folder, again.attempt) is not None) == (state == states.FAILED)
    assert attempts.is_end_noted(folder.db, state, ended.state_at)
    assert ask_db(folder, "SELECT count(*) FROM event WHERE kind = ?", state) == [(1,)]

    obeyed(folder.id, commands.RESUME)
    repair.repair()
    found = get(folder.id)
    assert (found.state, found.sentence) == (state, ENDS[state].format("Resume continues from step 2."))
    assert found.state_at == ended.state_at
    assert (run_files.exit_record(folder, found.attempt) is not None) == (state == states.FAILED)


def test_what_never_began_is_removed_from_the_queue_as_that(registry_home: Path) -> None:
    folder = queue(make_spec())
    obeyed(folder.id, commands.STOP)
    assert (get(folder.id).state, get(folder.id).sentence) == (
        states.STOPPED, "Removed from the queue before it started.",
    )  # fmt: skip


def test_what_never_began_begins_with_its_first_attempt(registry_home: Path) -> None:
    """However often it was removed from the queue: an earlier stop does not end it, an earlier resume hides no new."""
    folder = queue(make_spec())
    for _ in range(3):
        obeyed(folder.id, commands.STOP)
        obeyed(folder.id, commands.RESUME)
        assert (get(folder.id).state, get(folder.id).attempt) == (states.QUEUED, 1)
        with pytest.raises(commands.Refused, match="was resumed already"):
            commands.ask_of_run(folder.id, commands.RESUME)
    obeyed(folder.id, commands.STOP)
    with registry.write_registry() as index:  # asked in two tabs at once
        index.execute("INSERT INTO command (run, attempt, kind, asked_at) VALUES (?, 1, 'stop', 0)", [folder.id])
    Supervisor().obey(commands.open_commands()[0])
    assert get(folder.id).state == states.STOPPED and commands.StopFlag(folder.id, 1).is_set()
    obeyed(folder.id, commands.RESUME)
    assert not commands.StopFlag(folder.id, 1).is_set()
    registry.set_state(folder.id, states.STARTING, "", tag="started")
    registry.set_state(folder.id, states.STOPPED, "")
    obeyed(folder.id, commands.RESUME)
    assert get(folder.id).attempt == 2


@pytest.mark.parametrize("left", ["run.db", "log.txt", "exit.json", "checkpoints/checkpoint-2/"])
def test_a_copy_that_brings_something_of_an_attempt_begins_another(registry_home: Path, left: str) -> None:
    folder = queue(make_spec())
    obeyed(folder.id, commands.STOP)
    assert commands.next_attempt(get(folder.id)) == 1
    (folder.path / left).parent.mkdir(exist_ok=True, parents=True)
    (folder.path / left).mkdir(parents=True) if left.endswith("/") else (folder.path / left).touch()
    assert commands.next_attempt(get(folder.id)) == 2


def obeyed(run_id: str, kind: str, step: int | None = None) -> None:
    commands.ask_of_run(run_id, kind, step)
    [asked] = commands.open_commands()
    Supervisor().obey(asked)


def test_a_checkpoint_that_is_gone_meanwhile_is_said(registry_home: Path) -> None:
    folder = queue(make_spec())
    place = seal_checkpoint(folder.checkpoints / "checkpoint-2")
    registry.set_state(folder.id, states.STARTING, "")
    registry.set_state(folder.id, states.STOPPED, "Stopped at step 3.")
    commands.ask_of_run(folder.id, commands.RESUME, 2)
    (place / "optimizer.pt").unlink()
    Supervisor().obey(commands.open_commands()[0])
    run = registry.get_run(folder.id)
    assert run is not None and (run.state, run.attempt) == (states.STOPPED, 1)
    assert run.sentence == "The checkpoint of step 2 is gone. Stopped at step 3."
    assert commands.open_commands() == []
