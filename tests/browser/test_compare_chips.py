"""The chips of the runs that Compare lays over each other: names of any length and script, and runs that are gone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.made_runs import made_run

NAMES = (
    "‹img src=x onerror=alert(1)› and a name that goes on  .*[a-z]+ (x",
    "an experiment of arithmetic with a learning rate of 1e-5 and a tail, seed 17",
    "ניסוי של אריתמטיקה עם קצב למידה נמוך מאוד וזנב ארוך 2",
    "⚡❤️☀️ an experiment with emoji ⭐⭐⭐⭐ in every part of it ❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️",
)
BOTH_WAYS = "run ניסוי של אריתמטיקה עם קצב למידה נמוך מאוד וזנב ארוך (copy 2)"
FROM_RIGHT = (NAMES[2], BOTH_WAYS)
UNKNOWN = "There is no run of this id here."


@pytest.fixture(scope="module")
def long_names(still_dashboard: str) -> str:
    """The address at which four runs of long names are compared with one that is not there."""
    ids = [made_run(name, 14, groups=1, size=2, seed=n) for n, name in enumerate(NAMES)]
    return f"{still_dashboard}/compare?ids={','.join([*ids, 'nope'])}"


def opened(open_page: OpenPage, address: str) -> Page:
    page = open_page(address)
    page.wait_for_selector(".gw-compare[data-drawn]")
    return page


def chips(page: Page) -> Any:
    """Of each chip of a run that is there, what its name's parts show: their widths, and whether the end is whole."""
    return page.locator(".legend .kept-end").evaluate_all("""names => names.map(name => {
        const [start, end] = name.children;
        const chip = name.closest(".chosen").getBoundingClientRect();
        return { start: start.clientWidth, end: end.clientWidth, whole: end.scrollWidth <= end.clientWidth + 1,
                 inside: chip.left >= 0 && chip.right <= innerWidth, blank: /^\\s/.test(end.textContent) };
    })""")


# Of a name, whether its first letter is in sight, and its last.
IN_SIGHT = """name => {
  const box = name.getBoundingClientRect(), text = name.querySelector("span").firstChild;
  const seen = at => { const range = new Range(); range.setStart(text, at); range.setEnd(text, at + 1);
    const { left, right, top } = range.getBoundingClientRect();
    return left >= box.left - 1 && right <= box.right + 1 && top < box.bottom - 4 };
  return [seen(0), seen(text.length - 1)] }"""


def test_a_name_from_right_to_left_is_read_in_its_order_and_loses_its_end(
    open_page: OpenPage, still_dashboard: str
) -> None:
    """As it was seen: in two parts, each in an order of its own, with the middle gone."""
    ids = [made_run(name, 14, groups=1, size=2) for name in FROM_RIGHT]
    page = opened(open_page, f"{still_dashboard}/compare?ids={','.join(ids)}")
    for where in (".legend", ".finals"):
        names = page.locator(f"{where} .cut-end")
        expect(names).to_have_text(list(FROM_RIGHT))
        assert [names.nth(n).evaluate(IN_SIGHT) for n in (0, 1)] == [[True, False]] * 2, where
    sentence = page.locator(".short li").first
    expect(sentence.locator(".quoted bdi").first).to_have_text(re.compile("^(run )?ניסוי של.*…$"))
    page = open_page(f"{still_dashboard}/?q=ניסוי")
    page.set_viewport_size({"width": 390, "height": 844})
    for run_id, name in zip(ids, FROM_RIGHT, strict=True):
        title = page.locator(f'tr[data-run="{run_id}"] .title')
        expect(title).to_have_text(name)
        assert title.locator(".cut-end").evaluate(IN_SIGHT) == [True, True], "a phone has all of it"


