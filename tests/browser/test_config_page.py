"""The Config tab: all settings in effect are searched, told apart from what was set."""

from __future__ import annotations

from playwright.sync_api import expect

from groupwise.storage.home import paths
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.made_runs import made_run


def test_all_settings_in_effect_are_one_search_away(open_page: OpenPage, reading_dashboard: str) -> None:
    run_id = made_run("set", 4, groups=0)
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=config")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download spec.yaml").click()
    assert saved.value.suggested_filename == "spec.yaml"
    assert saved.value.path().read_bytes() == paths.run_folder(run_id).spec.read_bytes()
    expect(page.get_by_role("link", name="Use these settings")).to_have_count(1)  # in the head of the page
    page.locator(".effective summary").click()
    rows = page.locator(".effective tbody tr")
    page.get_by_label("Search settings").fill("temperature")
    expect(rows.first).to_contain_text("training.temperature")
    expect(rows.first).to_have_class("mut")
    picture(page, "run-config-effective")
    page.get_by_label("only what was set").check()
    expect(rows).to_have_count(0)
    page.get_by_label("Search settings").fill("learning rate")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("0.0001")
    assert no_sideways_scroll(page)
