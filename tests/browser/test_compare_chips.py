"""The chips of the runs that Compare lays over each other: names of any length and script, and runs that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.homes import dashboard
from tests.support.made_runs import made_run

NAMES = (
    "‹img src=x onerror=alert(1)› and a name that goes on  .*[a-z]+ (x",
    "an experiment of arithmetic with a learning rate of 1e-5 and a tail, seed 17",
    "ניסוי של אריתמטיקה עם קצב למידה נמוך מאוד וזנב ארוך 2",
    "👩‍🚀🚀 an experiment with emoji 🎉🎉🎉🎉 in every part of it 👩‍🚀👩‍🚀👩‍🚀👩‍🚀",
)
UNKNOWN = "There is no run of this id here."


@pytest.fixture(scope="module")
def long_names(known_home: Path) -> Iterator[str]:
    """The address at which four runs of long names are compared with one that is not there."""
    ids = [made_run(name, 14, groups=1, size=2, seed=n) for n, name in enumerate(NAMES)]
    with dashboard() as (_, address):
        yield f"{address}/compare?ids={','.join([*ids, 'nope'])}"


def opened(open_page: OpenPage, address: str) -> Page:
    page = open_page(address)
    page.wait_for_selector(".gw-compare[data-drawn]")
    return page


def chips(page: Page) -> Any:
    """Of each chip of a run that is there, what its name's parts show: their widths, and whether the end is whole."""
    return page.locator(".legend .kept-end").evaluate_all("""names => names.map(name => {
        const [start, end] = name.children;
        const chip = name.closest(".chosen").getBoundingClientRect();
        return { start: start.clientWidth, end: end.clientWidth, whole: end.scrollWidth <= end.clientWidth + 1,
                 inside: chip.left >= 0 && chip.right <= innerWidth, blank: /^\\s/.test(end.textContent) };
    })""")


def test_chips_wrap_and_what_is_said_of_a_run_is_whole(open_page: OpenPage, long_names: str) -> None:
    page = opened(open_page, long_names)
    picture(page, "compare-chips")
    legend, gone = page.locator(".legend"), page.locator('.chosen[data-run="nope"]')
    expect(gone).to_contain_text(UNKNOWN)
    for width in (1440, 900, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        assert legend.evaluate("node => node.scrollWidth <= node.clientWidth"), width
        shown = chips(page)
        assert len(shown) == len(NAMES)
        for chip in shown:
            assert chip["start"] >= 30 and chip["end"] >= 24 and chip["inside"] and not chip["blank"], (width, chip)
            assert chip["whole"] or width == 390, chip
        words = gone.locator(".warn")
        assert words.evaluate("node => node.scrollWidth <= node.parentElement.clientWidth"), width
        assert no_sideways_scroll(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    ends = [page.locator(part).bounding_box() for part in (".legend", ".stale")]
    assert ends[0] and ends[1] and ends[1]["y"] - ends[0]["y"] - ends[0]["height"] >= 8
