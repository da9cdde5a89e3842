"""Completions in which nothing is said: the model ends them before it has begun, or writes signs alone. Pure."""

from collections.abc import Callable, Sequence

from groupwise.storage.analysis.doctor import changes, grounds
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
from groupwise.storage.checks.starter_use import STARTER_KNOWS
from groupwise.storage.library.models.hub_models import SUGGESTED
from groupwise.storage.record.group_metrics import has_letters
from groupwise.storage.spec.words.number_words import count_words

MOSTLY = 0.8  # of the completions
READ = 32  # completions that must have been read
MOST = 0.5  # of the completions, of groups that all failed: their prompts cannot be called too hard
HOW_ASKED = (
    Change("The system prompt", field="data.system_prompt"),
    Change("The prompt template", field="data.prompt_template"),
)
BEYOND_STARTER = (
    f"The starter is there to try things out: {STARTER_KNOWS}. For those, choose another model, such as {SUGGESTED.id}."
)
CHECK = (
    "Check how it is prompted: a system prompt or a prompt template that ends where the model would stop, or a chat "
    "template that it was not trained with, does this."
)


def empty(e: Evidence) -> Verdict | None:
    """Nearly every completion is empty from the first step on. A model that comes to that later learned it, or lost
    itself: that is what is told then."""
    now = _share(e.last, _is_empty)
    share = min(_share(e.first, _is_empty), _share(_of_first_step(e), _is_empty), now)
    if len(e.last) < READ or share < MOSTLY:
        return None
    return Verdict(
        "empty", PROBLEM, "Completions are empty",
        f"{percent(now)} of the last {len(e.last):,} completions {e.verbs} empty, as at the start: the model "
        f"generates its end token first, so there is no answer to score. {_advise(e)}",
        f"Shown from {percent(MOSTLY)} of the first and of the last completions on.", MEASURED,
        (chart("completions/mean_length", "The chart of length"),
         completions("The empty completions", sort="length")),
        _changes(e), Grounds(Place.WRITING, True, share, grounds.last_of(e, _is_empty)),
    )  # fmt: skip


def silent_share(samples: Sequence[Sample]) -> float:
    """The share of completions without a letter or a digit."""
    return _share(samples, _is_silent)


def mostly_silent(e: Evidence, level: str, *, tied: bool) -> Verdict | None:
    """What is to be said in place of prompts that are too hard, where most completions, or most of the groups that tie,
    are silent from the first step on: of such groups nothing follows for their prompts."""
    now, first = (_of_groups(groups, tied) for groups in (e.last_groups, e.first_groups))
    share = silent_share(now)
    if len(now) < READ or min(share, silent_share(first), silent_share(_of_first_step(e))) < MOST:
        return None
    where = "" if silent_share(e.last) >= MOST else " in tied groups"
    no_letters = f"{e.has} no letter or digit"
    either = no_letters if not _share(now, _is_empty) else f"{e.verbs} empty"
    either += f" or {no_letters}" if 0 < _share(now, _is_empty) < share else ""
    what = "are empty" if _share(now, _is_empty) >= share / 2 else "have no letter or digit"
    return Verdict(
        "empty", level, f"Most completions{where} {what}",
        f"{percent(share)} of the last {count_words(len(now), 'completion')}{' in tied groups' if tied else ''} "
        f"{either}, as at the start, so there is no answer to score, and nothing shows how hard the prompts are. "
        f"{_advise(e)}",
        f"Shown where most groups fail, and at least {percent(MOST)} of the completions, of the first and of the last, "
        "have no letter or digit.", MEASURED,
        (completions("The shortest completions", sort="length"),
         chart("completions/mean_length", "The chart of length")),
        _changes(e), Grounds(Place.WRITING, True, share, grounds.last_of(e, _is_silent)),
    )  # fmt: skip


def _of_groups(groups: Sequence[Sequence[Sample]], tied: bool) -> list[Sample]:
    """The completions of these groups, or of those that tie."""
    return [one for group in groups if not tied or grounds.earns_the_same(group) for one in group]


def _of_first_step(e: Evidence) -> list[Sample]:
    """What the model wrote before it was trained: a single step may have ruined what came after."""
    first = min((one.step for one in e.first), default=0)
    return [one for one in e.first if one.step == first]


def became_silent(e: Evidence) -> bool:
    """Whether most completions of the last groups that tie are silent, and most of the first were not."""
    now = _of_groups(e.last_groups, True)
    return bool(e.first) and len(now) >= READ and silent_share(now) >= MOST > silent_share(_of_first_step(e))


def say_beyond_starter(e: Evidence) -> str:
    """What the starter knows, and what to do: of sums in another writing what New run says of them."""
    told = e.other_writing
    return BEYOND_STARTER if told is None else f"{told.message[:1].upper()}{told.message[1:]}"


def title_too_hard(e: Evidence) -> str:
    """The title where hardly any prompt is answered right: sums that it knows in another writing are not too hard."""
    return "The prompts are too hard" if e.other_writing is None else "The starter does not know sums written like this"


def _advise(e: Evidence) -> str:
    return say_beyond_starter(e) if e.beyond_starter else CHECK


def _changes(e: Evidence) -> tuple[Change, ...]:
    return changes.harder(e) if e.beyond_starter else HOW_ASKED


def _is_silent(sample: Sample) -> bool:
    return not has_letters(sample.text)


def _is_empty(sample: Sample) -> bool:
    return not sample.text.strip()


def _share(samples: Sequence[Sample], is_so: Callable[[Sample], bool]) -> float:
    return sum(map(is_so, samples)) / len(samples) if samples else 0.0


RULES = (empty,)
