"""How many steps a learning rate warms up for, as transformers counts them: for advice and the doctor. Pure."""

import math

IGNORING = ("constant", "reduce_lr_on_plateau", "greedy")  # schedules that have no warm-up (transformers.get_scheduler)
SHARE = 10  # one step in so many is a usual warm-up


def warm_up_steps(given: float | None, scheduler: object, steps: int | None) -> int:
    """The steps that a `warmup_steps` of this kind takes in a run of so many: from 1 on it counts them, below it is a
    share of the run (TrainingArguments.get_warmup_steps)."""
    if not given or given < 0 or str(scheduler) in IGNORING:
        return 0
    return int(given) if given >= 1 else math.ceil(given * (steps or 0))


def short_warm_up(steps: int) -> int:
    """A usual one, of a run of so many steps; none where it is so short."""
    return steps // SHARE
