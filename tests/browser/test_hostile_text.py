"""Completions, prompts, names, logs and events are hostile text: on no page does any of it run or fetch anything."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.app.pages.run import header
from groupwise.storage.home import paths
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.spec import spec
from tests.browser.conftest import OpenPage, no_sideways_scroll
from tests.support.runs import ended_run, make_spec

PAYLOADS = [
    "<script>window.pwned = 1</script>",
    "<img src=x onerror=window.pwned=1><img src=http://192.0.2.1/pixel.png>",
    "${window.pwned = 1}{{window.pwned = 1}}<%= 1 %>`${window.pwned = 1}`",
    "\"'><svg onload=window.pwned=1></svg><iframe src=javascript:window.pwned=1>",
    "[x](javascript:window.pwned=1) ![x](http://192.0.2.1/pixel.png)",
    "\u202eright to left\u202c \x00\x07\x1b[31mcontrol\x1b[0m \r\n שלום",
    "</textarea></pre></style></script><style>*{display:none}</style>",
]
LONG = "word " * 20_000  # 100,000 characters


@pytest.fixture(scope="module")
def hostile_run(reading_dashboard: str) -> str:
    """The id of a finished run in which everything a person or a model can write is hostile."""
    run_spec = make_spec(data={"system_prompt": PAYLOADS[0], "prompt_template": PAYLOADS[1] + "{question}"})
    run_id = ended_run(
        spec.to_yaml(run_spec), name="".join(PAYLOADS)[:80], model=PAYLOADS[1], data=PAYLOADS[2],
        sentence=" ".join(PAYLOADS),
    )  # fmt: skip
    folder = paths.run_folder(run_id)
    folder.log.write_text("\n".join([*PAYLOADS, "token hf_abcdefghijklmnopqrstuvwxyz0123456789"]))
    folder.rewards.mkdir()
    (folder.rewards / "format.py").write_text("\n".join(PAYLOADS))
    writer = RunWriter(folder.db, 1, {PAYLOADS[1]: 1.0, "format": 1.0})
    completions = [Completion(text, 9, False, 1.0, 0.5, [(1.0, "ok"), (None, "none")]) for text in [*PAYLOADS, LONG]]
    for step in (1, 2):
        groups = [
            Group("train", step, [{"role": "user", "content": text}], {text: text}, completions) for text in PAYLOADS
        ]
        writer.commit(
            step, metrics={"reward": 1.0, f"rewards/{PAYLOADS[0]}/mean": 0.5, PAYLOADS[2]: 0.1}, groups=groups,
            events=[Event("warning", text) for text in PAYLOADS],
        )  # fmt: skip
    writer.close()
    return run_id


def unharmed(page: Page) -> bool:
    page.wait_for_timeout(600)
    return bool(page.evaluate("window.pwned === undefined"))


@pytest.mark.parametrize("tab", header.TABS)
def test_nothing_runs_on_a_runs_page(open_page: OpenPage, reading_dashboard: str, hostile_run: str, tab: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={hostile_run}&tab={tab}")
    expect(page.locator(".gw-header .pill")).to_contain_text("Failed")
    if tab == "overview":
        page.get_by_text("All metrics").click()
    if tab == "groups":
        expect(page.locator(".comp")).to_have_count(len(PAYLOADS) + 1)
        assert PAYLOADS[0] in page.locator(".gw-groups").inner_text()
    if tab == "completions":
        expect(page.locator(".gw-completions")).to_contain_text("<script>window.pwned = 1</script>")
    if tab == "statistics":
        expect(page.locator(".gw-statistics")).to_contain_text("window.pwned")
    if tab == "log":
        expect(page.locator(".gw-log")).to_contain_text("control")
        assert "hf_abcdef" not in page.content()
    assert unharmed(page)
    assert no_sideways_scroll(page)


def test_nothing_runs_on_the_runs_page_and_on_new(
    open_page: OpenPage, reading_dashboard: str, hostile_run: str
) -> None:
    page = open_page(reading_dashboard)
    expect(page.locator(f"tbody tr[data-run='{hostile_run}']")).to_be_visible()
    assert unharmed(page)
    assert no_sideways_scroll(page)
    page = open_page(f"{reading_dashboard}/compare?ids={hostile_run}")
    expect(page.locator(".gw-compare")).to_contain_text("<script>window.pwned")
    assert unharmed(page)
    assert no_sideways_scroll(page)
    page = open_page(f"{reading_dashboard}/new?from={hostile_run}")
    expect(page.get_by_role("button", name="Launch", exact=True)).to_be_visible()
    assert unharmed(page)
