"""A function is built from blocks for the answers of one's own file, tried beside it, and used in a new run of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import openpyxl
import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.app.pages.new import presets
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import trash
from tests.browser.conftest import OpenPage, bring, no_sideways_scroll, picture
from tests.browser.new_run_page import follows, reward, show, write_yaml, yaml_of
from tests.browser.rewards_page import LIVE_FOR, build, do, expect_points, open_emptied, ready, save, source, try_it
from tests.support.made_runs import stopped_before_it_started
from tests.support.runs import ended_run

ROWS = "Frage;Lösung\n7,5 + 38,5?;46,0\n1234 + 0,5?;1.234,5\n2 mal 617?;1234,0\n"


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards")


def write_german_file() -> None:
    rows = "".join(f"Wie viel ist {n} + {n} genau?;{2 * n},0\r\n" for n in range(30))
    (paths.data_folder() / "aufgaben.csv").write_bytes(f"Frage;Lösung\r\n{rows}".encode("cp1252"))


def bar_of(page: Page, number: str) -> float:
    """How much of its track the bar beside this score fills."""
    cell = page.locator(".view-try .results .scored", has=page.locator(".num", has_text=number)).first
    track, bar = cell.locator(".b").bounding_box(), cell.locator(".b i").bounding_box()
    assert track is not None and bar is not None
    return bar["width"] / track["width"]


def test_blocks_for_a_german_file_are_tried_on_its_rows_and_used_in_a_run_of_it(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    for kept in library.newest_rewards():
        library.delete_reward(kept.name)
    write_german_file()
    page = ready(open_page(f"{shared_dashboard}/rewards"))
    form = build(page, "Right number")
    page.get_by_label("Data of").select_option("file:aufgaben.csv")
    said = page.locator(".given")
    expect(said).to_contain_text("the mapped column “Lösung”, e.g. 0,0", timeout=LIVE_FOR)
    expect(form.get_by_label("The right number is in")).to_contain_text("answer: “Lösung”")
    expect(form.get_by_label("Numbers are written")).to_have_value("comma")
    row = page.locator(".live .rows > section").nth(1)
    expect(row).to_contain_text("Wie viel ist 1 + 1 genau?", timeout=LIVE_FOR)
    row.locator("textarea").fill("Das sind 2,0.")
    expect(row.locator(".points:not(.old) .point b")).to_have_text("1", timeout=LIVE_FOR)
    row.locator("textarea").fill("Das sind 3,0.")
    expect(row.locator(".points:not(.old) .point b")).to_have_text("0", timeout=LIVE_FOR)
    picture(page, "rewards-german-blocks")
    assert no_sideways_scroll(page)
    form.locator(".kinds").get_by_role("button", name="Contains words").click()
    form.locator(".blocks li").nth(1).locator("textarea").first.fill("xyz")
    page.get_by_label("Weight of block 2").fill("2")
    source(page, "Typed")
    page.get_by_label("Completion 1", exact=True).fill("0,0")
    expect(try_it(page).locator(".group .scored .num").first).to_have_text("0.33")
    assert 0.3 < bar_of(page, "0.33") < 0.36  # a third is a third, also where nothing is higher
    picture(page, "rewards-german-tried")
    do(page, "Save and use in a new run")
    page.wait_for_url("**/new?*")
    show(page, "YAML")
    expect(page.locator(".view-yaml")).to_contain_text("my_reward", timeout=LIVE_FOR)
    text = yaml_of(page)
    assert "source: file:aufgaben.csv" in text and "answer_column: Lösung" in text and "{Frage}" in text
    show(page, "Form")
    picture(page, "new-german-from-rewards")
    page.evaluate("sessionStorage.removeItem('groupwise:rewards:data')")  # as in a tab of its own, beside a draft
    page.goto(f"{shared_dashboard}/rewards?name=my_reward")
    ready(page)
    expect(page.locator(".data option:checked")).to_have_text("aufgaben.csv")
    expect(page.locator(".why-data")).to_have_text("(what it was built on)")
    expect(row.locator("textarea")).to_have_value("Das sind 3,0.", timeout=LIVE_FOR)


def build_for_german_file(rewards: Page) -> Locator:
    """A function of one block, on the data of a draft of New run with a German file; what holds the block."""
    (paths.data_folder() / "Aufgaben.csv").write_text(ROWS, encoding="utf-8")
    data = "{source: 'file:Aufgaben.csv', prompt_column: Frage, answer_column: Lösung, answer_numbers: comma}"
    text = f"name: Rechnen\ndata: {data}\nrewards: [{{name: correctness}}]\n"
    address = rewards.url
    rewards.goto(address.replace("/rewards", "/new"))
    expect(rewards.get_by_label("Group size", exact=True)).to_have_value("8")
    write_yaml(rewards, text)
    rewards.wait_for_function("() => (sessionStorage.getItem('groupwise:new:') ?? '').includes('Aufgaben')")
    rewards.goto(address)
    ready(rewards)
    return build(rewards, "Right number")


def test_numbers_of_a_german_file_are_compared_by_their_value_wherever_they_stand(rewards: Page) -> None:
    form = build_for_german_file(rewards)
    expect(rewards.locator(".data option:checked")).to_have_text("Current draft")
    expect(rewards.locator(".why-data")).to_have_text("(what New run is set to)")
    column = form.get_by_label("The right number is in")
    expect(column.locator("option:checked")).to_have_text(
        "answer: “Lösung”, e.g. 46,0, compared as 46", timeout=LIVE_FOR
    )
    expect(rewards.locator(".live .row-of > p").first).to_have_text("answer: 46 (written 46,0)", timeout=LIVE_FOR)
    expect(form.get_by_label("Numbers are written")).to_have_value("comma")
    answers = rewards.locator(".live textarea")
    for said in ("<answer>46,0</answer>", "<answer>46 Stück</answer>", "Das macht 46"):
        answers.first.fill(said)
        expect_points(rewards, 0, "1", "1")
    answers.nth(1).fill("<answer>1.234,5</answer>")
    answers.nth(2).fill("<answer>1.234</answer>")
    expect_points(rewards, 1, "1", "1")
    expect_points(rewards, 2, "1", "1")
    column.select_option("Lösung")
    expect_points(rewards, 2, "1", "1")
    form.get_by_label("Name of the tag").fill("")
    expect(form.locator(".wrong")).to_have_text(
        "Type the tag's name, such as answer. If there is no tag, choose the last number of the text."
    )
    assert form.get_by_label("Name of the tag").get_attribute("placeholder") == ""
    form.get_by_label("Where the number stands").select_option("marker")
    expect(form.get_by_label("Name of the tag")).to_be_hidden()
    answers.first.fill("7,5 + 38,5 #### 46,0 Euro")
    expect_points(rewards, 0, "1", "1")


def test_a_reward_of_three_blocks_for_a_german_file_is_built_tried_saved_and_used_without_code(rewards: Page) -> None:
    form = build_for_german_file(rewards)
    expect(form.get_by_label("Numbers are written")).to_have_value("comma", timeout=LIVE_FOR)
    rewards.locator(".live textarea").first.fill("7,5 + 38,5 #### 46,0 Euro")
    form.get_by_label("Where the number stands").select_option("last")
    for kind in ("Right length", "Contains words"):
        form.locator(".kinds").get_by_role("button", name=kind).click()
    form.locator("textarea").first.fill("Euro")
    expect_points(rewards, 0, "1", "1", "1", "1")
    form.locator("[name=name]").fill("class")
    expect(form.locator(".of-name")).to_have_text("“class” is a word of Python itself. Choose another name.")
    expect_points(rewards, 0, "1", "1", "1", "1")  # a name keeps nothing from being scored
    rewards.keyboard.press("Control+s")
    expect(rewards.locator(".said-saved")).to_be_in_viewport()
    expect(rewards.locator(".said-saved")).to_contain_text("a word of Python")
    form.locator("[name=name]").fill("Höflich & richtig")
    expect(form.locator(".name-written")).to_contain_text("Its name in the code is hoeflich_richtig:")
    expect(form.locator("[name=name]")).to_have_value("Höflich & richtig")
    form.locator("[name=name]").fill("rechnen richtig")
    expect(form.locator(".name-written")).to_contain_text("Its name in the code is rechnen_richtig:")
    form.locator("[name=name]").blur()  # what is left says what it will be called when one comes back
    expect(form.locator("[name=name]")).to_have_value("rechnen_richtig")
    expect(form.locator(".name-written")).to_contain_text("Its name in the code is rechnen_richtig:")
    expect(form.locator(".of-name")).to_be_hidden()
    expect(rewards.locator(".way-code")).to_be_hidden()
    picture(rewards, "rewards-german")
    do(rewards, "Save and use in a new run")
    rewards.wait_for_url("**/new**")
    assert library.get_reward("rechnen_richtig").code
    expect(reward(rewards, "rechnen_richtig")).to_be_visible()


def workbook_with_a_title(name: str) -> None:
    book = openpyxl.Workbook()
    for row in (["Übungsaufgaben Mathematik Klasse 5", None], ["Frage", "Lösung"]):
        book.active.append(row)
    for n in range(30):
        book.active.append([f"Wie viel ist {n} + {n}?", f"{2 * n},0 Stück"])
    book.save(paths.data_folder() / name)


def open_file(open_page: OpenPage, dashboard: str, name: str) -> tuple[Page, Locator]:
    for kept in library.newest_rewards():
        library.delete_reward(kept.name)
    page = ready(open_page(f"{dashboard}/rewards"))
    form = build(page, "Right number")
    page.get_by_label("Data of").select_option(f"file:{name}")
    return page, form


@pytest.fixture
def run_of_a_workbook(shared_dashboard: str) -> Iterator[None]:
    workbook_with_a_title("Klasse 5.xlsx")
    data = "{source: 'file:Klasse 5.xlsx', skip_lines: 1, prompt_template: '{Frage}', answer_column: Lösung, "
    data += "answer_numbers: comma, filter: [Frage contains viel], limit: 25, columns: [Lösung]}"
    text = f"name: Klasse 5\ndata: {data}\ntraining: {{max_completion_length: 48}}\nrewards: [{{name: correctness}}]\n"
    run_id = ended_run(text, state=states.FINISHED, step=3)
    yield
    trash.delete_run(run_id)


def test_a_file_that_a_run_used_is_read_as_that_run_read_it(
    run_of_a_workbook: None, open_page: OpenPage, shared_dashboard: str
) -> None:
    page, form = open_file(open_page, shared_dashboard, "Klasse 5.xlsx")
    expect(page.locator(".live .rows")).to_contain_text("Wie viel ist 1 + 1?", timeout=LIVE_FOR)
    expect(page.locator(".why-data")).to_contain_text("(read as in run “Klasse 5”)")
    chosen = form.get_by_label("The right number is in").locator("option:checked")
    expect(chosen).to_contain_text("answer: “Lösung”")
    means = form.locator(".means")
    expect(means).to_contain_text("equals the number in the column “Lösung”, which rewards get as “answer”.")
    bring(page, "pages/rewards/source.js", "dataChosen")
    training = page.evaluate("JSON.parse(dataChosen().slice('text:'.length)).training")
    assert training == {"max_completion_length": 48}, "the model wrote up to 512 tokens, in that run 48"
    picture(page, "rewards-file-of-a-run")
    assert no_sideways_scroll(page)
    page.get_by_role("link", name="Change it in New run").click()
    words = "the run is called Klasse 5-2; 2 rows are held out for evaluation."
    expect(page.locator(".fitted")).to_contain_text(f"Changed with the data: {words}", timeout=LIVE_FOR)
    show(page, "YAML")
    follows(page, "skip_lines: 1")
    of_data = ("source: file:Klasse 5.xlsx", "answer_column: Lösung", "answer_numbers: comma")
    for line in (*of_data, "- Frage contains viel", "limit: 25\n", "holdout: 2\n", "- Lösung", "name: Klasse 5-2"):
        follows(page, line)


def is_told_in_two_lines(page: Page) -> None:
    """Its settings are behind the line on the data; Launch is in sight; and nobody changed anything."""
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value("Klasse 6-2", timeout=LIVE_FOR)
    told = page.locator(".arrival .told > .changes > li")
    expect(told.nth(0).locator("summary")).to_have_text(
        re.compile("^Data: “Klasse 6.xlsx”, as in Rewards · . settings$")
    )
    expect(told.nth(1)).to_have_text("Reward “lehrer_note”: added, weight 1")
    told.nth(0).locator("summary").click()
    expect(told.nth(0).locator("li", has_text="Template")).to_have_text("Template {question} → {Frage}")
    expect(page.locator(".arrival")).not_to_contain_text(re.compile(r'task:|file:|\["|changed since'))
    for height in (900, 757):
        page.set_viewport_size({"width": 1440, "height": height})
        page.evaluate("scrollTo(0, 0)")
        for what in (page.get_by_role("button", name="Launch", exact=True), page.locator(".launch-bar .count")):
            expect(what).to_be_in_viewport(ratio=1)
    picture(page, "new-told-of-the-data")
    page.set_viewport_size({"width": 390, "height": 844})
    assert no_sideways_scroll(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("Steps", exact=True).fill("61")
    expect(page.locator(".arrival")).to_contain_text("And with what you changed since.")


def test_how_a_file_is_read_stays_with_what_was_built_on_it_and_comes_into_a_new_run(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    workbook_with_a_title("Klasse 6.xlsx")
    stopped_before_it_started("Klasse 6", presets.quickstart_text())
    page, form = open_file(open_page, shared_dashboard, "Klasse 6.xlsx")
    wait, rows = page.locator(".live .wait"), page.locator(".live .rows")
    heading = wait.get_by_role("button", name="The heading is in line 2")
    expect(heading).to_be_visible(timeout=LIVE_FOR)
    expect(wait).not_to_contain_text("The prompt template is not set")
    expect(wait.get_by_role("link", name="Choose in New run how it is read")).to_be_visible()
    picture(page, "rewards-file-read-wrongly")
    page.set_viewport_size({"width": 390, "height": 900})
    assert heading.evaluate("one => one.offsetWidth <= one.closest('.wait').clientWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("button", name="Read it as a new file")).to_have_count(0)
    wait.get_by_role("button").first.click()

    def is_read() -> None:
        expect(rows).to_contain_text("Wie viel ist 1 + 1?", timeout=LIVE_FOR)
        chosen = form.get_by_label("The right number is in").locator("option:checked")
        expect(chosen).to_contain_text("answer: “Lösung”")
        expect(page.locator(".why-data")).to_contain_text("read as you set it")

    is_read()
    form.locator("[name=name]").fill("lehrer_note")
    save(page)
    page.reload()
    ready(page)
    is_read()
    picture(page, "rewards-file-read-as-set")
    do(page, "Use in a new run")
    page.wait_for_url("**/new?*")
    for line in ("source: file:Klasse 6.xlsx", "skip_lines: 1", "answer_column: Lösung", "{Frage}"):
        follows(page, line)
    is_told_in_two_lines(page)
    # a draft in which only the file is chosen
    text = "name: mine\ndata: {source: 'file:Klasse 6.xlsx'}\nrewards: [{name: format}]\n"
    write_yaml(page, text)
    page.wait_for_function("() => Object.values(sessionStorage).some((one) => one.includes('name: mine'))")
    page.goto(f"{shared_dashboard}/rewards?name=lehrer_note")
    ready(page)
    page.get_by_label("Data of").select_option("file:Klasse 6.xlsx")
    is_read()
    do(page, "Use in a new run")
    page.wait_for_url("**/new?*")
    other = page.locator(".handed .other-data")
    expect(other).to_have_text("Klasse 6.xlsx is read and mapped as on the Rewards page.")
    for line in ("name: mine", "skip_lines: 1", "answer_column: Lösung", "{Frage}", "lehrer_note"):
        follows(page, line)
    picture(page, "new-read-as-on-rewards")
    show(page, "Form")
    page.get_by_label("Answer column").select_option("Frage")
    expect(other).to_contain_text("On the Rewards page, Klasse 6.xlsx was read differently: Answer column.")
    other.get_by_role("button", name="Read it as there").click()
    follows(page, "answer_column: Lösung")
    expect(other).to_be_hidden()


def test_a_block_without_its_column_is_said_by_its_name_and_not_by_a_line(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    rows = "Frage;Herkunft;Kapitel\nWas ist 1 + 1?;Buch 2;Summen\nUnd 2 + 2?;Buch 4;Zahlen\n"
    (paths.data_folder() / "themen.csv").write_text(rows, encoding="utf-8")
    page, form = open_file(open_page, shared_dashboard, "themen.csv")
    form.locator("[name=name]").fill("lehrer_note")
    words = "“lehrer_note” compares with the answer, and this data has no answer: choose which column is the answer."
    wait = page.locator(".live .wait")
    expect(wait).to_contain_text(words, timeout=LIVE_FOR)
    do(page, "Save and use in a new run")
    said = page.locator(".said-saved")
    expect(said).to_contain_text(words)
    picture(page, "rewards-block-without-column")
    said.get_by_role("button", name="Choose the column").click()
    column = form.get_by_label("The right number is in")
    expect(column).to_be_focused()
    column.select_option("Herkunft")
    expect(wait).to_be_hidden(timeout=LIVE_FOR)


def test_of_a_file_whose_rows_are_empty_one_thing_is_said(open_page: OpenPage, shared_dashboard: str) -> None:
    (paths.data_folder() / "leer.csv").write_text("frage,antwort\n,\n,\n", encoding="utf-8")
    page, form = open_file(open_page, shared_dashboard, "leer.csv")
    words = "leer.csv has a heading, and its 2 rows are empty."
    expect(page.locator(".live .wait")).to_have_text(words, timeout=LIVE_FOR)
    expect(page.locator(".building")).to_contain_text(words)
    picture(page, "rewards-empty-rows")


def test_a_draft_whose_file_nobody_mapped_is_read_as_new_run_would_map_it(rewards: Page) -> None:
    (paths.data_folder() / "Klasse.csv").write_text("Aufgabe;Lösung\n2 + 2?;4\n3 + 3?;6\n4 + 4?;8\n", encoding="utf-8")
    text = "name: Klasse\ndata: {source: 'file:Klasse.csv'}\nrewards: [{name: correctness}]\n"
    address = rewards.url
    rewards.goto(address.replace("/rewards", "/new"))
    expect(rewards.get_by_label("Group size", exact=True)).to_have_value("8")
    write_yaml(rewards, text)
    rewards.wait_for_function("() => (sessionStorage.getItem('groupwise:new:') ?? '').includes('Klasse.csv')")
    rewards.goto(address)
    ready(rewards)
    build(rewards, "Right number")
    expect(rewards.locator(".mapping-data")).to_have_text(
        "Prompt from “Aufgabe”, answer from “Lösung”.", timeout=LIVE_FOR
    )
    expect_points(rewards, 0, "1", "1")
    expect(rewards.locator(".live .row-prompt").first).to_contain_text("2 + 2?")
    picture(rewards, "rewards-mapped-draft")
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("<answer>5</answer>")
    results = try_it(rewards)
    expect(results.locator(":scope > *").first).to_have_class("group few")
    expect(rewards.locator(".results + .loopholes")).to_have_count(1)
    rewards.get_by_label("Data of").select_option("preset:quickstart")
    expect(rewards.locator(".mapping-data")).to_be_hidden()
