"""The Rewards page in browser tests: opening it, writing in its editor, trying, and what it says then."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from groupwise.storage.library.rewards import library
from tests.browser.conftest import OpenPage
from tests.support.homes import wait_for

LIVE_FOR = 90_000  # ms: the first answer waits for the worker's imports
SHORT = '''def short(completions, *, most: int = 20, **kwargs):
    """1 for a short completion.

    Args:
        most: the most characters.
    """
    return [float(len(completion[0]["content"]) <= most) for completion in completions]
'''
ENDLESS = '''def endless(completions, **kwargs):
    """Never done."""
    while True:
        pass
    return [1.0 for _ in completions]
'''


def open_emptied(open_page: OpenPage, address: str) -> Page:
    """The page, in a home whose library is empty."""
    for kept in library.newest_rewards():
        library.delete_reward(kept.name)
    return ready(open_page(address))


def ready(page: Page) -> Page:
    """The page once it can be worked with."""
    page.wait_for_selector(".gw-rewards_page[data-ready=yes]")
    return page


def text_of(page: Page) -> str:
    """What stands in the editor."""
    return str(page.evaluate("ace.edit(document.querySelector('.ace')).getValue()"))


def write(page: Page, text: str) -> None:
    """Type over what is in the editor, as a paste does."""
    page.locator(".ace_content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    wait_for("the text in the editor", lambda: page.wait_for_timeout(30) or text_of(page) == text)
    page.keyboard.press("Escape")


def begin(page: Page, text: str) -> None:
    """Begin a function of one's own with this text."""
    do(page, "New")
    page.locator("dialog.templates ul .take").first.click()
    write(page, text)


def do(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def build(page: Page, *kinds: str) -> Locator:
    """Begin a function of these blocks; what holds them."""
    page.locator(".shelf").get_by_role("button", name="Build without code").click()
    form = page.locator(".building")
    expect(form).to_be_visible()
    for number, kind in enumerate(kinds, 1):
        form.locator(".kinds").get_by_role("button", name=kind).click()
        expect(form.locator(".blocks li")).to_have_count(number)
    return form


def way(page: Page, name: str) -> None:
    """Show the function as blocks or as code."""
    page.locator(".ways").get_by_role("tab", name=name).click()


def save(page: Page) -> str:
    """Save; the version's first characters, as the page says them."""
    said = page.locator(".said-saved")
    expect(said.filter(has_text="Saved as version")).to_be_hidden()
    do(page, "Save")
    expect(said).to_be_visible()
    expect(said).to_contain_text("Saved as version")
    return said.inner_text().split("version ")[1].split(".")[0]


def source(page: Page, name: str) -> None:
    """Where the completions come from."""
    page.locator(".workbench .switch").get_by_role("button", name=name).click()


def try_it(page: Page) -> Locator:
    """Try, and wait until it is done; the results."""
    do(page, "Try")
    expect(page.locator(".view-try .go .wait")).to_contain_text(re.compile(r"completions? scored"), timeout=240_000)
    return page.locator(".view-try .results")


def points(page: Page, row: int) -> list[str]:
    """What the blocks give to a row's answer, once they are scored."""
    node = page.locator(".live .rows > section").nth(row)
    expect(node.locator(".points:not(.old) .point").first).to_be_visible(timeout=LIVE_FOR)
    return [*node.locator(".point b").all_inner_texts(), node.locator(".total b").inner_text()]


def expect_points(page: Page, row: int, *values: str) -> None:
    node = page.locator(".live .rows > section").nth(row)
    expect(node.locator(".points:not(.old) .point b")).to_have_text(list(values[:-1]), timeout=LIVE_FOR)
    expect(node.locator(".total b")).to_have_text(values[-1])
