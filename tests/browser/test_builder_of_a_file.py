"""A function is built from blocks for the answers of one's own file, tried beside it, and used in a new run of it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import show, yaml_of
from tests.browser.rewards_page import build, do, ready, source, try_it

LIVE_FOR = 90_000  # ms: the first answer waits for the worker's imports


def write_german_file() -> None:
    rows = "".join(f"Wie viel ist {n} + {n} genau?;{2 * n},0\r\n" for n in range(30))
    (paths.data_folder() / "aufgaben.csv").write_bytes(f"Frage;Lösung\r\n{rows}".encode("cp1252"))


def bar_of(page: Page, number: str) -> float:
    """How much of its track the bar beside this score fills."""
    cell = page.locator(".view-try .results .scored", has=page.locator(".num", has_text=number)).first
    track, bar = cell.locator(".b").bounding_box(), cell.locator(".b i").bounding_box()
    assert track is not None and bar is not None
    return bar["width"] / track["width"]


def test_blocks_for_a_german_file_are_tried_on_its_rows_and_used_in_a_run_of_it(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    for kept in library.newest_rewards():
        library.delete_reward(kept.name)
    write_german_file()
    page = ready(open_page(f"{shared_dashboard}/rewards"))
    form = build(page, "Right number")
    page.get_by_label("Data of").select_option("file:aufgaben.csv")
    said = page.locator(".given")
    expect(said).to_contain_text("the mapped column “Lösung”, e.g. 0,0", timeout=LIVE_FOR)
    expect(form.get_by_label("The right number is in")).to_contain_text("answer: “Lösung”")
    expect(form.get_by_label("Numbers are written")).to_have_value("comma")
    row = page.locator(".live .rows > section").nth(1)
    expect(row).to_contain_text("Wie viel ist 1 + 1 genau?", timeout=LIVE_FOR)
    row.locator("textarea").fill("Das sind 2,0.")
    expect(row.locator(".points:not(.old) .point b")).to_have_text("1", timeout=LIVE_FOR)
    row.locator("textarea").fill("Das sind 3,0.")
    expect(row.locator(".points:not(.old) .point b")).to_have_text("0", timeout=LIVE_FOR)
    picture(page, "rewards-german-blocks")
    assert no_sideways_scroll(page)
    form.locator(".kinds").get_by_role("button", name="Contains words").click()
    form.locator(".blocks li").nth(1).locator("textarea").first.fill("xyz")
    page.get_by_label("Weight of block 2").fill("2")
    source(page, "Typed")
    page.get_by_label("Completion 1", exact=True).fill("0,0")
    expect(try_it(page).locator(".group .scored .num").first).to_have_text("0.33")
    assert 0.3 < bar_of(page, "0.33") < 0.36  # a third is a third, also where nothing is higher
    picture(page, "rewards-german-tried")
    do(page, "Save and use in a new run")
    page.wait_for_url("**/new?*")
    show(page, "YAML")
    expect(page.locator(".view-yaml")).to_contain_text("my_reward", timeout=LIVE_FOR)
    text = yaml_of(page)
    assert "source: file:aufgaben.csv" in text and "answer_column: Lösung" in text and "{Frage}" in text
    show(page, "Form")
    picture(page, "new-german-from-rewards")
    page.evaluate("sessionStorage.removeItem('groupwise:rewards:data')")  # as in a tab of its own, beside a draft
    page.goto(f"{shared_dashboard}/rewards?name=my_reward")
    ready(page)
    expect(page.locator(".data option:checked")).to_have_text("aufgaben.csv")
    expect(page.locator(".why-data")).to_have_text("(what it was built on)")
    expect(row.locator("textarea")).to_have_value("Das sind 3,0.", timeout=LIVE_FOR)
