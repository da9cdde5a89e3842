"""Whether the KL weight lets a model learn, and what of one that follows a target does not fit. Pure."""

import math
from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import KlSpec, RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem

USUAL = 0.04  # a KL weight to begin with: DeepSeekMath's (Shao et al., 2024)
HEAVY = 0.5  # from here on the KL outweighs the reward: measured on the doctor's corpus, whose runs then stay put
BETA = "training.beta"


def check_kl(spec: RunSpec, offer: Offer) -> list[Problem]:
    """Whether a fixed weight is one to learn with; where it follows a target, whether there is a reference model to
    measure by, and whether the weight begins within its bounds."""
    beta: Any = spec.training.get("beta", ((offer.training or {}).get("beta") or {}).get("default", 0.0))
    if isinstance(beta, bool) or not isinstance(beta, (int, float)):
        return []  # said where types are checked
    if spec.kl.target is None:
        return [*_unused(spec.kl), *_too_heavy(beta)]
    if spec.kl.least > spec.kl.most:
        usual = KlSpec()
        fix = Fix(f"Use {usual.least:g} and {usual.most:g}", {"kl.least": usual.least, "kl.most": usual.most})
        return [Problem("kl.least", f"should not be above most ({spec.kl.most:g}).", fixes=(fix,))]
    if beta <= 0:
        fixes = (Fix(f"Begin with beta {_within(USUAL, spec.kl):g}", {BETA: _within(USUAL, spec.kl)}),
                 Fix("Keep beta as it is", {}, ("kl",)))  # fmt: skip
        message = "needs a beta above 0 to begin with: at 0 there is no reference model to measure the KL by."
        return [Problem("kl.target", message, fixes=fixes)]
    if beta != _within(beta, spec.kl):
        fixes = (Fix(f"Begin at {_within(beta, spec.kl):g}", {BETA: _within(beta, spec.kl)}), _widen(beta, spec.kl))
        message = f"should begin within the bounds of its changes, {spec.kl.least:g} to {spec.kl.most:g}."
        return [Problem(BETA, message, fixes=fixes)]
    return []


def _too_heavy(beta: float) -> list[Problem]:
    if not HEAVY <= beta < math.inf:
        return []
    message = (
        f"at {beta:g} the KL term outweighs the reward: the model stays where it began. 0 to 0.1 is usual; "
        f"DeepSeekMath has {USUAL:g}."
    )
    fixes = (Fix(f"Use {USUAL:g}", {BETA: USUAL}), Fix("Use 0: no KL", {BETA: 0.0}))
    return [Problem(BETA, message, level=WARNING, fixes=fixes)]


def _unused(kl: KlSpec) -> list[Problem]:
    if kl == KlSpec():
        return []
    fixes = (Fix("Use a KL target of 0.05", {"kl.target": 0.05}), Fix("Remove it", {}, ("kl",)))
    return [Problem("kl", "is not used: it has no target.", level=WARNING, fixes=fixes)]


def _within(beta: float, kl: KlSpec) -> float:
    return min(max(beta, kl.least), kl.most)


def _widen(beta: float, kl: KlSpec) -> Fix:
    return Fix(f"Use {beta:g}", {"kl.least": beta} if beta < kl.least else {"kl.most": beta})
