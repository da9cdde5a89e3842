"""The TrainerCallback: what TRL logs and the captured groups go to run.db, and a person's stop comes in.

On every rank, though only the main process writes; a stop is agreed on by all ranks before any acts on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from storage.batch import Checkpoint, Event, Group
from storage.record import RunWriter
from worker import checkpoints


class Recorder(TrainerCallback):
    """Records one attempt. `writer` is None on ranks other than the main one; `stop_asked` is asked at each step."""

    def __init__(
        self, writer: RunWriter | None, folder: Path, stop_asked: Callable[[], bool], keep: int | None = None
    ) -> None:
        """`keep`: how many checkpoints to keep (save_total_limit); None keeps all."""
        self.writer = writer
        self.folder = folder
        self.stop_asked = stop_asked
        self.keep = keep
        self.stopped = False
        self.step = self.planned = 0
        self._groups: list[Group] = []
        self._events: list[Event] = []  # to be written with the next commit
        self._told_unscored = False

    def take(self, groups: list[Group]) -> None:
        """Groups that were just scored; they are written with their step."""
        self._groups += groups
        unscored = all(completion.reward is None for group in groups for completion in group.completions)
        if unscored and not self._told_unscored:
            self._told_unscored = True
            message = "No reward function scored any completion of this step: there is nothing to learn from."
            self._events.append(Event("warning", message))

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.planned = state.max_steps
        begun = f"Training begins: {state.max_steps} steps."
        if state.global_step:
            begun = f"Training resumes at step {state.global_step} of {state.max_steps}."
        self._commit(state, events=[Event("begin", begun, {"total": state.max_steps})])

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """A step without a log is written here; one with a log in on_log, with its metrics, in one transaction."""
        if self._all_ranks_stop() and state.global_step < state.max_steps:  # in the last step there is nothing to stop
            self.stopped = True
            control.should_training_stop = control.should_save = control.should_log = True
            control.should_evaluate = False
        if not control.should_log:
            self._commit(state)

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any], **_: Any
    ) -> None:
        self._commit(state, metrics={name: number(value) for name, value in logs.items() if is_number(value)})

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.writer is None:
            return
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        try:
            size = checkpoints.seal(path)
        except (OSError, ValueError) as error:
            message = f"The checkpoint of step {state.global_step} cannot be resumed from: {error}."
            self._commit(state, events=[Event("warning", message)])
            return
        saved = Checkpoint(state.global_step, str(path.relative_to(self.folder)), size)
        event = Event("checkpoint", f"Checkpoint saved at step {state.global_step}.", {"bytes": size})
        self._commit(state, events=[event], checkpoint=saved)
        if self.keep:
            checkpoints.rotate(path.parent, self.keep)

    def flush(self) -> None:
        """Write groups that were scored in a step which never came to its end: they may say why."""
        if self.writer is not None and self._groups:
            groups, self._groups = self._groups, []
            self.writer.commit(self.step, groups=groups)

    def _commit(self, state: TrainerState, *, events: list[Event] | None = None, **what: Any) -> None:
        self.step = state.global_step
        if self.writer is not None:
            groups, self._groups = self._groups, []
            waiting, self._events = self._events, []
            self.writer.commit(state.global_step, groups=groups, events=[*waiting, *(events or [])], **what)

    def _all_ranks_stop(self) -> bool:
        """Whether any rank was told to stop. A flag on one rank alone would hang the others."""
        mine = self.stop_asked()
        if not torch.distributed.is_initialized():
            return mine
        device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
        flag = torch.tensor([int(mine)], device=device)
        torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
        return bool(flag.item())


def is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def number(value: float | None) -> float | None:
    """As stored: None and NaN are both “logged, but not a number”; infinities stay."""
    return None if value is None or math.isnan(value) else float(value)
