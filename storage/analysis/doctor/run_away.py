"""Whether the KL ran away, and how that is told where something else is the cause of it. Pure."""

from groupwise.storage.analysis.doctor.curve import Curve, median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.words import setting_text, write_figure

KL_FAR = 0.5  # nats a token
MOVED = 0.12  # the same, that a healthy run comes to in 400 steps


def is_far(told: Curve) -> bool:
    """Whether this KL is that of a model far from its reference model. One spike makes the mean of a window high, but
    not half of its points."""
    return told.at_least(KL_FAR) and median(told.values[-told.window :]) >= KL_FAR


def is_driven(e: Evidence) -> bool:
    """Whether steps at a learning rate above the usual took the model further from its reference model than a healthy
    run goes."""
    rate, told = e.number("learning_rate"), e.curve("kl")
    return rate is not None and e.usual_rates.is_high(rate) and len(told) > 0 and told.at_least(MOVED)


def say_kl(e: Evidence, joined: str) -> str:
    """What KL came to, or that it rose far, to be `joined` to a sentence on its cause; “” where none is logged."""
    told = e.curve("kl")
    if not len(told):
        return ""
    if e.kl.target is not None or not is_far(told):  # with a target, far is what is far from that
        return f"{joined} KL {e.verb} {write_figure(told.now)}"
    ran = "rose to" if e.ended else "has risen to"
    return f"{joined} KL {ran} {write_figure(told.now)}"


def say_high_rate(e: Evidence) -> str:
    """That the learning rate is high for such a model, where it is: a sentence to stand behind another."""
    rate = e.number("learning_rate")
    high = rate is not None and e.usual_rates.is_high(rate)
    return f" The learning rate of {setting_text(rate)} is high for this model." if high else ""
