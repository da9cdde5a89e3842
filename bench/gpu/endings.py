"""Under the real supervisor: what stop and kill -9 leave of a device's memory, a resume, and a run of two ranks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.gpu import cases
from bench.gpu.cases import Case, Load
from bench.gpu.machine import Machine
from bench.gpu.memory import LONGEST, Failed, log_of
from bench.gpu.report import Row
from groupwise.app.core import format
from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import metrics, states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.spec import RunSpec
from tests.support.homes import fresh_home, queued, wait_for

SLACK = 64 * 2**20  # bytes by which what others use of the device may change meanwhile
FREED_IN = 30.0  # seconds
STEPS, DRY_STEPS = 6, 3  # of the run of two ranks
WAYS = {"stop": states.STOPPED, "kill -9": states.KILLED}


def freed(job: str, case: Case, model: Path, machine: Machine, load: Load) -> Iterator[Row]:
    """Stop a run, resume it from the checkpoint of its stop, and kill it."""
    before = machine.used()
    with supervised(cases.spec_of(case, model, load, max_steps=1000), machine) as folder:
        until(folder, "its second step", lambda run: run.step >= 2)
        yield ended_by("stop", job, folder, machine, before)
        stopped = registry.get_run(folder.id)
        assert stopped is not None
        commands.ask_of_run(folder.id, commands.RESUME)
        wait_for("the next attempt", lambda: (run := registry.get_run(folder.id)) and run.attempt == 2)
        run = until(folder, "a step more", lambda run: run.attempt == 2 and run.step > stopped.step)
        yield Row(job, "resumed", run.step, stopped.step, "steps", "stopped at")
        yield ended_by("kill -9", job, folder, machine, before)


def ended_by(how: str, job: str, folder: RunFolder, machine: Machine, before: int) -> Row:
    """End a run that trains, and look at what of its memory is still in use."""
    run = registry.get_run(folder.id)
    assert run is not None
    held, begun = machine.used(run.tag or "") - before, time.monotonic()
    end(run, how)
    run = wait_for("its end", lambda: ended(folder), LONGEST)
    took = time.monotonic() - begun
    left = until_free(machine, run, before)
    verdict = "ok" if left <= SLACK and run.state == WAYS[how] else "MISSED"
    note = f"of {format.size(held)}; {run.state} after {took:.1f} s"
    return Row(job, f"memory still in use after {how}", left, unit="bytes", note=note, verdict=verdict)


def end(run: Run, how: str) -> None:
    """Ask the supervisor for it, or kill the run's process behind its back."""
    if how == "stop":
        commands.ask_of_run(run.id, commands.STOP)
    else:
        assert run.pid is not None
        os.kill(run.pid, signal.SIGKILL)


def until_free(machine: Machine, run: Run, before: int) -> int:
    """Bytes in use beyond `before`, once they are few or the time for it is over."""
    until = time.monotonic() + FREED_IN
    while (left := machine.used(run.tag or "") - before) > SLACK and time.monotonic() < until:
        time.sleep(0.2)
    return left


def ranks(job: str, case: Case, model: Path, machine: Machine, load: Load, processes: int) -> Iterator[Row]:
    """A run of several ranks, one on each device, to its end."""
    run_spec = cases.spec_of(case, model, load, processes=processes, max_steps=DRY_STEPS if machine.dry else STEPS)
    most, before = 0, machine.used(devices=processes)
    with supervised(run_spec, machine) as folder:

        def over() -> Run | None:
            nonlocal most
            run = registry.get_run(folder.id)
            most = max(most, machine.used((run.tag if run else "") or "", processes) - before)
            return ended(folder)

        run = wait_for("its end", over, LONGEST)
        if run.state != states.FINISHED:
            raise Failed(run.sentence, log_of(folder))
        pace = metrics.pace(folder.db)["median"]
    scale = 1 if machine.dry else processes  # on a CPU the estimate is already that of all ranks
    guess = cases.estimate(run_spec, machine, load).total * scale
    yield Row(job, "finished", run.step, run.total, "steps", "planned", verdict="ok")
    yield Row(job, "a step", pace, unit="s", note=f"{processes} × {2 * load.group} completions")
    yield Row(job, "all devices together, seen from outside", most, guess, "bytes", "estimated")


@contextlib.contextmanager
def supervised(run_spec: RunSpec, machine: Machine) -> Iterator[RunFolder]:
    """A home with this run in the queue, and the supervisor that takes it up. It need not read TRL once more."""
    with fresh_home():
        registry.publish_fact(machine.catalogue)
        folder = queued(run_spec)
        with paths.worker_log().open("ab") as log:
            supervisor = subprocess.Popen(
                [sys.executable, "-m", "groupwise.worker"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            yield folder
        finally:
            supervisor.terminate()
            supervisor.wait(30)


def until(folder: RunFolder, what: str, is_so: Callable[[Run], bool]) -> Run:
    """Wait for something of a run that trains. Raises Failed where it ends before."""

    def look() -> Run | None:
        run = ended(folder)
        if run is not None:
            raise Failed(run.sentence, log_of(folder))
        run = registry.get_run(folder.id)
        return run if run is not None and is_so(run) else None

    found: Run = wait_for(what, look, LONGEST)
    return found


def ended(folder: RunFolder) -> Run | None:
    """The run, where it has ended."""
    run = registry.get_run(folder.id)
    return run if run is not None and run.state in states.ENDED else None
