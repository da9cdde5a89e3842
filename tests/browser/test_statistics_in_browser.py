"""The Statistics tab: from a number to the completions and the prompt behind it, all of it in the address."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.analysis.doctor.words import percent_without
from groupwise.storage.home import paths
from groupwise.storage.record.record import RunWriter
from tests.browser.conftest import OpenPage, bring, no_sideways_scroll, picture
from tests.support.made_runs import learning_group, made_run

GROUPS = 4
PATIENCE = 30_000  # ms, for the first figure: Plotly is four megabytes


@pytest.fixture(scope="module")
def run_id(reading_dashboard: str) -> Iterator[str]:
    yield made_run("statistics", 30, groups=GROUPS, eval_every=10, prompts=12)


def panel(page: Page, name: str) -> Locator:
    return page.locator(f".gw-statistics [data-panel={name}]")


def click_in(figure: Locator, across: float, up: float) -> None:
    """A click into a figure, at shares of its width and its height."""
    area = figure.locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box
    page = figure.page
    page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * (1 - up))
    page.wait_for_timeout(200)  # Plotly knows what is under the pointer a moment after it came
    page.mouse.down()
    page.mouse.up()


@pytest.mark.parametrize("steps", [60, 100])
def test_the_last_step_is_labelled_as_in_the_charts_of_the_overview(
    open_page: OpenPage, reading_dashboard: str, steps: int
) -> None:
    """Plotly left out a number that had no room beside the axis: 0, 20, 40, 60, 80 of a run of 100 steps."""
    address = f"{reading_dashboard}/run?id={made_run(f'of {steps}', steps, groups=1, size=2)}"
    ends = """([chart]) => { const last = [...chart.querySelectorAll(".xtick text")].at(-1);
      const { opacity, display } = getComputedStyle(last);
      return opacity > 0 && display !== "none" ? last.textContent : null }"""
    page = open_page(f"{address}&tab=statistics")
    for figure in ("[data-panel=ties]", "[data-panel=reward]"):
        page.locator(figure).scroll_into_view_if_needed()
        expect(page.locator(f"{figure} .xtick text").last).to_have_text(f"{steps}", timeout=PATIENCE)
        assert page.locator(f"{figure} .js-plotly-plot").evaluate_all(ends) == f"{steps}", figure


def test_from_a_number_to_what_is_behind_it(open_page: OpenPage, reading_dashboard: str, run_id: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=statistics")
    of_steps = re.compile("Of the [0-9]+ groups of steps")
    expect(panel(page, "ties").locator(".says")).to_have_text(of_steps, timeout=PATIENCE)
    expect(panel(page, "ties").locator(".scatterlayer .trace")).to_have_count(4, timeout=PATIENCE)
    a_kind_that_there_is_none_of_draws_nothing(panel(page, "ties"))

    # what is right can be said anew, and is kept in the address
    solved = panel(page, "pass").locator(".says")
    expect(solved).to_have_text(re.compile(r"pass@1 [\d.]+\s% and pass@8"))
    page.get_by_label("Score from which on it is right").fill("2")
    page.get_by_label("Score from which on it is right").press("Enter")
    expect(solved).to_have_text(re.compile("pass@1 0\u202f%"))
    expect(page).to_have_url(re.compile("solved=correctness%3A2"))
    expect(solved).to_have_text(re.compile(r"No completion reached 2: the highest was 1\.$"))
    page.get_by_role("button", name="as the run counts it").click()
    expect(solved).not_to_have_text(re.compile("pass@1 0\u202f%"))
    a_number_that_is_none_is_said_and_the_function_counts(page)

    prompts = panel(page, "prompts")
    expect(prompts.locator("tbody tr")).to_have_count(12)
    prompts.get_by_role("button", name="forgotten").click()
    expect(prompts.locator(".says")).to_have_text(re.compile("of 12 prompts solved by half of a group before"))
    expect(page).to_have_url(re.compile("order=forgotten"))

    # cells and bars lead to their completions, and the way back leads back
    expect(panel(page, "reward").locator(".heatmaplayer image")).to_be_visible(timeout=PATIENCE)
    click_in(panel(page, "reward"), 0.99, 0.95)
    expect(page).to_have_url(re.compile(r"tab=completions.*reward=3\.\.3&steps=30\.\.30"))
    page.go_back()
    expect(page).to_have_url(re.compile("tab=statistics.*order=forgotten"))
    expect(panel(page, "scores").locator("[data-plot=correctness] .barlayer")).to_be_visible(timeout=PATIENCE)
    click_in(panel(page, "scores").locator("[data-plot=correctness]"), 0.72, 0.1)
    expect(page).to_have_url(re.compile(r"function=correctness%3A1\.\.1&steps=6\.\.30"))
    page.go_back()
    prompts.get_by_role("button", name="easiest").click()
    link = prompts.locator("tbody a").first
    number = re.search(r"prompt=(\d+)", link.get_attribute("href") or "")
    assert number
    link.click()
    expect(page).to_have_url(re.compile(rf"tab=groups.*prompt={number[1]}\b"))


def a_kind_that_there_is_none_of_draws_nothing(ties: Locator) -> None:
    """No line of its own on top of the others; and how much of each there is stands beside its colour."""
    widths = "plot => plot.data.filter(one => one.stackgroup).map(one => one.line.width)"
    assert ties.locator(".js-plotly-plot").evaluate(widths) == [0, 0, 0]
    share = r" (<?[\d.]+)\s%"
    keys = rf"none right{share}tied otherwise{share}all at top score{share}have a learning signal{share}"
    told = re.fullmatch(keys, ties.locator(".keys").inner_text().replace("\n", ""))
    says = r"Of the (\d+) groups of steps \d+–\d+, (\d+|none) (?:is|are) tied"
    tied = re.search(says, ties.locator(".says").inner_text())
    assert told and tied and sum(int(told[n].replace("<1", "0")) for n in (1, 2, 3, 4)) == 100
    assert f"{told[4]}\u202f%" == percent_without(int(tied[2].replace("none", "0")) / int(tied[1]))


def a_number_that_is_none_is_said_and_the_function_counts(page: Page) -> None:
    of_correctness = panel(page, "pass").locator(".says").inner_text()
    which = page.get_by_label("Reward function that says whether a completion is right")
    least, fault = page.get_by_label("Score from which on it is right"), page.locator(".gw-statistics .solved .problem")
    which.select_option("format")
    expect(panel(page, "pass").locator(".says")).not_to_have_text(of_correctness)
    of_format = panel(page, "pass").locator(".says").inner_text()
    least.fill("")
    least.press("Tab")
    expect(fault).to_have_text("No number is typed: ≥ 1 counts.")
    expect(page).to_have_url(re.compile("solved=format%3A1"))
    expect(panel(page, "pass").locator(".says")).to_have_text(of_format)
    page.get_by_role("button", name="as the run counts it").click()
    expect(fault).to_be_hidden()
    expect(least).to_have_value("1")
    expect(panel(page, "pass").locator(".says")).to_have_text(of_correctness)

    # the other way round: what the select shows is what is counted
    least.fill("abc")
    which.select_option("format")
    expect(fault).to_have_text("“abc” is not a number: ≥ 1 counts.")
    expect(least).to_have_attribute("aria-invalid", "true")
    expect(page).to_have_url(re.compile("solved=format%3A1"))
    expect(panel(page, "pass").locator(".says")).to_have_text(of_format)
    least.fill("0,5")
    least.press("Enter")
    page.get_by_role("button", name="Use 0.5").click()
    expect(page).to_have_url(re.compile("solved=format%3A0.5"))
    expect(fault).to_be_hidden()
    page.get_by_role("button", name="as the run counts it").click()
    expect(which).to_have_value("correctness")


def test_the_figures_are_walked_by_keyboard(open_page: OpenPage, reading_dashboard: str, run_id: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=statistics")
    ties = panel(page, "ties").get_by_role("slider", name="tied groups")
    expect(ties.locator(".scatterlayer .trace")).to_have_count(4, timeout=PATIENCE)
    ties.focus()
    page.keyboard.press("End")
    expect(ties).to_have_attribute("aria-valuetext", re.compile(r"^step 30: none right .* %, .*not tied [\d.]+ %$"))
    expect(ties.locator(".hoverlayer .hovertext, .hoverlayer .legend")).not_to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(ties).to_have_attribute("aria-valuetext", re.compile("^step 29: "))
    page.keyboard.press("Escape")
    expect(ties.locator(".hoverlayer .hovertext, .hoverlayer .legend")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"tab=completions.*steps=29\.\.29"))
    page.go_back()

    # cell by cell; one that is empty leads nowhere
    panel(page, "reward").scroll_into_view_if_needed()
    rewards = panel(page, "reward").get_by_role("slider")
    expect(rewards.locator(".heatmaplayer image")).to_be_visible(timeout=PATIENCE)
    rewards.focus()
    page.keyboard.press("End")
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    expect(rewards).to_have_attribute("aria-valuetext", re.compile(r"^step 30 · 3, [1-9]\d* completions, [\d.]+ %$"))
    for _ in range(9):
        if ", 0 completions" not in str(rewards.get_attribute("aria-valuetext")):
            page.keyboard.press("ArrowDown")
    expect(rewards.locator(".frame")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("tab=statistics"))
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"tab=completions.*reward=3\.\.3&steps=30\.\.30"))
    page.go_back()

    panel(page, "scores").scroll_into_view_if_needed()
    bars = panel(page, "scores").get_by_role("slider", name="correctness")
    expect(bars.locator(".barlayer")).to_be_visible(timeout=PATIENCE)
    bars.focus()
    page.keyboard.press("Home")
    expect(bars).to_have_attribute("aria-valuetext", re.compile(r"^0, [\d,]+ completions, [\d.]+ %$"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"function=correctness%3A0\.\.0&steps=6\.\.30"))


def test_the_numbers_of_an_axis_have_equally_many_digits(bare_page: Page) -> None:
    page = bring(bare_page, "pages/run/statistics_figures.js", "axisNumbers", "heat", "spread")
    written = {
        (0, 1, 2): ["0", "1", "2"], (0, 0.5, 1): ["0.0", "0.5", "1.0"], (-0.25, 0, 4 / 3): ["−0.25", "0.00", "1.33"],
        (0.001, 0.002): ["0.001", "0.002"], (-1e-12, 1500): ["0", "1,500"], (0, 1e-5): ["0", "1.0e-5"],
    }  # fmt: skip
    for values, words in written.items():
        assert page.evaluate("values => axisNumbers(values)", list(values)) == words
    ticks = """steps => heat({ mode: "eval", steps: steps.map(step => [step, step]), x: [], y: [], counts: [],
      share: [], bounds: [] }).layout.xaxis.tickvals"""
    assert page.evaluate(ticks, [0, 20]) == [0, 20] and page.evaluate(ticks, [5]) == [5]
    assert page.evaluate(ticks, [0, 20, 40, 60, 61]) == [0, 20, 40, 60], "none lies over another"
    assert page.evaluate(ticks, list(range(0, 1200, 20))) == list(range(0, 1200, 180))
    first = """(({ data, layout: { xaxis, yaxis } }) => [data[0].cliponaxis, xaxis.layer, yaxis.layer])(
      spread({ mode: "eval", steps: [[0, 0], [20, 20]], spread: [1, 2], small: null }))"""
    assert page.evaluate(first) == [False, "below traces", "below traces"], "a point at step 0 is seen whole"


def test_held_out_groups_and_what_comes_later(open_page: OpenPage, reading_dashboard: str, run_id: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=statistics")
    expect(page.locator(".gw-statistics section").first).to_have_text(re.compile("^Learning signal"), timeout=PATIENCE)
    expect(panel(page, "ties").locator(".says")).to_have_text(
        re.compile("no learning signal from|has a learning signal"), timeout=PATIENCE
    )
    panel(page, "lengths").scroll_into_view_if_needed()
    expect(panel(page, "lengths").locator(".heatmaplayer image")).to_be_visible(timeout=PATIENCE)
    page.locator(".gw-statistics [data-mode=eval]").click()
    says = panel(page, "ties").locator(".says")
    expect(says).to_have_text(re.compile(r"^Of the 4 groups of the last evaluation \(step 30\)"))
    expect(page.locator(".gw-statistics section").first).to_have_text(re.compile("^Ties"), use_inner_text=True)
    words = page.locator(".gw-statistics .sections")
    expect(words).not_to_have_text(re.compile("gradient|learning signal", re.I), use_inner_text=True)
    below = panel(page, "lengths")
    expect(below.locator(".wait")).to_have_text("Counting…")  # it was drawn of training, and is not yet in view
    expect(below.locator(".drawn")).to_be_hidden()
    expect(page).to_have_url(re.compile("mode=eval"))
    assert no_sideways_scroll(page)
    for figure in page.locator(".gw-statistics [data-panel]").all():
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-key", re.compile("eval"), timeout=PATIENCE)
    expect(panel(page, "reward").locator(".xtick text")).to_have_text(["10", "20", "30"])
    expect(panel(page, "reward").locator(".ytick text")).to_have_text(["0", "1", "2", "3"])
    picture(page, "statistics")

    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    made = learning_group(31, 0, 60, 8, ("format", "correctness"), 12, random.Random(1))
    made.mode = "eval"
    writer.commit(31, groups=[made])
    writer.close()
    panel(page, "ties").scroll_into_view_if_needed()  # what nobody sees is not counted anew
    page.wait_for_function(
        "dispatchEvent(new Event('groupwise:wake')) && "
        "document.querySelector('[data-panel=ties] .says').textContent.includes('group of the last evaluation')",
        polling=500,
    )

    # what was drawn anew leads to what is new
    figure = panel(page, "ties").get_by_role("slider")
    figure.focus()
    page.keyboard.press("End")
    expect(figure).to_have_attribute("aria-valuetext", re.compile("^step 31: "))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"tab=completions.*steps=31\.\.31"))
