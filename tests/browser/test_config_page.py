"""The Config tab: all settings in effect are searched, told apart from what was set."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from groupwise.storage.home import paths
from groupwise.storage.spec.yaml import yaml_text
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.made_runs import made_run


def test_all_settings_in_effect_are_one_search_away(open_page: OpenPage, reading_dashboard: str) -> None:
    run_id = made_run("set", 4, groups=0)
    folder = paths.run_folder(run_id)
    folder.spec.write_text(yaml_text.dump(json.loads(folder.spec.read_text())))
    folder.versions.write_text('{"python": "3.12.1", "torch": "2.9.0", "trl": "0.1"}')
    folder.script.write_text('"""Trains."""\nimport trl  # TRL\n\nRATE, NAME = 1e-4, f"a # {trl}"\n')
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=config")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download spec.yaml").click()
    assert saved.value.suggested_filename == "spec.yaml"
    assert saved.value.path().read_bytes() == paths.run_folder(run_id).spec.read_bytes()
    expect(page.get_by_role("link", name="Use these settings")).to_have_count(1)  # in the head of the page
    expect(page.locator(".versions")).to_have_text("Trained with Python 3.12.1, torch 2.9.0, TRL 0.1.")
    script = page.locator("section", has_text="train.py").locator("pre").last
    expect(script.locator(".code-string")).to_have_text(['"""Trains."""', 'f"a # {trl}"'])
    expect(script.locator(".code-keyword, .code-comment, .code-number")).to_have_text(["import", "# TRL", "1e-4"])
    assert script.text_content() == folder.script.read_text()
    expect(page.locator(".gw-config .code-key").first).to_have_text("name")
    colours = [page.locator(f".gw-config .code-{kind}").first for kind in ("key", "keyword")]
    assert len({one.evaluate("node => getComputedStyle(node).color") for one in colours}) == 1
    page.goto(f"{reading_dashboard}/new?from={run_id}&view=yaml")
    expect(page.locator(".yaml .code-key").first).to_have_text("name")
    expect(page.locator(".yaml .code-key").first).to_have_css("font-weight", "400")
    page.go_back()
    picture(page, "run-config")
    page.locator(".effective summary").click()
    expect(page.locator(".effective .told")).to_contain_text("this run trained with TRL 0.1")
    rows = page.locator(".effective tbody tr")
    page.get_by_label("Search settings").fill("temperature")
    expect(rows.first).to_contain_text("training.temperature")
    expect(rows.first).to_have_class("mut")
    picture(page, "run-config-effective")
    page.get_by_label("only what was set").check()
    expect(rows).to_have_count(0)
    page.get_by_label("Search settings").fill("learning rate")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("1e-4")
    assert no_sideways_scroll(page)
