"""A page that follows a run: its lines move, its charts are not drawn anew, and it leaves the machine to others."""

from __future__ import annotations

import json
import math
import random
import time
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from groupwise.storage.home import paths
from groupwise.storage.record import group_metrics, metrics, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from tests.browser.conftest import Held, OpenPage, drag_begun, picture
from tests.support.homes import wait_for
from tests.support.made_runs import curves, learning_group, made_run, running

# Of each chart that has lines: the points of each line, and the least box around each fill.
PATHS = """() => Object.fromEntries([...document.querySelectorAll(".gw-overview figure.chart")]
  .map(figure => [figure.dataset.chart, [...figure.querySelectorAll(".js-line, .js-fill")].map(path => {
    if (path.classList.contains("js-line"))
      return path.getAttribute("d").slice(1).split("L").map(point => point.split(",").map(Number));
    const { x, y, width, height } = path.getBBox();
    return [[x, y], [x + width, y + height]];
  })]).filter(([, paths]) => paths.length))"""
COUNT_DRAWINGS = """() => { const react = Plotly.react; window.drawings = [];
  Plotly.react = (plot, ...more) => {
    drawings.push(plot.closest("figure").dataset.chart);
    return react(plot, ...more);
  } }"""
COUNT_FRAMES = """{ const frame = window.requestAnimationFrame; window.frames_asked = 0;
  window.requestAnimationFrame = then => { window.frames_asked += 1; return frame.call(window, then); } }"""
RANGE = "() => document.querySelector('[data-chart=reward] .plot')._fullLayout.xaxis.range"


@pytest.fixture(scope="module")
def address(still_dashboard: str) -> str:
    return still_dashboard


def even(step: int) -> dict[str, float | None]:
    """Metrics of a run that learns nothing: the axes have no reason to move."""
    return {**curves(500, 1000, random.Random(step % 50)), "num_tokens": step * 100.0, "time/elapsed": step * 1.0}


def training(name: str, steps: int, **more: Any) -> str:
    return running(made_run(name, steps, metrics=even, state=states.STOPPED, **more))


def go_on(run_id: str, *, attempt: int = 1, steps: int = 1) -> int:
    """More steps; the last one."""
    record = paths.run_folder(run_id).db
    first = metrics.standing(record)["step"] + 1
    writer = RunWriter(record, attempt, {"format": 1.0, "correctness": 2.0})
    for step in range(first, first + steps):
        rng = random.Random(step)
        groups = [learning_group(500, n, 1000, 8, ("format", "correctness"), 16, rng) for n in range(4)]
        of_groups = group_metrics.metrics_of_groups(groups, writer.reward_range(), 1, 1.0)
        writer.commit(step, metrics={**even(step), **of_groups}, groups=groups)
    writer.close()
    return first + steps - 1


def paths_of(page: Page) -> dict[str, Any]:
    """Each chart's lines, as text: playwright would look at each of their numbers three times."""
    lines: dict[str, Any] = json.loads(page.evaluate(f"JSON.stringify(({PATHS})())"))
    return lines


def follow(open_page: OpenPage, address: str, run_id: str) -> Page:
    """Its Overview, with all charts in view and drawn."""
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 1440, "height": 3000})
    page.wait_for_function(f"Object.keys(({PATHS})()).length > 8")
    page.wait_for_timeout(500)
    page.evaluate(COUNT_DRAWINGS)
    return page


def shown(page: Page, run_id: str) -> None:
    """All that is recorded is drawn."""
    seq = metrics.read_metrics(paths.run_folder(run_id).db)["seq"]
    page.wait_for_function("seq => document.querySelector('.gw-overview').dataset.seq >= seq", arg=seq)


def point_at_each(page: Page) -> None:
    for area in page.locator(".gw-overview figure.chart .area").all():
        if area.locator(".js-line").count():
            area.hover()
    page.mouse.move(2, 2)


