"""Which verdict explains which is decided by when each began and which completions each is about, not by its name."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.analysis.doctor.causes import explains, one_to_a_cause
from groupwise.storage.analysis.doctor.verdict import CALM, PROBLEM, SUSPICION, WARNING, Grounds, Place, Verdict

ALL = frozenset((0, n) for n in range(10))
FEW = frozenset((0, n) for n in range(3))


def verdict(key: str, place: Place | None, level: str = WARNING, **rests: Any) -> Verdict:
    return Verdict(key, level, key, "", "", "", grounds=Grounds(place, **rests))


# cause, effect, whether the one explains the other
PAIRS: dict[str, tuple[Grounds, Grounds, bool]] = {
    "cut off, and so they are tied": (
        Grounds(Place.WRITING, True, 0.9, ALL), Grounds(Place.PROMPTS, True, 0.9, ALL), True),
    "other completions are cut off than are tied": (
        Grounds(Place.WRITING, True, 0.3, FEW), Grounds(Place.PROMPTS, True, 0.7, ALL - FEW), False),
    "a part of those that are tied is cut off": (
        Grounds(Place.WRITING, True, 0.3, FEW), Grounds(Place.PROMPTS, True, 1.0, ALL), False),
    "what shows later in a step explains nothing earlier": (
        Grounds(Place.PROMPTS, True, 1.0, ALL), Grounds(Place.WRITING, True, 1.0, ALL), False),
    "what came later explains nothing that was there from the start": (
        Grounds(Place.WRITING, False, 1.0, ALL), Grounds(Place.PROMPTS, True, 1.0, ALL), False),
    "steps that are too large explain what came after": (
        Grounds(Place.UPDATE, share=1.0, moves=True), Grounds(Place.WRITING, False, 1.0, ALL), True),
    "… and not what was so before the first": (
        Grounds(Place.UPDATE, share=1.0, moves=True), Grounds(Place.WRITING, True, 1.0, ALL), False),
    "… and a KL that goes on to move the rest itself": (
        Grounds(Place.UPDATE, share=1.0, moves=True), Grounds(Place.TREND, share=1.0, moves=True, moved=True), True),
    "… but such a KL not the steps": (
        Grounds(Place.TREND, share=1.0, moves=True, moved=True), Grounds(Place.UPDATE, share=1.0, moves=True), False),
    "sampling that was wrong from the start explains steps that harm": (
        Grounds(Place.SAMPLING, True, 1.0, ALL), Grounds(Place.UPDATE, share=1.0, moves=True), True),
    "prompts that tie since it fell do not": (
        Grounds(Place.PROMPTS, False, 1.0, ALL), Grounds(Place.UPDATE, share=1.0, moves=True), False),
    "most of the groups tie: the curve is flat": (
        Grounds(Place.PROMPTS, False, 0.7, ALL), Grounds(Place.RESIDUE), True),
    "few do": (Grounds(Place.PROMPTS, True, 0.3, FEW), Grounds(Place.RESIDUE), False),
    "nothing explains a full memory": (Grounds(Place.SAMPLING, True, 1.0, ALL), Grounds(None), False),
    "and it explains nothing": (Grounds(None, True, 1.0, ALL), Grounds(Place.RESIDUE), False),
}  # fmt: skip


@pytest.mark.parametrize("what", PAIRS)
def test_a_cause_came_before_and_is_about_the_same_completions(what: str) -> None:
    cause, effect, is_so = PAIRS[what]
    one, other = (Verdict(key, WARNING, key, "", "", "", grounds=rests) for key, rests in (("a", cause), ("b", effect)))
    assert explains(one, other) is is_so
    assert not explains(one, one)
    assert not (explains(one, other) and explains(other, one))


def test_names_do_not_matter() -> None:
    """Whatever two verdicts are called, the same grounds decide."""
    for names in (("a", "b"), ("b", "a"), ("too_hard", "truncated"), ("truncated", "too_hard")):
        found = [
            verdict(names[0], Place.WRITING, from_start=True, share=1.0, about=ALL),
            verdict(names[1], Place.PROMPTS, from_start=True, share=1.0, about=ALL),
        ]
        assert [one.key for one in one_to_a_cause(found)] == [names[0]]


@pytest.mark.parametrize(("level", "is_so"), [(PROBLEM, False), (WARNING, False), (SUSPICION, True), (CALM, True)])
def test_what_is_only_suspected_hides_nothing_that_is_certain(level: str, is_so: bool) -> None:
    suspected = verdict("a", Place.COURSE, SUSPICION, share=1.0, moves=True)
    assert explains(suspected, verdict("b", Place.TREND, level)) is is_so


def test_the_gravest_comes_first_and_of_equals_what_acts_first() -> None:
    found = [
        verdict("calm", Place.SAMPLING, CALM), verdict("late", Place.TREND),
        verdict("perhaps", Place.SAMPLING, SUSPICION), verdict("early", Place.SCORING),
        verdict("beside", None), verdict("grave", Place.SIGN, PROBLEM),
        verdict("early", Place.TREND),
    ]  # fmt: skip
    assert [one.key for one in one_to_a_cause(found)] == ["grave", "early", "late", "beside", "perhaps", "calm"]
