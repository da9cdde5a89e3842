"""Nothing that is shown of a page as it begins is moved by what comes later."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Held, OpenPage, picture
from tests.support.made_runs import made_run

# Of each page, what is there once its parts have drawn what they had asked for.
PAGES = {
    "/": ".gw-runs_table[data-drawn] tbody tr",
    "/new": ".gw-new_run[data-ready]",
    "/rewards": ".gw-rewards_page[data-ready]",
    "/run?id={a}": ".gw-overview .js-plotly-plot",
    "/compare?ids={a},{b}": ".gw-compare .js-plotly-plot",
}
# The score of layout shifts (web.dev/articles/cls): the share of the window that moved times how far; 0.1 is what a
# reader notices.
MOST = 0.05
WATCH = """
  window.moved = [];
  const note = ({ value, sources, hadRecentInput }) => {
    const what = sources.map(({ node }) => node?.className ?? node?.nodeName).join(", ");
    if (!hadRecentInput) moved.push([value, what]);
  };
  new PerformanceObserver((seen) => seen.getEntries().forEach(note)).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="module")
def made(reading_dashboard: str) -> dict[str, str]:
    return {"address": reading_dashboard, "a": made_run("a", 60), "b": made_run("b", 60)}


@pytest.mark.parametrize("place", PAGES)
def test_nothing_moves_while_a_page_begins(
    made: dict[str, str], context: BrowserContext, open_page: OpenPage, place: str
) -> None:
    context.add_init_script(WATCH)
    page = open_page(made["address"] + place.format(**made))
    expect(page.locator(PAGES[place]).first).to_be_visible()
    page.wait_for_timeout(1500)  # what is a little late
    moved = page.evaluate("moved")
    assert sum(value for value, _ in moved) <= MOST, moved


def test_a_run_stands_before_its_page_was_answered_anything(
    made: dict[str, str], context: BrowserContext, open_page: OpenPage
) -> None:
    page = open_page(f"{made['address']}/healthz")
    status, board = Held(page, "run_status"), Held(page, "draw_board")
    page.goto(f"{made['address']}/run?id={made['a']}")
    head = page.locator(".gw-header")
    expect(head.locator(".found h1")).to_have_text("a")
    expect(head.locator(".pill")).to_contain_text("Finished")
    expect(page).to_have_title("Finished · a · Groupwise")
    frames = page.locator(".gw-overview .chart:visible")
    expect(frames.first).to_contain_text("Loading…")
    expect(page.locator(".gw-overview aside")).to_be_hidden()
    count = frames.count()
    picture(page, "run-begins")
    for held in (status, board):
        held.release()
    expect(page.locator(".gw-overview .js-plotly-plot").first).to_be_visible()
    expect(page.locator(".gw-overview aside")).to_be_visible()
    assert frames.count() == count > 6 and not page.get_by_text("Loading…").count()


@pytest.mark.parametrize(
    ("place", "asks", "button", "opens"),
    [
        ("/rewards", "open_rewards", "New", "dialog.templates"),
        ("/rewards", "open_rewards", "Import", "dialog.importing"),
        ("/new", "open_new_run", "Import", "dialog[open]"),
    ],
)
def test_a_click_before_a_page_is_ready_is_done_once_it_is(
    made: dict[str, str], open_page: OpenPage, place: str, asks: str, button: str, opens: str
) -> None:
    page = open_page(f"{made['address']}/healthz")
    held = Held(page, asks)
    page.goto(made["address"] + place)
    clicked = page.get_by_role("button", name=button, exact=True)
    clicked.click()
    expect(clicked).to_have_attribute("aria-busy", "true")
    expect(page.locator(PAGES[place])).to_have_count(0)
    loading = page.get_by_text(re.compile("^Loading the (form|library)…$"))
    expect(loading).to_be_visible()
    picture(page, f"clicked-early{place.replace('/', '-')}")
    held.release()
    expect(page.locator(opens).first).to_be_visible()
    expect(loading).to_be_hidden()
    expect(page.locator("button[aria-busy]")).to_have_count(0)
