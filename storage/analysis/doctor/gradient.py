"""Whether there is anything to learn from: tied groups and why they tie, entropy. Each rule is pure."""

from groupwise.storage.analysis.doctor import alike, changes, clear_fall, empty, grounds, level_length, rates
from groupwise.storage.analysis.doctor.alike import ALIKE, SOLVED
from groupwise.storage.analysis.doctor.empty import say_beyond_starter, title_too_hard
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    CALM,
    COMMON,
    DAPO,
    MEASURED,
    PROBLEM,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import last_steps, percent, setting_text, short_number, write_figure
from groupwise.storage.record import group_metrics

POINTS = 5  # logged steps before a share of groups is believed
SEVERAL, TREND = 10, 20  # before it is said that nothing is ever solved; before a trend is
TIED, MOSTLY_TIED = 0.65, 0.85  # shares of groups
NEARLY_ALL = 0.95  # … from which on they are not only most
STILL_SOLVED = 0.7  # a share of completions: now, as what little is learned may harm
COUNTS, MANY = 0.5, 64  # of the heaviest weight; completions
NEVER, SELDOM = 0.03, 0.25  # shares of groups: now; of those of the first step
AT_TOP = 0.9  # of the scale of rewards, that the worst of a group came to on average
HOW_IT_IS_ASKED = (
    Change("Try the functions on its completions", edit_reward=""),
    Change("A system prompt that shows the format", field="data.system_prompt"),
)
LIMITS_OF_LENGTH = Change("Limits that completions reach", field=changes.REWARDS)
ENTROPY = 0.1  # of what it was at the start


def is_mostly_tied(e: Evidence) -> bool:
    """Whether hardly a group has a learning signal now."""
    return len(e.tied_share) >= POINTS and e.tied_share.at_least(MOSTLY_TIED)


def no_gradient(e: Evidence) -> Verdict | None:
    """Most groups are tied: every completion of a group has the same reward, so every advantage is 0."""
    tied = e.tied_share
    if len(tied) < POINTS or not tied.at_least(TIED):
        return None
    level = PROBLEM if tied.at_least(MOSTLY_TIED) else WARNING
    said = f"{percent(tied.now)} of the groups of {last_steps(tied)} {e.verbs} tied: no learning signal from them."
    threshold = f"Shown from {percent(TIED)} of groups on, as a problem from {percent(MOSTLY_TIED)}."
    source = f"That tied groups give no learning signal is from {DAPO}; the shares are {MEASURED}"
    high = e.curve("groups/all_high")
    about = grounds.last_groups_of(e, grounds.earns_the_same)
    lost = clear_fall.lost_right_answers(e)
    from_start = tied.first >= TIED / 2 and rates.fall(e) is None and not lost  # what fell had been better in between
    rests = Grounds(Place.PROMPTS, from_start, tied.now, about)
    links = (chart("groups/tied", "The chart of tied groups"), step_groups(tied.steps[-1], "tied"))
    if _is_failed(e) and not (e.goes_by_length_alone or _is_nearly_all_right(e)):
        if not lost and (silent := empty.mostly_silent(e, level, tied=True)):
            return silent
        lost = lost or empty.became_silent(e)
        title, words, fixes = _say_lost(e, said) if lost else _say_too_hard(e, said)
        key = "tied" if lost else "too_hard"
        return Verdict(key, level, title, words, threshold, source, links, fixes, rests)
    if _is_too_soon(e):
        return None
    learned = high.start < TIED / 2 and not _began_at_top(e)
    if len(high) and high.now >= tied.now / 2 and not _one_wrong_answer(e) and (learned or e.right_is_told):
        words = f"{said} Most of these score the highest in every completion: " + (
            "the model has learned these prompts, and more steps on them add little."
            if learned
            else "the prompts were easy for it from the start."
        )
        title = "The prompts are learned" if learned else "The prompts are too easy"
        return Verdict(
            "too_easy",
            CALM if learned else level,
            title,
            words,
            threshold,
            source,
            links,
            changes.HARDER_PROMPTS,
            rests,
        )
    if alike.collapse(e) or alike.same_reward(e):
        return None  # it says the same, and since when
    sets_apart = "A larger group, or a reward with more grades, sets completions apart."
    if e.goes_by_length_alone:
        sets_apart = "The reward depends on length alone: set its limits where completions differ in length."
    words = f"{said} {sets_apart}"
    return Verdict(
        "tied",
        level,
        f"No learning signal from {_say_of_how_many(tied.now)}",
        words,
        threshold,
        source,
        links,
        (LIMITS_OF_LENGTH,) if e.goes_by_length_alone else changes.tell_apart(e),
        rests,
    )


