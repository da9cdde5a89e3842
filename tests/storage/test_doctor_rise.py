"""What the doctor says of a reward that rose: by which function, what speaks against it, and what to do next."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Unsolved
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.next_step import Next
from groupwise.storage.analysis.doctor.verdict import CALM, NEUTRAL, Change, Link
from groupwise.storage.home import paths
from groupwise.storage.record.record import RunWriter
from groupwise.storage.spec.spec import AdaptSpec, RewardSpec, RunSpec
from tests.support.doctor import drawn, healthy, line
from tests.support.made_runs import made_run

NONE_RIGHT = {"groups/solved": line(0, 0), "groups/any_solved": line(0.2, 0.2), "rewards/correctness/mean": line(0, 0)}
HELD_OUT = {"eval_reward": Curve.of(range(0, 61, 20), [1.2, 1.1, 1.0, 0.9])}
AT_THE_END = ", but held-out reward fell from 1.20 to 0.90 and 0\u202f% of completions were right; "


def test_a_reward_that_rose_hides_no_held_out_fall_and_no_missing_answer() -> None:
    both = examine(healthy(curves=NONE_RIGHT | HELD_OUT, ended=True))
    assert both.headline.startswith("Only “format” improved: reward went up from ")
    assert AT_THE_END in both.headline and both.level == "warning"
    held_out = examine(healthy(curves=HELD_OUT, ended=True))
    assert held_out.headline.startswith("Improved on the training prompts only: ") and held_out.verdicts == ()
    assert outcome.verdict_on(held_out) == ("Held-out reward fell", "warning") == (held_out.against, held_out.level)
    assert held_out.follows and held_out.follows.to == Link(
        "look for the checkpoint with the best held-out reward", "checkpoints"
    )
    going_on = examine(healthy(curves=HELD_OUT)).headline
    assert going_on.startswith("Improving on the training prompts only: ")
    assert "held-out reward is down from 1.20 to 0.90" in going_on
    rose = Curve.of((0, 60), (0.9, 1.2))
    assert examine(healthy(curves={"eval_reward": rose}, ended=True)).against == ""


def test_a_weight_that_moved_is_named_beside_the_reward_that_rose() -> None:
    """“Learned… 0.68 to 0.94” counted a weight that rose from 0.5 to 0.6 as learning, and no word told of it."""
    adapting = [RewardSpec(name="format"), RewardSpec(name="correctness", adapt=AdaptSpec())]
    weight = "rewards/correctness/weight"
    told = examine(healthy(rewards=adapting, curves={weight: Curve.of((1, 60), (0.5, 0.6))}, ended=True)).headline
    assert told.endswith("; the weight of “correctness” was 0.6 at the end, 0.5 at the start.")
    still = examine(healthy(rewards=adapting, curves={weight: Curve.of((1, 60), (0.5, 0.5))}, ended=True)).headline
    assert "weight" not in still


def test_learned_is_said_of_no_run_of_which_next_to_nothing_is_right() -> None:
    """A reward that doubled by form alone, while KL ran away and half of the held-out reward went."""
    few = {"groups/solved": line(0.004, 0.008), "groups/any_solved": line(0.1, 0.1), "kl": line(0.01, 2.0)}
    fell = {"eval_reward": Curve.of((0, 60), (0.125, 0.063))}
    curves = NONE_RIGHT | few | fell | {"reward": line(0.069, 0.15, 0.005), "rewards/format/mean": line(0.06, 0.14)}
    told = examine(healthy(curves=curves, ended=True))
    assert told.headline.startswith("Only “format” improved, with a warning: reward went up from 0.07")
    assert "held-out reward fell from 0.13 to 0.063 and 1\u202f% of completions were right" in told.headline
    by_correctness = curves | {"rewards/correctness/mean": line(0.0, 0.04)}
    unnamed = examine(healthy(curves=by_correctness)).headline
    assert unnamed.startswith("Reward is rising, but answers are not more often right, with a warning: ")
    rises = healthy(curves=NONE_RIGHT | {"groups/solved": line(0.0, 0.045)}, ended=True)
    assert examine(rises).against == "", "from none to 4 % is learned"


def few_right(then: float, now: float, held_out: tuple[float, ...] = (), **more: Curve) -> Evidence:
    """A run that is over, whose reward rose by form and by right answers that are few."""
    right = line(then, now, 0.002)
    told = {"groups/solved": right, "rewards/correctness/mean": right, "reward": line(0.044, 0.9, 0.02), **more}
    if held_out:
        told["eval_rewards/correctness/mean"] = Curve.of(range(0, 20 * len(held_out), 20), held_out)
    return healthy(curves=told, ended=True)


@pytest.mark.parametrize(("told", "said"), [
    (few_right(0.003, 0.03, (0.0, 0.0, 0.0)), "3"),  # as it was seen, on 36 prompts
    (few_right(0.003, 0.03), "3"),
    (few_right(0.0, 0.09, (0.0, 0.0, 0.01)), "8"),  # learned by heart
    (few_right(0.07, 0.08), "8"),
])  # fmt: skip
def test_a_rise_of_right_answers_to_next_to_none_is_not_called_learned(told: Evidence, said: str) -> None:
    report = examine(told)
    solved = told.curve("groups/solved")
    word = "Mostly" if solved.now - solved.start >= 0.02 else "Only"  # right answers rose, too, if by little
    assert report.headline.startswith(f"{word} “format” improved: reward went up from "), report.headline
    assert f", but {said}\u202f% of completions were right; " in report.headline
    assert outcome.verdict_on(report) == (f"{said}\u202f% right", "warning") and report.verdicts == ()
    assert report.follows and report.follows.why == " to see why hardly any answers are right"


def test_right_answers_that_are_few_but_rise_are_told_without_an_alarm() -> None:
    of_prompts = {"eval_groups/solved": Curve.of((0, 20, 40), (0.0, 0.01, 0.02))}
    told = examine(few_right(0.003, 0.03, (0.0, 0.0, 0.0), **of_prompts)).headline
    assert ", but 3\u202f% of completions were right, and 2\u202f% of those on held-out prompts; " in told
    before = {"eval_groups/solved": Curve.of((0,), (0.02,))}  # the untrained model’s
    assert ", but 3\u202f% of completions were right; " in examine(few_right(0.003, 0.03, **before)).headline
    report = examine(few_right(0.0, 0.09, (0.0, 0.04, 0.09)))
    assert report.headline.startswith("Learned, with 8\u202f% right at the end: reward went up from ")
    assert (report.level, report.verdicts, report.against) == (CALM, (), "")
    assert outcome.verdict_on(report) == ("8\u202f% right", CALM)
    going_on = examine(replace(few_right(0.003, 0.03, (0.0, 0.0)), ended=False))
    assert (going_on.level, going_on.against) == (CALM, ""), "it may yet rise"


def test_a_full_reward_in_which_right_answers_hardly_count_asks_for_their_weight_and_not_for_harder_prompts() -> None:
    full = {"reward": line(2.0, 3.0, 0.02), "groups/solved": line(0.5, 0.5, 0.02), "eval_reward": None}
    weights = (RewardSpec(name="format", weight=3.0), RewardSpec(name="correctness", weight=0.1))
    scores = {"format": Function(3.0, {"ok": 256}, 0.0, 1.0, 0.2, (0.0, 1.0)),
              "correctness": Function(0.1, {"ok": 256}, 0.0, 1.0, 0.5, (0.0, 1.0))}  # fmt: skip
    told = examine(healthy(curves=full, rewards=weights, functions=scores, high=3.1, ended=True)).follows
    assert told is not None and told.to == Change("weight 3 for correctness", {"rewards.1.weight": 3.0})


def test_what_did_not_rise_on_held_out_prompts_is_named_beside_what_rose() -> None:
    """As it was seen: “up, by format and correctness”, while held-out correctness went 0.56 → 0.69 → 0.58."""
    steps = (0, 20, 40)
    held_out = {
        "eval_rewards/format/mean": Curve.of(steps, (0.5, 0.7, 0.9)),
        "eval_rewards/correctness/mean": Curve.of(steps, (0.56, 0.69, 0.58)),
    }
    report = examine(healthy(curves=held_out))
    assert ", though on held-out prompts “correctness” is 0.58 (0.56 before); " in report.headline
    assert (report.verdicts, report.level) == ((), CALM)
    for now, before, is_denied in ((0.72, 0.66, False), (0.76, 0.68, False), (0.8, 0.9, True), (0.6, 0.58, True)):
        late = {"eval_rewards/correctness/mean": Curve.of((20, 40), (before, now)),
                "eval_rewards/format/mean": Curve.of((20, 40), (0.85, 0.91))}  # fmt: skip
        told = examine(healthy(curves=late, ended=True)).headline
        assert ("though on held-out" in told) is is_denied, (now, before, told)
        assert "“format” was 0.91" not in told, "it is as good there as in training, and rose"
    bears_it_out = held_out | {"eval_rewards/correctness/mean": Curve.of(steps, (0.56, 0.69, 0.7))}
    assert "held-out" not in examine(healthy(curves=bears_it_out)).headline


def test_nothing_is_said_of_right_where_scores_are_by_another_scale() -> None:
    mine = [RewardSpec(name="mine")]
    lengths = {"mine": Function(1.0, {"ok": 256}, -40.0, -2.0, 9.0, (-50.0, -3.0))}
    told = examine(healthy(curves=NONE_RIGHT, rewards=mine, functions=lengths, ended=True))
    assert "right" not in told.headline and told.against == "" and told.verdicts == ()


# ---- fewer right answers ----
MINE = [RewardSpec(name="format"), RewardSpec(name="mine")]
SCORES = Function(1.0, {"ok": 256}, 0.0, 1.0, 0.4, (0.0, 1.0))
STAYS = {"rewards/mine/mean": line(0.6, 0.6, 0.02), "groups/solved": line(0.3, 0.3, 0.02)}


def with_mine(**curves: Curve) -> Evidence:
    """Format rose and with it the total; a function of one's own that tells what is right stays, but for what is
    given."""
    told = STAYS | {name.replace("__", "/"): curve for name, curve in curves.items()}
    return healthy(curves=told | {"rewards/correctness/mean": None}, rewards=MINE, ended=True,
                   functions={"format": SCORES, "mine": SCORES})  # fmt: skip


def evaluated(*values: float) -> Curve:
    return Curve.of(range(0, 20 * len(values), 20), values)


def test_a_reward_that_rose_by_form_hides_no_fall_of_what_is_right() -> None:
    level = evaluated(0.875, 0.875)
    held_out = examine(with_mine(eval_reward=level, eval_groups__solved=evaluated(0.56, 0.19)))
    assert held_out.headline.startswith("Fewer right answers, only “format” improved: reward went up from 1.0")
    assert ", but the held-out share scored correct by “mine” fell from 56\u202f% to 19\u202f%; " in held_out.headline
    assert outcome.verdict_on(held_out) == ("Fewer right answers", "warning") == (held_out.against, held_out.level)
    heavier = Change("weight 2 for mine", {"rewards.1.weight": 2.0})
    assert held_out.follows == Next(heavier, ", as right answers became fewer"), "more steps would make it worse"
    trained = examine(with_mine(groups__solved=line(0.31, 0.15, 0.02), eval_reward=level))
    assert (
        ", but the share scored correct by “mine” fell from 29\u202f% to 16\u202f%; " in trained.headline
        and trained.against
    )
    assert trained.headline.startswith("Fewer right answers, only “format” improved")


# As it was seen: correctness fell in the first steps and stayed low, while the reward rose by format, on a green run.
FELL_SOON = (
    0.61, 0.45, 0.53, 0.52, 0.36, 0.45, 0.52, 0.28, 0.47, 0.55, 0.34, 0.33, 0.22, 0.34, 0.22, 0.22, 0.41, 0.12, 0.41,
    0.3, 0.28, 0.25, 0.22, 0.23, 0.36, 0.14, 0.3, 0.12, 0.23, 0.39, 0.22, 0.3, 0.36, 0.42, 0.27, 0.17, 0.56, 0.45,
    0.42, 0.38, 0.11, 0.39, 0.09, 0.41, 0.31, 0.28, 0.3, 0.27, 0.3, 0.23, 0.19, 0.31, 0.34, 0.44, 0.53, 0.19, 0.22,
    0.27, 0.31, 0.48,
)  # fmt: skip


def test_what_fell_soon_and_stayed_low_while_another_function_rose_is_the_verdict() -> None:
    fell = Curve.of(range(1, len(FELL_SOON) + 1), FELL_SOON)
    assert fell.direction(0.05) == 0, "its last ten steps alone are too few"
    held_out = {"eval_reward": evaluated(0.84, 1.42), "eval_groups/solved": evaluated(0.56, 0.45)}
    curves = {"groups/solved": fell, "rewards/correctness/mean": fell, "reward": line(1.0, 1.3, 0.05)} | held_out
    functions = {name: replace(SCORES) for name in ("format", "correctness")}
    report = examine(
        healthy(curves=curves, functions=functions, ended=True, held_out_prompts=16, training={"learning_rate": 3e-4})
    )
    assert report.headline.startswith("Fewer right answers, only “format” improved, with a suspicion: reward went up")
    assert ", but the share scored correct by “correctness” fell from 49\u202f% to 33\u202f% and held-out from 56" in (
        report.headline
    )
    assert "45\u202f% (16 prompts); " in report.headline and "held-out reward" not in report.headline
    assert outcome.verdict_on(report) == ("Fewer right answers", "warning") == (report.against, report.level)
    assert report.follows is None, "more steps would make it worse"
    (verdict,) = report.verdicts
    labels = ["Learning rate 0.0001", "Weight 2 for correctness", "Close the loophole in format"]
    assert [change.label for change in verdict.changes] == labels


def test_fewer_right_answers_are_told_of_a_reward_that_stayed_too() -> None:
    """What one function lost another made up for."""
    fewer = with_mine(groups__solved=line(0.5, 0.2, 0.02), reward=line(1.0, 1.0, 0.02))
    report = examine(fewer)
    assert report.headline.startswith("Fewer right answers, only “format” improved: reward was 1.00 at the end, about ")
    assert ", and the share scored correct by “mine” fell from 48\u202f% to 22\u202f%; " in report.headline
    assert (report.kind, report.level, report.against) == ("level", "warning", "Fewer right answers")
    alone = examine(replace(fewer, curves={**fewer.curves, "rewards/format/mean": line(0.5, 0.5, 0.02)}))
    assert alone.headline.startswith(f"{alone.against}: reward was 1.00 at the end, about as at the start (")


def test_held_out_reward_is_told_with_how_many_prompts_it_is_of() -> None:
    def told(*values: float, prompts: int = 4, ended: bool = True, **curves: Curve) -> str:
        held_out = {"eval_reward": evaluated(*values), **curves}
        return examine(healthy(curves=held_out, held_out_prompts=prompts, ended=ended)).headline

    assert "; held-out reward rose from 0.56 to 1.31 (4 prompts); " in told(0.56, 1.0, 1.31)
    late = {"eval_reward": Curve.of((20, 40, 60), (0.56, 1.0, 1.31))}
    assert "; held-out reward rose from 0.56 at step 20 to 1.31; " in examine(healthy(curves=late, ended=True)).headline
    assert "; held-out reward is up from 0.56 to 1.31; " in told(0.56, 1.31, prompts=0, ended=False)
    assert "; held-out reward went from 0.56 to 0.58 (1 prompt); " in told(0.56, 0.58, prompts=1)
    assert "; held-out reward was 0.56, as at first (1 prompt); " in told(0.56, 0.58, 0.5601, prompts=1)
    assert "held-out reward fell from 1.20 to 0.90 (4 prompts); " in told(1.2, 0.9)
    assert "held-out" not in told(0.56), "one is no course"
    level = told(0.56, 1.31, reward=line(1.0, 1.0, 0.1, steps=30))
    assert level.startswith("No clear progress in training, no problems detected: ")
    flat = line(1.0, 1.0, 0.02)
    assert told(0.56, 1.31, reward=flat).startswith("No clear progress in training"), "though it is no better"
    some = told(1.31, 0.56, reward=flat)
    assert (
        some.startswith("Some of it was learned: reward was ") and ", while “format” (0.51 to 0.91) and “corr" in some
    )
    stay = {f"rewards/{name}/mean": line(0.5, 0.5, 0.02) for name in ("format", "correctness")}
    assert told(1.31, 0.56, reward=flat, **stay).startswith("No clear progress: reward was ")


def test_a_headline_does_not_say_that_all_is_well_where_most_groups_taught_nothing() -> None:
    idle = {"groups/tied": line(0.5, 0.56), "groups/all_low": line(0.5, 0.56),
            "reward": line(1.0, 1.0, 0.1, steps=30)}  # fmt: skip
    told = examine(healthy(curves=idle, ended=True))
    words = "Some of it was learned, and more than half of the groups had no learning signal: "
    assert told.headline.startswith(words) and (told.level, told.verdicts) == (CALM, ())
    going_on = examine(healthy(curves=idle)).headline
    words = "Some of it is being learned, and more than half of the groups have no learning signal: "
    assert going_on.startswith(words)
    learned = idle | {"groups/all_low": line(0, 0), "groups/all_high": line(0.1, 0.56)}
    assert "taught nothing" not in examine(healthy(curves=learned, ended=True)).headline, "they are solved"


def test_a_run_that_learned_nothing_is_neither_alarming_nor_well() -> None:
    """As it was seen: reward 0.79 → 0.68, which may be noise, with a green square."""
    stay = dict.fromkeys(("rewards/format/mean", "rewards/correctness/mean", "groups/solved"))
    flat = {"reward": line(0.79, 0.7, 0.25, steps=20), "kl": line(0.0, 0.02, steps=20), **stay}
    told = examine(healthy(curves=flat, ended=True))
    assert told.headline.startswith("No clear progress, no problems detected: ")
    assert (told.verdicts, told.level) == ((), NEUTRAL) and outcome.verdict_on(told) == ("", NEUTRAL)
    assert examine(healthy(curves=flat)).level == CALM, "it may come yet"
    held_out = {"eval_reward": evaluated(0.56, 1.31)}
    assert examine(healthy(curves=flat | held_out, ended=True)).level == CALM, "held-out prompts are answered better"


def test_a_right_answer_more_or_less_in_a_small_evaluation_is_no_fall() -> None:
    for some in ((0.56, 0.5), (0.56, 0.44), (0.12, 0.06), (0.3, 0.5)):
        assert examine(with_mine(eval_groups__solved=evaluated(*some))).against == "", some
    assert examine(with_mine(eval_groups__solved=evaluated(0.2, 0.06))).against, "half of it and more"
    noise = [examine(with_mine(groups__solved=line(0.3, 0.3, 0.1, seed=seed))).against for seed in range(50)]
    assert noise == [""] * 50


def test_a_fall_on_another_scale_is_told_as_the_function_gives_it() -> None:
    """Partial credit that never comes to 1: then no share is right, and the function's mean stands for it."""
    never = {"groups__solved": line(0, 0), "rewards__mine__mean": line(0.6, 0.3, 0.02)}
    told = examine(with_mine(**never, eval_rewards__mine__mean=evaluated(0.56, 0.19)))
    assert "“mine” fell from 0.5" in told.headline and "and held-out from 0.56 to 0.19; " in told.headline


