"""Completions in which nothing is said: the model ends them before it has begun. Pure."""

from collections.abc import Sequence

from groupwise.storage.analysis.doctor import grounds
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.verdict import (
    MEASURED,
    PROBLEM,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import percent

MOSTLY = 0.8  # of the completions
READ = 32  # completions that must have been read
HOW_ASKED = (
    Change("The system prompt", field="data.system_prompt"),
    Change("The prompt template", field="data.prompt_template"),
)
WHY = (
    "the model generates its end token first, so there is no answer to score. Check how it is prompted: a system "
    "prompt or a prompt template that ends where the model would stop, or a chat template that it was not trained "
    "with, does this."
)


def empty(e: Evidence) -> Verdict | None:
    """Nearly every completion is empty from the first step on. A model that comes to that later learned it, or lost
    itself: that is what is told then."""
    now = _empty_share(e.last)
    share = min(_empty_share(e.first), now)
    if len(e.last) < READ or share < MOSTLY:
        return None
    return Verdict(
        "empty", PROBLEM, "Completions are empty",
        f"{percent(now)} of the last {len(e.last):,} completions {e.verbs} empty, as at the start: {WHY}",
        f"Shown from {percent(MOSTLY)} of the first and of the last completions on.", MEASURED,
        (chart("completions/mean_length", "The chart of length"),
         completions("The empty completions", sort="length")),
        HOW_ASKED, Grounds(Place.WRITING, True, share, grounds.last_of(e, _is_empty)),
    )  # fmt: skip


def _is_empty(sample: Sample) -> bool:
    return not sample.text.strip()


def _empty_share(samples: Sequence[Sample]) -> float:
    return sum(map(_is_empty, samples)) / len(samples) if samples else 0.0


RULES = (empty,)
