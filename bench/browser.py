"""In a real browser, on a real quickstart: click on Launch → first metric drawn, and logged → drawn for every step."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.homes import dashboard, fresh_home, wait_for
from bench.table import Row, median, ms, percentile
from groupwise.storage.home import db
from groupwise.storage.record import states
from groupwise.storage.registry import registry

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Notes when each acknowledged number (seq) was on the screen: after the frame in which the charts took it.
WATCH_DRAWN = """() => {
  window.drawn = [];
  new MutationObserver(() => {
    const seq = document.querySelector(".gw-overview")?.dataset.seq;
    if (seq && Number(seq) > (window.drawn.at(-1)?.[0] ?? 0))
      requestAnimationFrame(() => setTimeout(() => window.drawn.push([Number(seq), Date.now() / 1000])));
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-seq"] });
}"""


def measure() -> list[Row]:
    imports = [_import_trl() for _ in range(3)]
    with fresh_home(), dashboard() as (_, address), sync_playwright() as playwright:
        wait_for("the catalogue", lambda: registry.published("catalogue"))
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(f"({WATCH_DRAWN})()")
        page.goto(f"{address}/new?preset=quickstart")
        launch = page.get_by_role("button", name="Launch", exact=True)
        launch.wait_for()
        page.wait_for_timeout(3000)
        clicked = time.time()
        launch.click()
        page.wait_for_url("**/run?id=*")
        first, drawn = _watch(page)
        acknowledged = _acknowledged()
        chromium.close()
    lags = [min(at for seen, at in drawn if seen >= seq) - when for seq, when in acknowledged if seq <= drawn[-1][0]]
    budget = median(imports) + 4
    return [
        Row(
            "click on Launch → first metric drawn", ms(first - clicked), f"import GRPOTrainer {ms(median(imports))}",
            first - clicked, budget, "s",
        ),
        Row(
            f"logged → drawn in the browser, p95 of {len(lags)} steps", f"p50 {ms(percentile(lags, 0.5))}", "–",
            percentile(lags, 0.95), 0.6, "s",
        ),
    ]  # fmt: skip


def _watch(page: Page) -> tuple[float, list[Any]]:
    """When the first metric was drawn, and [seq, when] of every drawing until the run has ended."""
    run = registry.runs()[0]
    wait_for("the first metric", lambda: _metric_seq() is not None)
    first_metric = _metric_seq() or 0

    def done() -> bool:
        page.wait_for_timeout(200)  # lets playwright's events through
        return registry.runs()[0].state in states.ENDED

    wait_for("the quickstart to end", done, 400)
    page.wait_for_timeout(6000)
    drawn = page.evaluate("window.drawn")
    assert registry.get(run.id).state == states.FINISHED  # type: ignore[union-attr]
    return min(at for seq, at in drawn if seq >= first_metric), drawn


def _metric_seq() -> int | None:
    """The number under which the first step with metrics was acknowledged."""
    try:
        record = db.open_reader(registry.runs()[0].folder.db)
        found = record.execute("SELECT min(seq) FROM acknowledged WHERE step > 0").fetchone()
        record.close()
    except Exception:  # not made yet
        return None
    return found[0] if found else None


def _acknowledged() -> list[tuple[int, float]]:
    record = db.open_reader(registry.runs()[0].folder.db)
    rows = record.execute("SELECT seq, at FROM acknowledged WHERE step > 0").fetchall()
    record.close()
    return rows


def _import_trl() -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", "from trl import GRPOTrainer"], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - begun
