"""The Overview's charts: one zoom, one pointer and one axis for all of them, and all of it in the address."""

from __future__ import annotations

import json
import math
import random
import re
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import builder
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from tests.browser.conftest import FLAGS, OpenPage, bring, drag, no_sideways_scroll, picture
from tests.support.browsers import whole
from tests.support.made_runs import curves, made_run, running

STEPS = 2400
SMOOTHED = re.compile(
    r"^Bold: the mean of the last (?:about )?\d\d+ steps\. Faint: as logged\. Dotted: from before a resume\.$"
)
# What Plotly holds of a chart: its lines, the range in sight and whether it is drawn.
CHART = """
title => {
  const plot = document.querySelector(`.gw-overview [data-chart="${title}"] .js-plotly-plot`);
  if (!plot?._fullLayout) return null;
  const { xaxis, yaxis, shapes } = plot._fullLayout;
  const main = plot.data.findLast(t => t.hovertemplate && !t.line.dash);
  return { range: xaxis.range, y: yaxis.range, type: yaxis.type, shapes: shapes.length, points: main.x.length,
           steps: main.customdata, high: Math.max(...plot.data.flatMap(t => t.y).filter(v => v !== null)),
           dotted: plot.data.filter(t => t.line.dash === "dot").length };
}
"""


@pytest.fixture(scope="module")
def runs(reading_dashboard: str) -> dict[str, str]:
    """The address of a dashboard, and runs: a long one that was resumed, one without axes, one that never began."""
    rng = random.Random(2)

    def logged(step: int) -> dict[str, float | None]:
        found = curves(step, STEPS, rng)
        odd = {"grad_norm": 50.0 if step == 777 else math.nan if step in (5, 6, 7) else 0.4, "loss": 0.0}
        held_out = {"eval_reward": 1.0 + step / STEPS} if step % 100 == 0 else {}
        mute = {"rewards/correctness/mean": math.nan} if step in (8, 9) else {}  # None of all completions
        ended = math.nan if step < 4 else 20.0
        lengths = {"completions/mean_length": 30.0, "completions/mean_terminated_length": ended}
        return {**found, **odd, **held_out, **mute, **lengths, "time/elapsed": step * 2.0, "groups/spread": 0.5}

    def bare(step: int) -> dict[str, float | None]:
        return {"reward": step / 10, "<b>&lt;i": 1.0}

    def otherwise(step: int) -> dict[str, float | None]:
        return {"reward": step - 20.0, "rewards/mine/mean": step - 20.0, "groups/solved": 0.0, "groups/any_solved": 0.0}

    def constant(step: int) -> dict[str, float | None]:
        told = {"rewards/ones/mean": 1.0, "rewards/ones/std": 0.0, "frac_reward_zero_std": 1.0, "groups/tied": 1.0}
        return {"reward": 1.0, "groups/solved": 1.0, "groups/any_solved": 1.0, **told}

    def silent(step: int) -> dict[str, float | None]:
        return {"reward": 0.5, "rewards/format/mean": 0.5, "rewards/none/mean": None, "rewards/none/std": None}

    made = {
        "long": made_run("long", STEPS, groups=0, metrics=logged, resumed_at=2000),
        "late": running(made_run("late", 50, groups=0, resumed_at=47, state=states.QUEUED)),
        "bare": made_run("bare", 8, groups=0, metrics=bare, training={"beta": 0.0}),
        "seldom": made_run("seldom", 30, groups=1, every=10),
        "only-logs": made_run("only-logs", 30, groups=0, every=10),
        "killed": made_run("killed", 17, groups=1, every=10, state=states.FAILED),
        "mine": made_run("mine", 8, functions=("mine",), groups=0, metrics=otherwise),
        "ones": made_run("ones", 8, functions=("ones",), groups=0, metrics=constant),
        "none": made_run("none", 8, functions=("format", "none"), groups=0, metrics=silent),
        "short": made_run("short", 4, groups=0, metrics=bare, state=states.STOPPED, training={"logging_steps": 10}),
        "failed": made_run("failed", 0, groups=0, state=states.FAILED),
    }
    return made | {"address": reading_dashboard}