def test_what_was_measured_before_the_first_step_counts(tmp_path: Path) -> None:
    """An evaluation before step 1 and one at the end are a course."""
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "mine": 1.0})
    for step in range(13):
        metrics: dict[str, float | None] = {"reward": 0.7 + step / 40, "groups/solved": 0.3} if step else {}
        if step in (0, 12):
            metrics |= {"eval_reward": 0.875, "eval_groups/solved": 0.19 if step else 0.56}
        writer.commit(step, metrics=metrics, groups=[], events=[])
    writer.close()
    told = gather(tmp_path / "run.db", RunSpec(name="x", rewards=MINE))
    assert told.curve("eval_groups/solved").values == (0.56, 0.19) and len(told.reward) == 12
    assert examine(replace(told, ended=True)).against == "Fewer right answers"


# ---- by which functions, and what is left ----
def test_a_reward_that_rose_says_by_which_functions() -> None:
    told = examine(healthy(ended=True))
    assert told.headline.startswith("Learned, no problems detected: reward went up from 1.0")
    assert " at the end, by “format” (0.51 to 0.91) and “correctness” (0.49 to 0.72); " in told.headline
    assert " now, by “format” (0.51 to 0.91); " in examine(with_format_alone()).headline
    alone = healthy(rewards=[RewardSpec(name="mine")])
    assert ", by “" not in examine(replace(alone, functions={"mine": SCORES})).headline, "there is one"


