"""What single reward functions do: fail, give every completion the same score, drown the others. Each rule is pure."""

import itertools
import math
from collections import Counter

from groupwise.storage.analysis.doctor import changes, grounds, ruined
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.verdict import (
    CALM,
    COMMON,
    CORPUS,
    MEASURED,
    PROBLEM,
    TRL,
    WARNING,
    Change,
    Grounds,
    Link,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import percent, percent_without, setting_text, short_number
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.words.number_words import count_words

ENOUGH, MANY = 32, 64  # completions
TREND = 20  # logged steps
SOON, SURE = 3, 10  # logged steps before a weight is believed to decide; before one score for all is
BESIDE = 5  # … of a function beside others that tell completions apart
UNSCORED = 0.25  # a share of completions
HALF = 0.5  # of the heaviest weight: what counts
QUARTER = 0.25  # of what the heavier scatters: the lighter of two opposites then leaves half of the variance or more
AGAINST, LEFT = -0.8, 0.4  # a correlation within groups; of the variance of two functions, what is left in their sum
FAILING, MOSTLY = 0.05, 0.5  # shares of completions
DOMINATES = 0.95  # of the scatter that weighted scores bring
NEARLY = 0.95  # of the completions at the start and of those at the end: what is nearly all
MESSAGE = 300  # characters shown of what a function failed with
SCATTERS = 0.1  # of its own range: what a function still tells apart
PROMPTS = 8  # different ones: so many that each is answered all right or all wrong by chance, though texts differ


def failing(e: Evidence) -> Verdict | None:
    """A function raises or takes too long."""
    sick = {name: told for name, told in e.functions.items() if told.calls >= 4 and told.failure_share >= FAILING}
    if not sick:
        return None
    name = max(sick, key=lambda one: sick[one].failure_share)
    told = sick[name]
    reason = f" {_last_error(told.message)}" if told.message else ""
    others = f" So do {', '.join(one for one in sick if one != name)}." if len(sick) > 1 else ""
    in_part = told.failure_share < 1 and not told.unscored_share
    missing = _without_at_end(e, name, FAILING) if in_part else ""
    last = count_words(told.calls, "completion")
    missing = missing or f"gave no score to {percent(told.failure_share)} of the last {last}"
    words = f"“{name}” {missing}.{others}{reason}"
    return Verdict(
        "failing", PROBLEM if told.failure_share >= MOSTLY else WARNING, f"The reward function {name} fails", words,
        f"Shown from {percent(FAILING)} of the last completions on, as a problem from {percent(MOSTLY)}.",
        "the recorded scores",
        (Link("The log", "log"), completions("The last completions", sort="newest")),
        (_look_into(name),),
        Grounds(Place.SCORING, True, told.failure_share, _without_score(e, name)),
    )  # fmt: skip


def _last_error(message: str) -> str:
    """The beginning of what a function failed with; the Log has all of it."""
    return f"Last error: {message[:MESSAGE].rstrip('.')}{'.' if len(message) <= MESSAGE else '…'}"


def _without_score(e: Evidence, name: str) -> grounds.Places | None:
    """The last completions that a function gave no score."""
    return grounds.last_of(e, lambda one: one.scores.get(name, 0.0) is None)


def leaves_unscored(e: Evidence) -> Verdict | None:
    """A function that counts has no score for many completions, and none takes its place there."""
    heaviest = max((abs(told.weight) for told in e.functions.values()), default=0.0)
    sick = {
        name: told.unscored_share
        for name, told in e.functions.items()
        if told.calls >= ENOUGH
        and told.unscored_share >= UNSCORED
        and (abs(told.weight) >= HALF * heaviest > 0 or (told.weight and _is_mute(e, name)))
        and not is_replaced(e, name)
    }
    if not sick:
        return None
    name = max(sick, key=lambda one: (sick[one], abs(e.functions[one].weight)))
    mute, counts = _is_mute(e, name), abs(e.functions[name].weight) >= HALF * heaviest
    last = f"the last {count_words(e.functions[name].calls, 'completion')}"
    blind = e.functions[name].reads_no_column  # then no row lacks what it needs
    has_answers = mute and all(one.answer.strip() for one in (*e.first, *e.last))
    none = blind or has_answers
    missing = _without_at_end(e, name, UNSCORED) or f"has no score for {percent(sick[name])} of {last}"
    words = (
        f"“{name}” {'returned None for every one' if none else 'gave none'} of {last}{'' if none else ' a score'}, "
        "so nothing is learned from it."
        if mute
        else f"“{name}” {missing}{_say_who_scores(e, name)}."
    )
    asks = "Do the rows have the columns that it reads?" if mute else "Do their rows lack the answer?"
    asks = "Their rows have an answer. Is that the column that it reads?" if has_answers else asks
    asks = "It reads no column of the data: check its code." if blind else asks
    answers = () if none else (Change("Prompts with answers", field="data.source"),)
    title = f"{name} never scored" if mute else f"{name} leaves completions without a score"
    return Verdict(
        "unscored", PROBLEM if sick[name] >= MOSTLY and counts else WARNING, title, f"{words} {asks}",
        f"Shown from {percent(UNSCORED)} on, for a function that weighs half of the heaviest or more; for any that "
        "counts where it never scored.",
        f"{TRL}; {CORPUS}",
        (completions("The last completions", sort="newest"), Link("The settings", "config")),
        (*answers, Change(f"Change {name}", edit_reward=name)),
        Grounds(Place.SCORING, True, sick[name], _without_score(e, name)),
    )  # fmt: skip


def _without_at_end(e: Evidence, name: str, least: float) -> str:
    """How many completions a function left without a score in the last logged steps, which the headline tells of, too;
    “” where that is not known, or a share below `least`."""
    at_last, of_last = e.functions[name].scored[-1] if e.functions[name].scored else (0, 0)
    missing = 1 - at_last / of_last if of_last else 0.0
    if missing < least:
        return ""
    return f"{'had' if e.ended else 'has'} no score for {percent(missing)} of completions {e.at_now}"


def _is_mute(e: Evidence, name: str) -> bool:
    """Whether it has scored none of the completions that were read."""
    scored = any(one.scores.get(name) is not None for one in (*e.first, *e.last))
    return e.functions[name].unscored_share == 1.0 and not scored


def _say_who_scores(e: Evidence, name: str) -> str:
    """Which functions that count score the completions that this one does not: a score of 0 is one, too. “” where none
    of those completions was read."""
    missed = [one for one in (*e.first, *e.last) if one.scores.get(name) is None]
    if not missed:
        return ""
    counting = [other for other, told in e.functions.items() if told.weight and other != name]
    shares = {other: share for other in counting if (share := _scored(other, missed))}
    if not shares:
        return f", and no other function {'with a weight ' if len(counting) < len(e.functions) - 1 else ''}scores those"
    named = " and ".join(f"“{other}”" for other in shares)
    some = "some of " if max(shares.values()) < 1 else ""
    return f", and only {named} {'scores' if len(shares) == 1 else 'score'} {some}those"


def is_replaced(e: Evidence, name: str) -> bool:
    """Whether another function scores rather what this one does not: each has rows of its own. One that has none, as it
    never scored, is not replaced by whoever scores everything."""
    rows: dict[bool, list[Sample]] = {True: [], False: []}
    for sample in (*e.first, *e.last):
        rows[sample.scores.get(name) is not None].append(sample)
    return all(rows.values()) and any(
        _scored(other, rows[False]) > _scored(other, rows[True]) for other in e.functions if other != name
    )


def _scored(name: str, samples: list[Sample]) -> float:
    return sum(one.scores.get(name) is not None for one in samples) / len(samples) if samples else 0.0


def conflict(e: Evidence) -> Verdict | None:
    """Two functions of which one earns what the other loses, so that hardly anything is left to learn."""
    counting = [name for name, told in e.functions.items() if told.weight]
    pairs = [
        (told, one, other)
        for one, other in itertools.combinations(counting, 2)
        if (told := grounds.pull(e, one, other, MANY)) and told.correlation <= AGAINST and told.left <= LEFT
    ]
    if not pairs:
        return None
    told, one, other = min(pairs, key=lambda pair: pair[0].left)
    lighter = min(one, other, key=lambda name: abs(e.functions[name].weight) * e.functions[name].std)
    heavier = e.functions[other if lighter == one else one]
    scatters = abs(heavier.weight) * heavier.std / max(e.functions[lighter].std, 1e-12)
    weight, place = float(f"{math.copysign(QUARTER * scatters, e.functions[lighter].weight):.1g}"), e.place(lighter)
    fixes = (Change(f"Weight {weight:g} for {lighter}", {f"{place}.weight": weight}),) if place else ()
    words = (
        f"Within groups, completions that score high on “{one}” score low on “{other}” (correlation "
        f"{short_number(told.correlation)}): the two cancel out, and {percent(told.left)} of their variance is left."
    )
    return Verdict(
        "conflict", WARNING, f"{one} and {other} cancel out", words,
        f"Shown from a correlation of {short_number(AGAINST)} on, where at most {percent(LEFT)} is left.", CORPUS,
        (Link("The functions' agreement", "statistics"), completions("The last completions", sort="newest")),
        (*fixes, Change("Try both on its completions", edit_reward="")),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def all_constant(e: Evidence) -> Verdict | None:
    """Every function that counts, two or more, has given every completion the same, and what is right is not told."""
    told = {name: one.constant for name, one in e.functions.items() if one.weight}
    curves = [e.curve(f"rewards/{name}/mean") for name in told]
    seen = min((one.calls for one in e.functions.values() if one.weight), default=0)
    if len(told) < 2 or not e.tells_nothing_apart or not any(told.values()) or e.right_is_told or seen < MANY:
        return None  # what only gives 0 may not have been earned yet
    if any(len(curve) < SURE or curve.high - curve.low > 1e-6 for curve in curves):
        return None
    names = list(told)
    given = ", ".join(f"“{name}” {short_number(value or 0.0)}" for name, value in told.items())
    return Verdict(
        "constant", PROBLEM, f"{', '.join(names[:-1])} and {names[-1]} give every completion the same score",
        f"Each reward function gave the same to every completion ({given}): none tells completions apart, so there is "
        "nothing to learn from.",
        f"Shown when all scores of each function were the same in {SURE} logged steps or more.", COMMON,
        (*(chart(f"rewards/{name}/mean", f"The chart of {name}") for name in names),
         completions("The last completions", sort="newest")),
        (Change("Try the functions on its completions", edit_reward=""),),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def constant(e: Evidence) -> Verdict | None:
    """A function that has given every completion the same."""
    if whole := all_constant(e):
        return whole
    paid_first = sorted(e.functions.items(), key=lambda one: not one[1].constant)  # what gives 0 is the lesser find
    for name, told in paid_first:
        curve, value = e.curves.get(f"rewards/{name}/mean"), told.constant
        if value is None or told.weight == 0 or told.calls < MANY or curve is None or curve.high - curve.low > 1e-6:
            continue
        if told.takes_messages_for_text:
            continue  # why is known, and said of its code
        if value and e.is_constant_for_want_of_right(name):
            continue
        # What gives 0 may only not have been earned yet; what gives the most may be earned by all, as prompts are easy.
        if len(curve) < (TREND if not value else SURE if e.tells_nothing_apart else BESIDE):
            continue
        alone = all(other.weight == 0 for one, other in e.functions.items() if one != name)
        decides = alone or (e.tells_nothing_apart and not e.right_is_told)  # all tie as nothing is told apart
        place = e.place(name)
        off = place and value and not alone and not (name == e.target and e.gives_one)
        fix = Change(f"Weight 0 for {name}", {f"{place}.weight": 0.0}) if off else _look_into(name)
        no_room = not value and changes.leaves_no_room(e, name)
        fixes = changes.longer(e) if no_room else (fix,)
        unread = " and reads no column of the data" if told.reads_no_column and value else ""
        words = f"“{name}” gave {short_number(value)} to {told.whom}{unread}: it tells none of them apart." + (
            " It is the only reward function, so there is nothing to learn from." if alone else ""
        )
        if no_room and e.tags:
            words += (
                f" The tags that it needs take at least {count_words(e.tags.least, 'token')}, and a completion may "
                f"have {short_number(changes.longest(e))}."
            )
        # What steps that are too large make of a model earns nothing, whatever it is scored by.
        from_start = bool(value) or no_room or not ruined.steps_are_too_large(e)
        rests = Grounds(
            Place.SCORING if value else Place.RESIDUE, from_start, 1.0 if decides else 0.0,
            grounds.last_of(e, lambda one: True) if decides else None,
        )  # fmt: skip
        return Verdict(
            "constant", PROBLEM if alone else WARNING, f"{name} gives every completion the same score", words,
            f"Shown when all of its scores were the same in {BESIDE} logged steps or more; in {TREND} where they were "
            f"0, and in {SURE} where the other functions told no completions apart either.", COMMON,
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            fixes, rests,
        )  # fmt: skip
    return None


def _look_into(name: str) -> Change:
    """The way to a function that gives no scores to learn from: one's own can be fixed, a built-in one only tried."""
    label = f"Try {name} on its completions" if name in group_metrics.SHIPPED else f"Fix {name}"
    return Change(label, edit_reward=name)


def nearly_constant(e: Evidence) -> Verdict | None:
    """A function that has given nearly every completion the same, though neither nothing nor all that there is: that
    much is earned without learning anything, and the rest never."""
    for name, told in e.functions.items():
        curve, usual = e.curve(f"rewards/{name}/mean"), _usual_score(e, name)
        if usual is None or told.weight == 0 or len(curve) < SURE or told.constant is not None:
            continue
        if e.is_constant_for_want_of_right(name):
            continue
        value, share = usual
        apart = math.fsum(abs(mean - value) for mean in curve.values) / len(curve)
        if not 0 < value < group_metrics.SOLVED or apart > (1 - NEARLY) * e.range_of(name):
            continue
        words = (
            f"“{name}” gave {short_number(value)} to nearly every completion from the first steps to the last, and "
            f"another score to {percent_without(share)}: it hardly tells any apart, so there is next to nothing to "
            "learn from it."
        )
        return Verdict(
            "constant", WARNING, f"{name} gives nearly every completion the same score", words,
            f"Shown when it gave {percent(NEARLY)} of the first and of the last completions the same, between 0 and 1, "
            f"in {SURE} logged steps or more.", COMMON,
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            (Change(f"Change {name}", edit_reward=name),), Grounds(Place.SCORING, True),
        )  # fmt: skip
    return None


def easy_for_all(e: Evidence) -> Verdict | None:
    """A function that has given nearly every completion 1 or more, whatever its row says: no prompt is easy, it is the
    function that asks for too little."""
    if not e.reads_no_column or e.goes_by_length_alone or not e.tied_share.at_least(HALF):
        return None
    for name, told in e.functions.items():
        usual = _usual_score(e, name)
        if usual is None or told.weight <= 0 or told.constant is not None or len(e.reward) < BESIDE:
            continue
        value, share = usual
        if value < group_metrics.SOLVED or told.high is None or value < told.high:
            continue
        words = (
            f"“{name}” gave {short_number(value)}, the most it gave, to {percent(share)} of completions and reads no "
            "column of the data: it is too easy to earn and tells next to none of them apart, so there is next to "
            "nothing to learn from. Compare completions with the answer, or require more."
        )
        return Verdict(
            "constant", PROBLEM, f"{name} is too easy to earn", words,
            f"Shown when it gave {percent(NEARLY)} of the first and of the last completions its highest score, 1 or "
            f"more, in {BESIDE} logged steps or more, and no function that counts reads a column of the data.",
            COMMON,
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            (Change(f"Change {name}", edit_reward=name),),
            Grounds(Place.SCORING, True, share, grounds.last_of(e, lambda one: True)),
        )  # fmt: skip
    return None


def same_for_a_prompt(e: Evidence) -> Verdict | None:
    """A function that gives all completions of a prompt the same, whatever they say, and other prompts something else:
    its scores move, and no group has anything to compare."""
    for name, told in e.functions.items():
        given = [] if name in group_metrics.OF_ANSWERS or told.calls < MANY else _scores_of_prompts(e, name)
        prompts = {prompt for prompt, _ in given}
        usual = Counter(score for _, score in given).most_common(2)
        alone = all(other.weight == 0 for one, other in e.functions.items() if one != name)
        if told.weight == 0 or e.is_constant_for_want_of_right(name):
            continue
        if len(prompts) < PROMPTS or len(usual) < 2 or usual[1][1] < 2:
            continue
        if alone and len(e.tied_share) and e.tied_share.low < 1.0:
            continue  # a step that was not read had a group that was told apart
        examples = " and ".join(f"{short_number(score)} in {count_words(count, 'group')}" for score, count in usual)
        words = (
            f"In {count_words(len(given), 'group')} that were read, whose completions differ, “{name}” gave all "
            f"completions of a group the same ({examples}): it depends on the prompt or its row, not on the "
            "completion, "
            "so there is nothing to compare." + (" It is the only reward function." if alone else "")
        )
        return Verdict(
            "constant", PROBLEM if alone else WARNING, f"{name} gives all completions of a prompt the same score",
            words,
            f"Shown where completions that differ got the same score in every group, of {PROMPTS} prompts or more, "
            "and other prompts another one.", "the recorded scores and completions",
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            (Change(f"Change {name}", edit_reward=name),),
            Grounds(Place.SCORING, True, float(alone), grounds.last_of(e, lambda one: True) if alone else None),
        )  # fmt: skip
    return None


def _scores_of_prompts(e: Evidence, name: str) -> list[tuple[str, float]]:
    """Each group's prompt and what a function gave every completion of it, of those whose texts differ; nothing where
    it told any of these apart."""
    found = []
    for group in e.groups:
        scores = grounds.scores_of(group, name)
        if len(scores) < 2 or grounds.is_one_text(group):
            continue
        if max(scores) - min(scores) > group_metrics.TIED:
            return []
        found.append((group[0].prompt, scores[0]))
    return found


def _usual_score(e: Evidence, name: str) -> tuple[float, float] | None:
    """The score that nearly all of the first and of the last completions have of a function, and the share of both that
    have it; None where there is none, or too few were scored."""
    parts = [[score for one in some if (score := one.scores.get(name)) is not None] for some in (e.first, e.last)]
    if min(map(len, parts)) < MANY:
        return None
    usual = [Counter(scores).most_common(1)[0] for scores in parts]
    shares = [count / len(scores) for (_, count), scores in zip(usual, parts, strict=True)]
    if usual[0][0] != usual[1][0] or min(shares) < NEARLY:
        return None
    return usual[0][0], sum(count for _, count in usual) / sum(map(len, parts))


def dominating(e: Evidence) -> Verdict | None:
    """By its scale, one function decides alone, though others would still tell completions apart."""
    share = {name: abs(told.weight) * told.std for name, told in e.functions.items() if told.calls >= ENOUGH}
    total = sum(share.values())
    if len(share) < 2 or total <= 0 or len(e.reward) < SOON:
        return None
    name = max(share, key=lambda one: share[one])
    drowned = [one for one in share if one != name and e.functions[one].weight and _tells(e.functions[one])]
    part = share[name] / total
    if part < DOMINATES or not drowned or e.weights_move:
        return None
    place = e.place(name)
    weight = abs(e.functions[name].weight) * max(share[one] for one in drowned) / share[name]
    value = float(f"{weight:.1g}")
    fixes = (Change(f"Weight {setting_text(value)} for {name}", {f"{place}.weight": value}),) if place and value else ()
    words = (
        f"{percent(part)} of the differences in reward come from “{name}”: beside it, "
        f"{', '.join(drowned)} {'counts' if len(drowned) == 1 else 'count'} for next to nothing."
    )
    return Verdict(
        "dominating", WARNING, f"{name} outweighs the other rewards", words,
        f"Shown when one function contributes {percent(DOMINATES)} of the scatter (weight × standard deviation), while "
        f"another still scatters over {percent(SCATTERS)} of its own range.", COMMON,
        (Link("The functions' agreement", "statistics"), chart(f"rewards/{name}/mean", f"The chart of {name}")), fixes,
        Grounds(Place.SCORING, True, part, grounds.last_groups_of(e, lambda group: not grounds.earns_the_same(group))),
    )  # fmt: skip


def _tells(told: Function) -> bool:
    if told.low is None or told.high is None or told.high <= told.low:
        return False
    return told.std >= SCATTERS * (told.high - told.low)


def learned_rewards(e: Evidence) -> Verdict | None:
    """Say, without alarm, which function everything earns by now."""
    for name, told in e.functions.items():
        curve = e.curves.get(f"rewards/{name}/mean")
        if curve is None or len(curve) < TREND or told.low is None or told.low != told.high or told.before is None:
            continue
        if told.before[0] < told.low and told.calls >= ENOUGH and name != e.target:
            last = count_words(told.calls, "completion")
            words = (
                f"Every one of the last {last} earns {short_number(told.low)} from “{name}”: it is "
                "learned, and no longer tells completions apart. That is expected."
            )
            return Verdict(
                "learned", CALM, f"{name} is learned", words,
                "Shown when all of the last completions have its highest score.", MEASURED,
                (chart(f"rewards/{name}/mean", f"The chart of {name}"),), grounds=Grounds(Place.SIGN),
            )  # fmt: skip
    return None


RULES = (
    failing, leaves_unscored, constant, nearly_constant, easy_for_all, same_for_a_prompt, conflict, dominating,
    learned_rewards,
)  # fmt: skip
