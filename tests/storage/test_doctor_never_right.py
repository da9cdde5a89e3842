"""What the doctor says of a run in which hardly anything was right: the function that gives every completion
the same score, KL beside it, and changes that can help. As it was seen with questions that the starter cannot
answer."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import Verdict
from groupwise.storage.checks.tag_room import tag_room
from groupwise.storage.record.recent import course_of
from groupwise.storage.spec.spec import RewardSpec
from tests.support.doctor import answered, answering, compared, cut_or_ended, drawn, healthy, line, longer_pays, scored
from tests.support.doctor_cases import SICK

MINE = (RewardSpec(name="format"), RewardSpec(name="mine"))
NEVER = {"groups/solved": line(0, 0), "groups/any_solved": line(0, 0)}
TIED_LOW = {"groups/tied": line(0.9, 1.0), "groups/all_low": line(0.9, 1.0), "reward": line(0.5, 0.5, 0.001)}


def mine(usual: float = 0.5, other: float = 0.0, **changed: Any) -> Evidence:
    """A run whose own function gives 31 of 32 completions `usual`, and one `other`."""
    given = scored(groups=4, format=[1.0, 0.0] * 16, mine=[usual] * 31 + [other])
    mean = (31 * usual + other) / 32
    ends = min(usual, other), max(usual, other)
    curves = {
        "rewards/mine/mean": line(mean, mean),
        "rewards/correctness/mean": None,
        **NEVER,
        **changed.pop("curves", {}),
    }
    functions = {"correctness": Function(0.0), "mine": Function(1.0, {"ok": 256}, *ends, 0.05, ends)}
    return healthy(rewards=MINE, functions=functions, curves=curves, first=given, last=given, **changed)


def verdict(e: Evidence, key: str) -> Verdict | None:
    return next((one for one in examine(e).verdicts if one.key == key), None)


def test_a_function_that_says_nearly_the_same_of_everything_is_named() -> None:
    told = verdict(mine(), "constant")
    assert told is not None and told.title == "mine gives nearly every completion the same score"
    assert "gave 0.5 to nearly every completion" in told.sentence and "another score to 3\u202f%" in told.sentence
    assert [change.edit_reward for change in told.changes] == ["mine"]
    for usual, other in ((0.0, 1.0), (1.0, 0.0)):  # hardly ever, or nearly always earned: that is told otherwise
        assert verdict(mine(usual, other), "constant") is None
    half = scored(groups=4, format=[1.0, 0.0] * 16, mine=[0.5, 0.0] * 16)
    assert verdict(replace(mine(), first=half), "constant") is None, "it told them apart at the start"
    in_between = {"rewards/mine/mean": drawn(lambda share: 0.5 if abs(share - 0.5) > 0.3 else 0.1)}
    assert verdict(mine(curves=in_between), "constant") is None, "it told them apart in between"


def test_a_function_that_reads_no_column_and_returns_none_is_to_be_changed_itself() -> None:
    """It was asked whether the rows have the columns that it goes by, and other data were offered."""
    given = scored(format=[1.0, 0.0, 1.0, 0.0], mine=[None] * 4)
    for reads_no_column in (True, False):
        functions = {"mine": Function(1.0, {"none": 256}, reads_no_column=reads_no_column)}
        told = verdict(healthy(rewards=MINE, functions=functions, last=given), "unscored")
        assert told is not None and told.title == "mine never scored"
        fields, edited = [one.field for one in told.changes], [one.edit_reward for one in told.changes]
        if not reads_no_column:
            assert fields == ["data.source", ""] and told.sentence.endswith("the columns that it reads?")
            continue
        assert fields == [""] and edited == ["mine"]
        assert told.sentence == (
            "“mine” returned None for every one of the last 256 completions, so nothing is learned from it. It reads "
            "no column of the data: check its code."
        )
        many = healthy(functions={"mine": replace(functions["mine"], statuses={"none": 1024})}, last=given)
        told = verdict(replace(many, rewards=MINE), "unscored")
        assert told is not None and "the last 1,024 completions" in told.sentence
    answered = [replace(one, answer="49") for one in given]  # as it was seen: other data were offered first
    told = verdict(healthy(rewards=MINE, functions=functions, last=answered, first=answered), "unscored")
    assert told is not None and [one.edit_reward for one in told.changes] == ["mine"]
    assert "returned None for every one" in told.sentence and "Their rows have an answer." in told.sentence


def test_no_weight_is_taken_from_the_function_that_says_what_is_right() -> None:
    same = {"mine": Function(1.0, {"ok": 256}, 0.5, 0.5, 0.0, (0.5, 0.5)), "correctness": Function(0.0)}
    always = mine(0.5, 0.5)
    for known, label in ((True, "Fix mine"), (False, "Weight 0 for mine")):
        told = verdict(replace(always, functions=always.functions | same, gives_one=known), "constant")
        assert told is not None and [change.label for change in told.changes] == [label]


def test_a_function_that_could_give_1_and_never_did_calls_nothing_right() -> None:
    unknown, known = examine(mine(ended=True)), examine(mine(ended=True, gives_one=True))
    assert unknown.against == "" and "0\u202f% of completions were right" not in unknown.headline
    assert known.against == "0\u202f% right" and known.headline.startswith("Only “format” improved, with 2 warnings: ")
    assert [one.key for one in known.verdicts] == ["constant", "too_hard"]


@pytest.mark.parametrize(("any_solved", "labels"), [
    (0.0, ["Easier prompts", "A stronger model", "A reward with partial credit"]),
    (0.02, ["Groups of 16", "Easier prompts", "A reward with partial credit"]),
])  # fmt: skip
def test_larger_groups_are_proposed_only_where_some_are_solved(any_solved: float, labels: list[str]) -> None:
    for tied in (TIED_LOW, {}):
        seldom = {
            "groups/solved": line(any_solved / 8, any_solved / 8),
            "groups/any_solved": line(any_solved, any_solved),
        }
        curves = tied | seldom | {"rewards/correctness/mean": seldom["groups/solved"]}
        correctness = Function(1.0, {"ok": 256}, 0.0, float(any_solved > 0), 0.05, (0.0, 0.0))
        told = verdict(healthy(curves=curves, functions={"correctness": correctness}), "too_hard")
        assert told is not None and [change.label for change in told.changes] == labels
        assert [change.field for change in told.changes if change.label.startswith(("Easier", "A stronger"))] == (
            ["data.source", "model.id"] if not any_solved else ["data.source"]
        )


def test_the_starter_is_named_where_it_is_asked_what_it_was_not_made_for() -> None:
    """As it was seen with a teacher's questions: another length of completions came first, then larger groups."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    cut = {"completions/clipped_ratio": line(0.2, 0.17), "rewards/format/mean": line(0, 0)}
    seldom = {"groups/solved": line(0.01, 0.01), "groups/any_solved": line(0.03, 0.03)}
    asked = healthy(curves=TIED_LOW | cut | seldom, functions={"format": never}, beyond_starter=True, ended=True)
    asked = replace(asked, tags=tag_room(asked.rewards, by_letter=True))
    first = examine(asked).verdicts[0]
    assert (first.key, first.changes[0].label, first.changes[0].field) == ("too_hard", "Another model", "model.id")
    assert first.sentence.endswith(
        "it can only do sums such as “12+30?”, and finds hardly any right answers to other questions. For those, "
        "choose another model, such as Qwen/Qwen2.5-0.5B-Instruct."
    )
    other = examine(replace(asked, beyond_starter=False)).verdicts[0]
    assert (other.key, other.changes[0].label) == ("too_hard", "Groups of 16"), "most that ends by itself earns nothing"


