"""What a run records, as plain values: groups of completions, events, checkpoints, and the batch that is acknowledged
together, which can also be a line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Completion:
    """One scored completion. `scores` has one (value, status) per reward function, in the run's order; `extra` what
    the functions logged of it (TRL's log_extra), by column."""

    text: str
    tokens: int
    truncated: bool
    reward: float | None
    advantage: float
    scores: list[tuple[float | None, str]]
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Group:
    """The completions of one prompt, generated together. `step` is the first step they train (or, in
    evaluation, the step they were made after)."""

    mode: str  # "train" or "eval"
    step: int
    prompt: Any  # TRL's prompt: messages, or a string
    columns: dict[str, Any]  # the dataset row's other columns
    completions: list[Completion]
    id: int = 0


@dataclass
class Event:
    """Something that happened, in words."""

    kind: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Checkpoint:
    """A checkpoint that is complete on the disk. `path` is relative to the run's folder."""

    step: int
    path: str
    bytes: int


@dataclass
class Batch:
    """What is acknowledged together."""

    seq: int
    attempt: int
    step: int
    at: float
    metrics: dict[str, float | None]
    rollups: list[tuple[int, str, int, int, float, float, float]]
    groups: list[Group]
    events: list[Event]
    checkpoint: Checkpoint | None

    def to_line(self) -> str:
        """The batch as one line of JSON."""
        return to_json(asdict(self))


def to_json(value: Any) -> str:
    """Compact JSON; what JSON does not know (a date in a dataset row, say) becomes its text."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def storable(text: str) -> str:
    """The text with half characters (lone surrogates, which UTF-8 and so SQLite cannot hold) as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_lines(path: Path) -> list[Batch]:
    """The batches in a file of lines. A line that was cut off (by a crash, a full disk) is left out."""
    batches: list[Batch] = []
    if not path.exists():
        return batches
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):  # not splitlines: U+2028 is text
        try:
            raw = json.loads(line)
        except ValueError:
            continue
        raw["groups"] = [
            Group(**{**group, "completions": [Completion(**c) for c in group["completions"]]})
            for group in raw["groups"]
        ]
        raw["events"] = [Event(**event) for event in raw["events"]]
        raw["checkpoint"] = Checkpoint(**raw["checkpoint"]) if raw["checkpoint"] else None
        batches.append(Batch(**raw))
    return batches
