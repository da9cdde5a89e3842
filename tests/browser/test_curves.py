"""The curves that the browser keeps: what replaces them, what is added, and when the whole is asked for again."""

from __future__ import annotations

import json
import random
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page

from groupwise.storage.analysis.compare import finals
from groupwise.storage.home import paths
from groupwise.storage.record import metrics, recent, record_check, states
from tests.browser.conftest import bring
from tests.support.homes import fresh_home
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def no_dashboard() -> Iterator[None]:
    """A home for runs that only these tests look at: there is no worker that would take them up."""
    with fresh_home():
        yield


@pytest.fixture
def page(bare_page: Page) -> Page:
    """An empty page that knows Curves, and has some."""
    made = bring(bare_page, "ui/charts/curves.js", "Curves")
    made.evaluate("window.curves = new Curves()")
    return made


def take(page: Page, *, reset: bool, **steps: list[int]) -> set[str]:
    """The names of the metrics that changed."""
    return taken(page, {"reset": reset, "curves": {name: {"x": x, "y": x} for name, x in steps.items()}})


def taken(page: Page, answer: dict[str, Any]) -> set[str]:
    """As text: playwright would hand over each of its numbers by itself."""
    return set(page.evaluate("answer => [...curves.take(JSON.parse(answer))]", json.dumps(answer)))


def steps_of(page: Page, name: str) -> Any:
    return page.evaluate("name => curves.get(name)?.x ?? null", name)


def mean_of_recent(values: Sequence[float], every: int = 1) -> float | None:
    """What a metric is now that has a value at each step, of which every so many were logged."""
    return recent.mean_of_recent(list(enumerate(values, 1)), tuple(range(0, len(values) + 1, every)))


def too_long(page: Page) -> Any:
    return page.evaluate("curves.tooLong")


def test_an_answer_that_begins_anew_replaces_everything(page: Page) -> None:
    take(page, reset=True, reward=[1, 2, 3, 4], kl=[1, 2])
    assert take(page, reset=False, reward=[5]) == {"reward"}
    assert take(page, reset=True, reward=[1, 2, 3]) == {"reward", "kl"}
    assert (steps_of(page, "reward"), steps_of(page, "kl")) == ([1, 2, 3], None)
    assert take(page, reset=True) == {"reward"}
    assert steps_of(page, "reward") is None


def test_a_whole_that_is_still_too_long_is_not_asked_for_at_once_again(page: Page) -> None:
    take(page, reset=True, reward=list(range(1, 4001)))
    assert not too_long(page)
    take(page, reset=False, reward=list(range(4001, 5002)))
    assert too_long(page)
    take(page, reset=True, reward=list(range(1, 5002)))
    assert not too_long(page)
    take(page, reset=False, reward=list(range(5002, 6002)))
    assert not too_long(page)
    take(page, reset=False, reward=[6002])
    assert too_long(page)
    take(page, reset=True, reward=list(range(1, 601)))
    take(page, reset=False, reward=list(range(601, 4002)))
    assert too_long(page)


@pytest.mark.parametrize(("steps", "now"), [(1, 1.0), (3, 3.0), (8, 6.5), (19, 15.0), (20, 15.5), (30, 25.5)])
def test_now_is_the_mean_of_the_last_ten_or_of_the_later_half_of_fewer(page: Page, steps: int, now: float) -> None:
    """As storage.record.recent has it."""
    take(page, reset=True, reward=list(range(1, steps + 1)))
    assert page.evaluate("curves.now('reward')") == now == mean_of_recent(list(range(1, steps + 1)))


def test_now_is_of_the_stage_that_trains_also_where_it_is_the_last_evaluation(page: Page) -> None:
    """As storage.analysis.compare.finals has it, and with it Runs and Compare."""
    take(page, reset=True, eval_reward=[0, 5, 10], reward=list(range(1, 11)))
    assert page.evaluate("[curves.now('eval_reward'), curves.now('reward')]") == [10, 8]
    for began, now in ((6, [10, 9.5]), (10, [None, None])):
        taken(page, {"reset": False, "curves": {}, "marks": [{"kind": "stage", "step": began}]})
        begins = page.evaluate("curves.stageBegins(curves.get('reward').x)")
        assert begins == [began] if began < 10 else begins == []
        assert page.evaluate("[curves.now('eval_reward') ?? null, curves.now('reward') ?? null]") == now


