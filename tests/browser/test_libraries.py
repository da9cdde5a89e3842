"""A page that opens while the server starts anew asks again for the libraries it draws and edits with."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from tests.browser.conftest import OpenPage
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def made(reading_dashboard: str) -> dict[str, str]:
    return {"address": reading_dashboard, "a": made_run("a", 8, groups=0), "b": made_run("b", 8, groups=0)}


class Missing:
    """A file that cannot be had for as long as `there` is false."""

    def __init__(self, context: BrowserContext, file: str) -> None:
        self.there, self.refused = False, 0
        context.route(f"**/{file}", self._answer)

    def _answer(self, route: Route) -> None:
        if self.there:
            return route.fallback()
        self.refused += 1
        return route.abort()


def test_an_overview_says_what_it_knows_and_draws_when_plotly_is_there(
    made: dict[str, str], context: BrowserContext, open_page: OpenPage
) -> None:
    plotly = Missing(context, "plotly.min.js")
    page = open_page(f"{made['address']}/run?id={made['a']}")
    expect(page.locator(".gw-overview .now")).to_contain_text("Reward1.69 of at most 3")
    expect(page.locator(".gw-overview .window")).to_have_text("mean of the last 4 logged steps")
    expect(page.locator("#gw-offline")).to_have_text("Reconnecting…")
    place = page.locator('[data-chart="reward"] .plot')
    assert "Loading the chart" in place.evaluate("plot => getComputedStyle(plot, '::after').content")
    page.wait_for_timeout(1200)
    assert plotly.refused > 1
    plotly.there = True
    expect(page.locator('[data-chart="reward"] .js-plotly-plot')).to_be_visible()
    expect(page.locator("#gw-offline")).to_be_hidden()
    assert place.evaluate("plot => getComputedStyle(plot, '::after').content") == "none"


def test_compare_draws_when_plotly_is_there(made: dict[str, str], context: BrowserContext, open_page: OpenPage) -> None:
    plotly = Missing(context, "plotly.min.js")
    page = open_page(f"{made['address']}/compare?ids={made['a']},{made['b']}")
    expect(page.locator(".gw-compare table.finals")).to_contain_text("a")
    expect(page.locator(".gw-compare .js-plotly-plot")).to_have_count(0)
    plotly.there = True
    expect(page.locator(".gw-compare .js-plotly-plot").first).to_be_visible()


def test_the_editor_opens_when_all_of_it_is_there(
    made: dict[str, str], context: BrowserContext, open_page: OpenPage
) -> None:
    mode = Missing(context, "mode-python.js")
    page = open_page(f"{made['address']}/rewards?name=format")
    expect(page.locator("#gw-offline")).to_have_text("Reconnecting…")
    mode.there = True
    expect(page.locator(".ace_editor .ace_keyword").first).to_be_visible()
    assert mode.refused > 0
