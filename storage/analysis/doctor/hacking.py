"""Suspicions that the reward is earned without what it is meant for. Never more than a suspicion: only reading the
completions tells. Each rule is pure."""

import re
from collections.abc import Sequence

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    MEASURED,
    SUSPICION,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import last_steps, percent, short_number, steps_between, write_figure

TREND = 20  # logged steps
UP = 0.05  # of the rewards' scale
REPEATS, REPEATS_MORE = 0.6, 0.2  # how well long completions pack (storage.record.group_metrics.repetition_share)
RISES, FALLS = 0.15, 0.1  # of a function's own range
EARNING, PATTERN = 0.8, 0.25  # of the rewards' range; share of the completions that earn so much
ENOUGH = 16  # completions that earn it
STUFFED, COPIED = 4, 40  # times the same tag is opened; characters of the prompt
_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9_-]{0,30})>")
WHICH = Change("Find which function rewards it", edit_reward="")


def repetition_rises(e: Evidence) -> Verdict | None:
    """Reward and repetition rise together."""
    told = e.curve("groups/repetition")
    if len(told) < TREND or not told.at_least(REPEATS) or told.rise < REPEATS_MORE:
        return None
    if e.reward.direction(UP * e.scale) < 1:
        return None
    words = (
        f"The reward rose while long completions came to repeat themselves: {percent(told.now)} of those of "
        f"{last_steps(told)} {e.verb} repetition, {percent(told.start)} at the start. Perhaps a reward is earned by "
        "repeating."
    )
    return Verdict(
        "hacking_repetition", SUSPICION, "Is repeating rewarded?", words,
        f"Shown from {percent(REPEATS)} on, up by {percent(REPEATS_MORE)} or more, while the reward rises.", MEASURED,
        (chart("groups/repetition", "The chart of repetition"),
         completions("The best of the last completions", steps=steps_between(told.course.ended), sort="-reward")),
        (changes.add_reward(e, "repetition_penalty"), WHICH), Grounds(Place.COURSE, share=told.now, moves=True),
    )  # fmt: skip


def against_the_others(e: Evidence) -> Verdict | None:
    """The total rises because one function does, while another, that also counts, falls."""
    if len(e.reward) < TREND or e.weights_move:
        return None
    moved: dict[str, float] = {}
    for name in e.functions:
        curve = e.curves.get(f"rewards/{name}/mean")
        if curve is None or len(curve) < TREND or e.weight(name) <= 0:
            continue
        span = e.range_of(name)
        if span > 0 and (curve.has_fallen(FALLS * span) or curve.direction(RISES * span) > 0):
            moved[name] = curve.rise / span
    up = max(moved, key=lambda name: moved[name], default="")
    down = min(moved, key=lambda name: moved[name], default="")
    if not moved or moved[up] <= 0 or moved[down] >= 0 or e.reward.direction(0, 2.0) < 0:
        return None
    words = (
        f"“{up}” rose {_from_to(e, up)} while “{down}” fell {_from_to(e, down)}: perhaps the model earns the one "
        "at the cost of the other."
    )
    return Verdict(
        "hacking_one", SUSPICION, f"{up} at the cost of {down}?", words,
        f"Shown when, beyond noise, one rises by {percent(RISES)} and another falls by {percent(FALLS)} of the "
        "range of its scores.",
        COMMON,
        (chart(f"rewards/{up}/mean", f"The chart of {up}"), chart(f"rewards/{down}/mean", f"… and of {down}"),
         completions("The best completions", sort="-reward")),
        (*_rate_if_above_usual(e), changes.weigh_double(e, down),
         Change(f"Close the loophole in {up}", edit_reward=up)),
        Grounds(Place.TREND),
    )  # fmt: skip


def _from_to(e: Evidence, name: str) -> str:
    curve = e.curve(f"rewards/{name}/mean")
    return f"from {write_figure(curve.start)} to {write_figure(curve.now)}"


def probe_patterns(e: Evidence) -> Verdict | None:
    """What earns much looks like what a probe would try: nothing written, tags stuffed, the prompt copied."""
    before, now = _earning(e, e.first), _earning(e, e.last)
    if len(now) < ENOUGH or e.high is None or e.low is None or e.high <= e.low:
        return None
    for kind, words in KINDS.items():
        share = sum(hacking_kind(sample) == kind for sample in now) / len(now)
        earlier = sum(hacking_kind(sample) == kind for sample in before) / len(before) if before else 0.0
        if share >= PATTERN and share >= earlier + PATTERN / 2:
            said = (
                f"{percent(share)} of the last completions that earn "
                f"{short_number(e.low + EARNING * (e.high - e.low))} or more {words}; it was "
                f"{percent(earlier)} at the start."
            )
            return Verdict(
                "hacking_pattern", SUSPICION, "Is a pattern rewarded?", said,
                f"Shown when {percent(PATTERN)} of those that earn {percent(EARNING)} of the rewards' range have it, "
                "and more than at the start.", "the patterns of the workbench's probes; the share is " + MEASURED,
                (completions("What earns the most", sort="-reward",
                             steps=steps_between((e.last[0].step, e.last[-1].step)),
                             reward=f"{e.low + EARNING * (e.high - e.low):g}.."),),
                (WHICH,), Grounds(Place.COURSE, share=share, about=frozenset(_places(now, kind))),
            )  # fmt: skip
    return None


def _places(samples: list[Sample], kind: str) -> list[tuple[int, int]]:
    return [(sample.grp, sample.idx) for sample in samples if hacking_kind(sample) == kind]


KINDS = {"empty": "are empty", "stuffed": "open the same tag again and again", "copied": "copy the prompt"}


def hacking_kind(sample: Sample) -> str | None:
    """Which pattern a completion has; None: none of them."""
    text = sample.text.strip()
    if not text:
        return "empty"
    tags = _TAG.findall(text[:2000])
    if tags and max(tags.count(tag) for tag in set(tags)) >= STUFFED:
        return "stuffed"
    asked = sample.prompt.strip()
    if len(asked) >= COPIED and asked in text and len(asked) > len(text) / 2:
        return "copied"
    return None


def _earning(e: Evidence, samples: Sequence[Sample]) -> list[Sample]:
    if e.low is None or e.high is None:
        return []
    least = e.low + EARNING * (e.high - e.low)
    return [sample for sample in samples if sample.reward is not None and sample.reward >= least]


def _rate_if_above_usual(e: Evidence) -> tuple[Change, ...]:
    """A usual learning rate, where it is higher: steps that are too large spoil first what is hard to learn."""
    rate = e.number("learning_rate")
    return changes.lower_rate(e, 1.0) if rate is not None and rate > e.usual_rates.usual else ()


RULES = (repetition_rises, against_the_others, probe_patterns)
