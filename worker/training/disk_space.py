"""Whether the disk has room for what a run writes next. Where it has not, training waits and says so: a disk that is
full for a minute costs a pause, and not the run."""

import time
from pathlib import Path
from typing import Any

from groupwise.storage.home import disk
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Event

LOOK_EVERY = 1.0  # seconds between looks while training waits
LONGEST = 24 * 3600.0  # seconds after which a run that waits ends: it holds a GPU that others may want


class Room:
    """The disk of one run's folder, as its main process sees it."""

    def __init__(self, folder: Path, writer: RunWriter) -> None:
        self._folder = folder
        self._writer = writer
        self._since: float | None = None  # when (monotonic) the wait that is under way began

    def lacks(self, needed: int, step: int) -> bool:
        """Whether there is less room than `needed` bytes and the floor, or something recorded found none. Says so
        when that begins, and when it is over."""
        written = self._writer.catch_up()
        short = not written or disk.lacks(self._folder, disk.FLOOR + needed)
        if short and self._since is None:
            self._since = time.monotonic()
            self._say(step, _describe_wait(disk.free_bytes(self._folder), needed), waits=True)
        elif not short and self._since is not None:
            self._say(
                step, f"There is room again: training continues, {self._waited_seconds():,.0f} s later.", waits=False
            )
            self._since = None
        return short

    def given_up(self) -> str | None:
        """Why the run ends, where it has waited too long; None as long as it may wait on."""
        if self._since is None or self._waited_seconds() < LONGEST:
            return None
        return f"the disk was full for {LONGEST / 3600:,.0f} hours. Free some space, then resume."

    def _waited_seconds(self) -> float:
        return time.monotonic() - (self._since or 0.0)

    def _say(self, step: int, sentence: str, waits: bool) -> None:
        """In the record, as soon as it takes it, and in the log. `waits`: see metrics.waits_for."""
        print(f"groupwise: {sentence}", flush=True)
        self._writer.commit(step, events=[Event("storage", sentence, {"waits": waits})])


def _describe_wait(free: int, needed: int) -> str:
    wanted = f"the next checkpoint needs {disk.megabytes(needed)}" if needed else "what is recorded needs more"
    return (
        f"The disk is full: {disk.megabytes(free)} are free, and {wanted}. Training waits, and goes on by itself when "
        "there is room."
    )


def checkpoint_bytes(model: Any, optimizer: Any) -> int:
    """About what a checkpoint takes on the disk: the weights that are saved (those of the adapter, where there is one)
    and the optimizer's state."""
    weights = [weight for weight in model.parameters() if weight.requires_grad or not hasattr(model, "peft_config")]
    states = getattr(optimizer, "state", None) or {}
    tensors = [value for state in states.values() for value in state.values() if hasattr(value, "element_size")]
    return sum(tensor.numel() * tensor.element_size() for tensor in [*weights, *tensors])