# As it was seen: format rose, and what is right went 0.397 → 0.405.
RIGHT_STAYS = line(0.397, 0.405, 0.03)


def test_a_reward_that_rose_by_form_alone_says_that_right_answers_hardly_moved() -> None:
    report = examine(with_mine(groups__solved=RIGHT_STAYS))
    assert report.headline.startswith("Learned, but answers were not right more often: reward went up from 1.0")
    words = (
        ", by “format” (0.51 to 0.91); the share scored correct by “mine” hardly moved, from 39\u202f% to 40\u202f%; "
    )
    assert words in report.headline
    assert (report.level, report.verdicts, report.against) == (CALM, (), ""), "it is no alarm"
    assert outcome.verdict_on(report) == ("Right answers hardly moved", CALM), "and stands beside the state everywhere"
    assert report.follows is not None and isinstance(report.follows.to, Change)
    assert (report.follows.to.label, report.follows.why) == ("weight 2 for mine", ", as right answers hardly moved")
    assert report.follows.to.settings == {"rewards.1.weight": 2.0}
    going_on = examine(replace(with_mine(groups__solved=RIGHT_STAYS), ended=False))
    assert going_on.headline.startswith("Learning, but answers are not right more often: reward is up ")
    heavy = with_mine(groups__solved=RIGHT_STAYS)
    heavy = replace(heavy, functions={**heavy.functions, "mine": replace(SCORES, weight=2.0)})
    read = examine(heavy).follows
    assert read and (read.to.label, read.why) == ("read its groups", " to see why right answers hardly moved")