def _say_of_how_many(share: float) -> str:
    """Which groups have none, so that the figure beside it agrees."""
    return "any group" if share == 1 else "nearly all groups" if share >= NEARLY_ALL else "most groups"


def _scores_lowest(e: Evidence) -> bool:
    """Whether most tied groups score the lowest in every completion."""
    low = e.curve("groups/all_low")
    return len(low) > 0 and low.now >= e.tied_share.now / 2


def _began_at_top(e: Evidence) -> bool:
    """Whether groups began with the most that was seen later: while there was one score alone, it was no top yet."""
    worst = e.curve("groups/worst")
    return len(worst) > 0 and e.high is not None and worst.start >= e.high - (1 - AT_TOP) * e.scale


def _is_failed(e: Evidence) -> bool:
    """Whether most tied groups are failed by all: they score the lowest, or nothing in them is right, which a part of
    the reward that all earn hides."""
    return _scores_lowest(e) or (e.is_hardly_solved and not (alike.collapse(e) or alike.same_reward(e)))


def _say_failed(e: Evidence) -> str:
    counting = [told for told in e.functions.values() if told.weight]
    paid_beside = e.is_hardly_solved and len(counting) > 1 and (e.low or 0.0) > 0
    if not e.target or (_scores_lowest(e) and not paid_beside and _earn_lowest(e)):
        return "In most of these groups every completion earned the least"
    return f"In most of these groups “{e.target}” scores no completion right, and all earn the same for the rest"


def _earn_lowest(e: Evidence) -> bool:
    """Whether most of the last tied groups earned the least, and did not fail though they earned something beside."""
    tied = [group[0].reward or 0.0 for group in e.last_groups if grounds.earns_the_same(group)]
    least = (0.0, e.low or 0.0)
    lowest = [reward for reward in tied if min(abs(reward - one) for one in least) <= group_metrics.TIED]
    return len(lowest) >= len(tied) / 2


def _is_nearly_all_right(e: Evidence) -> bool:
    """Whether nearly all completions are right: then prompts are not too hard, though they earn the least ever seen."""
    solved = e.curve("groups/solved")
    return len(solved) > 0 and solved.at_least(SOLVED) and e.right_is_told and not e.scale_is_other


def _say_lost(e: Evidence, said: str) -> tuple[str, str, tuple[Change, ...]]:
    """The same where the model solved such prompts before it was trained, or wrote something at least."""
    if empty.became_silent(e) and not clear_fall.lost_right_answers(e):
        words = (
            f"{said} Most completions in these groups {e.verbs} empty or {e.has} no letter or digit, fewer at the "
            "start: the model no longer answers, which says nothing about how hard the prompts are."
        )
        return "Completions became empty", words, changes.smaller_steps(e, 0.3)
    words = (
        f"{said} {_say_failed(e)}, though "
        f"{percent(e.curve('groups/solved').first)} of completions were right at the first step: the prompts are not "
        "too hard, the model no longer answers them."
    )
    return "Right answers were lost", words, changes.smaller_steps(e, 0.3)


def _came_to_silence(e: Evidence) -> bool:
    """Whether most groups tie as the model no longer answers, which `no_gradient` says."""
    return len(e.tied_share) >= POINTS and e.tied_share.at_least(TIED) and _is_failed(e) and empty.became_silent(e)


