"""What a step's groups say that TRL's own metrics do not: ties and their kinds, spread within groups, solved, alike.

TRL's `reward_std` and `frac_reward_zero_std` are over the whole batch under some settings; these are always of the
groups themselves. The training process records them as metrics, so that they are charted and compared as any other.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.spec.spec import RewardSpec, RunSpec

TIED = 1e-8  # rewards that differ by no more are tied: torch.isclose(std, 0), as for TRL's frac_reward_zero_std
SOLVED = 1.0  # what a reward function gives a right answer, by TRL's own convention
# Functions that ship and look at the form of a completion, or mix it in: what they give does not say what is right.
OF_FORM = frozenset({
    "cosine_length", "format", "keywords", "language_consistency", "length", "reasoning_steps", "regular_expression",
    "repetition_penalty", "soft_overlong_punishment", "valid_json",
})  # fmt: skip
OF_LENGTH = frozenset({"length", "soft_overlong_punishment"})  # of these, those that look at nothing but length
OF_ANSWERS = frozenset({"code_tests", "correctness", "gym_score", "math_equivalence"})  # that ship, and compare with it
OF_MODELS = frozenset({"llm_judge", "reward_model"})  # that ship, and ask another model
SHIPPED = OF_FORM | OF_ANSWERS | OF_MODELS
LONG = 200  # characters from which on repetition can be told
READ = 2000  # characters of a completion that repetition is told by
# Metrics that are shares of groups, completions or tokens, written in percent.
SHARES = re.compile(
    r"(eval_)?(groups/(tied|all_low|all_high|tied_other|no_answer|solved|any_solved|alike)|frac_reward_zero_std"
    r"|completions/clipped_ratio|clip_ratio/.*)$"
)
Range = tuple[float, float]
Target = tuple[str, float]  # a reward function, and the score from which on it calls a completion right
Metrics = dict[str, float | None]
KINDS = ("all_low", "all_high", "other", "no_answer")  # why a group is tied
UNSCORED = "none"  # the status of a completion that a function gave nothing, though it did not fail


class Standing(NamedTuple):
    """What a group's rewards do not say of why it is tied. `none_right`, `all_right`: whether none, or all, of it is
    right; `no_answer`: whether its row `lacks_answer`."""

    none_right: bool = False
    all_right: bool = False
    no_answer: bool = False


UNKNOWN = Standing()


def target(rewards: Sequence[RewardSpec]) -> Target | None:
    """The reward function that says whether a completion is right, and the score from which on it is: of those that
    look at more than form the heaviest, of equals one that compares with the answer, or else the last; and what its
    `adapt` calls success, or 1. One that counts nothing tells it where it compares with the answer and no other does.
    None where each looks at form alone: then nothing says what is right."""

    def rank(reward: RewardSpec) -> tuple[bool, float, bool]:
        return reward.weight != 0, reward.weight, reward.name in OF_ANSWERS

    able = [reward for reward in rewards if reward.name not in OF_FORM]
    able = [reward for reward in able if reward.weight != 0 or reward.name in OF_ANSWERS]
    chosen = max(reversed(able), key=rank, default=None)
    return None if chosen is None else (chosen.name, chosen.adapt.success if chosen.adapt else SOLVED)


def target_of_stage(spec: RunSpec, number: int) -> Target | None:
    """The same of the stage of this number, from 1; of a run without stages (0) of the run."""
    return target(rewards_of_stage(spec, number))


def rewards_of_stage(spec: RunSpec, number: int) -> list[RewardSpec]:
    """The reward functions of the stage of this number, from 1; of a run without stages (0) the run's."""
    stages = spec.by_stage()
    return stages[min(max(number, 1), len(stages)) - 1].rewards


def metrics_of_groups(
    groups: Sequence[Group],
    seen: Range | None,
    solver: int | None,
    threshold: float = SOLVED,
    *,
    tells_right: bool = False,
    by_answer: bool = False,
) -> Metrics:
    """The metrics of the groups of one mode, scored together, named without `eval_`.

    `seen`: the least and the greatest reward of the run so far, these groups included. `solver`: which of a
    completion's scores says whether it is solved; `tells_right`: whether it is known to score so, and not by another
    scale; `by_answer`: whether it ships and compares with the answer: any other that gave every completion the same
    says of none that it is right.
    """
    rewards = [_rewards(group) for group in groups]
    some = [values for values in rewards if values]
    solved = {} if solver is None else _solved_share(groups, solver, threshold)
    standing = [_standing(group, solver if tells_right else None, threshold) for group in groups]
    if seen and is_one_score(seen) and not by_answer:
        standing = [one._replace(all_right=False) for one in standing]
    found: Metrics = _ties([one for one in zip(rewards, standing, strict=True) if len(one[0]) > 1], seen)
    found |= {
        "groups/spread": _mean([_std(values) for values in some if len(values) > 1]),
        "groups/best": _mean([max(values) for values in some]),
        "groups/worst": _mean([min(values) for values in some]),
        "groups/alike": _mean([alike(group.completions) for group in groups if len(group.completions) > 1]),
        "groups/repetition": _mean([repetition_share(c.text) for group in groups for c in group.completions]),
    } | solved
    return {name: value for name, value in found.items() if value is not None}


