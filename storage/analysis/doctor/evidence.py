"""What the doctor looks at: a run's settings, its metrics as curves, and what its last groups were scored."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve, mean
from groupwise.storage.checks.tag_room import TagRoom
from groupwise.storage.library.models.learning_rates import UsualRates, usual_rates
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import KlSpec, RewardSpec
from groupwise.storage.spec.words.problem import Problem

FAILED = ("error", "timeout")
HALF = 0.5
NONE = "none"  # of a completion that a function does not apply to
Scored = tuple[int, int]  # completions: those with a score, of so many
HARDLY = 0.03  # of the groups, with a solved completion
EVER = 0.01  # of all groups, with a solved completion: twice as many tries come to hardly more


@dataclass(frozen=True)
class Function:
    """What a reward function gave: how often each status in the last groups, many of them; its scores' extremes and
    scatter in those that were read whole; `before`: the extremes in the first groups. `scored`: of how many completions
    of the steps at the start, and of those now, it was called for how many it gave a score; empty: not known."""

    weight: float = 1.0
    statuses: Mapping[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    std: float = 0.0
    before: tuple[float, float] | None = None
    message: str = ""  # what it last failed with
    scored: tuple[Scored, ...] = ()
    tells_right: bool = False  # whether it is known to compare with the answer, and to give 1 where that is right
    reads_no_column: bool = False  # whether it is known to look at nothing but what the model wrote
    takes_messages_for_text: bool = False  # whether completions are messages, and its code takes them for text

    @property
    def calls(self) -> int:
        """Counts the completions that it was called for."""
        return sum(self.statuses.values())

    @property
    def failure_share(self) -> float:
        """The share of completions that it failed on."""
        return sum(self.statuses.get(status, 0) for status in FAILED) / self.calls if self.calls else 0.0

    @property
    def unscored_share(self) -> float:
        """The share of completions that it says it does not apply to."""
        return self.statuses.get(NONE, 0) / self.calls if self.calls else 0.0

    @property
    def scores_few(self) -> bool:
        """Whether it gave less than half of the completions a score, at the start or now: what is said of these is then
        of few, and a step's share of one completion counts as much as that of thirty."""
        return any(scored < HALF * of for scored, of in self.scored)

    @property
    def whom(self) -> str:
        """Whom a score is of that it gave without exception, in words: where it failed or did not apply, not all."""
        has_all = not (self.failure_share or self.unscored_share) and all(scored == of for scored, of in self.scored)
        return "every completion" if has_all else "every completion that it scored"

    @property
    def constant(self) -> float | None:
        """What it gives to every completion that it scores, now as at the start; None: it tells them apart."""
        seen = [v for pair in ((self.low, self.high), self.before or ()) for v in pair if v is not None]
        return seen[0] if seen and max(seen) - min(seen) <= group_metrics.TIED else None


@dataclass(frozen=True)
class Sample:
    """A completion of the first or last groups; `text` and `prompt` may be cut. `reward`: None where no function
    scored it. `cut`: whether it ended at the limit of tokens. `scores`: what each function gave it, None: nothing.
    `answer`: its row's, as the functions got it; “”: none, or it is not text."""

    grp: int
    idx: int
    step: int
    text: str
    reward: float | None
    prompt: str = ""
    tokens: int = 0
    cut: bool = False
    scores: Mapping[str, float | None] = field(default_factory=dict)
    answer: str = ""


@dataclass(frozen=True)
class Unsolved:
    """Of `prompts` that came in `groups` groups or more, how many never had a completion that was right (`never`), by
    the function `by`."""

    never: int
    prompts: int
    groups: int
    by: str