def chart(page: Page, title: str) -> Any:
    return page.evaluate(CHART, title)


def overview(open_page: OpenPage, runs: dict[str, str], run: str, query: str = "") -> Page:
    page = open_page(f"{runs['address']}/run?id={runs[run]}&tab=overview{query}")
    page.wait_for_function(f"() => document.querySelector('.gw-overview[data-seq]') && ({CHART})('reward')")
    return page


def wait_range(page: Page, title: str, low: float, high: float) -> None:
    close = f"const c = ({CHART})(title); return c && Math.abs(c.range[0] - low) + Math.abs(c.range[1] - high) < 0.1"
    page.wait_for_function(f"([title, low, high]) => {{ {close} }}", arg=[title, low, high])


def test_what_marks_an_attempt_is_read_whole_where_it_begins_near_the_end(
    open_page: OpenPage, runs: dict[str, str]
) -> None:
    page = overview(open_page, runs, "late", "&zoom=20..50")
    cut = """() => [...document.querySelectorAll(".gw-overview .js-plotly-plot")].flatMap(plot => {
      const edge = plot.querySelector(".main-svg").getBoundingClientRect();
      return [...plot.querySelectorAll(".annotation-text")].map(label => label.getBoundingClientRect())
        .filter(box => box.right > edge.right || box.left < edge.left).length })"""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        page.wait_for_function(f"() => ({CHART})('reward')?.shapes === 1")
        expect(page.locator('[data-chart="reward"] .annotation-text')).to_have_text("attempt 2")
        assert set(page.evaluate(cut)) == {0}
    picture(page, "charts-late-attempt")


def test_labels_that_would_lie_over_each_other_stand_on_either_side_or_not_at_all(bare_page: Page) -> None:
    bring(bare_page, "ui/charts/mark_labels.js", "anchorLabels")

    def anchors(*places: int) -> Any:
        marks: list[dict[str, Any]] = [{"at": at, "text": f"attempt {n}"} for n, at in enumerate(places, 2)]
        return bare_page.evaluate("marks => anchorLabels(marks, 318)", marks)

    assert anchors(100, 200) == ["left", "left"]
    assert anchors(100, 300) == ["left", "right"]
    assert anchors(150, 180) == ["right", "left"]
    assert anchors(270, 300) == [None, "right"]


