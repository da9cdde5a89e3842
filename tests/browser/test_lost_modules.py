"""A page of which a module could not be fetched, as the server was starting anew or the connection was cut."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from groupwise.app.ui import modules
from tests.browser.conftest import OpenPage

RUNS, PART, SHARED, THEME = "pages/run_list/runs_table.js", "ui/part.js", "ui/poll.js", "ui/theme.js"


class Refused:
    """Requests for these addresses that get no answer: of the first page that is loaded, or for as long as `ever`."""

    def __init__(self, context: BrowserContext, pattern: str, *, ever: bool = False) -> None:
        self.ever, self.count, self.loads = ever, 0, 0
        context.on("request", self._count_loads)
        context.route(pattern, self._answer)

    def answer(self) -> None:
        """From now on they are answered."""
        self.ever, self.loads = False, 2

    def _count_loads(self, request: Request) -> None:
        self.loads += request.is_navigation_request()

    def _answer(self, route: Route) -> None:
        if not self.ever and self.loads > 1:
            return route.fallback()
        self.count += 1
        return route.abort()


def whole(page: Page) -> None:
    """The page's parts are there, and nothing is said of what was wrong."""
    expect(page.locator(".gw-runs_table[data-drawn]")).to_be_attached()
    expect(page.locator(".gw-topbar .worker")).to_be_visible()
    expect(page.locator("#gw-lost")).to_have_count(0)


@pytest.mark.parametrize("module", [RUNS, PART, SHARED, THEME])
def test_a_page_whose_module_was_not_answered_once_is_whole_all_the_same(
    reading_dashboard: str, context: BrowserContext, open_page: OpenPage, module: str
) -> None:
    refused = Refused(context, f"**/{module}")
    page = open_page(reading_dashboard)
    page.wait_for_function("document.documentElement.dataset.themed")
    whole(page)
    assert refused.count and refused.loads == 2


def test_a_page_waits_for_a_server_that_is_away(
    reading_dashboard: str, context: BrowserContext, open_page: OpenPage
) -> None:
    module = Refused(context, f"**/{RUNS}")
    away = Refused(context, "**/healthz", ever=True)
    page = open_page(reading_dashboard)
    expect(page.locator("#gw-lost")).to_have_text("Reconnecting…")
    page.wait_for_timeout(1500)
    assert away.count > 1 and module.loads == 1
    away.answer()
    whole(page)


def test_a_page_that_cannot_be_made_whole_says_so_and_offers_to_try_again(
    reading_dashboard: str, context: BrowserContext, open_page: OpenPage
) -> None:
    gone = Refused(context, f"**/{RUNS}", ever=True)
    page = open_page(reading_dashboard)
    lost = page.locator("#gw-lost")
    expect(lost).to_have_text("Part of this page could not be loaded. Reload the page")
    asked = gone.count
    page.wait_for_timeout(1500)
    assert gone.count == asked, "it is not loaded for ever"
    gone.answer()
    lost.get_by_role("link", name="Reload the page").click()
    whole(page)


def test_a_module_that_is_wrong_is_an_error_and_no_reason_to_load_the_page_anew(
    reading_dashboard: str, context: BrowserContext
) -> None:
    page = context.new_page()
    errors: list[str] = []
    loads: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("load", lambda _: loads.append(page.url))
    wrong = 'throw new TypeError("a mistake");'
    page.route(f"**{modules.address(RUNS)}", lambda route: route.fulfill(body=wrong, content_type="text/javascript"))
    page.goto(reading_dashboard)
    expect(page.locator(".gw-topbar .worker")).to_be_visible()
    page.wait_for_timeout(1500)
    assert any("a mistake" in error for error in errors)
    assert len(loads) == 1
    expect(page.locator("#gw-lost")).to_have_count(0)
