"""The Completions tab as a person uses it: search, narrow by a bin, star, open the group, come back, export."""

from __future__ import annotations

import csv
import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.support.finding import searched_run
from tests.support.homes import wait_for
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def place(reading_dashboard: str) -> tuple[str, str, str]:
    """Address of a dashboard, and two runs in it: one that learns, one of odd completions."""
    return reading_dashboard, made_run("learns", 40), searched_run()


def told(page: Page, words: str) -> None:
    expect(page.locator(".gw-completions .told")).to_have_text(words)


def test_from_a_word_to_its_group_and_back_and_out_as_a_file(open_page: OpenPage, place: tuple[str, str, str]) -> None:
    address, run_id, _ = place
    page = open_page(f"{address}/run?id={run_id}&tab=completions")
    told(page, "1,280 completions")
    page.locator(".tabs [aria-selected=true]").focus()
    page.keyboard.press("/")
    page.keyboard.type("carry <ANSWER>4")
    expect(page).to_have_url(re.compile(r"q=carry\+%3CANSWER%3E4"))
    expect(page.locator(".hits mark", has_text="<answer>4").first).to_be_visible()
    picture(page, "completions")
    assert no_sideways_scroll(page)

    bars = page.locator(".gw-completions .bars button")
    before = bars.count()
    bars.first.click()
    expect(bars.first).to_have_attribute("aria-pressed", "true")
    assert bars.count() == before and before > 1
    bars.first.click()
    expect(page).not_to_have_url(re.compile("reward="))
    expect(bars.first).to_have_attribute("aria-pressed", "false")
    bars.first.click()
    page.get_by_role("button", name="Only reward 3.00").click()
    expect(page).to_have_url(re.compile(r"reward=3\.0\.\.3\.0"))
    expect(page.get_by_label("Reward from")).to_have_value("3.0")
    expect(page.locator(".hits .reward").filter(has_not_text="3.00")).to_have_count(0)

    first = page.locator(".hits .hit").first
    first.get_by_role("button", name="Star completion").click()
    expect(first.locator(".star")).to_have_attribute("aria-pressed", "true")
    words = first.locator("a.text").text_content()
    first.locator(".earned").click(position={"x": 150, "y": 5})  # beside the text, too
    expect(page.locator(".tabs [aria-selected=true]")).to_have_text("Groups")
    expect(page.locator(".gw-part-groups .comp pre", has_text=words).first).to_be_visible()
    page.go_back()
    expect(page.locator(".tabs [aria-selected=true]")).to_have_text("Completions")
    expect(page.locator(".gw-completions .words")).to_have_value("carry <ANSWER>4")
    page.reload()
    expect(page.locator(".hits .star[aria-pressed=true]")).to_have_count(1)

    page.get_by_label("starred").check()
    told(page, "1 completion matches")
    for kind in ("JSONL", "CSV"):
        page.locator(".export summary").click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name=kind).click()
        assert downloading.value.suggested_filename == f"{run_id}-completions.{kind.lower()}"
        with open(downloading.value.path(), encoding="utf-8", newline="") as file:
            found = [json.loads(line) for line in file] if kind == "JSONL" else list(csv.DictReader(file))
        assert [row["completion"] for row in found] == [words]
        page.keyboard.press("Escape")
    page.locator(".filters .clear").click()
    told(page, "1,280 completions")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".export summary").click()
    expect(page.locator(".export .menu")).to_be_in_viewport(ratio=0.99)


