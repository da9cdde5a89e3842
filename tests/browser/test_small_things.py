"""Small things that only a browser shows: where the keyboard stands, and which sentences stay."""

from __future__ import annotations

import sqlite3

import pytest
from playwright.sync_api import expect

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from tests.browser.conftest import Held, OpenPage, picture
from tests.support.homes import dashboard, fresh_home, no_worker, wait_for
from tests.support.runs import ended_run as ended_run_of

SPEC = "name: one\nrewards: [{name: format}]\n"
FOCUSED = "document.activeElement.closest('tr')?.dataset.run ?? null"


@pytest.fixture
def ended_run(shared_dashboard: str) -> str:
    """The id of a run that failed just now."""
    return ended_run_of(SPEC)


def test_the_keyboard_stays_where_it_was_while_ages_tick(
    open_page: OpenPage, shared_dashboard: str, ended_run: str
) -> None:
    page = open_page(shared_dashboard)
    row = page.locator(f'tr[data-run="{ended_run}"]')
    age = row.locator("td").last
    expect(row).to_be_visible()
    page.locator(".search").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == ended_run and page.evaluate("document.activeElement.tagName") == "A":
            break
    before = age.inner_text()
    wait_for("the age to tick", lambda: page.wait_for_timeout(100) or age.inner_text() != before)
    assert page.evaluate(FOCUSED) == ended_run
    newer = ended_run_of(SPEC, name="two")
    expect(page.locator(f'tr[data-run="{newer}"]')).to_be_visible()
    assert page.evaluate(FOCUSED) == ended_run
    order = page.locator("tbody tr").evaluate_all("rows => rows.map(row => row.dataset.run)")
    assert order[:2] == [newer, ended_run]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/run?id={ended_run}")


def test_a_damaged_registry_is_said_on_every_first_page_with_the_way_out(open_page: OpenPage) -> None:
    with fresh_home(), no_worker(), dashboard() as (_, address):
        whole = paths.registry_path().read_bytes()
        paths.registry_path().write_bytes(b"no database" * 1000)
        page = open_page(address)
        said = page.locator(".gw-runs_table > .problem.of-page")
        expect(said).to_contain_text("is damaged")
        expect(said).to_contain_text("No run is lost: `groupwise repair` sets it aside")
        picture(page, "runs-damaged-registry")
        new = open_page(f"{address}/new")
        expect(new.get_by_text("No run is lost: `groupwise repair` sets it aside").first).to_be_visible()
        expect(new.get_by_text("could not be read just now")).to_have_count(0)
        paths.registry_path().write_bytes(whole)
        expect(page.locator(".empty")).to_be_visible()
        expect(said).to_be_hidden()


def test_a_record_that_could_not_be_read_is_said_until_it_can_be(
    open_page: OpenPage, shared_dashboard: str, ended_run: str
) -> None:
    record = paths.run_folder(ended_run).db
    record.write_bytes(b"no database" * 100)
    page = open_page(f"{shared_dashboard}/run?id={ended_run}")
    note = page.locator(".gw-header .note")
    expect(note).to_contain_text("damaged, or was copied only in part")
    expect(page.locator(".gw-doctor")).to_contain_text("No diagnostics: the record cannot be read.")
    nothing = "Nothing to show: the record cannot be read."
    of_folder = "There is no checkpoint in the folder of this run."
    said = {"Groups": nothing, "Completions": nothing, "Statistics": nothing, "Checkpoints": of_folder}
    for tab, words in said.items():
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(f"#part-{tab.lower()}").get_by_text(words).first).to_be_visible()
        expect(page.get_by_text("copied only in part")).to_have_count(1)  # in the run's head
    page.get_by_role("tab", name="Overview").click()
    expect(page.get_by_text("copied only in part")).to_have_count(1)
    expect(page.get_by_text("Nothing has happened yet.")).to_be_hidden()
    expect(page.locator(".gw-header .pill")).to_contain_text("Failed")
    record.unlink()
    expect(note).to_be_hidden()


def test_why_a_wish_was_refused_stays_while_the_run_is_read_again(
    open_page: OpenPage, shared_dashboard: str, ended_run: str
) -> None:
    registry.set_state(ended_run, states.FAILED, "Failed at step 0: the disk is full. Free some space.")
    page = open_page(f"{shared_dashboard}/run?id={ended_run}")
    resume = page.locator(".ending").get_by_role("button", name="Start again")
    expect(resume).to_be_visible()
    held = Held(page, "run_status")  # or the button would go as soon as the page reads the state
    wait_for("what was asked before to be answered", lambda: page.wait_for_timeout(50) or held.kept)
    with sqlite3.connect(paths.registry_path()) as behind_its_back:
        behind_its_back.execute("UPDATE run SET state = ? WHERE id = ?", [states.FINISHED, ended_run])
    behind_its_back.close()
    resume.click()
    problem = page.locator(".gw-header .found > .problem")
    expect(problem).not_to_be_empty()
    held.release()
    refusal = problem.inner_text()
    expect(page.locator(".gw-header .pill")).to_contain_text("Finished")
    page.wait_for_timeout(5500)
    expect(problem).to_have_text(refusal)


def test_on_a_phone_the_chosen_tab_is_in_sight(open_page: OpenPage, shared_dashboard: str, ended_run: str) -> None:
    page = open_page("about:blank")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{shared_dashboard}/run?id={ended_run}&tab=checkpoints")
    last = page.get_by_role("tab", name="Checkpoints")
    expect(last).to_be_in_viewport(ratio=0.99)
    page.go_back()
    page.goto(f"{shared_dashboard}/run?id={ended_run}")
    expect(page.get_by_role("tab", name="Overview")).to_be_in_viewport(ratio=0.99)
    expect(last).not_to_be_in_viewport(ratio=0.99)
    last.focus()
    page.keyboard.press("Enter")
    expect(last).to_have_attribute("aria-selected", "true")
    expect(last).to_be_in_viewport(ratio=0.99)
