"""A run's process that notes its memory and time, phase by phase: `python -m bench.gpu.watch NOTES.json RUN_ID`.

It is the product's own training, with a callback and two of TRL's methods wrapped, which is where one phase of a step
ends and the next begins. On a GPU torch's allocator is asked; elsewhere how much memory the process holds.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import trl
from transformers import TrainerCallback

GENERATING, SCORING, UPDATING, BETWEEN = "generating", "scoring", "updating", "between"


class DeviceMeter:
    """Bytes of tensors on this process's GPU, and of what torch reserved for them."""

    def now(self) -> int:
        torch.cuda.synchronize()
        return int(torch.cuda.memory_allocated())

    def peaks(self) -> tuple[int, int]:
        """(allocated, reserved) at the most since this was last asked."""
        torch.cuda.synchronize()
        found = int(torch.cuda.max_memory_allocated()), int(torch.cuda.max_memory_reserved())
        torch.cuda.reset_peak_memory_stats()
        return found


class ProcessMeter:
    """The same of a process without a GPU: its resident memory (proc(5): clear_refs)."""

    def now(self) -> int:
        return self._line("VmRSS:")

    def peaks(self) -> tuple[int, int]:
        peak = self._line("VmHWM:")
        Path("/proc/self/clear_refs").write_text("5")
        return peak, peak

    def _line(self, name: str) -> int:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


class Watch(TrainerCallback):
    """`parts`: bytes of the weights, the gradients and the optimiser. `peaks` and `seconds`: of each phase."""

    def __init__(self, meter: DeviceMeter | ProcessMeter) -> None:
        self.meter = meter
        self.before = meter.now()
        self.parts: dict[str, int] = {}
        self.peaks: dict[str, int] = defaultdict(int)
        self.reserved = 0
        self.seconds: dict[str, list[float]] = {GENERATING: [], SCORING: [], UPDATING: []}
        self._phase, self._begun = BETWEEN, time.perf_counter()
        self._spent: dict[str, float] = defaultdict(float)  # in this step
        self._resting = 0

    def enter(self, phase: str) -> None:
        """One phase ends here and another begins."""
        allocated, reserved = self.meter.peaks()
        now = time.perf_counter()
        self.peaks[self._phase] = max(self.peaks[self._phase], allocated)
        self.reserved = max(self.reserved, reserved)
        self._spent[self._phase] += now - self._begun
        self._phase, self._begun = phase, now

    def during(self, phase: str, after: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, which is the phase; `after` follows it."""

        @functools.wraps(method)
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.enter(phase)
            found = method(*args, **kwargs)
            self.enter(after)
            return found

        return watched

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._resting = self.meter.now()
        self.parts["weights"] = self._resting - self.before

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._resting = self.meter.now()
        self.enter(UPDATING)
        self._spent.clear()

    def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
        """All gradients are there, and the activations gone."""
        self.parts["gradients"] = max(self.parts.get("gradients", 0), self.meter.now() - self._resting)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.enter(BETWEEN)
        for phase, steps in self.seconds.items():
            steps.append(self._spent[phase])
        # The gradients are gone: what the first step leaves is the optimiser's.
        self.parts.setdefault("optimiser", self.meter.now() - self._resting)

    def notes(self) -> dict[str, Any]:
        return {"parts": self.parts, "peaks": self.peaks, "reserved": self.reserved, "seconds": self.seconds}


def install(watch: Watch) -> None:
    """Every GRPOTrainer that is made from now on is watched."""
    made = trl.GRPOTrainer
    make, generate, whole = made.__init__, made._generate, made._generate_and_score_completions

    def with_watch(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **{**kwargs, "callbacks": [*(kwargs.get("callbacks") or []), watch]})

    made.__init__ = with_watch
    made._generate = watch.during(GENERATING, SCORING, generate)
    made._generate_and_score_completions = watch.during(SCORING, UPDATING, whole)


def main(notes: Path, run_id: str) -> int:
    """Train the run, and write the notes; the exit code of the training."""
    from groupwise.worker.training import stages, train  # noqa: F401  # stages: what it imports is no part of the run

    watch = Watch(DeviceMeter() if torch.cuda.is_available() else ProcessMeter())
    install(watch)
    code = train.main(run_id)
    notes.write_text(json.dumps(watch.notes()), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
