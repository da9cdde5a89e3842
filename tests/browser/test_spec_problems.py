"""What is wrong with a spec, said at its field on the page, kept as it was typed, and mended by one click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from groupwise.storage.home import paths
from groupwise.storage.registry import registry
from tests.browser.conftest import bring, kept_dashboard, picture
from tests.browser.new_run_page import editor, follows, launch, show, write_yaml, yaml_of
from tests.support import beside
from tests.support.homes import in_home


@pytest.fixture(scope="module")
def shared_dashboard(catalogue: Any) -> Iterator[str]:
    """One where models can be quantised."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(beside.BESIDE))
        with kept_dashboard(catalogue) as (place, address), in_home(place):
            yield address


WRONG_FIELDS = [
    ("Group size", "7", "groups of 7 do not divide"),
    ("Group size", "1", "at least 2 completions"),
    ("Learning rate", "fast", "should be a number"),
    ("Learning rate", "1,000", "should be a number, not “1,000”."),
    ("Completions per device", "6.5", "should be a whole number"),
    ("Model", "/no/such/folder", "there is no folder /no/such/folder"),
    ("Temperature", "0", "above 0"),
    ("Save every", "1.5", "should be a whole number of steps, or a share of the run below 1, not 1.5"),
]


def test_a_wrong_field_is_said_there_kept_and_mended_by_one_click(new_run: Page) -> None:
    """One page, one wrong field after the other."""
    for field, typed, sentence in WRONG_FIELDS:
        said_kept_and_mended(new_run, field, typed, sentence)


def said_kept_and_mended(new_run: Page, field: str, typed: str, sentence: str) -> None:
    box = new_run.get_by_label(field, exact=True)
    box.fill(typed)
    box.press("Tab")
    note = new_run.locator(".field", has=box).locator(".said").get_by_text(re.compile(re.escape(sentence), re.I))
    expect(note).to_be_visible()
    before = len(registry.list_runs())
    launch(new_run)
    expect(box).to_be_focused()
    assert "/new" in new_run.url
    assert len(registry.list_runs()) == before
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


def test_a_setting_given_twice_is_mended_by_a_button_and_undo_brings_it_back(new_run: Page) -> None:
    text = "name: x  # mine\nname: y\nname: z\nrewards: [{name: format}]\n"
    write_yaml(new_run, text)
    verdicts = new_run.locator(".preflight .verdicts")
    expect(verdicts.get_by_role("button", name="Keep the first (line 1: x)")).to_have_count(2)
    picture(new_run, "new-given-twice")
    verdicts.get_by_role("button", name="Keep the last (line 2: y)").click()
    expect(verdicts.get_by_role("button", name="Keep the first (line 1: y)")).to_have_count(1)
    assert yaml_of(new_run) == text.replace("name: x  # mine\n", "")
    verdicts.get_by_role("button", name="Keep the first (line 1: y)").click()
    expect(new_run.locator(".unreadable-note")).to_be_hidden()
    assert yaml_of(new_run) == "name: y\nrewards: [{name: format}]\n"
    new_run.get_by_role("button", name="Undo").click()
    expect(verdicts.get_by_role("button", name="Keep the first (line 1: y)")).to_have_count(1)
    assert yaml_of(new_run) == text.replace("name: x  # mine\n", "")
    verdicts.get_by_role("button", name="Keep the first (line 1: y)").click()
    expect(new_run.locator(".unreadable-note")).to_be_hidden()
    new_run.keyboard.press("Control+z")  # beside every field it does what Undo does
    expect(editor(new_run)).to_have_value(text.replace("name: x  # mine\n", ""))
    editor(new_run).press("Control+z")  # and in the editor, which did nothing of it itself
    expect(editor(new_run)).to_have_value(text)
    editor(new_run).press("Control+End")
    new_run.keyboard.type("#")
    new_run.keyboard.press("Control+z")
    expect(editor(new_run)).to_have_value(text)
    new_run.get_by_role("button", name="Undo").click()  # what was taken back is no step
    expect(editor(new_run)).not_to_have_value(text)


def test_slips_of_the_yaml_are_put_right_by_their_buttons_and_hide_nothing(new_run: Page) -> None:
    text = "name: a\nrewards: [{name: fromat}]\ntraining:\n\tmax_completion_length: 48\n\tbeta:0.02\n"
    write_yaml(new_run, text + 'data:\n  system_prompt: "Think\n')
    verdicts = new_run.locator(".preflight .verdicts")
    expect(verdicts.get_by_text("Did you mean “format”?")).to_be_visible()
    picture(new_run, "new-slips")
    for label in ("Write spaces instead of the tabs", "Write it as “beta: 0.02”", "Close the quotation mark"):
        verdicts.get_by_role("button", name=label).click()
        expect(verdicts.get_by_role("button", name=label)).to_have_count(0)
    expect(new_run.locator(".unreadable-note")).to_be_hidden()
    right = text.replace("\t", "  ").replace("beta:0.02", "beta: 0.02")
    assert yaml_of(new_run) == right + 'data:\n  system_prompt: "Think"\n'


