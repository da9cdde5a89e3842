"""What single reward functions do: fail, say the same of everything, drown the others. Each rule is pure."""

from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.verdict import (
    CALM,
    COMMON,
    MEASURED,
    PROBLEM,
    WARNING,
    Change,
    Link,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import percent, setting_text, short_number

ENOUGH = 32  # completions
TREND = 20  # logged steps
FAILING, MOSTLY = 0.05, 0.5  # shares of completions
DOMINATES = 0.95  # of the scatter that weighted scores bring
SCATTERS = 0.1  # of its own range: what a function still tells apart


def failing(e: Evidence) -> Verdict | None:
    """A function raises or takes too long."""
    sick = {name: told for name, told in e.functions.items() if told.calls >= 4 and told.failure_share >= FAILING}
    if not sick:
        return None
    name = max(sick, key=lambda one: sick[one].failure_share)
    told = sick[name]
    reason = f" It last said: {told.message[:300].rstrip('.')}." if told.message else ""
    others = f" So do {', '.join(one for one in sick if one != name)}." if len(sick) > 1 else ""
    words = (
        f"“{name}” gave no score to {percent(told.failure_share)} of the last {told.calls} completions.{others}{reason}"
    )
    return Verdict(
        "failing", PROBLEM if told.failure_share >= MOSTLY else WARNING, f"The reward function {name} fails", words,
        f"Said from {percent(FAILING)} of the last completions on, as a problem from {percent(MOSTLY)}.",
        "what the record has of each score",
        (Link("The log", "log"), completions("The last completions", sort="newest")),
        (Change(f"Mend {name}", mend=name),),
    )  # fmt: skip


def constant(e: Evidence) -> Verdict | None:
    """A function that has given every completion the same."""
    for name, told in e.functions.items():
        curve = e.curves.get(f"rewards/{name}/mean")
        value = told.constant
        if value is None or told.weight == 0 or told.calls < ENOUGH or curve is None or len(curve) < TREND:
            continue
        if curve.high - curve.low > 1e-6:
            continue
        place = e.place(name)
        off = place and len(e.functions) > 1
        fix = Change(f"Weight 0 for {name}", {f"{place}.weight": 0.0}) if off else Change(f"Mend {name}", mend=name)
        words = f"“{name}” gave {short_number(value)} to every completion so far: it tells none of them apart."
        return Verdict(
            "constant", WARNING, f"{name} says the same of everything", words,
            f"Said when it never gave anything else in {TREND} logged steps or more.", COMMON,
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            (fix,),
        )  # fmt: skip
    return None


def dominating(e: Evidence) -> Verdict | None:
    """By its scale, one function decides alone, though others would still tell completions apart."""
    share = {name: abs(told.weight) * told.std for name, told in e.functions.items() if told.calls >= ENOUGH}
    total = sum(share.values())
    if len(share) < 2 or total <= 0 or len(e.reward) < TREND:
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
        f"{percent(part)} of what sets completions apart is “{name}”: beside its scores, "
        f"{', '.join(drowned)} {'counts' if len(drowned) == 1 else 'count'} for next to nothing."
    )
    return Verdict(
        "dominating", WARNING, f"{name} drowns the other rewards", words,
        f"Said when one function brings {percent(DOMINATES)} of the scatter (weight × standard deviation), while "
        f"another still scatters over {percent(SCATTERS)} of its own range.", COMMON,
        (Link("The functions' agreement", "statistics"), chart(f"rewards/{name}/mean", f"The chart of {name}")), fixes,
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
            words = (
                f"Every one of the last {told.calls} completions earns {short_number(told.low)} from “{name}”: it is "
                "learned, and sets nothing apart any more. That is as it should be."
            )
            return Verdict(
                "learned", CALM, f"{name} is learned", words,
                "Said when all of the last completions have its highest score.", MEASURED,
                (chart(f"rewards/{name}/mean", f"The chart of {name}"),),
            )  # fmt: skip
    return None


RULES = (failing, constant, dominating, learned_rewards)
