"""Whether the KL ran away, and how that is told where something else is the cause of it. Pure."""

from groupwise.storage.analysis.doctor.curve import Curve, median
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.words import write_figure

KL_FAR = 0.5  # nats a token


def is_far(told: Curve) -> bool:
    """Whether this KL is that of a model far from its reference model. One spike makes the mean of a window high, but
    not half of its points."""
    return told.at_least(KL_FAR) and median(told.values[-told.window :]) >= KL_FAR


def say_kl(e: Evidence, joined: str) -> str:
    """What KL came to, or that it rose far, to be `joined` to a sentence on its cause; “” where none is logged."""
    told = e.curve("kl")
    if not len(told):
        return ""
    if e.kl.target is not None or not is_far(told):  # with a target, far is what is far from that
        return f"{joined} KL {e.verb} {write_figure(told.now)}"
    ran = "rose to" if e.ended else "has risen to"
    return f"{joined} KL {ran} {write_figure(told.now)}"