def test_a_held_out_fall_of_right_answers_that_training_bears_out_is_a_warning() -> None:
    """As it was seen: held-out reward 0.84 → 1.38 by form, held-out correctness 0.56 → 0.44, and ever fewer groups with
    one that is right, on a green run."""
    held_out = {"eval_reward": evaluated(0.84, 1.38), "eval_groups__solved": evaluated(0.5625, 0.4375)}
    fewer = line(1.05, 0.75, 0.08)
    report = examine(with_mine(groups__solved=RIGHT_STAYS, groups__any_solved=fewer, **held_out))
    assert report.headline.startswith("Fewer right answers, only “format” improved: reward went up from 1.0")
    words = ", but the held-out share scored correct by “mine” fell from 56\u202f% to 44\u202f%"
    assert words in report.headline and "and the share of groups with ≥ 1 solved fell from 10" in report.headline
    assert outcome.verdict_on(report) == ("Fewer right answers", "warning") == (report.against, report.level)
    alone = with_mine(groups__solved=RIGHT_STAYS, groups__any_solved=fewer)
    assert examine(alone).against == "", "more prompts that are always solved may be why"


def test_what_may_be_chance_of_right_answers_is_said_so_and_what_is_nearly_all_right_stays_well() -> None:
    """So that one step more or less changes a few words, and not what is said."""
    noisy = Curve.of(
        range(1, 61), [0.5] * 5 + [0.3, 0.7] * 22 + [0.65, 0.5, 0.55, 0.7, 0.45, 0.6, 0.5, 0.65, 0.6, 0.5, 0.6]
    )
    report = examine(with_mine(groups__solved=noisy))
    assert report.headline.startswith("Learned, no problems detected: ")
    assert (
        "; the share scored correct by “mine” went from 50\u202f% to 57\u202f%, which may be chance; "
        in report.headline
    )
    assert outcome.verdict_on(report) == ("", "")
    top = examine(with_mine(groups__solved=line(0.96, 0.97)))
    assert "correct" not in top.headline and not top.aside
    held_out = examine(with_mine(groups__solved=RIGHT_STAYS, eval_groups__solved=evaluated(0.3, 0.6)))
    assert held_out.headline.startswith("Learned, no problems detected: "), "held-out prompts are solved more often"


