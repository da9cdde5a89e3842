"""The doctor's rules: each sick run gets its verdict and only that, a healthy one none, and a near miss none."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.storage.analysis.doctor import verdict as verdicts
from groupwise.storage.analysis.doctor.curve import POINTS, Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.examine import RULES, examine
from groupwise.storage.spec import spec
from tests.support.doctor import STEPS, drawn, healthy, line, paid_by_length, said, scored

DOCTOR = Path(verdicts.__file__).parent
CALM_ONLY = {"learned", "loss_near_zero", "no_kl"}
FLAT = {"reward": line(1.0, 1.0, 0.03)}
NO_GROUPS: dict[str, Any] = {
    f"groups/{name}": None for name in ("tied", "all_low", "all_high", "spread", "solved", "any_solved", "alike")
}


def told(evidence: Evidence) -> list[str]:
    """The keys of what is said that is not calm."""
    return [verdict.key for verdict in examine(evidence).verdicts]


# What each sick run shows; the verdict's key and level.
SICK: dict[str, tuple[Evidence, str, str]] = {
    "tied, all failed": (
        healthy(curves={**FLAT, "groups/tied": line(0.8, 0.95), "groups/all_low": line(0.8, 0.93)}),
        "too_hard", "problem"),
    "tied, all top score from the start": (
        healthy(curves={**FLAT, "groups/tied": line(0.7, 0.75), "groups/all_high": line(0.7, 0.75)}),
        "too_easy", "warning"),
    "tied in between": (
        healthy(curves={**FLAT, "groups/tied": line(0.2, 0.95), "groups/all_high": line(0, 0)}), "tied", "problem"),
    "ties as TRL says them": (
        healthy(curves={**FLAT, **NO_GROUPS, "frac_reward_zero_std": line(0.7, 0.8)}), "tied", "warning"),
    "never solved": (
        healthy(curves={"groups/solved": line(0, 0), "groups/any_solved": line(0, 0),
                        "rewards/correctness/mean": line(0, 0)},
                functions={"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}), "too_hard", "warning"),
    "form is earned, the answer never": (
        healthy(rewards=[spec.RewardSpec(name="format", weight=1.5), spec.RewardSpec(name="correctness")],
                curves={"rewards/correctness/mean": line(0, 0)},
                functions={"format": Function(1.5, {"ok": 256}, 0, 1, 0.4, (0, 1)),
                           "correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}), "too_hard", "warning"),
    "solved from the start": (
        healthy(curves={"groups/solved": line(0.95, 0.97), "groups/all_high": line(0.5, 0.6),
                        "groups/tied": line(0.5, 0.6)}), "too_easy", "warning"),
    "collapse of the spread": (healthy(curves={"groups/spread": line(0.7, 0.02)}), "collapse", "problem"),
    "collapse of the words": (
        healthy(curves={"groups/alike": line(0.1, 0.9), "groups/solved": line(0.3, 0.3)}), "collapse", "warning"),
    "KL far away": (healthy(curves={"kl": line(0.01, 0.9)}), "kl", "warning"),
    "KL doubling": (healthy(curves={"kl": drawn(lambda x: 0.35 * math.exp(8 * (x - 1)))}), "kl", "warning"),
    "reward flat": (healthy(curves={**FLAT, "kl": line(0.005, 0.05)}), "flat", "warning"),
    "held-out falls": (
        healthy(curves={"eval_reward": Curve.of(range(5, 65, 5), [1.2] * 4 + [1.3] * 2 + [1.0, 0.9, 0.8] + [0.7] * 3)}),
        "held_out", "warning"),
    "length explodes": (healthy(curves={**FLAT, "kl": line(0.005, 0.05), "completions/mean_length": line(60, 300, 5)}),
                        "length", "warning"),
    "long but better": (healthy(curves={"completions/mean_length": line(60, 300, 5)}), "length", "suspicion"),
    "cut off": (healthy(curves={"completions/clipped_ratio": line(0.1, 0.5)}), "truncated", "warning"),
    "mostly cut off": (healthy(curves={"completions/clipped_ratio": line(0.9, 0.9)}), "truncated", "problem"),
    "entropy collapse": (
        healthy(curves={"entropy": line(1.0, 0.01), "reward": line(1.0, 1.1, 0.01)}), "entropy", "warning"),
    "one function drowns the other": (
        healthy(functions={"format": Function(1.0, {"ok": 256}, 0, 100, 40.0, (0, 100))}, high=101.0,
                curves={"reward": line(20, 60, 2), "rewards/format/mean": line(20, 60, 2)}), "dominating", "warning"),
    "a constant function": (
        healthy(functions={"format": Function(1.0, {"ok": 256}, 0.5, 0.5, 0.0, (0.5, 0.5))},
                curves={"rewards/format/mean": line(0.5, 0.5)}), "constant", "warning"),
    "a failing function": (
        healthy(functions={"format": Function(1.0, {"ok": 200, "error": 56}, 0, 1, 0.2, message="<b>no</b>")}),
        "failing", "warning"),
    "a function that only fails": (
        healthy(functions={"format": Function(1.0, {"timeout": 256})}), "failing", "problem"),
    "much is clipped": (healthy(curves={"clip_ratio/region_mean": line(0.3, 0.45)}), "clipping", "warning"),
    "gradient spikes": (
        healthy(curves={"grad_norm": Curve.of(range(1, 61), [9.0 if n % 5 == 0 else 0.4 for n in range(60)])}),
        "spikes", "warning"),
    "no numbers": (healthy(not_finite={"loss": 59, "grad_norm": 60}), "not_finite", "problem"),
    "memory": (healthy(curves={"system/memory_share": line(0.9, 0.99)}), "memory", "warning"),
    "slow with a GPU": (
        healthy(curves={"step_time": line(40, 40), "time/generation": line(35, 35), "time/update": line(4, 4)},
                gpus=[{"name": "NVIDIA L4"}], extras={"vllm": "1"}), "slow", "warning"),
    "slow without one": (healthy(curves={"step_time": line(50, 50)}), "slow", "warning"),
    "rate too high": (
        healthy(curves={"reward": drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi)), "kl": line(0.01, 0.4)}),
        "learning_rate_high", "problem"),
    "rate too low": (healthy(curves={**FLAT, "kl": line(0.0, 0.0004)}), "learning_rate_low", "warning"),
    "rate tiny, no KL": (
        healthy(curves={**FLAT, "kl": None, "learning_rate": line(1e-8, 1e-8)}), "learning_rate_low", "warning"),
    "repeats for reward": (healthy(curves={"groups/repetition": line(0.3, 0.8)}), "hacking_repetition", "suspicion"),
    "one against the others": (
        healthy(curves={"rewards/correctness/mean": line(0.6, 0.3, 0.02), "rewards/format/mean": line(0.2, 1.0, 0.02)}),
        "hacking_one", "suspicion"),
    "one text at temperature 0.01": (
        healthy(training={"temperature": 0.01}, last=scored(format=[1.0] * 4, text="4")), "temperature_low", "problem"),
    "noise at temperature 4": (
        healthy(training={"temperature": 4.0}, curves={"entropy": line(4.5, 4.4)}), "temperature_high", "problem"),
    "groups of two": (healthy(first=[], last=scored(format=[1.0, 0.0])), "group_small", "warning"),
    "held by beta": (
        healthy(training={"beta": 10.0}, curves={**FLAT, "kl": drawn(lambda x: 0.002 if x > 0.02 else 0)}),
        "beta_high", "warning"),
    "no answers to compare with": (
        healthy(functions={"correctness": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.4, (0, 1))}),
        "unscored", "problem"),
    "two that cancel out": (
        healthy(last=scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[0.0, 1.0, 0.0, 0.9])), "conflict", "warning"),
    "paid by length": (
        healthy(last=paid_by_length([10, 20, 30, 40], lambda tokens: tokens / 20)), "length_alone", "warning"),
    "tags stuffed": (healthy(last=said("<think></think>" * 20)), "hacking_pattern", "suspicion"),
    "nothing written": (healthy(last=said("  \n ")), "hacking_pattern", "suspicion"),
    "the prompt copied": (
        healthy(last=said("x" * 50 + "!", prompt="x" * 50)), "hacking_pattern", "suspicion"),
}  # fmt: skip


@pytest.mark.parametrize("what", SICK)
def test_each_sick_run_gets_its_verdict_and_no_other(what: str) -> None:
    evidence, key, level = SICK[what]
    report = examine(evidence)
    assert [(verdict.key, verdict.level) for verdict in report.verdicts] == [(key, level)]
    verdict = report.verdicts[0]
    assert verdict.threshold.endswith(".") and verdict.source and verdict.sentence.endswith((".", "?"))
    assert verdict.evidence, "the evidence is one click away"
    assert verdict.changes, "and so is what to do"
    for change in verdict.changes:
        leads = (bool(change.settings), bool(change.field), change.edit_reward is not None)
        assert leads.count(True) == 1, f"{change.label} leads to one place"
    assert not report.headline.startswith("No problems detected")


def test_every_kind_of_verdict_is_shown_by_some_run() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in DOCTOR.glob("*.py"))
    assert {key for _, key, _ in SICK.values()} == set(re.findall(r'Verdict\(\s*"(\w+)"', code)) - CALM_ONLY


def test_a_healthy_run_is_told_so_in_one_calm_line() -> None:
    report = examine(healthy())
    assert report.verdicts == ()
    assert report.kind == "up"
    assert report.headline.startswith("No problems detected: reward is up from 1.0")
    assert "% of groups have a learning signal." in report.headline
    assert [verdict.key for verdict in report.calm] == ["loss_near_zero"]


# What comes near a verdict and is none.
WELL: dict[str, Evidence] = {
    "ties half of the time": healthy(curves={"groups/tied": line(0.4, 0.6)}),
    "learned: tied at the top": healthy(
        curves={"groups/tied": line(0.0, 0.99), "groups/all_high": line(0, 0.99), "groups/solved": line(0.4, 1.0),
                "groups/spread": line(0.7, 0.0), "entropy": line(1.0, 0.01),
                "reward": drawn(lambda x: min(2.0, 1 + 1.4 * x))}),
    "a target with another scale": healthy(
        curves={"groups/solved": line(0, 0), "groups/any_solved": line(0, 0)},
        functions={"correctness": Function(1.0, {"ok": 256}, 0.0, 0.6, 0.2, (0.0, 0.5))}),
    "spread falls as it learns": healthy(curves={"groups/spread": line(0.8, 0.3, 0.03)}),
    "rewards of 0 to 0.01": healthy(
        curves={"groups/spread": line(0.004, 0.003), "reward": line(0.002, 0.006, 0.0003)}, low=0.0, high=0.01),
    "rewards of −500 to 500": healthy(
        curves={"reward": line(-100, 200, 20), "groups/spread": line(300, 200)}, low=-500, high=500),
    "KL grows as usual": healthy(curves={"kl": line(0.02, 0.12, 0.01)}),
    "KL begins at nothing": healthy(curves={"kl": drawn(lambda x: 0.15 * x**4)}),
    "a noisy reward that rises": healthy(curves={"reward": line(1.0, 1.5, 0.25)}),
    "a reward at its ceiling": healthy(curves={"reward": line(1.95, 1.96, 0.01), "groups/tied": line(0.5, 0.5)}),
    "held-out as noisy as few prompts make it": healthy(
        curves={"eval_reward": Curve.of(range(10, 70, 10), [1.2, 1.5, 1.3, 1.6, 1.4, 1.5])}),
    "long from the start": healthy(curves={"completions/mean_length": line(280, 300)}),
    "twice as long, but short": healthy(curves={"completions/mean_length": line(12, 50)}),
    "a few cut off": healthy(curves={"completions/clipped_ratio": line(0.05, 0.2)}),
    "a function that is learned": healthy(functions={"format": Function(1.0, {"ok": 256}, 1.0, 1.0, 0.0, (0.0, 1.0))}),
    "a function without weight": healthy(
        functions={"format": Function(0.0, {"ok": 256}, 0.5, 0.5, 0.0, (0.5, 0.5))},
        curves={"rewards/format/mean": line(0.5, 0.5)}),
    "one failure of hundreds": healthy(functions={"format": Function(1.0, {"ok": 255, "error": 1}, 0, 1, 0.2, (0, 1))}),
    "no score is no failure": healthy(functions={"format": Function(0.4, {"ok": 56, "none": 200}, 0, 1, 0.2, (0, 1))}),
    "each function has rows of its own": healthy(
        functions={"format": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.2, (0, 1)),
                   "correctness": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.4, (0, 1))},
        last=scored(format=[1.0, None], correctness=[None, 1.0])),
    "one spike": healthy(curves={"grad_norm": Curve.of(range(1, 61), [0.4] * 59 + [30.0])}),
    "a slow step on a CPU": healthy(curves={"step_time": line(20, 20)}),
    "repetition, but the reward stays": healthy(curves={"groups/repetition": line(0.75, 0.8)}),
    "empty, and it earns nothing": healthy(last=said("", [0.0] * 32) + said("<answer>4</answer>")),
    "a short answer": healthy(last=said("4")),
    "longer, and that is all that differs": healthy(last=paid_by_length([10, 20, 30, 40], lambda tokens: tokens > 25)),
    "cool, but of many words": healthy(training={"temperature": 0.2}, last=scored(format=[1.0] * 4)),
    "one answer, and right": healthy(last=scored(format=[1.0] * 4, text="4")),
    "groups of three": healthy(last=scored(format=[1.0, 0.0, 0.0])),
    "hot, and it still makes sense": healthy(training={"temperature": 1.5}, curves={"entropy": line(0.9, 0.5)}),
    "a heavy KL, and it learns": healthy(training={"beta": 2.0}),
    "two that differ": healthy(last=scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[0.0, 1.0, 1.0, 0.0])),
    "a falling reward after weights moved": healthy(
        rewards=[spec.RewardSpec(name="correctness", adapt=spec.AdaptSpec())],
        curves={"reward": drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi))}),
}  # fmt: skip


@pytest.mark.parametrize("what", WELL)
def test_what_comes_near_a_verdict_is_none(what: str) -> None:
    assert told(WELL[what]) == []


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_before_enough_steps_it_says_what_it_waits_for(steps: int) -> None:
    few = {name: line(0.5, 0.5, steps=steps) for name in healthy().curves}
    report = examine(healthy(curves=few))
    assert (report.kind, report.verdicts) == ("waiting", ())
    assert report.headline == f"Diagnostics need 10 steps ({steps}/10)."


def test_what_is_plain_before_that_is_said_at_once() -> None:
    few = {name: line(0.5, 0.5, steps=4) for name in healthy().curves}
    report = examine(healthy(curves=few, training={"temperature": 0.01}, last=scored(format=[1.0] * 4, text="4")))
    assert (report.kind, [verdict.key for verdict in report.verdicts]) == ("waiting", ["temperature_low"])
    assert report.headline == "A problem after 4 logged steps. Trends need 10."


def test_no_rule_speaks_of_nothing() -> None:
    for rule in RULES:
        assert rule(Evidence()) is None
    assert examine(Evidence()).kind == "waiting"


def test_a_reward_that_rose_before_all_groups_tied_is_no_learning() -> None:
    stuck = healthy(curves={"groups/tied": line(0.2, 1.0), "groups/all_low": line(0.2, 1.0)})
    assert examine(stuck).headline.startswith("No longer learning: reward is up from 1.0")
    assert examine(healthy(last=said(""))).headline.startswith("Learning, with a suspicion: ")


def test_one_wrong_answer_that_scores_the_highest_is_a_collapse_and_not_learned() -> None:
    tied_at_the_top = {
        "groups/tied": line(0.0, 1.0), "groups/all_high": line(0.0, 1.0), "groups/spread": line(0.7, 0.02),
        "groups/alike": line(0.2, 1.0),
    }  # fmt: skip
    wrong = {"groups/solved": line(0.0, 0.0), "groups/any_solved": line(0.2, 0.2)}
    assert told(healthy(curves=tied_at_the_top)) == []
    assert told(healthy(curves=tied_at_the_top | wrong)) == ["collapse"]


def test_what_fails_and_what_is_no_number_is_said_from_the_first_step() -> None:
    short = dict.fromkeys(healthy().curves)
    broken = healthy(curves=short, functions={"format": Function(1.0, {"error": 8})}, not_finite={"loss": 1})
    assert told(broken) == ["failing"], "where nothing is scored, there is no number to be had"
    assert told(healthy(curves=short, not_finite={"loss": 1})) == ["not_finite"]


def test_one_cause_gets_one_verdict() -> None:
    """A rate far too high: the reward falls, KL runs, gradients spike, entropy goes. One verdict says so."""
    evidence = healthy(curves={
        "reward": drawn(lambda x: 1.0 + 0.8 * math.sin(x * math.pi)), "kl": line(0.1, 3.0), "entropy": line(1.0, 0.01),
        "grad_norm": Curve.of(range(1, 61), [20.0 if n % 5 == 0 else 0.4 for n in range(60)]),
        "clip_ratio/region_mean": line(0.1, 0.6), "groups/spread": line(0.7, 0.01),
    })  # fmt: skip
    assert told(evidence) == ["learning_rate_high"]


def test_the_gravest_comes_first() -> None:
    evidence = healthy(
        curves={"completions/clipped_ratio": line(0.9, 0.9), "system/memory_share": line(0.99, 0.99)},
        last=said(""),
    )
    assert [verdict.level for verdict in examine(evidence).verdicts] == ["problem", "warning", "suspicion"]


def test_a_loophole_is_looked_for_in_the_function_that_rose() -> None:
    (verdict,) = examine(SICK["one against the others"][0]).verdicts
    assert (verdict.changes[-1].label, verdict.changes[-1].edit_reward) == ("Close the loophole in format", "format")


def test_suspicions_are_called_suspicions() -> None:
    for evidence, key, level in SICK.values():
        if key.startswith("hacking"):
            assert level == verdicts.SUSPICION
            assert examine(evidence).verdicts[0].title.endswith("?")


def test_beta_zero_explains_itself() -> None:
    report = examine(healthy(training={"beta": 0.0}, curves={"kl": None}))
    assert "no_kl" in [verdict.key for verdict in report.calm]
    assert report.verdicts == ()


@pytest.mark.parametrize(
    ("room", "label"), [(None, "512 tokens"), (2048, "512 tokens"), (512, "A model that reads more")]
)
def test_no_completion_is_suggested_that_the_model_cannot_read(room: int | None, label: str) -> None:
    cut = healthy(
        training={"max_completion_length": 256}, curves={"completions/clipped_ratio": line(0.5, 0.6)}, room=room
    )
    (verdict,) = examine(cut).verdicts
    assert verdict.key == "truncated" and label in verdict.changes[0].label


def test_a_limit_that_no_answer_fits_is_raised_and_no_weight_is_taken_away() -> None:
    """A form that earns nothing because all that is long enough is cut off."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    short = healthy(
        training={"max_completion_length": 4}, functions={"format": never},
        curves={"completions/clipped_ratio": line(0.25, 0.1), "rewards/format/mean": line(0, 0)},
    )  # fmt: skip
    (verdict,) = examine(short).verdicts
    assert (verdict.key, verdict.level) == ("truncated", "problem")
    assert "“format” has scored 0 every time" in verdict.sentence
    assert [change.settings for change in verdict.changes] == [{"training.max_completion_length": 64}]


