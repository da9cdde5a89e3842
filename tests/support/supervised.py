"""Supervisors as real processes, and ways to wait for what the runs they start have come to."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from groupwise.storage.home import locks, paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.messages.facts import Catalogue
from tests.support.homes import PATIENCE, wait_for
from tests.support.runs import acknowledged_step, state_of

StartWorker = Callable[[], "subprocess.Popen[bytes]"]
LONG = {"max_steps": 3000, "save_strategy": "steps", "save_steps": 10, "save_total_limit": 3}


@contextlib.contextmanager
def supervisors(place: Path) -> Iterator[StartWorker]:
    """What starts supervisors of a test's home; afterwards ends them and whatever runs they left, and nothing else."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        with (place / "worker.log").open("ab") as log:
            begun.append(subprocess.Popen([sys.executable, "-m", "groupwise.worker"], stdout=log, stderr=log))
        wait_for("the supervisor", lambda: locks.is_held(paths.supervisor_lock()))
        return begun[-1]

    registry.publish_fact(Catalogue(versions=_versions()))  # reading TRL for it is not what these tests are about
    yield begin
    for supervisor in begun:
        supervisor.kill()
        supervisor.wait()
    for run in registry.list_runs():
        if run.tag:
            process.signal_tagged(run.tag, run.folder.path, signal.SIGKILL)


def _versions() -> dict[str, str]:
    from groupwise.worker.capabilities import catalogue

    return catalogue.versions()


def wait_state(run_id: str, state: str, seconds: float = PATIENCE) -> registry.Run:
    wait_for(f"{run_id} to be {state}", lambda: state_of(run_id) == state or _fail_early(run_id, state), seconds)
    run = registry.get_run(run_id)
    assert run is not None
    return run


def _fail_early(run_id: str, wanted: str) -> bool:
    run = registry.get_run(run_id)
    assert run is not None
    if run.state in states.ENDED and wanted not in (run.state, states.QUEUED):
        log = run.folder.log.read_text()[-3000:] if run.folder.log.exists() else ""
        raise AssertionError(f"{run.state}: {run.sentence}\n{log}")
    return False


def trains(folder: RunFolder) -> bool:
    """True; AssertionError, with the end of its log, where the run has ended."""
    return not _fail_early(folder.id, states.RUNNING)


def wait_step(folder: RunFolder, step: int) -> None:
    wait_for(f"step {step}", lambda: acknowledged_step(folder) >= step)


def resume(folder: RunFolder) -> None:
    """Ask for it, and wait until the supervisor has taken it up."""
    run = registry.get_run(folder.id)
    assert run is not None
    commands.ask_of_run(folder.id, commands.RESUME)
    wait_for("the next attempt", lambda: registry.list_runs()[0].attempt == run.attempt + 1)


def pid_of(folder: RunFolder) -> int:
    run = registry.get_run(folder.id)
    assert run is not None and run.pid is not None
    return run.pid
