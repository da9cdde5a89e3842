"""What the doctor's verdicts propose: one click leads to a value that works, and one cause has one change."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function
from groupwise.storage.analysis.doctor.examine import RULES, examine
from groupwise.storage.spec import spec
from tests.storage.test_doctor import told
from tests.support.doctor import drawn, healthy, line, scored
from tests.support.doctor_cases import FLAT, SICK, WELL


def test_no_weight_is_taken_from_the_last_function_that_is_left() -> None:
    """As it was seen: “Weight 0 for near40”, beside another that gave 0 to everything."""
    (told_of_both,) = examine(SICK["two dead functions"][0]).verdicts
    assert told_of_both.title == "near and inside give every completion the same score"
    assert "(“near” \u22120.98, “inside” 0)" in told_of_both.sentence
    assert [(change.settings, change.edit_reward) for change in told_of_both.changes] == [({}, "")]


def _first_change(evidence: Evidence, key: str) -> dict[str, Any]:
    verdict = next(one for one in examine(evidence).verdicts if one.key == key)
    return verdict.changes[0].settings


@pytest.mark.parametrize(
    ("kind", "usual"),
    [
        ({}, 1e-4), ({"lora": True}, 5e-4), ({"parameters": 7_000_000_000}, 5e-6), ({"parameters": None}, 5e-6),
        ({"lora": True, "parameters": None}, 2e-5),
    ],
)  # fmt: skip
def test_a_rate_that_is_far_off_goes_to_a_usual_one_at_once(kind: dict[str, Any], usual: float) -> None:
    """Seen: 0.05 → 0.01, and five clicks to a rate that works."""
    falls = {"reward": drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi)), "kl": line(0.01, 0.4)}
    for rate in (0.05, 1.0, 100 * usual):
        high = healthy(curves=falls, training={"learning_rate": rate}, **kind)
        assert _first_change(high, "learning_rate_high") == {"training.learning_rate": usual}
    near = healthy(curves=falls, training={"learning_rate": usual}, **kind)
    assert _first_change(near, "learning_rate_high") == {"training.learning_rate": float(f"{0.3 * usual:.1g}")}
    still = {**FLAT, "kl": line(0.0, 0.0004)}
    low = healthy(curves=still, training={"learning_rate": 1e-9}, **kind)
    assert _first_change(low, "learning_rate_low") == {"training.learning_rate": usual}
    assert f"{usual:g} is usual {'with LoRA' if 'lora' in kind else 'for training all weights'}" in (
        examine(low).verdicts[0].source
    )


def test_of_two_that_cancel_out_one_click_leaves_something_to_learn() -> None:
    opposed = scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[0.0, 1.0, 0.0, 0.9])
    functions = {name: replace(told, std=0.5) for name, told in healthy().functions.items()}
    changed = _first_change(healthy(last=opposed, functions=functions), "conflict")
    ((place, weight),) = changed.items()
    lighter = ("format", "correctness")[int(place.split(".")[1])]
    quieter = functions | {lighter: replace(functions[lighter], weight=weight)}
    assert "conflict" not in told(healthy(last=opposed, functions=quieter))


def test_a_reward_of_nothing_but_length_is_named_from_the_first_groups() -> None:
    """As it was seen: `length` with one limit gives 1 or 0, and was taken for a reward that tells right from wrong."""
    only = healthy(rewards=[spec.RewardSpec(name="length")], last=scored(length=[1.0, 1.0, 0.0, 1.0]))
    (verdict,) = [one for one in examine(only).verdicts if one.key == "length_alone"]
    assert verdict.sentence == (
        "“length” is the only function that counts: the reward depends on the length alone, not on the content."
    )
    assert [change.label for change in verdict.changes] == ["Also correctness", "A reward for the content"]
    beside = healthy(rewards=[spec.RewardSpec(name="length"), spec.RewardSpec(name="correctness")],
                     last=scored(length=[1.0, 1.0, 0.0, 1.0], correctness=[0.0, 1.0, 0.0, 1.0]))  # fmt: skip
    assert "length_alone" not in told(beside)


def test_a_low_temperature_is_named_where_prompts_are_too_hard_and_groups_say_one_thing() -> None:
    """As it was seen at 0.3: no word of the temperature, and no change of it."""
    hard = {"groups/tied": line(0.6, 0.75), "groups/all_low": line(0.5, 0.6), "groups/alike": line(0.9, 0.9)}
    (cool,) = examine(healthy(curves=hard, training={"temperature": 0.3})).verdicts
    assert (cool.key, cool.title) == ("too_hard", "Prompts too hard, or temperature too low")
    assert " at temperature 0.3, 90\u202f% of the completions are word for word another of their group" in cool.sentence
    assert cool.changes[0].settings == {"training.temperature": 1.0}
    (warm,) = examine(healthy(curves=hard)).verdicts
    assert warm.title == "The prompts are too hard" and "temperature" not in warm.sentence
    assert not [one for one in warm.changes if "training.temperature" in one.settings]


def test_a_kl_weight_that_is_high_already_is_not_raised() -> None:
    far = healthy(curves={"kl": line(0.01, 0.9)}, training={"beta": 0.3})
    assert not any("training.beta" in one.settings for one in examine(far).verdicts[0].changes)


def test_a_length_that_all_have_says_nothing_of_the_prompts() -> None:
    """Seen: “the prompts are too easy”, where `length` gave every completion under its limit the same."""
    all_have = healthy(
        rewards=[spec.RewardSpec(name="length")],
        curves={"groups/solved": line(1.0, 1.0), "rewards/length/mean": line(1, 1)},
        functions={"length": Function(1.0, {"ok": 256}, 1.0, 1.0, 0.0, (1.0, 1.0))},
    )  # fmt: skip
    assert told(all_have) == ["constant"]


@pytest.mark.parametrize(("name", "keys"), [("broken_reward", ["constant"]), ("correctness", ["too_easy"])])
def test_right_is_nothing_that_a_function_says_of_everything(name: str, keys: list[str]) -> None:
    """As it was seen: “too easy” of what a function called right that gives everything 1."""
    run = healthy(
        rewards=(spec.RewardSpec(name="format"), spec.RewardSpec(name=name)),
        functions={"correctness": Function(0.0), name: Function(1.0, {"ok": 256}, 1.0, 1.0, 0.0, (1.0, 1.0))},
        curves={f"rewards/{name}/mean": line(1, 1), "groups/solved": line(1, 1), "groups/any_solved": line(1, 1)},
    )  # fmt: skip
    found = [verdict.key for verdict in examine(run).verdicts]
    assert [key for key in found if key in ("constant", "too_easy")][-1:] == keys
    assert ("too_easy" in found) == (name == "correctness")


def test_a_rate_far_off_is_named_and_nothing_else_is_proposed() -> None:
    fell = drawn(lambda share: 1.8 - 1.5 * max(0, share - 0.5) * 2)
    runs = {rate: healthy(curves={"reward": fell, "kl": line(0, 2)}, training={"learning_rate": rate})
            for rate in (0.05, 2e-4)}  # fmt: skip
    far, near = (examine(run).verdicts[0] for run in runs.values())
    assert far.key == near.key == "learning_rate_high"
    assert far.sentence.endswith("the steps are too large at a learning rate of 0.05.")
    assert [change.label for change in far.changes] == ["Learning rate 0.0001"]
    assert near.sentence.endswith("the steps are probably too large.") and len(near.changes) == 2
    assert (far.title, near.title) == ("The learning rate is too high", "The reward is falling")
    beside = [outcome.verdict_on(examine(replace(run, ended=True)))[0] for run in runs.values()]
    assert beside == ["The learning rate is too high: the reward fell", "The reward fell"]


def test_no_rule_on_the_steps_proposes_another_change_beside_a_rate_far_off() -> None:
    sick: dict[str, Any] = {
        "kl": {"curves": {"kl": line(0, 2)}},
        "clipping": {"curves": {"clip_ratio/region_mean": line(0.4, 0.6)}, "training": {"num_iterations": 4}},
        "entropy": {"curves": {"entropy": line(1, 0), "reward": line(1, 1), "groups/solved": line(0.5, 0.5)}},
        "collapse": {"curves": {"groups/spread": line(0.7, 0)}},
        "not_finite": {"not_finite": {"loss": 50}, "training": {"fp16": True}},
    }
    for key, changed in sick.items():
        training = changed.get("training", {}) | {"learning_rate": 0.05}
        run = healthy(**changed | {"training": training})
        said = [verdict for rule in RULES if (verdict := rule(run)) and verdict.key == key]
        changes = [change.settings for verdict in said for change in verdict.changes]
        assert changes == [{"training.learning_rate": 1e-4}], key


def test_a_missed_kl_target_says_by_how_much_and_what_to_change() -> None:
    most, slow = (examine(SICK[f"KL {what}"][0]).verdicts[0] for what in (
        "far above its target, the weight at its most", "above its target, the weight is too slow"))  # fmt: skip
    assert most.title == "KL misses its target"
    assert most.sentence.startswith("KL is 0.37 now, 7.43 times its target of 0.05, and has been more than a f")
    assert most.sentence.endswith(" The KL weight is at kl.most (0.1), and cannot rise further.")
    assert [one.settings for one in most.changes] == [
        {"kl.most": 0.5}, {"training.learning_rate": 5e-5}, {"kl.target": 0.4}
    ]  # fmt: skip
    assert "rises too slowly to change that (kl.rate is 0.1): it is 0.05." in slow.sentence
    assert slow.changes[0].settings == {"kl.rate": 0.5}


def test_where_the_kl_weight_follows_a_target_no_fixed_one_is_proposed() -> None:
    """As it was: “KL is running away” of one that was wanted, and a beta that is only where it begins."""
    follows = spec.KlSpec(target=0.6)
    assert told(healthy(kl=follows, curves={"kl": line(0.3, 0.65), "beta": line(0.02, 0.03)})) == []
    heavy = {**FLAT, "kl": drawn(lambda x: 0.002 if x > 0.02 else 0), "beta": line(10.0, 10.0)}
    (verdict,) = examine(healthy(kl=spec.KlSpec(target=0.002, most=20.0), curves=heavy)).verdicts
    assert verdict.key == "beta_high"
    assert [one.settings for one in verdict.changes] == [{"training.beta": 0.04}, {"kl.target": 0.004}]


def test_below_its_target_kl_is_told_calmly_while_the_reward_rises() -> None:
    report = examine(WELL["KL is under its target, and the reward rises"])
    (told_of,) = [verdict for verdict in report.calm if verdict.key == "kl_target"]
    assert "KL was 0.0098 at the end" in told_of.sentence and ", a fifth of its target of 0.05" in told_of.sentence
    assert "at kl.least (0.001), where it has hardly any effect" in told_of.sentence
    assert not any("kl.least" in change.settings for change in told_of.changes)


def test_the_step_of_a_sudden_fall_is_named_and_none_of_one_that_came_bit_by_bit() -> None:
    """As it was seen at 1e-2: 1.125 at step 1 and 0 at step 2, which the smoothed line spreads over ten steps."""
    falls = {
        "at a step": ([1.8] * 20 + [0.02] + [0.0] * 39, ", fell to 0.020 at step 21, and is 0 now"),
        "but for a spike before": ([1.8] * 12 + [0.0] + [1.8] * 7 + [0.0] * 40, ", fell to 0 at step 21, and is 0 now"),
        "bit by bit": ([1.8] * 20 + [1.8 - n * 0.2 for n in range(9)] + [0.0] * 31, "at its best and is 0 now"),
    }
    for what, (values, words) in falls.items():
        run = healthy(curves={"reward": Curve.of(range(1, 61), values)}, training={"learning_rate": 0.05})
        sentence = examine(run).verdicts[0].sentence
        assert words in sentence, (what, sentence)
    seldom = replace(Curve.of(range(1, 61), falls["at a step"][0]), every=10)
    run = healthy(curves={"reward": seldom}, training={"learning_rate": 0.05})
    assert "fell to" not in examine(run).verdicts[0].sentence, "each value is of ten steps"