def test_what_went_away_by_itself_is_told_by_what_it_taught_or_without_alarm() -> None:
    """As it was seen: “completions are cut off”, red, where at the end 4 % were."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    gone = {"completions/clipped_ratio": drawn(lambda x: 0.27 if x < 0.3 else 0.04), "rewards/format/mean": line(0, 0)}
    run = healthy(training={"max_completion_length": 6}, curves=gone, functions={"format": never}, ended=True)
    known = verdict(replace(run, tags=tag_room(run.rewards, by_letter=True)), "truncated")
    assert known is not None and known.title == "The limit leaves no room for format"
    assert "of 6 tokens, 4\u202f% at the end. “format” has scored 0 every time: the tags" in known.sentence
    assert known.sentence.endswith("so only answers without them earn anything.")
    unknown = examine(run)
    assert [one.key for one in unknown.verdicts] == ["too_hard"] and unknown.calm[0].key == "truncated"
    assert unknown.calm[0].title == "Completions were cut off at the start"


def test_a_limit_is_not_raised_where_running_to_it_is_what_earns() -> None:
    """As it was seen: a model learned to babble on, as a block of the reward paid; 96 tokens were advised."""
    cut = {"completions/clipped_ratio": line(0.05, 0.75)}
    paid = verdict(healthy(curves=cut, last=cut_or_ended(1.4, 0.7), ended=True), "runs_on")
    assert paid is not None and paid.title == "Running on to the limit was rewarded"
    assert "those that were cut off earned 1.43 on average, the others 0.74." in paid.sentence
    assert not any("max_completion_length" in name for change in paid.changes for name in change.settings
                   if name.startswith("training"))  # fmt: skip
    for last, reward in ((cut_or_ended(0.7, 1.4), line(1.0, 1.7)), (cut_or_ended(1.4, 0.7), line(1.0, 1.0, 0.01))):
        keys = [one.key for one in examine(healthy(curves=cut | {"reward": reward}, last=last)).verdicts]
        assert "truncated" in keys and "runs_on" not in keys, "it earns less, or the reward did not rise with it"


def test_completions_are_called_alike_only_where_they_are() -> None:
    """As it was seen: “have become alike”, though ever fewer were the same: only what they earned was."""
    curves = {"groups/spread": line(0.7, 0.02), "groups/tied": line(0.2, 0.8), "groups/alike": line(0.55, 0.04)}
    given = scored(format=[0.7] * 7 + [0.4], correctness=[0.0] * 8)
    (told,) = examine(healthy(curves=curves, last=given)).verdicts
    assert told.title == "The reward no longer tells completions apart"
    assert "though 92\u202f% of the completions differ from all others of their group." in told.sentence
    assert "“format” gave 0.7 to 88\u202f% and “correctness” gave 0 to 100\u202f% of the last 128" in told.sentence
    assert [change.edit_reward for change in told.changes] == ["format", None]
    unrecorded = curves | {"groups/alike": None}
    for text, key in (("", "same_reward"), ("4", "collapse")):
        read = scored(format=[0.7] * 8, correctness=[0.0] * 8, text=text)
        assert [one.key for one in examine(healthy(curves=unrecorded, last=read)).verdicts] == [key]


def test_where_nothing_was_ever_earned_the_form_may_be_what_is_wrong() -> None:
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    none = TIED_LOW | NEVER | {"reward": line(0, 0), "rewards/format/mean": line(0, 0), "rewards/mine/mean": line(0, 0)}
    curves = none | {"rewards/correctness/mean": None}
    e = replace(healthy(curves=curves, rewards=MINE), functions={"format": never, "mine": never})
    told = verdict(e, "too_hard")
    assert told is not None and told.title == "No completion has earned anything"
    assert (
        "“format” and “mine” gave 0 to every completion: the prompts are too hard for the model, or the functions need "
        "something that the model does not write." in told.sentence
    )
    assert told.changes[0].edit_reward == "" and told.changes[1].field == "data.system_prompt"
    right = replace(e, functions={"correctness": never}, rewards=(RewardSpec(name="correctness"),))
    assert (plain := verdict(right, "too_hard")) is not None and plain.title == "The prompts are too hard"


def test_where_steps_are_logged_seldom_all_figures_are_of_logged_steps() -> None:
    few = {"reward": Curve.of((10, 20, 30), (0.0, 0.0, 0.0), course=course_of([(10, 0.0), (20, 0.0), (30, 0.0)]))}
    logs, ones = (0, 10, 20, 30), [(step, 1.0) for step in range(1, 31)]
    each = {name: Curve.of(range(1, 31), [1.0] * 30, course=course_of(ones, logs))
            for name in ("groups/tied", "groups/all_low")}  # fmt: skip
    e = replace(healthy(), curves=few | each, step=30)
    report = examine(e)
    assert report.headline == ("A problem after 30 steps, its reward logged at 3 of them. Trends need 10 logged steps.")
    assert report.verdicts[0].sentence.startswith("100\u202f% of the groups of steps 21–30 are tied")
    waiting = examine(replace(e, curves=few))
    assert waiting.headline == "Diagnostics need 10 logged steps (3/10)."


def test_tied_groups_do_not_hide_how_far_the_model_has_moved() -> None:
    """As it was seen: KL 1.27 at a rate that launch had warned of, and not a word of either."""
    far = {**NEVER, **TIED_LOW, "kl": line(1.4, 1.2)}
    report = examine(healthy(curves=far, training={"learning_rate": 1e-3}, ended=True))
    assert [one.key for one in report.verdicts] == ["too_hard", "kl"]
    told = report.verdicts[1]
    assert (told.title, told.changes[0].settings) == ("KL rose too far", {"training.learning_rate": 1e-4})
    assert told.sentence.endswith("The learning rate of 0.001 is high for this model.")
    fell = {"reward": drawn(lambda share: 1.0 + 0.8 * math.sin(share * math.pi)), "kl": line(0.1, 3.0)}
    assert verdict(healthy(curves=fell), "kl") is None, "steps that are too large explain it still"


def test_of_a_run_that_is_over_no_kl_is_foretold() -> None:
    grew = Curve.of(range(1, 21), [0.0, 0.06, 0.07, 0.24, 0.22, 0.35, 0.18, 0.33, 0.2, 0.45] + [0.45] * 10)
    going, over = (verdict(healthy(curves={"kl": grew}, ended=ended), "kl") for ended in (False, True))
    assert going is not None and over is not None
    assert going.title == "KL is rising fast" and "at this slope it soon passes 0.5" in going.sentence
    assert over.title == "KL rose fast"
    assert over.sentence == (
        "KL was 0.45 at the end, and 0.21 on average in steps 1 to 10: it rose fast, far beyond what is usual."
    )


# ---- nothing else looks wrong ----
def test_right_answers_that_cost_get_their_weight_back() -> None:
    """As it was seen: right answers fell from 55 % to 5 %, and there was no card."""
    (told,) = examine(SICK["right answers cost"][0]).verdicts
    assert told.title == "Right answers are punished" and "went from 53\u202f% to 9\u202f%" in told.sentence
    assert [change.settings for change in told.changes] == [{"rewards.1.weight": 1.0}]


def test_answers_that_may_belong_to_other_prompts_are_asked_about() -> None:
    """As it was seen with a shuffled answer column: “Only format improved … 1 % right”, and no card."""
    shuffled = SICK["answers of other prompts"][0]
    (told,) = examine(shuffled).verdicts
    assert told.evidence[0].tab == "groups" and "does the answer belong to the prompt" in told.sentence
    assert told.changes[0].label == "Answers that belong to the prompts" and told.changes[0].field == "data.source"
    assert verdict(replace(shuffled, last=answered(agree=3)), "hardly_right") is None, "each guesses something else"
    one_answer = [replace(one, text="<answer>7</answer>") for one in answered()]
    assert verdict(replace(shuffled, last=one_answer), "hardly_right") is None, "it says the same to every prompt"
    formless = {**shuffled.curves, "rewards/format/mean": line(0.0, 0.0)}
    assert verdict(replace(shuffled, curves=formless), "hardly_right") is None, "nothing is learned"


def test_answers_that_may_belong_to_other_prompts_come_before_prompts_that_may_be_too_hard() -> None:
    """As it was seen: “easier prompts, a stronger model” came first."""
    shuffled = SICK["answers of other prompts"][0]
    curves = {**shuffled.curves, **NEVER, "rewards/correctness/mean": line(0, 0)}
    none = {**shuffled.functions, "correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}
    never = replace(shuffled, curves=curves, functions=none)
    assert [one.key for one in examine(never).verdicts] == ["hardly_right", "too_hard"]


@pytest.mark.parametrize("more", [{}, NEVER | {"rewards/correctness/mean": line(0, 0)}])
def test_prompts_that_the_starter_does_not_know_are_the_one_cause(more: dict[str, Curve]) -> None:
    """As it was seen with a school's worksheet: its answers were asked about first, and they were right."""
    shuffled = SICK["answers of other prompts"][0]
    (told,) = examine(replace(shuffled, curves={**shuffled.curves, **more}, beyond_starter=True)).verdicts
    assert (told.key, told.title) == ("too_hard", "The prompts are too hard")
    assert "The starter is there to try things out" in told.sentence and told.changes[0].label == "Another model"
    scattered = [replace(one, text=f"{one.text} {n}") for n, one in enumerate(shuffled.last)]
    apart = replace(shuffled, last=scattered, curves={**shuffled.curves, **more})
    assert "hardly_right" not in {one.key for one in examine(apart).verdicts}, "its answers agree in nothing"
    (told,) = examine(replace(apart, beyond_starter=True)).verdicts
    assert told.key == "too_hard"


