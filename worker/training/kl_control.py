"""A KL weight (TRL's beta) that moves the KL towards a target. It changes only as a generation begins."""

from pathlib import Path

from pydantic import TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.value_types import Finite, Form, Whole, value_if_fitting
from groupwise.storage.spec.spec import KlSpec

FILE = "kl_beta.json"  # in a checkpoint
BETA, TARGET = "beta", "kl/target"  # under what names they are charted
MOST_ERROR = 0.2  # Ziegler et al. clip the error there: no change is larger than `rate` × this


class Kept(Form):
    """Where it stood, as a checkpoint keeps it: beta, and the KL since it last changed."""

    beta: Finite
    total: Finite
    count: Whole


_KEPT = TypeAdapter(Kept)


def next_beta(beta: float, kl: float, kl_spec: KlSpec) -> float:
    """The weight after a generation whose mean KL was this: β · (1 + rate · clip((KL − target) ÷ target, ±0.2)), within
    its bounds.

    Section 2.2 of Ziegler et al. 2019, "Fine-Tuning Language Models from Human Preferences" (arXiv 1909.08593), as in
    the AdaptiveKLController of TRL's PPO trainer until 0.11.
    """
    assert kl_spec.target is not None  # there is nothing to follow else
    error = min(max((kl - kl_spec.target) / kl_spec.target, -MOST_ERROR), MOST_ERROR)
    return min(max(beta * (1 + kl_spec.rate * error), kl_spec.least), kl_spec.most)


class KlControl:
    """The weight of one training. The same on every rank: TRL's KL is that of all ranks."""

    def __init__(self, kl_spec: KlSpec, beta: float, checkpoint: Path | None = None) -> None:
        """`beta`: what it begins with. `checkpoint`: the one that a training resumes from."""
        kept = value_if_fitting(_KEPT, files.read_json(checkpoint / FILE)) if checkpoint else None
        state = kept or Kept(beta=beta, total=0.0, count=0)
        self.spec, self.beta = kl_spec, state.beta
        self._total, self._count = state.total, state.count

    def saw(self, kl: float) -> None:
        """The KL of one batch of an update."""
        self._total, self._count = self._total + kl, self._count + 1

    def begin_generation(self) -> float:
        """The weight from here on."""
        if self._count:
            self.beta = next_beta(self.beta, self._total / self._count, self.spec)
            self._total, self._count = 0.0, 0
        return self.beta

    def save(self, checkpoint: Path) -> None:
        """Keep where it stands in a checkpoint's folder."""
        files.write_json(checkpoint / FILE, {"beta": self.beta, "total": self._total, "count": self._count})
