"""A stranger's words without a space, as an exception has them: they wrap where they stand, and are cut in a list."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.home import files
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import registry
from tests.browser.conftest import OpenPage, picture
from tests.support.made_runs import made_run

BOOM = "ValueError: <img src=x onerror=alert(1)> boom " + "y" * 2000
SENTENCE = (
    f"Failed at step 12: the reward function “midfail” failed in 3 calls in a row: {BOOM}. "
    "Fix it under Rewards, then start a new run from this one."
)
# The words that reach beyond what they stand in: a panel, a card or the window.
BEYOND = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.includes("yyyyyyyy") || node.parentElement.closest("title, [title].kept-end, .scroll")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const cut = node.parentElement.closest(".reason, .why, .what");
    const within = (cut ?? node.parentElement.closest(".panel, .ending, .gw")).getBoundingClientRect();
    const far = Math.max(...[...range.getClientRects()].map(({ right }) => right), 0);
    const clipped = cut && getComputedStyle(cut).overflowX === "hidden";
    if (!clipped && far > Math.min(within.right, innerWidth) + 1)
      found.push(`${node.parentElement.tagName}.${node.parentElement.className} ${Math.round(far)}`);
  }
  return [...found, ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : [])];
}"""


def _failing_group(step: int, n: int) -> Group:
    scores: list[tuple[float | None, str]] = [(0.0, "ok"), (None, "error")]
    made = [Completion(f"<answer>{k}</answer>", 9, False, 0.0, 0.0, list(scores)) for k in range(8)]
    return Group("train", step, [{"role": "user", "content": f"{n}+1?"}], {"answer": "1"}, made)


def _boom_run(name: str) -> str:
    """A run whose reward function raises an exception of 2,000 letters in a row."""
    functions = ("format", "midfail")
    run_id = made_run(name, 12, functions=functions, make_group=_failing_group, state=states.FAILED)
    registry.set_state(run_id, states.FAILED, SENTENCE)
    run = registry.get_run(run_id)
    assert run is not None
    told = {"attempt": run.attempt, "outcome": "failed", "step": 12, "planned": 12, "cause": "reward"}
    files.write_json(run.folder.exit, told | {"reason": SENTENCE, "function": "midfail", "line": 3, "traceback": BOOM})
    writer = RunWriter(run.folder.db, 1, {"format": 1.0, "midfail": 2.0})
    message = f"midfail gave no score to 8 of 8 completions: {BOOM}, line 3."
    writer.commit(12, events=[Event("reward", message, {"function": "midfail", "failed": 8})])
    writer.close()
    return run_id


@pytest.fixture(scope="module")
def boom_run(reading_dashboard: str) -> str:
    return _boom_run("midfail run")


def words_beyond(page: Page) -> list[str]:
    found: list[str] = page.evaluate(BEYOND)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    found += [f"390 px: {one}" for one in page.evaluate(BEYOND)]
    page.set_viewport_size({"width": 1440, "height": 900})
    return found


@pytest.mark.parametrize("tab", ["overview", "groups", "completions", "statistics", "checkpoints", "config", "log"])
def test_an_exceptions_long_word_stays_within_its_card(
    open_page: OpenPage, reading_dashboard: str, boom_run: str, tab: str
) -> None:
    page = open_page(f"{reading_dashboard}/run?id={boom_run}&tab={tab}")
    expect(page.locator(".gw-header .ending .rest")).to_contain_text("boom")
    if tab == "overview":
        expect(page.locator(".gw-doctor article p").first).to_contain_text("boom")
    page.wait_for_timeout(300)
    picture(page, f"long-words-{tab}")
    assert words_beyond(page) == []


def test_a_long_reason_is_cut_in_the_head_with_the_whole_in_reach(
    open_page: OpenPage, reading_dashboard: str, boom_run: str
) -> None:
    page = open_page(f"{reading_dashboard}/run?id={boom_run}")
    rest = page.locator(".gw-header .ending .rest")
    expect(rest).to_contain_text("boom")
    assert len(rest.inner_text()) <= 600
    assert "y" * 2000 in (rest.get_attribute("title") or "")


def test_compare_cuts_why_a_run_failed_as_the_list_of_runs_does(
    open_page: OpenPage, reading_dashboard: str, boom_run: str
) -> None:
    other = made_run("went well", 12, groups=1)
    page = open_page(f"{reading_dashboard}/compare?ids={boom_run},{other}")
    expect(page.locator(".short .first li")).to_have_text(["“midfail run”: Failed"])
    assert "boom" in page.locator(".about-it .reason").inner_text()
    assert len(page.locator(".about-it .reason").inner_text()) <= 120
    assert "y" * 2000 in (page.locator(".about-it .reason").get_attribute("title") or "")
    assert words_beyond(page) == []
    picture(page, "long-words-compare")
    page.goto(reading_dashboard)
    expect(page.locator(f"tr[data-run='{boom_run}'] .why")).to_contain_text("boom")
    assert words_beyond(page) == []
