"""In a real browser: click on Try → the table of 64 completions that the model wrote before, by one's own function."""

from __future__ import annotations

from playwright.sync_api import Page, sync_playwright

from bench.browser import FLAGS
from bench.table import Row, median, ms, percentile
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Shipped
from groupwise.worker.builtin import shipped
from tests.support.browsers import whole
from tests.support.homes import dashboard, fresh_home, wait_for

ROUNDS = 20
# Clicks Try; the milliseconds until its words say that all is drawn, and the frame after that.
CLICK_TRY = """() => new Promise((done) => {
  const words = document.querySelector(".view-try .go .wait");
  words.textContent = "";  // a try that is quick says nothing in between, and maybe the same as the one before
  const began = performance.now();
  const watch = new MutationObserver(() => {
    if (!words.textContent.includes("completions scored")) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  });
  watch.observe(words, { childList: true, characterData: true, subtree: true });
  document.querySelector("[data-do=try]").click();
})"""


def measure() -> list[Row]:
    with fresh_home(), dashboard() as (_, address), sync_playwright() as playwright:
        wait_for("what ships", lambda: registry.read_fact(Shipped))
        browser = playwright.chromium.launch(executable_path=whole(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        own = _own(page, address)
        direct = _tries(page, f"{address}/rewards?name=format")
        browser.close()
    return [
        Row(
            "click on Try → table of 64 completions, warm, p95",
            f"p50 {ms(median(own))}, p95 {ms(percentile(own, 0.95))}",
            f"what ships, p50 {ms(median(direct))}", percentile(own, 0.95) * 1000, 300, "ms",
        )
    ]  # fmt: skip


def _own(page: Page, address: str) -> list[float]:
    code = (shipped.REWARDS / "format.py").read_text(encoding="utf-8").replace("def format(", "def my_format(")
    library.save_reward("my_format", code)
    return _tries(page, f"{address}/rewards?name=my_format")


def _tries(page: Page, address: str) -> list[float]:
    """Seconds of each try, once the completions are there and all is warm."""
    page.goto(address)
    page.wait_for_selector(".gw-rewards_page[data-ready=yes]")
    page.locator(".from-model .groups").fill("8")
    page.locator(".from-model .size").fill("8")
    page.get_by_role("button", name="Try", exact=True).click()
    page.get_by_text("64 completions scored").wait_for(timeout=120_000)
    found = []
    for _ in range(ROUNDS):
        page.wait_for_timeout(700)  # the probes that run quietly after a try
        found.append(float(page.evaluate(CLICK_TRY)) / 1000)
    return found
