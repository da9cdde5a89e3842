"""Each bad record (tests/support/bad_records.py) through each tab and through Compare: no script fails, nothing
leaves this machine (see `open_page`), and something is said in words that a person can use."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, no_sideways_scroll
from tests.support.bad_records import MAKERS, UNREADABLE, WORKS, make_all

TABS = ("overview", "groups", "completions", "statistics")
# What a page shows when a value was not looked at before it was shown.
UNTENDED = re.compile(r"\bNaN\b|undefined|\[object |Infinity|-inf\b|\bnull\b|Something went wrong")
# A part that has answered: it says something, and no longer that it is about to. (Statistics counts a panel when it
# comes into view: one that has spoken is enough.)
ANSWERED = """tab => {
  const part = document.querySelector(`#part-${tab}`), text = part?.innerText.trim() ?? "";
  const spoke = [...part?.querySelectorAll(".says, .nothing, .wait") ?? []]
    .some(node => node.innerText.trim() && !node.innerText.includes("Counting…"));
  return text.length > 20 && !text.includes("Loading prompts…") && (tab !== "statistics" || spoke);
}"""


@pytest.fixture(scope="module")
def runs(reading_dashboard: str) -> dict[str, str]:
    return make_all()


@pytest.mark.parametrize("kind", MAKERS)
def test_each_tab_of_a_bad_record_says_something(
    open_page: OpenPage, reading_dashboard: str, runs: dict[str, str], kind: str
) -> None:
    page = open_page(f"{reading_dashboard}/run?id={runs[kind]}&tab=overview")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        expect(page.locator(f"#part-{tab}")).to_be_visible()
        page.wait_for_function(ANSWERED, arg=tab)
        if kind in UNREADABLE:
            expect(page.locator(f"#part-{tab}")).to_contain_text(re.compile(UNREADABLE[kind]))
        said = page.locator(f"#part-{tab}").inner_text()
        assert not UNTENDED.search(said), f"{tab}: {said[:2000]}"
    if kind in ("hostile", "long_texts"):
        unharmed(page)


def test_all_of_them_beside_a_good_run(open_page: OpenPage, reading_dashboard: str, runs: dict[str, str]) -> None:
    page = open_page(f"{reading_dashboard}/compare?ids={','.join(runs.values())}")
    expect(page.get_by_text(WORKS, exact=True).first).to_be_visible()
    page.locator(".gw-compare .charts").first.scroll_into_view_if_needed()  # they are drawn when near
    page.wait_for_function("() => document.querySelectorAll('.gw-compare .js-plotly-plot').length > 0")
    said = page.locator(".gw-compare").inner_text()
    assert "deleted" in said
    assert "Something went wrong" not in said
    unharmed(page)


def unharmed(page: Page) -> None:
    """Nothing of it ran, and the page still fits a phone."""
    assert page.evaluate("window.pwned === undefined")
    assert no_sideways_scroll(page)