def test_the_newest_steps_of_a_long_run_are_drawn_as_its_other_points_are(page: Page) -> None:
    """Points of 4 steps; the tail begins at step 8."""
    whole = {"x": [2, 6], "y": [0.0, 1.0], "low": [-1.0, 0.0], "high": [1.0, 2.0]}
    tail = {"x": [8, 9, 10, 11, 12], "y": [1.0, 2.0, 3.0, 6.0, 5.0]}
    first = {"reset": True, "bucket": 4, "curves": {"reward": {**whole, "tail": tail, "of": 12}}, "odd": {"reward": 2}}
    taken(page, first)
    drawn = "curves.get('reward')"
    assert page.evaluate(f"[{drawn}.x, {drawn}.y]") == [[2, 6, 9, 12], [0, 1, 3, 5]]
    assert page.evaluate(f"[{drawn}.low, {drawn}.high]") == [[-1, 0, 1, 5], [1, 2, 6, 5]]
    page.evaluate("curves.window = 2")
    assert page.evaluate("[curves.newest('reward').at(-1), curves.lastStep, curves.now('reward')]") == [5, 12, 5.5]

    more = {
        "reset": False,
        "curves": {"reward": {"x": [12, 13, 14], "y": [5.0, 9.0, None]}, "late": {"x": [14], "y": [7]}},
    }
    assert taken(page, more) == {"reward", "late"}
    assert page.evaluate(f"[{drawn}.x, {drawn}.y, {drawn}.of]") == [[2, 6, 9, 13], [0, 1, 3, 7], 14]
    assert page.evaluate("[curves.now('reward'), curves.lastStep, curves.missing('reward')]") == [9, 14, 3]
    assert page.evaluate("[curves.get('late').y, curves.now('late')]") == [[7], 7]
    same = {"reset": False, "curves": {"reward": {"x": [13], "y": [9.0]}}}
    assert taken(page, same) == set()


def test_no_score_is_told_of_all_steps_of_the_logs_that_have_none(page: Page) -> None:
    """A run that failed after five calls without a score, logged once, had “no score in 1 step”."""
    name, held_out = "rewards/raiser/mean", "eval_rewards/raiser/mean"
    words = f"[['{name}'], ['{held_out}']].map((names) => curves.gapWords(names))"
    once = {"reward": {"x": [5], "y": [0.5]}, name: {"x": [5], "y": [None]}}
    taken(page, {"reset": True, "curves": once})
    assert page.evaluate(words) == ["no score in 5 steps", ""]
    logs = [10, 20, 30, 35]
    curves = {"reward": {"x": logs, "y": [0.5] * 4}, name: {"x": logs, "y": [0.5, None, 0.5, None]}}
    taken(page, {"reset": True, "curves": curves | {held_out: {"x": [10, 20], "y": [0.5, None]}}})
    assert page.evaluate(words) == ["no score in 15 steps", "no score in 1 evaluation"]
    # of a long run the server counts what is no number, and only the newest logs are here
    tail = {"reward": {"x": [4010, 4020], "y": [0.5, 0.5]}, name: {"x": [4010], "y": [0.5]}}
    whole = {"x": [2000], "y": [0.5], "low": [0.5], "high": [0.5]}
    long = {one: {**whole, "tail": newest, "of": 402} for one, newest in tail.items()}
    taken(page, {"reset": True, "bucket": 16, "curves": long, "odd": {name: 3}})
    taken(page, {"reset": False, "curves": {"reward": {"x": [4030], "y": [0.5]}, name: {"x": [4030], "y": [None]}}})
    assert page.evaluate(words) == ["no score in 40 steps", ""]


def test_no_share_of_tied_groups_is_drawn_where_nothing_was_scored(page: Page) -> None:
    """TRL's own share is 0 there."""
    drawn = "['reward', 'frac_reward_zero_std'].map((name) => curves.hasNumbers(name))"
    nothing = {"reward": {"x": [1, 2], "y": [None, None]}, "frac_reward_zero_std": {"x": [1, 2], "y": [0.0, 0.0]}}
    taken(page, {"reset": True, "curves": nothing})
    assert page.evaluate(drawn) == [False, False]
    taken(page, {"reset": False, "curves": {"reward": {"x": [3], "y": [0.5]}}})
    assert page.evaluate(drawn) == [True, True]