def test_a_function_that_clearly_rises_is_no_run_that_does_not_learn() -> None:
    """As it was seen after eleven steps: format went from 0.23 to 0.55, and the total might have been noise."""
    rng = random.Random(1)
    total = Curve.of(range(1, 12), [1.0 + 0.02 * step + rng.gauss(0, 0.2) for step in range(11)])
    early = {"reward": total, "kl": line(0.0, 1e-6, steps=11), "rewards/format/mean": line(0.2, 0.56, 0.02, steps=11)}
    stays = {
        "rewards/correctness/mean": line(0.5, 0.5, 0.05, steps=11),
        "groups/solved": line(0.5, 0.5, 0.05, steps=11),
    }
    report = examine(healthy(curves=early | stays, step=11, training={"learning_rate": 1e-6}))
    assert (report.kind, report.verdicts, report.level) == ("level", (), CALM)
    assert report.headline.startswith("Some of it is being learned, no problems detected: reward ")
    assert ", while “format” (0.2" in report.headline
    without = early | stays | {"rewards/format/mean": line(0.4, 0.4, 0.02, steps=11)}
    low = examine(healthy(curves=without, step=11, training={"learning_rate": 1e-6}))
    assert [one.key for one in low.verdicts] == ["learning_rate_low"]
    assert low.headline.startswith("No clear progress so far: ")


