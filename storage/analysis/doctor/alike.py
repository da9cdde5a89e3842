"""What became alike within groups: the completions, or only what they earn. Each rule is pure."""

from collections import Counter

from groupwise.storage.analysis.doctor import changes, grounds, rates
from groupwise.storage.analysis.doctor.curve import mean
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    MEASURED,
    PROBLEM,
    WARNING,
    Change,
    Grounds,
    Link,
    Place,
    Verdict,
    chart,
    completions,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import last_steps, percent, percent_without, short_number, write_figure
from groupwise.storage.spec.words.number_words import count_words

TREND = 20  # logged steps
LOW_SPREAD = 0.1  # common practice, for rewards that are up to 2 apart; a twentieth of wider ones
FALLEN = 0.5  # of what it was at the start
ALIKE, ALIKE_MORE = 0.7, 0.3  # share of completions; how much it has risen
SOLVED = 0.9  # a share of completions
HALF = 0.5  # of the last completions: what a function usually gives
SPREAD, TEXTS = (
    chart("groups/spread", "The chart of the spread within groups"),
    chart("groups/alike", "… and of alike completions"),
)


def collapse(e: Evidence) -> Verdict | None:
    """The completions of a group have become one."""
    solved, same = e.curve("groups/solved"), e.curve("groups/alike")
    if len(solved) and solved.at_least(SOLVED):
        return None  # right answers may be alike
    if _spread_fell(e) and _are_alike(e):
        spread = e.curve("groups/spread")
        words = (
            f"Rewards within a group {e.verbs} {write_figure(spread.now)} apart (standard deviation), down from "
            f"{write_figure(spread.start)} at the start: the completions of a group have become alike."
        )
        return Verdict(
            "collapse", PROBLEM, f"The groups {'collapsed' if e.ended else 'are collapsing'}", words,
            f"{_say_low_spread(e)} Shown where {percent(ALIKE)} of completions repeat another of their group.",
            COMMON, (SPREAD, TEXTS, step_groups(spread.steps[-1], "worst")), changes.diverse(e),
            Grounds(Place.COURSE, share=1.0),
        )  # fmt: skip
    if len(same) < TREND or not same.at_least(ALIKE) or same.rise < ALIKE_MORE:
        return None
    if not len(solved) or solved.rise > 0.1:
        return None
    words = (
        f"{percent(same.now)} of the completions of {last_steps(same)} repeat another of their group word "
        f"for word, and {percent(solved.now)} are right."
    )
    return Verdict(
        "collapse", WARNING, f"Completions {'became' if e.ended else 'are becoming'} alike", words,
        f"Shown from {percent(ALIKE)} on, where it has risen by {percent(ALIKE_MORE)} and the solve rate has not.",
        MEASURED, (TEXTS, step_groups(same.steps[-1], "worst")), changes.diverse(e),
        Grounds(Place.COURSE, share=same.now),
    )  # fmt: skip


def same_reward(e: Evidence) -> Verdict | None:
    """The completions of a group still differ, and earn the same: what the functions tell apart is learned."""
    solved, spread = e.curve("groups/solved"), e.curve("groups/spread")
    if (len(solved) and solved.at_least(SOLVED)) or rates.is_near_top(e):
        return None  # all that there is to earn is earned
    if not _spread_fell(e) or _are_alike(e):
        return None
    usual = _usual_scores(e)
    named = " and ".join(f"“{name}” gave {short_number(value)} to {percent(share)}" for name, value, share in usual)
    given = f" {named} of the last {count_words(len(e.last), 'completion')}." if usual else ""
    words = (
        f"Rewards within a group {e.verbs} {write_figure(spread.now)} apart (standard deviation), down from "
        f"{write_figure(spread.start)} at the start{_say_differ(e)}.{given} The model has learned what the "
        f"reward distinguishes: more steps {'would add' if e.ended else 'add'} little."
    )
    fixes = tuple(Change(f"Change {name}", edit_reward=name) for name, _, _ in usual[:1])
    pick = Link("The tied groups", "groups", {"step": f"{spread.steps[-1]}", "pick": "tied"})
    return Verdict(
        "same_reward", PROBLEM, "The reward no longer tells completions apart", words,
        f"{_say_low_spread(e)} Shown where the completions of a group still differ.", COMMON,
        (SPREAD, TEXTS, pick, completions("The last completions", sort="newest")),
        (*fixes, Change("A reward with more grades", field=changes.REWARDS)), Grounds(Place.COURSE, share=1.0),
    )  # fmt: skip


def _least_spread(e: Evidence) -> float:
    """The spread of rewards within groups below which hardly anything is told apart."""
    return LOW_SPREAD * max(min(1.0, e.scale), e.scale / 2)


def _say_low_spread(e: Evidence) -> str:
    return (
        f"Shown below {short_number(_least_spread(e))} and falling; 0.1 where rewards are up to 2 apart, otherwise in "
        "proportion."
    )


def _spread_fell(e: Evidence) -> bool:
    """Whether rewards within groups hardly differ any more."""
    spread = e.curve("groups/spread")
    if len(spread) < TREND or not spread.at_most(min(_least_spread(e), FALLEN * spread.start)):
        return False
    return spread.direction(0) < 0


def _are_alike(e: Evidence) -> bool:
    """Whether most completions say what another of their group says, and no fewer than at the start; where that was not
    recorded, those that were read."""
    same = e.curve("groups/alike")
    if len(same):
        return same.at_least(ALIKE) and same.rise >= 0
    return bool(e.last) and _alike_share(e) >= ALIKE


def _alike_share(e: Evidence) -> float:
    """The share of the last completions whose very text another one of their group has, too."""
    shares = []
    for group in e.last_groups:
        counts = Counter(one.text for one in group)
        shares.append(sum(count for count in counts.values() if count > 1) / len(group))
    return mean(shares)


def _say_differ(e: Evidence) -> str:
    """That the texts of a group differ for all that; “” where nothing is known of them."""
    same = e.curve("groups/alike")
    if not len(same) and not e.last:
        return ""
    share = same.now if len(same) else _alike_share(e)
    return f", though {percent_without(share)} of the completions differ from all others of their group"


def _usual_scores(e: Evidence) -> list[tuple[str, float, float]]:
    """Each function that counts and gives most of the last completions the same, the heaviest first: its name, that
    score, and the share that has it."""
    found = []
    for name, told in e.functions.items():
        given = grounds.scores_of(e.last, name)
        score, count = Counter(given).most_common(1)[0] if given and told.weight else (0.0, 0)
        if count >= HALF * len(e.last) > 0:
            found.append((name, score, count / len(given)))
    return sorted(found, key=lambda one: -abs(e.weight(one[0])))


RULES = (collapse, same_reward)
