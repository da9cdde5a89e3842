"""The head of a run's page on a phone: its tabs begin within 156 pixels, and it is in sight without the dashboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.record import states
from groupwise.storage.registry import labels, registry
from tests.browser.conftest import OpenPage, low_targets, picture
from tests.browser.run_page import ended, head
from tests.support.made_runs import made_run, running

# What of the head is not within the page; the tabs can be scrolled, and show that they can.
OVERFLOWS = """() => [...document.querySelectorAll(".gw-header .found :is(h1, .pill, .line, .sentence, .btn)")]
  .filter((one) => one.getClientRects().length && one.getBoundingClientRect().right > 390)
  .map((one) => one.className || one.tagName)"""
NAME = "grpo-qwen2.5-0.5b-instruct-gsm8k-lora-r16-lr1e-5-beta0.04-seed3-batch32-finally1"


@pytest.fixture(scope="module")
def address(still_dashboard: str) -> str:
    return still_dashboard


# ---- how it ended ----
@pytest.mark.parametrize("name", ["first", NAME])
@pytest.mark.parametrize("state", [states.RUNNING, states.FINISHED, states.FAILED, states.STOPPED])
def test_a_phone_shows_the_tabs_within_156_pixels(open_page: OpenPage, address: str, state: str, name: str) -> None:
    """With the bar of the site: what else a run says of its end comes below them."""
    ends = {
        states.FINISHED: "Done: step 40 of 40. The trained model is in final/.",
        states.FAILED: "Failed at step 1207: the reward function “mine” failed in 5 calls in a row: no.",
        states.STOPPED: "Stopped at step 1207, as asked. Resume continues from step 1200.",
    }
    saved = 1200 if state in (states.FAILED, states.STOPPED) else 0
    if state == states.RUNNING:
        run_id = running(made_run(name, state=states.QUEUED))
    else:
        run_id = ended(name, ends[state], state, saved=saved)
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(head(page).get_by_role("button").last).to_be_visible()
    if state in (states.FINISHED, states.STOPPED):  # the verdict comes a moment later
        words = f"{state.capitalize()} · verdict: the groups are too small"
        expect(head(page).locator(".pill")).to_have_text(words)
    assert page.evaluate(OVERFLOWS) == [] and low_targets(page) == []
    title, bar, tabs = (head(page).locator(one).bounding_box() for one in (".found h1", ".bar", ".tabs"))
    assert title and bar and tabs and tabs["y"] <= 156, tabs
    assert title["height"] < 24, "a long name takes one line, and is whole in its title"
    expect(head(page).locator(".found h1")).to_have_attribute("title", name)
    said = head(page).locator(".ending" if state == states.FAILED else ".sentence").bounding_box()
    assert state == states.RUNNING or (said and said["y"] >= tabs["y"] + tabs["height"])
    assert tabs["y"] - bar["y"] > 40, "a bar right above the tabs looks like the mark of one"
    picture(page, f"run-head-{state}-{len(name)}")
    head(page).locator(".pill span").evaluate(
        "node => (node.textContent = 'Stopped · verdict: ' + 'the rate is '.repeat(9))"
    )
    pill = head(page).locator(".pill").bounding_box()
    assert pill and pill["x"] + pill["width"] <= 390, "a long verdict is cut, and not by the screen"
    if state == states.RUNNING and name == NAME:
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
    dialog.get_by_label("Tags, with commas between").fill("x" * 50)
    save.click()
    expect(why).to_contain_text("A tag has at most 40 characters")
    expect(dialog.get_by_label("Tags, with commas between")).to_be_focused()
    expect(name).to_have_value("second name")
    run = registry.get_run(run_id)
    assert run and run.name == "first name", "all or nothing"
    dialog.get_by_label("Tags, with commas between").fill("day, night")
    labels.write_note(run_id, "said by another")
    save.click()
    told = "The note has since been changed to “said by another”. Save again to put yours in its place."
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


def test_of_a_long_note_two_lines_are_shown_until_it_is_clicked(open_page: OpenPage, address: str) -> None:
    note = "w" * 500
    run_id = made_run("noted", 12, groups=1, size=2)
    labels.write_note(run_id, note)
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 1280, "height": 800})
    about = head(page).locator(".said .about")
    expect(about).to_have_attribute("title", note)
    lines = "node => node.clientHeight / parseFloat(getComputedStyle(node).lineHeight)"
    assert about.evaluate(lines) < 2.5
    picture(page, "run-long-note")
    about.click()
    assert about.evaluate(lines) > 2.5
    about.click()
    assert about.evaluate(lines) < 2.5
    head(page).get_by_role("button", name="Name, tags and note").click()
    expect(page.get_by_role("dialog").get_by_label("Note")).to_have_value(note)
