"""A backup that is made while a run trains: the run goes on, and from the backup it can be trained to its end."""

from __future__ import annotations

import os
from pathlib import Path

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import checkpoint_files, metrics, record_check, states
from groupwise.storage.registry import registry
from groupwise.worker.training import checkpoints
from tests.support.backups import back_up, restored_home
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue
from tests.support.supervised import LONG, pid_of, resume, supervisors, trains, wait_state, wait_step

STEPS = 120
# A step takes a quarter of a second on any machine: three backups of some seconds are made before the last, and a slow
# machine isn't kept busy with steps that nobody needs.
UNHURRIED = (
    "import time\ndef unhurried(completions, **kwargs):\n    time.sleep(0.25)\n    return [1.0] * len(completions)\n"
)


def test_a_run_in_a_backup_of_its_training_is_resumed_to_its_end(registry_home: Path, tmp_path: Path) -> None:
    settings = {**LONG, "max_steps": STEPS, "save_steps": 5, "save_total_limit": 2}
    with supervisors(registry_home) as begin:
        library.save_reward("unhurried", UNHURRIED)
        folder = queue(make_spec(training=settings, rewards=[{"name": "unhurried"}]))
        begin()
        wait_step(folder, 12)
        pid = pid_of(folder)
        for number in range(3):  # whatever it does at that moment
            told = back_up(tmp_path / f"{number}.tar")
            assert (told.runs, told.training, told.unread) == (1, [folder.id], [])
            wait_step(folder, acknowledged_step(folder) + 1)
        assert trains(folder) and pid_of(folder) == pid
        os.kill(pid, 0)
    for number in range(3):
        with restored_home(tmp_path / f"{number}.tar", tmp_path / f"new-{number}") as restored:
            assert restored.interrupted == [folder.id] and restored.damaged == []
            copy = paths.run_folder(folder.id)
            assert record_check.of_file(copy.db, deep=True, odd=True) is None
            point, passed = checkpoints.latest_whole(copy.checkpoints)
            assert point is not None and passed == []
            saved, run = checkpoint_files.step_of(point), registry.get_run(folder.id)
            assert run is not None and run.sentence.endswith(f" Resume continues from step {saved}.")
            assert saved <= acknowledged_step(copy), "no step is missing between the two"
    with restored_home(tmp_path / "2.tar", tmp_path / "goes on"):
        copy = paths.run_folder(folder.id)
        with supervisors(tmp_path / "goes on") as begin:
            begin()
            resume(copy)
            run = wait_state(folder.id, states.FINISHED)
        assert (run.step, run.total, run.attempt) == (STEPS, STEPS, 2)
        assert (copy.final / "model.safetensors").is_file()
        assert metrics.read_metrics(copy.db)["curves"]["reward"]["x"] == list(range(1, STEPS + 1))
        begun = ask_db(copy, "SELECT message FROM event WHERE kind = 'begin' AND attempt = 2")
        assert begun == [(f"Training resumes at step {saved} of {STEPS}.",)]
