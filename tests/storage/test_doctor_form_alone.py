"""A reward that never looks at the answer is named, though the model learns it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import Report, examine
from groupwise.storage.home import paths
from groupwise.storage.record import run_files
from groupwise.storage.record.step_record import Completion, Group
from tests.support.made_runs import made_run

DIGITS = """def mine(completions, **kwargs):
    return [sum(map(str.isdigit, text)) / max(1, len(text)) for text in completions]
"""


def told(code: str, answer: str, function: str = "mine") -> Report:
    """Of a run that learns a function of this code: the share of digits in what was written grows."""

    def make_group(step: int, n: int) -> Group:
        texts = [("7" * (step // 4 + at + n % 3)).ljust(16 + 3 * ((at + n) % 4), "x") for at in range(8)]
        scores = [sum(map(str.isdigit, text)) / len(text) for text in texts]
        made = [
            Completion(text, len(text) // 3 + (at * 7 + n) % 5, False, score, 0.0, [(score, "ok")])
            for at, (text, score) in enumerate(zip(texts, scores, strict=True))
        ]
        return Group("train", step, f"prompt {n}", {"answer": answer} if answer else {}, made)

    def logged(step: int) -> dict[str, float | None]:
        mean = 0.1 + step / 60
        return {
            "reward": mean, "reward_std": 0.1, f"rewards/{function}/mean": mean, f"rewards/{function}/std": 0.1,
            "kl": 0.01, "entropy": 0.5, "frac_reward_zero_std": 0.0, "grad_norm": 0.3,
        }  # fmt: skip

    folder = paths.run_folder(made_run("digits", 40, functions=(function,), make_group=make_group, metrics=logged))
    folder.rewards.mkdir(exist_ok=True)
    (folder.rewards / f"{function}.py").write_text(code, encoding="utf-8")
    return examine(gather(folder.db, run_files.spec_of(folder)))


def test_a_reward_that_looks_at_no_answer_is_the_first_thing_said(registry_home: Path) -> None:
    """“Learned, no problems detected” was said of a reward for digits."""
    first = told(DIGITS, "7").verdicts[0]
    assert (first.key, first.level, first.title) == ("form_alone", "warning", "No reward reads the answer")
    assert first.sentence == (
        "Rows have an answer, but “mine”, the only reward function with a weight, looks only at the completion. Wrong "
        "answers can score as high as correct ones, so the model is not trained to be correct. Add a reward function "
        "that checks the answer."
    )
    assert [change.label for change in first.changes][-1] == "Change mine"


@pytest.mark.parametrize(
    ("code", "answer", "function"),
    [
        (DIGITS.replace("max(1, len(text))", "max(1, len(text), len(kwargs['answer']))"), "7", "mine"),
        (DIGITS, "", "mine"),  # rows without an answer: the form is all there is
    ],
)
def test_and_not_of_one_that_reads_it_or_where_there_is_none(
    registry_home: Path, code: str, answer: str, function: str
) -> None:
    assert "form_alone" not in [one.key for one in told(code, answer, function).verdicts]


def test_it_is_said_of_built_in_functions_alone_too(registry_home: Path) -> None:
    """“Learned, no problems detected” was said of a run for `format` alone."""
    first = told(DIGITS.replace("mine", "format"), "7", "format").verdicts[0]
    assert (first.key, first.level) == ("form_alone", "warning")
    assert [change.edit_reward for change in first.changes] == [None]  # there is no code of one's own to change
