"""The doctor's rules: each sick run gets its verdict and only that, a healthy one none, and a near miss none."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.storage.analysis.doctor import rates
from groupwise.storage.analysis.doctor import verdict as verdicts
from groupwise.storage.analysis.doctor.curve import POINTS, Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.examine import RULES, examine
from groupwise.storage.checks.tag_room import tag_room
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec
from tests.conftest import REPOSITORY
from tests.support.doctor import STEPS, drawn, healthy, line, said, scored
from tests.support.doctor_cases import SICK, WELL

DOCTOR = Path(verdicts.__file__).parent
CALM_ONLY = {
    "learned",
    "loss_near_zero",
    "no_kl",
    "unsolved_prompts",
    "few_prompts",
    "some_unscored",
    "some_answers_odd",
}


def told(evidence: Evidence) -> list[str]:
    """The keys of what is said that is not calm."""
    return [verdict.key for verdict in examine(evidence).verdicts]


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
    assert report.headline.startswith("Learning, no problems detected: reward is up from 1.0")
    assert report.opening == "Learning, no problems detected:"
    assert "% of groups have a learning signal." in report.headline
    assert [verdict.key for verdict in report.calm] == ["loss_near_zero"]


def test_a_loss_near_zero_is_not_called_normal_where_there_was_never_a_gradient() -> None:
    still = {"loss": line(0, 0), "grad_norm": line(0, 0)}
    all_tied = {"loss": line(0, 0), "grad_norm": None, "groups/tied": line(1, 1)}
    for curves in (still, all_tied):
        assert "loss_near_zero" not in [verdict.key for verdict in examine(healthy(curves=curves)).calm]


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


def test_a_run_that_never_had_a_signal_did_not_learn_and_is_not_said_to_have_stopped() -> None:
    """As it was seen: stopped at step 28 with 0.0031 to 0.031, and nothing right on held-out prompts."""
    luck = {
        "reward": line(0.0, 0.031, steps=28), "rewards/correctness/mean": line(0.0, 0.031, steps=28),
        "rewards/format/mean": line(0, 0, steps=28), "groups/tied": line(0.97, 0.95, steps=28),
        "groups/all_low": line(0.97, 0.95, steps=28), "groups/solved": line(0.0, 0.03, steps=28),
        "eval_rewards/correctness/mean": Curve.of((0, 20), (0.0, 0.0)),
    }  # fmt: skip
    stopped = examine(healthy(curves=luck, step=28, ended=True))
    assert stopped.headline.startswith("No clear progress: reward was 0.02") and "though on held-out" not in (
        stopped.headline
    )
    assert examine(healthy(curves=luck, step=28)).headline.startswith("No clear progress so far: reward is 0.02")
    by_heart = {**luck, "groups/tied": line(0.2, 1.0), "reward": line(0.0, 0.4, steps=28),
                "rewards/correctness/mean": line(0.0, 0.4, steps=28),
                "groups/solved": line(0.0, 0.4, steps=28)}  # fmt: skip
    denied = examine(healthy(curves=by_heart, step=28, ended=True)).headline
    assert denied.startswith("Improved on the training prompts only: reward went up"), denied
    assert "though on held-out prompts “correctness” was 0 (0 before)" in denied
    learned = {**by_heart, "eval_rewards/correctness/mean": Curve.of((0, 20), (0.0, 0.3))}
    assert examine(healthy(curves=learned, step=28, ended=True)).headline.startswith("No longer learning: ")
    all_along = {**learned, "groups/tied": line(0.95, 0.95)}
    assert examine(healthy(curves=all_along, step=28, ended=True)).headline.startswith("Learned, with a problem: ")


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


@pytest.mark.parametrize(("ended", "words"), [(True, "KL rose to 3.0"), (False, "KL has risen to 3.0")])
def test_a_kl_that_ran_away_by_a_rate_that_is_said_to_be_too_high_is_no_second_verdict(ended: bool, words: str) -> None:
    """As it was seen at 0.05: “The learning rate is too high” and “KL ran away”, with the same button."""
    curves = {"reward": drawn(lambda x: 1.0 + 0.8 * math.sin(x * math.pi)), "kl": line(0.1, 3.0)}
    high = healthy(curves=curves, training={"learning_rate": 0.05}, ended=ended)
    assert told(high) == ["learning_rate_high"]
    assert f", while {words[:-3]}" in examine(high).verdicts[0].sentence
    assert told(healthy(curves=curves | {"reward": None}, training={"learning_rate": 0.05}, ended=ended)) == ["kl"]


def test_titles_of_an_ended_run_say_how_it_went_and_not_how_it_goes() -> None:
    for evidence, _, _ in SICK.values():
        for verdict in examine(replace(evidence, ended=True)).verdicts:
            assert not re.search(r"(is|are) \w+ing", verdict.title.removesuffix("?")), verdict.title


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


def test_a_heavy_kl_shows_in_its_gradient_before_it_shows_in_the_reward() -> None:
    """As it was seen with beta 10 and 25 steps: “neither better nor worse, no problems detected”."""
    pulled = SICK["a KL whose gradient is the larger"][0]
    (verdict,) = examine(pulled).verdicts
    assert verdict.sentence.startswith("grad_norm was 0.70 at the first step, where KL is 0, and mostly above 2.8 ")
    small = {**pulled.curves, "grad_norm": line(0.7, 1.5)}
    assert "beta_high" not in told(replace(pulled, curves=small)), "it is the reward's"
    usual = replace(pulled, training={**pulled.training, "beta": 0.1})
    assert "beta_high" not in told(usual), "a usual weight"


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
    (known,) = examine(replace(short, tags=tag_room(short.rewards, by_letter=True))).verdicts
    assert "“format” has scored 0 every time: the tags that it needs take at least 34 tokens." in known.sentence
    proposed = [{"training.max_completion_length": 48}]
    assert [change.settings for change in known.changes] == proposed, "as New run does"


def test_a_form_for_which_the_limit_has_no_room_needs_a_higher_one_also_beside_a_rate_that_is_too_high() -> None:
    """The second card of such a run offered “Fix format”, which is built in; where there is room, it earned nothing as
    the model was ruined."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    ruined = healthy(
        training={"max_completion_length": 6, "learning_rate": 1.0},
        functions={"format": never, "correctness": Function(1.0, {"ok": 256}, 0.2, 1.0, 0.1, (0.0, 1.0))},
        curves={"completions/clipped_ratio": line(0.0, 0.0), "rewards/format/mean": line(0, 0), "reward": line(1, 0)},
    )  # fmt: skip
    known = replace(ruined, tags=tag_room(ruined.rewards, by_letter=True))
    card = next(one for one in examine(known).verdicts if one.key == "constant")
    assert [change.settings for change in card.changes] == [{"training.max_completion_length": 48}]
    assert card.sentence.endswith("The tags that it needs take at least 34 tokens, and a completion may have 6.")
    enough = replace(known, training=known.training | {"max_completion_length": 64})
    assert [one.key for one in examine(enough).verdicts] == ["learning_rate_high"]