def test_all_charts_share_one_zoom_one_pointer_and_one_axis(open_page: OpenPage, runs: dict[str, str]) -> None:
    page = overview(open_page, runs, "long")
    seen = chart(page, "reward")
    assert seen["dotted"] == 1 and seen["shapes"] == 1, "the first attempt's last steps, and where the second began"
    assert seen["points"] <= 1000
    expect(page.locator(".controls .shown")).to_contain_text("of 2,400 points")
    expect(page.locator(".controls .smoothed")).to_have_text(SMOOTHED)
    logged = "Bold: the mean of the last 10 logged steps. Faint: as logged. Dotted: from before a resume."
    expect(overview(open_page, runs, "late").locator(".controls .smoothed")).to_have_text(logged)
    of_few = "Bold: the mean of each log (10 steps). Faint, as in “solved”: each step."
    expect(overview(open_page, runs, "seldom").locator(".controls .smoothed")).to_have_text(of_few)
    means = "Lines: the mean of each log (10 steps)."  # none is of each step
    expect(overview(open_page, runs, "only-logs").locator(".controls .smoothed")).to_have_text(means)
    page = overview(open_page, runs, "long")

    # a stretch of one chart is the stretch of all of them, and is looked at as finely as it can be drawn
    drag(page.locator('[data-chart="reward"]'), 0.3, 0.4)
    page.wait_for_selector('.board[data-close="1"]')
    low, high = chart(page, "reward")["range"]
    assert 600 < low < high < 1100
    wait_range(page, "rewards by function", low, high)
    inside = [step for step in chart(page, "reward")["steps"] if low <= step <= high]
    assert inside == list(range(math.ceil(low), math.floor(high) + 1)), "every step"
    assert f"zoom={low:.0f}..{high:.0f}" in page.url

    # the pointer in one chart says the values of all at that step
    box = page.locator('[data-chart="rewards by function"] .nsewdrag').bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    cross = page.locator('[data-chart="reward"] .cross')
    expect(cross).to_be_visible()
    expect(page.locator('[data-chart="rewards by function"] .cross')).to_be_hidden()
    pointed = page.locator('[data-chart="reward"] .values .at')
    expect(pointed).to_have_text(re.compile(r"^at step [\d,]+$"))
    expect(page.locator('[data-chart="reward"] .values')).to_have_text(re.compile(r"^[\d.]+at step [\d,]+$"))
    page.mouse.move(5, 5)
    expect(cross).to_be_hidden()
    expect(pointed).to_have_text("")

    # the same stretch along another axis, and again after a reload
    page.locator(".axes button", has_text="Time").click()
    minutes = [step * 2 / 60 for step in (low, high)]
    wait_range(page, "reward", *minutes)
    page.get_by_label("Log scale").check()
    page.wait_for_function(f"() => ({CHART})('reward').type === 'log'")
    page.reload()
    page.wait_for_selector('.board[data-close="1"]')
    wait_range(page, "reward", *minutes)
    assert chart(page, "reward")["type"] == "log" and "x=time" in page.url and "log=1" in page.url
    expect(page.get_by_role("button", name="Time")).to_have_attribute("aria-pressed", "true")

    # two clicks show all of it again, in every chart
    page.locator('[data-chart="reward"] .nsewdrag').dblclick(position={"x": 60, "y": 60})
    page.wait_for_function("() => !location.search.includes('zoom')")
    page.wait_for_function(f"() => ({CHART})('rewards by function').range[1] > 75")
    expect(page.locator(".controls .whole")).to_be_hidden()
    assert no_sideways_scroll(page)


def test_a_bold_line_ends_where_the_run_last_logged(open_page: OpenPage, runs: dict[str, str]) -> None:
    """It went on to step 17, at what steps 1–10 came to, over the faint line of what steps 11–17 came to."""
    page = open_page(f"{runs['address']}/run?id={runs['killed']}&tab=overview")
    for title in ("solved", "tied groups"):
        page.locator(f'.gw-overview [data-chart="{title}"]').scroll_into_view_if_needed()
        page.wait_for_function(f"title => ({CHART})(title)", arg=title)
        ends = page.locator(f'.gw-overview [data-chart="{title}"] .js-plotly-plot').evaluate(
            "node => node.data.map(({ x, y, line, customdata }) => "
            "[line.width, x.length - y.length, customdata.at(-1)])"
        )
        assert [1, 0, 17] in ends and [2, 0, 10] in ends, title
        assert {last for width, _, last in ends if width != 1} == {10}, title


@pytest.mark.parametrize("width", [1280, 390])
def test_the_figures_under_the_pointer_say_their_step_and_nothing_moves(
    open_page: OpenPage, runs: dict[str, str], width: int
) -> None:
    """The mean of the last steps stands there otherwise."""
    page = overview(open_page, runs, "late")
    page.set_viewport_size({"width": width, "height": 900})
    places = """() => [...document.querySelectorAll(".gw-overview .chart .area")].map(area =>
      Math.round(area.getBoundingClientRect().top + scrollY))"""
    area = page.get_by_role("slider", name="reward by step", exact=True)
    area.scroll_into_view_if_needed()
    before = page.evaluate(places)
    area.focus()
    for _ in range(9):
        area.press("ArrowLeft")
    for title in ("reward", "rewards by function"):
        expect(page.locator(f'[data-chart="{title}"] .at')).to_have_text("at step 41")
    expect(area).to_have_attribute("aria-valuetext", re.compile(r"^step 41: [\d.]+$"))
    assert page.evaluate(places) == before and no_sideways_scroll(page)
    outside = """() => [...document.querySelectorAll(".gw-overview .chart .at")].filter(at => {
      const [box, panel] = [at, at.closest(".chart")].map(one => one.getBoundingClientRect());
      return box.left < panel.left || box.right > panel.right }).length"""
    assert page.evaluate(outside) == 0
    picture(page, f"charts-pointed-{width}")


