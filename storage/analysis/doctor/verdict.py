"""What the doctor says: a verdict with its threshold, where that is from, the evidence, and what to change."""

import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

PROBLEM, WARNING, SUSPICION, CALM = "problem", "warning", "suspicion", "calm"
NEUTRAL = "neutral"  # of a report alone: nothing is wrong, and nothing was learned
LEVELS = (PROBLEM, WARNING, SUSPICION, CALM)

# Where thresholds are from.
COMMON = "common practice in guides to GRPO"
DAPO = "DAPO (Yu et al., 2025)"
DR_GRPO = "Dr. GRPO (Liu et al., 2025)"
DEEPSEEK = "DeepSeekMath (Shao et al., 2024), where GRPO and its KL term are from"
TRL = "TRL's source code"
MEASURED = "measured on healthy quickstarts, which stay clear of it"
CORPUS = "measured on a corpus of short runs whose cause is known"


@dataclass(frozen=True)
class Link:
    """Something to look at: a tab of the run's page with the parameters of its address, or (`chart`) a metric's chart
    on the Overview."""

    label: str
    tab: str = "overview"
    params: dict[str, str] = dataclasses.field(default_factory=dict)
    chart: str = ""


@dataclass(frozen=True)
class Change:
    """A suggested new run: this run's settings with these changed (dotted fields of the spec; “rewards.2” with a
    function's name adds it). Where it is for a person to choose, the label says what, and it leads there: to a `field`
    of the new run, or to the functions that scored this one (`edit_reward`: one of them, “”: all)."""

    label: str
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    field: str = ""
    edit_reward: str | None = None


class Place(IntEnum):
    """Where in a run's course something acts, first to last: what comes later may be the effect of what comes
    before."""

    SAMPLING = 0  # how completions are drawn
    WRITING = 1  # what is written
    SCORING = 2  # what is scored
    ANSWERS = 3  # what it is compared with
    PROMPTS = 4  # what groups have to compare
    UPDATE = 5  # how large a step is
    COURSE = 6  # what the model comes to
    TREND = 7  # what moves with it
    SIGN = 8  # what else is seen of it
    RESIDUE = 9  # what is left to say where nothing else is


@dataclass(frozen=True)
class Grounds:
    """What a verdict rests on, by which it is weighed against others. `place`: where in a run's course it acts; None:
    beside it. `from_start`: whether it was so before anything was learned. `share`: of the completions, now, that it is
    about; `about`: those of the last groups; None: it is about the run as a whole. `moves`: whether it changes what
    the model writes, so that what was not so at the start may be its effect. `moved`: whether it says how far the model
    has moved, which groups that have nothing to compare cannot be the cause of."""

    place: Place | None = None
    from_start: bool = False
    share: float = 0.0
    about: frozenset[tuple[int, int]] | None = None
    moves: bool = False
    moved: bool = False


@dataclass(frozen=True)
class Verdict:
    """One thing that the doctor found. `key` names the rule; `threshold` is a sentence, `source` says where it is
    from, `grounds` what it rests on."""

    key: str
    level: str
    title: str
    sentence: str
    threshold: str
    source: str
    evidence: tuple[Link, ...] = ()
    changes: tuple[Change, ...] = ()
    grounds: Grounds = Grounds()


NAMES = {"reward": "the reward", "eval_reward": "held-out reward", "kl": "KL", "loss": "the loss"}


def chart(metric: str, label: str = "") -> Link:
    """The link to a metric's chart."""
    return Link(label or f"The chart of {NAMES.get(metric, metric)}", chart=metric)


def step_groups(step: int, pick: str) -> Link:
    """The groups of a step. `pick`: worst, best, spread, tied or random, as the Groups tab knows them."""
    words = {"tied": "Tied groups", "worst": "The worst groups", "best": "The best groups", "spread": "Groups"}
    return Link(f"{words.get(pick, 'Groups')} of step {step:,}", "groups", {"step": str(step), "pick": pick})


def completions(label: str, **params: str) -> Link:
    """Completions, filtered as the Completions tab is by its address."""
    return Link(label, "completions", params)
