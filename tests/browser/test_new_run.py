"""Setting up a run in the browser: what cannot work is said at the field, and nothing that was typed is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench.homes import wait_for
from storage import home, registry, spec, states
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture


@pytest.fixture
def new_run(open_page: OpenPage, shared_dashboard: str) -> Page:
    """The page, once the worker has said what TRL offers."""
    wait_for("the catalogue", lambda: registry.published("catalogue"))
    page = open_page(f"{shared_dashboard}/new")
    expect(page.get_by_label("Group size")).to_have_value("8")
    return page


def launch(page: Page) -> None:
    page.get_by_role("button", name="Launch", exact=True).click()


def yaml_of(page: Page) -> str:
    """The editor's text; it draws only the lines in view, so ask it, not the DOM."""
    kept = page.locator("#kept textarea").input_value()
    return str(json.loads(kept)["text"])


def write_yaml(page: Page, text: str) -> None:
    page.locator("#yaml .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("Group size", "7", "groups of 7 do not divide"),
        ("Group size", "1", "at least 2 completions"),
        ("Learning rate", "fast", "should be a number"),
        ("Completions a step", "6.5", "should be a whole number"),
        ("Model", "/no/such/folder", "there is no folder /no/such/folder"),
        ("Prompts", "file:missing.csv", "there is no file “missing.csv”"),
        ("Prompts", "task:arithmetik", "Did you mean “arithmetic”?"),
        ("Name", "", "Must not be empty"),
    ],
)
def test_a_wrong_field_is_said_there_and_kept(new_run: Page, field: str, typed: str, sentence: str) -> None:
    box = new_run.get_by_label(field, exact=True)
    box.fill(typed)
    box.press("Tab")
    note = new_run.locator(".field", has=box).get_by_text(sentence)
    expect(note).to_be_visible()
    before = len(registry.runs())
    launch(new_run)
    expect(box).to_be_focused()
    assert "/new" in new_run.url and len(registry.runs()) == before
    expect(note).to_be_visible()
    expect(box).to_have_value(typed)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: x\nrewards: [{name: format}]\ntraining: {learning_rat: 1}", "Did you mean “learning_rate”?"),
        ("name: x\nrewards: [{name: formatt}]", "Did you mean “format”?"),
        ("name: x\nrewards: [{name: format}]\nmodl: {}", "Did you mean “model”?"),
        ("name: [", "This is not YAML"),
        ("name: x\nname: y", "given twice"),
        ("x: !!python/object/apply:os.system [ls]", "This is not YAML"),
    ],
)
def test_wrong_yaml_is_said_with_its_line_and_kept(new_run: Page, text: str, sentence: str) -> None:
    write_yaml(new_run, text)
    expect(new_run.locator("#summary").get_by_text(sentence)).to_be_visible()
    launch(new_run)
    new_run.wait_for_timeout(500)
    assert "/new" in new_run.url
    shown = " ".join(new_run.locator("#yaml .cm-line").all_inner_texts())
    assert shown.split() == text.split()


def test_form_and_yaml_follow_each_other(new_run: Page) -> None:
    new_run.get_by_label("KL weight").fill("0.5")
    wait_for("the YAML to follow", lambda: new_run.wait_for_timeout(50) or "beta: 0.5" in yaml_of(new_run))
    assert "eval_steps: 20" in yaml_of(new_run)  # what the form does not show stays
    write_yaml(new_run, yaml_of(new_run).replace("num_generations: 8", "num_generations: 16", 1))
    expect(new_run.get_by_label("Group size")).to_have_value("16")
    expect(new_run.locator("#summary")).to_contain_text("4 prompts × 16 completions")


def test_from_a_csv_to_a_launched_run_with_lora(
    open_page: OpenPage, new_run: Page, tmp_path: Path, shared_dashboard: str
) -> None:
    rows = tmp_path / "sums.csv"
    rows.write_text("question,answer\n" + "\n".join(f"{n}+{n}?,{2 * n}" for n in range(40)))
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(rows)
    expect(new_run.get_by_label("Prompts", exact=True)).to_have_value("sums.csv")
    new_run.get_by_label("LoRA", exact=True).check()
    expect(new_run.get_by_label("LoRA rank")).to_have_value("16")
    new_run.get_by_label("Name", exact=True).fill("sums with LoRA")
    new_run.get_by_label("Steps", exact=True).fill("4")
    picture(new_run, "new-run")
    assert no_sideways_scroll(new_run)
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = registry.runs()[0]
    asked = spec.parse(run.folder.spec.read_text())
    assert (asked.name, asked.data.source, asked.lora) == (
        "sums with LoRA",
        "file:sums.csv",
        {"r": 16, "lora_alpha": 32},
    )
    assert (home.data_folder() / "sums.csv").read_text() == rows.read_text()
    expect(new_run.locator(".gw-header .pill")).to_contain_text("Finished", timeout=120_000)
    assert registry.runs()[0].state == states.FINISHED
    again = open_page(f"{shared_dashboard}/new?from={run.id}")
    expect(again.get_by_label("Name", exact=True)).to_have_value("sums with LoRA")


def test_problems_look_as_they_should(new_run: Page) -> None:
    new_run.get_by_label("Group size").fill("7")
    new_run.get_by_label("Learning rate").fill("fast")
    new_run.get_by_label("Model", exact=True).fill("/no/such/folder")
    new_run.get_by_label("Model", exact=True).press("Tab")
    expect(new_run.get_by_text("should be a number").first).to_be_visible()
    picture(new_run, "new-problems")