def test_of_what_cannot_be_read_the_worker_does_not_say_that_it_is_missing(new_run: Page) -> None:
    write_yaml(new_run, bad("eval_on_start: true", data="{holdout: 10 %}"))
    bring(new_run, "pages/new/core.js", "isSaid").wait_for_function("isSaid('build')")
    expect(new_run.locator("#launch-count")).to_contain_text("◆ 1 problem")
    said = new_run.locator(".verdict.blocking")
    expect(said).to_contain_text("Did you mean 0.1?")
    expect(said.locator(".fix")).to_have_text(["Use 0.1", "Use the default (0)"])


def test_problems_look_as_they_should(new_run: Page) -> None:
    new_run.get_by_label("Group size", exact=True).fill("7")
    new_run.get_by_label("Learning rate", exact=True).fill("fast")
    new_run.get_by_label("Model", exact=True).fill("/no/such/folder")
    new_run.get_by_label("Model", exact=True).press("Tab")
    expect(new_run.locator(".field").get_by_text("should be a number").first).to_be_visible()
    picture(new_run, "new-problems")


def test_a_huge_number_is_a_sentence_and_holds_up_nothing(new_run: Page) -> None:
    new_run.get_by_label("LoRA", exact=True).check()
    for label in ("Completions per device", "Group size", "Steps", "Max completion length", "LoRA rank"):
        field = new_run.get_by_label(label, exact=True)
        before = field.input_value()
        field.fill("9" * 30)
        new_run.get_by_label("Name", exact=True).fill(f"still works: {label}")
        follows(new_run, f"still works: {label}")
        expect(new_run.locator(".trouble")).to_be_hidden()
        field.fill(before)  # each alone


def bad(training: str = "", model: str = "id: starter", rewards: str = "- name: format", **parts: str) -> str:
    """A small spec with something wrong in it."""
    more = "".join(f"{part}: {value}\n" for part, value in parts.items())
    short = "" if "max_completion_length" in training else "max_completion_length: 48"
    settings = f"training: {{{', '.join(filter(None, (short, training)))}}}\n"
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
    "a reward that wants words": bad(rewards="- name: keywords"),
    "an unknown reward": bad(rewards="- name: formatt"),
    "a reward twice": bad(rewards="- name: format\n- name: format"),
    "a parameter that is not there": bad(rewards="- {name: format, parameters: {tag: [a]}}"),
    "a parameter of another type": bad(rewards="- {name: format, parameters: {strict: 3}}"),
    "a version that is not there": bad(rewards="- name: format\n- {name: mine, version: abcdef12}"),
    "a schedule out of order": bad(
        rewards="- {name: format, schedule: [{step: 5, weight: 1.0}, {step: 5, weight: 0.5}]}"
    ),
    "two ways to change a weight": bad(rewards="- {name: format, schedule: [{step: 5, weight: 1.0}], adapt: {}}"),
    "a weight outside its bounds": bad(rewards="- {name: format, weight: 50.0, adapt: {}}"),
    "an adaptation that is none": bad(rewards="- {name: format, adapt: {low: 0.9, high: 0.1}}"),
    "a time limit of nothing": bad(rewards="- {name: format, timeout: 0}"),
    "a reward in a stage": bad(stages="[{rewards: [{name: format, parameters: {tag: [a]}}]}, {}]"),
    "groups that do not fit": bad("num_generations: 7"),
    "a group of one": bad("num_generations: 1"),
    "evaluation without rows": bad("eval_strategy: steps"),
    "both batch settings": bad("generation_batch_size: 8, steps_per_generation: 2"),
    "no such folder": bad(model="id: /no/such"),
    "no such task": bad(data="{source: 'task:arithmetik'}"),
    "no such gym task": bad(data="{source: 'gym:leg_countin'}"),
    "a wrong gym parameter": bad(data="{source: 'gym:leg_counting', parameters: {min_animal: 3}}"),
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
    "a completion longer than the model": bad("max_completion_length: 100000"),
    "a completion beyond all measure": bad("max_completion_length: 9999999999"),
    "a completion of nothing": bad("max_completion_length: 0"),
    "a length that is no number": bad("max_completion_length: many"),
    "a ragged CSV": bad(data="{source: 'file:ragged.csv'}"),
    "a CSV that is not UTF-8": bad(data="{source: 'file:latin.csv', encoding: utf-8}"),
}
# Files that the home's data folder has for them.
FILES = {
    "ragged.csv": b"question,answer\n1+1?,2\n2+2?,4,and more\n",
    "latin.csv": ("question,answer\n" + "Wieviel Äpfel?,2\n" * 99).encode("latin-1"),
}