def test_what_the_starter_does_not_know_is_no_matter_of_length() -> None:
    """As it was seen with “4 + 32 =”: “completions are cut off”, and twice the limit led to the same again."""
    kept = SICK["answers of other prompts"][0]
    said = answering("49", ["<answer>23</answer>", "48"] * 2)
    cut = [replace(one, cut=one.idx % 2 == 1) for one in said]
    curves = {**kept.curves, "completions/clipped_ratio": line(0.5, 0.5), "groups/solved": line(0.0, 0.02)}
    asked = replace(kept, curves=curves, first=cut, last=cut, beyond_starter=True)
    assert [one.key for one in examine(asked).verdicts] == ["too_hard"], "though a few more are right than at the start"
    right = [replace(one, text="<answer>49</answer>", scores={**one.scores, "correctness": 1.0}) for one in cut]
    for known in (replace(asked, beyond_starter=False), replace(asked, first=right, last=right)):
        assert "truncated" in {one.key for one in examine(known).verdicts}


def test_a_function_that_calls_no_answer_right_is_named_before_hard_prompts() -> None:
    """As it was seen: −2 for all, as nothing asks for the tag that it wants; “the prompts are too hard”, it said."""
    said = answering("49", ["<answer>49</answer>", "none"])
    given = [replace(one, scores={"mine": -2.0}, reward=-2.0) for one in said]
    mine = Function(1.0, {"ok": 256}, -2.0, -2.0, 0.0, (-2.0, -2.0))
    level = line(-2.0, -2.0)
    e = healthy(
        rewards=[RewardSpec(name="mine")], functions={"mine": mine}, last=given, first=given, low=-2.0, high=-2.0,
        curves=TIED_LOW | {"reward": level, "rewards/mine/mean": level, "groups/solved": line(0, 0)}, ended=True,
    )  # fmt: skip
    first = examine(e).verdicts[0]
    assert (first.key, first.title, first.level) == ("scored_wrong", "No answer is right by mine", "problem")
    assert "“mine” gave every completion −2.00, right or wrong: of the" in first.sentence
    assert "50\u202f% give the answer of their row" in first.sentence
    assert first.changes[0].edit_reward == "mine"
    # beside “gave no score to 45 %”, it said “every completion 0”, and “of the 88 that were read”
    none = [replace(one, scores={"mine": None}, reward=None) for one in given[:8]]
    half = replace(e, last=none + given[8:], functions={"mine": replace(mine, statuses={"ok": 128, "error": 128})})
    told = verdict(half, "scored_wrong")
    assert told and "“mine” gave every completion that it scored −2.00, right or wrong: of the" in told.sentence
    count = re.search(r"of the (\d+) that were read", told.sentence)
    whole = re.search(r"of the (\d+) that were read", first.sentence)
    assert count and whole and int(whole[1]) - int(count[1]) == 8
    # where it fails on most by now, that comes first: it is what ended the run
    assert told.grounds.share == 0.5
    fails = replace(mine, statuses={"ok": 64, "error": 192})
    keys = [one.key for one in examine(replace(half, functions={"mine": fails})).verdicts]
    assert keys.index("failing") < keys.index("scored_wrong")
    assert first.sentence.endswith("Does it need a format that the prompt does not ask for?")
    by_code = {"mine": replace(mine, takes_messages_for_text=True)}
    lists = examine(replace(e, functions={**e.functions, **by_code})).verdicts[0]
    assert lists.sentence.endswith(
        "give the answer of their row. Its code treats a completion as text. A completion is a list of messages here: "
        'its text is completion[-1]["content"].'
    )
    assert [(one.label, one.edit_reward) for one in lists.changes] == [("Fix mine", "mine")]
    for other in (
        replace(e, functions={"mine": replace(mine, reads_no_column=True)}),
        replace(e, functions={"mine": Function(1.0, {"ok": 256}, -2.0, 1.0, 0.5, (-2.0, 1.0))}),
        replace(e, last=[replace(one, text="none") for one in given], first=[]),
    ):
        assert verdict(other, "scored_wrong") is None


