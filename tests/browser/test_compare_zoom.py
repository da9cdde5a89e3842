"""Two sweeps compared, looked at closer: a zoom into the curves, and the runs through a stretch of an axis."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.compare_page import compared, traces, two_sweeps
from tests.browser.conftest import OpenPage, drag, drag_begun, picture, set_params
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def sweeps(still_dashboard: str) -> tuple[str, list[str]]:
    return still_dashboard, two_sweeps()


def curves_of(page: Page, metric: str, count: int) -> None:
    """Waits until a chart draws the curves of so many runs."""
    plot = page.locator(f'[data-chart="{metric}"] .plot')
    plot.scroll_into_view_if_needed()
    drawn = "document.querySelector(`[data-chart='${name}'] .plot`).data.filter(t => t.hovertemplate).length"
    page.wait_for_function(f"([name, count]) => {drawn} === count", arg=[metric, count])


def test_a_zoom_is_in_the_address_and_brings_every_step(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    long = made_run("long", 3000, groups=0)
    page = open_page(f"{sweeps[0]}/compare?ids={sweeps[1][0]},{long}")
    page.wait_for_selector(".gw-compare[data-drawn]")
    chart = page.locator('[data-chart="reward"]')
    traces(page, "reward")
    reach = page.locator(".gw-compare .reach")
    expect(reach).to_have_text("over the last 10 logged steps")
    ticks = chart.locator(".xtick text").all_text_contents()
    assert ticks[-1] == "3,000", "the axis goes as far as the run, whose last point is the mean of some steps"
    look_closer(chart)
    expect(reach).to_have_text("over the last 10 logged steps")
    for _ in range(2):
        seen = traces(page, "reward")
        short, of_long = (trace["n"] for trace in seen if trace["hover"])
        assert 30 < short <= 40 and 100 < of_long < 200, "every step from the first in sight on"
        other = page.locator('[data-chart="kl"] .plot')
        other.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelector('[data-chart=kl] .plot')._fullLayout?.xaxis.range[1] < 200")
        page.reload()
        page.wait_for_selector(".gw-compare[data-drawn]")
    for axis in ("tokens", "time"):
        page.get_by_role("button", name="Show all steps").press("Enter")
        expect(page.get_by_label("smoothed")).to_be_focused()
        expect(page).not_to_have_url(re.compile("zoom"))
        page.locator(f"[data-x={axis}]").click()
        expect(page.locator(".gw-compare .charts")).to_have_attribute("aria-busy", "false")
        look_closer(chart)
        (of_long,) = (trace["n"] for trace in traces(page, "reward")[-1:])
        assert 100 < of_long < 200


def look_closer(chart: Locator) -> None:
    """Drag across a twentieth of it, and what stood for several steps is gone."""
    page = chart.page
    expect(chart).to_contain_text("a point is the mean of up to")
    drag(chart, 0, 0.05)
    expect(page).to_have_url(re.compile(r"zoom=\d"))
    expect(chart).not_to_contain_text("a point is the mean of up to")


def test_a_drag_over_the_former_axis_is_no_stretch_of_the_next(
    open_page: OpenPage, sweeps: tuple[str, list[str]]
) -> None:
    page = compared(open_page, sweeps, more="&x=tokens")
    ends = "document.querySelector('[data-chart=reward] .plot')._fullLayout.xaxis.range[1]"
    chart = page.locator('[data-chart="reward"]')
    chart.scroll_into_view_if_needed()
    page.wait_for_function(f"{ends} > 100000")
    grip = drag_begun(chart, 0, 0.4)
    with page.expect_response(lambda response: "component_server" in response.url):
        set_params(page, {"x": "time"})
    expect(page.locator("[data-x=time]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".gw-compare .charts")).to_have_attribute("aria-busy", "false")
    assert page.evaluate(ends) > 100000, "what is dragged over stands still"
    grip.up()
    page.wait_for_function(f"{ends} < 100")
    expect(page).not_to_have_url(re.compile("zoom"))
    drag(chart, 0, 0.4)
    expect(page).to_have_url(re.compile(r"zoom=0\.\.[5-9]\."))


CHOSEN = "document.querySelector('.sweep .plot').data.map(t => t.opacity).join() === '0.14,0.14,1,1'"


def sweep_of(page: Page) -> tuple[Locator, int]:
    """The plot of settings against final metrics, once it is drawn, and which of its axes the learning rate is."""
    plot = page.locator(".sweep .plot")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    axes = "[...node.layout.annotations].filter(a => a.hovertext).map(a => a.hovertext)"
    return plot, plot.evaluate(f"node => {axes}").index("Learning rate · training.learning_rate")


def test_a_stretch_of_an_axis_keeps_the_runs_through_it(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    """Dragged over the higher of the two learning rates; let go by a click on the axis, or by “Show all”."""
    page = compared(open_page, sweeps, n=4)
    whose_line_is_said_while_curves_are_in_sight(page, 90)
    plot, at = sweep_of(page)
    inside = """(node, [at, ys]) => {
        const { xaxis, yaxis } = node._fullLayout;
        return ys.map(y => [xaxis._offset + xaxis.l2p(at), yaxis._offset + yaxis.l2p(y)]);
    }"""
    (x, high), (_, low) = plot.evaluate(inside, [at, [1.01, 0.7]])
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x + 4, box["y"] + high)
    page.mouse.down()
    page.mouse.move(box["x"] + x, box["y"] + (high + low) / 2)
    expect(page.locator(".sweep .mark")).to_be_visible()
    page.mouse.move(box["x"] + x, box["y"] + low)
    page.mouse.up()
    expect(page).to_have_url(re.compile("pick=training.learning_rate"))
    expect(page.locator(".kept")).to_contain_text("2 of 4 runs pass")
    expect(page.locator(".sweep .mark")).to_be_hidden()
    page.wait_for_function(CHOSEN)
    expect(page.locator(".chosen.beside")).to_have_count(2)
    curves_of(page, "reward", 2)
    picture(page, "compare-chosen")
    page.reload()
    page.wait_for_selector(".gw-compare[data-drawn]")
    plot.scroll_into_view_if_needed()
    expect(page.locator(".kept")).to_contain_text("2 of 4 runs pass")
    plot.click(position={"x": x, "y": (high + low) / 2})  # which waits for the curves above it to be drawn
    expect(page.locator(".kept")).to_be_hidden()
    page.goto(f"{page.url}&pick=training.learning_rate~0.4~0.6;nothing~0~0.1;x~y~z")
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(page.locator(".kept")).to_contain_text("0 of 4 runs pass")
    page.locator(".kept").get_by_role("button", name="Show all").press("Enter")
    expect(page.get_by_label("smoothed")).to_be_focused()
    expect(page.locator(".chosen.beside")).to_have_count(0)
    curves_of(page, "reward", 4)


def test_a_stretch_of_an_axis_is_chosen_by_keyboard(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    page = compared(open_page, sweeps, more="&pick=training.learning_rate~0.9~1", n=4)
    _, at = sweep_of(page)
    expect(page.locator(".kept")).to_be_visible()
    axis = page.get_by_role("slider", name="Settings vs. final metrics")
    axis.focus()
    page.keyboard.press("Delete")
    expect(page.locator(".kept")).to_be_hidden()
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    expect(axis).to_have_attribute("aria-valuetext", re.compile("^Learning rate: all of it; 4 of 4 runs pass$"))
    page.keyboard.press("ArrowDown")
    expect(axis).to_have_attribute("aria-valuetext", "Learning rate: 1e-5; 2 of 4 runs pass")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".kept")).to_be_hidden()
    page.keyboard.press("Shift+ArrowUp")
    expect(page.locator(".kept")).to_contain_text("2 of 4 runs pass")
    expect(page.locator(".sweep .frame")).to_be_visible()
    page.wait_for_function(CHOSEN)


def whose_line_is_said_while_curves_are_in_sight(page: Page, most: int) -> None:
    """The runs and what steers their curves stay on top, no deeper than so many pixels."""
    page.locator("[data-chart=kl]").evaluate("node => node.scrollIntoView({ block: 'center' })")
    boxes = [page.locator(f".gw-compare {part}").bounding_box() for part in (".legend", ".steer")]
    assert boxes[0] and boxes[1] and page.evaluate("scrollY") > 300
    depth = boxes[0]["height"] + boxes[1]["height"]
    assert abs(boxes[0]["y"]) < 1 and abs(boxes[1]["y"] - boxes[0]["height"]) < 1 and depth <= most, boxes


def test_on_a_phone_no_name_of_an_axis_lies_over_another(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    """With as many axes as there may be."""
    names = ("max_completion_length", "per_device_train_batch_size", "gradient_accumulation_steps", "temperature")
    other = made_run("other", 30, groups=0, training=dict.fromkeys(names, 2))
    page = open_page(f"{sweeps[0]}/compare?ids={','.join([*sweeps[1][:2], other])}")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_selector(".gw-compare[data-drawn]")
    plot, _ = sweep_of(page)
    heads = """node => node.layout.annotations.flatMap(({ hovertext }, i) => {
        const drawn = node.querySelector(`.annotation[data-index="${i}"]`);
        const { left, right, top, bottom } = drawn.getBoundingClientRect();
        return hovertext ? [[hovertext, left, right, top, bottom]] : [];
    })"""
    found = plot.evaluate(heads)
    assert len(found) == 11
    assert not [
        (one[0], other[0])
        for one, other in itertools.combinations(found, 2)
        if one[1] < other[2] and other[1] < one[2] and one[3] < other[4] and other[3] < one[4]
    ]
    menu = page.locator(".sweep .axes")
    menu.locator("summary").click()
    menu.get_by_label("Temperature").uncheck()
    expect(page).to_have_url(re.compile(r"axes=(?!.*temperature).*training\.learning_rate"))
    page.wait_for_function("document.querySelector('.sweep .plot').data[0].x.length === 10")
    menu.get_by_role("button", name="Suggested ones").click()
    expect(page).not_to_have_url(re.compile("axes="))
    page.keyboard.press("Escape")
    whose_line_is_said_while_curves_are_in_sight(page, 130)
    ends = page.locator(".legend .chosen").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert len(ends) == 3 and max(ends) <= 390, "each run's chip is in sight, none is cut off"
    page.locator(".alike").scroll_into_view_if_needed()
    page.locator(".prompts [data-hash]").first.click()
    expect(page.locator(".cards .comp")).to_have_count(3)
    names = page.locator(":is(table.finals tbody, table.settings td, .cards) .named bdi")
    clipped = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1 || one.clientWidth < 30).length"
    assert names.evaluate_all(clipped) == 0 < names.count(), "names are whole, in lines that can be read"
    beyond = """cells => cells.filter((cell) => {
        const { left, right, width } = cell.getBoundingClientRect();
        return left < 0 || right > innerWidth || width < 20;
    }).length"""
    values = page.locator("table.settings .value")
    assert values.evaluate_all(beyond) == 0 < values.count(), "each setting's values are seen together"
    figures = page.locator("table.finals .runs td:nth-child(n + 3):nth-child(-n + 6)")
    assert figures.evaluate_all(beyond) == 0 < figures.count(), "steps, reward, held-out and solved are in sight"
    picture(page, "compare-axes-on-a-phone")
