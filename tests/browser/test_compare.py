"""Two sweeps compared: from the boxes on the Runs page to curves, bands, finals, settings, code and shared prompts."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import shutil
import sqlite3
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.analysis.compare import curves, finals
from groupwise.storage.home import paths
from groupwise.storage.record import recent, record_check, states
from groupwise.storage.spec.words.number_words import count_words
from tests.browser.compare_page import HOSTILE, compared, traces, two_sweeps
from tests.browser.conftest import OpenPage, bring, low_targets, no_sideways_scroll, picture, set_params
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def sweeps(still_dashboard: str) -> tuple[str, list[str]]:
    return still_dashboard, two_sweeps()


def test_runs_are_chosen_and_compared(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    address, ids = sweeps
    page = open_page(address)
    boxes = page.locator("tbody .pick input")
    bar = page.locator(".choosing")
    boxes.nth(4).wait_for()
    expect(bar).to_be_hidden()
    boxes.nth(1).focus()
    page.keyboard.press("Space")
    expect(bar).to_contain_text("1 run chosen")
    boxes.nth(4).click(modifiers=["Shift"])
    expect(bar).to_contain_text("4 runs chosen")
    page.get_by_label("Search runs").fill("1e-05")
    expect(boxes).to_have_count(2)
    expect(bar).to_contain_text("2 not in this list: “lr 0.0001 seed 2”, “lr 0.0001 seed 1”")
    page.get_by_label("Search runs").fill("")
    expect(page.locator("tbody .pick input:checked")).to_have_count(4)
    bar.locator(".go").click()
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(page.locator(".chosen")).to_have_count(4)
    page.go_back()
    boxes.first.check()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".choosing")).to_be_hidden()


def test_curves_are_laid_over_each_other_hidden_and_grouped(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    page = compared(open_page, sweeps)
    assert [trace["n"] for trace in traces(page, "reward") if trace["hover"]] == [40, 40, 40, 40, 30]
    page.locator("[data-x=tokens]").click()
    expect(page).to_have_url(re.compile("x=tokens"))
    page.wait_for_function("document.querySelector('[data-chart=reward] .plot').data.at(-1).x.at(-1) > 1000")
    page.locator("[data-x=attempt]").click()
    # the resumed run: one line of 30 steps, one of ten
    page.wait_for_function("document.querySelector('[data-chart=reward] .plot').data.at(-1).x.length === 10")
    page.locator("[data-x=step]").click()
    page.locator(".chosen .toggle").first.click()
    expect(page).to_have_url(re.compile(f"hide={sweeps[1][0]}"))
    expect(page.locator(".chosen.off")).to_have_count(1)
    toggle = page.locator(".chosen .toggle").first
    expect(toggle).to_have_attribute("title", re.compile("shows its curves again"))
    toggle.click()
    expect(toggle).to_have_attribute("title", re.compile("hides its curves; tables and text keep it"))
    page.locator(".sweep .plot").scroll_into_view_if_needed()
    heads = "document.querySelector('.sweep .plot').layout?.annotations.map(({ text }) => text) ?? []"
    page.wait_for_function(f"({heads}).includes('Learning rate')")
    set_params(page, {"hide": ",".join(sweeps[1][:2])})  # the others have one learning rate
    page.wait_for_function(f"({heads}).includes('Steps') && !({heads}).includes('Learning rate')")
    set_params(page, {"hide": None})
    page.get_by_label("Group the runs by").select_option("training.learning_rate")
    expect(page.locator(".together .label").first).to_have_text("Learning rate 1e-5 2 runs")
    assert [trace["fill"] for trace in traces(page, "kl")] == ["toself", ""] * 2 + [""], "one run of three ends earlier"
    means = [trace["hover"] for trace in traces(page, "kl") if trace["hover"]]
    assert [re.findall(r"mean of \S+ of \d", hover) for hover in means] == [
        ["mean of %{customdata[1]} of 2"], ["mean of %{customdata[1]} of 3"], ["mean of %{customdata[1]} of 3"],
    ]  # fmt: skip
    expect(page.locator('[data-chart="kl"]')).to_contain_text("dotted: the mean of the runs that go on")
    # the hostile run has the rate of the second group, and other reward code
    assert [trace["fill"] for trace in traces(page, "reward")][:2] == ["toself", ""]
    assert [trace["last"] for trace in traces(page, "reward") if trace["hover"]] == [40, 40, 40, 30]
    expect(page.locator('[data-chart="reward"]')).to_contain_text("each has its own line")
    expect(page.locator('[data-chart="kl"]')).not_to_contain_text("each has its own line")
    strokes = "lines => [...new Set(lines.map(line => line.style.stroke))].sort()"
    of_groups = page.locator(".together .label .swatch line").evaluate_all(strokes)
    assert len(of_groups) == 2, "and no table has another run in the colour of a group"
    assert page.locator(":is(.finals, .settings) .swatch line").evaluate_all(strokes) == of_groups
    means = page.locator(".finals .means tr")
    expect(means).to_have_count(2)
    expect(means.first).to_contain_text("Learning rate 1e-5mean of 2 runs")
    of_runs = page.locator(".finals .runs tr td:nth-child(4)").all_inner_texts()[:2]
    of_two = [float(words.removeprefix("▲ ")) for words in of_runs]
    mean = float(means.first.locator("td:nth-child(4)").inner_text().split("±")[0])
    assert abs(mean - sum(of_two) / 2) < 0.02, (mean, of_two)
    page.reload()
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(page.get_by_role("button", name="± std")).to_be_visible()
    expect(page.locator(".together")).to_have_count(2)
    page.get_by_text("All metrics").click()
    page.get_by_label("Search metrics").fill("spread")
    page.get_by_role("button", name="reward spread within groups groups/spread", exact=True).click()
    expect(page.locator('[data-chart="groups/spread"]')).to_be_visible()
    expect(page).to_have_url(re.compile("metrics=reward.*spread"))


def test_curves_are_walked_by_keyboard(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    page = compared(open_page, sweeps)
    reward = page.get_by_role("slider", name="reward of the runs", exact=True)
    page.locator(".smooth").focus()
    page.keyboard.press("Tab")
    expect(reward).to_be_focused()
    page.keyboard.press("Home")
    expect(reward).to_have_attribute("aria-valuetext", re.compile(r", step 1: [−\d.]+$"))
    expect(page.locator('[data-chart="reward"] .hovertext')).to_have_count(1)
    passed = {reward.get_attribute("aria-valuetext")}
    for key in ["ArrowUp"] * 4 + ["ArrowDown"] * 4:
        page.keyboard.press(key)
        passed.add(reward.get_attribute("aria-valuetext"))
    assert len(passed) == 5, "every run's line"
    page.locator(".log").check()
    expect(page).to_have_url(re.compile("log=1"))
    scale = "metric => document.querySelector(`[data-chart='${metric}'] .plot`)._fullLayout.yaxis.type"
    page.wait_for_function(f"({scale})('reward') === 'log'")
    expect(page.locator("[data-chart=kl]")).to_contain_text("log scale")
    page.locator(".log").uncheck()
    page.wait_for_function(f"({scale})('reward') === 'linear'")
    reward.focus()
    page.keyboard.press("ArrowRight")
    expect(reward).to_have_attribute("aria-valuenow", "2")
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile("zoom="))
    expect(reward).to_have_attribute("aria-valuenow", "2")
    expect(reward).to_be_focused()
    page.keyboard.press("-")
    page.wait_for_function("() => !location.search.includes('zoom')")


def the_head_lies_over_what_scrolls_below_it(page: Page) -> None:
    prompts = page.locator(".alike .prompts")
    expect(prompts.locator("[data-hash]").first).to_be_visible()
    on_top = """head => {
        const { x, y } = head.getBoundingClientRect();
        return head.contains(document.elementFromPoint(x + 8, y + 8));
    }"""
    prompts.evaluate("node => { node.style.maxHeight = '70px'; node.scrollTop = 20; }")
    assert prompts.locator("thead th").first.evaluate(on_top)
    prompts.evaluate("node => { node.style.maxHeight = ''; node.scrollTop = 0; }")


# How far apart the runs ended on each shared prompt, in the order of the table.
SPREADS = """[...document.querySelectorAll('.prompts tbody tr')].map(row => {
    const ends = [...row.querySelectorAll('td')].map(cell => parseInt(cell.textContent.split('→').at(-1)));
    return Math.max(...ends) - Math.min(...ends);
})"""


def test_tables_code_and_prompts(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    page = compared(open_page, sweeps)
    finals = page.locator("table.finals")
    expect(finals.locator("tbody tr")).to_have_count(5)
    finals.get_by_role("button", name="reward", exact=True).click()
    expect(page).to_have_url(re.compile("sort=-reward"))
    saved = rows_saved(page, "the final metrics")
    assert saved[0][:6] == ["run", "id", "state", "reason", "steps", "reward"] and len(saved) == 6
    assert [row[1] for row in saved[1:]] == sweeps[1] and saved[5][0] == HOSTILE
    values = [float(text.split()[-1]) for text in finals.locator("td:nth-child(4)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    settings = page.locator("table.settings")
    expect(settings.get_by_role("button", name="Learning rate")).to_be_visible()
    expect(settings.get_by_role("row", name=re.compile("Learning rate"))).to_contain_text("training.learning_rate")
    assert ["Learning rate", "training.learning_rate", "0.00001", "0.00001"] in [
        row[:4] for row in rows_saved(page, "the settings that differ")
    ]
    expect(settings.get_by_role("row", name=re.compile("training.seed")).locator("td .value").first).to_have_text("1")
    expect(page.locator(".sweep .plot .main-svg").first).to_be_attached()
    assert page.locator(".sweep .plot").evaluate("node => node.data.length") == 5
    code = page.locator('[data-function="correctness"]')
    expect(code.locator("summary")).to_contain_text("3 versions · The same code in both.")
    code.locator("summary").click()
    expect(code.locator("pre")).to_have_text("def correctness():\n    return 0")
    page.get_by_label("Against the reward code of this run").select_option(sweeps[1][2])
    expect(code.locator(".removed")).to_contain_text("return 0")
    expect(code.locator(".added")).to_contain_text("return 1")
    page.locator(".alike").scroll_into_view_if_needed()
    the_head_lies_over_what_scrolls_below_it(page)
    page.evaluate("document.querySelector('.gw-compare .alike').scrollIntoView({block: 'end'})")
    page.locator(".prompts [data-hash]").first.click()
    expect(page.locator(".cards .comp").first).to_be_in_viewport()
    asked = page.locator(".prompts [data-hash]").first.inner_text()
    assert rows_saved(page, "the shared prompts")[1][0] == asked
    page.get_by_label("Order of the prompts").select_option("largest difference first")
    expect(page).to_have_url(re.compile("prompts=differ"))
    page.wait_for_function(f"({SPREADS}).every((spread, i, all) => !i || spread <= all[i - 1] + 1)")  # rounded
    page.get_by_label("Search prompts").fill("nowhere")
    expect(page.locator(".alike .told")).to_have_text("No prompt of these runs has these words.")
    expect(page.get_by_role("button", name="Download the shared prompts as CSV")).to_be_hidden()
    page.get_by_label("Search prompts").fill("")
    cards = page.locator(".cards .comp")
    expect(cards).to_have_count(5)
    expect(cards.first).to_contain_text("solved")
    expect(cards.first.locator("pre")).to_contain_text("answer")
    assert "tab=groups" in (cards.first.get_by_role("link", name="Its group").get_attribute("href") or "")
    expect(page.locator(".gw-compare img")).to_have_count(0)
    assert no_sideways_scroll(page)
    picture(page, "compare")


def rows_saved(page: Page, what: str) -> list[list[str]]:
    """The rows of the CSV file that a table's button saves."""
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Download {what} as CSV").click()
    return list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8-sig"))))


