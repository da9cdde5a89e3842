"""The library on the Rewards page: functions are pasted, imported, exported, copied, deleted, and used in runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec as specs
from tests.browser.conftest import Held, OpenPage, picture
from tests.browser.rewards_page import (
    SHORT,
    begin,
    build,
    do,
    open_emptied,
    ready,
    save,
    source,
    text_of,
    try_it,
    write,
)
from tests.support.homes import wait_for
from tests.support.made_runs import stopped_before_it_started
from tests.support.notebooks import NOTEBOOKS
from tests.support.runs import make_spec

SCRIPT = """from datasets import load_dataset
from trl import GRPOTrainer

MOST = 20

def short(completions, **kwargs):
    return [float(len(c[0]["content"]) <= MOST) for c in completions]

def wordy(completions, **kwargs):
    return [float(len(c[0]["content"])) for c in completions]

trainer = GRPOTrainer(
    reward_funcs=[short, wordy],
    train_dataset=load_dataset("some/data"),
)
trainer.train()
"""


ALONE = """from datasets import load_dataset
from trl import GRPOTrainer
from trl.rewards import accuracy_reward

def make(example):
    return {"prompt": example["problem"]}

train = load_dataset("a/b", split="train").map(make)
trainer = GRPOTrainer(model="a/m", reward_funcs=accuracy_reward, train_dataset=train)
trainer.train()
"""


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards")


def test_deleting_asks_first(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    do(rewards, "Delete…")
    dialog = rewards.locator("dialog.deleting")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    rewards.keyboard.press("Escape")
    assert [kept.name for kept in library.newest_rewards()] == ["short"]
    do(rewards, "Delete…")
    dialog.get_by_role("button", name="Delete").click()
    expect(rewards.locator(".lists")).to_contain_text("None yet.")
    assert library.newest_rewards() == []
    line = rewards.locator(".deleted")
    expect(line.get_by_role("button", name="Undo")).to_be_focused()
    rewards.reload()
    ready(rewards)
    expect(line).to_have_text(re.compile("Deleted short. Undo"))
    picture(rewards, "rewards-deleted")
    line.get_by_role("button", name="Undo").click()
    expect(rewards.locator(".writing .title")).to_have_text("short")
    expect(line).to_be_hidden()
    write(rewards, SHORT.replace("20", "30"))  # what is typed and not saved comes back, too
    wait_for("the draft", lambda: "30" in str(rewards.evaluate("localStorage['groupwise:rewards:draft:name:short']")))
    do(rewards, "Delete…")
    dialog.get_by_role("button", name="Delete").click()
    line.get_by_role("button", name="Undo").click()
    expect(rewards.locator(".writing .draft")).to_contain_text("restored; not saved yet")
    assert text_of(rewards) == SHORT.replace("20", "30") and library.get_reward("short").code == SHORT
    do(rewards, "Delete…")
    dialog.get_by_role("button", name="Delete").click()
    expect(line).to_be_visible()
    library.save_reward("short", SHORT.replace("20", "40"))
    line.get_by_role("button", name="Undo").click()
    expect(line).to_contain_text("Not restored: another “short” has been saved since.")
    picture(rewards, "rewards-not-restored")


def test_a_function_saved_by_another_name_may_take_the_place_of_the_one_before(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    write(rewards, SHORT.replace("def short", "def brief"))
    way = "Save makes a copy. To rename “short” instead, put its name back and click ✎"
    expect(rewards.locator(".writing .state")).to_have_text(f"not saved under this name yet. {way}")
    save(rewards)
    said = rewards.locator(".said-saved")
    expect(said).to_contain_text("short is still there, as it was.")
    assert sorted(kept.name for kept in library.newest_rewards()) == ["brief", "short"]
    picture(rewards, "rewards-saved-by-another-name")
    said.get_by_role("button", name="Delete short").click()
    expect(rewards.locator(".deleted")).to_have_text(re.compile("Deleted short. Undo"))
    expect(rewards.locator(".writing .title")).to_have_text("brief")
    expect(said).to_have_text(re.compile(r"^Saved as version \w{8}\.$"))
    assert [kept.name for kept in library.newest_rewards()] == ["brief"]
    rewards.locator(".deleted").get_by_role("button", name="Undo").click()
    expect(rewards.locator(".writing .title")).to_have_text("short")
    assert library.get_reward("short").code == SHORT


def test_a_function_is_renamed_where_it_is_open_with_what_is_typed_in_it(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    longer = SHORT.replace("20", "30")
    write(rewards, longer)
    rewards.get_by_role("button", name="Rename", exact=True).first.click()
    form = rewards.locator(".renaming")
    field = form.get_by_label("Name")
    expect(field).to_have_value("short")
    middles = """label => { const words = document.createRange(); words.selectNode(label.firstChild);
      return [words, label.querySelector("input")].map((one) => one.getBoundingClientRect())
        .map(({ top, bottom }) => (top + bottom) / 2) }"""
    word, box = form.locator("label").evaluate(middles)
    assert abs(word - box) <= 1, "the label stands beside the middle of its box"
    field.fill("most")
    field.press("Enter")
    expect(form.locator(".problem")).to_contain_text("something else is called “most”")
    assert [kept.name for kept in library.newest_rewards()] == ["short"]
    field.fill("brief")
    picture(rewards, "rewards-renaming")
    field.press("Enter")
    expect(rewards.locator(".said-saved")).to_contain_text("Renamed from short, with all its versions.")
    expect(rewards.locator(".writing .title")).to_have_text("brief")
    expect(rewards).to_have_url(re.compile(r"[?&]name=brief(&|$)"))
    expect(form).to_be_hidden()
    assert [kept.code for kept in library.newest_rewards()] == [SHORT.replace("def short", "def brief")]
    assert text_of(rewards) == longer.replace("def short", "def brief")
    assert rewards.evaluate("localStorage['groupwise:rewards:draft:name:short']") is None
    rewards.reload()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_contain_text("restored")
    save(rewards)
    kept = {one.code for one in library.versions("brief")}  # with those that a test before this one had of it
    assert {text.replace("def short", "def brief") for text in (SHORT, longer)} <= kept


def test_a_notebook_s_functions_are_pasted_exported_and_imported_again(rewards: Page, tmp_path: Path) -> None:
    pasted = f"%pip install trl\nimport re\n\n\ndef helper(x):\n    return re.sub('a', 'b', x)\n\n\n{SHORT}\n\n" + (
        "async def other(completions, **kwargs):\n    return [float(len(helper('a'))) for _ in completions]\n"
    )
    do(rewards, "Import")
    rewards.locator("dialog.importing .paste").fill(pasted)
    dialog = rewards.locator("dialog.importing")
    expect(dialog).to_contain_text("Which one do you want to open?")
    dialog.locator("label", has_text="other").click()
    picture(rewards, "rewards-import")
    dialog.get_by_role("button", name="Open in the editor").click()
    expect(rewards.locator(".which")).to_have_value("other")
    assert text_of(rewards).startswith("# %pip")
    save(rewards)
    assert [kept.name for kept in library.newest_rewards()] == ["other"]
    with rewards.expect_download() as exported:
        do(rewards, "Export")
    assert exported.value.suggested_filename == "other.py"
    file = tmp_path / "other.py"
    file.write_bytes(Path(exported.value.path()).read_bytes())
    assert file.read_text() == library.get_reward("other").code
    do(rewards, "Import")
    dialog.locator(".file").set_input_files(file)
    dialog.locator("label", has_text="short").click()
    dialog.get_by_role("button", name="Open in the editor").click()
    assert text_of(rewards) == file.read_text()
    wrong = tmp_path / "wrong.py"
    wrong.write_bytes(b"\xff\xfe\x00")
    drop = """([name, text]) => {
        const brought = new DataTransfer();
        brought.items.add(new File([text], name));
        const event = new DragEvent("drop", {dataTransfer: brought, bubbles: true, cancelable: true});
        document.querySelector(".shelf h1").dispatchEvent(event);
    }"""
    expect(dialog).to_be_hidden()
    rewards.evaluate(drop, ["mine.py", SHORT])
    expect(dialog).to_contain_text("Found short.")
    dialog.get_by_role("button", name="Close").click()
    do(rewards, "Import")
    dialog.locator(".file").set_input_files(wrong)
    expect(dialog.locator(".said")).to_contain_text("UTF-8")


def test_a_training_script_becomes_functions_and_each_is_saved_by_its_own_name(rewards: Page) -> None:
    begin(rewards, SCRIPT)
    expect(rewards.locator(".found")).to_contain_text("trainer.train(…) would run each time")
    do(rewards, "Comment out the script around the functions")
    expect(rewards.locator(".found li")).to_have_count(0)
    kept = text_of(rewards)
    assert "\nMOST = 20\n" in kept and "\n#     train_dataset=load_dataset" in kept and "\n# trainer.train()" in kept
    assert kept.replace("# ", "") == SCRIPT
    gone = sum(line.startswith("# ") for line in kept.splitlines())
    expect(rewards.locator(".said-saved")).to_have_text(
        f"Commented out: {gone} lines of the script, as it cannot run or is not needed here."
    )
    save(rewards)
    expect(rewards.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    rewards.locator(".which").select_option("wordy")
    expect(rewards.locator(".writing .state")).to_have_text("not saved under this name yet")
    expect(rewards.get_by_role("button", name="Delete…", exact=True)).to_be_hidden()
    save(rewards)
    assert {one.name: one.code for one in library.newest_rewards()} == {"short": kept, "wordy": kept}
    rewards.locator(".which").select_option("short")  # saved under this name, too
    version = library.get_reward("short").hash[:8]
    expect(rewards.locator(".writing .state")).to_have_text(f"version {version}")
    expect(rewards.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    rewards.wait_for_url("**name=short**")


def test_an_early_press_of_import_shows_what_was_found_first(rewards: Page) -> None:
    do(rewards, "Import")
    dialog = rewards.locator("dialog.importing")
    reading = Held(rewards, "clean_paste")
    dialog.locator(".paste").fill(SHORT)
    expect(dialog.locator("[type=submit]")).to_have_text("Reading…")
    expect(dialog.locator("[type=submit]")).to_be_disabled()
    dialog.locator("form").evaluate("form => form.requestSubmit()")
    reading.release()
    expect(dialog.locator(".told")).to_contain_text("Found short.")
    rewards.wait_for_timeout(500)
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Open in the editor").click()
    expect(dialog).to_be_hidden()
    expect(rewards.locator(".writing .title")).to_have_text("short")


def test_a_script_with_no_reward_function_of_its_own_goes_to_the_import_of_new_run(rewards: Page) -> None:
    do(rewards, "Import")
    dialog = rewards.locator("dialog.importing")
    dialog.get_by_label("Python to import").fill(ALONE)
    expect(dialog.locator(".told .verdict-at")).to_have_count(1)
    expect(dialog.locator(".told")).to_contain_text("it uses accuracy_reward, built in here as “math_equivalence”.")
    dialog.get_by_role("button", name="Import it under New run").click()
    rewards.wait_for_url(re.compile(r"/new"))
    importing = rewards.locator("dialog.importing")
    expect(importing.get_by_role("textbox")).to_have_value(ALONE, timeout=60_000)
    expect(importing.locator(".kind")).to_contain_text("Read as")
    assert "import=" not in rewards.url


def test_a_function_that_a_call_makes_is_named_and_its_script_goes_to_the_import_of_new_run(rewards: Page) -> None:
    made = (
        "def make_near(most):\n    def near(completions, **kwargs):\n"
        "        return [float(len(c[0]['content']) < most) for c in completions]\n    return near\n\n"
    )
    script = SCRIPT.replace("trainer = ", f"{made}trainer = ").replace("wordy],", "wordy, make_near(most=9)],")
    do(rewards, "Import")
    dialog = rewards.locator("dialog.importing")
    dialog.get_by_label("Python to import").fill(script)
    expect(dialog.locator(".told .choice b")).to_have_text(["short", "wordy"])
    first = dialog.locator(".told .verdict-at").first
    expect(first).to_contain_text("line 12: make_near(…) makes a reward function when it is called")
    picture(rewards, "rewards-import-maker")
    dialog.get_by_role("button", name="Import it under New run").click()
    rewards.wait_for_url(re.compile(r"/new"))
    importing = rewards.locator("dialog.importing")
    expect(importing.get_by_role("textbox")).to_have_value(script, timeout=60_000)
    made = "is made by make_near(…): it is imported with the values that it was made with; most can be set in each run."
    expect(importing).to_contain_text(made)


def test_a_whole_notebook_is_imported_and_only_its_reward_functions_stay(rewards: Page) -> None:
    do(rewards, "Import")
    dialog = rewards.locator("dialog.importing")
    dialog.locator(".paste").fill(NOTEBOOKS["the file itself, with the end mark"].text)
    expect(dialog).to_contain_text("Found match_eos.")
    expect(dialog.get_by_label("Comment out the script around the functions")).to_be_checked()
    expect(dialog.locator(".told .verdict-at:not(.advice)")).to_have_count(0)
    changed = 'tokenizer.eos_token became the text "<eos_token>"'
    expect(dialog.locator(".told")).to_contain_text(changed)
    picture(rewards, "rewards-notebook")
    dialog.get_by_role("button", name="Open in the editor").click()
    expect(rewards.locator(".writing .title")).to_have_text("match_eos")
    expect(rewards.locator(".said-saved")).to_contain_text(changed)
    expect(rewards.locator(".said-saved")).to_contain_text("Commented out: ")
    expect(rewards.locator(".found .verdict-at")).to_have_count(0)
    left = [line for line in text_of(rewards).splitlines() if line and not line.startswith("#")]
    assert left[0].startswith('reasoning_end   = "</think>"') and not any("tokenizer" in line for line in left)
    source(rewards, "Probes")
    expect(try_it(rewards).locator(".failure")).to_have_count(0)
    do(rewards, "Save")
    expect(rewards.locator(".said-saved")).to_contain_text("Saved as version")
    do(rewards, "Import")
    dialog.locator(".paste").fill(SCRIPT)
    dialog.get_by_label("Comment out the script around the functions").uncheck()
    dialog.get_by_role("button", name="Open in the editor").click()
    expect(rewards.locator(".found")).to_contain_text("trainer.train(…) would run each time")
    assert text_of(rewards) == SCRIPT
    expect(rewards.locator(".said-saved")).to_be_hidden()
    write(rewards, f"from .tools import x\n{SHORT}")
    expect(rewards.locator(".found .blocking")).to_contain_text("Relative imports don't work here")
    for way, said in (("Try", ".view-try .go .wait"), ("Save", ".said-saved")):
        do(rewards, way)
        expect(rewards.locator(said)).to_have_text(
            "Fix line 1 first: Relative imports don't work here: paste the code itself."
        )
    expect(rewards.locator(".view-try .go .wait")).not_to_contain_text("scored")


def test_what_ships_is_read_only_and_copied(rewards: Page) -> None:
    rewards.locator(".shelf .take", has_text="correctness").first.click()
    expect(rewards.locator(".writing .state")).to_have_text("built in, read only")
    expect(rewards.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    do(rewards, "Copy as my own")
    assert "def my_correctness(" in text_of(rewards)
    save(rewards)
    assert [kept.name for kept in library.newest_rewards()] == ["my_correctness"]
    a_name_that_another_has_is_said_while_one_writes_it(rewards)


def a_name_that_another_has_is_said_while_one_writes_it(rewards: Page) -> None:
    """As code, and of blocks."""
    state = rewards.locator(".writing .state")
    begin(rewards, SHORT.replace("short", "my_correctness"))
    expect(state).to_have_text("not saved yet; this name is in your library already")
    write(rewards, SHORT.replace("short", "format"))
    expect(state).to_have_text("not saved yet; this name ships with Groupwise")
    write(rewards, SHORT)
    expect(state).to_have_text("not saved yet")
    form = build(rewards, "Right number")
    said = form.locator(".name-written")
    form.get_by_label("Name", exact=True).fill("my_correctness")
    expect(said).to_have_text(
        "“my_correctness” is in your library already. Choose another name, or save this as a version of that one: you "
        "are asked first."
    )
    picture(rewards, "rewards-name-taken")
    form.get_by_label("Name", exact=True).fill("My correctness")
    expect(said).to_contain_text("Its name in the code is my_correctness:")
    expect(said).to_contain_text("is in your library already")
    form.get_by_label("Name", exact=True).fill("mine_alone")
    expect(said).to_be_hidden()


def test_a_function_is_taken_into_a_new_run(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    do(rewards, "Use in a new run")
    rewards.wait_for_url("**/new*")
    expect(rewards.locator(".rewards .reward[data-name='short']")).to_be_visible()
    rewards.get_by_label("Name", exact=True).fill("begun before")
    kept = "Object.values(sessionStorage).join()"
    wait_for("the draft", lambda: "begun before" in str(rewards.evaluate(kept)))
    rewards.goto(rewards.url.split("/new")[0] + "/rewards?name=format")
    do(ready(rewards), "Copy as my own")
    save(rewards)
    do(rewards, "Use in a new run")
    rewards.wait_for_url("**/new*")
    expect(rewards.get_by_label("Name", exact=True)).to_have_value("begun before")
    expect(rewards.locator(".handed")).to_contain_text("“my_format” was added to this draft’s rewards, with weight 1.")
    rewards.get_by_role("tab", name="YAML").click()
    expect(rewards.get_by_role("textbox", name="YAML")).to_have_value(re.compile("name: my_format"))


def test_the_runs_that_use_a_function_are_linked(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    run_id = stopped_before_it_started("<b>user</b>", specs.to_yaml(make_spec(rewards=[{"name": "format"}])))
    run = registry.get_run(run_id)
    assert run is not None
    run.folder.rewards.mkdir(exist_ok=True)
    (run.folder.rewards / "short.py").write_text(SHORT)
    rewards.reload()
    ready(rewards)
    do(rewards, "Versions")
    link = rewards.locator("dialog.versions .used a")
    expect(link).to_have_text("<b>user</b>")
    assert str(link.get_attribute("href")) == f"/run?id={run_id}"


def test_names_that_begin_alike_are_whole_in_the_shelf(rewards: Page) -> None:
    for name in ("correctness_reward", "correctness_reward_func"):
        library.save_reward(name, SHORT.replace("def short(", f"def {name}("))
    rewards.reload()
    ready(rewards)
    for name in ("correctness_reward", "correctness_reward_func"):
        shown = rewards.locator(".shelf .entry b").get_by_text(name, exact=True)
        assert shown.evaluate("(node) => node.scrollWidth <= node.clientWidth"), name
    picture(rewards, "rewards-names-alike")
