"""What blocks made opens as blocks again: elsewhere, from a file, after an edit by hand, or before it was complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from groupwise.storage.library.rewards import library
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import follows
from tests.browser.rewards_page import LIVE_FOR, SHORT, begin, build, do, open_emptied, ready, save, text_of, way, write
from tests.support.homes import wait_for


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards")


def saved_right_after_the_last_key(rewards: Page, form: Locator) -> None:
    """As “polite”, in the end."""
    name, button = form.locator("[name=name]"), rewards.get_by_role("button", name="Save", exact=True)
    for field, typed, kept in (
        (name, "Höflich", "hoeflich"),
        (name, "polite", "polite"),
        (form.locator("[name=sentence]"), "Polite and short.", "Polite and short."),
        (form.get_by_label("At most"), "41", "41"),
    ):
        field.fill(typed)
        button.click(force=True)  # also where it is off until what was typed is in the code
        wait_for("what was typed, in the library", lambda text=kept: rewards.wait_for_timeout(30) or is_saved(text))
        expect(button).to_have_attribute("aria-disabled", "true")  # the page knows it, too, and takes another click
        expect(button).to_be_disabled()
        expect(rewards.locator(".writing .state")).to_have_text(re.compile("^version"))
        expect(field).to_have_value(kept)
    lost = Held(rewards, "build_function")
    field.fill("43")
    button.click(force=True)
    wait_for("the blocks, on their way", lambda: rewards.wait_for_timeout(30) or lost.kept)
    lost.function = None
    for route in lost.kept:
        route.abort()
    expect(rewards.locator(".said-saved")).to_contain_text("The server did not take what you typed")
    expect(field).to_have_value("43")
    field.fill("41")
    expect(rewards.locator(".trouble")).to_be_hidden()


def is_saved(words: str) -> bool:
    return any(words in library.get_reward(one.name).code for one in library.newest_rewards())


def test_what_was_built_opens_as_blocks_again_here_in_another_browser_and_from_a_file(
    rewards: Page, chromium: Browser, tmp_path: Path
) -> None:
    form = build(rewards, "Right length", "Contains words")
    form.locator("textarea").first.fill("please")
    form.get_by_label("At most").fill("40")
    saved_right_after_the_last_key(rewards, form)
    for page in (rewards, chromium.new_context().new_page()):
        page.goto(f"{rewards.url.split('?')[0]}?name=polite")
        ready(page)
        assert [page.locator(".blocks li b").nth(n).inner_text() for n in (0, 1)] == ["Right length", "Contains words"]
        expect(page.locator("[name=sentence]")).to_have_value("Polite and short.")
        expect(page.get_by_label("At most")).to_have_value("41")
        expect(page.locator(".way-code")).to_be_hidden()
    page.context.close()
    with rewards.expect_download() as exported:
        do(rewards, "Export")
    file = tmp_path / "polite.py"
    file.write_bytes(Path(exported.value.path()).read_bytes())
    do(rewards, "Import")
    rewards.locator("dialog.importing .file").set_input_files(file)
    expect(rewards.locator("dialog.importing")).to_contain_text("Found polite.")
    rewards.locator("dialog.importing").get_by_role("button", name="Open in the editor").click()
    expect(rewards.locator(".blocks li")).to_have_count(2)
    expect(rewards.locator(".way-blocks")).to_be_visible()


def test_what_is_typed_while_an_earlier_text_is_on_its_way_can_be_saved_at_once(rewards: Page) -> None:
    form = build(rewards, "Right length")
    form.locator("[name=name]").fill("overtaken")
    field, button = form.get_by_label("At most"), rewards.get_by_role("button", name="Save", exact=True)
    field.fill("40")
    save(rewards)
    expect(button).to_have_attribute("aria-disabled", "true")
    held = Held(rewards, "build_function")
    field.fill("40")  # as it is saved
    wait_for("the blocks, on their way", lambda: rewards.wait_for_timeout(30) or held.kept)
    held.function, answer = None, held.kept[0].fetch()
    field.fill("41")
    with rewards.expect_response("**/component_server/"):
        held.kept[0].fulfill(response=answer)
    rewards.wait_for_timeout(20)
    expect(button).to_have_attribute("aria-disabled", "false", timeout=1)
    button.click(force=True)
    wait_for("what was typed, in the library", lambda: rewards.wait_for_timeout(30) or is_saved("<= 41"))


def test_code_edited_by_hand_goes_back_to_blocks_or_says_which_line_it_is(rewards: Page) -> None:
    build(rewards, "Right length")
    rewards.get_by_label("At most").fill("40")
    rewards.wait_for_function("ace.edit(document.querySelector('.ace')).getValue().includes('<= 40')")
    way(rewards, "Code")
    write(rewards, text_of(rewards).replace("<= 40", "<= 77"))
    way(rewards, "Blocks")
    expect(rewards.get_by_label("At most")).to_have_value("77")
    way(rewards, "Code")
    edited = text_of(rewards).replace("    return [", "    print(len(completions))\n    return [")
    write(rewards, edited)
    way(rewards, "Blocks")
    line = edited.split("\n").index("    print(len(completions))") + 1
    note = rewards.locator(".by-hand")
    expect(note).to_contain_text(f"Edited by hand: line {line}.")
    expect(rewards.locator(".building, .live").first).to_be_hidden()
    picture(rewards, "rewards-by-hand")
    note.get_by_role("button", name=f"Go to line {line}").click()
    write(rewards, edited.replace("    print(len(completions))\n", ""))
    way(rewards, "Blocks")
    expect(rewards.get_by_label("At most")).to_have_value("77")
    begin(rewards, SHORT)
    way(rewards, "Blocks")
    expect(note).to_contain_text("This function is written in Python, not made of blocks.")
    note.get_by_role("button", name="Build another one from blocks").click()
    expect(rewards.locator("[name=name]")).to_be_focused()


def test_blocks_that_are_not_complete_are_there_after_a_reload(rewards: Page) -> None:
    form = build(rewards, "Matches a pattern")
    form.locator("[name=name]").fill("numbered")
    form.get_by_label("Pattern", exact=True).fill("([0-9]+")
    expect(form.locator(".wrong")).to_contain_text("This is not a regular expression")
    expect(rewards.locator(".lists")).to_contain_text("numbered")
    rewards.wait_for_timeout(300)
    rewards.reload()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_contain_text("not saved")
    expect(form.get_by_label("Pattern", exact=True)).to_have_value("([0-9]+")
    expect(form.locator("[name=name]")).to_have_value("numbered")
    form.get_by_label("Pattern", exact=True).fill("([0-9]+)")
    matches = form.get_by_label("Example that matches")
    matches.fill("four")
    expect(form.locator(".wrong")).to_contain_text("does not match the example that should match")
    matches.fill("4")
    expect(form.locator(".wrong")).to_be_empty()
    save(rewards)
    assert 'matches_pattern("4") == 1.0' in library.get_reward("numbered").code


def test_from_new_run_a_function_of_its_own_is_begun_on_the_data_of_that_run(rewards: Page) -> None:
    build(rewards, "Right length").locator("[name=name]").fill("older")
    save(rewards)
    why, data = rewards.locator(".why-data"), rewards.locator("select.data")
    rewards.goto(f"{rewards.url.split('?')[0]}?name=older")
    ready(rewards)
    expect(why).to_have_text("(what it was built on)")
    do(rewards, "Build without code")
    expect(why).not_to_have_text("(what it was built on)")
    rewards.goto(rewards.url.replace("/rewards", "/new").split("?")[0])
    rewards.get_by_label("Steps", exact=True).fill("21")
    follows(rewards, "max_steps: 21")
    rewards.get_by_role("link", name="Write your own").click()
    ready(rewards)
    expect(rewards.locator(".blocks li")).to_have_count(0)
    expect(rewards.locator(".way-blocks")).to_be_visible()
    expect(data).to_have_value("new")
    expect(why).to_have_text("(what New run is set to)")
    rewards.locator(".kinds").get_by_role("button", name="Right length").click()
    alike = rewards.locator(".live .paid .alike")
    said = "All answers shown score 1, and so do wrong examples that Groupwise made, such as "
    expect(alike).to_contain_text(said, timeout=180_000)
    wrong = alike.locator("code").inner_text()
    shown = [box.input_value() for box in rewards.locator(".live textarea").all()]
    assert wrong and not any(wrong in one for one in shown), "the answer that is called wrong is one that is shown"
    expect(alike).to_contain_text("A run learns only from scores that differ.")
    picture(rewards, "rewards-all-alike")
    rewards.get_by_label("At most").fill("1")
    rewards.locator(".live textarea").first.fill("two words")
    expect(alike).to_have_count(0)
    rewards.goto(rewards.url.replace("/rewards", "/new").split("?")[0])
    rewards.locator("label", has_text="File").first.click()
    follows(rewards, "file:")  # and so the draft, which is kept as the server has answered
    wait_for("a draft without data", lambda: "file:" in str(rewards.evaluate("sessionStorage['groupwise:new:']")))
    rewards.goto(rewards.url.replace("/new", "/rewards").split("?")[0] + "?new=1")
    do(ready(rewards), "Build without code")
    expect(data).to_have_value("new")
    said = rewards.locator(".live .wait")
    expect(said).to_have_text("New run’s draft has no data yet. Choose it there, or use the quickstart’s rows.")
    expect(rewards.locator(".live.failed")).to_have_count(0)  # nothing is wrong
    expect(rewards.get_by_text("has no data yet")).to_have_count(1)
    expect(said.get_by_role("link")).to_have_attribute("href", "/new")
    picture(rewards, "rewards-draft-without-data")
    said.get_by_role("button").click()
    expect(data).to_have_value("preset:quickstart")
    expect(rewards.locator(".live .rows > section")).to_have_count(3)


def test_a_name_and_a_sentence_outlast_the_page_where_there_is_no_block_yet(rewards: Page) -> None:
    do(ready(rewards), "Build without code")
    form = rewards.locator(".building")
    expect(rewards.locator(".shelf")).not_to_contain_text("Not saved")
    form.locator("[name=name]").fill("only_a_name")
    form.locator("[name=sentence]").fill("Rewards neat sums.")
    expect(rewards.locator(".shelf")).to_contain_text("Not saved")
    expect(rewards.get_by_role("button", name="Save", exact=True)).to_have_attribute("title", "Add a block first.")
    rewards.goto(f"{rewards.url.split('?')[0]}")
    ready(rewards)
    rewards.locator(".shelf").get_by_role("button", name="only_a_name").first.click()
    expect(form.locator("[name=name]")).to_have_value("only_a_name")
    expect(form.locator("[name=sentence]")).to_have_value("Rewards neat sums.")
    rewards.reload()
    ready(rewards)
    expect(form.locator("[name=sentence]")).to_have_value("Rewards neat sums.")


def test_a_common_pattern_is_chosen_and_words_typed_as_a_pattern_are_told_of(rewards: Page) -> None:
    form = build(rewards, "Matches a pattern")
    pattern, common = form.get_by_label("Pattern", exact=True), form.locator("label.common select")
    note = form.locator(".alike-here")
    pattern.fill("endet mit einer Zahl")
    expect(note).to_contain_text("as it is, it matches only exactly these words", timeout=LIVE_FOR)
    picture(rewards, "rewards-words-as-pattern")
    common.select_option("ends with a number")
    expect(pattern).to_have_value(r"\d[.!]?\s*\Z")
    expect(form.locator(".means")).to_have_text("Earns where the text ends with a number.")
    expect(note).to_be_hidden(timeout=LIVE_FOR)
    assert no_sideways_scroll(rewards)
    picture(rewards, "rewards-common-pattern")
    save(rewards)
    rewards.reload()
    ready(rewards)
    expect(common.locator("option:checked")).to_have_text("ends with a number")
    pattern.fill(r"\d$")
    expect(common.locator("option:checked")).to_have_text("matches a pattern of your own")
    expect(form.locator(".means")).to_contain_text("the pattern “\\d$” matches somewhere")


def test_what_is_only_looked_at_as_blocks_stays_as_it_is_saved(rewards: Page) -> None:
    """Under a shorter name its first line would be laid out anew: that was a change that nobody had made."""
    form = build(rewards, "Right number", "Right length")
    form.locator("[name=name]").fill("right_number_and_short")
    form.get_by_label("At most").fill("40")
    save(rewards)
    do(rewards, "Rename")
    field = rewards.locator(".renaming input")
    field.fill("short")
    field.press("Enter")
    state = rewards.locator(".writing .state")
    expect(rewards.locator(".said-saved")).to_contain_text("Renamed from right_number_and_short")
    assert "def short(\n" in text_of(rewards), "not as the builder would lay it out"
    for _ in range(2):
        rewards.reload()
        ready(rewards)
        expect(rewards.locator(".blocks li")).to_have_count(2)
        expect(rewards.locator(".live .rows > section").first).to_be_visible()
        rewards.wait_for_timeout(400)  # a build would have written by now
        expect(state).to_have_text(re.compile("^version"))
        expect(rewards.locator(".writing .draft")).to_be_hidden()
    length = rewards.get_by_label("At most")
    length.fill("41")
    expect(state).to_have_text(re.compile("^changed since"))
    length.fill("40")
    expect(state).to_have_text(re.compile("^version"))