def test_chips_wrap_and_what_is_said_of_a_run_is_whole(open_page: OpenPage, long_names: str) -> None:
    page = opened(open_page, long_names)
    picture(page, "compare-chips")
    legend, gone = page.locator(".legend"), page.locator('.chosen[data-run="nope"]')
    expect(gone).to_contain_text(UNKNOWN)
    for width in (1440, 900, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        assert legend.evaluate("node => node.scrollWidth <= node.clientWidth"), width
        shown = chips(page)
        assert len(shown) == len(NAMES) - 1, "one that is written from right to left is in one part"
        for chip in shown:
            assert chip["start"] >= 30 and chip["end"] >= 24 and chip["inside"] and not chip["blank"], (width, chip)
            assert chip["whole"] or width == 390, chip
        heights = legend.locator(".chosen:has(.open)").evaluate_all("all => all.map(one => one.offsetHeight)")
        assert max(heights) <= 36, "a run that is there takes one line"
        words = gone.locator("> .warn")
        assert words.evaluate("node => node.scrollWidth <= node.parentElement.clientWidth"), width
        assert no_sideways_scroll(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    ends = [page.locator(part).bounding_box() for part in (".legend", ".stale")]
    assert ends[0] and ends[1] and ends[1]["y"] - ends[0]["y"] - ends[0]["height"] >= 8


# ---- what an address asks for and is not there ----
def test_what_an_address_asks_for_and_is_not_there_is_said(open_page: OpenPage, long_names: str) -> None:
    page = opened(open_page, f"{long_names}&metric=zzz&tab=foo")
    said = page.locator(".no-such")
    rest = "Compare shows the rest of this address."
    expect(said).to_have_text(f"There is no metric “zzz” and no tab “foo”. {rest}")
    page.goto(f"{long_names}&metrics=kl&x=tokens&sort=-kl&by=settings&band=std")
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(said).to_be_hidden()
    page.goto(f"{long_names}&x=zzz&sort=-zzz")
    expect(said).to_have_text(f"There is no axis “zzz” and no column “zzz”. {rest}")
    page.goto(f"{long_names}&band=zzz&prompts=zzz&zoom=zzz")
    each = "no choice of prompts “zzz” and no stretch of steps “zzz”"
    expect(said).to_have_text(f"There is no band “zzz”, {each}. {rest}")
    page.goto(f"{long_names}&band=range&prompts=differ&zoom=1..9")
    page.wait_for_selector(".gw-compare[data-drawn]")
    expect(said).to_be_hidden()
    home = long_names.split("/compare")[0]
    page.goto(f"{home}/?state=zzz&sort=zzz")
    expect(said).to_have_text(
        "There is no state “zzz” and no column “zzz”. These are runs of all states and the newest first."
    )
    page.get_by_role("button", name="Finished").click()
    expect(said).to_contain_text("There is no state “zzz”")
    page.goto(f"{home}/?state=finished&sort=name")
    page.wait_for_selector(".gw-runs_table[data-drawn]")
    expect(said).to_be_hidden()
    page.goto(f"{home}/new?draft=zzz")
    handed = page.locator(".handed")
    expect(handed).to_contain_text(
        "There is no draft “zzz”. This is a new one; drafts stay in the tab they were typed in."
    )
    page.goto(f"{home}/new?view=zzz")
    expect(handed).to_contain_text("There is no view “zzz”. Choose Form, YAML or Script.")
    expect(page).not_to_have_url(re.compile("view="))
    page.goto(f"{home}/?state=deleted")
    expect(page.locator(".chips [data-state=deleted]")).to_have_attribute("aria-pressed", "true")
    page.goto(f"{home}/new?preset=quickstart")
    page.wait_for_selector(".gw-new_run[data-ready]")
    expect(handed).to_be_hidden()
    page.goto(f"{home}/rewards?name=../../x")
    expect(page.get_by_role("heading", name="There is no function “../../x”")).to_be_visible()


# ---- lines of few steps ----
def test_lines_of_few_steps_are_said_to_be_as_logged(open_page: OpenPage, long_names: str) -> None:
    few = made_run("of three steps", 3, groups=1, size=2)
    page = opened(open_page, f"{long_names},{few}")
    reach = page.locator(".gw-compare .reach")
    expect(reach).to_have_text("over the last 7 logged steps; lines of fewer than 4 logged steps are not smoothed")
    kl = page.locator('[data-chart="kl"] .plot')
    kl.scroll_into_view_if_needed()
    expect(kl.locator(".main-svg").first).to_be_visible()
    told = kl.evaluate(
        "node => node.data.map(({ x, hovertemplate }) => [x.length, (hovertemplate ?? '').includes('smoothed')])"
    )
    assert [3, False] in told and [14, True] in told and [3, True] not in told
    page.goto(f"{long_names.split('/compare')[0]}/run?id={few}")
    figures = page.locator(".gw-overview .now")
    expect(figures).to_contain_text("KL")
    now = figures.locator("dt:text-is('KL') + dd").inner_text()
    page.goto(f"{long_names},{few}")
    row = page.locator("table.finals tbody tr", has_text="of three steps")
    expect(row).to_contain_text(now)