NOISE = {"reward": line(1.46, 1.63, 0.25, steps=25)}
STAY = {f"rewards/{name}/mean": line(0.5, 0.5, 0.05, steps=25) for name in ("format", "correctness")}


@pytest.mark.parametrize(
    ("curves", "words", "now"),
    [
        ({}, "Learned", "Learning"),
        ({"reward": line(1.7, 0.9, 0.08)}, "Got worse", "Getting worse"),
        (NOISE, "Some of it was learned", "Some of it is being learned"),
        (NOISE | STAY, "No clear progress", "No clear progress so far"),
        (NOISE | STAY | {"eval_reward": evaluated(0.56, 1.31)}, "No clear progress in training",
         "No clear progress in training so far"),
    ],
)  # fmt: skip
def test_a_headline_s_first_words_depend_on_how_it_went_alone(curves: dict[str, Curve], words: str, now: str) -> None:
    """Of two runs that went alike, “Some of it was learned” was said of the one with a problem, and of the other
    “Neither better nor worse”."""
    for first, ended in ((words, True), (now, False)):
        for more in ({}, {"system/memory_share": line(0.97, 0.97)}, {"step_time": line(40, 40)}):
            report = examine(healthy(curves=curves | more, ended=ended))
            assert not more or any(one.key in ("memory", "slow") for one in report.verdicts)
            assert report.opening.rstrip(":").partition(",")[0] == first, report.headline


