"""Which verdict explains which: decided by when each began and by the completions that each is about. Pure.

Nothing here knows a verdict by its name. What was so before anything was learned cannot be the effect of how the model
was changed; what came later can. And what acts earlier in a step explains what shows later in it as far as the
completions are the same ones.
"""

from groupwise.storage.analysis.doctor.verdict import LEVELS, PROBLEM, SUSPICION, WARNING, Place, Verdict

COVERS = 0.8  # of the completions that a verdict is about: the share that another must be about, too, to explain it
HOLDS = 0.5  # of all completions, to explain what is seen in the run as a whole


def one_to_a_cause(found: list[Verdict]) -> list[Verdict]:
    """Without those that another explains, each key once; the gravest first, of equals what acts first."""
    causes = [one for one in found if not any(explains(other, one) for other in found)]
    kept: dict[str, Verdict] = {}
    for verdict in sorted(causes, key=_rank):
        kept.setdefault(verdict.key, verdict)
    return list(kept.values())


def _rank(verdict: Verdict) -> tuple[int, int, float]:
    place = verdict.grounds.place
    return LEVELS.index(verdict.level), Place.RESIDUE if place is None else place, -verdict.grounds.share


def explains(cause: Verdict, effect: Verdict) -> bool:
    """Whether the one is why the other is so."""
    by, of = cause.grounds, effect.grounds
    if cause.key == effect.key or by.place is None or of.place is None:
        return False
    if cause.level == SUSPICION and effect.level in (PROBLEM, WARNING):
        return False  # what is only suspected hides nothing that is certain
    if by.moves and not of.from_start and (not of.moves or by.place < of.place):
        return True  # of two that change what the model writes, what acts first
    if of.moved and by.place in (Place.ANSWERS, Place.PROMPTS):
        return False  # groups that tie have no gradient: they move nothing
    if by.place >= of.place or not (by.from_start or not (of.from_start or of.moves)):
        return False
    return _covers(cause, effect)


def _covers(cause: Verdict, effect: Verdict) -> bool:
    by, of = cause.grounds, effect.grounds
    if not of.about:  # seen in the run as a whole, or in no completion that was read
        return by.share >= (COVERS if of.share else HOLDS)
    if by.about is None:  # as if the two were independent
        return by.share >= COVERS
    return len(by.about & of.about) >= COVERS * len(of.about)