def test_what_is_found_nowhere_and_what_cannot_be_asked_say_so(
    open_page: OpenPage, place: tuple[str, str, str]
) -> None:
    address, _, run_id = place
    page = open_page(f"{address}/run?id={run_id}&tab=completions&q=zebra&length=..30&function=format:error")
    form = page.locator(".gw-completions form")
    none = page.locator(".gw-completions .none")
    expect(none).to_contain_text("Try another search word or other scores of format or a wider range of tokens.")
    expect(form.get_by_label("What it gave")).to_have_value("error")
    expect(form.get_by_label("Tokens to")).to_have_value("30")
    none.get_by_role("button", name="Clear filters").click()
    told(page, "32 completions")
    form.get_by_label("Search completions and prompts").fill(r"answer>[12]</\w+>")
    expect(none).to_contain_text("This looks like a regular expression")
    none.get_by_role("button", name="Search as a regular expression").click()
    expect(form.get_by_label("regex")).to_be_checked()
    told(page, "2 completions match")
    page.locator(".gw-completions .q label").click()
    form.get_by_label("Search completions and prompts").fill("(a+)+$")
    page.locator(".gw-completions .q label").click()
    expect(page.locator(".gw-completions .told")).to_contain_text("s for reading were over")
    problem, low = page.locator(".gw-completions .problem"), form.get_by_label("Reward from")
    page.goto(f"{address}/run?id={run_id}&sort=newest&tab=completions")
    told(page, "32 completions")
    expect(form.get_by_label("Order")).to_have_value("")
    low.fill("zwei")
    expect(problem).to_have_text("Reward, from: “zwei” is not a number.")
    expect(low).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Tokens from").fill("zehn")
    expect(problem).to_have_text("Reward, from: “zwei” is not a number. Tokens, from: “zehn” is not a number.")
    picture(page, "completions-two-no-numbers")
    form.get_by_label("From step").fill("-1")
    expect(problem).to_contain_text("Steps, from: “-1” is no step: type a whole number, 0 or more.")
    expect(form.get_by_label("From step")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("From step").fill("")
    for past in (".bins", ".listed"):  # what was there before is greyed, not gone
        expect(page.locator(f".gw-completions {past}")).to_have_css("opacity", "0.45")
    expect(page.locator(".hits .hit")).to_have_count(32)
    count = page.locator(".gw-completions .told")  # of what is not asked for there is none
    expect(count).to_have_text("The list from before this filter")
    form.get_by_label("Tokens from").fill("")
    low.fill("0.5..2")
    expect(count).to_contain_text("completion")
    expect(page.locator(".gw-completions .listed")).to_have_css("opacity", "1")
    expect(form.get_by_label("Reward to")).to_have_value("2")
    low.fill("3")
    form.get_by_label("Reward to").fill("1")
    for end in (low, form.get_by_label("Reward to")):
        expect(end).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Reward to").fill("")
    low.fill("0,5")
    expect(problem).to_have_text("Reward, from: “0,5” is not a number. Did you mean 0.5?")
    picture(page, "completions-no-number")
    form.get_by_label("Search completions and prompts").fill("answer")
    expect(page.locator(".gw-completions .result")).to_be_hidden()  # the list from before was of other words
    form.get_by_label("Search completions and prompts").fill("")
    expect(page.locator(".gw-completions .listed")).to_have_css("opacity", "0.45")
    page.get_by_role("button", name="Use 0.5").click()
    expect(problem).to_be_hidden()
    expect(low).to_have_value("0.5")
    expect(low).to_have_attribute("aria-invalid", "false")
    page.locator(".filters .clear").click()
    form.get_by_label("regex").check()
    form.get_by_label("Search completions and prompts").fill("(")
    expect(page.locator(".gw-completions .problem")).to_contain_text("not a regular expression")
    expect(page.locator(".gw-completions .listed")).to_have_css("opacity", "0.45")
    picture(page, "completions-no-pattern")
    form.get_by_label("Search completions and prompts").fill(r"answer>(\d+")
    offered = page.get_by_role("button", name="Search for these characters")
    expect(offered).to_be_visible()
    below = offered.evaluate(
        "node => document.querySelector('.gw-completions .result').getBoundingClientRect().top"
        " - node.getBoundingClientRect().bottom"
    )
    assert below >= 8, "the tallest bar touched it"
    offered.click()
    expect(form.get_by_label("regex")).not_to_be_checked()
    expect(none).to_contain_text("As a regular expression they cannot be read: the ( at character 8 is never closed.")
    expect(page.locator(".gw-completions .as-text")).to_be_hidden()
    page.locator(".gw-completions .q label").click()
    form.get_by_label("Search completions and prompts").fill("answer>[12]<")
    told(page, "2 completions match")
    expect(page.locator(".hits mark").first).to_have_text("answer>2<")
    form.get_by_label("Order").select_option("oldest first")
    expect(page.locator(".hits mark").first).to_have_text("answer>1<")
    form.get_by_label("Which prompts").select_option("both")
    form.get_by_label("Search completions and prompts").fill("")
    told(page, "40 completions")


def test_what_is_typed_while_the_first_answer_comes_stays(open_page: OpenPage, place: tuple[str, str, str]) -> None:
    address, run_id, _ = place
    page = open_page(f"{address}/run?id={run_id}&tab=completions")
    answer = Held(page, "find_completions")
    page.reload()
    wait_for("the first question", lambda: page.wait_for_timeout(20) or answer.kept)
    page.get_by_label("Reward from").fill("2.5")
    answer.release()
    page.get_by_label("Reward to").press_sequentially("3.000000000000", delay=100)
    expect(page.locator(".hits .hit")).not_to_have_count(0)
    expect(page.get_by_label("Reward from")).to_have_value("2.5")
    expect(page).to_have_url(re.compile(r"reward=2\.5\.\.3\.0"))
    expect(page.locator(".hits .reward").filter(has_not_text="3.00")).to_have_count(0)


def test_filters_folded_on_a_phone_are_there_when_the_window_widens(
    open_page: OpenPage, place: tuple[str, str, str]
) -> None:
    address, run_id, _ = place
    page = open_page("about:blank")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{address}/run?id={run_id}&tab=completions&steps=2..")
    fold = page.locator(".gw-completions .filters")
    expect(fold.locator("summary")).to_have_text("Filters (1)")
    fold.locator("summary").click()
    page.get_by_label("Reward function", exact=True).select_option("format")
    expect(page).to_have_url(re.compile("function=format"))
    expect(fold.locator("summary")).to_have_text("Filters (1)")
    most = page.get_by_label("Score to").bounding_box()
    of_reward = page.get_by_label("Reward to").bounding_box()
    assert most and of_reward and most["x"] + most["width"] <= 390
    assert abs(most["width"] - of_reward["width"]) <= 8
    fold.locator("summary").click()
    expect(page.get_by_label("Reward from")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.get_by_label("Reward from")).to_be_visible()
    expect(fold.get_by_role("button", name="Clear filters")).to_be_visible()
    heights = fold.locator("legend").evaluate_all("all => all.map((one) => one.getBoundingClientRect().y)")
    assert len(set(heights)) == 1