@pytest.mark.parametrize(("name", "label"), [("format", "Try format on its completions"), ("mine", "Fix mine")])
def test_only_a_function_of_ones_own_can_be_fixed(name: str, label: str) -> None:
    """A built-in function that gave 0 to all was to be fixed, and is right."""
    never = Function(0.1, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    e = healthy(functions={name: never}, curves={f"rewards/{name}/mean": line(0, 0)})
    card = next(one for one in examine(e).verdicts if one.key == "constant")
    assert [change.label for change in card.changes] == [label]
    failing = healthy(functions={name: Function(1.0, {"ok": 128, "error": 128}, 0.0, 1.0, 0.2, (0.0, 1.0))})
    card = next(one for one in examine(failing).verdicts if one.key == "failing")
    assert [change.label for change in card.changes] == [label]


def test_what_ships_is_known_by_name() -> None:
    files = (REPOSITORY / "worker" / "builtin" / "rewards").glob("[a-z]*.py")
    assert {file.stem for file in files} == group_metrics.SHIPPED


def test_a_limit_is_no_cause_where_most_end_far_before_it() -> None:
    """85 % ended after 6 of 48 tokens, all scored 0: “perhaps no full answer fits” stood before “too hard”."""
    never = Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))
    curves = {"completions/clipped_ratio": line(0.17, 0.1), "rewards/correctness/mean": line(0, 0)}

    def said(ended: float) -> list[str]:
        known = curves | {"completions/mean_terminated_length": line(ended, ended)}
        e = healthy(training={"max_completion_length": 48}, functions={"correctness": never}, curves=known)
        return [verdict.key for verdict in examine(e).verdicts]

    assert "truncated" not in said(6.4) and "truncated" in said(40)


def test_what_came_after_kl_ran_away_at_a_high_rate_came_of_it() -> None:
    """7 % cut off at step 1, all from step 2 on, with KL 10: the limit was blamed, and the rate not named."""
    steps = range(1, 21)
    curves = {
        "completions/clipped_ratio": Curve.of(steps, [0.07] + [1.0] * 19), "kl": Curve.of(steps, [0.0] + [3.0] * 19),
    }  # fmt: skip
    high, usual = ([v.key for v in examine(healthy(training={"learning_rate": rate}, curves=curves)).verdicts]
                   for rate in (0.05, 1e-6))  # fmt: skip
    assert high == ["kl"] and "truncated" in usual


def test_one_spike_of_kl_is_no_drift() -> None:
    """5.8 at one step makes the mean of the last ten 0.9: the other nine stand where they stood all along."""
    steady = [0.3] * 60
    spiked, drifted = [*steady[:55], 5.8, *steady[56:]], [*steady[:50], *([0.9] * 10)]
    said = [
        [verdict.key for verdict in examine(healthy(curves={"kl": Curve.of(range(1, 61), kl)})).verdicts]
        for kl in (spiked, drifted)
    ]
    assert "kl" not in said[0] and "kl" in said[1]


