"""The New run page in a real browser: how soon its form can be used, and how soon it answers a keystroke."""

from __future__ import annotations

from playwright.sync_api import Page, sync_playwright

from bench.browser import FLAGS
from bench.table import Row, ms, percentile
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from tests.support.browsers import whole
from tests.support.homes import dashboard, fresh_home, wait_for

ROUNDS = 30
# Notes when the form was ready, on the clock that begins with the navigation.
WATCH_READY = """() => new MutationObserver(() => {
  if (!window.readyAt && document.querySelector(".gw-new_run[data-ready]")) window.readyAt = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] })"""
# From the key that changes a field to the frame in which the watched part has changed.
TYPE_AND_WAIT = """([field, typed, watched]) => new Promise((done) => {
  const box = document.querySelector(field);
  let begun;
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  });
  seen.observe(document.querySelector(watched), { subtree: true, childList: true, characterData: true });
  box.value = typed;
  begun = performance.now();
  box.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def measure() -> list[Row]:
    with fresh_home(), dashboard() as (_, address), sync_playwright() as playwright:
        wait_for("the catalogue", lambda: registry.read_fact(Catalogue))
        chromium = playwright.chromium.launch(executable_path=whole(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(f"({WATCH_READY})()")
        after = sorted(_ready_after_load(page, f"{address}/new") for _ in range(5))
        page.wait_for_timeout(12_000)  # the worker's warm process loads its libraries once
        preflight = _answers(page, "#f-training-num_generations", ("8", "16"), ".happening")
        search = _answers(page, ".all input[type=search]", ("entropy", "vllm"), ".found")
        chromium.close()
    return [
        _row("the page is there → its form can be used", after, 1.0, share=0.5),
        _row(f"a key → the preflight has answered, p95 of {ROUNDS}", preflight, 0.04),
        _row(f"a key → the search has answered, p95 of {ROUNDS}", search, 0.1),
    ]


def _row(what: str, took: list[float], bound: float, *, share: float = 0.95) -> Row:
    return Row(what, f"p50 {ms(percentile(took, 0.5))}", "–", percentile(took, share), bound, "s")


def _ready_after_load(page: Page, url: str) -> float:
    """Seconds from the page's load event to the form's first field that works."""
    page.goto(url)
    page.wait_for_function("window.readyAt > 0")
    return float(page.evaluate("window.readyAt - performance.getEntriesByType('navigation')[0].loadEventEnd")) / 1000


def _answers(page: Page, field: str, texts: tuple[str, str], watched: str) -> list[float]:
    """Seconds of each answer, typing two texts in turn."""
    took = []
    for number in range(ROUNDS):
        took.append(float(page.evaluate(TYPE_AND_WAIT, [field, texts[(number + 1) % 2], watched])) / 1000)
        page.wait_for_timeout(500)
    return took