def assert_alike(moved: dict[str, Any], drawn: dict[str, Any]) -> None:
    """Plotly leaves out points that a line does not need."""
    assert moved.keys() == drawn.keys()
    for chart, lines in moved.items():
        for ours, theirs in zip(lines, drawn[chart], strict=True):
            ends = [(ours[0], theirs[0]), (ours[-1], theirs[-1])]
            assert all(math.dist(*pair) < 0.7 for pair in ends), (chart, ends)
            apart = np.array(theirs)[:, None] - np.array(ours)[None]  # of each pair of their points and ours, (n, m, 2)
            nearest = np.hypot(apart[..., 0], apart[..., 1]).min(axis=1)
            assert nearest.max() <= 0.7, (chart, nearest)


def still_at(page: Page, width: int) -> dict[str, Any]:
    """The lines at this width of the window, once all charts have taken it: none moves for most of a second."""
    page.set_viewport_size({"width": width, "height": 3000})
    lines: dict[str, Any] = {}

    def same_again() -> bool:
        nonlocal lines
        before, lines = lines, paths_of(page)
        page.wait_for_timeout(800)
        return bool(lines == before)

    wait_for("lines that stand still", same_again)
    return lines


@pytest.mark.parametrize(
    "made", [{"steps": 200}, {"steps": 2400, "groups": 1, "resumed_at": 2000}], ids=["short", "long"]
)
def test_lines_that_moved_lie_where_plotly_draws_them(address: str, open_page: OpenPage, made: dict[str, Any]) -> None:
    """With spread, parts of a whole, bands of a long run, what an earlier attempt had trained; and at another size."""
    run_id = training("follow", **made)
    page = follow(open_page, address, run_id)
    before = paths_of(page)
    go_on(run_id, attempt=2 if "resumed_at" in made else 1, steps=3)
    shown(page, run_id)
    page.wait_for_timeout(300)
    moved = paths_of(page)
    assert page.evaluate("drawings") == [], "no chart was drawn anew"
    assert all(moved[name] != before[name] for name in ("reward", "KL", "tied groups"))

    resized = still_at(page, 1200)
    point_at_each(page)
    drawings = page.evaluate("drawings")
    assert {"reward", "KL", "tied groups"} <= set(drawings) and len(drawings) == len(set(drawings)), "once each"
    assert_alike(resized, paths_of(page))

    assert_alike(moved, still_at(page, 1440))


def test_whoever_points_at_a_chart_reads_its_newest_step(address: str, open_page: OpenPage) -> None:
    run_id = training("pointed", 200)
    page = follow(open_page, address, run_id)
    for step in (201, 202):  # the pointer comes after the first, and is there when the second comes
        assert go_on(run_id) == step
        shown(page, run_id)
        place = page.evaluate(
            """step => { const plot = document.querySelector("[data-chart=KL] .plot");
              const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
              return [box.left + xaxis._offset + xaxis.c2p(step), box.top + yaxis._offset + 30]; }""",
            step,
        )
        page.mouse.move(place[0] - 30, place[1])
        page.mouse.move(math.ceil(place[0]), place[1])
        page.locator(f"[data-chart=KL] .hoverlayer :text('step {step}')").wait_for(state="attached")


def test_an_axis_has_room_while_a_run_goes_on_and_none_when_it_is_over(address: str, open_page: OpenPage) -> None:
    run_id = training("room", 100)
    page = follow(open_page, address, run_id)
    assert page.evaluate(RANGE) == pytest.approx([0, 110])
    go_on(run_id, steps=10)
    shown(page, run_id)
    assert page.evaluate(RANGE) == pytest.approx([0, 110]) and "reward" not in page.evaluate("drawings")
    go_on(run_id)
    shown(page, run_id)
    assert page.evaluate(RANGE) == pytest.approx([0, 111 * 1.1])
    registry.set_state(run_id, states.FINISHED, "Finished.")
    page.wait_for_function(f"({RANGE})()[1] === 111")


