"""The learning rates that GRPO is usually trained with: advice before a run and the doctor after it both go by these.

For models as people have them, what is published (read in 2026):

- whole: 1e-6 in TRL (GRPOConfig's default, “LoRA Without Regret”), in DeepSeekMath (section 4.2) and in Dr. GRPO's
  published command; 1e-6 (DeepSeek-R1-Distill-Qwen-1.5B) to 2e-5 (Qwen2.5-1.5B-Instruct) in open-r1's recipes. The
  middle of it is 5e-6.
- LoRA: 5e-6 in Unsloth's notebooks, 1e-5 and 5e-5 in TRL's “LoRA Without Regret” (Thinking Machines: ten times the rate
  of a whole model), 2e-5 in Hugging Face's course, which is the middle of it.

A model as small as the starter takes far more, measured on it: whole, it learns at 1e-4, and healthy runs of the
doctor's corpus have up to 2.5e-4; with adapters up to 1e-3.
"""

from dataclasses import dataclass

from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import ModelSpec

DEFAULT = 1e-6  # GRPOConfig's default
LEAST = 5e-7  # half of the lowest that is published; lower than anyone trains with
FAR = 5  # times the highest usual one: from there on a few steps ruin the model, and no other change can help
FAR_BELOW = 20  # times below the usual rate, from where a default is said not to be meant for such a model
STARTER_PARAMETERS = 800_000
AS_THE_STARTER = 20_000_000  # parameters of a model that may be trained as the starter is


@dataclass(frozen=True)
class UsualRates:
    """Of one way to train: a rate that is `usual`, the highest that is still so (`most`), `how` it is trained and the
    `source`, in words."""

    usual: float
    most: float
    how: str
    source: str

    def is_high(self, rate: float) -> bool:
        """Whether nobody usually goes so fast."""
        return rate > self.most

    def is_far_off(self, rate: float) -> bool:
        """Whether it is so far above that nothing else can help before it is lower."""
        return rate >= FAR * self.most

    def is_far_below(self, rate: float) -> bool:
        """Whether it is so far below that the model hardly moves."""
        return rate * FAR_BELOW <= self.usual

    def lower(self, rate: float, factor: float) -> float | None:
        """A rate lower by a factor, to one figure, at most a usual one and not below the least; None: it is as low as
        that already."""
        found = float(f"{min(rate * factor, self.usual):.1g}")
        return max(found, LEAST) if max(found, LEAST) < rate else None

    def higher(self, rate: float, factor: float) -> float | None:
        """A rate higher by a factor, to one figure, at least a usual one and at most the highest; None: it is as high
        as that already."""
        found = min(float(f"{max(rate * factor, self.usual):.1g}"), self.most)
        return found if found > rate else None

    @property
    def words(self) -> str:
        """What is usual, and who says so."""
        return f"{self.usual:g} is usual {self.how}, up to {self.most:g} ({self.source})"


WHOLE = UsualRates(5e-6, 2e-5, "for training all weights", "1e-06 in TRL, DeepSeekMath and Dr. GRPO, 2e-05 in open-r1")
LORA = UsualRates(2e-5, 1e-4, "with LoRA", "5e-06 at Unsloth, 1e-05 to 5e-05 in TRL, 2e-05 in Hugging Face's course")
SMALL_WHOLE = UsualRates(1e-4, 3e-4, "for training all weights of so small a model", "measured on the starter")
SMALL_LORA = UsualRates(5e-4, 1e-3, "with LoRA on so small a model", "measured on the starter")


def as_typed(rate: float) -> str:
    """A rate as people type it: 5e-6, 2.5e-4."""
    digits, power = f"{rate:.15e}".split("e")
    return f"{float(digits):.15g}e{int(power)}"


def usual_rates(lora: bool, parameters: int | None) -> UsualRates:
    """What is usual with adapters or without, for a model of so many parameters; of one whose size is not known, which
    is one from the hub, as for those that are published."""
    small = parameters is not None and parameters < AS_THE_STARTER
    return (SMALL_LORA if lora else SMALL_WHOLE) if small else (LORA if lora else WHOLE)


def parameters_of(model: ModelSpec, facts: ModelFacts | None) -> int | None:
    """How many parameters a model has, by what is known of its files; the starter's are known without them."""
    known = facts.parameters if facts else None
    return STARTER_PARAMETERS if known is None and model.id == "starter" else known