def test_answers_of_another_column_are_named_and_no_prompt_is_too_hard() -> None:
    for what, title, said in (
        ("the prompt for an answer", "The answer is the prompt itself", "such as “0+20?”, and “correctness” scores 0"),
        ("one answer for all prompts", "Every prompt has the same answer", "In all 16 groups of step 1 the"),
    ):
        (told,) = examine(SICK[what][0]).verdicts
        assert told.title == title and said in told.sentence
        assert [change.field for change in told.changes] == ["data.answer_column"]
    own = (RewardSpec(name="format"), RewardSpec(name="mine"))
    mine = {"mine": SICK["the prompt for an answer"][0].functions["correctness"], "correctness": Function(0.0)}
    for compares in (True, False):
        e = SICK["the prompt for an answer"][0]
        e = replace(e, rewards=own, functions=e.functions | mine, gives_one=True, compares=compares)
        told = verdict(e, "hardly_right")
        assert (told is not None and told.title == "The answer is the prompt itself") == compares
    few = [one for one in SICK["the prompt for an answer"][0].last if one.grp < 7]
    told = verdict(replace(SICK["the prompt for an answer"][0], last=few), "hardly_right")
    assert told is None or told.title == "Hardly any answer is right", "too few groups were read"


def test_sums_whose_answers_are_other_numbers_are_named_and_no_prompt_is_too_hard() -> None:
    """Random answers to “25+22?” came to “The prompts are too hard”."""
    given = compared(lambda n: f"{n + 700}")
    told = examine(healthy(curves=TIED_LOW | NEVER, first=given, last=given, ended=True)).verdicts
    assert [one.title for one in told] == ["The answers look wrong"]
    assert "the answer of “15+20?” is given as 715. " in told[0].sentence
    for right in (compared(lambda n: f"{n + 20}.0"), compared(lambda n: f"{n + (20 if n % 2 else 700)}")):
        told = examine(healthy(curves=TIED_LOW | NEVER, first=right, last=right)).verdicts
        assert "The answers look wrong" not in [one.title for one in told], "or half of them are sums"


