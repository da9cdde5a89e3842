"""Whether there is anything to learn from: tied groups and why they tie, collapse, entropy. Each rule is pure."""

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    CALM,
    COMMON,
    DAPO,
    MEASURED,
    PROBLEM,
    WARNING,
    Change,
    Verdict,
    chart,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, short_number

POINTS = 10  # logged steps before a share of groups is believed
TREND = 20  # before a trend is
TIED, MOSTLY_TIED = 0.65, 0.85  # shares of groups
LOW_SPREAD = 0.1  # common practice, for rewards that are up to 2 apart; a twentieth of wider ones
FALLEN = 0.5  # of what it was at the start
ALIKE, ALIKE_MORE = 0.7, 0.3  # share of completions; how much it has risen
SOLVED, NEVER = 0.9, 0.03  # shares of completions, of groups
ENTROPY = 0.1  # of what it was at the start


def no_gradient(e: Evidence) -> Verdict | None:
    """Most groups are tied: every completion of a group has the same reward, so every advantage is 0."""
    tied = e.tied_share
    if len(tied) < POINTS or tied.now < TIED:
        return None
    level = PROBLEM if tied.now >= MOSTLY_TIED else WARNING
    said = f"{percent(tied.now)} of the last groups are tied: no gradient from them."
    threshold = f"Said from {percent(TIED)} of groups on, as a problem from {percent(MOSTLY_TIED)}."
    source = f"That tied groups teach nothing is from {DAPO}; the shares are {MEASURED}"
    low, high = e.curve("groups/all_low"), e.curve("groups/all_high")
    links = (chart("groups/tied", "The chart of tied groups"), step_groups(tied.steps[-1], "tied"))
    if len(low) and low.now >= tied.now / 2:
        words = f"{said} Most of these score the lowest in every completion: the prompts are too hard for it as it is."
        return Verdict(
            "too_hard", level, "The prompts are too hard", words, threshold, source, links, changes.harder(e)
        )
    if len(high) and high.now >= tied.now / 2 and not _one_wrong_answer(e):
        learned = high.start < TIED / 2
        words = f"{said} Most of these score the highest in every completion: " + (
            "the model has learned these prompts, and more steps on them teach little."
            if learned
            else "the prompts were easy for it from the start."
        )
        title = "The prompts are learned" if learned else "The prompts are too easy"
        return Verdict(
            "too_easy", CALM if learned else level, title, words, threshold, source, links, changes.HARDER_PROMPTS
        )
    words = f"{said} A larger group, or a reward with more grades, sets completions apart."
    return Verdict(
        "tied", level, "No gradient from most groups", words, threshold, source, links, changes.tell_apart(e)
    )


def _one_wrong_answer(e: Evidence) -> bool:
    """Whether groups tie because the model repeats itself, none of it right: then nothing is learned, whatever it
    scores."""
    solved, alike = e.curve("groups/solved"), e.curve("groups/alike")
    return len(solved) > 0 and len(alike) > 0 and solved.now <= NEVER and alike.now >= ALIKE


def never_solved(e: Evidence) -> Verdict | None:
    """The reward function that matters most has hardly ever been earned, though others bear a gradient."""
    solved, any_solved = e.curve("groups/solved"), e.curve("groups/any_solved")
    told = e.functions.get(e.target)
    # Partial credit, or a constant, below what counts as right: its scale may be another one.
    other = told is not None and solved.values and solved.high == 0 and told.constant != 0
    if len(any_solved) < TREND or any_solved.now > NEVER or other:
        return None
    words = (
        f"“{e.target}” has called {percent(solved.now)} of the last completions right, and "
        f"{percent(any_solved.now)} of the groups have one that is: what it should learn it hardly ever sees."
    )
    return Verdict(
        "too_hard", WARNING, "The prompts are too hard", words,
        f"Said when at most {percent(NEVER)} of groups have a solved completion, after {TREND} logged steps.", COMMON,
        (chart("groups/any_solved", "The chart of groups with a solved completion"),
         step_groups(any_solved.steps[-1], "best")),
        changes.harder(e),
    )  # fmt: skip