# What cannot be mended here leads to another file first; this is the click that keeps the run.
CLICKED = {"a ragged CSV": "Switch to the built-in task"}


def mended_by_one_click(page: Page, text: str, label: str = "") -> None:
    """The verdict on a bad spec comes, its first fix (or the one of this label) is clicked, and nothing blocks any
    more; nor is the length spoken of again, whose default is too long for the starter model."""
    write_yaml(page, text)
    blocking = page.locator(".verdict.blocking")
    expect(blocking.first).to_be_visible(timeout=180_000)
    blocking.first.locator(".fix", has_text=label).first.click()
    none_left(page)
    # what the worker says of what the fix made of it
    page.wait_for_function("() => !pending.length && page.text === page.view.text && isSaid('build')", timeout=180_000)
    none_left(page)


def none_left(page: Page) -> None:
    expect(page.locator(".verdict.blocking")).to_have_count(0, timeout=180_000)
    expect(page.locator(".verdict", has_text="training.max_completion_length")).to_have_count(0)


def test_each_blocking_verdict_is_mended_by_one_click(new_run: Page) -> None:
    """One page, one bad spec after the other."""
    for name, content in FILES.items():
        (paths.data_folder() / name).write_bytes(content)
    bring(new_run, "pages/new/core.js", "page", "pending", "isSaid")
    stuck = {}
    for what, text in BLOCKING.items():
        try:
            mended_by_one_click(new_run, text, CLICKED.get(what, ""))
        except (AssertionError, TimeoutError) as error:
            stuck[what] = f"{new_run.locator('.verdict').all_inner_texts()} {str(error)[:100]}"
    assert stuck == {}


def test_what_only_the_worker_can_tell_is_said_of_a_text_that_cannot_be_read_yet(new_run: Page) -> None:
    """In the same round, with its line as it is written, and without a button: there are no settings to change yet."""
    length = "{name: length, weight: 0.2, parameters: {low: 50, high: 10}}"
    write_yaml(new_run, f"name: a\ntraining: {{beta: 0.1, beta: 0.2}}\nrewards:\n- {{name: format}}\n- {length}\n")
    verdicts = new_run.locator(".verdict.blocking")
    refused = verdicts.filter(has_text="“length” would fail on every completion: low must be 0 or more and less than")
    expect(refused).to_contain_text("line 5")
    expect(refused.locator(".fix")).to_have_count(0)
    expect(verdicts.filter(has_text="given twice")).to_have_count(1)


def test_a_name_of_a_part_is_said_where_that_part_is(new_run: Page) -> None:
    write_yaml(new_run, bad(lora="{rank: 8}"))
    show(new_run, "Form")
    said = new_run.locator(".tune > .said")
    expect(said).to_have_text("“rank”: PEFT's LoraConfig has no such field. Did you mean “r”?")


def test_the_name_of_a_setting_is_quoted(new_run: Page) -> None:
    """“Use liger kernel does the same” read as a request."""
    write_yaml(new_run, bad("use_liger_loss: true"))
    said = new_run.locator(".preflight .verdict.blocking").filter(has_text="TRL 0.28")
    expect(said).to_contain_text("“Use liger kernel” (use_liger_kernel) does the same.")


def test_of_a_text_that_cannot_be_read_no_name_of_the_one_before_is_said(new_run: Page) -> None:
    write_yaml(new_run, bad("num_generation: 2"))
    figures = new_run.locator(".preflight .figures")
    expect(figures).to_contain_text("waits until “num_generation” is fixed")
    write_yaml(new_run, "name: b\nrewards: [{name: format}]\n  beta: 0.1\n")
    expect(new_run.locator(".unreadable-note")).to_be_visible()
    expect(figures).not_to_contain_text("num_generation")
    expect(figures).to_contain_text("waits until the YAML can be read")


def test_a_text_that_no_request_may_hold_is_too_large_and_the_server_is_not_lost(new_run: Page) -> None:
    """It was sent again and again, and “The dashboard does not answer” stood there while it did."""
    before = yaml_of(new_run)
    large = f"# {'x' * 5_000}\n" * 1_000
    show(new_run, "YAML")
    put = "(node, text) => { node.value = text; node.dispatchEvent(new Event('input', { bubbles: true })); }"
    editor(new_run).evaluate(put, large)
    said = new_run.locator(".gw-new_run").get_by_text("The spec is larger than 256 KB.").first
    expect(said).to_be_visible()
    new_run.wait_for_timeout(1500)
    expect(new_run.locator(".away")).to_be_hidden()
    expect(new_run.locator("#gw-offline")).to_be_hidden()
    editor(new_run).evaluate(put, before)
    expect(said).to_be_hidden()
