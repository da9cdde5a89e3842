"""What the diagnostics say of a person's own reward functions: one that goes by the prompt, one whose sign is mistaken,
one that pays by length and weighs more than what is right. Each as it was seen in a run of the starter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import Verdict
from groupwise.storage.spec.spec import RewardSpec
from tests.support.doctor import answered, healthy, line, longer_pays

Score = Callable[[Sample], float]
NONE_SOLVED = {"groups/solved": None, "groups/any_solved": None, "rewards/correctness/mean": None}


def own(score: Score, weight: float = 1.0, *, beside: str = "") -> Evidence:
    """A run whose function “mine” scores so, alone or beside another that tells completions apart."""
    given = [replace(one, scores={"mine": score(one)}, answer=f"{20 + one.grp}", prompt=f"{one.grp}+20?")
             for one in answered()]  # fmt: skip
    given = [replace(one, scores={**one.scores, **({beside: float(one.idx % 2)} if beside else {})}) for one in given]
    given = [replace(one, reward=weight * one.scores["mine"] + 0.5 * (one.scores.get(beside) or 0.0)) for one in given]
    scores = [one.scores["mine"] for one in given]
    told = Function(weight, {"ok": 256}, min(scores), max(scores), 0.3, (min(scores), max(scores)))
    functions = {"format": Function(float(beside == "format")), "correctness": Function(0.0), "mine": told}
    rewards = [RewardSpec(name="mine", weight=weight), *([RewardSpec(name=beside)] if beside else [])]
    tied = {"groups/tied": line(1, 1), "groups/all_low": line(0.9, 0.9), "reward": line(0.6, 0.6, 0.02)}
    curves = {**NONE_SOLVED, "rewards/mine/mean": line(0.6, 0.6, 0.05), **({} if beside else tied)}
    return healthy(rewards=rewards, functions=functions, curves=curves, first=[], last=given, ended=True)


def only(e: Evidence, key: str) -> Verdict | None:
    return next((one for one in examine(e).verdicts if one.key == key), None)


def by_prompt(one: Sample) -> float:
    return 1.0 if one.grp % 4 == 0 else 0.5


def is_right(one: Sample) -> bool:
    return one.idx < 6  # as in `answered`


def test_a_function_that_goes_by_the_prompt_is_named_and_no_prompt_is_too_hard() -> None:
    """“The prompts are too hard … Groups of 16” was said of it."""
    (told,) = examine(own(by_prompt)).verdicts
    assert (told.key, told.level) == ("constant", "problem")
    assert told.title == "mine gives all completions of a prompt the same score"
    assert "“mine” gave all completions of a group the same (0.5 in 12 groups and 1 in 4 groups)" in told.sentence
    assert [change.edit_reward for change in told.changes] == ["mine"]
    beside = only(own(by_prompt, beside="format"), "constant")
    assert beside is not None and beside.level == "warning" and "only reward function" not in beside.sentence


def test_prompts_that_are_all_right_or_all_wrong_are_not_taken_for_it() -> None:
    told_one_apart = own(lambda one: by_prompt(one) + (one.grp == one.idx == 1))
    assert only(told_one_apart, "constant") is None
    same_texts = own(by_prompt)
    same_texts = replace(same_texts, last=[replace(one, text=f"{one.grp}") for one in same_texts.last])
    assert only(same_texts, "constant") is None, "what is the same earns the same"
    few = own(by_prompt)
    few = replace(few, last=[replace(one, prompt=f"{one.grp % 2}+20?") for one in few.last])
    assert only(few, "constant") is None, "two prompts: one may be solved always, and one never"
    in_between = own(by_prompt)
    in_between = replace(in_between, curves=in_between.curves | {"groups/tied": line(1, 0.9)})
    assert only(in_between, "constant") is None, "it told some apart that were not read"


@pytest.mark.parametrize(("score", "weight"), [
    (lambda one: -float(is_right(one)), 1.0),
    (lambda one: float(is_right(one)), -1.0),
    (lambda one: -float(is_right(one) and one.idx % 2), 1.0),  # those alone whose form it reads
])  # fmt: skip
def test_a_function_that_marks_right_answers_down_is_asked_about(score: Score, weight: float) -> None:
    """“Learned, no problems detected” was said of it: the reward rose as right answers went."""
    told = only(own(score, weight, beside="format"), "punished")
    assert told is not None and told.title == "mine marks right answers down" and told.level == "warning"
    assert "all of them give the answer of their row" in told.sentence
    assert [(change.label, change.edit_reward, change.settings) for change in told.changes] == [
        ("Fix mine", "mine", {}),
        (f"Weight {'1' if weight < 0 else '−1'} for mine", None, {"rewards.0.weight": -weight}),
    ]


@pytest.mark.parametrize("score", [
    lambda one: float(is_right(one)),
    lambda one: -float(one.idx % 2),  # of right and wrong alike
    lambda one: -float(is_right(one) and one.grp < 3),  # in few groups
])  # fmt: skip
def test_other_scores_mark_no_right_answers_down(score: Score) -> None:
    assert only(own(score, beside="format"), "punished") is None


def test_right_answers_that_earn_more_for_all_that_are_not_marked_down() -> None:
    e = own(lambda one: -float(is_right(one)), beside="format")
    paid = [replace(one, reward=2.0 if is_right(one) else 0.0) for one in e.last]
    assert only(replace(e, last=paid), "punished") is None


def paid_for_length(correctness: tuple[float, float], weight: float = 0.5, **changed: object) -> Evidence:
    """A run in which “longer” is the heaviest, so that no share of right answers was recorded."""
    rewards = [RewardSpec(name="longer", weight=2.0), RewardSpec(name="correctness", weight=weight)]
    curves = {"rewards/longer/mean": line(0.15, 0.4, 0.01), "rewards/format/mean": None, **NONE_SOLVED,
              "rewards/correctness/mean": line(*correctness, 0.02), "reward": line(0.62, 1.15, 0.02),
              "completions/mean_length": line(16, 41, 1)}  # fmt: skip
    functions = {"format": Function(0.0), "longer": Function(2.0, {"ok": 256}, 0.1, 1.0, 0.3, (0.1, 1.0)),
                 "correctness": Function(weight, {"ok": 256}, 0.0, 1.0, 0.4, (0.0, 1.0))}  # fmt: skip
    first = {"first": [], "last": longer_pays(), "nothing_right": True, **changed}
    return healthy(rewards=rewards, functions=functions, curves=curves, **first)


def test_length_that_weighs_more_than_what_is_right_is_suspected_all_the_same() -> None:
    """The heaviest function says what is right; as this one pays by length alone, nothing did, and nothing was said."""
    e = paid_for_length((0.63, 0.7))
    told = only(e, "length_pays")
    assert told is not None and "while “correctness” went from 0.63 to 0.69" in told.sentence
    assert told.changes[0].settings == {"rewards.1.weight": 2.0}
    without = replace(e, rewards=e.rewards[:1], functions=e.functions | {"correctness": Function(0.0)})
    assert only(without, "length_pays") is None, "nothing says what is right"


@pytest.mark.parametrize("weight", [0.5, 0.0])
def test_right_answers_that_a_heavier_function_costs_are_told_by_their_own_scores(weight: float) -> None:
    """“Learned, with 2 warnings” was said where correctness went from 0.44 to 0.13 beside a heavier count of digits."""
    report = examine(paid_for_length((0.45, 0.1), weight, ended=True))
    assert report.against == "Fewer right answers" and "Fewer right answers, only “longer” improved" in report.opening
    assert "but “correctness” fell from 0.4" in report.headline
    stayed = examine(paid_for_length((0.45, 0.45), weight, ended=True))
    assert stayed.headline.startswith("Learned, but answers were not right more often")
    rose = examine(paid_for_length((0.45, 0.7), weight, ended=True))
    assert rose.headline.startswith("Learned, with a suspicion")