def test_right_answers_scored_wrong_come_before_prompts_that_seem_too_hard() -> None:
    """As it was seen: eight right answers in two groups of 64, all called wrong, beside “The prompts are too hard”."""
    given = [replace(one, text="49" if one.grp < 2 else "?", reward=0.0) for one in answering("= 49", ["49", "48"])]
    given = [replace(one, scores={"format": 0.0, "correctness": 0.0}) for one in given]
    never = {name: Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0)) for name in ("format", "correctness")}
    curves = {**TIED_LOW, **NEVER, "rewards/correctness/mean": line(0, 0), "rewards/format/mean": line(0, 0)}
    e = healthy(curves={**curves, "reward": line(0, 0)}, functions=never, first=[], last=given, low=0.0, high=0.0)
    (told,) = examine(e).verdicts
    assert (told.key, told.level) == ("scored_wrong", "problem")
    assert told.sentence.endswith("scored all of them wrong. Fix that before judging how hard the prompts are.")
    right = {"format": 0.0, "correctness": 1.0}
    some = [replace(one, text="49", scores=right) if one.grp == 2 and one.idx == 0 else one for one in given]
    assert [one.key for one in examine(replace(e, last=some)).verdicts] == ["too_hard", "scored_wrong"]


@pytest.mark.parametrize("beyond", [False, True])
def test_of_completions_without_a_letter_it_is_not_said_that_prompts_are_too_hard(beyond: bool) -> None:
    """As it was seen: “The prompts are too hard” over groups that say “so this says nothing about the prompt”."""
    never = {name: Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0)) for name in ("format", "correctness")}
    nothing = {"reward": line(0, 0), "rewards/correctness/mean": line(0, 0), "rewards/format/mean": line(0, 0)}
    known = {"curves": TIED_LOW | NEVER | nothing, "functions": never, "low": 0.0, "high": 0.0, "ended": True}
    rows = scored(correctness=[0.0] * 8, format=[0.0] * 8)
    texts = ["", "", "", "?!", "<", "no", "7", "8"]
    some = [replace(one, text=texts[one.idx]) for one in rows]
    told = examine(healthy(first=some, last=some, beyond_starter=beyond, **known)).verdicts[0]
    assert (told.key, told.title) == ("empty", "Most completions are empty")
    assert told.sentence.startswith(
        "63\u202f% of the last 128 completions in tied groups were empty or had no letter or digit, as at the start, "
    )
    assert ("Check how it is prompted" in told.sentence, "The starter is there" in told.sentence) == (
        not beyond, beyond
    )  # fmt: skip
    signs = [replace(one, text="<<<") for one in rows]
    assert examine(healthy(first=signs, last=signs, **known)).verdicts[0].title == (
        "Most completions have no letter or digit"
    )
    later = examine(healthy(first=rows, last=some, **known)).verdicts
    assert [one.title for one in later][0] == "Completions became empty"
    for all_told in (examine(healthy(first=some, last=some, **known)).verdicts, later):
        assert "too_hard" not in [one.key for one in all_told]
    # A rate of 0.05 ruined the model in its first step: what it wrote before was not silent, what came after was.
    ruined = [replace(one, text="<<<", step=2) for one in rows]
    begun = [replace(one, grp=one.grp + 1000, step=1) for one in rows[:32]]
    fallen = examine(healthy(first=[*begun, *ruined], last=ruined, **known)).verdicts
    assert "empty" not in [one.key for one in fallen] and fallen[0].title == "Completions became empty"
    few = [replace(one, text="" if one.idx < 3 else "no") for one in rows]
    assert examine(healthy(first=few, last=few, **known)).verdicts[0].key == "too_hard"


