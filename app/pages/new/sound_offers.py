"""Numbers on buttons: only such as are not themselves complained of once they stand there."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, replace
from typing import Any

from groupwise.app.pages.new import edits, form, launch
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Fix, Problem

MOST = 16  # buttons of a text that are tried: each takes a check of all of it


def with_sound_offers(problems: Iterable[Problem], raw: dict[str, Any], offer: Offer, known: Any) -> list[Problem]:
    """The problems of plain values, without the buttons for what would be complained of at its field."""
    found = list(problems)
    doubted = [(one, fix) for one in found for fix in one.fixes if _is_guess(one, fix)][:MOST]
    types = form.types(offer) | form.reward_types(raw, offer) if doubted else {}
    bad = []
    for one, fix in doubted:
        after = edits.after_edits(raw, edits.read_edits([{"fix": asdict(fix)}], types))
        said = launch.problems_of_values(after, offer, known)
        if any(other.field == one.field and other.level in _grave(one, fix) for other in said):
            bad.append(fix)
    return [replace(one, fixes=tuple(fix for fix in one.fixes if fix not in bad)) for one in found]


def _is_guess(problem: Problem, fix: Fix) -> bool:
    """Whether a button writes a number that was read out of what stands there, or that itself as a text."""
    value = fix.settings.get(problem.field)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    alone = len(fix.settings) == 1 and not fix.removed and not fix.fallback and problem.level == BLOCKING
    return alone and (fix.label == f'Use "{value}"' or (is_number and fix.label.startswith("Use ")))


def _grave(problem: Problem, fix: Fix) -> Collection[str]:
    """How grave a complaint keeps a button away. The one number that is asked about is offered, whatever is to be said
    of it then, but for one that cannot be."""
    is_asked = f"Did you mean {fix.label.removeprefix('Use ')}?" in problem.message
    return (BLOCKING,) if is_asked else (BLOCKING, WARNING)
