"""What people bring to New run: a script, a notebook or a recipe, pasted, chosen or dropped, with its functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.library.rewards import library
from groupwise.storage.spec import spec
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import editor, follows, reward, show, write_yaml, yaml_of
from tests.support.foreign_scripts import GSM8K, OPEN_R1_RECIPE, UNSLOTH_NOTEBOOK, notebook
from tests.support.homes import wait_for


@pytest.fixture
def importing(new_run: Page) -> Locator:
    """The dialog, open."""
    new_run.get_by_role("button", name="Import", exact=True).click()
    return new_run.locator("dialog.importing")


def paste(dialog: Locator, text: str) -> None:
    dialog.get_by_label("Script, notebook or YAML to import").fill(text)


def take(dialog: Locator) -> None:
    dialog.locator(".take-it").click()
    expect(dialog).to_be_hidden()


def test_a_pasted_script_is_shown_first_and_its_functions_go_into_the_library(
    new_run: Page, importing: Locator
) -> None:
    kept = "def short(completions, **kwargs):\n    return [0.0 for _ in completions]\n"
    library.save_reward("short", kept)
    before = yaml_of(new_run)
    paste(importing, GSM8K)
    expect(importing.locator(".kind")).to_have_text("Read as a TRL script.")
    expect(importing.locator(".summary")).to_contain_text("hub:openai/gsm8k")
    functions = importing.locator(".functions li")
    expect(functions).to_have_count(2)
    expect(functions.nth(0)).to_contain_text("import re")
    functions.nth(0).locator("summary").click()
    expect(functions.nth(0).locator("pre")).to_contain_text("def last_number(text):")
    expect(functions.nth(1)).to_contain_text("Saved as short_2. Your library has another function “short”.")
    expect(importing.locator(".left-out")).to_contain_text("LoraConfig(…) (line 45) does not reach the trainer")
    picture(new_run, "new-import")
    assert no_sideways_scroll(new_run)
    assert yaml_of(new_run) == before and [one.name for one in library.newest_rewards()] == ["short"]
    expect(importing.locator(".take-it")).to_have_text("Import with 2 functions")
    take(importing)
    follows(new_run, "short_2")
    assert library.get_reward("short").code == kept
    assert library.get_reward("right_answer").code.startswith("import re\n\nNUMBER")
    assert "def short_2(completions, *, most=200, **kwargs):" in library.get_reward("short_2").code
    expect(reward(new_run, "right_answer")).to_contain_text("1 for the right number.")
    expect(new_run.locator(".import-note")).to_contain_text(
        "replace(',', '') and replace('$', '') (line 32) on “answer” became answer_numbers"
    )
    picture(new_run, "new-imported")
    read = spec.parse_spec(yaml_of(new_run))
    assert [one.name for one in read.rewards] == ["right_answer", "short_2"] and read.lora is None
    new_run.get_by_role("button", name="Undo").click()
    follows(new_run, "arithmetic")
    for name in ("short", "short_2", "right_answer"):
        library.delete_reward(name)


def test_an_early_press_shows_the_summary_and_takes_nothing(new_run: Page, importing: Locator) -> None:
    """Seen: what was pasted over another text and taken at once saved code that was never shown."""
    paste(importing, OPEN_R1_RECIPE)
    expect(importing.locator(".take-it")).to_be_enabled()
    reading = Held(new_run, "read_import")
    paste(importing, GSM8K)
    expect(importing.locator(".take-it")).to_have_text("Reading…")
    expect(importing.locator(".take-it")).to_be_disabled()
    importing.locator("form").evaluate("form => form.requestSubmit()")  # as early as anybody can
    reading.release()
    expect(importing.locator(".take-it")).to_have_text("Import with 2 functions")
    expect(importing.locator(".functions li")).to_have_count(2)
    new_run.wait_for_timeout(500)
    expect(importing).to_be_visible()
    assert library.newest_rewards() == []
    paste(importing, OPEN_R1_RECIPE)
    paste(importing, GSM8K)  # the text that is shown, typed back before it was read
    expect(importing.locator(".take-it")).to_have_text("Import with 2 functions")
    take(importing)
    follows(new_run, "right_answer")
    for one in library.newest_rewards():
        library.delete_reward(one.name)


def test_a_function_that_is_not_wanted_stays_out_of_the_library(new_run: Page, importing: Locator) -> None:
    paste(importing, GSM8K)
    importing.locator(".functions li", has_text="short").get_by_role("checkbox").uncheck()
    expect(importing.locator(".take-it")).to_have_text("Import with 1 function")
    take(importing)
    note = new_run.locator(".import-note")
    expect(note).to_contain_text("short was not saved in the library")
    expect(note).to_contain_text("on “answer” became answer_numbers: point")
    expect(new_run.locator("#source-hub")).to_be_checked()  # until then the form shows the built-in task, as before
    new_run.locator(".kinds label", has_text="Built-in task").click()
    expect(note).not_to_contain_text("became answer_numbers")  # it went with its data
    expect(note).to_contain_text("short was not saved in the library")
    assert [one.name for one in library.newest_rewards()] == ["right_answer"]
    library.delete_reward("right_answer")


def test_a_notebook_is_chosen_or_dropped_with_the_cell_of_each_note(
    new_run: Page, importing: Locator, tmp_path: Path
) -> None:
    brought = tmp_path / "Qwen3 (4B)-GRPO.ipynb"
    brought.write_text(UNSLOTH_NOTEBOOK.replace('"outputs": []', '"outputs": [{"data": "' + "A" * 600_000 + '"}]', 1))
    importing.locator("input.import").set_input_files(brought)
    expect(importing.locator(".kind")).to_have_text("Read as a notebook.")
    expect(importing.locator(".left-out")).to_contain_text("“!pip install unsloth vllm \\” (code cell 1, line 2)")
    expect(importing.locator(".summary")).to_contain_text("unsloth/Qwen3-4B-Base")
    expect(importing.locator(".summary")).to_contain_text("with LoRA")
    drop = """(node, [name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      for (const kind of ["dragover", "drop"])
        node.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    importing.locator(".drop").evaluate(drop, ["mine.py", GSM8K])
    expect(importing.locator(".kind")).to_have_text("Read as a TRL script.")
    expect(importing.locator(".chosen")).to_have_text("mine.py")


def test_of_datasets_that_a_script_joins_one_is_chosen_and_until_then_there_is_no_data(
    new_run: Page, importing: Locator
) -> None:
    joined = "concatenate_datasets([load_dataset('AI-MO/x', split='train'), load_dataset('trl-lib/y', split='train')])"
    head = "from trl import GRPOConfig, GRPOTrainer\nfrom trl.rewards import accuracy_reward\n"
    made = "GRPOTrainer(model=name, reward_funcs=accuracy_reward, args=GRPOConfig(), train_dataset=data).train()\n"
    paste(importing, f"{head}data = {joined}\n{made}")
    expect(importing.locator(".summary")).to_contain_text("several: choose one below")
    picture(new_run, "new-import-joined")
    importing.locator(".take-it").click()  # nothing is chosen yet: the browser asks for it
    importing.locator(".take-it").click()
    said = importing.locator(".datasets .unchosen")
    expect(said).to_have_text("Choose one of these datasets, or “Choose the data later”.")
    expect(importing.locator("input[name=dataset]").first).to_be_focused()
    assert said.bounding_box()["y"] < importing.locator(".datasets .choice").first.bounding_box()["y"]  # covers none
    importing.get_by_label("Take AI-MO/x").check()
    expect(importing.locator(".summary")).to_contain_text("hub:AI-MO/x")
    expect(importing.locator(".left-out")).to_contain_text("AI-MO/x was chosen. trl-lib/y was left out.")
    expect(importing.locator(".left-out")).not_to_contain_text("Choose one")
    importing.get_by_label("Choose the data later").check()
    expect(said).to_be_hidden()
    take(importing)
    expect(new_run.locator(".verdicts")).to_contain_text("Choose a dataset: its id on the hub")
    expect(new_run.locator(".verdicts")).to_contain_text("Choose a model: starter, a folder, or its id on the hub")
    expect(new_run.locator(".launch-bar .blocking")).to_be_visible()
    expect(new_run.locator(".happening")).to_have_text("Choose the data first.")  # nothing of another model
    expect(new_run.locator(".preview")).to_contain_text("No data yet")
    picture(new_run, "new-imported-without-data")
    new_run.get_by_role("button", name="Import", exact=True).click()
    paste(importing, f"{head}data = {joined}\n{made}")
    importing.get_by_label("Take trl-lib/y").check()
    take(importing)
    follows(new_run, "hub:trl-lib/y")


def test_a_dataset_that_is_joined_and_cannot_be_taken_is_named_below_the_choice(importing: Locator) -> None:
    joined = "interleave_datasets([Dataset.from_list(rows), load_dataset('csv', data_files='m.csv')])"
    head = "from trl import GRPOConfig, GRPOTrainer\nfrom trl.rewards import accuracy_reward\n"
    made = "GRPOTrainer(model='a/m', reward_funcs=accuracy_reward, args=GRPOConfig(), train_dataset=data).train()\n"
    paste(importing, f"{head}data = {joined}\n{made}")
    choices = importing.locator(".datasets")
    expect(choices).to_contain_text("Take m.csv")
    expect(choices.locator("p:visible")).to_have_text(
        "Dataset.from_list(…) (line 3) makes the data in the script: save it as a JSONL file, upload that, and choose "
        "it here."
    )
    paste(importing, f"{head}data = load_dataset('a/b')\n{made}")
    expect(choices).to_be_hidden()
    expect(choices.locator("p:visible")).to_have_count(0)


def test_a_recipe_that_is_pasted_into_the_yaml_is_converted(new_run: Page) -> None:
    show(new_run, "YAML")
    editor(new_run).evaluate(
        """(node, text) => {
          const data = new DataTransfer();
          data.setData("text/plain", text);
          node.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        OPEN_R1_RECIPE,
    )
    dialog = new_run.locator("dialog.importing")
    expect(dialog.locator(".kind")).to_have_text("Read as a recipe of TRL or open-r1.")
    take(dialog)
    follows(new_run, "hub:open-r1/OpenR1-Math-220k")
    read = spec.parse_spec(yaml_of(new_run))
    assert [one.name for one in read.rewards] == ["math_equivalence", "regular_expression", "format", "cosine_length"]
    expect(new_run.locator(".import-note")).to_contain_text("names “length”, which was not taken")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(:\n    pass\nimport trl", "Line 1: This is not Python"),
        ("import os\nprint(1)", "This is not a GRPO script"),
        ("- 1\n- 2", "This is not a GRPO script"),
        ('{"cells": [{"cell_type"', "not valid JSON: it is damaged or was cut off"),
        (notebook("x = 1", "y = ="), "Code cell 2, line 1: This is not Python"),
        ("# " + "x" * 300_000, "This is larger than 256 KB. Import only the part that trains."),
        ("from trl import GRPOTrainer\na = " + "-" * 50_000 + "1", "nested too deeply"),
        ("<img src=x onerror=alert(1)> = GRPOTrainer(", "This is not Python"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_the_dialog(importing: Locator, text: str, words: str) -> None:
    paste(importing, text)
    expect(importing.locator(".said")).to_contain_text(words)
    expect(importing.locator(".take-it")).to_be_disabled()


def test_a_file_that_is_no_text_or_too_large_is_refused(importing: Locator, tmp_path: Path) -> None:
    picture_file, large = tmp_path / "x.py", tmp_path / "large.ipynb"
    picture_file.write_bytes(b"\x89PNG\xff\xfe")
    importing.locator("input.import").set_input_files(picture_file)
    expect(importing.locator(".said")).to_have_text("“x.py” is not text in UTF-8.")
    rows = tmp_path / "Rows.xlsx"
    rows.write_bytes(b"PK\x03\x04\xff")
    importing.locator("input.import").set_input_files(rows)
    expect(importing.locator(".said")).to_have_text("“Rows.xlsx” is data: choose it under Data, File.")
    (tmp_path / "none.py").write_text(" \n")
    importing.locator("input.import").set_input_files(tmp_path / "none.py")
    expect(importing.locator(".said")).to_have_text("“none.py” is empty.")
    with large.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    importing.locator("input.import").set_input_files(large)
    expect(importing.locator(".said")).to_have_text("“large.ipynb” is larger than 50 MB.")


def paste_large(page: Page, box: Locator, text: str) -> None:
    """Paste by the keyboard, over what is there; the text, made in the page, is repeated to 30 MB."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text.repeat(Math.ceil(3e7 / text.length)))", text)
    box.press("Control+a")
    box.press("Control+v")


def test_thirty_megabytes_stay_out_of_the_box(new_run: Page, importing: Locator, tmp_path: Path) -> None:
    box = importing.get_by_label("Script, notebook or YAML to import")
    paste(importing, "import os")
    expect(importing.locator(".said")).to_contain_text("This is not a GRPO script")
    paste_large(new_run, box, "x = 1  # a line\n")
    said = "What was pasted is larger than 256 KB. Import only the part that trains. It was left out."
    expect(importing.locator(".said")).to_have_text(said)
    expect(box).to_have_value("import os")
    large = tmp_path / "big.py"
    large.write_text("x = 1\n" * 5_000_000)
    importing.locator("input.import").set_input_files(large)
    expect(importing.locator(".said")).to_have_text("“big.py” is larger than 256 KB. Import only the part that trains.")
    expect(box).to_have_value("import os")
    drop = """node => {
      const data = new DataTransfer();
      data.setData("text/plain", "y = 2\\n".repeat(100_000));
      return node.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    assert box.evaluate(drop) is False
    expect(importing.locator(".said")).to_have_text(said)


def test_a_pasted_notebook_leaves_its_pictures_behind(new_run: Page, importing: Locator) -> None:
    box = importing.get_by_label("Script, notebook or YAML to import")
    with_picture = UNSLOTH_NOTEBOOK.replace('"outputs": []', '"outputs": [{"data": "' + "A" * 600_000 + '"}]', 1)
    new_run.context.grant_permissions(["clipboard-read", "clipboard-write"])
    new_run.evaluate("text => navigator.clipboard.writeText(text)", with_picture)
    box.press("Control+v")
    expect(importing.locator(".kind")).to_have_text("Read as a notebook.")
    assert len(box.input_value()) < 20_000


def test_thirty_megabytes_stay_out_of_the_yaml(new_run: Page) -> None:
    before = yaml_of(new_run)
    show(new_run, "YAML")
    paste_large(new_run, editor(new_run), "name: x\n")
    refused = new_run.locator(".view-yaml .refused")
    expect(refused).to_have_text("A run's YAML has at most 256 KB: nothing was pasted.")
    picture(new_run, "new-yaml-too-large")
    assert yaml_of(new_run) == before
    editor(new_run).press("End")
    editor(new_run).press_sequentially(" ")
    expect(refused).to_be_hidden()


def test_what_is_pasted_over_a_files_text_is_of_no_file(importing: Locator, tmp_path: Path) -> None:
    brought = tmp_path / "mine.py"
    brought.write_text("def f(:\n")
    importing.locator("input.import").set_input_files(brought)
    expect(importing.locator(".said")).to_contain_text("“mine.py”, line 1")
    page = importing.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('name: pasted')")
    box = importing.get_by_label("Script, notebook or YAML to import")
    box.press("Control+a")
    box.press("Control+v")
    expect(importing.locator(".kind")).to_have_text("Read as a run in YAML.")
    expect(importing.locator(".chosen")).to_have_text("or drop it here, or paste it below")


def are_all_in_sight(notes: Locator) -> None:
    """Of the two dozen of the script below, none beyond a scrollbar or in “and 6 more”."""
    expect(notes).to_contain_text("“g.x11”")
    expect(notes).to_contain_text("later_11")
    expect(notes).not_to_contain_text("more")
    assert notes.evaluate("list => list.children.length > 12 && list.scrollHeight <= list.clientHeight")


def is_in_window(page: Page, what: Locator) -> bool:
    box = what.bounding_box()
    return bool(box and page.viewport_size and box["y"] + box["height"] <= page.viewport_size["height"])


def test_many_notes_of_an_import_leave_launch_and_the_problems_in_sight(new_run: Page, importing: Locator) -> None:
    """As it was seen: sixteen notes stood over the form, and Launch began two pixels above the edge of the window."""
    script = (
        "from trl import *\nGRPOTrainer('/no/such', reward_funcs=think_format_reward, "
        "args=GRPOConfig(max_steps='soon', bf16=works(2))).train()"
    )
    script += "".join(f"\nlater_{n}(1)" for n in range(20)) + "".join(f"\nf('{n}').x = 1" for n in range(20))
    new_run.set_viewport_size({"width": 1440, "height": 757})
    paste(importing, script)
    take(importing)
    note = new_run.locator(".import-note")
    notes = note.get_by_role("list", name="Notes of the import")
    assert notes.locator("li").count() > 12
    expect(notes.locator("li").first.get_by_role("button", name="Set bf16")).to_be_visible()  # what is to be done
    expect(new_run.locator(".launch-bar .blocking")).to_be_visible()
    new_run.evaluate("scrollTo(0, 0)")
    for what in (new_run.get_by_role("button", name="Launch", exact=True), new_run.locator(".launch-bar .blocking")):
        assert is_in_window(new_run, what), what.bounding_box()
    box = note.bounding_box()
    assert box and box["height"] <= 0.3 * 757, box
    picture(new_run, "new-import-many-notes")
    notes.focus()
    new_run.keyboard.press("End")
    wait_for("the list at its end", lambda: notes.evaluate("l => l.scrollTop + l.clientHeight >= l.scrollHeight - 1"))
    new_run.set_viewport_size({"width": 390, "height": 844})
    assert no_sideways_scroll(new_run)
    assert is_in_window(new_run, new_run.get_by_role("button", name="Launch", exact=True))


def test_the_seed_of_a_script_is_one_click_beside_its_note(new_run: Page, importing: Locator) -> None:
    script = (
        "from trl import *\nfrom datasets import load_dataset\nset_seed(3)\n"
        "GRPOTrainer('a/b', reward_funcs=think_format_reward, args=GRPOConfig(beta=0.1), "
        "train_dataset=load_dataset('c/d', split='train'), eval_dataset=load_dataset('c/d', split='test')).train()"
    )
    paste(importing, script)
    take(importing)
    note = new_run.locator(".import-note")
    note.locator("li", has_text="eval_dataset").get_by_role("button", name="Set holdout").click()
    expect(new_run.locator(":focus")).to_be_in_viewport()
    button = note.locator("li", has_text="set_seed").get_by_role("button", name="Set seed to 3")
    button.click()
    expect(button).to_have_count(0)
    follows(new_run, "seed: 3")


def test_the_notes_of_an_import_stay_with_its_draft(new_run: Page, importing: Locator, open_page: OpenPage) -> None:
    script = (
        (
            "from trl import *\n\n\nf('<i>tok</i>').x = 1\nLoraConfig(r=8)\n"
            "GRPOTrainer('a/b', reward_funcs=think_format_reward, args=GRPOConfig(bf16=works(2))).train()"
        )
        + "".join(f"\nlater_{number}(1)" for number in range(12))
        + "".join(f"\ng.x{n} = 1" for n in range(12))
    )
    paste(importing, script)
    are_all_in_sight(importing.locator(".left-out ul"))
    take(importing)
    expect(new_run.locator(".import-note ul")).to_contain_text("later_11")
    picture(new_run, "new-import-notes")
    note = new_run.locator(".import-note")
    expect(note).to_contain_text("“f('<i>tok</i>').x” (line 4) is set")
    note.locator("li", has_text="bf16").get_by_role("button", name="Set bf16").click()
    expect(new_run.locator(".field", has_text="bf16").locator(":focus")).to_be_in_viewport()
    note.locator("li", has_text="LoraConfig").get_by_role("button", name="Choose LoRA").click()
    expect(new_run.locator(".tune :focus")).to_be_in_viewport()
    expect(new_run.get_by_role("radio", name="LoRA")).not_to_be_checked()
    follows(new_run, "a/b")
    new_run.reload()
    expect(note).to_contain_text("“f('<i>tok</i>').x” (line 4) is set")
    assert note.locator("i").count() == 0
    new_run.goto(new_run.url.replace("/new", "/runs"))
    new_run.go_back()
    expect(note).to_contain_text("(line 4) is set")
    other = open_page(new_run.url)  # a tab that begins anew offers the draft
    expect(other.locator(".offered li")).to_contain_text(re.compile(r" · Imported · 20\d\d-"))
    other.get_by_role("button", name="Continue with it").click()
    expect(other.locator(".import-note")).to_contain_text("(line 4) is set")
    new_run.get_by_role("button", name="Dismiss").click()
    new_run.reload()
    follows(new_run, "a/b")
    expect(note).to_be_hidden()


def test_an_imported_name_stays_and_a_note_goes_with_what_it_says(new_run: Page, importing: Locator) -> None:
    script = "from trl import *\nGRPOTrainer('a/b', args=GRPOConfig(run_name='mine'), reward_funcs=think_format_reward,"
    paste(importing, f"{script}\n  train_dataset=load_dataset('my/data')).train()")
    take(importing)
    note = new_run.locator(".import-note")
    follows(new_run, "prompt_column: prompt")
    expect(note).to_contain_text("data.prompt_column prompt (the column that TRL reads)")
    new_run.locator(".kinds label", has_text="Built-in task").click()
    expect(new_run.locator(".preview .of")).to_have_text("of 4,000", timeout=180_000)
    follows(new_run, "name: mine")
    mapped = yaml_of(new_run)
    write_yaml(new_run, mapped.replace("  prompt_column: prompt\n", ""))
    expect(note).not_to_contain_text("data.prompt_column")
    expect(note).to_contain_text("model.dtype float32")
    write_yaml(new_run, mapped)
    expect(note).to_contain_text("data.prompt_column prompt (the column that TRL reads)")


def test_undo_takes_the_notes_of_an_import_back(new_run: Page, importing: Locator) -> None:
    before = yaml_of(new_run)
    paste(importing, "from trl import *\nmine()\nGRPOTrainer('a/b', reward_funcs=think_format_reward).train()")
    take(importing)
    expect(new_run.locator(".import-note")).to_contain_text("mine(…) (line 2)")
    write_yaml(new_run, before)  # of which the import said nothing
    expect(new_run.locator(".import-note")).to_be_hidden()
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.locator(".import-note")).to_contain_text("mine(…) (line 2)")
    follows(new_run, "a/b")
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.locator(".import-note")).to_be_hidden()
    write_yaml(new_run, before.replace("seed: 42", "seed: 43"))
    new_run.goto(new_run.url.partition("/new")[0] + "/new")  # comes back to the view that was left
    expect(new_run.get_by_role("tab", name="YAML")).to_have_attribute("aria-selected", "true")


def test_a_secret_in_a_function_is_not_saved_and_hostile_text_is_text(new_run: Page, importing: Locator) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    body = f"def judge(completions, **kwargs):\n    key = '{key}'\n    return [0.0 for c in completions]\n"
    paste(importing, f"from trl import *\n{body}GRPOTrainer('<img src=x>', reward_funcs=judge).train()")
    row = importing.locator(".functions li")
    expect(row).to_contain_text("The code holds a secret: it cannot be saved.")
    expect(row.get_by_role("checkbox")).to_be_disabled()
    expect(importing.locator(".summary")).to_contain_text("<img src=x>")
    assert importing.locator("img").count() == 0
    take(importing)
    assert library.newest_rewards() == []


def test_a_yaml_written_anew_is_no_longer_said_to_be_imported(new_run: Page, importing: Locator) -> None:
    paste(importing, GSM8K)
    take(importing)
    origin = new_run.locator(".origin")
    expect(origin).to_contain_text("Imported. Saved in the library: ")
    write_yaml(new_run, yaml_of(new_run) + "# mine\n")
    expect(origin).to_contain_text("Imported.")
    write_yaml(new_run, "name: anew\nmodel:\n  id: x/y\ndata:\n  source: task:sums\nrewards:\n- name: format\n")
    expect(origin).not_to_contain_text("Imported")
    new_run.reload()
    expect(origin).to_contain_text("Draft restored.")
    expect(origin).not_to_contain_text("Imported")
