"""What is said of how a run went: every number in a sentence is the figure that it is called, whatever was recorded,
and the run's page, Runs, Compare and the command tell the same of it."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.app.core.format import number
from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.compare import finals
from groupwise.storage.analysis.doctor import evidence_reader, gradient, length, rates, sampling
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.examine import WAIT, Report, examine
from groupwise.storage.analysis.doctor.verdict import CALM, PROBLEM, WARNING
from groupwise.storage.analysis.doctor.words import percent, percent_without, short_number, write_figure
from groupwise.storage.home import paths
from groupwise.storage.record import lineage, metrics, recent, record_check, run_files, states
from groupwise.storage.registry import registry
from tests.support.doctor import healthy, scored
from tests.support.made_runs import made_run

NUMBER = r"(−?[\d.,]+(?:e-?\d+)?)"
ROSE = re.compile(
    rf"reward (is up|went up|is down|fell) from {NUMBER} (at the start|at its best|at its first step) to {NUMBER} "
)
STAYED = re.compile(rf"reward (?:is|was) {NUMBER} (?:now|at the end), about as at the start \({NUMBER}\)")
NOISY = re.compile(rf"reward was {NUMBER} at the start and (?:is )?{NUMBER} (?:now|at the end), which may be noise")


FOUR = [(1, 1.0), (2, 2.0), (3, 3.0), (4, 9.0)]


def plain_start(values: list[float]) -> float:
    """The mean of the first five, or of the first half of fewer than ten: written again, for the test."""
    return _mean(values[: 5 if len(values) >= 10 else max(1, len(values) // 2)])


def plain_best(values: list[float]) -> float:
    size = _size(values)
    return max(plain_start(values), *(_mean(values[at : at + size]) for at in range(len(values) - size + 1)))


def plain_now(values: list[float]) -> float:
    return _mean(values[-_size(values) :])


def _size(values: list[float]) -> int:
    return 10 if len(values) >= 20 else max(1, len(values) // 2)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def evidence_of(values: list[float], **changed: Any) -> Evidence:
    steps = range(1, len(values) + 1)
    return healthy(curves={"reward": Curve.of(steps, values)}, low=min(values), high=max(values), **changed)


# ---- any reward at all ----
@st.composite
def rewards(draw: st.DrawFn) -> list[float]:
    """A run whose reward goes from height to height, with noise: one that learns, collapses, stays, or all of these."""
    heights = draw(st.lists(st.floats(-2, 2), min_size=1, max_size=4))
    noise = draw(st.sampled_from([0.0, 0.02, 0.2]))
    wobble = draw(st.lists(st.floats(-1, 1), min_size=8, max_size=8))
    each = draw(st.integers(1, 40))
    return [height + noise * wobble[(n * 5 + at) % 8] for at, height in enumerate(heights) for n in range(each)]


@settings(max_examples=300, deadline=None)
@given(rewards(), st.booleans())
def test_every_number_of_the_headline_is_the_figure_that_it_is_called(values: list[float], ended: bool) -> None:
    report = examine(evidence_of(values, ended=ended))
    if len(values) < WAIT:
        assert report.kind == "waiting" and report.steps == 0
        return
    start, best, now = plain_start(values), plain_best(values), plain_now(values)
    rose, stayed = ROSE.search(report.headline), STAYED.search(report.headline) or NOISY.search(report.headline)
    assert (rose is None) != (stayed is None), report.headline
    if rose:
        way, from_what, when, to_what = rose.groups()
        height = {"at the start": start, "at its best": best, "at its first step": values[0]}[when]
        assert (from_what, to_what) == (write_figure(height), write_figure(now))
        assert (way in ("is up", "went up"), report.kind) == ((True, "up") if now > height else (False, "down"))
    if stayed:
        told = stayed.groups()[::-1] if NOISY.search(report.headline) else stayed.groups()
        assert told == (write_figure(now), write_figure(start))
        assert report.kind == "level"
        apart = abs(now - start) > rates.STILL * (max(values) - min(values) or 1.0)
        apart = apart and write_figure(now) != write_figure(start)  # which would be read as alike
        assert bool(NOISY.search(report.headline)) == apart, "alike is said of what is alike"
        assert not rates.fall(evidence_of(values)), "and never of a run that fell"
    assert report.steps == _size(values)


@settings(max_examples=200, deadline=None)
@given(rewards())
def test_the_verdict_the_headline_and_the_words_beside_the_state_agree(values: list[float]) -> None:
    report = examine(evidence_of(values, ended=True))
    fell = [verdict for verdict in report.verdicts if verdict.key == "learning_rate_high"]
    said, level = outcome.verdict_on(report)
    assert (report.kind == "down") == (said == "The reward fell") == (": reward fell from " in report.headline)
    if fell:
        assert report.kind == "down" and report.headline.startswith("Got worse: reward fell from ")
        named = re.search(
            rf"The reward was {NUMBER} (at its best|at its first step)(?:, fell to [^ ]+ at step \d+,)? "
            rf"and was {NUMBER} at the end",
            fell[0].sentence,
        )
        in_headline = ROSE.search(report.headline)
        assert named and in_headline and named.groups() == in_headline.groups()[1:]
    if said:
        assert level == report.level, "one severity, and so one colour, wherever it stands"


def test_a_run_that_rose_and_collapsed_to_where_it_began_is_not_as_at_the_start() -> None:
    """As it was seen: “about as it was at the start (0)” above “was 0.84 at its best and is 0 now”."""
    values = [0.0] * 10 + [0.84] * 20 + [0.0] * 15
    report = examine(evidence_of(values, ended=True))
    assert report.headline.startswith("Got worse: reward fell from 0.84 at its best to 0 at the end; ")
    assert (
        "The reward was 0.84 at its best, fell to 0 at step 31, and was 0 at the end, while KL"
        in report.verdicts[0].sentence
    )
    assert (report.level, outcome.verdict_on(report)) == (PROBLEM, ("The reward fell", PROBLEM))


def test_prompts_that_were_solved_in_between_are_not_called_too_hard() -> None:
    values = [0.0] * 10 + [0.84] * 20 + [0.0] * 15
    tied = Curve.of(range(1, 46), [float(value == 0) for value in values])
    solved = Curve.of(range(1, 46), [float(value > 0) for value in values])
    zeros = {"groups/tied": tied, "groups/all_low": tied, "groups/solved": solved, "groups/any_solved": solved}
    run = replace(evidence_of(values), curves={**evidence_of(values).curves, **zeros})
    assert [verdict.key for verdict in examine(run).verdicts] == ["learning_rate_high"]


# ---- runs that are over, and too short ----
@pytest.mark.parametrize(("steps", "words"), [
    (0, "It ended, and nothing was logged, so whether it learned cannot be said."),
    (1, "It ended after 1 logged step: too short for diagnostics, which need 10."),
    (9, "It ended after 9 logged steps: too short for diagnostics, which need 10."),
])  # fmt: skip
def test_a_run_that_ended_too_soon_is_told_of_as_over(steps: int, words: str) -> None:
    few = Curve.of(range(1, steps + 1), [0.5] * steps)
    report = examine(Evidence(curves={"reward": few}, ended=True))
    assert (report.headline, report.kind, report.level) == (words, "waiting", "waiting")
    unscored = examine(Evidence(step=20, ended=True))
    assert unscored.headline == "It ended, and no reward was logged, so whether it learned cannot be said."
    evaluated = examine(Evidence(held_out_before=0.84, ended=True))
    assert evaluated.headline == (
        "It ended before its first step, so whether it learned cannot be said. Held-out reward before training: 0.84."
    )
    going_on = examine(Evidence(curves={"reward": few}))
    assert going_on.headline == f"Diagnostics need 10 steps ({steps}/10)."
    short = examine(Evidence(curves={"reward": few}, total=9))
    assert short.headline == "Diagnostics need 10 logged steps: too few will come, it has 9."
    seldom = Evidence(curves={"reward": few}, total=80, training={"logging_steps": 10})
    never = "Diagnostics need 10 logged steps: too few will come, as only one of 10 is logged (logging_steps)."
    unknown = "Diagnostics need 10 steps (0/10)."  # before the first log, whether groups tell of the steps between
    assert examine(seldom).headline == (never if steps else unknown)
    broken = examine(Evidence(curves={"reward": few}, not_finite={"loss": 1}, ended=True))
    if steps:
        assert broken.headline.endswith(". It ended before trends could be seen: they need 10 steps.")
        assert broken.headline.startswith("A problem after ")


def test_a_stage_that_just_began_is_what_has_too_few_steps() -> None:
    early = Evidence(curves={"reward": Curve.of(range(31, 34), [0.5] * 3)}, since=30)
    assert examine(early).headline == "Diagnostics of this stage need 10 steps (3/10)."


def test_no_sentence_of_a_run_that_is_over_says_now_or_so_far() -> None:
    from tests.support.doctor_cases import SICK

    for evidence, _, _ in SICK.values():
        report = examine(replace(evidence, ended=True))
        for said in (report.headline, *(verdict.sentence for verdict in report.verdicts)):
            assert not re.search(r"\b(now|so far)\b", said), said


def test_a_fall_without_a_verdict_is_no_calm_headline() -> None:
    report = Report("down", WARNING, "", (), (), 10, fell="The reward fell")
    assert outcome.verdict_on(report) == ("The reward fell", WARNING)
    slow = [2.0 - n / 100 for n in range(60)]
    moving = [one.model_copy(update={"schedule": [[0, 1.0], [60, 0.5]]}) for one in healthy().rewards]
    told = examine(evidence_of(slow, rewards=moving))
    assert (told.kind, told.level) == ("down", WARNING) and told.headline.startswith("Getting worse: reward is down")
    assert examine(healthy()).level == CALM


# ---- the same from a record, whoever reads it ----
@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("steps", [4, 15, 60, 700])
def test_every_reader_of_a_record_says_the_same_now(steps: int) -> None:
    run_id = made_run("read by all", steps, groups=1)
    run = registry.get_run(run_id)
    assert run is not None
    folder = paths.run_folder(run_id)
    curve = evidence_reader.gather(folder.db, run_files.spec_of(folder)).reward
    with record_check.read_record(folder.db) as record:
        key = record.execute("SELECT id FROM metric_key WHERE name = 'reward'").fetchone()[0]
        logged = [value for (value,) in record.execute("SELECT value FROM metric WHERE key = ? ORDER BY step", [key])]
        means = finals.last_means(record)
        row = finals.final_values(record)["reward"]
    came_to = outcome.read_outcome(run, outcome.published_surroundings())
    now = pytest.approx(plain_now(logged))
    assert [
        curve.now,
        means["reward"],
        row,
        metrics.progress(folder.db)["reward"],
        run.reward,
        came_to.metrics["reward"],
    ] == [now] * 6
    assert curve.start == pytest.approx(plain_start(logged))
    assert curve.best >= max(curve.start, curve.now)
    if steps <= evidence_reader.RAW_STEPS:
        assert curve.best == pytest.approx(plain_best(logged))
    assert metrics.step_seconds(folder.db) == pytest.approx(means["step_time"])


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(("steps", "every"), [(3, 3), (60, 10), (65, 10), (400, 10), (3000, 10), (3000, 25)])
def test_figures_of_each_step_are_of_the_logged_steps_that_trls_are_of(steps: int, every: int) -> None:
    """“a step 20 s” of three stood beside “generation 7.5 s” of the last; the share of tied groups was of the last ten
    steps, and the reward beside it of the last ten logs."""
    run_id = made_run("logged seldom", steps, groups=2, every=every)
    folder = paths.run_folder(run_id)
    evidence = evidence_reader.gather(folder.db, run_files.spec_of(folder))
    with record_check.read_record(folder.db) as record:
        parts = lineage.stretches(record)
        assert recent.log_interval(record, parts) == every
        means, row = finals.last_means(record), finals.final_values(record)
        for name, told in (("groups/tied", row["tied"]), ("groups/solved", row["solved"])):
            values = [value for (value,) in record.execute(
                "SELECT value FROM metric JOIN metric_key ON id = key WHERE name = ? ORDER BY step", [name]
            )]  # fmt: skip
            assert len(values) == steps
            size = every * (10 if steps // every >= 20 else max(1, steps // every // 2))
            now = pytest.approx(_mean(values[: steps - steps % every][-size:]))  # as far as TRL has logged
            assert [evidence.curves[name].now, means[name], told] == [now] * 3
            first = every * min(-(-5 // every), max(1, steps // every // 2))
            assert evidence.curves[name].start == pytest.approx(_mean(values[:first]))
            told = [(course.began, course.ended, course.begin, course.count)
                    for course in (evidence.curves[name].course, evidence.reward.course)]  # fmt: skip
            assert told[0] == told[1]


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(("steps", "every"), [(34, 10), (7, 5), (213, 10), (2999, 10)])
def test_a_last_log_of_few_steps_counts_for_few(steps: int, every: int) -> None:
    """As it was seen of a run that was stopped: right answers “now” were of the steps 25–34, and the reward of 21–34,
    of which 31–34 counted as much as the ten before them."""
    logs = [*range(every, steps + 1, every), steps]
    run_id = made_run(
        "stopped between two logs", steps, groups=2, every=every, state=states.STOPPED,
        metrics=lambda step: {"reward": 1.0 - step / 4000, "kl": step / 100},
    )  # fmt: skip
    folder = paths.run_folder(run_id)
    evidence = evidence_reader.gather(folder.db, run_files.spec_of(folder))
    count, begin = 10 if len(logs) >= 20 else len(logs) // 2, 1
    after, until = logs[-1 - count], logs[begin - 1]
    with record_check.read_record(folder.db) as record:
        means, row = finals.last_means(record), finals.final_values(record)
        sql = "SELECT name, step, value FROM metric JOIN metric_key ON id = key ORDER BY step"
        rows = record.execute(sql).fetchall()
    for name in ("reward", "kl", "groups/solved", "groups/tied"):
        known = {step: value for told, step, value in rows if told == name}
        each = [known.get(step) or known[min(at for at in known if at >= step)] for step in range(1, steps + 1)]
        if name.startswith("groups"):
            each = [known[step] for step in range(1, steps + 1)]
        course = evidence.curves[name].course
        assert (course.began, course.ended) == ((1, until), (after + 1, steps))
        assert [course.now, means[name]] == [pytest.approx(_mean(each[after:]))] * 2
        assert course.start == pytest.approx(_mean(each[:until]))
    assert (row["reward"], row["solved"]) == pytest.approx((evidence.reward.now, evidence.curves["groups/solved"].now))
    assert metrics.progress(folder.db)["reward"] == pytest.approx(evidence.reward.now)


@st.composite
def logged_runs(draw: st.DrawFn) -> tuple[list[int], int]:
    """At which steps TRL logged, and up to which step a run is."""
    gaps = draw(st.lists(st.integers(1, 12), min_size=2, max_size=40))
    logs = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    return logs, logs[-1] + draw(st.integers(0, 11))


@settings(max_examples=200, deadline=None)
@given(logged_runs(), st.integers(0, 2**32))
def test_the_mean_of_logs_is_that_of_the_steps_that_they_tell_of(run: tuple[list[int], int], seed: int) -> None:
    logs, steps = run
    rng = random.Random(seed)
    each = [(step, rng.random()) for step in range(1, steps + 1)]
    of_logs = [(end, _mean([value for _, value in each[begin:end]])) for begin, end in pairwise([0, *logs])]
    courses = [recent.course_of(points, (0, *logs)) for points in (each, of_logs)]
    for told in ("start", "best", "now", "begin", "count", "began", "ended"):
        assert getattr(courses[0], told) == pytest.approx(getattr(courses[1], told))
    ends = [recent.mean_of_recent(points, (0, *logs)[-21:]) for points in (each, of_logs)]
    assert ends == pytest.approx([courses[0].now] * 2)


def test_a_logged_step_may_be_of_two_and_a_half_generations() -> None:
    """Every second step generates (num_iterations), every fifth is logged: four logs tell of ten of them."""
    assert recent.values_a_log(range(1, 40, 2), 5) == 2.5
    points, logs = [(step, float(step)) for step in range(1, 40, 2)], tuple(range(0, 41, 5))
    assert recent.mean_of_recent(points, logs) == _mean(list(range(21, 40, 2)))
    course = recent.course_of(points, logs)
    assert (course.count, course.now, course.ended) == (4, 30.0, (21, 40))


def test_what_comes_more_seldom_than_logs_is_told_of_by_its_own_values() -> None:
    logs = tuple(range(0, 101, 10))
    seldom = [(step, float(step)) for step in range(25, 101, 25)]
    assert recent.mean_of_recent(seldom, logs) == _mean([75, 100])
    ceased = [(step, float(step)) for step in range(1, 31)]
    assert recent.mean_of_recent(ceased, logs) == _mean(list(range(21, 31))), "none in the last logs"
    holes = [(10, 1.0), (20, 1.0), (30, 1.0), (40, 1.0), (50, 1.0), (70, 0.5), (80, 0.0), (90, 0.0), (100, 0.0)]
    assert recent.mean_of_recent(holes, logs) == 0.125, "one after a log without a number counts for its own steps"


def test_what_it_was_at_the_start_does_not_change_while_it_trains() -> None:
    values = [0.1 * n for n in range(40)]
    courses = [recent.course_of(list(enumerate(values[:count], 1))) for count in range(WAIT, 40)]
    assert [course.start for course in courses] == pytest.approx([0.2] * len(courses))
    assert {course.begin for course in courses} == {5}


@pytest.mark.parametrize(("every", "begin"), [(1, 5), (2, 3), (3, 2), (5, 1), (10, 1)])
def test_the_start_is_of_the_fewest_logs_that_cover_five_steps_and_stays(every: int, begin: int) -> None:
    """As it was seen of a run that logs every 10 steps: 1.16 at step 53 and 1.29 at its end, by a curve from 1.0."""
    for own in (False, True):
        courses = []
        for count in range(2 * begin, 40):
            logs = tuple(range(0, (count + 1) * every, every))
            courses.append(recent.course_of([(step, step / 10) for step in logs[1:]], () if own else logs))
        assert {(course.begin, course.began) for course in courses} == {(begin, (1, begin * every))}
        assert len({course.start for course in courses}) == 1
    assert recent.opening_of((0, 1, 10, 20, 30)).until == 10, "the first step is logged by itself"
    assert recent.opening_of((0, 1)).count == recent.opening_of((0, 1, 2)).count == 1, "at most half"


def test_what_no_mean_says_anything_of_is_its_last_value() -> None:
    set_anew = ("learning_rate", "beta", "kl/target", "rewards/format/weight")
    for name in ("eval_reward", "num_tokens", "time/elapsed", *set_anew):
        assert recent.now_of(name, FOUR) == 9.0
    assert recent.now_of("reward", FOUR) == 6.0
    assert recent.mean_of_recent([]) is None and recent.course_of([]) == recent.Course()


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e12, 1e12))
def test_a_figure_in_a_sentence_is_written_as_on_a_chart(value: float) -> None:
    """What is no figure of a chart, such as a threshold, is rounded alike, and has no zeros at its end."""
    shown = number(value)
    assert write_figure(value) == shown
    bare = shown.replace(".0e", "e") if "e" in shown or "." not in shown else shown.rstrip("0").rstrip(".")
    assert short_number(value) == bare


def test_kl_and_reward_are_written_in_a_verdict_as_on_the_chart_beside() -> None:
    """“Held at 0.00082” stood beside the chart's “8.2e-4”, and “reward was 0.5” beside 0.50."""
    held = Curve.of(range(1, 61), [0.00082] * 60)
    level = Curve.of(range(1, 61), [0.5] * 60)
    told = examine(healthy(curves={"kl": held, "reward": level}, training={"beta": 5.0}, ended=True))
    [sentence] = [one.sentence for one in told.verdicts if one.key == "beta_high"]
    assert sentence.startswith("KL was held at 8.2e-4, and the reward was 0.50 at the end, ")


