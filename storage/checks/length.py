"""Completions that are longer than the model can read, and a default of TRL's that would be."""

from dataclasses import replace
from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import model_files
from groupwise.storage.library.models.model_files import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import UNSET, Fix, Problem

FIELD = "training.max_completion_length"


def check_length(spec: RunSpec, offer: Offer, facts: ModelFacts | None) -> list[Problem]:
    """The first stage whose completions leave a prompt no room."""
    room = facts.max_position if facts else None
    if not room:
        return []
    default = _default(offer)
    for index, stage in enumerate(spec.by_stage()):
        inside = f"stages.{index}." if spec.stages and "max_completion_length" in spec.stages[index].training else ""
        length: Any = stage.training.get("max_completion_length", default)
        if isinstance(length, int) and length >= room:
            field, fits = f"{inside}{FIELD}", _fitting(room)
            given = "max_completion_length" in stage.training
            tokens = count_words(length, "token")
            said = tokens if given else f"{UNSET}TRL's default is {tokens}"
            # the number in words, too: a YAML that cannot be read has no button that sets it
            known = f"the model reads at most {room}, the prompt's included"
            message = f"{said}, but {known}. {fits} would leave half of that for the prompt."
            return [Problem(field, message, fixes=(Fix(f"Use {fits}", {field: fits}),))]
    return []


def with_fitting_lengths(problems: list[Problem], spec: RunSpec, offer: Offer) -> list[Problem]:
    """The problems, and instead of each fix that would set a length with no room for a prompt, be it TRL's default,
    one that does: else a click would only lead to the next problem. So it is with who removes what others call it."""
    known = model_files.facts_at_hand(spec.model)
    room = known.max_position if known else None
    if not room:
        return problems
    fits = Fix(f"Use {_fitting(room)}", {FIELD: _fitting(room)}, fallback=True)

    def fixes(problem: Problem) -> tuple[Fix, ...]:
        better = [fits if _too_long(fix, room, _default(offer)) else fix for fix in problem.fixes]
        if _default_leaves_none(room, offer) and any(_is_renaming(fix, problem.field) for fix in better):
            better = [_with_length(fix, room) if fix.removed == (problem.field,) else fix for fix in better]
        done = [replace(fix, label="", fallback=False) for fix in better]  # of two that do the same the first is kept
        return tuple(fix for number, fix in enumerate(better) if done[number] not in done[:number])

    return [replace(problem, fixes=fixes(problem)) for problem in problems]


def _default_leaves_none(room: int, offer: Offer) -> bool:
    default = _default(offer)
    return isinstance(default, int) and default >= room


def _is_renaming(fix: Fix, field: str) -> bool:
    return FIELD in fix.settings and fix.removed == (field,) and field != FIELD


def _with_length(fix: Fix, room: int) -> Fix:
    """A removal that sets the length as well, which would be what is wrong next."""
    if fix.settings:
        return fix
    label = f"{fix.label}, and use {_fitting(room)} as {FIELD.rpartition('.')[2]}"
    return replace(fix, label=label, settings={FIELD: _fitting(room)})


def _too_long(fix: Fix, room: int, default: Any) -> bool:
    """Of a number that a person wrote a little room for the prompt is enough; a default should leave it a half."""
    if {*fix.settings, *fix.removed} != {FIELD}:
        return False
    length = fix.settings.get(FIELD)
    if isinstance(length, int):
        return length >= room
    return isinstance(default, int) and default > _fitting(room)


def _fitting(room: int) -> int:
    """As much for the completion as for the prompt."""
    return max(1, room // 2)


def _default(offer: Offer) -> Any:
    return ((offer.training or {}).get("max_completion_length") or {}).get("default")
