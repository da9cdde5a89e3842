"""What the diagnostics say of rows that lack an answer, or have one that no number equals, beside what else is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupwise.storage.analysis.doctor.evidence import Function
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import Verdict
from tests.support.doctor import healthy, scored

HALF_RIGHT = [1.0, 0.0]


def calm(key: str, **changed: object) -> list[Verdict]:
    return [one for one in examine(healthy(**changed)).calm if one.key == key]


@pytest.mark.parametrize(("without", "is_told"), [(0, False), (8, False), (16, True), (56, True)])
def test_some_completions_without_a_score_are_told(without: int, is_told: bool) -> None:
    """As it was seen: 21 % of the rows had no answer, and only that the prompts are too hard was said."""
    told = Function(1.0, {"ok": 256 - without, "none": without}, 0.0, 1.0, 0.43, (0.0, 1.0))
    found = calm("some_unscored", functions={"correctness": told})
    assert bool(found) is is_told
    if found:
        assert "“correctness” has no score for " in found[0].sentence and "256 completions" in found[0].sentence
    assert not calm("some_unscored", functions={"correctness": replace(told, reads_no_column=True)})


@pytest.mark.parametrize(("every", "is_told"), [(4, True), (99, False)])
def test_some_answers_that_are_no_plain_numbers_are_told(every: int, is_told: bool) -> None:
    rows = [
        replace(one, answer="90 Stück" if one.grp % every == 1 else "90")
        for one in scored(groups=30, correctness=HALF_RIGHT, text="<answer>7</answer>")
    ]
    found = calm("some_answers_odd", first=rows, last=rows)
    assert bool(found) is is_told
    if found:
        assert found[0].sentence == (
            "8 of the 30 answers of step 1 are written differently, such as “90 Stück”. “correctness” compares those "
            "as text, so 90 is scored wrong there. New run can read them as numbers."
        )