# ---- shares of groups, in verdicts as in the headline and the box ----
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=10, max_size=60), st.sampled_from([(1.0, 0.0), (1.0, 1.0)]))
def test_the_ties_of_small_groups_are_those_of_the_headline(tied: list[int], lately: tuple[float, float]) -> None:
    shares = [count / 40 for count in tied]
    run = healthy(
        curves={"groups/tied": Curve.of(range(1, len(shares) + 1), shares)},
        last=scored(groups=16, correctness=lately), first=[], training={"num_generations": 2}, ended=True,
    )  # fmt: skip
    verdict = sampling.group_small(run)
    assert verdict is not None
    expected = f"{percent(plain_now(shares))} of the groups of the last {_size(shares)} logged step"
    assert expected in verdict.sentence
    bearing = re.search(r"([<>]?\d+)\u202f% of groups had a learning signal", examine(run).headline)
    both = (bearing[1], percent(plain_now(shares))[:-2]) if bearing else ()
    assert sum(int(one.replace("<1", "0").replace(">99", "100")) for one in both) == 100, "together they are all groups"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(26, 40), min_size=10, max_size=60), st.sampled_from(["groups/all_low", "groups/spread"]))
def test_other_shares_in_verdicts_are_of_the_last_logged_steps_too(counts: list[int], with_it: str) -> None:
    curve = Curve.of(range(1, len(counts) + 1), [count / 40 for count in counts])
    share, steps = percent(curve.now), f"the last {_size(list(curve.values))} logged step"
    run = healthy(curves={"groups/tied": curve, "completions/clipped_ratio": curve, with_it: curve})
    for verdict in (gradient.no_gradient(run), length.truncation(run)):
        assert verdict is None or f"{share} of the " in verdict.sentence and steps in verdict.sentence
    assert length.truncation(run)


