"""The editor of the Rewards page in a real browser: drafts, versions, hints, and what stays while one works."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.library.rewards import library
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.rewards_page import SHORT, begin, do, open_emptied, ready, save, source, text_of, try_it, write
from tests.browser.test_hostile_text import PAYLOADS, unharmed
from tests.support.homes import wait_for


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards")


def test_a_template_is_mended_where_lint_says_and_saved(rewards: Page) -> None:
    expect(rewards.locator(".lists")).to_contain_text("None yet.")
    do(rewards, "New")
    expect(rewards.locator("dialog.templates ul .take")).not_to_have_count(0)
    picture(rewards, "rewards-templates")
    expect(rewards.locator("dialog.templates").get_by_role("button", name="Build without code")).to_be_focused()
    rewards.locator("dialog.templates ul .take").nth(1).click()
    template = text_of(rewards)
    assert "def " in template and "**kwargs" in template
    expect(rewards.locator(".found .blocking")).to_have_count(0)
    write(rewards, SHORT.replace("most)", "mots)"))
    wrong = rewards.locator(".found .blocking")
    expect(wrong).to_contain_text("line 7")
    expect(wrong).to_contain_text("mots")
    expect(rewards.locator(".ace_gutter-cell.ace_error, .ace_gutter-cell .ace_error")).not_to_have_count(0)
    picture(rewards, "rewards-lint")
    write(rewards, SHORT)
    expect(wrong).to_have_count(0)
    version = save(rewards)
    assert library.get_reward("short").hash.startswith(version)
    expect(rewards.locator(".shelf .take", has=rewards.locator("b", has_text=re.compile("^short$")))).to_have_attribute(
        "aria-current", "true"
    )
    rewards.reload()
    ready(rewards)
    assert text_of(rewards) == SHORT and "name=short" in rewards.url


def test_what_is_typed_and_not_saved_is_there_after_a_reload(rewards: Page) -> None:
    begin(rewards, SHORT)
    rewards.reload()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_contain_text("not saved")
    assert text_of(rewards) == SHORT
    rewards.locator(".ace_content").click()
    rewards.keyboard.press("Control+s")
    expect(rewards.locator(".said-saved")).to_contain_text("Saved as version")
    write(rewards, SHORT.replace("20", "30"))
    rewards.reload()
    ready(rewards)
    assert text_of(rewards) == SHORT.replace("20", "30")
    key = "groupwise:rewards:draft:name:short"
    draft = rewards.evaluate("key => JSON.parse(localStorage.getItem(key))", key)
    older = {**draft, "at": draft["at"] - 600_000}
    rewards.evaluate("([key, draft]) => localStorage.setItem(key, JSON.stringify(draft))", [key, older])
    new_run = re.sub(r"/rewards.*", "/new", rewards.url)
    rewards.goto(new_run)
    rewards.get_by_role("link", name="Rewards").first.click()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_contain_text("Draft from 10 min ago restored")
    expect(rewards).to_have_url(re.compile("name=short"))
    rewards.go_back()  # what the page opened by itself is no stop on the way back
    expect(rewards).to_have_url(new_run)
    rewards.go_forward()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_contain_text("Draft from 10 min ago restored")
    do(rewards, "Discard it")
    assert text_of(rewards) == SHORT


# Three minutes pass for the first of the shelf's ages, however often the shelf is drawn anew meanwhile.
MADE_OLDER = """() => {
    const age = document.querySelector(".shelf .age");
    if (age.textContent === "just now") age.dataset.then -= 3 * 60 * 1000;
    document.dispatchEvent(new Event("visibilitychange"));
    return age.textContent === "3 min ago";
}"""


def test_versions_are_kept_compared_and_opened(rewards: Page) -> None:
    begin(rewards, SHORT)
    first = save(rewards)
    write(rewards, SHORT.replace("20", "30"))
    second = save(rewards)
    assert first != second
    do(rewards, "Versions")
    dialog = rewards.locator("dialog.versions")
    expect(dialog).to_contain_text("No run has used it yet.")
    expect(dialog.get_by_role("button", name="Open").first).to_be_focused()
    dialog.get_by_role("button", name="What changed since").click()
    expect(dialog.locator(".line.removed")).to_contain_text("most: int = 20")
    expect(dialog.locator(".line.added")).to_contain_text("most: int = 30")
    picture(rewards, "rewards-versions")
    rewards.set_viewport_size({"width": 1280, "height": 400})  # Versions stands below the text, at the end
    dialog.locator("li", has_text=first).get_by_role("button", name="Open").click()
    expect(rewards.locator(".writing .state")).to_contain_text("an older one")
    expect(rewards.locator(".writing .state")).to_be_in_viewport(ratio=1)
    picture(rewards, "rewards-older-opened")
    assert text_of(rewards) == SHORT
    rewards.reload()
    ready(rewards)
    assert text_of(rewards) == SHORT


def test_what_is_typed_outlasts_what_another_tab_saves(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    other = rewards.context.new_page()
    other.goto(rewards.url)
    ready(other)
    write(rewards, SHORT.replace("20", "40"))
    write(other, SHORT.replace("20", "30"))
    theirs = save(other)
    rewards.reload()
    ready(rewards)
    assert text_of(rewards) == SHORT.replace("20", "40")
    expect(rewards.locator(".writing .draft")).to_contain_text("Another version has been saved since")
    picture(rewards, "rewards-draft-beside-another-version")
    other.reload()
    ready(other)
    assert text_of(other) == SHORT.replace("20", "40"), "what is typed of it and not saved is offered in any tab"
    other.close()
    save(rewards)
    assert library.get_reward("short").code == SHORT.replace("20", "40")
    assert any(one.hash.startswith(theirs) for one in library.versions("short")), "both are kept"
    rewards.reload()
    ready(rewards)
    expect(rewards.locator(".writing .draft")).to_be_hidden()


def test_a_version_that_another_tab_saved_is_not_written_over_unsaid(rewards: Page) -> None:
    begin(rewards, SHORT)
    save(rewards)
    theirs = library.save_reward("short", SHORT.replace("20", "30")).hash
    write(rewards, SHORT.replace("20", "40"))
    do(rewards, "Save")
    said = rewards.locator(".said-saved")
    expect(said).to_contain_text(
        f"Not saved: another version of “short” has been saved since, version {theirs[:8]}, saved just now."
    )
    picture(rewards, "rewards-newer")
    do(rewards, "What differs")
    dialog = rewards.locator("dialog.versions")
    expect(dialog.locator(".line.removed")).to_contain_text("most: int = 30")
    expect(dialog.locator(".line.added")).to_contain_text("most: int = 40")
    dialog.get_by_role("button", name="Close").click()
    do(rewards, "Open the other one")
    expect(rewards.locator(".writing .state")).to_have_text(f"version {theirs[:8]}")
    assert library.get_reward("short").hash == theirs
    mine = rewards.locator(".shelf .lists ul").first  # stays, under “Not saved”
    mine.get_by_role("button", name="short just now").click()
    rewards.wait_for_function("ace.edit(document.querySelector('.ace')).getValue().includes('= 40')")
    do(rewards, "Save")
    expect(said).to_contain_text("your library has another “short” already")
    do(rewards, "Save mine as the newest")
    expect(said).to_contain_text("Saved as version")
    assert library.get_reward("short").code == SHORT.replace("20", "40")
    expect(rewards.locator(".shelf .age").first).to_have_text("just now")
    rewards.wait_for_function(MADE_OLDER)


def test_the_data_s_columns_are_completed_and_asked_for_in_vain_is_said(rewards: Page) -> None:
    begin(rewards, "def f(completions, anser, **kwargs):\n    return [1.0 if c else 0.0 for c in completions]\n")
    expect(rewards.locator(".found")).to_contain_text("Did you mean", timeout=180_000)
    expect(rewards.locator(".chosen")).to_contain_text("This data has no column “anser”.")
    write(rewards, "def f(completions, ")
    rewards.locator(".ace_content").click()
    rewards.keyboard.press("Control+End")
    rewards.keyboard.type("ans", delay=40)
    popup = rewards.locator(".ace_autocomplete")
    expect(popup).to_contain_text("answer")
    expect(popup).to_contain_text("column")
    rewards.keyboard.press("Enter")
    rewards.wait_for_timeout(100)
    assert text_of(rewards) == "def f(completions, answer"


def test_hints_on_style_do_not_bury_errors_and_a_column_is_renamed_with_a_click(rewards: Page) -> None:
    first = "def given(completions, solution, **kwargs):\n    return [float(bool(s)) for s in solution]\n"
    begin(rewards, f"import os\n{first}def f(completions, solution, **kwargs):\n    return [float(s in c) for s, c in "
          "zip(solution, completions)]\n")  # fmt: skip
    problems = rewards.locator(".found > ul > li")
    expect(problems).to_contain_text("“given” takes “solution”; in your data it is “answer”.", timeout=180_000)
    rewards.locator(".which").select_option("f")
    expect(problems).to_contain_text("“f” takes “solution”; in your data it is “answer”.")
    expect(problems).to_have_count(1)
    hints = rewards.locator(".found .hints")
    expect(hints.locator("summary")).to_have_text("1 hint on style")
    expect(hints.locator("li")).to_be_hidden()
    do(rewards, "Use “answer”")
    expect(problems).to_have_count(0)
    assert "def f(completions, answer, **kwargs)" in text_of(rewards) and "zip(answer, completions)" in text_of(rewards)
    assert first in text_of(rewards), "the one that is not chosen stays as it is"
    rewards.locator(".ace_content").click()
    rewards.keyboard.press("Control+z")
    expect(problems).to_contain_text("“given” takes it, too.")
    do(rewards, "Use it in both functions")
    expect(problems).to_have_count(0)
    assert "solution" not in text_of(rewards)
    expect(rewards.locator(".which")).to_have_value("f")
    hints.locator("summary").click()
    expect(hints.locator("li")).to_contain_text("`os` imported but unused")


def test_enter_never_makes_another_word_of_what_was_typed(rewards: Page) -> None:
    begin(rewards, SHORT)
    rewards.locator(".ace_content").click()
    rewards.keyboard.press("Control+End")
    rewards.keyboard.type("import os", delay=40)
    rewards.wait_for_timeout(400)
    rewards.keyboard.press("Enter")
    assert text_of(rewards) == f"{SHORT}import os\n"


def test_the_data_and_the_rows_that_were_chosen_stay_chosen(rewards: Page) -> None:
    begin(rewards, SHORT)
    other = rewards.locator("select.data option").nth(1).get_attribute("value")
    rewards.locator("select.data").select_option(other)
    rewards.reload()
    ready(rewards)
    expect(rewards.locator("select.data")).to_have_value(str(other))
    rewards.locator("select.data").select_option("preset:quickstart")
    rewards.get_by_label("Which rows").select_option("Rows by number")
    numbers = rewards.get_by_label("Row numbers")
    numbers.fill("3, 1 7-x")
    do(rewards, "Try")
    expect(rewards.locator(".view-try .go .wait")).to_have_text(
        "Write the rows as numbers, such as 1, 5, 9-12; at most 64."
    )
    numbers.fill("3, 40-41")
    source(rewards, "Probes")
    heads = try_it(rewards).locator(".group .prompt-line span")
    expect(heads).to_have_text(["row 3 ", "row 40 ", "row 41 "])
    editor, results = (rewards.locator(each).bounding_box() for each in (".writing", ".results .group >> nth=0"))
    assert editor and results and results["x"] > editor["x"] + editor["width"]  # beside the code, not below


def test_scores_of_other_code_say_so_and_a_failure_is_no_clean_bill(rewards: Page) -> None:
    begin(rewards, SHORT)
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("40")
    results = try_it(rewards)
    expect(rewards.locator(".loopholes")).to_contain_text("An empty answer earns 1 from short")
    expect(results.get_by_label("Groups")).to_contain_text("1 with too few scores to compare")
    expect(rewards.locator(".view-try .outdated")).to_be_hidden()
    write(rewards, SHORT.replace("return [", "return 1 / 0, ["))
    expect(rewards.locator(".view-try .outdated")).to_contain_text("before your last change")
    rewards.keyboard.press("Control+Enter")
    expect(rewards.locator(".view-try .go .wait")).to_contain_text("0 of 1 completion scored", timeout=180_000)
    expect(rewards.locator(".view-try .outdated")).to_be_hidden()
    weight = rewards.get_by_label("Weight of short")
    weight.fill("1.234,5")
    do(rewards, "Try")
    wait = rewards.locator(".view-try .go .wait")
    expect(wait).to_have_text("The weight of short has to be a number, not “1.234,5”.")
    expect(weight).to_have_attribute("aria-invalid", "true")
    expect(rewards.locator(".view-try .outdated")).to_contain_text("scores of the weights before your last change")
    expect(rewards.locator(".view-try .go.failed")).to_have_count(1)
    weight.fill("1e308")
    do(rewards, "Try")
    expect(wait).to_have_text("The weight of short lies between −1,000,000 and 1,000,000.")
    weight.fill("1")
    write(rewards, SHORT.replace("return [", "return ["[:-1]))
    rewards.keyboard.press("Control+Enter")
    expect(rewards.locator(".view-try .go .wait")).to_contain_text("Line ")
    expect(rewards.locator(".view-try .outdated")).to_contain_text("before your last change")  # a failed try: still
    expect(rewards.locator(".view-try .results")).to_have_class(re.compile(r"\bold\b"))
    expect(rewards.locator(".view-try .go")).to_be_in_viewport()
    rewards.wait_for_load_state("networkidle")
    expect(rewards.locator(".loopholes")).to_be_hidden()
    failed = re.compile(r"\bfailed\b")
    expect(rewards.locator(".view-try .go")).to_have_class(failed)
    write(rewards, SHORT)
    held = Held(rewards, "ask_worker")
    rewards.keyboard.press("Control+Enter")
    expect(rewards.locator(".view-try .go")).not_to_have_class(failed)  # how far it is is no failure
    held.release()
    rewards.locator(".shelf .take", has_text="correctness").first.click()
    expect(results.locator("*")).to_have_count(0)


def test_the_keyboard_keeps_its_place(rewards: Page) -> None:
    rewards.keyboard.press("Tab")
    expect(rewards.get_by_role("link", name="Skip to content")).to_be_focused()
    rewards.keyboard.press("Enter")
    rewards.keyboard.press("Tab")
    expect(rewards.locator(".shelf").get_by_role("button", name="Build without code")).to_be_focused()
    do(rewards, "Build without code")
    form = rewards.locator(".building")
    expect(form.locator("[name=name]")).to_be_focused()
    form.locator("[name=name]").fill("")
    rewards.keyboard.type("polite answer")
    expect(form.locator(".name-written")).to_have_text(re.compile("^Its name in the code is polite_answer:"))
    for kind in ("Contains words", "Right length", "Valid JSON"):
        form.locator(".kinds").get_by_role("button", name=kind).click()
    form.get_by_label("Move block 3 up").press("Enter")
    expect(form.get_by_label("Move block 2 up")).to_be_focused()
    rewards.keyboard.press("Enter")
    expect(form.get_by_label("Move block 1 down")).to_be_focused()
    form.get_by_label("Remove block 3").press("Enter")
    expect(form.get_by_label("Remove block 2")).to_be_focused()


def test_what_is_begun_while_another_is_being_opened_stays(rewards: Page) -> None:
    first = Held(rewards, "show_function")
    rewards.goto(f"{rewards.url.split('?')[0]}?name=format")
    expect(rewards.locator(".lists")).to_contain_text("None yet.")
    begin(rewards, SHORT)
    first.release()
    ready(rewards)
    assert first.kept and text_of(rewards) == SHORT
    save(rewards)


def test_what_is_saved_before_the_data_s_columns_are_there_is_saved(rewards: Page) -> None:
    """They come while the text that Save waits for is looked at, and have it looked at again."""
    columns = Held(rewards, "read_answer")
    rewards.reload()
    ready(rewards)
    wait_for("the columns to be asked for", lambda: rewards.wait_for_timeout(30) or columns.kept)
    looks = Held(rewards, "analyse_code")
    begin(rewards, SHORT)
    do(rewards, "Save")
    wait_for("the look of Save", lambda: rewards.wait_for_timeout(400) or looks.kept)
    so_far = len(looks.kept)
    columns.release()
    wait_for("the look for the columns", lambda: rewards.wait_for_timeout(30) or len(looks.kept) > so_far)
    latest = looks.kept.pop()
    looks.release()
    expect(rewards.locator(".said-saved")).to_contain_text("Saved as version")
    latest.continue_()


def test_that_the_library_loads_is_said(rewards: Page) -> None:
    """On a busy machine there were three buttons for seconds, and nothing else."""
    held = Held(rewards, "open_rewards")
    rewards.reload()
    lists = rewards.locator(".shelf .lists")
    expect(lists).to_have_text("Loading the library…")
    held.release()
    expect(ready(rewards).locator(".shelf .lists")).not_to_contain_text("Loading")


def test_nothing_hostile_runs(rewards: Page) -> None:
    words = "\\n".join(payload.replace("\\", "\\\\").replace("'''", "") for payload in PAYLOADS[:5])
    doc = f"{PAYLOADS[0]} {PAYLOADS[2]}\n\n    Args:\n        most: {PAYLOADS[1]}\n    "
    code = f"def odd(completions, *, most=1, **kwargs):\n    '''{doc}'''\n"
    code += f"    print('''{words}''')\n    raise ValueError('''{words}''')\n"
    begin(rewards, code)
    save(rewards)
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("\n".join(PAYLOADS))
    results = try_it(rewards)
    expect(results).to_contain_text("window.pwned")
    rewards.locator(".ace_gutter-cell").nth(2).hover()
    assert unharmed(rewards)
    assert no_sideways_scroll(rewards)
    do(rewards, "Import")
    rewards.locator("dialog.importing .paste").fill(code + f"\n# {PAYLOADS[1]}\n%{PAYLOADS[0]}")
    rewards.wait_for_timeout(600)
    assert unharmed(rewards)


def test_it_fits_a_phone(rewards: Page) -> None:
    begin(rewards, SHORT)
    assert no_sideways_scroll(rewards)
