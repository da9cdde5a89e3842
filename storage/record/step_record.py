"""What a run records, as plain values: groups of completions, events, checkpoints, and the batch that is acknowledged
together, which can also be a line of JSON."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from groupwise.storage.home import files
from groupwise.storage.home.redaction import to_json
from groupwise.storage.home.value_types import Finite, Positive, When, Whole

MOST_SPILL = 2 * 2**30  # bytes of a file of lines, all of which are in memory while it is read
Number = float | None  # NaN is stored as nothing


@dataclass
class Completion:
    """One scored completion. `scores` has one (value, status) per reward function, in the run's order; `extra` what
    the functions logged of it (TRL's log_extra), by column."""

    text: str
    tokens: Whole
    truncated: bool
    reward: Number
    advantage: Finite
    scores: list[tuple[Number, str]]
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Group:
    """The completions of one prompt, generated together. `step` is the first step they train (or, in
    evaluation, the step they were made after)."""

    mode: str  # "train" or "eval"
    step: Whole
    prompt: Any  # TRL's prompt: messages, or a string
    columns: dict[str, Any]  # the dataset row's other columns
    completions: list[Completion]
    id: Whole = 0


@dataclass
class Event:
    """Something that happened, in words."""

    kind: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Checkpoint:
    """A checkpoint that is complete on the disk. `path` is relative to the run's folder."""

    step: Whole
    path: str
    bytes: Whole


@dataclass
class Batch:
    """What is acknowledged together."""

    seq: Whole
    attempt: Positive
    step: Whole
    at: When
    metrics: dict[str, Number]
    rollups: list[tuple[Whole, str, Whole, Whole, Finite, Finite, Finite]]
    groups: list[Group]
    events: list[Event]
    checkpoint: Checkpoint | None
    of: Positive | None = None  # the attempt that its metrics and groups are of, where that is an earlier one

    def to_line(self) -> str:
        """The batch as one line of JSON."""
        return to_json(asdict(self))


_BATCH = TypeAdapter(Batch)


def read_lines(path: Path) -> list[Batch]:
    """The batches in a file of lines. A line that was cut off (by a crash, a full disk), or that no run writes, is left
    out. Raises OSError for what is no file, or too large."""
    try:
        lines = files.read_bytes(path, MOST_SPILL).split(b"\n")  # not splitlines: U+2028 is text
    except FileNotFoundError:
        return []
    return [batch for batch in map(_read_line, lines) if batch is not None]


def _read_line(line: bytes) -> Batch | None:
    try:
        return _BATCH.validate_json(line, strict=True)
    except ValidationError:
        return None
