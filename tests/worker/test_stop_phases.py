"""A stop in each phase of a step, by whatever way, ends with a whole checkpoint of the step it came in."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.record import checkpoint_files, metrics, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import checkpoints
from tests.support.homes import wait_for
from tests.support.runs import acknowledged_step, ask_db, make_spec, queue
from tests.support.supervised import LONG, pid_of, supervisors, trains, wait_state, wait_step

SECONDS = 3.0  # that the slow reward function takes
SLOW = (
    f"import time\ndef slow(completions, **kwargs):\n    time.sleep({SECONDS})\n    return [1.0] * len(completions)\n"
)
SLOW_REWARD = {"rewards": [{"name": "slow", "timeout": 30}], "training": {**LONG, "save_steps": 1000}}
# Generation takes nearly all of a step.
LONG_WINDED = {**LONG, "save_steps": 1000, "max_completion_length": 400, "generation_kwargs": {"min_new_tokens": 390}}


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with one supervisor for all tests of this file; a run is over before the next begins."""
    place = tmp_path_factory.mktemp("stops") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        library.save_reward("slow", SLOW)
        with supervisors(place) as begin:
            begin()
            yield place


@pytest.fixture(autouse=True)
def in_shared_home(shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(shared_home))


def begun(folder: RunFolder) -> bool:
    return trains(folder) and bool(ask_db(folder, "SELECT 1 FROM event WHERE kind = 'begin'"))


def stops_whole(folder: RunFolder) -> registry.Run:
    """It was stopped with a whole checkpoint of its last step, and nothing of it lives."""
    run = wait_state(folder.id, states.STOPPED)
    step = acknowledged_step(folder)
    assert run.sentence == f"Stopped at step {step}, as asked. Resume continues from step {step}."
    newest, passed = checkpoints.latest_whole(folder.checkpoints)
    assert newest is not None and checkpoint_files.step_of(newest) == step and passed == []
    assert not process.tagged_anywhere(run.tag or "")
    return run


def stop(folder: RunFolder) -> None:
    """Twice, as an impatient person does."""
    commands.ask_of_run(folder.id, commands.STOP)
    commands.ask_of_run(folder.id, commands.STOP)


def test_before_the_first_step_is_done() -> None:
    folder = queue(make_spec(**SLOW_REWARD))
    wait_for("the beginning", lambda: begun(folder))
    assert acknowledged_step(folder) == 0
    stop(folder)
    assert stops_whole(folder).step == 1


def test_in_a_reward_function() -> None:
    folder = queue(make_spec(**SLOW_REWARD))
    wait_step(folder, 1)
    time.sleep(SECONDS / 2)
    stop(folder)
    assert stops_whole(folder).step == 2


def test_while_it_generates() -> None:
    """Where the machine was so slow, or so quick, that it was asked in another phase, another run is tried."""
    while_generating = False
    for _ in range(4):
        folder = queue(make_spec(training=LONG_WINDED))
        wait_step(folder, 1)
        seen = time.monotonic()
        time.sleep(0.1)
        stop(folder)
        asked_after = time.monotonic() - seen + 0.1  # of which the step had been there for a while
        assert stops_whole(folder).step == 2
        curves = metrics.read_metrics(folder.db)["curves"]
        while_generating = curves["time/generation"]["y"][-1] > asked_after
        if while_generating:
            break
    assert while_generating


def begun_checkpoint(folder: RunFolder) -> Path | None:
    """The newest, while its manifest is not there yet; an older one without may be on its way out."""
    newest = max(folder.checkpoints.glob("checkpoint-*"), key=checkpoint_files.step_of, default=None)
    return None if newest is None or (newest / checkpoint_files.MANIFEST).exists() else newest


def test_while_it_saves() -> None:
    """What was asked a moment too late for that stops as well, and another run is tried."""
    in_time = False
    for _ in range(6):
        folder = queue(make_spec(training={**LONG, "save_steps": 1, "save_total_limit": 2}))
        deadline = time.monotonic() + 90
        while (saving := begun_checkpoint(folder)) is None:
            assert time.monotonic() < deadline and trains(folder)
        stop(folder)
        in_time = not (saving / checkpoint_files.MANIFEST).exists()
        stops_whole(folder)
        if in_time:
            break
    assert in_time


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_by_a_signal_from_elsewhere(number: signal.Signals) -> None:
    folder = queue(make_spec(training={**LONG, "save_steps": 1000}))
    wait_step(folder, 2)
    os.kill(pid_of(folder), number)
    stops_whole(folder)


def test_a_clock_that_jumps_ends_no_run_that_is_stopping(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two hours on, just after a stop was asked, is not two hours that it did not stop for."""
    monkeypatch.setenv("GROUPWISE_HOME", str(tmp_path / "home"))
    paths.prepare()
    registry.open_registry()
    library.save_reward("slow", SLOW)
    folder = queue(make_spec(**SLOW_REWARD))
    supervisor = Supervisor()

    def seen(what: Any) -> bool:
        supervisor.tick()
        return bool(what())

    wait_for("a step", lambda: seen(lambda: acknowledged_step(folder) >= 1))
    stop(folder)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 7200)
    wait_for("its end", lambda: seen(lambda: registry.list_runs()[0].state in states.ENDED))
    stops_whole(folder)