def _say_too_hard(e: Evidence, said: str) -> tuple[str, str, tuple[Change, ...]]:
    """Title, words and changes where most tied groups score the lowest. `said`: how many are tied."""
    if e.earns_nothing and not e.beyond_starter:
        fixes = (*HOW_IT_IS_ASKED, *changes.harder(e, never=True))
        return "No completion has earned anything", f"{said} {_say_earns_nothing(e)}", fixes
    if e.other_writing:
        return title_too_hard(e), f"{said} {_say_failed(e)}. {say_beyond_starter(e)}", changes.harder(e)
    words = f"{said} {_say_failed(e)}: the prompts are too hard for the model as it is."
    if e.beyond_starter:
        words += f" {say_beyond_starter(e)}"
    elif not e.is_ever_solved:
        words += " Larger groups would not help: hardly any ever has a solved completion."
    cool = _say_cool(e)
    title = "Prompts too hard, or temperature too low" if cool else "The prompts are too hard"
    return title, words + cool, changes.harder(e)


def _say_earns_nothing(e: Evidence) -> str:
    """Why groups may tie in which nobody earns anything, whatever they say."""
    names = [f"“{name}”" for name, told in e.functions.items() if told.weight]
    named, needs = " and ".join(names), "the function needs" if len(names) == 1 else "the functions need"
    return (
        f"{named} gave 0 to every completion: the prompts are too hard for the model, or {needs} something that "
        "the model does not write. Read some completions next to their scores."
    )


def _say_cool(e: Evidence) -> str:
    """That groups may tie because sampling makes their completions alike; “” where it does not, or is warm."""
    same = e.curve("groups/alike")
    if not changes.is_cool(e) or not len(same) or not same.at_least(ALIKE):
        return ""
    return (
        f" But at temperature {setting_text(e.number('temperature'))}, {percent(same.now)} of the completions "
        f"{e.verbs} word for word another of their group: a higher temperature varies the attempts at a hard prompt."
    )


def _is_too_soon(e: Evidence) -> bool:
    """Whether what is tied looks the same so far as a function that gives everything the same."""
    return e.tells_nothing_apart and len(e.reward) < SEVERAL


def _one_wrong_answer(e: Evidence) -> bool:
    """Whether groups tie because the model repeats itself, none of it right: then nothing is learned, whatever it
    scores."""
    solved, same = e.curve("groups/solved"), e.curve("groups/alike")
    return len(solved) > 0 and len(same) > 0 and solved.at_most(NEVER) and same.at_least(ALIKE)


def never_solved(e: Evidence) -> Verdict | None:
    """The reward function that matters most has hardly ever been earned, though others have a learning signal."""
    solved, any_solved = e.curve("groups/solved"), e.curve("groups/any_solved")
    told = e.functions.get(e.target)
    # Partial credit, or a constant, below what counts as right: its scale may be another one.
    other = told is not None and solved.values and solved.high == 0 and told.constant != 0 and not e.gives_one
    needed = TREND if solved.values and solved.high else SEVERAL
    if len(any_solved) < needed or not any_solved.at_most(NEVER) or other:
        return None
    if clear_fall.lost_right_answers(e) or _came_to_silence(e):
        return None
    if silent := empty.mostly_silent(e, WARNING, tied=False):
        return silent
    about = grounds.last_of(e, lambda one: (score := one.scores.get(e.target)) is not None and score < e.target_score)
    from_start = any_solved.first <= SELDOM and rates.fall(e) is None
    words = (
        f"“{e.target}” has scored {percent(solved.now)} of the completions of {last_steps(solved)} right, "
        f"and {percent(any_solved.now)} of their groups {e.has} one: there is hardly any right answer to learn from."
        f"{' ' + say_beyond_starter(e) if e.beyond_starter else ''}"
    )
    return Verdict(
        "too_hard", WARNING, title_too_hard(e), words,
        f"Shown when at most {percent(NEVER)} of groups have a solved completion, after {TREND} logged steps, or "
        f"{SEVERAL} if there was never any.", COMMON,
        (chart("groups/any_solved", "The chart of groups with a solved completion"),
         step_groups(any_solved.steps[-1], "best")),
        changes.harder(e), Grounds(Place.PROMPTS, from_start, 1 - solved.now, about),
    )  # fmt: skip


