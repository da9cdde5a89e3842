"""A run's page while things go on: steps that come, answers that are late, what is done in another tab of it."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import Page, Route, expect

from groupwise.storage.home import paths
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import notes
from tests.browser.conftest import Held, OpenPage, bring, set_params
from tests.support.homes import wait_for
from tests.support.made_runs import curves, learning_group, made_run

STEPS = 30
WAKE = "() => dispatchEvent(new Event('groupwise:wake'))"


@pytest.fixture
def address(reading_dashboard: str) -> str:
    return reading_dashboard


@pytest.fixture
def run_id(address: str) -> str:
    return made_run("meanwhile", STEPS, groups=4, size=4, prompts=8, eval_every=5)


def commit(run_id: str, step: int, **metrics: float) -> None:
    """One more step of a run."""
    groups = [
        learning_group(step, n, 60, 4, ("format", "correctness"), 8, random.Random(step * 7 + n)) for n in range(4)
    ]
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    writer.commit(step, metrics={**curves(step, 60, random.Random(step)), **metrics}, groups=groups)
    writer.close()


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def test_statistics_of_a_run_that_is_faster_than_they_are_drawn(address: str, run_id: str, open_page: OpenPage) -> None:
    """The answer comes after a further step, and is shown all the same."""
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    held = Held(page, "draw_panel")
    tab(page, "Statistics")
    wait_for("the first panel's question", lambda: page.wait_for_timeout(30) or held.kept)
    commit(run_id, STEPS + 1)
    with page.expect_response(lambda reply: '"statistics_summary"' in (reply.request.post_data or "")):
        page.evaluate(WAKE)
    held.kept.pop(0).continue_()
    expect(page.locator("[data-panel=ties] .says")).to_have_text(re.compile("Of the [0-9]+ groups of steps"))
    held.release()


def test_statistics_are_of_what_the_address_says_and_lead_to_what_is_drawn(
    address: str, run_id: str, open_page: OpenPage
) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=statistics&mode=eval")
    says = page.locator("[data-panel=ties] .says")
    expect(says).to_have_text(re.compile("groups of the last evaluation"))
    tab(page, "Groups")
    page.get_by_role("button", name="training").click()
    expect(page).not_to_have_url(re.compile("mode="))
    tab(page, "Statistics")
    expect(says).to_have_text(re.compile("groups of steps [0-9]"), timeout=5000)  # it asks again after 10 s

    figure = page.locator("[data-panel=ties]").get_by_role("slider")
    expect(figure.locator(".scatterlayer .trace")).to_have_count(4)
    held = Held(page, "draw_panel")
    page.locator(".gw-statistics [data-mode=eval]").click()
    wait_for("the other mode's question", lambda: page.wait_for_timeout(30) or held.kept)
    expect(figure).to_have_count(0)  # nobody takes what was drawn of the training for held-out
    held.release()
    expect(figure.locator(".scatterlayer .trace").first).to_be_attached()
    figure.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"tab=completions"))
    expect(page).to_have_url(re.compile(r"mode=eval"))


def test_a_chart_leads_to_its_step_whatever_was_looked_at_before(
    address: str, run_id: str, open_page: OpenPage
) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=groups&prompt=1&idx=3&mode=eval")
    expect(page.locator(".same .comp").first).to_be_visible()
    tab(page, "Overview")
    chart = page.locator(".gw-overview .area[role=slider]").first
    expect(page.locator(".gw-overview .js-plotly-plot").first).to_be_visible()
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".gw-groups .where")).to_have_text("group at step 1")
    assert not re.search("prompt=|idx=|mode=", page.url)

    # the click that one did not wait for is taken back
    tab(page, "Overview")
    box = page.locator(".gw-overview .js-plotly-plot").first.bounding_box()
    assert box
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5
    page.mouse.move(x - 5, y)
    page.mouse.move(x, y)
    expect(page.locator(".gw-overview .hoverlayer .legend").first).to_be_visible()
    page.mouse.click(x, y)
    page.evaluate("document.querySelector('[role=tab][data-tab=log]').click()")
    page.wait_for_timeout(700)  # a click counts after 400 ms
    assert "tab=log" in page.url


def is_noted(page: Page, run_id: str, times: int) -> None:
    """What was typed is kept, whole. On the page it is soon gone: the newest step takes its place. The page's requests
    are let through meanwhile, where a test looks at them."""

    def kept() -> bool:
        page.wait_for_timeout(30)
        return [note.words for note in notes.of_run(run_id)] == ["half said"] * times

    wait_for("the note", kept)


def test_a_note_is_not_taken_away_by_the_next_step(address: str, run_id: str, open_page: OpenPage) -> None:
    for where, box in (("tab=groups", ".one"), ("tab=groups&prompt=1", ".same")):
        page = open_page(f"{address}/run?id={run_id}&{where}")
        card = page.locator(f"{box} .comp").first
        card.locator(".edit").click()
        page.keyboard.type("half ")
        step = 40 if box == ".one" else 41
        for more in range(3):  # the prompt comes again in one of them
            commit(run_id, step + 10 * more)
        page.evaluate(WAKE)
        page.wait_for_timeout(1500)  # it is looked for every 0.7 s
        page.keyboard.type("said")
        page.keyboard.press("Enter")
        is_noted(page, run_id, 1 + (box == ".same"))
        page.close()
    assert not notes.starred_completions(run_id)


@pytest.mark.parametrize(
    ("where", "box", "asked", "steps"),
    [("", ".one", "groups_at_step", (40, 50)), ("&prompt=1", ".same", "prompt_history", (60, 61))],
)
def test_an_answer_on_its_way_takes_no_note_away(
    address: str, run_id: str, open_page: OpenPage, where: str, box: str, asked: str, steps: tuple[int, int]
) -> None:
    """It was asked for before the note was begun, and brings a step that came since."""
    page = open_page(f"{address}/run?id={run_id}&tab=groups{where}")
    edit = page.locator(f"{box} .comp .edit").first
    expect(edit).to_be_visible()
    held = Held(page, asked)
    page.evaluate(WAKE)
    wait_for("the question", lambda: page.wait_for_timeout(30) or held.kept)
    edit.click()
    page.keyboard.type("half ")
    for step in steps:  # each prompt comes in every other step
        commit(run_id, step)
    held.release()
    page.wait_for_timeout(1000)
    page.keyboard.type("said")
    page.keyboard.press("Enter")
    is_noted(page, run_id, 1)


def test_stars_are_the_same_in_groups_and_completions(address: str, run_id: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=completions")
    hit = page.locator(".hit[data-group]").first
    hit.locator(".star").evaluate("star => { star.click(); }")
    expect(hit.locator(".star")).to_have_attribute("aria-pressed", "true")
    group, idx = hit.get_attribute("data-group"), hit.get_attribute("data-idx")
    hit.locator("a.text").click()
    star = page.locator(f'.one .comp[data-group="{group}"][data-idx="{idx}"] .star')
    expect(star).to_have_attribute("aria-pressed", "true")
    held = Held(page, "groups_at_step")
    star.evaluate("star => { star.click(); star.click(); }")  # twice before the answer is one wish
    expect(star).to_have_attribute("aria-pressed", "false")
    tab(page, "Completions")
    with page.expect_response(lambda reply: "groups_at_step" in (reply.request.post_data or "")):
        held.release()  # what Groups asked comes when one has left
    page.wait_for_timeout(500)  # and would be followed by another question
    again = page.locator(f'.hit[data-group="{group}"][data-idx="{idx}"] .star')
    expect(again).to_have_attribute("aria-pressed", "false")
    again.click()
    expect(again).to_have_attribute("aria-pressed", "true")
    tab(page, "Groups")
    expect(star).to_have_attribute("aria-pressed", "true")
    expect(page.locator(f'.option[data-group="{group}"] .starred')).to_have_count(1)


def test_a_group_comes_back_after_one_that_could_not_be_shown(address: str, run_id: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=groups&step=10")
    expect(page.locator(".one .comp")).to_have_count(4)
    refused = {"once": True}

    def look(route: Route) -> None:
        if json.loads(route.request.post_data or "{}").get("fn_name") == "show_group" and refused.pop("once", False):
            route.fulfill(json={"sentence": "The record is being written to."})
        else:
            route.fallback()

    page.route("**/component_server/", look)
    page.keyboard.press("j")
    expect(page.locator(".one .problem")).to_be_visible()
    page.keyboard.press("k")
    expect(page.locator(".one .comp")).to_have_count(4)
    page.unroute("**/component_server/")


def test_a_group_that_comes_late_does_not_lead_back(address: str, run_id: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=groups&step=10")
    other = page.locator(".option").nth(2).get_attribute("data-group")
    page.goto(f"{address}/run?id={run_id}&tab=log")
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    held = Held(page, "show_group")
    set_params(page, {"tab": "groups", "group": other}, push=True)
    wait_for("the group's question", lambda: page.wait_for_timeout(30) or held.kept)
    page.get_by_role("button", name="← earlier").click()
    expect(page).to_have_url(re.compile("step=29"))
    held.release()
    expect(page.locator(".gw-groups .where")).to_have_text("group at step 29")
    expect(page.locator(".one .comp")).to_have_count(4)
    assert "step=29" in page.url


def test_all_charts_over_time_have_the_same_unit(address: str, open_page: OpenPage) -> None:
    def logged(step: int) -> dict[str, float | None]:
        return {**curves(step, 60, random.Random(step)), "time/elapsed": step * 3.8}

    made = made_run("minutes", 30, groups=2, metrics=logged, eval_every=10)
    page = open_page(f"{address}/run?id={made}&x=time")
    page.set_viewport_size({"width": 1440, "height": 3000})  # a chart out of sight is drawn anew when it is seen
    units = """() => [...document.querySelectorAll('.gw-overview .js-plotly-plot')].filter(n => n.data?.length)
        .map(n => n._fullLayout.xaxis.ticksuffix.trim())"""
    page.wait_for_function(f"({units})().length > 3")
    assert set(page.evaluate(units)) == {"s"}
    writer = RunWriter(paths.run_folder(made).db, 1, {"format": 1.0, "correctness": 2.0})
    for step in range(31, 35):
        writer.commit(step, metrics={"reward": 1.0, "time/elapsed": step * 3.8})
    writer.close()
    page.evaluate(WAKE)
    page.wait_for_function(f"({units})().every(unit => unit === 'min')")


def test_back_takes_a_filter_out_of_the_field_that_has_the_cursor(
    address: str, run_id: str, open_page: OpenPage
) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=completions")
    page.locator(".bars button").first.click()
    field = page.locator("[name=reward]").first
    expect(field).not_to_have_value("")
    field.focus()
    page.go_back()
    expect(field).to_have_value("")


@pytest.mark.usefixtures("context")  # a clock stays in the browser it was put into
def test_a_filter_typed_on_the_way_to_held_out_groups_leaves_them(
    address: str, run_id: str, open_page: OpenPage
) -> None:
    page = open_page(f"{address}/run?id={run_id}&tab=completions")
    expect(page.locator(".hits .hit").first).to_be_visible()
    bring(page, "ui/address.js", "openGroup")
    page.clock.install()  # the filter is written when one has typed for 0.3 s
    page.locator("[name=q]").fill("think")
    page.evaluate("openGroup({ step: 5, mode: 'eval' })")
    page.clock.run_for(1000)
    expect(page).to_have_url(re.compile("q=think"))
    assert "mode=eval" in page.url and "tab=groups" in page.url


def test_the_focus_is_handed_on_by_what_goes(address: str, run_id: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/run?id={run_id}&zoom=3..9")
    page.get_by_role("button", name="Show all steps").press("Enter")
    expect(page.get_by_label("Log scale")).to_be_focused()
    tab(page, "Completions")
    before, after = page.get_by_role("button", name="← before"), page.get_by_role("button", name="after →")
    set_params(page, {"page": 9})
    expect(page.locator(".pages span")).to_have_text("page 9 of 10")
    after.press("Enter")
    expect(after).to_be_disabled()
    expect(before).to_be_focused()
    commit(run_id, STEPS + 1)
    page.evaluate(WAKE)
    page.get_by_role("button", name="Show newer completions").press("Enter")
    expect(page.locator(".result .told")).to_be_focused()
