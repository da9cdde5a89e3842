"""What the diagnostics say where sampling is why groups tie, or why something is never earned, as seen in real runs."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.examine import examine
from tests.support.doctor import healthy, line, scored

NEVER = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
TIED = {"groups/tied": line(1, 1), "groups/all_low": line(0.98, 0.98), "groups/all_high": line(0.02, 0.02)}
SOLVED = {"groups/solved": line(1, 0.98), "groups/any_solved": line(1, 0.98), "reward": line(1.02, 1.0)}


def one_text(**training: Any) -> Evidence:
    """A run whose groups are each one text, most of them right, as that is what the model says without a form."""
    given = scored(format=[0.0] * 8, correctness=[1.0] * 8, text="4")
    beside = {"rewards/format/mean": line(0.02, 0.01), "rewards/correctness/mean": line(1, 0.98)}
    return healthy(training=training, curves={**TIED, **SOLVED, **beside}, first=given, last=given, ended=True)


@pytest.mark.parametrize(("settings", "said", "label"), [
    ({"top_p": 0.05}, "top_p 0.05 leaves hardly any", "Top p 1"),
    ({"top_k": 1}, "top_k 1 leaves hardly any", "Top k 0"),
    ({"min_p": 0.9}, "min_p 0.9 leaves hardly any", "Min p 0"),
])  # fmt: skip
def test_settings_that_leave_sampling_no_choice_are_the_cause(settings: Any, said: str, label: str) -> None:
    """“The prompts are too hard” and “The prompts are too easy” were said of it, one below the other."""
    (told,) = examine(one_text(**settings)).verdicts
    assert (told.key, told.level, told.title) == ("sampling_narrow", "problem", "Sampling leaves no choice")
    assert told.sentence.startswith("In all 16 groups of step 1 every completion is the same, word for word: ")
    assert said in told.sentence and [change.label for change in told.changes] == [label]


@pytest.mark.parametrize("settings", [{}, {"top_p": 1.0, "top_k": 0, "min_p": None}, {"top_p": 0.95, "top_k": 50}])
def test_usual_settings_are_not_blamed_and_what_is_solved_is_never_too_hard(settings: Any) -> None:
    keys = [one.key for one in examine(one_text(**settings)).verdicts]
    assert "sampling_narrow" not in keys and "too_hard" not in keys and "too_easy" in keys


def hot(temperature: float, entropy: float, **changed: Any) -> Evidence:
    curves = {"entropy": line(entropy, entropy), "rewards/format/mean": line(0, 0)}
    return healthy(training={"temperature": temperature}, curves=curves, functions={"format": NEVER}, **changed)


def test_what_is_never_earned_at_a_high_temperature_is_not_called_too_hard() -> None:
    """“format is too hard to earn”, easier prompts and a stronger model were said of it."""
    (told,) = examine(hot(2.0, 1.8)).verdicts
    assert (told.key, told.level) == ("temperature_high", "warning")
    assert told.sentence.startswith("“format” gave 0 to every completion. Entropy is 1.80 nats a token now: at temp")
    assert [change.label for change in told.changes] == ["Temperature 1"]
    for other in (hot(2.0, 0.4), hot(1.0, 1.8)):  # it makes sense all the same, or is drawn as usual
        assert [one.key for one in examine(other).verdicts] == ["too_hard"]
    assert [one.key for one in examine(healthy(training={"temperature": 2.0}, curves={"entropy": line(1.8, 1.8)})
                                      ).verdicts] == [], "all is earned"  # fmt: skip


def test_a_function_that_was_never_earned_explains_no_reward_that_fell() -> None:
    """As it was seen at a rate of 5, with 32 tokens: “format is too hard to earn”, and no word of the rate."""
    fell = {
        "reward": line(1.0, 0.0),
        "kl": line(0.1, 3.0),
        "rewards/format/mean": line(0, 0),
        "rewards/correctness/mean": line(0.5, 0.0),
        "groups/tied": line(0.0, 1.0),
        "groups/all_low": line(0.0, 1.0),
    }
    ruined = healthy(training={"learning_rate": 5.0}, curves=fell, functions={"format": NEVER}, ended=True)
    assert [one.key for one in examine(ruined).verdicts][0] == "learning_rate_high"
    assert "too_hard" not in [one.key for one in examine(ruined).verdicts]


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [((1, 8), (33, 40), "steps 1–8 and 33–40"), ((1, 8), (9, 16), "steps 1–16"), ((1, 8), (5, 9), "steps 1–9"),
     ((1, 1), (1, 1), "step 1"), ((1, 1), (3, 3), "steps 1 and 3")],
)  # fmt: skip
def test_which_steps_the_groups_are_of_is_said(first: tuple[int, int], last: tuple[int, int], told: str) -> None:
    def samples(span: tuple[int, int]) -> list[Sample]:
        return [Sample(step, 0, step, "a", 1.0) for step in range(span[0], span[1] + 1)]

    assert Evidence(first=samples(first), last=samples(last)).steps_read == told