def test_runs_come_and_go_and_what_is_missing_is_said(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    page = open_page(f"{sweeps[0]}/compare")
    page.get_by_role("heading", name="Choose runs to compare").wait_for()
    offer = page.locator(".offer", has_text="lr 1e-05 seed 1")
    expect(offer).to_be_visible()
    expect(page.locator(".offer.heads")).to_have_text("runstaterewardlaunched")
    heads, cells = (
        page.locator(f".offer{which}")
        .first.locator(".n")
        .evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
        for which in (".heads", ":not(.heads)")
    )
    assert heads == cells, "each over its figures"
    page.set_viewport_size({"width": 390, "height": 844})
    name, pill = offer.locator("bdi").bounding_box(), offer.locator(".pill").bounding_box()
    assert name and pill and pill["y"] >= name["y"] + name["height"], "its state stands below a run's name"
    assert offer.locator("bdi").evaluate("node => node.scrollWidth <= node.clientWidth"), "a name is whole"
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare")).to_have_attribute(
        "aria-current", "page"
    )
    page.get_by_label("Add a run").fill(next(one for one in sweeps[1] if "1e-05-seed-1" in one))
    expect(page.locator(".found .option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".hint")).to_have_text("Add another run to compare it with.")
    expect(page.locator("table.settings")).to_be_hidden()
    page.get_by_label("Add a run").fill("seed 2")
    page.locator(".found .option").first.click()
    expect(page.locator(".chosen")).to_have_count(2)
    expect(page.locator("table.settings")).to_be_visible()
    expect(page.locator(".sweep .why")).to_have_text(re.compile("^With three or more runs"))
    expect(page.locator(".sweep > .panel")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    for which in (".finals", ".settings"):
        inside = page.locator(f".scroll:has(> {which})").evaluate("node => node.scrollWidth <= node.clientWidth")
        assert inside, f"{which}: a run is a card, all of which is in sight"
    figure = page.locator(".finals .runs td.n").first
    assert figure.evaluate("node => getComputedStyle(node, '::before').content") == '"steps"'
    ends = """node => {
      const { position, backgroundImage, width } = getComputedStyle(node, "::after");
      const last = [...node.children].findLast((child) => child.getClientRects().length);
      const room = node.scrollWidth - (last.getBoundingClientRect().right + node.scrollLeft);
      return [node.scrollWidth > node.clientWidth, position, backgroundImage !== "none", room >= parseInt(width) - 8];
    }"""
    steer = page.locator(".steer")
    assert steer.evaluate(ends) == [True, "sticky", True, True], "what steers the curves fades out where it goes on"
    assert low_targets(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_label("Add a run")).to_be_focused()
    expect(page.locator(".adder .found")).to_be_hidden()  # it would lie over the run just added
    page.keyboard.press("ArrowDown")
    expect(page.locator(".adder .found")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove lr 1e-05 seed 1").click()
    expect(page.locator(".chosen")).to_have_count(1)
    gone = made_run("gone", 4, groups=1)
    page.goto(f"{sweeps[0]}/compare?ids={gone},nobody,{sweeps[1][0]},{sweeps[1][1]}")
    page.locator("table.finals tbody tr").nth(2).wait_for()
    shutil.rmtree(paths.run_folder(gone).path)
    page.reload()
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(page.locator(".legend")).to_contain_text("Its folder is not where it was.")
    expect(page.locator(".legend")).to_contain_text("There is no run of this id here.")
    expect(page.locator(".stale")).to_contain_text("1 of the 4 runs of this address is not here.")
    assert [trace["n"] for trace in traces(page, "reward") if trace["hover"]] == [40, 40]
    page.locator(".alike").scroll_into_view_if_needed()
    expect(page.locator(".prompts [data-hash]").first).to_be_visible()
    page.goto(f"{sweeps[0]}/compare?ids={gone},nobody,{sweeps[1][0]},{made_run('bare', 4, groups=0)}")
    page.wait_for_selector(".gw-compare[data-drawn]")  # what comes above pushes it out of sight again
    page.locator(".alike").scroll_into_view_if_needed()
    expect(page.locator(".alike .told")).to_contain_text("No two of these runs were given the same prompt")
    page.goto(f"{sweeps[0]}/compare?runs={sweeps[1][0]},{sweeps[1][1]}")  # as people write it
    expect(page.locator("table.finals tbody tr")).to_have_count(2)
    page.go_back()
    page.goto(f"{sweeps[0]}/compare?ids=nobody")
    expect(page.locator(".stale")).to_contain_text("The run of this address is not here.")
    page.go_back()
    page.go_back()
    page.get_by_role("button", name="Remove it").click()
    expect(page).to_have_url(re.compile(f"ids={gone}%2C{sweeps[1][0]}%2C{sweeps[1][1]}$"))
    expect(page.locator(".stale")).to_be_hidden()


def test_a_live_run_goes_on_in_its_curve(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    from groupwise.storage.record.record import RunWriter
    from groupwise.storage.registry import registry

    live = made_run("live", 5, groups=0, state=states.RUNNING)
    one, other = (made_run("twin", 12, groups=0) for _ in range(2))
    registry.set_state(
        other, states.FAILED, f"Failed at step 12: CUDA ran out of memory. {'It tried to allocate. ' * 9}"
    )
    page = open_page(f"{sweeps[0]}/compare?ids={sweeps[1][0]},{one},{other},{live}")
    page.wait_for_selector(".gw-compare[data-drawn]")
    assert traces(page, "reward")[-1]["last"] == 5
    dashes = "node => node.data.filter(line => line.hovertemplate).map(line => line.line.dash)"
    plot = page.locator('[data-chart="reward"] .plot')
    assert plot.evaluate(dashes)[1:3] == ["solid", "0px,8px,8px,0px"], "twins are both seen"
    expect(page.locator('[data-chart="reward"]')).to_contain_text("dashed: identical lines")
    expect(page.locator(".same")).to_have_count(1)
    same = page.locator(f'.chosen[data-run="{other}"] .same')
    expect(same).to_have_text(f"same as twin · {one.rpartition('-')[2]}")
    reason = page.locator(".finals .reason").bounding_box()
    assert reason and reason["width"] <= 200, "the figures have the room"
    page.set_viewport_size({"width": 390, "height": 844})
    own = page.locator(f'.chosen[data-run="{other}"] .toggle')
    assert own.evaluate("node => node.offsetWidth") >= 100, "what is said of the other run leaves room for the name"
    assert no_sideways_scroll(page)
    writer = RunWriter(paths.run_folder(live).db, 1, {"format": 1.0})
    writer.commit(6, metrics={"reward": 2.0})
    writer.close()
    page.wait_for_function("document.querySelector('[data-chart=reward] .plot').data.at(-1).x.at(-1) === 6")


@pytest.fixture
def lines(bare_page: Page) -> Page:
    """An empty page that knows Lines."""
    return bring(bare_page, "pages/compare/lines.js", "Lines")


def test_a_band_is_over_the_runs_that_reach_so_far(lines: Page) -> None:
    two = [{"x": [0, 1, 2], "y": [0, 2, 4]}, {"x": [0, 2, 4], "y": [0, None, 8]}, {"x": [], "y": []}]
    band = lines.evaluate("lines => Lines.band(lines, 'range')", two)
    assert (band["x"], band["y"], band["n"]) == ([0, 1, 2, 4], [0, 2, 4, 8], [2, 1, 1, 1])
    same = [{"x": [0, 1], "y": [1, 1]}, {"x": [0, 1], "y": [3, 5]}]
    band = lines.evaluate("lines => Lines.band(lines, 'range')", same)
    assert (band["low"], band["y"], band["high"]) == ([1, 1], [2, 3], [3, 5])
    wild = [{"x": list(range(40)), "y": [(n * n * k) % 7 for n in range(40)]} for k in (1, 2, 3)]
    lines.evaluate("() => { globalThis.smooth = line => "
                   "({ ...line, y: Lines.smoothed({ ...line, of: line.x.length }).smooth }) }")  # fmt: skip
    smooth = lines.evaluate("lines => Lines.band(lines.map(smooth), 'range')", wild)
    inside = zip(smooth["low"], smooth["y"], smooth["high"], strict=True)
    assert all(low <= mean <= high for low, mean, high in inside), "a mean runs in its own band"
    assert max(smooth["high"]) < 6, "and its edges are as smooth as it is"
    apart = [{"x": list(range(end)), "y": [float(k)] * end} for k, end in ((0, 60), (2, 20))]
    drawn = lines.evaluate("lines => { const band = Lines.band(lines.map(smooth), 'range'); "
                           "return [band, Lines.outline(band)] }", apart)  # fmt: skip
    band, outline = drawn
    assert band["y"] == [1] * 20 + [0] * 40, "where one of two has ended, the mean is the other’s at once"
    assert max(outline["x"]) == 19 and set(outline["y"]) == {0, 2}, "and the band ends there"
    pieces = {"x": [0, 1, 2, 3], "low": [0, 1, 2, 3], "high": [5, 6, 7, 8], "n": [2, 2, 1, 2]}
    assert lines.evaluate("band => Lines.outline(band)", pieces) == {
        "x": [0, 1, 1, 0, None, 3, 3], "y": [5, 6, 1, 0, None, 8, 3],
    }  # fmt: skip
    assert lines.evaluate("band => Lines.outline(band)", {**pieces, "n": [1] * 4}) == {"x": [], "y": []}
    reached = lines.evaluate("Lines.reached({ n: [1, 3, 3, 2, 2, 1] }, 3)")
    assert reached == {"all": [None, 1, 2], "some": [0, None, 3, 4, None, 5]}, "no stroke from one number to another"
    band = lines.evaluate("lines => Lines.band(lines, 'std')", same)
    assert [round(value, 3) for value in band["high"]] == [3.414, 5.828]
    long = [{"x": list(range(1000)), "y": [1.0] * 1000}]
    assert len(lines.evaluate("lines => Lines.band(lines, 'range').x", long)) == 200
    assert lines.evaluate("Lines.band([], 'range').x") == []


def test_runs_with_all_settings_but_the_seed_alike_are_a_group(lines: Page) -> None:
    def cells(*values: float | None) -> list[dict[str, Any] | None]:
        return [None if value is None else {"words": f"{value:g}", "number": value} for value in values]

    fields = [
        {"name": "training.learning_rate", "label": "Learning rate", "values": cells(3, 1, 1)},
        {"name": "training.seed", "label": "seed", "values": cells(1, 1, 2)},
    ]
    runs = [{"id": name, "there": True} for name in "abc"] + [{"id": "d", "there": False}]
    words = "([runs, fields, by]) => Lines.groups(runs, fields, by).map(({label, ids}) => [label, ids.join('')])"
    assert lines.evaluate(words, [runs, fields, "settings"]) == [["Learning rate 1", "bc"], ["Learning rate 3", "a"]]
    assert lines.evaluate(words, [runs, fields, "training.seed"]) == [["seed 1", "ab"], ["seed 2", "c"]]
    assert lines.evaluate(words, [runs, [], "settings"]) == [["the same settings", "abc"]]
    looks = "(given) => Lines.groups(...given).map(({colour, dash}) => colour + dash)"
    assert lines.evaluate(looks, [runs, fields, "settings", ["solid", "dot"]]) == ["--r1solid", "--r2dot"]


def test_what_is_looked_at_closer_is_smoothed_as_all_of_it(lines: Page) -> None:
    """It begins with the points before it, whatever their number; the next point on either side is drawn too."""
    whole = {"x": list(range(60)), "y": [(n * n) % 7 for n in range(60)], "of": 60, "per": 1, "a_log": 1, "begins": []}
    far = lines.evaluate("line => Lines.smoothed(line)", whole)
    near = lines.evaluate("line => Lines.cut(Lines.smoothed(line), [40.5, 43])", whole)
    assert near["x"] == [40, 41, 42, 43] and near["y"] == whole["y"][40:44]
    assert near["smooth"] == far["smooth"][40:44] != near["y"]
    cut = "(line, stretch) => Lines.cut(line, stretch).x"
    assert lines.evaluate("line => Lines.cut(line, null)", whole) == whole
    ends = {(-5, -1): [], (-5, 1): [0, 1], (58, 99): [58, 59], (59.5, 99): [], (7.2, 7.4): [7, 8], (7, 7.5): [7, 8]}
    for stretch, seen in ends.items():
        assert lines.evaluate(f"line => ({cut})(line, [{stretch[0]}, {stretch[1]}])", whole) == seen
    few, long = {**whole, "of": 3}, {**whole, "of": 300, "per": 10, "smooth": whole["y"], "logged": 13}
    words = "lines => Lines.reachWords(lines)"
    raw = "lines of fewer than 4 logged steps are not smoothed"
    assert lines.evaluate(words, [few]) == raw
    assert lines.evaluate(words, [few, whole]) == f"over the last 10 logged steps; {raw}"
    assert lines.evaluate(words, [whole, long]) == "over the last 6 to 10 logged steps"
    of_each = {"x": list(range(600)), "y": [n % 7 for n in range(600)], "of": 600, "per": 1, "a_log": 10, "begins": []}
    seldom = of_each | {"every": 10}
    assert lines.evaluate(words, [seldom]) == "over the last 10 logs (100 steps)", (
        "as TRL's, which are of ten steps each"
    )
    # of runs that log every step and every ten, it said 10 logged steps of both
    both = "over the last 10 logs (10 to 100 steps)"
    assert lines.evaluate(words, [whole | {"every": 1}, seldom]) == both
    calm = lines.evaluate("line => Lines.smoothed(line)", of_each)["smooth"]
    assert calm[-1] == pytest.approx(sum(of_each["y"][-100:]) / 100)


@pytest.mark.parametrize(("steps", "every"), [(34, 10), (65, 10), (213, 10), (7, 5)])
def test_a_smoothed_line_ends_where_the_run_is_now_also_where_its_last_log_is_of_few_steps(
    still_dashboard: str, lines: Page, steps: int, every: int
) -> None:
    """By its points alone, one stopped between two logs ended beside the figure in its table."""
    folder = paths.run_folder(made_run("stopped between", steps, groups=1, every=every, state=states.STOPPED))
    names = ["reward", "groups/tied"]
    with record_check.read_record(folder.db) as record:
        drawn = {axis: curves.read_curves(record, names, axis) for axis in ("step", "attempt")}
        closer = curves.read_curves(record, names, span=(steps - 2, steps))
        means = finals.last_means(record)
    for found in (*drawn.values(), closer):
        ends = [lines.evaluate("line => Lines.smoothed(line).smooth.at(-1)", found[name][-1]) for name in names]
        assert ends == pytest.approx([means[name] for name in names], rel=1e-5)
    logs = -(-steps // every)
    count = recent.window_of(logs)
    words = f"lines of fewer than 4 logs show the mean of each log ({steps % every} to {every} steps)"
    said = lines.evaluate("lines => Lines.reachWords(lines)", [drawn["step"][name][0] for name in names])
    over = f"over the last {count_words(count, 'log')} ({steps - every * (logs - count)} to {count * every} steps)"
    assert said == (over if steps > 30 else words)


@pytest.mark.parametrize(
    ("steps", "every", "resumed_at", "upto"),
    [(17, 10, None, 10), (27, 10, 12, 20), (349, 50, None, 300), (3999, 20, None, 3980)],
)
def test_a_smoothed_line_ends_where_the_run_last_logged(
    still_dashboard: str, lines: Page, steps: int, every: int, resumed_at: int | None, upto: int
) -> None:
    """Also where a point is of several steps, and over each attempt; its end is the figure of the table."""
    made = made_run("killed", steps, groups=1, every=every, state=states.FAILED, resumed_at=resumed_at)
    with record_check.read_record(paths.run_folder(made).db) as record:
        found = [curves.read_curves(record, ["groups/tied"], axis)["groups/tied"][-1] for axis in ("step", "attempt")]
        closer = curves.read_curves(record, ["groups/tied"], span=(upto, steps))["groups/tied"][-1]
        now = finals.last_means(record)["groups/tied"]
    for line, begun in ((found[0], 0), (found[1], resumed_at or 0), (closer, 0)):
        smooth = lines.evaluate("line => Lines.smoothed(line).smooth", line)
        drawn = [(x, value) for x, value in zip(line["x"], smooth, strict=True) if value is not None]
        assert drawn[-1][0] + begun == pytest.approx(upto, abs=line["per"]) and drawn[-1][0] + begun <= upto
        if line is not found[1] or not resumed_at:
            assert drawn[-1][1] == pytest.approx(now, rel=1e-5)
        assert line["x"][-1] + begun > upto and line["y"][-1] is not None, "what is known of each step goes on"


def test_what_runs_came_to_is_on_the_first_screen(open_page: OpenPage, sweeps: tuple[str, list[str]]) -> None:
    """The settings that differ stood above, a row each, with all figures below the screen."""
    page = compared(open_page, sweeps)
    for part in (".results .finals", '[data-chart="reward"] .plot'):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.8)
    tops = [page.locator(part).bounding_box() for part in (".results", ".charts", ".differ", ".sweep")]
    assert [top["y"] for top in tops if top] == sorted(top["y"] for top in tops if top)


@pytest.mark.parametrize("steps", [6, 20, 60, 400, 401, 5000])
def test_a_curve_ends_at_the_figure_of_final_metrics_however_long_the_run_is(
    still_dashboard: str, lines: Page, steps: int
) -> None:
    """Where a point was of two steps, it was smoothed over twenty logged steps, and its figure over ten."""
    folder = paths.run_folder(made_run(f"{steps} steps", steps, groups=0))
    names = {"reward": "reward", "kl": "kl", "completions/mean_length": "length"}
    with record_check.read_record(folder.db) as record:
        drawn = curves.read_curves(record, list(names))
        closer = curves.read_curves(record, list(names), span=(steps - 3, steps))
        final = finals.final_values(record)
    for found in (drawn, closer):
        ends = [lines.evaluate("line => Lines.smoothed(line).smooth.at(-1)", found[name][0]) for name in names]
        assert ends == pytest.approx([final[figure] for figure in names.values()], rel=1e-5)
        said = lines.evaluate("lines => Lines.reachWords(lines)", found["reward"])
        assert said == f"over the last {recent.window_of(steps)} logged steps"


def test_each_stage_is_smoothed_over_its_own_logged_steps(still_dashboard: str, lines: Page) -> None:
    folder = paths.run_folder(made_run("two stages", 74, groups=0, every=10, state=states.STOPPED))
    stage = json.dumps({"stage": 2, "of": 2, "after": 40, "total": 80})
    with contextlib.closing(sqlite3.connect(folder.db)) as record, record:
        row = "(at, attempt, step, kind, message, data) VALUES (0, 1, 40, 'stage', '', ?)"
        record.execute(f"INSERT INTO event {row}", [stage])
    with record_check.read_record(folder.db) as record:
        (line,) = curves.read_curves(record, ["reward"])["reward"]
        means = finals.last_means(record)
    assert line["logs"] == [(0, 10, 20, 30, 40), (40, 50, 60, 70, 74)]
    smooth = lines.evaluate("line => Lines.smoothed(line).smooth", line)
    assert smooth[-1] == pytest.approx(means["reward"], rel=1e-5)
    assert smooth[3] == pytest.approx(sum(line["y"][2:4]) / 2) and smooth[4] == line["y"][4], "of the new stage alone"


def test_each_run_says_over_which_steps_its_figures_are(open_page: OpenPage, still_dashboard: str) -> None:
    """Means over 30 and 10 steps stood side by side without a word."""
    ids = [made_run(name, 60, groups=1, every=every) for name, every in (("log10", 10), ("plain", 1), ("other", 1))]
    page = compared(open_page, (still_dashboard, ids), n=3)
    steps = ["steps 31–60", "steps 51–60", "steps 51–60"]
    expect(page.locator(".finals .means-of")).to_have_text(steps)
    assert no_sideways_scroll(page)
    picture(page, "compare-steps")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".finals .means-of").first).to_be_visible()
    assert no_sideways_scroll(page)
    picture(page, "compare-steps-phone")