@pytest.mark.parametrize(("every", "first", "of_start", "of_end"), [
    (1, "first 5 logged steps", "1..5", "11..20"), (5, "first logged step", "1..5", "51..100"),
])  # fmt: skip
def test_a_share_and_its_completions_are_of_the_steps_that_are_named(
    every: int, first: str, of_start: str, of_end: str
) -> None:
    steps = range(every, 20 * every + 1, every)
    never = {"format": Function(1.0, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))}
    zero = {"rewards/format/mean": line(0, 0)}
    for values, functions, share, where in (
        ([0.25] * 5 + [0.125] * 15, never, f"25\u202f% of the completions of the {first}", of_start),
        ([0.25] * 10 + [0.5] * 10, {}, "50\u202f% of the completions of the last 10 logged steps", of_end),
    ):
        cut = {"completions/clipped_ratio": Curve.of(steps, values)} | (zero if functions else {})
        (verdict,) = examine(healthy(curves=cut, functions=functions)).verdicts
        assert verdict.sentence.startswith(share)
        assert verdict.evidence[1].params["steps"] == where


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
    assert "was 0.90 at its first step, fell to 0 at step 2, and is 0 now" in examine(fallen).verdicts[0].sentence
    assert examine(fallen).begin == 0, "no mean of the first steps is said"


@pytest.mark.parametrize("told_by", ["the last groups", "the steps of now"])
def test_a_function_that_stopped_scoring_is_no_fall_that_a_rate_explains(told_by: str) -> None:
    """The total fell from 1.88 to 0.47 as its share was gone: a lower learning rate was proposed."""
    right, paid = [0.6, 0.5, 0.75, 0.4, 0.6, 0.3, 0.5, 0.45, 0.5], [1.3, 1.1, 1.3, 1.06]
    total = [a + b for a, b in zip(right, [*paid, *[0.0] * 5], strict=True)]
    groups = [
        Sample(step * 4 + n // 4, n % 4, step, f"{step} {n}", value + (n % 4 - 1.5) / 20)
        for step, value in enumerate(total, 1) for n in range(16)
    ]  # fmt: skip
    told_here = told_by == "the last groups"
    bomb = Function(
        1.0, {"ok": 128, "error": 160} if told_here else {"ok": 1280, "error": 80}, 1.0, 1.4, 0.1, (1.0, 1.4),
        scored=() if told_here else ((64, 64), (0, 64)),
    )  # fmt: skip
    names = {name: line(0.5, 0.5, steps=9) for name in healthy().curves}
    curves = names | {
        "reward": Curve.of(range(1, 10), total), "rewards/correctness/mean": Curve.of(range(1, 10), right),
        "rewards/bomb/mean": Curve.of(range(1, 5), paid), "learning_rate": None,
    }  # fmt: skip
    rewards = [RewardSpec(name="bomb"), RewardSpec(name="correctness")]
    fallen = healthy(
        curves=curves, functions={"bomb": bomb}, rewards=rewards, first=groups[:64], last=groups[-64:], step=9
    )
    assert rates.fall(fallen) is None
    sound = replace(fallen, functions={**fallen.functions, "bomb": Function(1.0, {"ok": 288}, 1.0, 1.4)})
    assert rates.fall(sound) is not None, "it is a fall where all score"


def test_a_total_that_fell_as_less_was_scored_did_not_get_worse() -> None:
    """As it was seen: “Got worse: reward fell from 1.02 to 0.61”, while what scored to the end gave more."""
    right, paid = [0.45, 0.5, 0.55, 0.5, 0.5, 0.55, 0.6, 0.55, 0.6, 0.6, 0.65], [0.5, 0.52, 0.5, 0.55, 0.5]
    total = [a + b for a, b in zip(right, [*paid, *[0.0] * 6], strict=True)]
    of_right = Curve.of(range(1, 12), right)
    curves = {name: line(0.5, 0.5, steps=11) for name in healthy().curves} | {
        "reward": Curve.of(range(1, 12), total), "rewards/correctness/mean": of_right, "groups/solved": of_right,
        "rewards/boom/mean": Curve.of(range(1, 6), paid), "learning_rate": None,
    }  # fmt: skip
    fails = Function(1.0, {"ok": 80, "error": 96}, 0.0, 1.0, 0.1, (0.0, 1.0), scored=((80, 80), (16, 96)))
    rewards = [RewardSpec(name="boom"), RewardSpec(name="correctness")]
    e = healthy(curves=curves, functions={"boom": fails}, rewards=rewards, step=11, ended=True)
    report = examine(e)
    assert report.headline.startswith(
        "Some of it was learned: reward was 1.01 at the start and 0.60 at the end, as less was scored, while "
        "“correctness” (0.50 to 0.60) rose, and “boom” gave a score to 17\u202f% of completions, "
        "100\u202f% at the start;"
    )
    assert (report.kind, report.fell, report.verdicts[0].key) == ("level", "", "failing")
    scores = replace(e, functions={**e.functions, "boom": Function(1.0, {"ok": 176}, 0.0, 1.0)})
    assert examine(scores).headline.startswith("Got worse: reward fell from 1.01 at the start to 0.60 at the end")


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