def test_what_a_share_leaves_is_what_a_chart_of_it_says() -> None:
    """2 of 80 groups: one screen said 2 % of what it left, and 3 % and 98 % of itself."""
    for n in range(81):
        tied, others = percent(n / 80), percent_without(n / 80)
        assert sum(int(one.removesuffix("\u202f%")) for one in (tied, others)) == 100
    assert (percent(2 / 80), percent_without(2 / 80)) == ("3\u202f%", "97\u202f%")
    assert [percent_without(share) for share in (0.003, 0.995, 1.0)] == [">99\u202f%", "<1\u202f%", "0\u202f%"]


def test_a_share_is_in_whole_percent_everywhere_and_little_is_not_nothing() -> None:
    """“22.5 %” stood among whole percents."""
    shares = {"13": 0.125, "18": 0.175, "78": (0.7796875 + 0.7703125) / 2, "23": 9 / 40, "<1": 0.003, ">99": 0.997,
              "0": 0.0, "99": 0.99, "100": 1.0}  # fmt: skip
    assert [percent(share) for share in shares.values()] == [f"{said}\u202f%" for said in shares]
    assert (percent(0.005), percent(0.995)) == ("1\u202f%", ">99\u202f%")


def test_a_share_is_rounded_alike_as_a_figure_and_in_percent() -> None:
    """0.525 was “0.53” on the label of a chart, and “52 %” on the chart beside."""
    for thousandth in range(100, 1000, 5):
        share = thousandth / 1000
        figure = number(share)
        whole = f"{round(float(figure) * 100)}\u202f%"
        assert percent(share) == (">99\u202f%" if whole == "100\u202f%" else whole), share
