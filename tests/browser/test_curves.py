"""The curves that the browser keeps: what replaces them, what is added, and when the whole is asked for again."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.conftest import REPOSITORY


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty page that knows Curves, and has some."""
    made = context.new_page()
    made.add_script_tag(path=REPOSITORY / "app" / "components" / "charts" / "curves.js")
    made.evaluate("window.curves = new Curves()")
    return made


def take(page: Page, *, reset: bool, **steps: list[int]) -> dict[str, Any]:
    curves = {name: {"x": x, "y": x} for name, x in steps.items()}
    words = "answer => Object.fromEntries(curves.take(answer))"
    changed: dict[str, Any] = page.evaluate(words, {"reset": reset, "curves": curves})
    return changed


def steps_of(page: Page, name: str) -> Any:
    return page.evaluate("name => curves.get(name)?.x ?? null", name)


def too_long(page: Page) -> Any:
    return page.evaluate("curves.tooLong")


def test_an_answer_that_begins_anew_replaces_everything(page: Page) -> None:
    take(page, reset=True, reward=[1, 2, 3, 4], kl=[1, 2])
    assert take(page, reset=False, reward=[5]) == {"reward": 1}
    assert take(page, reset=True, reward=[1, 2, 3]) == {"reward": "whole", "kl": "whole"}
    assert (steps_of(page, "reward"), steps_of(page, "kl")) == ([1, 2, 3], None)
    assert take(page, reset=True) == {"reward": "whole"}
    assert steps_of(page, "reward") is None


def test_a_whole_that_is_still_too_long_is_not_asked_for_at_once_again(page: Page) -> None:
    take(page, reset=True, reward=list(range(1, 4001)))
    assert not too_long(page)
    take(page, reset=False, reward=list(range(4001, 5002)))
    assert too_long(page)
    take(page, reset=True, reward=list(range(1, 5002)))
    assert not too_long(page)
    take(page, reset=False, reward=list(range(5002, 6002)))
    assert not too_long(page)
    take(page, reset=False, reward=[6002])
    assert too_long(page)
    take(page, reset=True, reward=list(range(1, 601)))
    take(page, reset=False, reward=list(range(601, 4002)))
    assert too_long(page)
