"""How much each reward function counts at each step, where that changes: by a schedule, or by the success rate."""

import math
from pathlib import Path

from pydantic import TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.value_types import Finite, Form, Whole, value_if_fitting
from groupwise.storage.library.rewards import weight_schedules
from groupwise.storage.spec.spec import RewardSpec

FILE = "reward_weights.json"  # in a checkpoint


class Kept(Form):
    """Where a weighting stood, as a checkpoint keeps it."""

    now: dict[str, Finite]
    last: dict[str, Whole]
    seen: dict[str, tuple[Whole, Whole]]


_KEPT = TypeAdapter(Kept)


class Weighting:
    """The weights of a training's functions, in order. The same on every rank, as each sees all scores."""

    def __init__(self, rewards: list[RewardSpec], checkpoint: Path | None = None) -> None:
        """`checkpoint`: the one that a training resumes from, to go on with the weights it had."""
        self.rewards = rewards
        kept = value_if_fitting(_KEPT, files.read_json(checkpoint / FILE)) if checkpoint else None
        state = kept or Kept(now={}, last={}, seen={})
        self._now = {reward.name: reward.weight for reward in rewards} | state.now
        self._last = state.last  # the step of each one's last change, or when first seen
        # per adapting function: how many completions it has scored since, and how many of them were successes
        self._seen: dict[str, list[int]] = {reward.name: [0, 0] for reward in rewards if reward.adapt}
        self._seen |= {name: list(seen) for name, seen in state.seen.items() if name in self._seen}

    def save(self, checkpoint: Path) -> None:
        """Keep where it stands in a checkpoint's folder, where a weight follows the success rate."""
        if self._seen:
            files.write_json(checkpoint / FILE, {"now": self._now, "last": self._last, "seen": self._seen})

    def at(self, step: int) -> list[float]:
        """The weights for the completions generated at this step (of the stage, from 0)."""
        for reward in self.rewards:
            if reward.schedule:
                self._now[reward.name] = weight_schedules.weight_at(reward, step)
        self._adapt(step)
        return [self._now[reward.name] for reward in self.rewards]

    def changing(self) -> dict[str, float]:
        """The weights that are worth a chart."""
        return {reward.name: self._now[reward.name] for reward in self.rewards if reward.schedule or reward.adapt}

    def saw(self, name: str, scores: list[float]) -> None:
        """What a function gave to the completions of one generation, NaN for none."""
        adapt = next(reward.adapt for reward in self.rewards if reward.name == name)
        if adapt is not None:
            given = [score for score in scores if not math.isnan(score)]
            self._seen[name][0] += len(given)
            self._seen[name][1] += sum(score >= adapt.success for score in given)

    def _adapt(self, step: int) -> None:
        for reward in self.rewards:
            if reward.adapt is None:
                continue
            scored, successes = self._seen[reward.name]
            if step - self._last.setdefault(reward.name, step) >= reward.adapt.every and scored:
                self._now[reward.name] = weight_schedules.adapt_weight(
                    self._now[reward.name], successes / scored, reward.adapt
                )
                self._seen[reward.name], self._last[reward.name] = [0, 0], step


def metric(name: str) -> str:
    """Under what name a changing weight is charted."""
    return f"rewards/{name}/weight"
