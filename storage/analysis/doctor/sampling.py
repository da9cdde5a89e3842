"""How the completions of a group are drawn: too alike, too random, or too few. Each rule is pure."""

from groupwise.storage.analysis.doctor import changes, grounds
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    CORPUS,
    DAPO,
    PROBLEM,
    WARNING,
    Grounds,
    Place,
    Verdict,
    chart,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import last_steps, percent, setting_text, short_number
from groupwise.storage.spec.words.number_words import count_words

GROUPS = 8  # groups that must have been read
COOL, ONE_TEXT, MOSTLY_ONE = 0.5, 0.5, 0.85  # a temperature; shares of groups
HOT, NOISE = 1.3, 2.0  # a temperature; nats a token
PAIR = 2  # completions
FEWER = 0.5  # of the ties: what a usual group would have at most, if its size is why they tie


def temperature_low(e: Evidence) -> Verdict | None:
    """The model says one thing: the completions of a group are the same, because sampling leaves it no choice."""
    temperature, one = e.number("temperature"), [group for group in e.groups if grounds.is_one_text(group)]
    part = len(one) / len(e.groups) if e.groups else 0.0
    if temperature is None or temperature >= COOL or len(e.groups) < GROUPS or part < ONE_TEXT:
        return None
    words = (
        f"In {len(one)} of {count_words(len(e.groups), 'group')} that were read all completions are the same, word for "
        f"word: at temperature {setting_text(temperature)} sampling picks the likeliest tokens, so a group has "
        "nothing to compare."
    )
    about = grounds.last_groups_of(e, grounds.is_one_text)
    return Verdict(
        "temperature_low", PROBLEM if part >= MOSTLY_ONE else WARNING, "The temperature is too low", words,
        f"Shown from {percent(ONE_TEXT)} of groups on, at a temperature below {COOL}; as a problem from "
        f"{percent(MOSTLY_ONE)}.", f"{COMMON}; {CORPUS}",
        (chart("groups/alike", "The chart of alike completions"), step_groups(e.step, "tied")),
        changes.usual_temperature(), Grounds(Place.SAMPLING, True, part, about),
    )  # fmt: skip


def temperature_high(e: Evidence) -> Verdict | None:
    """The model says anything: tokens are drawn nearly at random."""
    told, temperature = e.curve("entropy"), e.number("temperature")
    if not len(told) or temperature is None or temperature <= HOT or told.first < NOISE or not told.at_least(NOISE / 2):
        return None
    words = (
        f"Entropy {e.verb} {short_number(told.now)} nats a token {e.at_now}: at temperature "
        f"{setting_text(temperature)} completions are close to random text, which no reward can tell apart."
    )
    return Verdict(
        "temperature_high", PROBLEM, "The temperature is too high", words,
        f"Shown from {NOISE} nats a token on, at a temperature above {HOT}; 0.1 to 1 is usual.", f"{COMMON}; {CORPUS}",
        (chart("entropy"), step_groups(e.step, "best")), changes.usual_temperature(),
        Grounds(Place.SAMPLING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def group_small(e: Evidence) -> Verdict | None:
    """A group of two has one comparison, and none where both earn the same."""
    if not e.groups or max(map(len, e.groups)) != PAIR or len(e.groups) < GROUPS:
        return None
    scored = [sample for group in e.groups for sample in group]
    part, which = _tied_lately(e)
    usual = grounds.chance_of_tie(scored, changes.USUAL_GROUP)
    words = (
        f"Each prompt has only {PAIR} completions: {percent(part)} of the groups of {which} {e.verbs} tied, and in the "
        "others the two get opposite advantages of the same size, however small the difference."
    )
    by_chance = usual < FEWER * part
    about = grounds.last_groups_of(e, lambda group: by_chance and grounds.earns_the_same(group))
    return Verdict(
        "group_small", WARNING, "The groups are too small", words,
        f"Shown for groups of {PAIR}; {changes.USUAL_GROUP} is TRL's default, and 4 to 16 are usual.",
        f"{COMMON}; that tied groups teach nothing is from {DAPO}",
        (chart("groups/tied", "The chart of tied groups"), step_groups(e.step, "tied")), changes.usual_group(e),
        Grounds(Place.SAMPLING, True, part * by_chance, about),
    )  # fmt: skip


def _tied_lately(e: Evidence) -> tuple[float, str]:
    """The share of groups that are tied now, as every page says it, and of which steps; of a record without that
    metric, of the groups that were read."""
    if len(e.tied_share):
        return e.tied_share.now, last_steps(e.tied_share)
    tied = [group for group in e.last_groups if grounds.earns_the_same(group)]
    return len(tied) / len(e.last_groups), f"steps {e.last_groups[0][0].step:,} to {e.last_groups[-1][0].step:,}"


RULES = (temperature_low, temperature_high, group_small)