def test_a_fall_in_the_first_steps_is_the_rate_and_not_the_prompts() -> None:
    """Ten steps, of which only the first earned anything; groups tie low and completions are cut off ever since."""
    since_then = Curve.of(range(1, 11), [0.0] + [1.0] * 9)
    names = {"groups/tied", "groups/all_low", "completions/clipped_ratio"}
    curves = {name: line(0.0, 0.0, steps=10) for name in healthy().curves} | dict.fromkeys(names, since_then)
    once = Curve.of(range(1, 11), [0.9] + [0.0] * 9)
    first = [
        Sample(step * 4 + n // 4, n % 4, step, f"{step} {n}", 0.6 + n % 4 / 5 if step == 1 else 0.0)
        for step in range(1, 11) for n in range(16)
    ]  # fmt: skip
    fallen = healthy(
        curves=curves | {"reward": once, "groups/any_solved": once, "groups/solved": once, "learning_rate": None},
        first=first[:64], last=first[-64:], high=1.2,
    )  # fmt: skip
    assert told(fallen) == ["learning_rate_high"]
    assert "was 0.9 at its first step and is 0 now" in examine(fallen).verdicts[0].sentence


def test_a_function_that_gives_all_the_highest_is_no_sign_of_easy_prompts() -> None:
    """Alone, it is what is wrong; before ten steps it may be either, and nothing is said."""
    one = Function(1.0, {"ok": 256}, 1.0, 1.0, 0.0, (1.0, 1.0))
    for steps, said_of in ((9, []), (12, ["constant"])):
        high = {name: line(1.0, 1.0, steps=steps) for name in healthy().curves if name.startswith(("groups", "reward"))}
        evidence = healthy(
            curves=dict.fromkeys(healthy().curves) | high | {"groups/all_low": line(0, 0, steps=steps)},
            functions={"format": one, "correctness": Function(0.0)},
        )  # fmt: skip
        assert told(evidence) == said_of
    (verdict,) = examine(evidence).verdicts
    assert verdict.sentence.endswith("It is the only reward function, so there is nothing to learn from.")
    assert [change.edit_reward for change in verdict.changes] == ["format"]


def test_groups_of_two_become_eight_in_a_batch_of_whole_groups() -> None:
    pairs = healthy(training={"per_device_train_batch_size": 6}, first=[], last=scored(format=[1.0, 0.0]))
    (verdict,) = examine(pairs).verdicts
    settings_of = {"training.num_generations": 8, "training.per_device_train_batch_size": 8}
    assert [change.settings for change in verdict.changes] == [settings_of]


def test_suggested_settings_make_whole_groups() -> None:
    """A group twice as large brings its device batch; half a batch keeps the completions of a step."""
    small = healthy(
        training={"num_generations": 8, "per_device_train_batch_size": 8},
        curves={"groups/tied": line(0.9, 0.9), "groups/all_low": line(0.9, 0.9), "system/memory_share": line(1, 1)},
    )
    given = {
        change.settings["training.num_generations"]: change.settings
        for verdict in examine(small).verdicts
        for change in verdict.changes
        if "training.num_generations" in change.settings
    }
    assert given == {16: {"training.num_generations": 16, "training.per_device_train_batch_size": 16}}
    memory = next(verdict for verdict in examine(small).verdicts if verdict.key == "memory")
    assert {"training.per_device_train_batch_size": 4, "training.gradient_accumulation_steps": 2} in [
        change.settings for change in memory.changes
    ]


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=60, deadline=None)
def test_verdicts_on_rewards_do_not_depend_on_their_scale(seed: int, scale: float, offset: float) -> None:
    """The same run with rewards times `scale` plus `offset` is told the same."""
    falling = drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi))
    for curve in (line(1.0, 1.7, 0.1, seed=seed), line(1.0, 1.0, 0.05, seed=seed), falling):
        evidence = healthy(curves={"reward": curve})
        moved = Curve.of(curve.steps, [value * scale + offset for value in curve.values])
        # The spread within groups has a threshold of its own for small scales (common practice's 0.1).
        other = healthy(curves={"reward": moved, "groups/spread": None}, low=offset, high=2 * scale + offset)
        assert told(other) == told(evidence)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=700))
@settings(max_examples=100, deadline=None)
def test_a_curve_keeps_its_mean_and_extremes_when_condensed(values: list[float]) -> None:
    curve = Curve.of(range(len(values)), values)
    assert len(curve) <= POINTS
    assert curve.low == min(values) and curve.high == max(values)
    tolerance = 1e-6 * max(1.0, *map(abs, values))
    assert all(curve.low - tolerance <= value <= curve.high + tolerance for value in curve.values)
    assert curve.peak >= curve.now - tolerance


def test_a_trend_is_told_from_noise() -> None:
    assert sum(line(0, 0, 1.0, seed=seed).direction(0) != 0 for seed in range(200)) <= 4
    assert all(line(0, 4, 1.0, seed=seed).direction(0) == 1 for seed in range(50))
    assert line(1, 1, steps=STEPS).direction(0) == 0