def test_the_length_of_those_that_ended_is_of_the_steps_that_now_is_of(page: Page) -> None:
    """That some ended at the beginning says nothing of a run in which none does any more."""
    name, held_out = "completions/mean_terminated_length", "eval_completions/mean_terminated_length"
    y: list[float | None] = [*map(float, range(1, 31)), *[None] * 10]
    evaluated = {"x": [0, 20, 40], "y": [14.0, 12.0, None]}
    of_all = "completions/mean_length", "eval_completions/mean_length"
    told = {name: {"x": list(range(1, 41)), "y": y}, held_out: evaluated}
    all_told = dict(zip(of_all, ({"x": one["x"], "y": [16.0] * len(one["x"])} for one in told.values()), strict=True))
    taken(page, {"reset": True, "curves": told | all_told})
    assert page.evaluate("names => names.map((name) => curves.now(name) ?? null)", [name, held_out]) == [None, None]
    more = {name: {"x": [41, 42], "y": [8.0, 6.0]}, held_out: {"x": [60], "y": [9.0]}}
    more_of_all = {of_all[0]: {"x": [41, 42], "y": [16.0, 16.0]}, of_all[1]: {"x": [60], "y": [16.0]}}
    taken(page, {"reset": False, "curves": more | more_of_all})
    assert page.evaluate("names => names.map((name) => curves.now(name))", [name, held_out]) == [7, 9]


def test_a_function_that_scores_nothing_any_more_has_no_score_now(page: Page) -> None:
    """“bomb 1.19” stood under “the mean of the last 4 steps”, in none of which it had scored."""
    bomb, right = "rewards/bomb/mean", "rewards/correctness/mean"
    x, scored = list(range(1, 10)), [1.1, 1.3, 1.2, 1.16, *[None] * 5]
    both = {"reward": {"x": x, "y": [1.0] * 9}, bomb: {"x": x, "y": scored}, right: {"x": x, "y": [0.5] * 9}}
    taken(page, {"reset": True, "curves": both})
    assert page.evaluate("names => names.map((name) => curves.now(name) ?? null)", [bomb, right]) == [None, 0.5]


