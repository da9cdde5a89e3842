"""Runs a training with a clock on its steps: `python -m bench.clock TIMES.json groupwise RUN_ID | plain train.py`.

The same clock in both: a callback that notes the time at the beginning of each step, so that everything between two
beginnings counts, whoever spends it.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
from pathlib import Path
from typing import Any

import trl
from transformers import TrainerCallback


class StepClock(TrainerCallback):
    def __init__(self) -> None:
        self.begun: list[float] = []

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self.begun.append(time.perf_counter())


def main(times: Path, kind: str, what: str) -> None:
    clock = StepClock()
    make = trl.GRPOTrainer.__init__

    def with_clock(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **{**kwargs, "callbacks": [*(kwargs.get("callbacks") or []), clock]})

    trl.GRPOTrainer.__init__ = with_clock
    if kind == "groupwise":
        from worker.training import train

        assert train.main(what) == 0
    else:
        os.chdir(Path(what).parent)
        runpy.run_path(what, run_name="__main__")
    times.write_text(json.dumps(clock.begun))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
