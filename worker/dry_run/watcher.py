"""What a dry run sees of its one step: the groups, the metrics and the memory, kept in memory only."""

import math
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from groupwise.storage.record.step_record import Group
from groupwise.storage.registry.messages.dry_run import SHOWN, TEXT, Memory, TriedCompletion
from groupwise.worker.training.failures import FAILED
from groupwise.worker.training.scoring import Note


class Watcher(TrainerCallback):
    """Stands where a run has its Recorder."""

    def __init__(self, rewards: list[str]) -> None:
        self.rewards = rewards
        self.groups: list[Group] = []
        self.notes: list[Note] = []
        self.metrics: dict[str, float | None] = {}

    def take(
        self, groups: list[Group], notes: list[Note], seconds: dict[str, float], weights: dict[str, float]
    ) -> None:
        """Keep what the trainer recorded of a step."""
        self.groups += groups
        self.notes += notes

    def await_room(self, model: Any, optimizer: Any) -> bool:
        """A dry run saves nothing, and waits for nothing."""
        return False

    def seal(self, checkpoint: Path, global_step: int) -> None:
        """Do nothing, for the same reason."""

    def say(self, warning: str) -> None:
        """Do nothing: the checks of the data have said it."""

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any], **_: Any
    ) -> None:
        """Keep TRL's metrics of the step."""
        for name, value in logs.items():
            of_the_whole = name.startswith("train_") or name in ("total_flos", "epoch")
            if isinstance(value, (int, float)) and not isinstance(value, bool) and not of_the_whole:
                self.metrics[name] = value if math.isfinite(value) else None

    def first_completions(self) -> list[TriedCompletion]:
        """The first completions, group by group."""
        found = [
            TriedCompletion(
                group=number,
                prompt=in_words(group.prompt)[:TEXT],
                text=completion.text[:TEXT],
                tokens=completion.tokens,
                truncated=completion.truncated,
                rewards={name: value for name, (value, _) in zip(self.rewards, completion.scores, strict=True)},
                failed=[
                    name for name, (_, status) in zip(self.rewards, completion.scores, strict=True) if status in FAILED
                ],
                reward=completion.reward,
                advantage=completion.advantage,
            )
            for number, group in enumerate(self.groups)
            for completion in group.completions
        ]
        return found[:SHOWN]


def in_words(prompt: Any) -> str:
    """A prompt as text: a chat's messages one under the other."""
    if isinstance(prompt, list):
        return "\n\n".join(str(message.get("content", "")) for message in prompt)
    return str(prompt)


def memory(device: Any) -> Memory:
    """The most that was used: of the GPU's memory by torch, or of the machine's by this process."""
    import torch

    if device.type == "cuda":
        return Memory(peak=torch.cuda.max_memory_allocated(device), device=torch.cuda.get_device_name(device))
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    return Memory(peak=peak, device="CPU")