@pytest.mark.usefixtures("no_dashboard")
@pytest.mark.parametrize(("steps", "every"), [(3, 3), (34, 10), (60, 10), (65, 10), (400, 10), (3000, 10), (4497, 10)])
@pytest.mark.parametrize("state", [states.FINISHED, states.STOPPED])
def test_now_is_of_the_same_steps_whether_it_was_logged_or_known_of_each(
    page: Page, steps: int, every: int, state: str
) -> None:
    """“a step 20 s” of three stood beside “generation 7.5 s” of the last. One that is stopped logs its last step."""
    folder = paths.run_folder(made_run("logged seldom", steps, groups=1, size=2, every=every, state=state))
    taken(page, metrics.read_metrics(folder.db))
    with record_check.read_record(folder.db) as record:
        means = finals.last_means(record)
    assert page.evaluate("curves.interval") == every
    names = ["reward", "step_time", "groups/tied", "groups/solved"]
    assert page.evaluate("names => names.map((name) => curves.now(name))", names) == pytest.approx(
        [means[name] for name in names]
    )
    assert (
        page.evaluate("['reward', 'groups/tied'].map((name) => curves.recent(name).n)")
        == [recent.window_of(steps // every + (state == states.STOPPED and steps % every > 0))] * 2
    )
    words = page.evaluate("curves.windowWords(curves.recent('reward'))")
    assert re.fullmatch(r"mean of steps [\d,]+–[\d,]+", words)  # “mean of the last step” was said of four
    smooth = (
        "names => names.map((name) => curves.smooth(name, curves.get(name).x, curves.get(name).y)"
        ".findLast(value => value !== null))"
    )
    whole = page.evaluate("names => names.filter((name) => curves.get(name).x.length === curves.get(name).of)", names)
    assert page.evaluate(smooth, whole) == pytest.approx([means[name] for name in whole]), "each line ends there"


# Of a metric: at which step its smoothed line ends, and its line of each step.
LAST_STEPS = """
name => {
  const { x, y } = curves.get(name);
  return [x[curves.smooth(name, x, y).findLastIndex(value => value !== null)], x.at(-1)];
}
"""


@pytest.mark.usefixtures("no_dashboard")
@pytest.mark.parametrize(
    ("steps", "state", "resumed_at", "ended"),
    [(17, states.FAILED, None, 10), (24, states.STOPPED, None, 24), (27, states.FAILED, 12, 20),
     (7, states.FAILED, None, 7)],
)  # fmt: skip
def test_a_smoothed_line_ends_at_the_last_log(
    page: Page, steps: int, state: str, resumed_at: int | None, ended: int
) -> None:
    """Of a run killed at step 17 it went on flat to there, at what steps 1–10 came to, far below what was known of the
    others; before the first log each step is one of its own."""
    made = made_run("killed", steps, groups=1, size=2, every=10, state=state, resumed_at=resumed_at)
    taken(page, metrics.read_metrics(paths.run_folder(made).db))
    for name in ("groups/solved", "groups/tied"):
        assert page.evaluate(LAST_STEPS, name) == [ended, steps], name


def test_a_smoothed_line_goes_on_with_the_next_log(page: Page) -> None:
    take(page, reset=True, **{"reward": [10], "groups/solved": list(range(1, 16))})
    assert page.evaluate(LAST_STEPS, "groups/solved") == [10, 15]
    take(page, reset=False, **{"groups/solved": list(range(16, 21))})
    assert page.evaluate(LAST_STEPS, "groups/solved") == [10, 20]
    take(page, reset=False, reward=[20], **{"groups/solved": [21]})
    assert page.evaluate(LAST_STEPS, "groups/solved") == [20, 21]


@pytest.mark.usefixtures("no_dashboard")
@pytest.mark.parametrize("steps", [40, 3000])
def test_now_is_of_the_same_steps_where_the_reward_of_some_is_no_number(page: Page, steps: int) -> None:
    def log(step: int) -> dict[str, float | None]:
        return {"reward": None if step % 7 == 0 else step, "kl": step, "frac_reward_zero_std": 0.0}

    folder = paths.run_folder(made_run("unscored", steps, groups=0, metrics=log))
    taken(page, metrics.read_metrics(folder.db))
    with record_check.read_record(folder.db) as record:
        means = finals.last_means(record)
    told = page.evaluate("['reward', 'kl'].map((name) => curves.now(name))")
    assert told == pytest.approx([means["reward"], means["kl"]])
    assert means["kl"] == steps - 4.5


@pytest.mark.usefixtures("no_dashboard")
@pytest.mark.parametrize(("scored", "told"), [(5, 4.5), (30, 25.5), (0, None)])
def test_a_function_is_told_of_the_steps_that_the_reward_is(page: Page, scored: int, told: float | None) -> None:
    """Where scoring stopped midway, “reward 0 (steps 4–5)” stood beside “boom –”; one that scored nothing in the steps
    of the reward has no figure."""

    def log(step: int) -> dict[str, float | None]:
        boom = {"rewards/boom/mean": step if step <= scored else None}
        early = {"rewards/early/mean": step if step <= 2 else None}
        return {"reward": 0.0 if step <= scored else None, "kl": 0.1, "frac_reward_zero_std": 0.0} | boom | early

    folder = paths.run_folder(made_run("stopped", 30, groups=0, metrics=log))
    taken(page, metrics.read_metrics(folder.db))
    with record_check.read_record(folder.db) as record:
        means = finals.last_means(record)
    for name, figure in (("rewards/boom/mean", told), ("rewards/early/mean", None)):
        assert page.evaluate("name => curves.now(name) ?? null", name) == means.get(name) == figure, name


@pytest.fixture
def smoothed(bare_page: Page) -> Callable[[list[float | None]], list[float | None]]:
    made = bring(bare_page, "ui/charts/smoother.js", "Smoother")

    def over(values: list[float | None]) -> list[float | None]:
        found: list[float | None] = made.evaluate("values => Smoother.over(values)", values)
        return found

    return over


@pytest.mark.parametrize(("count", "left"), [(20, 0.65), (100, 0.55), (1000, 0.5)])
def test_a_smoothed_line_calms_noise_and_ends_at_what_now_is(
    smoothed: Callable[[list[float | None]], list[float | None]], count: int, left: float
) -> None:
    """It ended at 0.002 beside “0.021, last 10”."""
    rng = random.Random(1)
    noise = [rng.gauss(0, 1) for _ in range(count)]
    calm = [value for value in smoothed([*noise]) if value is not None]
    assert statistics.pstdev(calm[count // 4 :]) < left * statistics.pstdev(noise)
    assert calm[-1] == pytest.approx(mean_of_recent(noise))


def test_a_line_of_each_step_is_smoothed_over_as_many_logged_steps_as_trls(bare_page: Page) -> None:
    made = bring(bare_page, "ui/charts/smoother.js", "Smoother")
    values = [random.Random(n).random() for n in range(300)]
    ends = made.evaluate("values => [20, 10, 5].map((per) => Smoother.over(values, 300, per).at(-1))", values)
    assert ends == pytest.approx([mean_of_recent(values, per) for per in (20, 10, 5)])
    staged = made.evaluate("values => Smoother.over(values, 300, 1, [200])", values)
    assert staged[:200] == made.evaluate("values => Smoother.over(values.slice(0, 200))", values)
    assert staged[200:] == made.evaluate("values => Smoother.over(values.slice(200))", values), "each stage for itself"
    few = made.evaluate("values => Smoother.over(values.slice(0, 60), 60, 10).at(-1)", values)
    assert few == pytest.approx(mean_of_recent(values[:60], 10)), "six logs: of three, as their figure"
    two = made.evaluate("values => Smoother.over(values.slice(0, 20), 20, 10).at(-1)", values)
    assert two == pytest.approx(mean_of_recent(values[:20], 10)), "two logs: each is of its ten steps"


def test_a_line_of_each_step_has_one_smoothed_value_a_log(bare_page: Page) -> None:
    """24 steps, logged every 10: its mean began anew at each log, so that “solved” fell at step 21 and was back at
    24."""
    made = bring(bare_page, "ui/charts/smoother.js", "Smoother")
    values = [0.0] * 10 + [0.5, 1.0] * 5 + [0.0, 1.0, 1.0, 1.0]
    script = "([values, steps, logs]) => Smoother.along(values, steps, logs)"
    found = made.evaluate(script, [values, list(range(1, 25)), [0, 10, 20, 24]])
    assert found[:10] == [0] * 10 and (found[19], found[23]) == (0.75, 0.75)
    assert found[14] == pytest.approx(0.375), "straight from one log to the next"
    assert found[19:] == [0.75] * 5, "no log falls behind what both of these came to"
    logged = made.evaluate(script, [[0.0, 0.75, 0.75], [10, 20, 24], [0, 10, 20, 24]])
    assert logged == [found[9], found[19], found[23]], "as what TRL logs"
    assert made.evaluate(script, [[0.5, 1.0, 3.0], [10, 20, 21], [0, 10, 20]])[2] == 1, "what is not logged yet"


def test_of_how_many_steps_a_point_is_the_mean_is_said_of_the_last_one_too(page: Page) -> None:
    """“each point: mean of 10 steps” stood above a last point of 4."""
    said = {
        (10, 20, 24): "10 steps, the last of 4", (10, 20, 30): "10 steps", (1, 2, 3): "a step", (7,): "7 steps",
        (10, 11): "10 steps, the last of 1", (10, 15, 25): "the steps since the point before",
    }  # fmt: skip
    for steps, words in said.items():
        take(page, reset=True, reward=list(steps))
        assert page.evaluate("curves.spanWords('10 steps')") == words, steps
    take(page, reset=True)
    assert page.evaluate("curves.spanWords('5 steps')") == "5 steps", "before the first log, as the settings have it"


def test_a_line_is_smoothed_over_as_many_as_now_is_the_mean_of(bare_page: Page) -> None:
    """About 7 steps beside “last 10”: two windows on one screen; and of 497 steps the last 25."""
    made = bring(bare_page, "ui/charts/smoother.js", "Smoother")
    counts = [4, 6, 11, 12, 15, 19, 20, 60, 399, 497, 5000]
    found = made.evaluate("counts => counts.map((count) => Smoother.reach(count))", [3, *counts])
    assert found == [0, *[recent.window_of(count) for count in counts]]


def test_a_smoothed_line_never_leaves_what_there_was_and_keeps_gaps(
    smoothed: Callable[[list[float | None]], list[float | None]],
) -> None:
    jump: list[float | None] = [0.0] * 100 + [1.0] * 100
    found = smoothed([*jump[:150], None, *jump[150:]])
    assert found[150] is None and found[50] == 0.0
    assert all(value is None or 0 <= value <= 1 for value in found) and max(v for v in found if v is not None) == 1
    assert smoothed([1.0, None, 2.0]) == [1.0, None, 2.0], "few points are left as they are"
    assert smoothed([]) == []
