"""Functions are built without code: from blocks, with three real rows scored beside them."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from groupwise.app.pages.new.presets import SHIPPED
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.library.rewards import library
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.rewards_page import (
    LIVE_FOR,
    begin,
    build,
    do,
    expect_points,
    open_emptied,
    points,
    ready,
    save,
    source,
    try_it,
    way,
)  # fmt: skip
from tests.support.homes import wait_for

GERMAN = "Antwort (richtig)"
LONG_NAME = f"{'a' * 94}.jsonl"


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards")


def weights_are_read_as_meant(rewards: Page) -> None:
    """Of the second block; it is 3 in the end."""
    weight = rewards.get_by_label("Weight of block 2")
    weight.fill("2,5")
    wrong = rewards.locator(".blocks li").nth(1).locator(".wrong")
    expect(wrong).to_contain_text("The weight has to be a number, not “2,5”. Did you mean 2.5?")
    expect(weight).to_have_attribute("aria-invalid", "true")
    expect(rewards.locator(".live .wait")).to_have_text(
        "These scores are from before the last change. Scores come as soon as the blocks are complete."
    )
    expect(rewards.locator(".live .total.old b").nth(1)).to_have_text("0.5")  # those before it stay
    weight.fill("1,000")  # which may be a thousand, and so stays
    way(rewards, "Code")
    expect(rewards.locator(".code-before")).to_contain_text("The blocks are not complete: this is the earlier code.")
    expect(rewards.locator("[data-do=save]")).to_have_attribute("title", re.compile("^Complete the blocks first"))
    way(rewards, "Blocks")
    expect(weight).to_have_value("1,000")
    wrong.get_by_role("button", name="Use 1000").click()
    expect(weight).to_have_value("1000")
    expect(weight).to_be_focused()
    weight.fill("2,5")  # which is one number alone
    weight.press("Tab")
    expect(weight).to_have_value("2.5")
    expect(wrong).to_be_empty()
    expect(rewards.locator(".code-before")).to_have_count(1)
    expect(rewards.locator("[data-do=save]")).to_have_attribute("title", "")
    expect_points(rewards, 1, "0", "1", "0.71")
    weight.fill("-1")
    expect(rewards.locator(".building .penalties")).to_contain_text("A weight below 0 is a penalty.")
    expect(rewards.locator(".blocks li .means").nth(1)).to_have_text(
        "A penalty: points off where the text has 1 to 4 words."
    )
    expect_points(rewards, 1, "0", "1", "−1")
    weight.fill("3")
    expect(rewards.locator(".building .penalties")).to_be_hidden()
    expect_points(rewards, 1, "0", "1", "0.75")


def test_the_empty_page_offers_to_build_without_code_and_three_rows_are_scored_as_one_builds(rewards: Page) -> None:
    welcome = rewards.locator(".welcome")
    expect(welcome.get_by_role("button")).to_have_count(3)
    picture(rewards, "rewards-welcome")
    welcome.get_by_role("button", name="Build without code").click()
    expect(welcome).to_be_hidden()
    expect(rewards.locator(".live .wait")).to_contain_text("Add a block", timeout=LIVE_FOR)
    expect(rewards.locator(".given")).to_contain_text("answerthe right answer of the row, e.g.")
    rewards.locator(".kinds").get_by_role("button", name="Right number").click()
    assert points(rewards, 0) == ["1", "1"]
    rewards.locator(".kinds").get_by_role("button", name="Right length").click()
    long = rewards.locator(".blocks li .alike-here").nth(1)
    expect(long).to_contain_text("All answers shown get 1 from this block, and so do wrong ones: it tells none")
    totals_are_in_sight_on_a_phone(rewards)
    a_number_in_another_writing_is_asked_about(rewards)
    expect_points(rewards, 1, "1", "0", "0.5")
    expect(long).to_be_hidden()
    paid = rewards.locator(".live .paid")  # a short wrong answer earns the length, a long right one the number
    expect(paid).to_contain_text("A wrong answer scores as much as a right one. Row 1: a wrong example that Groupwise ")
    picture(rewards, "rewards-paid-wrong")
    rewards.locator(".live textarea").nth(1).fill("I do not know")
    expect_points(rewards, 1, "0", "1", "0.5")
    paid.get_by_role("button", name="Make block 1 required").click()
    expect_points(rewards, 1, "0", "1", "0")
    expect(paid).to_be_empty()
    rewards.locator(".blocks li").nth(0).get_by_label("required").uncheck()
    expect_points(rewards, 1, "0", "1", "0.5")
    expect(paid).not_to_be_empty()
    weights_are_read_as_meant(rewards)
    rewards.get_by_label("At most").fill("9")
    rewards.locator(".blocks li").nth(1).get_by_label("partial credit").check()
    rewards.locator(".live textarea").nth(1).fill("one two three four five six seven eight nine ten eleven twelve")
    share = rewards.locator(".live .row-of >> nth=1").locator(".point").nth(1)  # no block is ever left out
    expect(share).to_be_visible()
    expect(share).to_have_text("2Right length 0.75")
    rewards.get_by_label("At most").fill("4")
    rewards.locator(".live textarea").nth(1).fill("I do not know")
    rewards.locator(".blocks li").nth(1).get_by_label("partial credit").uncheck()
    expect_points(rewards, 1, "0", "1", "0.75")
    rewards.locator(".kinds").get_by_role("button", name="Contains words").click()
    expect(rewards.locator(".blocks li").nth(2).locator(".wrong")).to_have_text("Write at least one text to look for.")
    expect(rewards.locator(".live .wait")).to_have_text(
        "These scores are from before the last change. Scores come as soon as the blocks are complete."
    )
    expect(rewards.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    rewards.locator(".ace_content, body").first.press("Control+s")
    expect(rewards.locator(".said-saved")).to_have_text("Complete the blocks first: what is missing is shown at each.")
    assert library.newest_rewards() == []
    texts = rewards.locator(".blocks li").nth(2).locator("textarea")
    texts.fill("<answer>;x, </answer>")
    expect(rewards.get_by_role("button", name="Put each on a line")).to_be_visible()
    texts.fill("<answer>; </answer>")
    expect(rewards.locator(".blocks li .commas").nth(0)).to_contain_text(
        "“<answer>; </answer>” is searched for as one text."
    )
    rewards.get_by_role("button", name="Put each on a line").click()
    expect(texts).to_have_value("<answer>\n</answer>")
    expect(rewards.locator(".commas")).to_be_hidden()
    expect_points(rewards, 0, "1", "0", "1", "0.4")
    a_removed_block_comes_back(rewards)
    assert rewards.locator(".blocks li .means").nth(2).inner_text() == (
        "Earns where the text contains all of “<answer>”, “</answer>”."
    )
    assert no_sideways_scroll(rewards)
    picture(rewards, "rewards-builder")


def a_number_in_another_writing_is_asked_about(rewards: Page) -> None:
    """As on New run; it is 4 in the end."""
    most, wrong = rewards.get_by_label("At most"), rewards.locator(".blocks li .wrong").nth(1)
    most.fill("4,5")
    most.press("Tab")
    expect(wrong).to_have_text("“At most” has to be a whole number, not “4,5”.")
    expect(most).to_have_value("4,5")  # stays as it was typed
    most.fill("4,0")
    expect(wrong).to_contain_text("“At most” has to be a whole number, not “4,0”. Did you mean 4?")
    expect(most).to_have_attribute("aria-invalid", "true")
    picture(rewards, "rewards-meant-number")
    wrong.get_by_role("button", name="Use 4").click()
    expect(most).to_have_value("4")
    expect(most).to_be_focused()


def totals_are_in_sight_on_a_phone(rewards: Page) -> None:
    totals = rewards.locator(".row-totals")
    expect(totals).to_be_hidden()
    intro = rewards.locator(".building .intro")
    assert intro.inner_text().endswith(
        "Check the scores of the three rows beside, then use the function in a new run: the button is above."
    )
    rewards.set_viewport_size({"width": 390, "height": 844})
    assert intro.inner_text().endswith(
        "Check the scores of the three rows below, then use the function in a new run: the button is above."
    )
    rewards.locator(".blocks li").nth(0).scroll_into_view_if_needed()
    expect(totals).to_be_in_viewport()
    expect(totals).to_have_text("Row 1: 1 · Row 2: 1 · Row 3: 1")
    totals.click()
    expect(rewards.locator(".live .row-of").nth(0)).to_be_in_viewport()
    rewards.set_viewport_size({"width": 1440, "height": 900})


def a_removed_block_comes_back(rewards: Page) -> None:
    """Also two of them, each in its place and with what was set in it."""
    removed = rewards.locator(".building .removed")
    expect(removed).to_be_hidden()
    for number in (3, 2):
        rewards.get_by_role("button", name=f"Remove block {number}").click()
    expect_points(rewards, 0, "1", "1")
    expect(removed).to_contain_text("Block 2, “Right length”, was removed.")
    picture(rewards, "rewards-builder-removed")
    removed.get_by_role("button", name="Undo").click()
    expect(rewards.get_by_label("Weight of block 2")).to_have_value("3")
    expect(removed).to_contain_text("Block 3, “Contains words”, was removed.")
    removed.get_by_role("button", name="Undo").click()
    expect(rewards.get_by_role("button", name="Remove block 3")).to_be_focused()
    expect(removed).to_be_hidden()
    expect_points(rewards, 0, "1", "0", "1", "0.4")


def test_other_rows_and_answers_of_the_model_are_tried_and_what_was_typed_comes_back(rewards: Page) -> None:
    build(rewards, "Right number", "Right length")
    assert points(rewards, 0) == ["1", "1", "1"]
    rewards.locator(".live textarea").nth(1).fill("I do not know")
    rewards.get_by_label("Number of row 3").fill("9")
    rewards.keyboard.press("Tab")
    expect(rewards.locator(".live .rows > section").nth(2)).to_have_attribute("aria-label", "Row 9")
    expect(rewards.locator(".live textarea").nth(1)).to_have_value("I do not know")
    do(rewards, "Other rows")
    rows = rewards.locator(".live .rows > section")
    expect(rows.first).to_have_attribute("aria-label", "Row 10")
    empty = rows.first.locator(".no-text")
    expect(empty).to_be_hidden()
    rows.first.locator("textarea").fill("")
    expect(empty).to_have_text("(empty)")
    do(rewards, "Earlier rows")
    expect(rows.nth(1).locator("textarea")).to_have_value("I do not know")
    expect(rewards.get_by_role("button", name="Earlier rows")).to_be_hidden()
    do(rewards, "Other rows")
    expect(empty).to_be_visible()
    rows.first.get_by_role("button", name="Put back what was here").click()
    expect(rows.first.locator("textarea")).not_to_have_value("")
    rows.first.locator("textarea").fill("mine")
    do(rewards, "written by the model")
    by_model = rewards.get_by_role("button", name="written by the model")
    assert by_model.get_attribute("aria-pressed") == "true"  # at once; its answers take a while
    do(rewards, "Other rows")
    expect(rewards.locator(".live .how")).to_contain_text("The model wrote these", timeout=LIVE_FOR)
    expect(rows.first).to_have_attribute("aria-label", "Row 13")
    do(rewards, "Earlier rows")
    expect(rows.first).to_have_attribute("aria-label", "Row 10", timeout=LIVE_FOR)
    expect(by_model).to_have_attribute("aria-pressed", "true")
    expect_points(rewards, 0, *points(rewards, 0))
    expect(rows.first.locator("textarea")).not_to_have_value("mine")
    do(rewards, "examples")
    expect(rows.first.locator("textarea")).to_have_value("mine")
    save(rewards)
    source(rewards, "Probes")
    expect(try_it(rewards).locator(".card", has_text="my_reward").first).to_be_visible()
    rewards.reload()
    ready(rewards)
    expect(rows.nth(1).locator("textarea")).to_have_value("I do not know", timeout=LIVE_FOR)


def test_scores_of_the_blocks_before_a_change_are_not_shown_as_of_those_after_it(rewards: Page) -> None:
    build(rewards, "Right number")
    assert points(rewards, 0) == ["1", "1"]
    held = Held(rewards, "read_answer")
    rewards.get_by_label("Weight of block 1").fill("2")
    wait_for("the question of the score", lambda: rewards.wait_for_timeout(30) or held.kept)
    rewards.locator(".kinds").get_by_role("button", name="Right length").click()
    held.release()
    assert points(rewards, 0) == ["1", "1", "1"]


def test_columns_of_any_name_are_chosen_with_an_example_and_a_failure_is_said(rewards: Page) -> None:
    rows = [{"Frage": f"{n}+1?", GERMAN: n + 1, "答案": str(n), "target": n} for n in range(8)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for name in ("any.jsonl", LONG_NAME):
        (paths.data_folder() / name).write_text(text)
    data = "{source: 'file:any.jsonl', prompt_column: Frage, answer_column: target}"
    if "any columns" not in {kept.name for kept in presets.own_presets()}:
        presets.save_preset("any columns", "", f"name: any\ndata: {data}\nrewards: [{{name: format}}]\n", SHIPPED)
    rewards.reload()
    ready(rewards)
    build(rewards, "Right number")
    rewards.get_by_label("Data").select_option(f"file:{LONG_NAME}")
    chosen = rewards.locator("select.data").bounding_box()
    assert chosen and chosen["x"] + chosen["width"] <= 1440  # the window's width
    rewards.get_by_label("Data").select_option("any columns")
    column = rewards.get_by_label("The right number is in")
    expect(column.locator("option")).to_contain_text(["answer: “target”, e.g. 0"], timeout=LIVE_FOR)
    column.select_option(GERMAN)
    rewards.locator(".live textarea").first.fill("<answer>1</answer>")
    expect_points(rewards, 0, "1", "1")
    rewards.get_by_label("The right number is in").select_option("答案")
    expect_points(rewards, 0, "0", "0")
    first = rewards.locator(".live .rows > section").first
    rewards.get_by_label("Number of row 1").fill("6")
    rewards.keyboard.press("Tab")
    expect(first).to_have_attribute("aria-label", "Row 6", timeout=LIVE_FOR)
    first.locator("textarea").fill("of row 6")
    rewards.get_by_label("Data").select_option("preset:quickstart")
    expect(rewards.get_by_label("The right number is in").locator("option").first).to_have_text(
        "答案: not in this data", timeout=LIVE_FOR
    )
    expect(first).to_have_attribute("aria-label", "Row 1", timeout=LIVE_FOR)
    rewards.get_by_label("Data of").select_option("any columns")
    expect(first).to_have_attribute("aria-label", "Row 6", timeout=LIVE_FOR)
    expect(first.locator("textarea")).to_have_value("of row 6")
    rewards.get_by_label("Data of").select_option("preset:quickstart")
    expect(rewards.get_by_label("The right number is in").locator("option").first).to_have_text(
        "答案: not in this data", timeout=LIVE_FOR
    )
    missing = "“my_reward” compares with “答案”, and this data has no such column. Did you mean “answer”?"
    expect(rewards.locator(".live .wait")).to_contain_text(missing, timeout=LIVE_FOR)
    save(rewards)
    assert 'kwargs["答案"]' in library.get_reward("my_reward").code


def test_a_judge_is_not_asked_while_one_builds(rewards: Page) -> None:
    form = build(rewards, "A judge says yes")
    form.get_by_label("Question").fill("Is it polite?")
    expect(rewards.locator(".live .wait")).to_have_text("A judge is asked only when you press Try.", timeout=LIVE_FOR)
    expect(rewards.locator(".network input")).to_be_checked()


def test_a_function_that_is_not_there_is_said_with_what_there_is_to_do(rewards: Page) -> None:
    rewards.goto(f"{rewards.url.split('?')[0]}?name=nix")
    ready(rewards)
    welcome = rewards.locator(".welcome")
    expect(welcome.get_by_role("heading")).to_have_text("There is no function “nix”")
    expect(welcome.get_by_role("button")).to_have_count(3)
    picture(rewards, "rewards-missing")
    rewards.goto(f"{rewards.url.split('?')[0]}?name=x")
    ready(rewards)
    expect(welcome.get_by_role("button")).to_have_count(3)  # what has the letter, too, is not near it
    rewards.goto(f"{rewards.url.split('?')[0]}?name=corectness&x=1")
    rewards.goto(f"{rewards.url.split('?')[0]}?draft=nix")
    ready(rewards)
    expect(welcome.get_by_role("heading")).to_have_text("This draft is not in this browser")
    rewards.set_viewport_size({"width": 390, "height": 844})
    expect(welcome.get_by_role("heading")).to_be_in_viewport()  # before the list of what there is
    rewards.set_viewport_size({"width": 1440, "height": 900})
    rewards.goto(f"{rewards.url.split('?')[0]}?name=format_2")
    ready(rewards)
    welcome.get_by_role("button", name="format", exact=True).click()
    expect(rewards.locator(".writing .title")).to_have_text("format")
    expect(welcome).to_be_hidden()


def test_a_function_that_is_not_ready_says_why_it_cannot_be_used(rewards: Page) -> None:
    use = rewards.get_by_role("button", name="Save and use in a new run")
    form = build(rewards)
    for button in (use, rewards.get_by_role("button", name="Save", exact=True)):
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", "Add a block first.")
    do(rewards, "Try")
    said = "Add a block first. Choose one under “Add a block”."
    expect(rewards.locator(".view-try .go .wait")).to_have_text(said)
    form.locator(".kinds").get_by_role("button", name="Contains words").click()
    expect(use).to_have_attribute("title", "Complete the blocks first: what is missing is shown at each.")
    expect(use).to_be_disabled()
    form.locator(".blocks textarea").first.fill("so")
    expect(use).to_be_enabled()
    expect(use).to_have_attribute("title", re.compile("this is saved first"))
    begin(rewards, "def broken(completions, **kwargs):\n    return [\n")
    expect(rewards.locator(".found")).to_contain_text("line")
    use.click()
    expect(rewards.locator(".said-saved")).to_contain_text("first: ")
    assert library.newest_rewards() == []


def test_a_text_of_thirty_megabytes_is_refused_before_it_is_in_a_box(rewards: Page) -> None:
    paste = """(selector, size) => {
        const brought = new DataTransfer();
        brought.setData("text/plain", "x".repeat(size));
        const event = new ClipboardEvent("paste", {clipboardData: brought, bubbles: true, cancelable: true});
        return document.querySelector(selector).dispatchEvent(event);
    }"""
    paste = f"([selector, size]) => ({paste})(selector, size)"
    build(rewards, "Contains words")
    assert rewards.evaluate(paste, [".building textarea", 30 * 1024**2]) is False
    expect(rewards.locator(".trouble")).to_have_text(
        "This text is 30.0 MB: the limit here is 20 KB. Nothing was changed."
    )
    with rewards.expect_response(lambda reply: "component_server" in reply.url):
        # Another answer does not take away what is to be read.
        rewards.get_by_label("Data of").select_option(index=1)
    expect(rewards.locator(".trouble")).to_contain_text("Nothing was changed.")
    assert rewards.evaluate(paste, [".building textarea", 100]) is True
    rewards.locator(".building textarea").first.fill("fits")
    expect(rewards.locator(".trouble")).to_be_hidden()
    do(rewards, "Import")
    assert rewards.evaluate(paste, ["dialog.importing .paste", 30 * 1024**2]) is False
    expect(rewards.locator("dialog.importing .said")).to_contain_text("the limit here is 64 KB")
    expect(rewards.locator("dialog.importing .paste")).to_have_value("")
    assert rewards.evaluate(paste, [".ace textarea", 30 * 1024**2]) is False
