"""The Runs page in browser tests: runs of a test's own, their table and its rows."""

from __future__ import annotations

import itertools
import json

from playwright.sync_api import Locator, Page, expect

from groupwise.storage.registry import registry
from tests.browser.conftest import OpenPage
from tests.support.made_runs import made_run

SPEC = "name: waits\nrewards: [{name: format}]\n"
COUNTER = itertools.count()


def some(count: int, **options: object) -> tuple[str, list[str]]:
    """A word in the names of some runs of this test's own, and their ids, the oldest first."""
    word = f"test{next(COUNTER)}"
    return word, [made_run(f"{word} {n}", 12, groups=1, size=2, **options) for n in range(count)]  # type: ignore[arg-type]


def table(open_page: OpenPage, home: str, word: str, n: int, more: str = "") -> Page:
    page = open_page(f"{home}/?q={word}{more}")
    expect(page.locator("tbody tr")).to_have_count(n)
    return page


def order(page: Page, ids: list[str]) -> None:
    """Waits until the rows stand so."""
    page.wait_for_function(
        "ids => JSON.stringify([...document.querySelectorAll('tbody tr')].map(row => row.dataset.run)) === ids",
        arg=json.dumps(ids, separators=(",", ":")),
    )


def run(page: Page, run_id: str) -> Locator:
    return page.locator(f'tr[data-run="{run_id}"]')


def name_of(run_id: str) -> str:
    found = registry.get_run(run_id)
    assert found is not None
    return found.name
