"""A home that is copied while a run trains in it: what is done in the copy never reaches the original."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.home import paths, process
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from tests.support.runs import acknowledged_step, make_spec, queue
from tests.support.supervised import LONG, pid_of, resume, supervisors, wait_state, wait_step


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[paths.RunFolder, int]]:
    """A run that trains in a home of its own, and its process; it outlives what each test does to copies of it."""
    place = tmp_path_factory.mktemp("original") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        with supervisors(place) as begin:
            folder = queue(make_spec(training={**LONG, "max_steps": 100_000, "save_total_limit": 2}))
            begin()
            wait_step(folder, 12)
            yield folder, pid_of(folder)


def plain_copy(original: Path, target: Path) -> None:
    """As cp -r makes it, of files that come and go meanwhile."""
    subprocess.run(["cp", "-r", str(original), str(target)], check=False, capture_output=True)


def linked_copy(original: Path, target: Path) -> None:
    """As cp -al makes it: every file of it, the run's lock and log too, is the original's very file."""
    target.mkdir()
    for path in sorted(original.rglob("*")):
        place = target / path.relative_to(original)
        if path.is_dir():
            place.mkdir()
        elif path.name == "registry.db":
            shutil.copy(path, place)  # two supervisors of one registry are another story
        elif path.exists() and path.name != "supervisor.lock":
            os.link(path, place)


@pytest.mark.parametrize("copy", [plain_copy, linked_copy])
@pytest.mark.parametrize("ask", [commands.KILL, commands.STOP])
def test_a_stop_in_a_copy_leaves_the_original_training(
    training: tuple[paths.RunFolder, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy, ask: str
) -> None:
    folder, pid = training
    before = process.identity_of(pid)
    copied = tmp_path / "copied"
    copy(folder.path.parents[1], copied)
    monkeypatch.setenv("GROUPWISE_HOME", str(copied))
    commands.ask_of_run(folder.id, ask)  # before its worker looks: the row says that it trains
    with supervisors(copied) as begin:
        begin()
        run = wait_state(folder.id, states.INTERRUPTED)
    assert run.sentence.startswith("This folder is a copy") and "Resume continues from step" in run.sentence
    assert process.identity_of(pid) == before is not None
    wait_step(folder, acknowledged_step(folder) + 3)


def test_a_copy_goes_on_by_itself_and_stopping_it_stops_only_it(
    training: tuple[paths.RunFolder, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, pid = training
    copied = tmp_path / "copied"
    plain_copy(folder.path.parents[1], copied)
    monkeypatch.setenv("GROUPWISE_HOME", str(copied))
    with supervisors(copied) as begin:
        begin()
        wait_state(folder.id, states.INTERRUPTED)
        resume(folder)
        run = wait_state(folder.id, states.RUNNING)
        assert run.pid not in (None, pid)
        commands.ask_of_run(folder.id, commands.KILL)
        wait_state(folder.id, states.STOPPED)
        assert not process.tagged_anywhere(run.tag or "")
    assert process.identity_of(pid) is not None
    wait_step(folder, acknowledged_step(folder) + 3)
