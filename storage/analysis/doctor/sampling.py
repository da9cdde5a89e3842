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
from groupwise.storage.analysis.doctor.words import last_steps, percent, setting_text, write_figure
from groupwise.storage.spec.words.number_words import count_part

GROUPS = 8  # groups that must have been read
COOL, ONE_TEXT, MOSTLY_ONE = 0.5, 0.5, 0.85  # a temperature; shares of groups
HOT, NOISE = 1.3, 2.0  # a temperature; nats a token
STRAYS = 1.0  # nats a token, at such a temperature: what is never earned then says little of how hard it is
SEVERAL, MANY = 10, 64  # logged steps; completions
# Settings that leave sampling few tokens: the value from which on they do, and the one that leaves all.
NARROW = {"top_p": 0.5, "top_k": 2, "min_p": 0.5}
WIDE = {"top_p": 1.0, "top_k": 0, "min_p": 0.0}
PAIR = 2  # completions
FEWER = 0.5  # of the ties: what a usual group would have at most, if its size is why they tie


def temperature_low(e: Evidence) -> Verdict | None:
    """The model says one thing: the completions of a group are the same, because sampling leaves it no choice."""
    temperature, part = e.number("temperature"), _part_of_one_text(e)
    if temperature is None or temperature >= COOL or part < ONE_TEXT:
        return None
    words = (
        f"{_say_one_text(e)}: at temperature {setting_text(temperature)} sampling picks the likeliest tokens, so a "
        "group has nothing to compare."
    )
    about = grounds.last_groups_of(e, grounds.is_one_text)
    return Verdict(
        "temperature_low", PROBLEM if part >= MOSTLY_ONE else WARNING, "The temperature is too low", words,
        f"Shown from {percent(ONE_TEXT)} of groups on, at a temperature below {COOL}; as a problem from "
        f"{percent(MOSTLY_ONE)}.", f"{COMMON}; {CORPUS}",
        (chart("groups/alike", "The chart of alike completions"), step_groups(e.step, "tied")),
        changes.usual_temperature(), Grounds(Place.SAMPLING, True, part, about),
    )  # fmt: skip


def sampling_narrow(e: Evidence) -> Verdict | None:
    """The same where not the temperature but what cuts off the less likely tokens leaves sampling no choice."""
    narrow, part = [name for name in NARROW if _is_narrow(e, name)], _part_of_one_text(e)
    if not narrow or part < ONE_TEXT:
        return None
    named = " and ".join(f"{name} {setting_text(e.number(name) or 0.0)}" for name in narrow)
    words = (
        f"{_say_one_text(e)}: {named} {'leaves' if len(narrow) == 1 else 'leave'} hardly any but the likeliest token "
        "to draw, so a group has nothing to compare."
    )
    return Verdict(
        "sampling_narrow", PROBLEM if part >= MOSTLY_ONE else WARNING, "Sampling leaves no choice", words,
        f"Shown from {percent(ONE_TEXT)} of groups on, at top_p or top_k of {NARROW['top_p']} or {NARROW['top_k']} and "
        f"below, or min_p of {NARROW['min_p']} and above; as a problem from {percent(MOSTLY_ONE)}.", COMMON,
        (chart("groups/alike", "The chart of alike completions"), step_groups(e.step, "tied")),
        tuple(changes.set_to(name, WIDE[name]) for name in narrow),
        Grounds(Place.SAMPLING, True, part, grounds.last_groups_of(e, grounds.is_one_text)),
    )  # fmt: skip


def _is_narrow(e: Evidence, name: str) -> bool:
    value = e.number(name) or WIDE[name]  # 0 is off
    return value != WIDE[name] and (value >= NARROW[name] if name == "min_p" else value <= NARROW[name])


def _part_of_one_text(e: Evidence) -> float:
    """The share of the groups that were read whose completions are all the same; 0 where too few were read."""
    one = sum(map(grounds.is_one_text, e.groups))
    return one / len(e.groups) if len(e.groups) >= GROUPS else 0.0


def _say_one_text(e: Evidence) -> str:
    one = sum(map(grounds.is_one_text, e.groups))
    read = f"{count_part(one, len(e.groups), 'group')} of {e.steps_read}"
    return f"In {read} every completion is the same, word for word"


def temperature_high(e: Evidence) -> Verdict | None:
    """The model says anything: tokens are drawn nearly at random."""
    told, temperature = e.curve("entropy"), e.number("temperature")
    if not len(told) or temperature is None or temperature <= HOT:
        return None
    if told.first < NOISE or not told.at_least(NOISE / 2):
        return _strays(e, temperature)
    words = (
        f"Entropy {e.verb} {write_figure(told.now)} nats a token {e.at_now}: at temperature "
        f"{setting_text(temperature)} completions are close to random text, which no reward can tell apart."
    )
    return Verdict(
        "temperature_high", PROBLEM, "The temperature is too high", words,
        f"Shown from {NOISE} nats a token on, at a temperature above {HOT}; 0.1 to 1 is usual.", f"{COMMON}; {CORPUS}",
        (chart("entropy"), step_groups(e.step, "best")), changes.usual_temperature(),
        Grounds(Place.SAMPLING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def _strays(e: Evidence, temperature: float) -> Verdict | None:
    """It is drawn so warm that a function which was never earned need not be hard."""
    told, never = e.curve("entropy"), [name for name in e.functions if _is_never_earned(e, name)]
    if told.first < STRAYS or not told.at_least(STRAYS / 2) or len(e.reward) < SEVERAL or not never:
        return None
    named = " and ".join(f"“{name}”" for name in never)
    words = (
        f"{named} gave 0 to every completion. Entropy {e.verb} {write_figure(told.now)} nats a token {e.at_now}: at "
        f"temperature {setting_text(temperature)} unlikely tokens are drawn often, and each can spoil a completion. "
        "Lower the temperature before judging how hard that is to earn."
    )
    return Verdict(
        "temperature_high", WARNING, "The temperature is probably too high", words,
        f"Shown from {STRAYS} nats a token on, at a temperature above {HOT}, where a function that counts gave only 0 "
        f"in {SEVERAL} logged steps or more; 0.1 to 1 is usual.", f"{COMMON}; {CORPUS}",
        (chart("entropy"), step_groups(e.step, "best")), changes.usual_temperature(),
        Grounds(Place.SAMPLING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def _is_never_earned(e: Evidence, name: str) -> bool:
    told, curve = e.functions[name], e.curve(f"rewards/{name}/mean")
    return told.weight > 0 and told.calls >= MANY and told.constant == 0 and len(curve) > 0 and curve.high == 0


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
        f"{COMMON}; that tied groups give no learning signal is from {DAPO}",
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


RULES = (temperature_low, sampling_narrow, temperature_high, group_small)
