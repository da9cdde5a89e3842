"""Runs that TRL logs every tenth step or so are told by their completions, which are recorded at every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import Report, examine
from groupwise.storage.home import paths
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.spec import spec
from tests.support.made_runs import MakeMetrics, curves, made_run

pytestmark = pytest.mark.usefixtures("registry_home")

Drawn = tuple[float, float, bool]  # what “format” and “correctness” give, and whether it was cut off
Draw = Callable[[int, random.Random], Drawn]
STEPS, LIMIT = 50, 48


def logs_of(draw: Draw, kl: float) -> MakeMetrics:
    """What TRL would log at each tenth step: the mean of what came since."""

    def logged(step: int) -> dict[str, float | None]:
        rng = random.Random(step)
        drawn = [draw(one, rng) for one in range(max(1, step - 9), step + 1) for _ in range(64)]
        form, right, cut = (sum(part) / len(drawn) for part in zip(*drawn, strict=True))
        told = {"reward": form + 2 * right, "kl": kl, "completions/clipped_ratio": cut}
        return curves(step, STEPS, rng) | told | {"rewards/format/mean": form, "rewards/correctness/mean": right}

    return logged


def told(draw: Draw, *, every: int = 10, until: int = STEPS, kl: float = 0.02, **training: float) -> Report:
    """What is said of a run of 50 steps that is logged at each so many, after so many of them."""
    rng = random.Random(0)

    def make_group(step: int, n: int) -> Group:
        completions = []
        for idx in range(8):
            form, right, cut = draw(step, rng)
            scores: list[tuple[float | None, str]] = [(form, "ok"), (right, "ok")]
            text = f"{rng.random()} {idx}"
            completions.append(Completion(text, LIMIT if cut else 20, cut, form + 2 * right, 0.0, scores))
        asked = [{"role": "user", "content": f"{n}+{step}?"}]
        return Group("train", step, asked, {"answer": f"{n + step}"}, completions)

    settings = {"max_completion_length": LIMIT, "logging_steps": every, **training}
    run = made_run("seldom", STEPS, groups=8, make_group=make_group, metrics=logs_of(draw, kl), every=every,
                   training=settings)  # fmt: skip
    folder = paths.run_folder(run)
    found = gather(folder.db, spec.parse_spec(folder.spec.read_text(encoding="utf-8")), until=until)
    return examine(replace(found, ended=until == STEPS))


def collapses(step: int, rng: random.Random) -> Drawn:
    if step > 1:
        return 0.0, 0.0, True
    return float(rng.random() < 0.2), float(rng.random() < 0.6), False


def learns(step: int, rng: random.Random) -> Drawn:
    skill = 0.4 + 0.5 * step / STEPS
    return float(rng.random() < skill), float(rng.random() < skill), rng.random() < 0.02


def stays(step: int, rng: random.Random) -> Drawn:
    return float(rng.random() < 0.4), float(rng.random() < 0.6), False


def leaves_no_room(step: int, rng: random.Random) -> Drawn:
    return 0.0, float(rng.random() < 0.4 + 0.2 * step / STEPS), rng.random() < (0.3 if step < 8 else 0.06)


@pytest.mark.parametrize(("every", "until"), [(10, 5), (10, 10), (10, 30), (10, STEPS), (20, 15), (20, STEPS)])
def test_a_collapse_between_two_logs_is_the_cause_of_what_is_cut_off(every: int, until: int) -> None:
    """All of the last were cut off, and the first verdict was that, with a higher limit to click."""
    report = told(collapses, every=every, until=until, learning_rate=2e-2)
    assert [one.key for one in report.verdicts][:1] == ["learning_rate_high"], report
    assert report.kind == "down" and "at its first step" in report.headline
    assert report.verdicts[0].changes[0].settings == {"training.learning_rate": 1e-4}


def test_a_heavy_kl_weight_is_told_of_few_logs() -> None:
    report = told(stays, kl=0.0015, beta=10.0)
    assert [one.key for one in report.verdicts] == ["beta_high"] and report.kind == "level"


@pytest.mark.parametrize("until", [20, STEPS])
def test_what_was_cut_off_in_the_first_steps_is_told_though_the_first_log_is_of_more(until: int) -> None:
    report = told(leaves_no_room, until=until, max_completion_length=4)
    assert report.verdicts[0].key == "truncated"
    assert "of the first 5 steps were cut off" in report.verdicts[0].sentence


@pytest.mark.parametrize("every", [5, 10, 20])
def test_a_run_that_learns_has_no_verdict_however_seldom_it_is_logged(every: int) -> None:
    for until in (3, 6, 10, 15, 20, 30, 40, STEPS):
        assert not told(learns, every=every, until=until).verdicts
    report = told(learns, every=every)
    assert report.kind == "up" and report.headline.startswith("Learned"), report.headline


def test_before_two_logs_no_trend_is_told() -> None:
    assert told(learns, until=6).headline == "Diagnostics need 10 steps (6/10)."
    assert told(learns, until=15).headline == "Diagnostics need 2 logged steps (1/2)."
    assert "which need 2" in told(learns, every=40).headline


def test_where_groups_tell_of_steps_that_were_not_logged_these_are_no_logged_steps() -> None:
    """“After 5 logged steps” of a run whose reward was logged once, as it failed."""
    reward = Curve.of(range(1, 6), [0.5] * 5)
    failed = Evidence(curves={"reward": reward}, logged=1, step=5, ended=True)
    assert examine(failed).headline == "It ended after 5 steps: too short for diagnostics, which need 10."
    broken = examine(replace(failed, not_finite={"loss": 5}))
    assert broken.headline == "A problem after 5 steps. It ended before trends could be seen: they need 10 steps."
    every_second = replace(failed, curves={"reward": Curve.of((2, 4, 6), [0.5] * 3)}, step=6)
    assert "its reward was known at 3 of 6 steps" in examine(every_second).headline


@pytest.mark.parametrize(("every", "first"), [(10, False), (25, False), (40, True)])
def test_that_too_few_logs_will_come_is_not_said_of_a_run_that_is_diagnosed_later(every: int, first: bool) -> None:
    """At step 0 “too few will come, as only one of 10 is logged”, and “Learning, no problems detected” later."""
    for until in (0, 1, 6, 9, 10, 15, 25, 30):
        headline = told(learns, every=every, until=until, logging_first_step=first).headline
        assert "too few will come" not in headline, (until, headline)


def test_that_too_few_logs_will_come_is_said_from_the_first_step_where_it_is_certain() -> None:
    for until in (0, 1, 20, 45):
        headline = told(learns, every=40, until=until).headline
        assert headline.startswith("Diagnostics need 2 logged steps: too few will come"), (until, headline)


def test_a_long_run_of_many_logs_still_knows_its_first_step() -> None:
    """From twenty logs on these tell a trend, and the groups what was before the first of them."""
    report = told(collapses, every=2, learning_rate=2e-2)
    assert report.verdicts[0].key == "learning_rate_high" and "at its first step" in report.headline


@pytest.mark.parametrize("every", [1, 10])
def test_a_fall_from_before_the_first_log_says_where_the_chart_begins_and_leads_to_what_shows_it(every: int) -> None:
    """“fell from 1.44 at its first step” led to a chart that begins at step 10 with 0.14."""
    report = told(collapses, every=every)
    links, words = report.verdicts[0].evidence, " at step 10, where its chart begins) to 0 at the end"
    for sentence in (report.headline, report.verdicts[0].sentence.replace(" and was 0 ", " to 0 ")):
        assert (words in sentence) == (every == 10), sentence
    chart = next(at for at, link in enumerate(links) if link.chart == "reward")
    assert chart == (every == 10)
    assert every == 1 or links[0].params == {"step": "1", "pick": "random"}


def ruins(step: int, rng: random.Random) -> Drawn:
    """As it was seen at 3e-3: right and in form for a step, then nothing, then form alone."""
    if step < 3:
        return float(rng.random() < (0.22, 0.6)[step - 1]), float(rng.random() < (0.56, 0.02)[step - 1]), False
    return float(rng.random() < 0.9 if step > 25 else 0), 0.0, rng.random() < 0.05


def ruins_and_runs_on(step: int, rng: random.Random) -> Drawn:
    form, right, _ = ruins(step, rng)
    return form, right, step > 2


def forgets(step: int, rng: random.Random) -> Drawn:
    """Right for a step, and then hardly a group has anything."""
    return float(rng.random() < (0.22 if step == 1 else 0.01)), float(rng.random() < (0.56 if step == 1 else 0)), False


@pytest.mark.parametrize("draw", [ruins, ruins_and_runs_on, forgets])
@pytest.mark.parametrize(("every", "until"), [(10, 20), (10, 40), (10, STEPS), (1, STEPS)])
def test_right_answers_that_a_far_too_high_rate_cost_are_told_of_first(draw: Draw, every: int, until: int) -> None:
    """“The prompts are too hard” or “Completions are cut off” came first, as the reward rose by form in the end."""
    report = told(draw, every=every, until=until, kl=1.3, learning_rate=3e-3)
    keys = [one.key for one in report.verdicts]
    assert keys[0] == "learning_rate_high" and not keys[1:], report
    first = report.verdicts[0]
    assert first.changes[0].settings == {"training.learning_rate": 1e-4} and "0.003" in first.sentence


def test_what_the_rate_cost_is_said_by_the_first_step() -> None:
    report = told(ruins, kl=1.3, learning_rate=3e-3)
    assert report.verdicts[0].title == "The learning rate is too high"
    assert "right at the first step and 0\u202f% at the end, and KL rose to 1.3" in report.verdicts[0].sentence
    assert (report.kind, report.against) == ("up", "Fewer right answers"), report
    assert "fell from 5" in report.headline and "\u202f% at the first step to 0\u202f%" in report.headline


@pytest.mark.parametrize("draw", [ruins, forgets])
@pytest.mark.parametrize("every", [1, 10])
def test_prompts_that_were_solved_before_are_not_too_hard_at_any_rate(draw: Draw, every: int) -> None:
    for until in (15, 25, 40, STEPS):
        keys = [one.key for one in told(draw, every=every, until=until).verdicts]
        assert "too_hard" not in keys, (until, keys)
