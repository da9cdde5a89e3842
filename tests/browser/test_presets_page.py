"""Settings that come from elsewhere and go elsewhere: presets, other runs, files that are imported and exported."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from groupwise.storage.library import presets
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from tests.browser.conftest import OpenPage, picture
from tests.browser.new_run_page import follows, show, yaml_of
from tests.support.homes import QUICKSTART
from tests.support.runs import ended_run


def test_a_preset_is_taken_undone_saved_as_ones_own_and_deleted(new_run: Page, shared_dashboard: str) -> None:
    new_run.get_by_role("button", name="Presets").click()
    picture(new_run, "new-presets")
    expect(new_run.locator("dialog.presets li .take").first).to_be_focused()
    new_run.locator("dialog.presets li", has_text="Dr. GRPO").get_by_role("button").first.click()
    follows(new_run, "dr_grpo")
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("arithmetic-quickstart")
    new_run.get_by_role("button", name="Save as preset").click()
    new_run.locator("#keep-sentence").fill("for tests")
    new_run.keyboard.press("Shift+Tab")  # back to the name, where one begins
    new_run.keyboard.insert_text("my own <b>one</b>")
    new_run.keyboard.press("Enter")
    expect(new_run.locator(".origin")).to_contain_text("my own <b>one</b>")
    new_run.get_by_role("button", name="Presets").click()
    own = new_run.locator("dialog.presets li", has_text="my own")
    expect(own).to_contain_text("for tests")
    own.get_by_role("button", name="Delete").click()
    expect(own).to_have_count(0)


def test_any_runs_settings_are_kept_as_a_preset(new_run: Page, open_page: OpenPage, shared_dashboard: str) -> None:
    run = registry.get_run(ended_run(QUICKSTART.read_text()))
    assert run is not None
    page = open_page(f"{shared_dashboard}/run?id={run.id}&tab=config")
    page.get_by_role("link", name="Save as preset in New run").click()
    page.locator("#keep-title").fill("x" * 82)
    expect(page.locator("dialog.keep .length")).to_have_text("82 characters: 2 too many")
    page.locator("#keep-title").fill("kept from a run")
    expect(page.locator("dialog.keep .length")).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".origin")).to_contain_text("kept from a run")
    [kept] = [preset for preset in presets.own_presets() if preset.name == "kept from a run"]
    assert kept.text == run.folder.spec.read_text()
    presets.delete_preset("kept from a run")


def test_a_spec_and_a_script_are_imported_and_exported(new_run: Page, tmp_path: Path) -> None:
    new_run.get_by_label("KL weight", exact=True).fill("0.125")
    follows(new_run, "beta: 0.125")
    show(new_run, "YAML")
    with new_run.expect_download() as exported:
        new_run.locator(".yaml .download").click()
    assert exported.value.suggested_filename == "arithmetic-quickstart.yaml"
    text = Path(exported.value.path()).read_text()
    assert text == yaml_of(new_run)
    show(new_run, "Script")
    with new_run.expect_download() as script:
        new_run.locator(".script .download").click()
    python, other = tmp_path / "train.py", tmp_path / "other.yaml"
    python.write_text(Path(script.value.path()).read_text())
    other.write_text(text.replace("0.125", "0.25"))
    _bring(new_run, other)
    follows(new_run, "beta: 0.25")
    _bring(new_run, python)
    follows(new_run, "beta: 0.125")
    assert spec.parse_spec(yaml_of(new_run)) == spec.parse_spec(text)


def _bring(page: Page, file: Path) -> None:
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("input.import").set_input_files(file)
    page.locator("dialog.importing .take-it").click()
