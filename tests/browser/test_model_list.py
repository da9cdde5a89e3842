"""The list of the Model field names models of the hub, also where one stands in the field, and the advice takes one."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from groupwise.storage.home import paths
from tests.browser.conftest import no_sideways_scroll, picture
from tests.browser.new_run_page import follows, show, write_yaml, yaml_of

SMALL = "Qwen/Qwen2.5-0.5B-Instruct"


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Models").get_by_role("option")


def test_the_list_shows_all_models_and_takes_one_by_mouse_and_by_keys(new_run: Page) -> None:
    model = new_run.get_by_label("Model", exact=True)
    expect(options(new_run)).to_have_count(0)
    model.click()
    expect(options(new_run).first).to_contain_text("starter · 0.8 M")
    expect(options(new_run).filter(has_text=SMALL)).to_contain_text("not on this machine yet")
    picture(new_run, "new-models")
    assert no_sideways_scroll(new_run)
    options(new_run).filter(has_text=SMALL).click()
    expect(options(new_run)).to_have_count(0)
    follows(new_run, f"id: {SMALL}")
    model.press("ArrowDown")
    expect(options(new_run).and_(new_run.get_by_role("option", selected=True))).to_contain_text(SMALL)
    model.press("ArrowDown")
    model.press("Enter")
    follows(new_run, "id: Qwen/Qwen2.5-1.5B-Instruct")
    model.fill("smol")  # what is typed narrows it
    expect(options(new_run)).to_have_count(1)
    model.press("Escape")
    expect(options(new_run)).to_have_count(0)
    expect(model).to_have_value("smol")
    new_run.get_by_role("button", name="List models").click()
    expect(options(new_run).first).to_contain_text("starter")
    new_run.get_by_label("Name", exact=True).click()
    expect(options(new_run)).to_have_count(0)


def test_where_the_starter_knows_no_answer_one_click_takes_a_model_by_name(new_run: Page) -> None:
    rows = "".join(f"Capital of {n}?,{n}\n" for n in range(80))
    (paths.data_folder() / "questions.csv").write_text(f"question,answer\n{rows}")
    text = yaml_of(new_run).replace("task:arithmetic", "file:questions.csv")
    write_yaml(new_run, text.replace("id: starter", "id: starter\n  revision: v1"))
    show(new_run, "Form")
    said = new_run.locator(".verdict", has_text="only do sums such as")
    expect(said).to_contain_text(f"such as {SMALL}: 1 GB, downloaded once from the Hugging Face Hub")
    picture(new_run, "new-starter-advice")
    assert no_sideways_scroll(new_run)
    said.get_by_role("button", name=f"Use {SMALL}").click()
    follows(new_run, f"id: {SMALL}")
    assert "revision" not in yaml_of(new_run)
    expect(said).to_have_count(0)
    unreachable = new_run.locator(".verdict", has_text="could not be looked up")
    expect(unreachable).to_contain_text("copy the model’s folder to this machine, and give its path as the model")
    expect(new_run.get_by_role("button", name="Launch", exact=True)).to_be_enabled()
    picture(new_run, "new-model-unreachable")
