"""Whether a reward that was logged too seldom for trends has fallen for all that, by the completions of its first step
against those of its last; and whether most of its right answers are lost. Pure."""

import math
from collections.abc import Callable, Sequence

from groupwise.storage.analysis.doctor import run_away
from groupwise.storage.analysis.doctor.curve import mean
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample

SURE = 3.3  # standard errors, as if each completion stood for itself: less than 1 in 1,000 by chance
SURE_OF_GROUPS = 4.0  # the same of groups, which are few: completions of one prompt are alike
SURE_OF_LOST = 3.0  # … of right answers, of which half must be lost besides
EXPECTED = 2.0  # … where the learning rate and the KL let one expect it
LEAST = 16  # completions at each end
SOON = 4  # logged steps before right answers are said to be lost
LEFT = 0.5  # of the share that was right at the first step: no more is left where they are lost
Group = Sequence[Sample]
Of = Callable[[Sample], float | None]  # what is looked at of a completion


def fell_beyond_doubt(e: Evidence) -> bool:
    """Whether the completions of the last step earn less than those of the first by more than chance, also where each
    group counts as one: by the total, or by a function that counts, which brings the fall."""
    first, last = _of_step(e.first_groups, min), _of_step(e.last_groups, max)
    if min(len(first), len(last)) < 2 or first[0][0].step >= last[0][0].step:
        return False
    ends = _values(first, _reward), _values(last, _reward)
    if min(sum(map(len, end)) for end in ends) < LEAST or _errors_of_completions(*ends) < SURE:
        return False
    looked_at: list[Of] = [_reward, *(_score_of(name) for name, told in e.functions.items() if told.weight > 0)]
    return any(_errors_of_groups(_values(first, of), _values(last, of)) >= SURE_OF_GROUPS for of in looked_at)


def lost_right_answers(e: Evidence) -> bool:
    """Whether the first step's completions, the untrained model's, were right far more often than those of the last
    steps, by more than chance: then the prompts are not too hard for it."""
    solved = e.curve("groups/solved")
    if not e.target or not e.right_is_told or len(solved) < SOON or solved.steps[0] != e.since + 1:
        return False
    first, of = _of_step(e.first_groups, min), _score_of(e.target)
    if not first or first[0][0].step != e.since + 1 or not solved.at_most(LEFT * solved.first):
        return False
    later = [group for group in e.last_groups if group[0].step > e.since + 1]
    sure = EXPECTED if run_away.is_driven(e) else SURE_OF_LOST
    return _errors_of_groups(_values(first, of), _values(later, of)) >= sure


def _of_step(groups: Sequence[Group], which: Callable[[Sequence[int]], int]) -> list[Group]:
    """The groups of the first (min) or last (max) step among these."""
    step = which([group[0].step for group in groups]) if groups else 0
    return [group for group in groups if group[0].step == step]


def _reward(one: Sample) -> float | None:
    return one.reward


def _score_of(name: str) -> Of:
    return lambda one: one.scores.get(name)


def _values(groups: Sequence[Group], of: Of) -> list[list[float]]:
    """What is looked at, of each group that has any."""
    found = [[value for one in group if (value := of(one)) is not None] for group in groups]
    return [values for values in found if values]


def _errors_of_completions(first: list[list[float]], last: list[list[float]]) -> float:
    """By how many standard errors the mean of all is lower in the last."""
    ends = [[value for values in end for value in values] for end in (first, last)]
    return _errors(*[(mean(end), _variance(end) / len(end)) for end in ends])


def _errors_of_groups(first: list[list[float]], last: list[list[float]]) -> float:
    """The same, where groups scatter no less than their completions do by themselves; 0 of fewer than two groups."""
    if min(len(first), len(last)) < 2:
        return 0.0
    ends = []
    for end in (first, last):
        means, own = [mean(values) for values in end], mean([_variance(values) / len(values) for values in end])
        ends.append((mean(means), max(own, _variance(means)) / len(end)))
    return _errors(*ends)


def _errors(first: tuple[float, float], last: tuple[float, float]) -> float:
    """Of two means, each with the square of its standard error."""
    fell, error = first[0] - last[0], math.sqrt(first[1] + last[1])
    return 0.0 if fell <= 0 else fell / error if error else math.inf


def _variance(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)