def widen_range(seen: Range | None, groups: Sequence[Group]) -> Range | None:
    """The least and the greatest reward seen, with these groups'; what is not finite says nothing of either."""
    rewards = [reward for group in groups for reward in _rewards(group)]
    ends = [*rewards, *(seen or ())]
    return (min(ends), max(ends)) if ends else None


def is_one_score(seen: Range) -> bool:
    """Whether a run's rewards have never differed: then neither a top score nor a lowest has been seen."""
    return seen[1] - seen[0] <= TIED


def kind(values: Sequence[float], seen: Range, standing: Standing = UNKNOWN, most: float | None = None) -> str | None:
    """Why a group of these rewards teaches nothing: “all_low” (each is the least the run has seen, or 0), “all_high”
    (the greatest), “other”, “no_answer”; None: it has a learning signal. One of which none is right failed, whatever
    all of it earned for the rest; one that is all right did not fail, though it earned the least; one whose row has no
    answer neither failed nor succeeded. Where the run has seen one score alone, that is the top only if all of it is
    right, or no more can be earned (`most`, where that is known)."""
    low, high = seen
    if max(values) - min(values) > TIED:
        return None
    value = values[0]
    if standing.no_answer:
        return "no_answer"
    if standing.none_right:
        return "all_low"
    one_score = is_one_score(seen)
    is_top = standing.all_right or (most is not None and value >= most - TIED)
    if (is_top and value > TIED) if one_score else high - value <= TIED:
        return "all_high"
    is_lowest = abs(value) <= TIED or (value - low <= TIED and not one_score)
    return "all_low" if is_lowest and not standing.all_right else "other"


def lacks_answer(columns: Mapping[str, Any], statuses: Iterable[Collection[str]]) -> bool:
    """Whether the row of a group has an empty answer, and a function scored none of its completions, though it did not
    fail. `statuses`: of each function those of the completions."""
    return not is_filled(columns.get("answer", 0)) and any(set(of) == {UNSCORED} for of in statuses)


def is_filled(value: Any) -> bool:
    """Whether a row's cell has something in it."""
    return value is not None and str(value).strip() != ""


def has_letters(text: str) -> bool:
    """Whether a text has a letter or a digit in it: of a group in which none has, nothing follows for the prompt."""
    return any(char.isalnum() for char in text)


def alike(completions: Sequence[Completion]) -> float:
    """The share of a group's completions whose very text another one of it has too: 0 to 1."""
    counts = Counter(completion.text for completion in completions)
    return sum(count for count in counts.values() if count > 1) / len(completions)


def repetition_share(text: str) -> float | None:
    """How much of a long text its own repetitions are: 0 (none) to nearly 1, by how well zlib packs it. None where it
    is too short to tell."""
    if len(text) < LONG:
        return None
    data = text[:READ].encode("utf-8", "replace")
    return max(0.0, 1.0 - len(zlib.compress(data, 1)) / len(data))


def _ties(groups: list[tuple[list[float], Standing]], seen: Range | None) -> Metrics:
    """Of the rewards of each group, and what else decides why it is tied."""
    if not groups or seen is None:
        return {}
    kinds = Counter(kind(values, seen, standing) for values, standing in groups)
    share = {name: kinds[name] / len(groups) for name in KINDS}
    return {
        "groups/tied": sum(share.values()),
        "groups/all_low": share["all_low"],
        "groups/all_high": share["all_high"],
        "groups/tied_other": share["other"],
        "groups/no_answer": share["no_answer"],
        "groups/bearing": kinds[None] / len(groups),
    }


def _standing(group: Group, solver: int | None, threshold: float) -> Standing:
    """`solver`: which of the scores says whether a completion is right, and from `threshold` on; None where none."""
    scores = [] if solver is None else [completion.scores[solver][0] for completion in group.completions]
    known = [score for score in scores if score is not None]
    right = (max(known) < threshold, min(known) >= threshold) if known else (False, False)
    by_function = zip(*(completion.scores for completion in group.completions), strict=False)
    statuses = ([status for _, status in of] for of in by_function)
    return Standing(*right, lacks_answer(group.columns, statuses))


def _solved_share(groups: Sequence[Group], solver: int, threshold: float) -> Metrics:
    """Of what the solver scored: one that it gave nothing is not wrong, but not scored."""
    scores = [[completion.scores[solver][0] for completion in group.completions] for group in groups]
    solved = [[float(score >= threshold) for score in group if score is not None] for group in scores]
    return {
        "groups/solved": _mean([one for group in solved for one in group]),
        "groups/any_solved": _mean([max(group) for group in solved if group]),
    }


def _rewards(group: Group) -> list[float]:
    return [c.reward for c in group.completions if c.reward is not None and math.isfinite(c.reward)]


def _mean(values: Sequence[float | None]) -> float | None:
    some = [value for value in values if value is not None]
    return math.fsum(some) / len(some) if some else None


def _std(values: list[float]) -> float:
    """The sample standard deviation, as torch.std and so TRL has it."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