def test_a_spike_is_seen_in_a_long_run_and_what_is_no_number_is_told(open_page: OpenPage, runs: dict[str, str]) -> None:
    page = overview(open_page, runs, "long", "&log=1")
    panel = page.locator('[data-chart="gradient norm"]')
    panel.scroll_into_view_if_needed()
    expect(panel.locator(".told")).to_have_text("3 values were not finite")
    page.wait_for_function(f"() => ({CHART})('gradient norm')")
    ticks = "panel => panel.querySelector('.js-plotly-plot')._fullLayout.yaxis.tickmode"
    assert panel.evaluate(ticks) == "array", "written whole: Plotly writes 0.5 as 5 on a log scale"
    assert chart(page, "gradient norm")["high"] == 50.0
    expect(page.locator('[data-chart="rewards by function"] .told')).to_have_text("no score in 2 steps")
    told = page.locator('[data-chart="length"] .told')
    expect(told).to_have_text("no completion ended in 3 steps")
    page.locator('[data-chart="loss"]').scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({CHART})('loss')")
    assert chart(page, "loss")["type"] == "linear", "a loss of 0 is drawn, also where a log scale is asked for"
    expect(page.locator('[data-chart="loss"] .told')).to_have_text("0 or below: not on a log scale")


def test_the_charts_are_walked_by_keyboard(open_page: OpenPage, runs: dict[str, str]) -> None:
    page = overview(open_page, runs, "long")
    page.locator(".board .controls input").focus()
    page.keyboard.press("Tab")
    reward = page.get_by_role("slider", name="reward by step", exact=True)
    expect(reward).to_be_focused()
    page.keyboard.press("Home")
    first = int(reward.get_attribute("aria-valuenow") or -1)
    page.keyboard.press("ArrowRight")
    expect(reward).not_to_have_attribute("aria-valuenow", f"{first}")
    expect(
        page.locator('[data-chart="reward"] .hoverlayer .hovertext, [data-chart="reward"] .hoverlayer .legend')
    ).not_to_have_count(0)
    expect(page.locator('[data-chart="rewards by function"] .cross')).to_be_visible()

    # down to the next chart, at the same step, closer, and to its groups
    page.keyboard.press("ArrowDown")
    by_function = page.get_by_role("slider", name="rewards by function by step")
    expect(by_function).to_be_focused()
    expect(by_function).to_have_attribute("aria-valuetext", re.compile(r"^step \d+: .*format"))
    page.keyboard.press("Shift+ArrowRight")
    for _ in range(7):
        page.keyboard.press("+")
    page.wait_for_selector('.board[data-close="1"]')
    before = int(by_function.get_attribute("aria-valuenow") or -1)
    page.keyboard.press("ArrowRight")
    expect(by_function).to_have_attribute("aria-valuenow", f"{before + 1}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**step={before + 1}**")
    page.go_back()
    for _ in range(7):
        by_function.press("-")
    page.wait_for_function("() => !location.search.includes('zoom')")
    page.keyboard.press("Tab")
    expect(page.locator(".all-metrics summary")).to_be_focused()  # the charts are one stop
    expect(page.locator(".chart .cross:visible")).to_have_count(0)