def never_earned(e: Evidence) -> Verdict | None:
    """A function that counts has given 0 to every completion, while others tell them apart."""
    heaviest = max((abs(told.weight) for told in e.functions.values()), default=0.0)
    for name, told in e.functions.items():
        curve = e.curve(f"rewards/{name}/mean")
        counts = abs(told.weight) >= COUNTS * heaviest > 0 and told.calls >= MANY and len(curve) >= SEVERAL
        if told.takes_messages_for_text:
            continue  # it cannot be earned, which is said of its code
        if not counts or told.constant != 0 or curve.low != 0 or curve.high != 0 or e.tells_nothing_apart:
            continue
        if e.goes_by_length_alone or level_length.find_in_settings(e, name) or _came_to_silence(e):
            continue
        apart = "" if e.tied_share.at_least(NEARLY_ALL) else ", while other functions tell completions apart"
        if silent := empty.mostly_silent(e, WARNING, tied=False):
            return silent
        words = f"“{name}” has given 0 to {told.whom}{apart}: what it rewards hardly ever occurs."
        return Verdict(
            "too_hard", WARNING, f"{name} is too hard to earn", words,
            f"Shown when a function that weighs half of the heaviest or more gave only 0 in {SEVERAL} logged steps or "
            "more.", COMMON,
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), step_groups(curve.steps[-1], "best")),
            changes.harder(e, never=True),
            Grounds(Place.PROMPTS, rates.fall(e) is None, 1.0, grounds.last_of(e, lambda one: True)),
        )  # fmt: skip
    return None


def always_solved(e: Evidence) -> Verdict | None:
    """Solved from the beginning."""
    solved = e.curve("groups/solved")
    if len(solved) < POINTS or solved.start < SOLVED or not solved.at_least(STILL_SOLVED) or _is_too_soon(e):
        return None
    if not e.right_is_told:
        return None  # a constant says nothing of the prompts
    words = f"{percent(solved.start)} of the completions were right from the start: there is little left to learn."
    return Verdict(
        "too_easy", WARNING, "The prompts are too easy", words,
        f"Shown when {percent(SOLVED)} are right at the start and {percent(STILL_SOLVED)} still are.", COMMON,
        (chart("groups/solved", "The chart of solved completions"), step_groups(solved.steps[-1], "best")),
        changes.HARDER_PROMPTS, Grounds(Place.PROMPTS, True, solved.start),
    )  # fmt: skip


def entropy(e: Evidence) -> Verdict | None:
    """The policy has become certain without having become right."""
    told, solved = e.curve("entropy"), e.curve("groups/solved")
    if (
        len(told) < TREND
        or told.start <= 0
        or not told.at_most(ENTROPY * told.start)
        or e.reward.direction(0.1 * e.scale) > 0
    ):
        return None
    if len(solved) and solved.at_least(SOLVED):
        return None
    words = (
        f"Entropy fell from {write_figure(told.start)} to {write_figure(told.now)} and the reward did not rise with "
        "it: the model's answers hardly vary any more."
    )
    return Verdict(
        "entropy", WARNING, "Entropy has collapsed", words,
        f"Shown below a tenth of the entropy at the start, if the reward is not up by {short_number(0.1 * e.scale)}.",
        f"{DAPO} describes it and raises epsilon_high; the share is {MEASURED}",
        (chart("entropy"), step_groups(told.steps[-1], "worst")),
        changes.rate_first(
            e, (Change("Clip higher, to allow rare tokens", {"training.epsilon_high": 0.28}), *changes.diverse(e))
        ),
        Grounds(Place.SIGN, share=1.0),
    )  # fmt: skip


RULES = (no_gradient, never_solved, never_earned, always_solved, entropy)
