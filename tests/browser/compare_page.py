"""Compare in browser tests: two sweeps, the page, and what its charts draw."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from groupwise.storage.home import paths
from tests.browser.conftest import OpenPage
from tests.support.made_runs import made_run

HOSTILE = "<img src=x onerror=alert(1)>"


def two_sweeps() -> list[str]:
    """The ids of a sweep of two learning rates with two seeds each, and of a hostile run."""
    ids = [
        made_run(f"lr {rate} seed {seed}", 40, groups=2, prompts=4, eval_every=10, seed=seed,
                 training={"learning_rate": rate, "seed": seed})
        for rate in (1e-5, 1e-4) for seed in (1, 2)
    ]  # fmt: skip
    ids.append(made_run(HOSTILE, 30, groups=2, prompts=4, resumed_at=20))
    for n, run_id in enumerate(ids):
        folder = paths.run_folder(run_id)
        folder.rewards.mkdir()
        (folder.rewards / "correctness.py").write_text(f"def correctness():\n    return {n // 2}\n")
    return ids


def compared(open_page: OpenPage, sweeps: tuple[str, list[str]], more: str = "", n: int = 5) -> Page:
    page = open_page(f"{sweeps[0]}/compare?ids={','.join(sweeps[1][:n])}{more}")
    page.wait_for_selector(".gw-compare[data-drawn]")
    return page


def traces(page: Page, metric: str) -> Any:
    """What a chart draws: of each line whether it is filled, how many points it has, its last x and its hover text."""
    plot = page.locator(f'[data-chart="{metric}"] .plot')
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    line = "{fill: t.fill ?? '', n: t.x.length, last: t.x.at(-1), hover: t.hovertemplate ?? ''}"
    return plot.evaluate(f"node => node.data.map(t => ({line}))")
