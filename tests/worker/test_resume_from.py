"""To go on from an earlier checkpoint: what was newer is set aside and its steps are trained again; and held-out
prompts are evaluated before the first step, once, whatever comes after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groupwise.storage.record import checkpoint_files, metrics, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import train
from tests.support.records import seal_checkpoint
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