@dataclass(frozen=True)
class Evidence:
    """All that the rules may look at. `training`: the settings that were trained with, defaults included. `curves`:
    metrics since the stage that trains now began (`since`). `low`, `high`: the extremes of the rewards seen. `places`:
    where the spec says what this stage has of its own: “training.beta” → “stages.1.training.beta”."""

    training: Mapping[str, Any] = field(default_factory=dict)
    rewards: Sequence[RewardSpec] = ()
    lora: bool = False
    parameters: int | None = None  # of the model; None: not known
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
    ended: bool = False
    goes_on: bool = False  # it is over for now, and about to be resumed
    broke_off: bool = False  # it ended, and not as it was planned or asked
    weights_lost: bool = False  # … because the model's output was inf or nan
    held_out_before: float | None = None  # the held-out reward at `since`
    held_out_prompts: int = 0  # of the last evaluation; 0: not known
    held_out_error: float | None = None  # of how far held-out reward has moved; None: not known
    # A held-out curve → how far each prompt's own mean has moved between the first and the last evaluation, of those
    # that both asked; empty: not known.
    held_out_changes: Mapping[str, Sequence[float]] = field(default_factory=dict)
    tags: TagRoom | None = None  # what the tags that “format” wants take; None: none are wanted
    room: int | None = None  # tokens that the model reads at most, the prompt's included; None: not known
    gives_one: bool = False  # whether it is known that its target can give 1, and calls that right
    compares: bool = False  # whether its target is known to read columns, as those do that compare with the answer
    nothing_right: bool = False  # whether none of its functions says what is right, though of one it could be thought
    beyond_starter: bool = False  # whether the starter model is asked what it was not made for
    other_writing: Problem | None = None  # what is said where it is asked sums alone, in another writing than it knows
    staged: bool = False  # whether this is a stage of several
    kl: KlSpec = field(default_factory=KlSpec)  # what KL its weight follows
    logged: int | None = None  # how often its reward was logged; None: as often as the curve has points
    chart_begins: tuple[int, float] | None = (
        None  # the first step that its reward was logged at, and that; None: unknown
    )
    few_prompts: int = 0  # how many different ones the last groups have, if only a few; 0: more, or unknown
    unsolved: Unsolved | None = None  # its prompts that were never solved; None: not counted, as the run goes on

    @cached_property
    def last_groups(self) -> list[list[Sample]]:
        """The completions of the last groups, group by group."""
        return _by_group(self.last)

    @cached_property
    def first_groups(self) -> list[list[Sample]]:
        """The same of the first groups."""
        return _by_group(self.first)

    @cached_property
    def groups(self) -> list[list[Sample]]:
        """Both, each group once."""
        return _by_group({(one.grp, one.idx): one for one in (*self.first, *self.last)}.values())

    @property
    def steps_read(self) -> str:
        """The steps of these groups, in words: “steps 1–4 and 37–40”."""
        seen = [sorted({one.step for one in some}) for some in (self.first, self.last) if some]
        spans = [(steps[0], steps[-1]) for steps in seen]
        if len(spans) > 1 and spans[1][0] <= spans[0][1] + 1:
            spans = [(spans[0][0], spans[1][1])]
        told = " and ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in spans)
        return f"step{'' if told.isdecimal() else 's'} {told}"

    @property
    def usual_rates(self) -> UsualRates:
        """Gives the learning rates that such a model is usually trained with."""
        return usual_rates(self.lora, self.parameters)

    @property
    def at_now(self) -> str:
        """When the last steps are, in words: now, or, of a run that is over, at the end, unless it is to go on."""
        if self.goes_on:
            return "before the resume"
        return "at the end" if self.ended else "now"

    @property
    def verb(self) -> str:
        """Gives “is”, or “was” of a run that is over."""
        return "was" if self.ended else "is"

    @property
    def has(self) -> str:
        """Gives “have”, or “had” of a run that is over."""
        return "had" if self.ended else "have"

    @property
    def verbs(self) -> str:
        """Gives “are”, or “were” of a run that is over."""
        return "were" if self.ended else "are"

    def curve(self, *names: str) -> Curve:
        """The first of these metrics that was logged; an empty one where none was."""
        return next((self.curves[name] for name in names if len(self.curves.get(name, ()))), Curve())

    @property
    def reward(self) -> Curve:
        """Gives the curve of the total reward."""
        return self.curve("reward")

    @property
    def logs(self) -> int:
        """Counts how often the reward was logged."""
        return len(self.reward) if self.logged is None else self.logged

    @property
    def is_told_by_groups(self) -> bool:
        """Whether its reward is known of more steps than it was logged at, by the groups of all."""
        return self.logs < len(self.reward)

    @property
    def first_is_on_the_chart(self) -> bool:
        """Whether the first step that its reward is known of was logged, so that its chart shows it."""
        return self.chart_begins is None or not len(self.reward) or self.chart_begins[0] <= self.reward.steps[0]

    @property
    def has_two_ends(self) -> bool:
        """Whether what pages say of its start is of other steps than what they say of now."""
        return self.logs > 1

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
        """The reward function that says whether a completion is right; “” where none does."""
        return self._target[0]

    @property
    def target_score(self) -> float:
        """The score from which on that function calls a completion right."""
        return self._target[1]

    @property
    def _target(self) -> group_metrics.Target:
        able = self.rewards
        if self.nothing_right:  # the heaviest says nothing of it; one that compares with the answer does
            able = [reward for reward in able if reward.name in group_metrics.OF_ANSWERS]
        found = group_metrics.target(able)
        return found or ("", group_metrics.SOLVED)

    @property
    def weights_move(self) -> bool:
        """Whether weights change while it trains: then a reward may rise for that alone."""
        return any(reward.schedule or reward.adapt for reward in self.rewards)

    @property
    def tells_nothing_apart(self) -> bool:
        """Whether each function that counts has given every completion that was read the same."""
        counting = [told for told in self.functions.values() if told.weight]
        return bool(counting) and all(told.constant is not None for told in counting)

    @property
    def earns_nothing(self) -> bool:
        """Whether no function that counts has ever given anything, and one of them looks at more than the answer: what
        it wants of a completion may be something that the model never writes."""
        counting = {name: told for name, told in self.functions.items() if told.weight}
        means = [self.curve(f"rewards/{name}/mean").values for name in counting]
        paid = any(told.constant != 0 for told in counting.values()) or any(any(values) for values in means)
        return bool(counting) and not paid and not set(counting) <= group_metrics.OF_ANSWERS

    @property
    def goes_by_length_alone(self) -> bool:
        """Whether no function that counts looks at anything but length: then no prompt is too hard for a model."""
        counting = {name for name, told in self.functions.items() if told.weight}
        return bool(counting) and counting <= group_metrics.OF_LENGTH

    @property
    def reads_no_column(self) -> bool:
        """Whether no function that counts looks at any column of the data: what they give says nothing of prompts."""
        counting = [told for told in self.functions.values() if told.weight]
        return bool(counting) and all(told.reads_no_column for told in counting)

    @property
    def right_is_told(self) -> bool:
        """Whether being right means something: by a function that compares with the answer, by one that has told
        completions apart, or by one that could have called some right and never did."""
        if self.rewards and not self.target:
            return False
        told = self.functions.get(self.target)
        if self.target in group_metrics.OF_ANSWERS or told is None or told.constant is None:
            return True
        known = self.gives_one or self.target_score != group_metrics.SOLVED
        return known and told.constant < self.target_score

    @property
    def scale_is_other(self) -> bool:
        """Whether the function that should say what is right scores by another scale (partial credit, or below 0): it
        tells completions apart, and none ever came to what counts as right. Or whether it is not the one that the
        share of right answers was recorded by: then its scores tell."""
        if self.nothing_right:
            return bool(self.target)
        solved, told = self.curve("groups/solved"), self.functions.get(self.target)
        known = self.gives_one or self.target in group_metrics.OF_ANSWERS or self.target_score != group_metrics.SOLVED
        if known or told is None or not len(solved):
            return False
        return solved.high == 0 and told.constant is None

    @property
    def is_ever_solved(self) -> bool:
        """Whether groups have a solved completion often enough for more tries to bring more of them; where that is not
        known, whether any group ever told its completions apart."""
        solved = self.curve("groups/any_solved")
        if len(solved) and not self.scale_is_other:
            return mean(solved.values) >= EVER
        return not len(self.tied_share) or mean(self.tied_share.values) < 1 - EVER

    @property
    def is_hardly_solved(self) -> bool:
        """Whether hardly a group has a right completion, or most tied ones have none, whatever part of the reward all
        completions earn beside."""
        solved, tied = self.curve("groups/any_solved"), self.tied_share
        if not len(solved) or not self.right_is_told or self.scale_is_other:
            return False
        return solved.at_most(max(HARDLY, tied.now / 2 if len(tied) else 0.0))

    def is_constant_for_want_of_right(self, name: str) -> bool:
        """Whether a function may give every completion the same score because nothing is right: it would tell right
        answers apart, and what it gives is for the rest."""
        return self.functions[name].tells_right and self.is_hardly_solved

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

    def range_of(self, name: str) -> float:
        """How far apart the scores of a function are at most, as far as is known."""
        told, curve = self.functions.get(name, Function()), self.curve(f"rewards/{name}/mean")
        ends = [*((curve.low, curve.high) if len(curve) else ()), told.low, told.high, *(told.before or ())]
        known = [end for end in ends if end is not None]
        return max(known) - min(known) if known else 0.0

    def place(self, name: str) -> str | None:
        """The field of the spec that is this reward function."""
        return next((f"rewards.{n}" for n, reward in enumerate(self.rewards) if reward.name == name), None)


def _by_group(samples: Iterable[Sample]) -> list[list[Sample]]:
    found: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[sample.grp].append(sample)
    return list(found.values())
