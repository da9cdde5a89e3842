"""What recording costs on a device: steps with everything recorded against the same run's plain script, in turns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench import step_time
from bench.gpu import cases
from bench.gpu.cases import Case, Load
from bench.gpu.machine import Machine
from bench.gpu.memory import Failed, log_of, why
from bench.gpu.report import Row
from bench.table import median
from tests.support.homes import fresh_home, queued

COPIES = 2  # trainings at once
UNCOUNTED = 2  # steps in which kernels are loaded and compiled, and the optimiser's memory is taken
STEPS, DRY_STEPS = 14, 6
BOUND = 1.01


def measure(job: str, case: Case, model: Path, machine: Machine, load: Load) -> Iterator[Row]:
    steps = DRY_STEPS if machine.dry else STEPS
    half = Load(load.prompt, load.completion // 2, load.group)  # a shorter step shows more of what recording adds
    run_spec = cases.spec_of(case, model, half, max_steps=steps)
    with fresh_home():
        folder = queued(run_spec)
        try:
            pairs = step_time.in_turns(("groupwise", folder.id), ("plain", str(folder.script)))[UNCOUNTED:]
        except RuntimeError as error:
            raise Failed(f"{error}: {why(folder, 1)}", log_of(folder)) from error
    ours, theirs = (median(list(side)) for side in zip(*pairs, strict=True))
    ratio = median([one / other for one, other in pairs])
    verdict = "" if machine.dry else "ok" if ratio <= BOUND else "MISSED"
    note = f"median of {len(pairs)} ratios, at most {BOUND}"
    yield Row(job, "a step with everything recorded", ours, theirs, "s", "plain script")
    yield Row(job, "the same, step by step", ratio, unit="×", note=note, verdict=verdict)
