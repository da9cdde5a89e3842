"""In a real browser, on a real quickstart: click on Launch → first metric drawn (its held-out reward before training),
and its first step, cold and with a spare training process ready; and logged → drawn for every step."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.table import Row, median, ms, percentile
from groupwise.storage.home import db, paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from tests.support.browsers import whole
from tests.support.homes import dashboard, fresh_home, wait_for

ROUNDS = 5
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

FIRST_STEP = "SELECT min(seq) FROM acknowledged WHERE step > 0"
FIRST_METRIC = "SELECT max(seq) FROM acknowledged WHERE step = (SELECT min(step) FROM metric)"


def measure() -> list[Row]:
    rounds = [(_import_trl(), *_launch(warm=False), *_launch(warm=True)) for _ in range(ROUNDS)]
    imports, _, cold, metric, step = (median(list(each)) for each in zip(*rounds, strict=True))
    lags = _lags()
    beside = f"import GRPOTrainer {ms(imports)}"
    return [
        Row("click on Launch → first step drawn, cold", ms(cold), beside, cold, imports + 4, "s"),
        Row(
            "click on Launch → first metric drawn, warm", ms(metric), beside,
            median([metric / imports for imports, _, _, metric, _ in rounds]), 0.45, "× the import",
        ),
        Row(
            "click on Launch → first step drawn, warm", ms(step), beside,
            median([step / imports for imports, _, _, _, step in rounds]), 0.6, "× the import",
        ),
        Row(
            f"logged → drawn in the browser, p95 of {len(lags)} steps", f"p50 {ms(percentile(lags, 0.5))}", "–",
            percentile(lags, 0.95), 0.4, "s",
        ),
    ]  # fmt: skip


def _launch(*, warm: bool) -> tuple[float, float]:
    """Seconds from the click to the first drawn metric, and to the first drawn step; the run is ended then."""
    with _quickstart(warm) as (page, clicked):
        first_step = wait_for("the first step", lambda: _seq_of(FIRST_STEP))
        first_metric = _seq_of(FIRST_METRIC)
        assert first_metric is not None and first_metric < first_step, "the quickstart has no held-out rows any more"
        drawn: list[Any] = []

        def is_drawn() -> bool:
            page.wait_for_timeout(50)  # lets playwright's events through
            drawn[:] = page.evaluate("window.drawn")
            return any(seq >= first_step for seq, _ in drawn)

        wait_for("it to be drawn", is_drawn)
        metric, step = (min(at for seq, at in drawn if seq >= first) - clicked for first in (first_metric, first_step))
        return float(metric), float(step)


def _lags() -> list[float]:
    """Seconds from logged to drawn of every step of a whole quickstart."""
    with _quickstart(False) as (page, _):
        drawn = _watch(page)
        return [
            min(at for seen, at in drawn if seen >= seq) - when for seq, when in _acknowledged() if seq <= drawn[-1][0]
        ]


@contextlib.contextmanager
def _quickstart(warm: bool) -> Iterator[tuple[Page, float]]:
    """The page of a quickstart in a home of its own, and when Launch was clicked."""
    with fresh_home(), dashboard(warm_start=warm) as (_, address), sync_playwright() as playwright:
        wait_for("the catalogue", lambda: registry.read_fact(Catalogue))
        chromium = playwright.chromium.launch(executable_path=whole(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(f"({WATCH_DRAWN})()")
        page.goto(f"{address}/new?preset=quickstart")
        launch = page.get_by_role("button", name="Launch", exact=True)
        launch.wait_for()
        page.wait_for_timeout(3000)
        if warm:
            for said in ("process is ready", "questions: warm"):
                wait_for(said, lambda said=said: said in paths.worker_log().read_text(), 300)
        clicked = time.time()
        launch.click()
        page.wait_for_url("**/run?id=*")
        yield page, clicked
        chromium.close()


def _watch(page: Page) -> list[Any]:
    """[seq, when] of every drawing until the run has ended."""
    run = registry.list_runs()[0]

    def done() -> bool:
        page.wait_for_timeout(200)  # lets playwright's events through
        return registry.list_runs()[0].state in states.ENDED

    wait_for("the quickstart to end", done, 400)
    page.wait_for_timeout(6000)
    drawn: list[Any] = page.evaluate("window.drawn")
    assert registry.get_run(run.id).state == states.FINISHED  # type: ignore[union-attr]
    return drawn


def _seq_of(query: str) -> int | None:
    """The number under which something was acknowledged in the one run's record."""
    try:
        record = db.open_reader(registry.list_runs()[0].folder.db)
        found = record.execute(query).fetchone()
        record.close()
    except Exception:  # not made yet
        return None
    return found[0] if found else None


def _acknowledged() -> list[tuple[int, float]]:
    record = db.open_reader(registry.list_runs()[0].folder.db)
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
