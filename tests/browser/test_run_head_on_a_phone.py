"""The head of a run's page on a phone: all of it within 160 pixels, and in sight without the dashboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.record import states
from groupwise.storage.registry import labels, registry
from tests.browser.conftest import OpenPage, low_targets, picture
from tests.browser.run_page import ended, head
from tests.support.made_runs import made_run, running

# What of the head is not within the page, or cut off; the tabs can be scrolled, and show that they can.
OVERFLOWS = """() => [...document.querySelectorAll(".gw-header .found :is(h1, .pill, .line, .sentence, .btn)")]
  .filter((one) => one.getClientRects().length && (one.scrollHeight > one.clientHeight + 2 && one.matches("h1")
    || one.getBoundingClientRect().right > 390)).map((one) => one.className || one.tagName)"""


@pytest.fixture(scope="module")
def address(still_dashboard: str) -> str:
    return still_dashboard


# ---- how it ended ----
@pytest.mark.parametrize("saved", [0, 1200])
def test_a_phone_shows_the_whole_head_in_160_pixels(open_page: OpenPage, address: str, saved: int) -> None:
    name = "grpo-qwen2.5-0.5b-instruct-gsm8k-lora-r16-lr1e-5-beta0.04-seed3-final"
    words = "Stopped at step 1207, as asked. Resume continues from step 1200."
    run_id = ended(name, words, states.STOPPED, saved=saved) if saved else running(made_run(name, state=states.QUEUED))
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(head(page).get_by_role("button").last).to_be_visible()
    if saved:  # the verdict comes a moment later
        expect(head(page).locator(".pill")).to_have_text("Stopped · verdict: the groups are too small")
    assert page.evaluate(OVERFLOWS) == [] and low_targets(page) == []
    box = head(page).bounding_box()
    assert box and box["height"] <= 160
    bar, tabs = head(page).locator(".bar").bounding_box(), head(page).locator(".tabs").bounding_box()
    above = head(page).locator(".sentence").bounding_box()
    assert above is None or (tabs and tabs["y"] - above["y"] - above["height"] >= 6), "what it says stands on the tabs"
    assert bar and tabs and tabs["y"] - bar["y"] > 40, "a bar right above the tabs looks like the mark of one"
    if not saved:
        a_dialog_has_a_margin(page)
        without_its_dashboard_the_name_stays_in_sight(page)


def without_its_dashboard_the_name_stays_in_sight(page: Page) -> None:
    page.route("**/component_server/**", lambda route: route.abort())
    note = page.locator("#gw-offline")
    expect(note).to_be_visible()
    expect(note).to_be_in_viewport(ratio=1)
    said, shown = note.bounding_box(), head(page).bounding_box()
    assert said and shown and said["y"] > shown["y"] + shown["height"]
    picture(page, "reconnecting")


def a_dialog_has_a_margin(page: Page) -> None:
    head(page).get_by_role("button", name="Stop and save").click()
    box = page.get_by_role("dialog").bounding_box()
    assert box and box["x"] >= 8 and box["x"] + box["width"] <= 382, box
    page.keyboard.press("Escape")


def test_a_run_is_renamed_tagged_and_noted_in_its_head(open_page: OpenPage, address: str) -> None:
    run_id = made_run("first name", 12, groups=1, size=2)
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 390, "height": 844})
    head(page).get_by_role("button", name="Name, tags and note").click()
    dialog = page.get_by_role("dialog")
    name, save, why = (
        dialog.get_by_label("Name"),
        dialog.get_by_role("button", name="Save"),
        dialog.get_by_role("alert"),
    )
    expect(name).to_have_value("first name")
    name.fill(" ")
    dialog.get_by_label("Tags, with commas between").fill("day, night")
    dialog.get_by_label("Note").fill("why does it fall?")
    save.click()
    expect(why).to_have_text("A run needs a name.")
    name.fill("second name")
    labels.write_note(run_id, "said by another")
    save.click()
    told = "The note was changed to “said by another” meanwhile. Save again to put yours in its place."
    expect(why).to_have_text(told)
    picture(page, "run-labels")
    save.click()
    expect(dialog).to_be_hidden()
    expect(head(page).locator(".found h1")).to_have_text("second name")
    expect(head(page).locator(".said .tag")).to_have_text(["day", "night"])
    expect(head(page).locator(".said .about")).to_have_text("why does it fall?")
    run = registry.get_run(run_id)
    assert run and (run.name, list(run.tags), run.note) == ("second name", ["day", "night"], "why does it fall?")
    assert page.evaluate(OVERFLOWS) == [] and low_targets(page) == []
    picture(page, "run-labelled")
