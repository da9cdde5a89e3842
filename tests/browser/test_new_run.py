"""Setting up a run in the browser: three views of one spec, and nothing that was typed is lost."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from groupwise.storage.spec import spec
from tests.browser.conftest import Held, picture
from tests.browser.new_run_page import add_reward, editor, follows, show, write_yaml, yaml_of
from tests.support.homes import wait_for


def test_while_the_yaml_cannot_be_read_the_form_waits_and_undo_brings_it_back(new_run: Page) -> None:
    before = yaml_of(new_run)
    new_run.wait_for_timeout(900)
    edits = Held(new_run, "edit_settings")
    write_yaml(new_run, "name: [")
    expect(new_run.locator("[data-do=problems]")).to_have_text("Checking…")  # no tick of the text before
    edits.release()
    show(new_run, "Form")
    expect(new_run.get_by_text("The form waits until it can be read.")).to_be_visible()
    expect(new_run.get_by_label("Group size", exact=True)).to_be_disabled()
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.get_by_label("Group size", exact=True)).to_be_enabled()
    assert yaml_of(new_run) == before


def test_unreadable_and_back_leaves_nothing_behind(new_run: Page) -> None:
    show(new_run, "YAML")
    good = yaml_of(new_run)
    editor(new_run).fill(good.replace("limit: 2500", "limit: 3000"))
    editor(new_run).fill(good.replace("limit: 2500", "limit: [3000"))
    new_run.wait_for_timeout(1500)
    editor(new_run).fill(good.replace("limit: 2500", "limit: 3000"))
    show(new_run, "Form")
    expect(new_run.locator(".preview .of")).to_have_text("of 3,000", timeout=180_000)
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)


def test_rows_and_counts_of_before_are_said_to_be_so_while_the_yaml_cannot_be_read(new_run: Page) -> None:
    """They stood there as if they were of the text that cannot be read."""
    counts, old = new_run.locator(".preview .facts"), new_run.locator(".preview .of-before")
    dimmed = """() => [".facts", ".shown", ".of-before"].map((part) => {
      let seen = 1;
      for (let node = document.querySelector(`.preview ${part}`); node; node = node.parentElement)
        seen *= getComputedStyle(node).opacity;
      return seen })"""
    expect(counts).to_contain_text("to train on", timeout=180_000)
    expect(old).to_be_hidden()
    good = yaml_of(new_run)
    write_yaml(new_run, good + "name: twice\n")
    show(new_run, "Form")
    expect(old).to_have_text("These rows and counts are from before: the YAML cannot be read.")
    expect(old).to_be_visible()
    assert new_run.evaluate(dimmed) == [0.55, 0.55, 1]
    picture(new_run, "new-unreadable")
    write_yaml(new_run, good)
    show(new_run, "Form")
    expect(old).to_be_hidden()
    assert new_run.evaluate(dimmed) == [1, 1, 1]


def test_a_choice_that_is_none_is_not_offered_once_it_is_not_chosen(new_run: Page) -> None:
    choices = new_run.get_by_label("Numbers in answers").locator("option")
    usual = choices.all_text_contents()
    good = yaml_of(new_run)
    write_yaml(new_run, good.replace("limit: 2500", "limit: 2500\n  answer_numbers: comma2"))
    show(new_run, "Form")
    expect(choices).to_have_text([*usual, "comma2"])
    write_yaml(new_run, good)
    show(new_run, "Form")
    expect(choices).to_have_text(usual)


def test_that_a_name_is_missing_goes_as_one_types_it(new_run: Page) -> None:
    name, why = new_run.get_by_label("Name", exact=True), new_run.locator("[data-path=name] .verdict-at")
    name.fill("")
    expect(why).to_contain_text("Is needed")
    edits = Held(new_run, "edit_settings")
    name.press_sequentially("my")
    expect(why).to_have_count(0, timeout=3000)
    name.fill("")
    edits.release()
    expect(why).to_contain_text("Is needed")


def test_a_line_that_enter_begins_stands_under_the_one_above_and_is_undone_at_once(new_run: Page) -> None:
    show(new_run, "YAML")
    before = yaml_of(new_run)
    for line, typed, written in [
        ("  beta: 0.02", "top_p: 0.9", "  beta: 0.02\n  top_p: 0.9\n"),
        ("training:", "top_p: 0.9", "training:\n  top_p: 0.9\n"),
        ("  - name: format", "timeout: 5", "  - name: format\n    timeout: 5\n"),
        ("name: arithmetic-quickstart", "# mine", "name: arithmetic-quickstart\n# mine\n"),
    ]:
        editor(new_run).evaluate(
            "(box, at) => { box.focus(); box.setSelectionRange(at, at); }", before.index(f"{line}\n") + len(line)
        )
        new_run.keyboard.press("Enter")
        new_run.keyboard.press("Control+z")
        assert yaml_of(new_run) == before
        new_run.keyboard.press("Enter")
        new_run.keyboard.type(typed)
        assert yaml_of(new_run) == before.replace(f"{line}\n", written, 1)
        follows(new_run, written)
        editor(new_run).fill(before)


def test_tab_before_a_line_indents_it_and_elsewhere_leaves(new_run: Page) -> None:
    show(new_run, "YAML")
    box, keys = editor(new_run), new_run.keyboard
    expect(box).to_have_accessible_description(re.compile("Tab before a line's first word indents it"))
    box.fill("name: a\n")
    keys.press("Control+End")
    for key in ("t", ":", "Enter"):
        keys.press(key)
    keys.press("Backspace")
    keys.press("Backspace")
    keys.press("Tab")
    keys.type("top_k: 5")
    assert yaml_of(new_run) == "name: a\nt:\n  top_k: 5"
    keys.press("Home")
    keys.press("Tab")
    assert yaml_of(new_run) == "name: a\nt:\n    top_k: 5"
    keys.press("Control+z")
    assert yaml_of(new_run) == "name: a\nt:\n  top_k: 5"
    keys.press("Home")
    keys.press("Shift+Tab")
    assert yaml_of(new_run) == "name: a\nt:\ntop_k: 5"
    box.evaluate("box => box.setSelectionRange(8, box.value.length)")
    keys.press("Tab")
    assert yaml_of(new_run) == "name: a\n  t:\n  top_k: 5"
    keys.press("Escape")
    keys.press("Tab")
    expect(box).not_to_be_focused()
    keys.press("Shift+Tab")  # back, and through
    keys.press("Tab")
    expect(box).not_to_be_focused()
    box.click(position={"x": 200, "y": 18})
    keys.press("End")
    keys.press("Tab")
    expect(box).not_to_be_focused()
    assert yaml_of(new_run) == "name: a\n  t:\n  top_k: 5"


def test_a_text_that_takes_the_place_of_another_is_shown_from_its_beginning(new_run: Page) -> None:
    show(new_run, "YAML")
    long = "name: long\n" + "".join(f"# {'far ' * 60}{n}\n" for n in range(90))
    other = "name: other\n" + "".join(f"# {'more ' * 60}{n}\n" for n in range(90)) + "seed: 1\n"
    new_run.context.grant_permissions(["clipboard-read", "clipboard-write"])
    new_run.evaluate("text => navigator.clipboard.writeText(text)", other)
    editor(new_run).fill(long)
    sheet = new_run.locator(".yaml .sheet")
    sheet.evaluate("sheet => sheet.scrollTo(400, 400)")
    editor(new_run).press("Control+a")
    editor(new_run).press("Control+v")
    follows(new_run, "name: other")
    wait_for("the beginning", lambda: new_run.wait_for_timeout(30) or sheet.evaluate(
        "sheet => sheet.scrollTop === 0 && sheet.scrollLeft === 0"))  # fmt: skip


def test_where_a_value_is_wrong_the_one_that_stood_there_is_offered(new_run: Page) -> None:
    steps = new_run.get_by_label("Steps", exact=True)
    steps.fill("20")
    follows(new_run, "max_steps: 20")
    new_run.get_by_label("KL weight", exact=True).click()
    steps.fill("")
    steps.press_sequentially("20,5")
    verdict = new_run.locator(".verdict.blocking", has_text="training.max_steps")
    expect(verdict.get_by_role("button", name="Use 20", exact=True)).to_be_visible()
    expect(verdict.get_by_role("button", name="Use 60", exact=True)).to_have_count(0)
    picture(new_run, "new-value-before")
    temperature = new_run.get_by_label("Temperature", exact=True)
    temperature.fill("2")  # which the text has as 2.0
    follows(new_run, "temperature: 2.0")
    rate = new_run.get_by_label("Learning rate", exact=True)
    rate.fill("0,0001")  # which can mean one number alone
    rate.press("Tab")
    expect(rate).to_have_value("0.0001")
    follows(new_run, "learning_rate: 0.0001")
    whole = new_run.get_by_label("Accumulation", exact=True)
    for typed, shown in (("10,0", "10"), ("1,000", "1,000"), ("12.0", "12")):  # a thousand, or one: the page asks
        whole.fill(typed)
        whole.press("Tab")
        expect(whole).to_have_value(shown)
    follows(new_run, "gradient_accumulation_steps: 12\n")
    new_run.reload()
    expect(temperature).to_have_value("2")
    expect(verdict.get_by_role("button", name="Use 20", exact=True)).to_be_visible()
    temperature.fill("1")
    weight = new_run.get_by_label("KL weight", exact=True)  # before which it had warned of what stood there
    for typed, shown in (("1e9", "1e9"), (".", '"."')):  # YAML 1.1 reads a bare . as a number
        weight.fill(typed)
        follows(new_run, f"beta: {shown}\n")
        steps.click()
    warned = new_run.locator(".verdict.blocking", has_text="training.beta")
    expect(warned.locator(".fix")).to_have_text(["Use 0.02"])
    warned.locator(".fix").click()
    follows(new_run, "beta: 0.02")
    write_yaml(new_run, yaml_of(new_run).replace("max_completion_length: 48", "max_completion_length: 0"))
    verdict = new_run.locator(".verdict.blocking", has_text="training.max_completion_length")
    verdict.get_by_role("button", name="Use 48", exact=True).click()
    follows(new_run, "max_completion_length: 48")
    new_run.locator(".verdict.blocking").get_by_role("button", name="Use 20", exact=True).click()
    follows(new_run, "max_steps: 20\n")
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)
    show(new_run, "Form")
    for typed, words in (("1000000000", "Should be below 1,000,000,000."), ("0", "Should be at least 1")):
        steps.fill(typed)
        weight.click()
        expect(new_run.locator(".verdict.blocking", has_text="training.max_steps")).to_contain_text(words)
        expect(new_run.locator(".verdict.blocking .fix").first).to_have_text("Use 20")
        expect(new_run.locator(".happening")).not_to_contain_text("reckon")


def test_a_setting_that_trl_gave_up_is_named_by_the_search(new_run: Page) -> None:
    new_run.locator(".all").get_by_role("searchbox").fill("--max_prompt_length")
    found = new_run.locator(".all .found")
    expect(found).to_contain_text("max_prompt_length was removed in TRL 0.28. Prompts are no longer cut")
    expect(found).not_to_contain_text("Try a shorter word")


def test_what_is_chosen_stays_chosen_when_the_worker_speaks_before_it_is_in_the_settings(new_run: Page) -> None:
    answers = Held(new_run, "read_answer")
    new_run.reload()
    expect(new_run.locator(".gw-new_run[data-ready]")).to_be_attached()
    edits = Held(new_run, "edit_settings")
    lora = new_run.get_by_label("LoRA", exact=True)
    lora.check()
    answers.release()
    expect(new_run.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    assert edits.kept and lora.is_checked()
    edits.release()
    follows(new_run, "lora:")
    expect(lora).to_be_checked()
    expect(new_run.get_by_label("LoRA rank", exact=True)).to_be_visible()


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
    expect(found.locator(".facts")).to_have_text("top_p · default 1.0")  # the name that the form and the spec have
    expect(found.locator(".advice")).not_to_be_empty()
    box = found.get_by_role("textbox")
    box.fill("0.9")
    expect(found.locator(".changed")).to_be_visible()
    new_run.keyboard.press("Tab")
    expect(found.get_by_role("button", name="reset")).not_to_be_focused()
    new_run.keyboard.press("Shift+Tab")
    expect(box).to_be_focused()
    follows(new_run, "top_p: 0.9")
    picture(new_run, "new-search")
    found.get_by_role("button", name="reset").click()
    expect(box).to_have_value("")
    expect(found.locator(".changed")).to_be_hidden()
    assert "top_p" not in yaml_of(new_run)
    new_run.get_by_role("searchbox", name="Search all settings").fill("no such setting anywhere")
    expect(new_run.locator(".all")).to_contain_text("No setting has “no such setting anywhere”")


def test_a_search_finds_what_people_call_it_and_settings_that_stand_elsewhere(new_run: Page) -> None:
    search = new_run.get_by_role("searchbox", name="Search all settings")
    above, first = new_run.locator(".all .elsewhere li"), new_run.locator(".all .found .field").first
    for words in ("target kl", "kl target"):
        search.fill(words)
        expect(above.first).to_have_text("Target KL kl.target · above, under Training, Adaptive KL weight")
    for words in ("tracker", "wandb", "trackio", "tensorboard"):
        search.fill(words)
        expect(first).to_have_attribute("data-path", "training.report_to")
    for words in ("lora rank", "rank lora", "rank"):
        search.fill(words)
        expect(first).to_have_attribute("data-path", "lora.r")
    count = new_run.locator(".all .count")
    search.fill("")
    total = re.match(r"\d+ settings", count.inner_text())
    search.fill("adaptive kl")
    assert total and total[0] in count.inner_text() and count.inner_text().endswith(" above")  # one count of the list
    expect(above.locator("code")).to_have_text(["kl.target", "kl.rate", "kl.least", "kl.most"])
    picture(new_run, "new-search-elsewhere")
    above.first.get_by_role("button", name="Target KL").click()
    expect(new_run.get_by_label("Target KL", exact=True)).to_be_focused()


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


def test_lists_are_edited_in_the_form(new_run: Page) -> None:
    add_reward(new_run, "length")
    follows(new_run, "name: length")
    new_run.get_by_text("Examples before every prompt").click()
    new_run.get_by_role("button", name="Add an example").click()
    new_run.get_by_label("Question of example 1").fill("1+1?")
    new_run.get_by_label("What a good answer looks like of example 1").fill("2")
    follows(new_run, "completion: '2'")
    expect(new_run.locator(".preview .message.assistant")).to_contain_text("2", timeout=180_000)
    new_run.get_by_text("Which rows").click()
    new_run.get_by_role("button", name="Add a condition").click()
    new_run.get_by_label("Column of condition 1").select_option("answer")
    new_run.get_by_label("Operator of condition 1").select_option("<")
    new_run.get_by_label("Value of condition 1").fill("50")
    follows(new_run, "answer < 50")
    expect(new_run.get_by_text("where answer < 50")).to_be_hidden()
    new_run.get_by_text("Which rows").click()  # what filters rows is seen while it is closed
    expect(new_run.get_by_text("where answer < 50")).to_be_visible()
    new_run.get_by_text("Which rows").click()
    new_run.get_by_text("Stages", exact=True).click()
    new_run.get_by_role("button", name="Add a stage").click()
    new_run.locator("#stage-1-training").fill("max_steps: 3")
    follows(new_run, "max_steps: 3")
    new_run.get_by_role("button", name="Remove stage 2").click()
    new_run.get_by_role("button", name="Remove stage 1").click()
    new_run.get_by_role("button", name="Remove condition 1").click()
    new_run.get_by_role("button", name="Remove example 1").click()
    for emptied in ("stages: []", "filter: []", "examples: []"):
        follows(new_run, emptied)
    made = spec.parse_spec(yaml_of(new_run))
    assert (made.data.filter, made.data.examples, made.stages) == ([], [], [])


def test_while_the_worker_has_not_answered_the_count_of_problems_says_that_it_may_grow(new_run: Page) -> None:
    asking = Held(new_run, "ask_worker")
    write_yaml(new_run, yaml_of(new_run).replace("num_generations: 8", "num_generations: 7"))
    count = new_run.locator("#launch-count")
    expect(count).to_have_text("◆ 1 problemchecking…")
    picture(new_run, "new-run-checking")
    new_run.set_viewport_size({"width": 390, "height": 844})
    bar = new_run.locator(".launch-bar").bounding_box()
    assert bar and bar["height"] < 70
    asking.release()
    expect(count).to_have_text("◆ 1 problem")
