"""Setting up a run in the browser: three views of one spec, problems at their fields with what mends them, data seen
as the model sees it; and nothing that was typed is lost."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from bench.homes import QUICKSTART, wait_for
from storage import home, presets, registry, spec, states
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from worker import starter


@pytest.fixture
def new_run(open_page: OpenPage, shared_dashboard: str) -> Page:
    """The page, once the worker has said what TRL offers."""
    wait_for("the catalogue", lambda: registry.published("catalogue"))
    page = open_page(f"{shared_dashboard}/new")
    expect(page.get_by_label("Group size", exact=True)).to_have_value("8")
    return page


def launch(page: Page) -> None:
    page.get_by_role("button", name="Launch", exact=True).click()


def show(page: Page, view: str) -> None:
    page.get_by_role("tab", name=view).click()


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="YAML")


def yaml_of(page: Page) -> str:
    return page.locator(".yaml textarea").input_value()


def write_yaml(page: Page, text: str) -> None:
    show(page, "YAML")
    editor(page).fill(text)


def follows(page: Page, words: str) -> None:
    """Waits until the YAML says this."""
    wait_for(f"“{words}” in the YAML", lambda: page.wait_for_timeout(30) or words in yaml_of(page), seconds=15)


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("Group size", "7", "groups of 7 do not divide"),
        ("Group size", "1", "at least 2 completions"),
        ("Learning rate", "fast", "should be a number"),
        ("Completions per device", "6.5", "should be a whole number"),
        ("Model", "/no/such/folder", "there is no folder /no/such/folder"),
        ("Temperature", "0", "above 0"),
    ],
)
def test_a_wrong_field_is_said_there_kept_and_mended_by_one_click(
    new_run: Page, field: str, typed: str, sentence: str
) -> None:
    box = new_run.get_by_label(field, exact=True)
    box.fill(typed)
    box.press("Tab")
    note = new_run.locator(".field", has=box).locator(".said").get_by_text(re.compile(re.escape(sentence), re.I))
    expect(note).to_be_visible()
    before = len(registry.runs())
    launch(new_run)
    expect(box).to_be_focused()
    assert "/new" in new_run.url
    assert len(registry.runs()) == before
    expect(box).to_have_value(typed)
    new_run.locator(".verdict.blocking .fix").first.click()
    expect(note).to_have_count(0)
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: x\nrewards: [{name: format}]\ntraining: {learning_rat: 1}", "Did you mean “learning_rate”?"),
        ("name: x\nrewards: [{name: formatt}]", "Did you mean “format”?"),
        ("name: x\nrewards: [{name: format}]\nmodl: {}", "Did you mean “model”?"),
        ("name: [", "The YAML cannot be read"),
        ("name: x\nname: y", "The YAML cannot be read"),
        ("x: !!python/object/apply:os.system [ls]", "The YAML cannot be read"),
    ],
)
def test_wrong_yaml_is_said_and_kept(new_run: Page, text: str, sentence: str) -> None:
    write_yaml(new_run, text)
    expect(new_run.locator(".preflight").get_by_text(sentence)).to_be_visible()
    launch(new_run)
    new_run.wait_for_timeout(300)
    assert "/new" in new_run.url
    assert yaml_of(new_run) == text


def test_while_the_yaml_cannot_be_read_the_form_waits_and_undo_brings_it_back(new_run: Page) -> None:
    before = yaml_of(new_run)
    new_run.wait_for_timeout(900)
    write_yaml(new_run, "name: [")
    show(new_run, "Form")
    expect(new_run.get_by_text("The form waits until it can.")).to_be_visible()
    expect(new_run.get_by_label("Group size", exact=True)).to_be_disabled()
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.get_by_label("Group size", exact=True)).to_be_enabled()
    assert yaml_of(new_run) == before


def test_form_yaml_and_script_follow_each_other(new_run: Page) -> None:
    new_run.get_by_label("KL weight", exact=True).fill("0.5")
    follows(new_run, "beta: 0.5")
    assert "eval_steps: 20" in yaml_of(new_run)  # what the short list does not show stays
    show(new_run, "Script")
    expect(new_run.locator(".script pre")).to_contain_text("beta=0.5")
    write_yaml(new_run, yaml_of(new_run).replace("num_generations: 8", "num_generations: 16", 1))
    show(new_run, "Form")
    expect(new_run.get_by_label("Group size", exact=True)).to_have_value("16")
    expect(new_run.locator(".happening")).to_contain_text("4 prompts × 16 completions")
    show(new_run, "Script")
    expect(new_run.locator(".script pre")).to_contain_text("num_generations=16")


def test_every_setting_is_one_search_away_with_help_default_flag_mark_and_reset(new_run: Page) -> None:
    new_run.get_by_role("searchbox", name="Search all settings").fill("--top_p")
    found = new_run.locator(".all .field[data-path='training.top_p']")
    expect(found).to_contain_text("--top_p")
    expect(found).to_contain_text("default 1.0")
    expect(found.locator(".advice")).not_to_be_empty()
    box = found.get_by_role("textbox")
    box.fill("0.9")
    expect(found.locator(".changed")).to_be_visible()
    follows(new_run, "top_p: 0.9")
    picture(new_run, "new-search")
    found.get_by_role("button", name="reset").click()
    expect(box).to_have_value("")
    expect(found.locator(".changed")).to_be_hidden()
    assert "top_p" not in yaml_of(new_run)
    new_run.get_by_role("searchbox", name="Search all settings").fill("no such setting anywhere")
    expect(new_run.locator(".all")).to_contain_text("No setting has “no such setting anywhere”")


def test_what_is_typed_survives_a_reload(new_run: Page) -> None:
    new_run.get_by_label("Name", exact=True).fill("typed and not launched")
    follows(new_run, "typed and not launched")
    new_run.reload()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("typed and not launched")
    new_run.get_by_role("button", name="Start over").click()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("arithmetic-quickstart")


def test_what_is_typed_survives_a_reload_on_another_view_and_of_a_preset(new_run: Page) -> None:
    new_run.get_by_label("Name", exact=True).fill("typed first")
    follows(new_run, "typed first")
    show(new_run, "YAML")
    new_run.reload()
    expect(editor(new_run)).to_have_value(re.compile("typed first"))
    new_run.get_by_role("button", name="Presets").click()
    new_run.locator("dialog.presets li", has_text="DAPO").get_by_role("button").first.click()
    follows(new_run, "dapo")
    new_run.get_by_label("Name", exact=True).fill("typed after")
    follows(new_run, "typed after")
    new_run.reload()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("typed after")


def test_a_stage_is_typed_key_by_key(new_run: Page) -> None:
    new_run.get_by_text("Stages", exact=True).click()
    new_run.get_by_role("button", name="Add a stage").click()
    box = new_run.locator("#stage-0-training")
    box.press_sequentially("max_steps: 100\nlearning_rate: 5e-6  # slow\n", delay=60)
    follows(new_run, "learning_rate: 5.0e-06")
    expect(box).to_be_focused()
    expect(box).to_have_value("max_steps: 100\nlearning_rate: 5e-6  # slow\n")
    new_run.locator("#f-name").focus()
    new_run.wait_for_timeout(700)
    expect(new_run.locator("#stage-0-training")).to_have_value("max_steps: 100\nlearning_rate: 5e-6  # slow\n")


@pytest.mark.parametrize("label", ["Completions per device", "Group size", "Steps", "Longest completion", "LoRA rank"])
def test_a_huge_number_is_a_sentence_and_holds_up_nothing(new_run: Page, label: str) -> None:
    new_run.get_by_label("LoRA", exact=True).check()
    new_run.get_by_label(label, exact=True).fill("9" * 30)
    new_run.get_by_label("Name", exact=True).fill("still works")
    follows(new_run, "name: still works")
    expect(new_run.locator(".trouble")).to_be_hidden()


def test_a_launch_that_fails_says_why_and_keeps_saying_it(new_run: Page) -> None:
    runs = home.runs_folder()
    moved = runs.rename(runs.with_name("runs-away"))
    try:
        launch(new_run)
        expect(new_run.locator(".launch-note")).to_contain_text("Nothing was launched", timeout=40_000)
        new_run.wait_for_timeout(800)
        expect(new_run.locator(".launch-note")).to_contain_text("Nothing was launched")
    finally:
        moved.rename(runs)


def test_unreadable_and_back_leaves_nothing_behind(new_run: Page) -> None:
    show(new_run, "YAML")
    good = yaml_of(new_run)
    editor(new_run).fill(good.replace("limit: 4000", "limit: 3000"))
    editor(new_run).fill(good.replace("limit: 4000", "limit: [3000"))
    new_run.wait_for_timeout(1500)
    editor(new_run).fill(good.replace("limit: 4000", "limit: 3000"))
    show(new_run, "Form")
    expect(new_run.locator(".preview .of")).to_contain_text("3", timeout=15_000)
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)


def test_lists_are_edited_in_the_form(new_run: Page) -> None:
    new_run.get_by_label("length", exact=False).first.check()
    follows(new_run, "name: length")
    new_run.get_by_text("Examples before every prompt").click()
    new_run.get_by_role("button", name="Add an example").click()
    new_run.get_by_label("Question of example 1").fill("1+1?")
    new_run.get_by_label("What a good answer looks like of example 1").fill("2")
    follows(new_run, "completion: '2'")
    expect(new_run.locator(".preview .message.assistant")).to_contain_text("2")
    new_run.get_by_text("Which rows").click()
    new_run.get_by_role("button", name="Add a condition").click()
    new_run.get_by_label("Column of condition 1").select_option("answer")
    new_run.get_by_label("Operator of condition 1").select_option("<")
    new_run.get_by_label("Value of condition 1").fill("50")
    follows(new_run, "answer < 50")
    new_run.get_by_text("Stages", exact=True).click()
    new_run.get_by_role("button", name="Add a stage").click()
    new_run.locator("#stage-1-training").fill("max_steps: 3")
    follows(new_run, "max_steps: 3")
    new_run.get_by_role("button", name="Remove stage 2").click()
    new_run.get_by_role("button", name="Remove stage 1").click()
    new_run.get_by_role("button", name="Remove condition 1").click()
    new_run.get_by_role("button", name="Remove example 1").click()
    follows(new_run, "stages: []")
    made = spec.parse(yaml_of(new_run))
    assert (made.data.filter, made.data.examples, made.stages) == ([], [], [])


def test_a_preset_is_taken_undone_saved_as_ones_own_and_deleted(new_run: Page, shared_dashboard: str) -> None:
    new_run.get_by_role("button", name="Presets").click()
    picture(new_run, "new-presets")
    new_run.locator("dialog.presets li", has_text="Dr. GRPO").get_by_role("button").first.click()
    follows(new_run, "dr_grpo")
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("arithmetic-quickstart")
    new_run.get_by_role("button", name="Save as preset").click()
    new_run.locator("#keep-title").fill("my own <b>one</b>")
    new_run.locator("#keep-sentence").fill("for tests")
    new_run.get_by_role("button", name="Save", exact=True).click()
    expect(new_run.locator(".origin")).to_contain_text("my own <b>one</b>")
    new_run.get_by_role("button", name="Presets").click()
    own = new_run.locator("dialog.presets li", has_text="my own")
    expect(own).to_contain_text("for tests")
    own.get_by_role("button", name="Delete").click()
    expect(own).to_have_count(0)


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
    new_run.locator("input.import").set_input_files(other)
    follows(new_run, "beta: 0.25")
    new_run.locator("input.import").set_input_files(python)
    follows(new_run, "beta: 0.125")
    assert spec.parse(yaml_of(new_run)) == spec.parse(text)
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def (:")
    new_run.locator("input.import").set_input_files(wrong)
    expect(new_run.locator(".import-note")).to_contain_text("“wrong.py”")


def test_one_step_is_tried_and_leaves_nothing_behind(new_run: Page) -> None:
    before = {path for path in home.home().rglob("*") if path.is_dir()}
    new_run.get_by_role("button", name="Try one step").click()
    tried = new_run.locator(".tried")
    expect(tried).to_contain_text("One step works", timeout=90_000)
    expect(tried).to_contain_text("A step took")
    expect(tried.locator(".tried-one")).not_to_have_count(0)
    picture(new_run, "new-tried")
    assert {path for path in home.home().rglob("*") if path.is_dir()} - before == set()


def test_from_a_csv_and_a_model_folder_to_a_launched_run_by_the_page_alone(
    open_page: OpenPage, new_run: Page, tmp_path: Path, shared_dashboard: str
) -> None:
    folder = tmp_path / "my-model"
    shutil.copytree(starter.MODEL, folder)
    rows = tmp_path / "sums.csv"
    rows.write_text("problem,solution\n" + "\n".join(f"{n}+{n}?,it is #### {2 * n}" for n in range(40)) + "\n,\n")
    new_run.get_by_label("Model", exact=True).fill(str(folder))
    new_run.get_by_label("LoRA", exact=True).check()
    expect(new_run.get_by_label("LoRA rank")).to_have_value("16")
    new_run.locator("label", has_text="File").first.click()
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(rows)
    expect(new_run.get_by_label("File in the home")).to_have_value("file:sums.csv")
    new_run.get_by_role("button", name="Use this mapping").click()
    follows(new_run, "{problem}")
    expect(new_run.locator(".preview .message.user")).to_contain_text("0+0?")
    expect(new_run.locator(".preview .answer b")).to_have_text("0")
    new_run.get_by_label("Name", exact=True).fill("sums with LoRA")
    new_run.get_by_label("Steps", exact=True).fill("4")
    expect(new_run.locator(".checks .facts")).to_contain_text("to train on")
    picture(new_run, "new-run")
    assert no_sideways_scroll(new_run)
    for _ in range(4):  # whatever still blocks is mended by what the page offers
        new_run.wait_for_timeout(1200)
        blocking = new_run.locator(".verdict.blocking .fix")
        if not blocking.count():
            break
        blocking.first.click()
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = registry.runs()[0]
    asked = spec.parse(run.folder.spec.read_text())
    assert (asked.name, asked.model.id, asked.data.source) == ("sums with LoRA", str(folder), "file:sums.csv")
    assert asked.lora is not None
    assert (home.data_folder() / "sums.csv").read_text() == rows.read_text()
    expect(new_run.locator(".gw-header .pill")).to_contain_text("Finished", timeout=120_000)
    assert registry.runs()[0].state == states.FINISHED
    again = open_page(f"{shared_dashboard}/new?from={run.id}")
    expect(again.get_by_label("Name", exact=True)).to_have_value("sums with LoRA")


def test_problems_look_as_they_should(new_run: Page) -> None:
    new_run.get_by_label("Group size", exact=True).fill("7")
    new_run.get_by_label("Learning rate", exact=True).fill("fast")
    new_run.get_by_label("Model", exact=True).fill("/no/such/folder")
    new_run.get_by_label("Model", exact=True).press("Tab")
    expect(new_run.locator(".field").get_by_text("should be a number").first).to_be_visible()
    picture(new_run, "new-problems")


def test_any_runs_settings_are_kept_as_a_preset(new_run: Page, open_page: OpenPage, shared_dashboard: str) -> None:
    run_id = registry.create(QUICKSTART.read_text(), name="any", model="starter", data="task:arithmetic")
    registry.ask(run_id, registry.STOP)
    run = registry.get(run_id)
    assert run is not None
    page = open_page(f"{shared_dashboard}/run?id={run.id}&tab=config")
    page.get_by_role("link", name="Save as preset").click()
    page.locator("#keep-title").fill("kept from a run")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".origin")).to_contain_text("kept from a run")
    [kept] = [preset for preset in presets.own() if preset.name == "kept from a run"]
    assert kept.text == run.folder.spec.read_text()
    presets.delete("kept from a run")


def bad(training: str = "", model: str = "id: starter", rewards: str = "- name: format", **parts: str) -> str:
    """A small spec with something wrong in it."""
    more = "".join(f"{part}: {value}\n" for part, value in parts.items())
    settings = f"training: {{max_completion_length: 48{training and ', '}{training}}}\n"
    return f"name: x\nmodel: {{{model}}}\nrewards:\n{rewards}\n{settings}{more}"


BLOCKING = {
    "an unknown field": bad("learning_rat: 0.1"),
    "a field of the wrong part": bad(modl="{}"),
    "a wrong type": bad("max_steps: many"),
    "a quoted number": bad("beta: '0.1'"),
    "an impossible choice": bad("eval_strategy: sometimes"),
    "what Groupwise decides itself": bad("output_dir: /x"),
    "no name": bad().replace("name: x\n", "", 1),
    "no rewards": "name: x\ntraining: {max_completion_length: 48}\n",
    "an unknown reward": bad(rewards="- name: formatt"),
    "a reward twice": bad(rewards="- name: format\n- name: format"),
    "groups that do not fit": bad("num_generations: 7"),
    "a group of one": bad("num_generations: 1"),
    "evaluation without rows": bad("eval_strategy: steps"),
    "both batch settings": bad("generation_batch_size: 8, steps_per_generation: 2"),
    "no such folder": bad(model="id: /no/such"),
    "no such task": bad(data="{source: 'task:arithmetik'}"),
    "no such gym task": bad(data="{source: 'gym:leg_countin'}"),
    "a wrong gym parameter": bad(data="{source: 'gym:leg_counting', parameters: {min_animal: 3}}"),
    "no such file": bad(data="{source: 'file:nope.csv'}"),
    "an address as data": bad(data="{source: 'https://example.org/x.csv'}"),
    "a column that is not there": bad(data="{prompt_template: '{problem}'}"),
    "an answer column that is not there": bad(data="{answer_column: solution}"),
    "a condition that is none": bad(data="{filter: ['level <=']}"),
    "a pattern that is none": bad(data="{answer_pattern: '('}"),
    "a hold-out of everything": bad(data="{limit: 10, holdout: 10}"),
    "quantisation without LoRA": bad(model="id: starter, quantization: 4bit"),
    "temperature zero": bad("temperature: 0.0"),
    "two precisions at once": bad("bf16: true, fp16: true"),
    "vLLM that is not there": bad("use_vllm: true"),
    "a rank of nothing": bad(lora="{r: 0}"),
    "a stage that does not fit": bad(stages="[{training: {num_generations: 7}}, {}]"),
    "a completion longer than the model": bad("max_completion_length: 100000").replace(
        "max_completion_length: 48, ", ""
    ),
}


def test_each_blocking_verdict_is_mended_by_one_click(new_run: Page) -> None:
    """One page, one bad spec after the other: its verdict comes, its first fix is clicked, and it is gone."""
    stuck = {}
    for what, text in BLOCKING.items():
        write_yaml(new_run, text)
        verdicts = new_run.locator(".verdict.blocking")
        try:
            expect(verdicts.first).to_be_visible(timeout=15_000)
            message = verdicts.first.inner_text().split("\n")[1:3]
            verdicts.first.locator(".fix").first.click(timeout=2000)
            same = verdicts.filter(has_text=message[-1])
            expect(same).to_have_count(0, timeout=15_000)
            new_run.wait_for_timeout(700)  # the worker's word on what the fix made of it
            assert same.count() == 0
        except AssertionError as error:
            stuck[what] = f"{verdicts.all_inner_texts()} {str(error)[:100]}"
        except TimeoutError as error:
            stuck[what] = f"{verdicts.all_inner_texts()} {str(error)[:100]}"
    assert stuck == {}