def test_a_value_beyond_the_axis_is_drawn_in_full(address: str, open_page: OpenPage) -> None:
    run_id = training("beyond", 100)
    page = follow(open_page, address, run_id)
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    writer.commit(101, metrics={**even(101), "kl": 7.5})
    writer.close()
    shown(page, run_id)
    top = page.evaluate("document.querySelector('[data-chart=KL] .plot')._fullLayout.yaxis.range[1]")
    assert 7.5 < top < 9
    assert page.evaluate("drawings").count("KL") == 1


def test_a_chart_stands_still_while_one_drags_over_it(address: str, open_page: OpenPage) -> None:
    """What is chosen is what was seen under the hand, however far the run has gone on meanwhile."""
    run_id = training("dragged", 100)
    page = follow(open_page, address, run_id)
    grip = drag_begun(page.locator("[data-chart=reward]"), 0.25, 0.5)
    go_on(run_id, steps=40)
    shown(page, run_id)
    assert page.evaluate(RANGE) == pytest.approx([0, 110])
    assert "KL" in page.evaluate("drawings"), "the others follow"
    grip.up()
    page.wait_for_function(f"({RANGE})()[1] < 60")
    assert page.evaluate(RANGE) == pytest.approx([27.5, 55], rel=0.05)
    page.get_by_role("button", name="Show all steps").click()
    page.wait_for_function(f"({RANGE})()[1] >= 140")


def test_a_page_on_which_nothing_moves_makes_no_frames(address: str, context: BrowserContext) -> None:
    """Gradio's loading screen would count sixty a second, for as long as the page is open."""
    run_id = made_run("calm", 30)
    context.add_init_script(COUNT_FRAMES)
    pages = [context.new_page() for _ in range(5)]
    for page, path in zip(pages, (f"/run?id={run_id}", "/", "/new", "/rewards", f"/compare?ids={run_id}"), strict=True):
        page.goto(address + path)
        page.wait_for_selector(".gw")
    wait_for("the pages to stand still", lambda: max(frames(pages).values()) < 20, 45)
    timed = "document.getAnimations().filter(({ timeline }) => timeline instanceof DocumentTimeline).length"
    assert not [page.url for page in pages if page.evaluate(timed)]  # what fades with scrolling makes none by itself


def frames(pages: list[Page]) -> dict[str, int]:
    """How many frames each page asks for in two seconds."""
    for page in pages:
        page.evaluate("window.frames_asked = 0")
    pages[0].wait_for_timeout(2000)
    return {page.url: page.evaluate("frames_asked") for page in pages}


def tell_nothing(page: Page) -> None:
    """As where too many wait to be told of news."""
    page.route("**/news?*", lambda route: route.fulfill(status=429, body="Too many wait."))


@pytest.mark.parametrize("told", [True, False], ids=["told", "not-told"])
def test_a_run_is_looked_at_when_something_was_recorded(address: str, open_page: OpenPage, told: bool) -> None:
    """And again and again only where the server does not tell."""
    run_id = training("told", 20)
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    if not told:
        tell_nothing(page)
    looks: list[str] = []
    page.on("request", lambda asked: "draw_board" in (asked.post_data or "") and looks.append(asked.url))
    page.get_by_role("tab", name="Overview").click()
    shown(page, run_id)
    if told:
        page.wait_for_timeout(3000)
        looks.clear()
        page.wait_for_timeout(4000)
        assert len(looks) <= 1
    else:
        looks.clear()
        wait_for("two more looks", lambda: page.wait_for_timeout(50) or len(looks) > 1)
    go_on(run_id)
    shown(page, run_id)