def test_the_headline_calls_no_rise_what_its_verdict_calls_as_at_the_start() -> None:
    """As it was read: “Learned, with a warning: it went up from 1.45 to 1.49”, and below “about as at the start”."""
    stayed = {f"rewards/{name}/mean": line(0.5, 0.5) for name in ("format", "correctness")}
    curves = {"reward": line(1.45, 1.49), "kl": line(0, 2e-4)} | stayed
    report = examine(healthy(curves=curves, training={"learning_rate": 1e-7}, ended=True))
    assert [one.key for one in report.verdicts] == ["learning_rate_low"]
    assert report.verdicts[0].sentence.startswith("The reward was 1.49 at the end, about as at the start (1.45), and")
    assert report.headline.startswith("No clear progress: reward was 1.49 at the end, about as at the start (1.45)")


def test_a_few_points_more_of_right_answers_are_called_chance_and_not_none() -> None:
    """As it was read: “answers were not right more often”, from 60 % to 65 %."""
    report = examine(with_mine(groups__solved=line(0.60, 0.65, 0.06)))
    assert report.headline.startswith("Learned, no problems detected: ") and not report.aside
    assert ", which may be chance; " in report.headline


def with_format_alone() -> Evidence:
    return replace(with_mine(), ended=False)


def test_prompts_that_were_never_solved_are_told_of_a_run_that_is_over() -> None:
    told = examine(healthy(ended=True, unsolved=Unsolved(12, 36, 4, "correctness")))
    (verdict,) = [one for one in told.calm if one.key == "unsolved_prompts"]
    assert verdict.title == "12 of the 36 prompts that came 4 times or more were never solved" and told.level == CALM
    few = [Unsolved(2, 4, 4, "correctness"), Unsolved(3, 36, 4, "correctness"), None]
    assert not [one for some in few for one in examine(healthy(unsolved=some)).calm if one.key == "unsolved_prompts"]