def test_length_that_brings_most_of_a_rise_beside_right_answers_is_suspected() -> None:
    longer = SICK["length beside what is right"][0]
    (told,) = examine(longer).verdicts
    assert "of the reward's rise is by it: completions are" in told.sentence
    assert "while the share scored correct by “correctness” went from" in told.sentence
    assert [change.settings for change in told.changes][0] == {"rewards.1.weight": 2.0}
    stays = {**longer.curves, "completions/mean_length": line(30, 32)}
    assert verdict(replace(longer, curves=stays), "length_pays") is None
    other = [replace(one, scores={**one.scores, "longer": float(one.idx % 2)}) for one in longer_pays()]
    assert verdict(replace(longer, last=other), "length_pays") is None, "it looks at something else"


def test_how_many_have_no_score_is_told_of_the_steps_that_the_headline_tells_of() -> None:
    """The headline said 58 % with a score of the last steps, the verdict 55 % without one, of all."""
    given = scored(format=[1.0, 0.0] * 8, mine=[None, 0.5] * 8)
    for last, words in (
        ((58, 100), "has no score for 42\u202f% of completions now, and only “format” scores those."),
        ((90, 100), "has no score for 55\u202f% of the last 100 completions, and only “format” scores those."),
    ):
        functions = {"mine": Function(1.0, {"none": 55, "ok": 45}, 0.0, 1.0, 0.3, scored=((30, 100), last))}
        told = verdict(healthy(rewards=MINE, functions=functions, last=given, first=given), "unscored")
        assert told is not None and told.sentence.startswith(f"“mine” {words}"), told


