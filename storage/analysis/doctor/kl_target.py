"""Whether a KL weight that follows a target comes to it. The rule is pure."""

import math
from dataclasses import dataclass

from groupwise.storage.analysis.doctor import changes, rates
from groupwise.storage.analysis.doctor.curve import Curve, mean, median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import CALM, COMMON, WARNING, Change, Grounds, Place, Verdict, chart
from groupwise.storage.analysis.doctor.words import short_number, write_figure

TREND = 20  # logged steps, of at least
SETTLES = 40  # steps: at the usual rate of change the weight can double in them
FAR = 2.0  # times the target, or a part of it
MOSTLY = 0.8  # of the points of the last third
NEARER = 1.1  # times as near in the second half of that third: then it is on its way
AT_BOUND = 1.001  # times the bound: what a logged mean differs from it
LOOSE = 0.005  # a KL weight that holds hardly anything back: a smaller one changes nothing


@dataclass(frozen=True)
class Miss:
    """How far the KL is from its target: `times` it, since `step`; `bound`: the bound at which the weight stands, None:
    it moves."""

    kl: float
    times: float
    step: int
    weight: float
    bound: float | None

    @property
    def is_above(self) -> bool:
        """Whether the model moves further than it should."""
        return self.times > 1


def find_miss(e: Evidence) -> Miss | None:
    """How the last third of the run missed the target; None where it did not, is on its way, or has hardly begun."""
    target, told, weight = e.kl.target, e.curve("kl"), e.curve("beta")
    third = len(told) // 3
    if target is None or len(told) < TREND or told.steps[-1] - e.since < SETTLES or not len(weight):
        return None
    last = told.values[-third:]
    times = [value / target for value in (*last, told.now, mean(last))]
    far = [value > FAR for value in times] if told.now > target else [value < 1 / FAR for value in times]
    if not (far[-1] and far[-2] and mean(far[:third]) >= MOSTLY):
        return None
    bound = _bound(weight, e.kl.least, e.kl.most, told.now > target)
    if _is_on_its_way(last, target) and not (e.ended and bound):
        return None
    return Miss(told.now, told.now / target, told.steps[-third], weight.values[-1], bound)


def _bound(weight: Curve, least: float, most: float, above: bool) -> float | None:
    now = weight.values[-1]
    if above:
        return most if now * AT_BOUND >= most else None
    return least if now <= least * AT_BOUND else None


def _is_on_its_way(last: tuple[float, ...], target: float) -> bool:
    """Whether the second half of these values is nearer than the first."""
    before, after = (median(part) for part in (last[: len(last) // 2], last[len(last) // 2 :]))
    if min(before, after) <= 0:
        return after > before
    return abs(math.log(before / target)) - abs(math.log(after / target)) > math.log(NEARER)


def kl_target(e: Evidence) -> Verdict | None:
    """The KL is far from the target that its weight follows, and does not come nearer."""
    miss = find_miss(e)
    if miss is None or e.kl.target is None or not miss.is_above and _is_held_otherwise(e):
        return None
    times = miss.times if miss.is_above else 1 / max(miss.times, 1e-9)
    share = f"{short_number(times)} times its target" if miss.is_above else f"a {_part(times)} of its target"
    since = f"and {'had' if e.ended else 'has'} been more than a factor of {FAR:g} from it since step {miss.step:,}"
    words = (
        f"KL {e.verb} {write_figure(miss.kl)} {e.at_now}, {share} of {short_number(e.kl.target)}, {since}. "
        f"{_say_weight(e, miss)}"
    )
    harmless = not miss.is_above and e.reward.direction(0, 2.0) > 0
    return Verdict(
        "kl_target", CALM if harmless else WARNING, f"KL {'missed' if e.ended else 'misses'} its target", words,
        f"Shown from {TREND} logged steps and {SETTLES} steps on, where in the last third of them KL is more than a "
        f"factor of {FAR:g} from kl.target and does not get nearer, or the weight ended at its bound; a note where "
        "it is "
        "below and the reward rises.", COMMON,
        (chart("kl"), chart("beta", "The chart of the KL weight")), _fixes(e, miss, e.kl.target),
        Grounds(Place.TREND, share=0.0 if harmless else 1.0, moved=miss.is_above),
    )  # fmt: skip


def _is_held_otherwise(e: Evidence) -> bool:
    """Whether something else keeps the model where it is, which is said."""
    moves = rates.flat_reward(e)
    return bool(rates.beta_high(e) or rates.warm_up_long(e) or moves and moves.key == "learning_rate_low")


def _part(times: float) -> str:
    return {2: "half", 3: "third", 4: "quarter", 5: "fifth"}.get(round(times), f"{short_number(round(times))}th")


def _say_weight(e: Evidence, miss: Miss) -> str:
    weight = short_number(miss.weight)
    if miss.bound is None:
        went = "rises" if miss.is_above else "falls"
        went = went if not e.ended else "rose" if miss.is_above else "fell"
        return f"The KL weight {went} too slowly to change that (kl.rate is {e.kl.rate:g}): it {e.verb} {weight}."
    if miss.is_above:
        return f"The KL weight {e.verb} at kl.most ({weight}), and cannot rise further."
    hardly = ", where it has hardly any effect" if miss.bound <= LOOSE else ""
    return f"The KL weight {e.verb} at kl.least ({weight}){hardly}: steps of this size cannot move the model further."


def _fixes(e: Evidence, miss: Miss, target: float) -> tuple[Change, ...]:
    """What lets the weight go where it must, or takes it there sooner; then the size of the steps, then the target."""
    found: list[Change] = []
    if miss.bound is None:
        begin, rate = float(f"{miss.weight:.1g}"), min(1.0, 5 * e.kl.rate)
        if rate > e.kl.rate:
            found.append(Change(f"KL rate of change {rate:g}", {"kl.rate": rate}))
        elif e.kl.least <= begin <= e.kl.most:
            found.append(Change(f"Begin with beta {begin:g}", {"training.beta": begin}))
    elif miss.is_above:
        most = min(1000.0, 5 * e.kl.most)
        found.append(Change(f"Highest beta {most:g}", {"kl.most": most}))
    elif miss.bound > LOOSE:
        found.append(Change(f"Lowest beta {e.kl.least / 10:g}", {"kl.least": float(f"{e.kl.least / 10:.2g}")}))
    steps = changes.lower_rate(e, 0.5) if miss.is_above else changes.higher_rate(e, 2.0)
    near = min(1000.0, max(1e-6, float(f"{miss.kl:.1g}")))
    return changes.rate_first(e, (*found, *steps, changes.follow_kl(near)))


RULES = (kl_target,)