def always_solved(e: Evidence) -> Verdict | None:
    """Solved from the beginning."""
    solved = e.curve("groups/solved")
    if len(solved) < POINTS or solved.start < SOLVED or solved.now < SOLVED:
        return None
    words = f"{percent(solved.start)} of the completions were right from the start: there is little left to learn."
    return Verdict(
        "too_easy", WARNING, "The prompts are too easy", words,
        f"Said when {percent(SOLVED)} are right at the start and still are.", COMMON,
        (chart("groups/solved", "The chart of solved completions"), step_groups(solved.steps[-1], "best")),
        changes.HARDER_PROMPTS,
    )  # fmt: skip


def collapse(e: Evidence) -> Verdict | None:
    """The completions of a group have become one: rewards within groups hardly differ, or the texts do not."""
    spread, solved = e.curve("groups/spread"), e.curve("groups/solved")
    if len(solved) and solved.now >= SOLVED:
        return None  # right answers may be alike
    least = LOW_SPREAD * max(min(1.0, e.scale), e.scale / 2)
    links = (
        chart("groups/spread", "The chart of the spread within groups"),
        chart("groups/alike", "… and of alike completions"),
    )
    if len(spread) >= TREND and spread.now < least and spread.now < FALLEN * spread.start and spread.direction(0) < 0:
        words = (
            f"Rewards within a group differ by {short_number(spread.now)} (standard deviation), down from "
            f"{short_number(spread.start)} at the start: the completions of a group have become alike."
        )
        threshold = (
            f"Said below {short_number(least)} and falling; 0.1 where rewards are up to 2 apart, in proportion else."
        )
        return Verdict(
            "collapse", PROBLEM, "The groups are collapsing", words, threshold, COMMON,
            (*links, step_groups(spread.steps[-1], "worst")), changes.diverse(e),
        )  # fmt: skip
    alike = e.curve("groups/alike")
    if len(alike) < TREND or alike.now < ALIKE or alike.rise < ALIKE_MORE or not len(solved) or solved.rise > 0.1:
        return None
    words = (
        f"{percent(alike.now)} of the completions say word for word what another of their group says, and "
        f"{percent(solved.now)} are right."
    )
    return Verdict(
        "collapse", WARNING, "Completions are becoming alike", words,
        f"Said from {percent(ALIKE)} on, where it has risen by {percent(ALIKE_MORE)} and the solve rate has not.",
        MEASURED, (links[1], step_groups(alike.steps[-1], "worst")), changes.diverse(e),
    )  # fmt: skip


def entropy(e: Evidence) -> Verdict | None:
    """The policy has become certain without having become right."""
    told, solved = e.curve("entropy"), e.curve("groups/solved")
    if (
        len(told) < TREND
        or told.start <= 0
        or told.now >= ENTROPY * told.start
        or e.reward.direction(0.1 * e.scale) > 0
    ):
        return None
    if len(solved) and solved.now >= SOLVED:
        return None
    words = (
        f"Entropy fell from {short_number(told.start)} to {short_number(told.now)} and the reward did not rise with "
        "it: the model has stopped trying other answers."
    )
    return Verdict(
        "entropy", WARNING, "Entropy has collapsed", words,
        f"Said below a tenth of the entropy at the start, where the reward is not up by {short_number(0.1 * e.scale)}.",
        f"{DAPO} describes it and raises epsilon_high; the share is {MEASURED}",
        (chart("entropy"), step_groups(told.steps[-1], "worst")),
        (Change("Clip higher, to let rare words in", {"training.epsilon_high": 0.28}), *changes.diverse(e)),
    )  # fmt: skip


RULES = (no_gradient, never_solved, always_solved, collapse, entropy)
