"""What a run will use: what its spec says, else the default of the installed TRL. Pure."""

from dataclasses import dataclass
from typing import Any

from groupwise.storage.checks import limits
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec

HUGE = limits.MOST
PROMPT_TOKENS = 512  # assumed while nobody has counted: the upper end of what guides call usual


@dataclass(frozen=True)
class Settings:
    """The settings of one spec (of one stage, where it has several)."""

    spec: RunSpec
    offer: Offer

    def get(self, name: str) -> Any:
        """The value of a training setting; None where neither the spec nor the installed TRL says one."""
        given = self.spec.training.get(name)
        return given if given is not None else (self.offer.training or {}).get(name, {}).get("default")

    def count(self, name: str) -> int | None:
        """A setting that is a positive whole number; None where it is not one that anything could be counted with."""
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < HUGE else None

    def number(self, name: str) -> float | None:
        """A setting that is a number, if it is one of this world."""
        value = self.get(name)
        real = isinstance(value, (int, float)) and not isinstance(value, bool) and -HUGE < value < HUGE
        return float(value) if real else None

    def misreads(self, name: str) -> bool:
        """Whether the spec says something else of a setting than a whole number that it can be, and is refused for it:
        its default, or what holds where it is not set, would be an answer to what nobody asked."""
        if name not in self.spec.training:
            return False
        if self.spec.training[name] is None:
            kinds = (self.offer.training or {}).get(name, {}).get("types") or ["none"]
            return "none" not in kinds
        value = self.spec.training[name]
        return type(value) is not int or value >= HUGE or (value < 1 and (name, value) != ("max_steps", -1))

    def misreads_share(self, name: str) -> bool:
        """The same of a setting that is a number above 0, whole or not."""
        value = self.number(name)
        return self.spec.training.get(name) is not None and (value is None or value <= 0)

    def on(self, name: str) -> bool:
        """Whether a setting is switched on; not by a word or a number that only means it."""
        return self.get(name) is True

    @property
    def gpus(self) -> list[dict[str, Any]]:
        """The devices it will train on; none: the CPU."""
        return [] if self.on("use_cpu") else self.offer.hardware.get("gpus") or []

    @property
    def bf16(self) -> bool:
        """TRL's rule: bf16 mixed precision unless it is switched off or fp16 is on (trl/trainer/base_config.py)."""
        given = self.get("bf16")
        return given if isinstance(given, bool) else not self.on("fp16")

    @property
    def autocast(self) -> bool:
        """Whether matrices are multiplied in 16 bits, whatever the weights are kept in."""
        return self.bf16 or self.on("fp16")

    @property
    def checkpointing(self) -> bool:
        """Whether activations are computed again. The newer name wins, and TRL sets the older one to true
        (transformers' TrainingArguments.__post_init__)."""
        newer = self.get("activation_checkpointing")
        return newer if isinstance(newer, bool) else self.on("gradient_checkpointing")

    @property
    def evaluates(self) -> bool:
        """Whether the run evaluates on held-out prompts."""
        repeats = self.get("eval_strategy") not in (None, "no")
        return bool(self.spec.data.holdout) and (repeats or self.on("eval_on_start"))
