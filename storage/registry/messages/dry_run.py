"""“Try one step.”"""

from typing import Annotated, ClassVar

from pydantic import Field

from groupwise.storage.registry.messages.message import Answer, Ask, Message
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES

SHOWN = 64  # completions in the answer
TEXT = 4000  # characters of each, and of its prompt


class TryQuestion(Ask):
    """The spec as YAML."""

    kind: ClassVar[str] = "try"
    text: Annotated[str, Field(max_length=MAX_BYTES)]


class Seconds(Message):
    """What loading the model and the data took, and the step."""

    load: float
    step: float


class Memory(Message):
    """The most that was used, in bytes: of this device, or of the process on the CPU."""

    peak: int
    device: str


class TriedCompletion(Message):
    """group: counted from 0; rewards: by function, None where it gave none; failed: the functions that failed on it."""

    group: int
    prompt: Annotated[str, Field(max_length=TEXT)]
    text: Annotated[str, Field(max_length=TEXT)]
    tokens: int
    truncated: bool
    rewards: dict[str, float | None]
    reward: float | None
    advantage: float
    failed: list[str] = []


class RewardFailure(Message):
    """One way in which a reward function failed. failed: on so many of the completions; 0: it scored them all."""

    function: str
    failed: int
    completions: int
    sentence: str


class TryAnswer(Answer):
    """metrics: TRL's own of the step, None where one is no finite number; sentence: what was found, in words;
    failures: of the reward functions."""

    seconds: Seconds
    memory: Memory
    metrics: dict[str, float | None]
    completions: Annotated[list[TriedCompletion], Field(max_length=SHOWN)]
    sentence: str
    failures: list[RewardFailure] = []
