"""Runs a training with a clock on its steps: `python -m bench.clock TIMES.json groupwise RUN_ID | plain train.py`.

The same clock in both: a callback that notes the time at the beginning of each step, so that everything between two
beginnings counts, whoever spends it. Two trainings can take turns, step by step: each is then given the end of a pipe
that says that it is its turn, and the end of one that says so to the other (`… MINE THEIRS`, as file descriptors).
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import time
from pathlib import Path
from typing import Any

import torch
import trl
from transformers import TrainerCallback


class StepClock(TrainerCallback):
    def __init__(self, turn: tuple[int, int] | None) -> None:
        self.steps: list[tuple[float, float]] = []  # when each began and ended
        self.turn = turn
        self.begun: float | None = None

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        if self.begun is not None:
            finish()
            self.steps.append((self.begun, time.monotonic()))
            self.pass_on()
        if self.turn:
            os.read(self.turn[0], 1)  # at once where the other has ended
        self.begun = time.monotonic()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.pass_on()

    def pass_on(self) -> None:
        if self.turn:
            with contextlib.suppress(BrokenPipeError):  # the other has ended
                os.write(self.turn[1], b".")


def finish() -> None:
    """Wait for what a GPU was given to do and is still at."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main(times: Path, kind: str, what: str, *turn: str) -> None:
    clock = StepClock((int(turn[0]), int(turn[1])) if turn else None)
    make = trl.GRPOTrainer.__init__

    def with_clock(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **{**kwargs, "callbacks": [*(kwargs.get("callbacks") or []), clock]})

    trl.GRPOTrainer.__init__ = with_clock
    if kind == "groupwise":
        from groupwise.worker.training import train

        assert train.main(what) == 0
    else:
        os.chdir(Path(what).parent)
        runpy.run_path(what, run_name="__main__")
    times.write_text(json.dumps(clock.steps))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
