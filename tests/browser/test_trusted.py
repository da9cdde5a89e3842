"""--trust-reward-code is said on every page while it holds, and only whoever starts the dashboard can say it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from groupwise.storage.registry import registry
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.homes import dashboard, no_worker


def test_every_page_says_that_reward_code_is_not_contained(open_page: OpenPage, known_home: Path) -> None:
    with no_worker(), dashboard(None, "--trust-reward-code") as (_, address):
        assert registry.is_trusted()
        for path in ("/", "/new", "/rewards", "/run?id=none"):
            page = open_page(address + path)
            expect(page.locator(".gw-topbar .trusted")).to_contain_text("without a sandbox")
            assert no_sideways_scroll(page)
        picture(page, "trusted")
    with no_worker(), dashboard() as (_, address):
        page = open_page(address)
        expect(page.locator(".gw-topbar .worker")).to_be_visible()
        expect(page.locator(".gw-topbar .trusted")).to_be_hidden()
        assert not registry.is_trusted()
