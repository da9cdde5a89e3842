"""What the diagnostics say of rows that lack an answer, or have one that no number equals, beside what else is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupwise.storage.analysis.doctor.evidence import Function
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import Verdict
from tests.support.doctor import compared, healthy, line, scored

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
        replace(one, prompt=f"{one.grp}+2?", answer="90 Stück" if one.grp % every == 1 else "90")
        for one in scored(groups=30, correctness=HALF_RIGHT, text="<answer>7</answer>")
    ]
    found = calm("some_answers_odd", first=rows, last=rows)
    assert bool(found) is is_told
    if found:
        assert found[0].title == "8 of 30 answers are not plain numbers"
        assert found[0].sentence == (
            "They are in step 1, for example “90 Stück”: no number equals these. New run can keep only the number."
        )
        again = [replace(one, grp=one.grp + 30) for one in rows]
        assert calm("some_answers_odd", first=rows, last=again)[0].title == found[0].title, "a row counts once"


KEEP = ("New run can keep only the number.", {"data.answer_numbers": "comma"})
RESULTS = ("Save the results instead: in Excel as values, or the file as .xlsx.", {})


@pytest.mark.parametrize(
    ("written", "advice"),
    [("={}+0", RESULTS), ("{},0", KEEP), ("{} Stück", (KEEP[0], {"data.answer_numbers": "point"}))],
)
def test_answers_that_nothing_can_equal_are_the_cause(written: str, advice: tuple[str, object]) -> None:
    """As it was seen: 30 answers “=1+0”, and “The prompts are too hard” beside “some answers are not plain numbers”."""
    none = line(0, 0)
    curves = {"groups/solved": none, "groups/any_solved": none, "rewards/correctness/mean": none}
    rows = compared(lambda group: written.format(group + 20))
    rows = [replace(one, text="<answer>7</answer>", scores={"correctness": 0.0}) for one in rows]
    never = {"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}
    tied = {"groups/tied": line(1, 1), "groups/all_low": line(1, 1), "reward": line(0, 0)}
    e = healthy(first=rows, last=rows, curves=curves | tied, functions=never, ended=True)
    report = examine(e)
    (told,) = report.verdicts
    assert (told.key, told.level, told.title) == ("answers_not_plain", "problem", "The answers are not plain numbers")
    shown = f"“{written.format(20)}”"
    assert told.sentence == (
        f"In step 1, none of the 16 answers is a plain number (for example {shown}), so no number equals these: "
        f"“correctness” scored 0\u202f% of completions right. {advice[0]}"
    )
    assert told.changes[0].settings == advice[1]
    assert not any(one.key == "some_answers_odd" for one in report.calm)
    for changed in ({"curves": {**tied, **curves, "groups/solved": line(0.2, 0.2)}}, {"last": (), "first": ()}):
        other = examine(healthy(**{"first": rows, "last": rows, "functions": never, **changed}))
        assert "answers_not_plain" not in [one.key for one in other.verdicts]
    words = [replace(one, text="I do not know") for one in rows]
    silent = examine(healthy(first=words, last=words, curves=curves | tied, functions=never))
    assert "answers_not_plain" not in [one.key for one in silent.verdicts], "no completion gives a number"