def test_where_answers_take_long_the_page_asks_more_rarely(address: str, open_page: OpenPage) -> None:
    run_id = training("slow", 20)
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    tell_nothing(page)
    asked: list[float] = []
    answered: list[float] = []

    def slowly(route: Route) -> None:
        if '"draw_board"' not in (route.request.post_data or ""):
            route.fallback()
            return
        asked.append(time.monotonic())
        reply = route.fetch()
        time.sleep(0.3)
        answered.append(time.monotonic())
        route.fulfill(response=reply)

    page.route("**/component_server/", slowly)
    page.get_by_role("tab", name="Overview").click()
    wait_for("three looks", lambda: page.wait_for_timeout(50) or len(asked) > 2)
    rests = [later - earlier for earlier, later in zip(answered, asked[1:], strict=False)]
    assert min(rests) > 2.5, "ten times as long as a look took, where 0.3 s is usual"
    page.unroute_all(behavior="wait")


def test_the_head_tells_of_the_step_that_the_charts_show(address: str, open_page: OpenPage) -> None:
    run_id = training("one moment", 100)
    page = follow(open_page, address, run_id)
    line = page.locator(".gw-header .line")
    expect(line).to_contain_text("step 100 of")
    held = Held(page, "draw_board")
    go_on(run_id)
    for _ in range(2):  # the head itself knows more by now
        with page.expect_response(lambda reply: '"run_status"' in (reply.request.post_data or "")) as told:
            pass
    assert '"step 101 of' in told.value.text()
    expect(line).to_contain_text("step 100 of")
    held.release()
    page.wait_for_function("document.querySelector('.gw-header .line').textContent.includes('step 101 of')")
    shown(page, run_id)
    expect(page.locator("#part-doctor .at")).to_have_text(
        "at step 101 · means of the first 5 and the last 10 logged steps"
    )
    page.get_by_role("tab", name="Log").click()
    go_on(run_id)
    expect(line).to_contain_text("step 102 of")


def test_beside_the_state_stand_the_words_of_the_diagnostics_below(open_page: OpenPage, address: str) -> None:
    """From the moment that they are there, also where the head was told of another verdict a second ago."""
    run_id = training("turns", 100)
    page = open_page(f"{address}/run?id={run_id}")
    expect(page.locator(".gw-doctor .at")).to_contain_text("at step 100")
    expect(page.locator(".gw-header .pill")).to_have_text("Running · verdict: the reward is flat")
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    for step in range(101, 131):
        writer.commit(step, metrics={**even(step), "kl": 0.02 * 1.3 ** (step - 100)})
    writer.close()
    registry.set_facts(run_id, step=130)
    pill = """() => document.querySelector(".gw-doctor article[data-key=kl]")
        && document.querySelector(".gw-header .pill").textContent"""
    assert page.wait_for_function(pill).json_value() == "Running · verdict: KL is too high"
    assert page.title().startswith("Running · verdict: KL is too high")
    picture(page, "run-in-trouble")


def test_what_the_first_evaluation_is_waited_for_with_follows_the_state(open_page: OpenPage, address: str) -> None:
    """“Waiting for the first evaluation” stood on a run that was stopped meanwhile, and that it had ended on one that
    trains again."""
    run_id = training("unevaluated", 5, training={"eval_strategy": "steps", "eval_steps": 20, "max_steps": 500})
    waits = "Waiting for the first evaluation, at step 20."
    ended = "This run ended before its first evaluation."
    opened = f"{address}/run?id={run_id}"
    said = open_page(opened).locator('[data-chart="held-out reward"] .wait')
    expect(said).to_have_text(waits)
    registry.set_state(run_id, states.STOPPED, "Stopped at step 5, as asked.")
    expect(said).to_have_text(ended)
    again = open_page(opened).locator('[data-chart="held-out reward"] .wait')
    expect(again).to_have_text(ended)
    running(run_id)
    expect(again).to_have_text(waits, timeout=15_000)  # a run that is over is asked after every 5 s
    expect(said).to_have_text(waits, timeout=15_000)
