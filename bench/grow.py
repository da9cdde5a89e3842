"""Records a step of a run again and again, as training does: `python -m bench.grow RUN_ID SECONDS_A_STEP`."""

from __future__ import annotations

import random
import sys
import time

from groupwise.storage.home import paths
from groupwise.storage.record import metrics
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from tests.support.made_runs import curves, learning_group

FUNCTIONS, STEPS = ("format", "correctness"), 10_000
GROUPS, SIZE, PROMPTS = 4, 8, 16


def grow(run_id: str, every: float) -> None:
    """Until it is ended."""
    folder, rng = paths.run_folder(run_id), random.Random(1)
    writer = RunWriter(folder.db, 1, {"format": 1.0, "correctness": 2.0})
    step = metrics.standing(folder.db)["step"]
    while True:
        step += 1
        groups = [learning_group(step, n, STEPS, SIZE, FUNCTIONS, PROMPTS, rng) for n in range(GROUPS)]
        writer.commit(step, metrics=curves(step, STEPS, rng), groups=groups)
        registry.set_facts(run_id, step=step, seen_at=time.time())
        time.sleep(every)


if __name__ == "__main__":
    grow(sys.argv[1], float(sys.argv[2]))
