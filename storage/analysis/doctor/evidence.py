"""What the doctor looks at: a run's settings, its metrics as curves, and what its last groups were scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec

FAILED = ("error", "timeout")


@dataclass(frozen=True)
class Function:
    """What a reward function gave the completions of the last groups: how often each status, and its scores' extremes
    and scatter; `before`: the extremes in the first groups."""

    weight: float = 1.0
    statuses: Mapping[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    std: float = 0.0
    before: tuple[float, float] | None = None
    message: str = ""  # what it last failed with

    @property
    def calls(self) -> int:
        """Counts the completions that it was called for."""
        return sum(self.statuses.values())

    @property
    def failure_share(self) -> float:
        """The share of completions that it failed on."""
        return sum(self.statuses.get(status, 0) for status in FAILED) / self.calls if self.calls else 0.0

    @property
    def constant(self) -> float | None:
        """What it gives to every completion, now as at the start; None: it tells them apart."""
        seen = [v for pair in ((self.low, self.high), self.before or ()) for v in pair if v is not None]
        return seen[0] if seen and max(seen) - min(seen) <= group_metrics.TIED else None


@dataclass(frozen=True)
class Sample:
    """A completion of the first or last groups; `text` and `prompt` may be cut."""

    grp: int
    idx: int
    step: int
    text: str
    reward: float
    prompt: str = ""


@dataclass(frozen=True)
class Evidence:
    """All that the rules may look at. `training`: the settings that were trained with, defaults included. `curves`:
    metrics since the stage that trains now began (`since`). `low`, `high`: the extremes of the rewards seen. `places`:
    where the spec says what this stage has of its own: “training.beta” → “stages.1.training.beta”."""

    training: Mapping[str, Any] = field(default_factory=dict)
    rewards: Sequence[RewardSpec] = ()
    lora: bool = False
    curves: Mapping[str, Curve] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    first: Sequence[Sample] = ()
    last: Sequence[Sample] = ()
    low: float | None = None
    high: float | None = None
    not_finite: Mapping[str, int] = field(default_factory=dict)  # metric → the last step where it was no number
    gpus: Sequence[Mapping[str, Any]] = ()
    extras: Mapping[str, str] = field(default_factory=dict)  # optional packages that are installed
    step: int = 0
    total: int = 0
    since: int = 0
    settings_known: bool = True
    places: Mapping[str, str] = field(default_factory=dict)
    room: int | None = None  # tokens that the model reads at most, the prompt's included; None: not known

    def curve(self, *names: str) -> Curve:
        """The first of these metrics that was logged; an empty one where none was."""
        return next((self.curves[name] for name in names if len(self.curves.get(name, ()))), Curve())

    @property
    def reward(self) -> Curve:
        """Gives the curve of the total reward."""
        return self.curve("reward")

    @property
    def tied_share(self) -> Curve:
        """Shares of groups that bear no gradient."""
        return self.curve("groups/tied", "frac_reward_zero_std")

    @property
    def scale(self) -> float:
        """How far apart the rewards of completions are at most: rewards of 0 to 1 have 1. Thresholds on rewards are
        shares of it."""
        if self.low is None or self.high is None or self.high <= self.low:
            return 1.0
        return self.high - self.low

    @property
    def target(self) -> str:
        """The reward function that says whether a completion is right."""
        return group_metrics.target(self.rewards)[0] if self.rewards else ""

    @property
    def weights_move(self) -> bool:
        """Whether weights change while it trains: then a reward may rise for that alone."""
        return any(reward.schedule or reward.adapt for reward in self.rewards)

    def number(self, name: str) -> float | None:
        """A training setting that is a number."""
        value = self.training.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e12:
            return None
        return float(value)

    def weight(self, name: str) -> float:
        """Gives what a reward function counts: as it was trained with, or else as the spec says."""
        known = self.functions.get(name)
        return known.weight if known else next((r.weight for r in self.rewards if r.name == name), 1.0)

    def place(self, name: str) -> str | None:
        """The field of the spec that is this reward function."""
        return next((f"rewards.{n}" for n, reward in enumerate(self.rewards) if reward.name == name), None)
