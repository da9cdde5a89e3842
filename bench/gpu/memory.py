"""A case's memory, part by part and at the worst moments, against the preflight's estimate; and what a step takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.gpu import cases, watch
from bench.gpu.cases import Case, Load
from bench.gpu.machine import Machine
from bench.gpu.report import Row
from bench.table import median
from groupwise.app.pages.new.preflight import memory
from groupwise.app.pages.new.preflight.memory_parts import Parts
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.app.pages.new.preflight.shape import shape_of
from groupwise.storage.home import process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.models.model_facts import facts
from groupwise.storage.record import run_files
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.launchers.local import training_environment
from tests.support.homes import fresh_home, queued

LONGEST = 420.0  # seconds for one case; vLLM takes a minute or two to start
LOOK_EVERY = 0.2  # seconds between looks from outside
MOMENTS = {watch.GENERATING: memory.GENERATING, watch.SCORING: memory.SCORING, watch.UPDATING: memory.UPDATING}


class Failed(Exception):
    """A run did not come to its end; the message says why. `log`: what it printed."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


def measure(job: str, case: Case, model: Path, machine: Machine, load: Load) -> Iterator[Row]:
    run_spec = cases.spec_of(case, model, load)
    with fresh_home() as home:
        folder, before = queued(run_spec), machine.used()
        notes, outside = watched(folder, home / "notes.json", machine)
    yield from of_parts(job, notes, parts_of(run_spec, machine, load))
    yield from of_moments(job, notes, cases.estimate(run_spec, machine, load), machine)
    total = cases.estimate(run_spec, machine, load).total
    yield Row(job, "whole device, seen from outside", outside - before, total, "bytes", "estimated")
    yield from of_time(job, notes, load)


def watched(folder: RunFolder, notes: Path, machine: Machine) -> tuple[dict[str, Any], int]:
    """(what a run noted of itself, the most bytes that were seen from outside). Raises Failed."""
    tag = f"bench-gpu:{os.getpid()}:{folder.id}"
    env = {**os.environ, **training_environment(tag, 1), "PYTHONSAFEPATH": "", "PYTHONPATH": os.getcwd()}
    most, until = 0, time.monotonic() + LONGEST
    with folder.log.open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "bench.gpu.watch", str(notes), folder.id],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
        )  # fmt: skip
    try:
        while child.poll() is None and time.monotonic() < until:
            most = max(most, machine.used(tag))
            time.sleep(LOOK_EVERY)
    finally:
        late = child.poll() is None
        process.signal_tagged(tag, folder.path, signal.SIGKILL)
        child.wait()
    if late:
        raise Failed(f"it took more than {LONGEST:.0f} s", log_of(folder))
    if child.returncode:
        raise Failed(why(folder, child.returncode), log_of(folder))
    return json.loads(notes.read_text(encoding="utf-8")), most


def why(folder: RunFolder, code: int) -> str:
    """Why a run ended with this code, by the record it left."""
    record = run_files.exit_record(folder, 1) or {}
    return str(record.get("reason") or f"it ended with code {code}")


def log_of(folder: RunFolder) -> str:
    return folder.log.read_text(encoding="utf-8", errors="replace") if folder.log.exists() else ""


def parts_of(run_spec: RunSpec, machine: Machine, load: Load) -> dict[str, float]:
    """The estimate's parts that can be measured one by one."""
    shape = shape_of(facts(Path(run_spec.model.id)))
    assert shape is not None
    parts = Parts(Settings(run_spec, machine.offer), shape, load.prompt)
    return {
        "weights": parts.weights() + parts.adapters() + parts.reference() + parts.vllm(),
        "gradients": parts.gradients(),
        "optimiser": parts.optimiser(),
    }


def of_parts(job: str, notes: dict[str, Any], estimated: dict[str, float]) -> Iterator[Row]:
    for name, guess in estimated.items():
        yield Row(job, name, notes["parts"][name], guess, "bytes", "estimated")


def of_moments(job: str, notes: dict[str, Any], guess: memory.Estimate, machine: Machine) -> Iterator[Row]:
    """Peaks as torch's allocator has them: the estimate without what the process itself takes, where there is one."""
    outside = 0 if machine.dry else guess.total - guess.bytes_without_process
    moments = {moment: size - outside for moment, size in guess.moments}
    for phase, moment in MOMENTS.items():
        yield Row(job, f"peak while {phase}", notes["peaks"][phase], moments[moment], "bytes", "estimated")
    peak = max(notes["peaks"].values())
    most = max(moments.values())
    yield Row(job, "peak of all", peak, most, "bytes", "estimated", f"largest estimated part: {guess.largest.name}")
    yield Row(job, "reserved by torch", notes["reserved"], peak, "bytes", "peak of all")


def of_time(job: str, notes: dict[str, Any], load: Load) -> Iterator[Row]:
    """Medians without the first step, in which kernels are loaded and compiled."""
    for phase, seconds in notes["seconds"].items():
        took = median(seconds[1:])
        tokens = 2 * load.group * load.completion
        note = f"{tokens / took:,.0f} tokens a second" if phase == watch.GENERATING and took else ""
        yield Row(job, f"seconds {phase}, a step", took, unit="s", note=note)
