"""A function of length that no completion is long enough for: the settings say so, as New run's check does. Pure."""

from groupwise.storage.analysis.doctor import grounds
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    PROBLEM,
    TRL,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.checks.reward_settings import find_level_length
from groupwise.storage.spec.words.problem import Problem

SOON, MANY = 3, 64  # logged steps; completions


def level_length(e: Evidence) -> Verdict | None:
    """`length` has given every completion the same, as none may be as long as where it begins to tell lengths apart."""
    name = next((reward.name for reward in e.rewards if find_in_settings(e, reward.name)), "")
    problem, told = find_in_settings(e, name), e.functions.get(name)
    if problem is None or told is None or not told.weight or told.calls < MANY or len(e.reward) < SOON:
        return None
    alone = all(other.weight == 0 for one, other in e.functions.items() if one != name)
    decides = alone or (e.tells_nothing_apart and not e.right_is_told)
    about = grounds.last_of(e, lambda one: True) if decides else None
    return Verdict(
        "constant", PROBLEM if alone else WARNING, f"{name} gives every completion the same score",
        f"“{name}” {problem.message}",
        "Shown where the settings allow no other score and none was given; checked before the launch, too.", TRL,
        (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
        tuple(Change(fix.label, dict(fix.settings)) for fix in problem.fixes),
        Grounds(Place.SCORING, True, 1.0 if decides else 0.0, about),
    )  # fmt: skip


def find_in_settings(e: Evidence, name: str) -> Problem | None:
    """Why this function can tell no completions apart, by its settings, where its scores bear that out."""
    reward = next((reward for reward in e.rewards if reward.name == name), None)
    told, place = e.functions.get(name), e.place(name)
    if reward is None or place is None or told is None or told.constant is None:
        return None
    return find_level_length(reward, e.training, place)


RULES = (level_length,)