def test_a_score_of_0_of_another_function_is_a_score() -> None:
    """It said that no other function scores those, of completions that “format” gave 0."""
    functions = {"mine": Function(1.0, {"none": 50, "ok": 50}, 0.0, 1.0, 0.3)}
    for given, words in (
        ([0.0, 1.0] * 8, ", and only “format” scores those."),
        ([0.0, 1.0, None, 1.0] * 4, ", and only “format” scores some of those."),
        ([None, 1.0] * 8, ", and no other function scores those."),
    ):
        last = scored(format=given, mine=[None, 0.5] * 8)
        told = verdict(healthy(rewards=MINE, functions=functions, last=last, first=last), "unscored")
        assert told is not None and words in told.sentence, told


def test_a_function_that_looks_for_text_in_messages_is_named_and_not_called_hard_to_earn() -> None:
    """As it was seen: “too hard to earn … hardly ever occurs”, though a third of the completions had it."""
    mine = Function(1.0, {"ok": 150, "error": 106}, 0.0, 0.0, 0.0, (0.0, 0.0), takes_messages_for_text=True)
    e = healthy(functions={"mine": mine}, curves={"rewards/mine/mean": line(0, 0)})
    told = next(one for one in examine(e).verdicts if one.key == "scored_wrong")
    assert (told.title, told.level) == ("mine treats completions as text", "warning")
    assert told.sentence == (
        "“mine” gave 0 to every completion that it scored: it tells none of them apart. Its code treats a completion "
        'as text. A completion is a list of messages here: its text is completion[-1]["content"].'
    )
    assert [(one.label, one.edit_reward) for one in told.changes] == [("Fix mine", "mine")]
    assert not {"too_hard", "constant"} & {one.key for one in examine(e).verdicts}
    ones = replace(mine, low=1.0, high=1.0, before=(1.0, 1.0))  # `"x" not in completion`
    same = replace(e, functions=e.functions | {"mine": ones}, curves=e.curves | {"rewards/mine/mean": line(1, 1)})
    assert {"scored_wrong", "failing"} == {one.key for one in examine(same).verdicts}
    apart = replace(same, functions=e.functions | {"mine": replace(ones, low=0.0)})
    assert verdict(apart, "scored_wrong") is None
    known = replace(mine, takes_messages_for_text=False)
    assert {"too_hard", "failing"} == {
        one.key for one in examine(replace(e, functions=e.functions | {"mine": known})).verdicts
    }