@pytest.mark.parametrize(("prompts", "steps", "title"), [
    (2, 30, "It trained on only 2 prompts"), (1, 30, "It trained on only 1 prompt"),
    (7, 30, "It trained on only 7 prompts"), (8, 30, ""), (2, 19, ""),
])  # fmt: skip
def test_few_prompts_are_told_of_where_they_come_for_long(
    registry_home: Path, prompts: int, steps: int, title: str
) -> None:
    path = paths.run_folder(made_run("few", steps, groups=4, size=2, prompts=prompts)).db
    told = examine(replace(gather(path, None), ended=True)).calm
    assert [one.title for one in told if one.key == "few_prompts"] == ([title] if title else [])


@pytest.mark.parametrize(("curves", "label", "why"), [
    ({"reward": line(1.0, 1.7, 0.01)}, "more steps", ", as the reward was still rising"),
    ({"reward": line(1.0, 1.7, 0.01), "eval_reward": evaluated(0.83, 1.53, 1.78)}, "more steps",
     ", as the reward was still rising"),
    ({"reward": line(1.0, 1.7, 0.01), "eval_reward": Curve.of((0, 20, 30), (0.83, 1.78, 1.53))}, "more steps",
     ", as the reward was still rising; held-out reward was highest at step 20 (1.78)"),
    ({"reward": line(1.0, 1.95, 0.01)}, "harder prompts", ", as there is little left to gain on these"),
    ({"reward": drawn(lambda share: min(1.6, 1.0 + share))}, "read its groups", " to see what still goes wrong"),
])  # fmt: skip
def test_a_run_that_ended_well_says_what_to_do_next(curves: dict[str, Curve], label: str, why: str) -> None:
    report = examine(healthy(curves=curves, ended=True))
    assert report.headline.startswith("Learned, no problems detected: ") and report.follows is not None
    assert (report.follows.to.label, report.follows.why) == (label, why)
    assert examine(healthy(curves=curves)).follows is None


@pytest.mark.parametrize(("prompts", "more"), [
    (0, ""), (1, "; 1 held-out prompt is few to judge by"), (4, "; 4 held-out prompts are few to judge by"), (16, ""),
])  # fmt: skip
def test_harder_prompts_are_not_advised_on_few_held_out_ones_without_saying_so(prompts: int, more: str) -> None:
    report = examine(healthy(curves={"reward": line(1.0, 1.95, 0.01)}, ended=True, held_out_prompts=prompts))
    assert report.follows is not None and report.follows.why == f", as there is little left to gain on these{more}"


def test_right_answers_that_hardly_moved_stand_beside_a_state_only_after_as_many_steps_as_a_flat_reward_takes() -> None:
    """As it was seen: a healthy run that was stopped at step 21 of 60, from 56 % right to 57.5 %."""
    for steps, words in ((21, ""), (39, ""), (40, "Right answers hardly moved")):
        stayed = {
            "reward": line(1.0, 1.7, 0.03, steps=steps), "rewards/format/mean": line(0.5, 0.95, 0.03, steps=steps),
            "rewards/mine/mean": line(0.56, 0.575, 0.03, steps=steps),
            "groups/solved": line(0.56, 0.575, 0.03, steps=steps),
        }  # fmt: skip
        told = with_mine()
        report = examine(replace(told, curves={**told.curves, **stayed}, step=steps))
        assert (report.kind, report.level) == ("up", CALM), report
        assert outcome.verdict_on(report)[0] == words, steps