def swipe(page: Page, way: list[tuple[float, float]]) -> None:
    """One finger along these points."""
    touch = page.context.new_cdp_session(page)
    for n, (x, y) in enumerate(way):
        kind = "touchMove" if n else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(16)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_scrolls_over_a_chart_and_a_tap_shows_a_point_before_one_leads_on(
    chromium: Browser, runs: dict[str, str]
) -> None:
    # the whole browser: without a window it has a mouse in its corner, which leaves what a finger touched
    browser = chromium.browser_type.launch(executable_path=whole(), args=FLAGS)
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.new_page()
    page.goto(f"{runs['address']}/run?id={runs['long']}")
    page.wait_for_function(f"() => ({CHART})('reward')", timeout=180_000)
    plot = page.locator('[data-chart="reward"] .nsewdrag')
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    x, y, address = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, page.url
    before = page.evaluate("scrollY")
    swipe(page, [(x + 4 * n, y - 20 * n) for n in range(11)])
    assert page.evaluate("scrollY") > before + 100
    page.wait_for_timeout(700)  # a click would count by now
    assert page.url == address and chart(page, "reward")["range"][0] < 10, "neither a step nor a zoom"
    box = plot.bounding_box()
    assert box
    expect(page.get_by_text("Tap a point to read it, and again to see its step's groups.")).to_be_visible()
    expect(page.get_by_text("Click a point to see its step's groups.")).to_be_hidden()

    # a tap shows the point, as does one on another; a second one on the same leads to its groups
    label = page.locator('[data-chart="reward"] .hoverlayer .legend')
    said: list[str] = []
    for share in (0.3, 0.6, 0.6):
        assert page.url == address
        page.touchscreen.tap(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        if len(said) < 2:
            expect(label).to_contain_text("step ")
            page.wait_for_timeout(700)  # a click would count by now
            said += re.findall(r"step ([\d,]+)", label.text_content() or "")
    assert len(set(said)) == 2
    page.wait_for_url(f"**tab=groups**step={said[1].replace(',', '')}**")
    browser.close()


def test_an_evaluation_stands_at_its_own_step_and_leads_to_its_held_out_groups(
    open_page: OpenPage, runs: dict[str, str]
) -> None:
    page = overview(open_page, runs, "long", "&zoom=0..2400")
    page.get_by_text("All metrics").click()
    page.get_by_label("Search metrics").fill("eval_reward")
    page.get_by_role("button", name="eval_reward", exact=True).click()
    page.locator('[data-chart="eval_reward"]').scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({CHART})('eval_reward')")
    assert chart(page, "eval_reward")["steps"] == list(range(100, 2401, 100))
    expect(page.locator('[data-chart="eval_reward"] .values')).to_have_text("2.00")  # as beside it
    expect(page.locator(".now dt:text-is('Held-out reward') + dd")).to_have_text("2.00 at step 2,400")
    box = page.locator('[data-chart="eval_reward"] .nsewdrag').bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**mode=eval**")
    assert "tab=groups" in page.url and "step=1200" in page.url


def test_what_a_run_lacks_is_said_where_it_is_missed(open_page: OpenPage, runs: dict[str, str]) -> None:
    page = overview(open_page, runs, "bare", "&x=time&zoom=nonsense&log=2")
    assert page.locator(".axes button[disabled]").all_inner_texts() == ["Tokens", "Time"]
    expect(page.get_by_role("button", name="Time")).to_have_attribute("title", "This run has logged no time/elapsed.")
    assert chart(page, "reward")["points"] == 8
    expect(page.locator('[data-chart="KL"] .wait')).to_contain_text("beta is 0")
    expect(page.locator('[data-chart="entropy"] .wait')).to_have_text("Not logged.")
    short = open_page(f"{runs['address']}/run?id={runs['short']}&tab=overview")
    for title in ("loss", "gradient norm", "learning rate"):  # which are not logged as it stops, as the others are
        words = "Not logged: TRL logs this every 10 steps; the run had 4 steps."
        expect(short.locator(f'[data-chart="{title}"] .wait')).to_have_text(words)
    expect(short.locator('[data-chart="entropy"] .wait')).to_have_text("Not logged.")
    page.locator(".all-metrics summary").click()
    page.locator(".all-metrics .chip", has_text="<b>&lt;i").click()
    expect(page.locator('.all-metrics [data-chart="<b>&lt;i"] h3')).to_have_text("<b>&lt;i")

    # what was measured last before the end says when
    with closing(RunWriter(paths.run_folder(runs["bare"]).db, 1, {})) as writer:
        writer.commit(0, metrics={"eval_reward": 0.84})
    page.reload()
    expect(page.locator(".gw-overview .now")).to_contain_text("Held-out reward0.84 before training")

    page.goto(f"{runs['address']}/run?id={runs['failed']}&tab=overview")
    expect(page.locator(".board .ended h2")).to_have_text("This run ended before its first step.")
    expect(page.locator(".ending h2")).to_have_text("It ended")
    for part in (".board figure.chart", ".gw-doctor section", "aside .figures", "aside .latest"):
        expect(page.locator(part).first).to_be_hidden()
    expect(page.get_by_role("link", name="Re-score")).to_have_count(0)  # nothing was written
    page.get_by_role("link", name="Read the log").click()
    page.wait_for_url("**tab=log**")

    # a share of right answers is not said of a function that scores by another scale
    page.goto(f"{runs['address']}/run?id={runs['mine']}&tab=overview")
    solved = page.locator('[data-chart="solved"]')
    expect(solved.locator(".wait")).to_contain_text("“mine” has not scored 1, which would count as right")
    expect(solved.locator(".values")).to_have_text("")
    expect(solved.locator(".about .xs:not(.told)")).to_have_text("")  # “scored correct by “mine”” stood above it
    page.goto(f"{runs['address']}/run?id={runs['none']}&tab=overview")  # “Not logged.” was all that it said
    expect(solved.locator(".wait")).to_have_text("“none” has scored nothing, so it does not tell right from wrong.")
    # nor of one that gives everything the same; no share's axis goes beyond 100 %
    page.goto(f"{runs['address']}/run?id={runs['ones']}&tab=overview")
    expect(solved.locator(".wait")).to_have_text(
        "“ones” gave every completion the same score, so it does not tell right from wrong."
    )
    blocks = builder.to_code("ones", [builder.Block("length_between")], "")
    frozen = paths.run_folder(runs["ones"]).rewards
    frozen.mkdir(exist_ok=True)
    (frozen / "ones.py").write_text(blocks, encoding="utf-8")
    page.reload()  # a function of blocks that look at the form alone is known to say nothing of what is right
    expect(solved.locator(".wait")).to_have_text(
        "“ones” reads no column of the data, so it does not tell right from wrong."
    )
    page.locator(".all-metrics summary").click()  # nor where the same is drawn by its own name
    page.locator(".all-metrics .chip").get_by_text("groups/solved", exact=True).click()
    asked = page.locator('.all-metrics [data-chart="groups/solved"]')
    expect(asked.locator(".wait")).to_have_text(
        "“ones” reads no column of the data, so it does not tell right from wrong."
    )
    page.locator(".all-metrics summary").click()
    tied = page.locator('[data-chart="tied groups"] .js-plotly-plot')
    tied.scroll_into_view_if_needed()
    assert tied.evaluate("plot => plot._fullLayout.yaxis.range[1]") == 105


def test_a_function_has_one_colour_and_a_step_one_place_in_every_chart(
    open_page: OpenPage, reading_dashboard: str
) -> None:
    """As was seen: correctness came first where only it was logged, and had the colour of format there. And the axis
    of held-out charts, which draw points, went beyond the last step: their 20 stood left of the others'."""

    def logged(step: int) -> dict[str, float | None]:
        held_out = {} if step % 5 else {"eval_rewards/correctness/mean": step / 20}
        return {"reward": 1.0, "rewards/format/mean": 0.5, "rewards/correctness/mean": step / 20, **held_out,
                "groups/solved": step / 20, "groups/any_solved": 1.0}  # fmt: skip

    run_id = made_run("colours", 20, metrics=logged, training={"eval_strategy": "steps", "eval_steps": 5})
    page = open_page(f"{reading_dashboard}/run?id={run_id}")
    key = '[data-chart="rewards by function"] .values .key'
    expect(page.locator(key)).to_have_count(2)
    drawn = """title => document.querySelector(`[data-chart="${title}"] .js-plotly-plot`)?.data
      ?.filter(t => t.hovertemplate).map(t => [t.name, t.marker.color])"""
    both = page.wait_for_function(drawn, arg="rewards by function").json_value()
    page.locator('[data-chart="held-out rewards by function"]').scroll_into_view_if_needed()
    held_out = page.wait_for_function(drawn, arg="held-out rewards by function").json_value()
    of_one = page.locator('[data-chart="held-out rewards by function"] .values .key')
    expect(of_one).to_have_text(re.compile("^correctness [01]"))  # of one alone its name is said, too
    assert held_out == [["correctness", dict(both)["correctness"]]] and len(set(dict(both).values())) == 2
    for title in ("rewards by function", "held-out rewards by function"):
        assert chart(page, title)["range"] == [0, 20], title
    page.locator('[data-chart="solved"]').scroll_into_view_if_needed()
    [completions, of_groups] = page.wait_for_function(drawn, arg="solved").json_value()
    assert completions == ["completions", dict(both)["correctness"]], "solved is what correctness says"
    assert of_groups[1] not in dict(both).values(), "and had the colour of format"
    page.get_by_role("tab", name="Statistics").click()
    page.locator('[data-panel="share"]').scroll_into_view_if_needed()
    of_share = """() => document.querySelector('[data-panel="share"] .js-plotly-plot')?.data
      ?.map(t => [t.name, t.line.color])"""
    shares = page.wait_for_function(of_share).json_value()
    assert dict(shares) == dict(both)


def test_a_beta_that_follows_the_kl_ends_in_one_value_on_every_page(
    reading_dashboard: str, open_page: OpenPage
) -> None:
    """Its title was the mean of the last steps, 0.014, above a line that ended at 0.0123."""
    text = json.dumps({"name": "follows", "rewards": [{"name": "correctness"}], "kl": {"target": 0.05},
                       "training": {"beta": 0.02, "max_steps": 30}})  # fmt: skip
    run = made_run("follows", 30, groups=0, spec_yaml=text, functions=("correctness",),
                   metrics=lambda step: {"reward": 1.0, "kl": 0.03, "beta": 0.03 - step * 0.00059})  # fmt: skip
    page = open_page(f"{reading_dashboard}/run?id={run}")
    beta = '[data-chart="beta"]'
    expect(page.locator(f"{beta} .values")).to_have_text("0.012")
    page.locator(beta).scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({CHART})('beta')")
    lines = page.evaluate(f"document.querySelector('{beta} .js-plotly-plot').data.map(({{ y }}) => y.at(-1))")
    assert lines == pytest.approx([0.0123] * len(lines))
    page.goto(f"{reading_dashboard}/?cols=metric:beta")
    expect(page.locator("tr", has_text="follows").locator('td[data-label="beta"]')).to_have_text("0.012")
    page.goto(f"{reading_dashboard}/compare?ids={run}&metrics=beta")
    ends = """() => { const ends = [...document.querySelectorAll(".js-plotly-plot")]
      .flatMap(plot => (plot.data ?? []).map(({ y }) => y?.at(-1))).filter(Number.isFinite);
      return ends.length ? ends : null }"""
    found = page.wait_for_function(ends).json_value()
    assert found == pytest.approx([0.0123] * len(found)), "nor smoothed in Compare"


def test_parts_of_tied_groups_add_up_to_what_is_tied(reading_dashboard: str, open_page: OpenPage) -> None:
    """5 and 1 of 80 groups: not “7 %” and “1 %”, which would add up to the “8 %” of 7.5 %."""
    parts = {"groups/all_low": 0.0, "groups/all_high": 0.0625, "groups/tied_other": 0.0125, "groups/tied": 0.075}
    run = made_run("parts", 12, groups=0, metrics=lambda step: {"reward": step / 12, **parts})
    page = open_page(f"{reading_dashboard}/run?id={run}")
    values = page.locator(".gw-overview [data-chart='tied groups'] .values")
    expect(values).to_have_text("tied 8\u202f%none right 0\u202f%all at top score 6.3\u202f%tied otherwise 1.3\u202f%")
