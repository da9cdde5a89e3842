"""What New run says stays true when the form changes: what other data brought, an old answer, figures, marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.home import paths
from tests.browser.conftest import Held, bring, no_sideways_scroll, picture
from tests.browser.new_run_page import editor, follows, launch, show, write_yaml, yaml_of
from tests.browser.test_nothing_lost import choose
from tests.support.homes import wait_for

ROWS = "Frage;Antwort\n" + "".join(f"Was ist {n} + {n}?;{2 * n},0\n" for n in range(40))


@pytest.fixture
def with_file(new_run: Page) -> Iterator[Page]:
    """The page, with two German files of 40 rows in the home."""
    files = [paths.data_folder() / f"zahlen-{name}.csv" for name in ("anna", "bert")]
    for path in files:
        path.write_text(ROWS)
    new_run.reload()
    expect(new_run.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    yield new_run
    for path in files:
        path.unlink()


def take_file(page: Page) -> None:
    choose(page, "File")
    page.get_by_label("File in the home").select_option("file:zahlen-anna.csv")


def test_what_belonged_to_the_quickstarts_data_leaves_with_it(with_file: Page) -> None:
    page = with_file
    take_file(page)
    fitted = page.locator(".fitted")
    expect(fitted).to_contain_text(
        "Changed with the data: the run is called zahlen-anna; 4 rows are held out for evaluation.",
        timeout=180_000,
    )
    follows(page, "name: zahlen-anna")
    assert "holdout: 4\n" in yaml_of(page) and "limit:" not in yaml_of(page)
    assert yaml_of(page).startswith("name:"), "what the quickstart says of its own data"
    picture(page, "new-own-data")
    assert no_sideways_scroll(page)
    page.reload()  # and another file, a day later, is named again
    expect(page.get_by_label("Name", exact=True)).to_have_value("zahlen-anna")
    choose(page, "Hub dataset")  # none is chosen yet: no other data's name, nor what is said of that
    follows(page, "holdout: 16")
    assert "name: zahlen-anna" in yaml_of(page) and "# Quickstart" not in yaml_of(page)
    choose(page, "Built-in task")
    follows(page, "name: arithmetic-quickstart")
    follows(page, "holdout: 16")
    assert "limit: 2500" in yaml_of(page) and yaml_of(page).startswith("# Quickstart\n# A real GRPO run")
    take_file(page)
    follows(page, "name: zahlen-anna")
    page.reload()
    page.get_by_role("button", name="Start over").click()
    follows(page, "name: arithmetic-quickstart")
    write_top(page, "# mine")
    take_file(page)  # nothing of what was started over is in the way
    follows(page, "name: zahlen-anna")
    follows(page, "holdout: 4\n")
    assert yaml_of(page).startswith("# mine\nname:") and "limit:" not in yaml_of(page)
    for _ in range(10):
        before = yaml_of(page)
        if "source: task:" not in before:
            page.get_by_role("button", name="Undo").click()
            wait_for("the step before", lambda text=before: page.wait_for_timeout(30) or yaml_of(page) != text)
    expect(page.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    assert yaml_of(page).count("# Quickstart") == 1
    take_file(page)
    follows(page, "name: zahlen-anna")
    follows(page, "holdout: 4\n")
    expect(page.locator(".preview.asking")).to_have_count(0)  # until then what stands above still comes
    condition_drops_the_first_row(page)


def write_top(page: Page, comment: str) -> None:
    write_yaml(page, f"{comment}\n{yaml_of(page)}")
    show(page, "Form")
    expect(page.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)


def test_a_comment_on_the_quickstarts_data_that_was_deleted_stays_deleted(with_file: Page) -> None:
    """It was put on top of the text that a person had written, as soon as no file was chosen."""
    page = with_file
    take_file(page)
    follows(page, "name: zahlen-anna")
    own = "\n".join(line for line in yaml_of(page).splitlines() if not line.lstrip().startswith("#")) + "\n"
    write_yaml(page, own.replace("name: zahlen-anna", "name: mine"))
    show(page, "Form")
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")
    choose(page, "Hub dataset")
    follows(page, "source: hub:")
    page.wait_for_timeout(300)
    assert "#" not in yaml_of(page)


def condition_drops_the_first_row(page: Page) -> None:
    """The preview goes to the first row that is kept, but never from one that was chosen."""
    number, dropped = page.locator(".preview .row-number"), page.locator(".preview .kept")
    page.get_by_text("Which rows", exact=True).click()
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Operator of condition 1").select_option("contains")
    page.get_by_label("Value of condition 1").fill("Was ist 3")
    expect(number).to_have_value("4")
    expect(dropped).to_be_hidden()
    page.get_by_role("button", name="Next row").click()
    expect(number).to_have_value("5")
    expect(dropped).to_be_visible()


def test_what_a_person_typed_stays_with_other_data(with_file: Page) -> None:
    page = with_file
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_text("Which rows", exact=True).click()
    page.get_by_label("Held out", exact=True).fill("0.25")
    follows(page, "holdout: 0.25")
    (paths.data_folder() / "zahlen-anna.csv").write_text(ROWS * 65)  # more than the limit of what was there
    take_file(page)
    expect(page.locator(".fitted")).to_contain_text("Changed with the data: all its rows are used.", timeout=180_000)
    follows(page, "zahlen-anna")
    assert "name: mine" in yaml_of(page) and "holdout: 0.25" in yaml_of(page)
    page.get_by_role("button", name="Keep what was there").click()
    follows(page, "limit: 2500")
    expect(page.locator(".fitted")).to_be_hidden()
    for kind in ("Hub dataset", "Built-in task"):  # looked through, and back to what the form began with
        choose(page, kind)
    expect(page.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    page.wait_for_timeout(500)
    assert "name: mine" in yaml_of(page) and "holdout: 0.25" in yaml_of(page)


def test_few_rows_are_not_held_out_and_nothing_evaluates_until_there_are_more(with_file: Page) -> None:
    (paths.data_folder() / "five.csv").write_text("question,answer\n" + "".join(f"{n}+0?,{n}\n" for n in range(5)))
    with_file.reload()
    choose(with_file, "File")
    with_file.get_by_label("File in the home").select_option("file:five.csv")
    expect(with_file.locator(".fitted")).to_contain_text(
        "too few rows to hold some out, so nothing is evaluated", timeout=180_000
    )
    follows(with_file, "name: five")
    assert "holdout" not in yaml_of(with_file) and "eval_strategy" not in yaml_of(with_file)
    expect(with_file.locator(".verdict.blocking", has_text="held-out")).to_have_count(0)
    take_file(with_file)  # of which some can be held out: what was switched off comes back
    follows(with_file, "holdout: 4")
    assert "eval_strategy: steps" in yaml_of(with_file)


def test_what_is_set_of_a_file_comes_back_with_it(with_file: Page) -> None:
    """Its numbers' setting was gone, in silence, once another kind of data had been looked at."""
    page = with_file
    take_file(page)
    expect(page.locator(".fitted")).to_contain_text("the run is called zahlen-anna", timeout=180_000)
    follows(page, "name: zahlen-anna")
    columns = "source: file:zahlen-anna.csv\n  prompt_column: Frage\n  answer_column: Antwort\n  answer_numbers: comma"
    write_yaml(page, re.sub(r"source: \S*zahlen-anna.csv\S*", columns, yaml_of(page)))
    show(page, "Form")
    numbers = page.locator(".answer-numbers")
    expect(numbers).to_contain_text("Only the number is kept (decimal comma)", timeout=180_000)
    choose(page, "Built-in task")
    expect(page.locator(".fitted")).to_contain_text("; answers are used as they are written.", timeout=180_000)
    assert "answer_numbers" not in yaml_of(page)
    choose(page, "File")
    follows(page, "answer_numbers: comma")
    expect(numbers).to_contain_text("Only the number is kept (decimal comma)", timeout=180_000)
    # what was said of them goes once it is no longer so: “used as they are written” stood beside “only the number”
    page.get_by_label("File in the home").select_option("file:zahlen-bert.csv")
    expect(page.locator(".fitted")).to_contain_text("; answers are used as they are written.", timeout=180_000)
    numbers.get_by_role("button", name="Keep only the number").click()
    expect(numbers).to_contain_text("Only the number is kept (decimal comma)", timeout=180_000)
    expect(page.locator(".fitted")).not_to_contain_text("answers")
    expect(page.locator(".fitted")).to_contain_text("the run is called zahlen-bert")
    picture(page, "new-numbers-kept-again")


def test_how_many_rows_other_data_holds_out(bare_page: Page) -> None:
    bring(bare_page, "pages/new/data_names.js", "fittingHoldout")
    for before, rows, held in ((16, 4000, 16), (16, 40, 4), (16, 9, 0), (2, 10_000, 2)):
        assert bare_page.evaluate("([before, rows]) => fittingHoldout(before, rows)", [before, rows]) == held


def test_an_old_answer_of_launch_goes_when_it_is_no_longer_true(new_run: Page) -> None:
    note = new_run.locator(".launch-note")
    choose(new_run, "Hub dataset")
    expect(new_run.locator(".source > .said .blocking")).to_contain_text("Choose a dataset")
    launch(new_run)
    expect(note).to_contain_text("Not started yet. Choose a dataset")
    choose(new_run, "File")  # which is not chosen either, but that is another sentence
    expect(new_run.locator(".source > .said .blocking")).to_contain_text("Choose a file")
    expect(note).to_be_empty()
    new_run.get_by_label("Steps", exact=True).fill("61")
    launch(new_run)
    expect(note).to_contain_text("Not started yet. Choose a file")
    new_run.get_by_label("Steps", exact=True).fill("62")
    follows(new_run, "max_steps: 62")
    expect(note).to_contain_text("Not started yet. Choose a file")  # which is true still


def mark(page: Page, words: str) -> Locator:
    """The number of the line of the YAML that begins so."""
    lines = editor(page).input_value().split("\n")
    [at] = [n for n, line in enumerate(lines) if line.strip().startswith(words)]
    return page.locator(".gutter span").nth(at)


def test_each_line_has_the_mark_of_what_is_said_of_it(new_run: Page) -> None:
    show(new_run, "YAML")
    text = yaml_of(new_run).replace("id: starter", "id: nobody/nothing-like-it").replace("beta: 0.02", "beta: 0.0")
    text = text.replace("task:arithmetic", "hub:nobody/no-such-data")
    text = text.replace("name:", f"# {'long ' * 60}\nname:", 1)
    text = text.replace("  seed: 42", "  use_vllm: true\n  push_to_hub: true\n  num_generations_eval_: 1")
    write_yaml(new_run, text)
    expect(mark(new_run, "num_generations_eval_")).to_have_class("at blocking")
    expect(mark(new_run, "beta")).to_have_class("at advice")
    new_run.locator(".yaml .sheet").evaluate("sheet => sheet.scrollBy(9999, 0)")
    expect(mark(new_run, "beta")).to_be_in_viewport()
    beta = yaml_of(new_run).split("\n").index("  beta: 0.0")
    left_of = """(sheet, line) => {
        const number = sheet.querySelectorAll(".gutter span")[line];
        return number.getBoundingClientRect().x - sheet.getBoundingClientRect().x;
    }"""
    # In one look: the numbers are made anew at each answer of the checks.
    assert 0 <= new_run.locator(".yaml .sheet").evaluate(left_of, beta) < 60
    expect(mark(new_run, "use_vllm")).to_have_class("at blocking", timeout=180_000)
    expect(mark(new_run, "push_to_hub")).to_have_class(re.compile("at (blocking|warning)"))
    expect(mark(new_run, "source")).to_have_class("at blocking")
    expect(mark(new_run, "id: nobody")).to_have_class("at warning")
    for verdict in new_run.locator(".verdict:has(.path)").all():
        expect(verdict.locator(".path")).to_contain_text(", line ")
    picture(new_run, "new-marks")


def test_marks_of_a_text_that_another_took_the_place_of_are_old_until_it_was_looked_at(new_run: Page) -> None:
    show(new_run, "YAML")
    marks, said = new_run.locator(".gutter"), new_run.locator(".verdicts")
    write_yaml(new_run, "name: a\nrewards: [\n")
    expect(new_run.locator(".gutter .blocking")).to_have_count(1)
    expect(marks).to_have_class("gutter")
    held = Held(new_run, "edit_settings")
    write_yaml(new_run, "name: b\n\ndata: {\n")
    expect(new_run.locator(".launch-bar .count")).to_have_text("Checking…")
    expect(marks).to_have_class("gutter old")
    expect(said).to_have_class("verdicts old")
    held.release()
    expect(marks).to_have_class("gutter")
    expect(said).to_have_class("verdicts")


def test_behind_home_and_a_jump_the_beginning_of_a_line_stands_beside_its_number(new_run: Page) -> None:
    show(new_run, "YAML")
    write_yaml(new_run, f'# {"long " * 60}\nname: "slip {"and on " * 60}\nrewards: [{{name: format}}]\n')
    expect(mark(new_run, "name")).to_have_class("at blocking")
    sheet = new_run.locator(".yaml .sheet")

    def scrolled() -> float:
        return float(sheet.evaluate("sheet => sheet.scrollLeft"))

    def press_at_the_end(key: str) -> None:
        for one in ("Control+Home", "End"):
            editor(new_run).press(one)
        wait_for("the line's end", lambda: new_run.wait_for_timeout(30) or scrolled() > 100)
        editor(new_run).press(key)

    for key in ("Home", "Enter", "Control+Home"):
        press_at_the_end(key)
        wait_for(f"the line's beginning ({key})", lambda: new_run.wait_for_timeout(30) or scrolled() == 0)
    press_at_the_end("Shift+End")
    new_run.locator(".verdict .where").first.click()
    wait_for("the beginning", lambda: new_run.wait_for_timeout(30) or scrolled() == 0)


def test_figures_of_before_an_error_are_said_to_be_old(new_run: Page) -> None:
    happening, note = new_run.locator(".happening"), new_run.locator(".happening-note")
    expect(happening).to_contain_text("64 completions a step")
    show(new_run, "YAML")
    good = yaml_of(new_run)
    write_yaml(new_run, good + "training: [\n")
    expect(note).to_have_text("The YAML cannot be read: fix it first. This is what the run would have done before.")
    expect(happening).to_have_class("happening old")
    for button in ("Launch", "Try one step"):
        expect(new_run.get_by_role("button", name=button, exact=True)).to_have_class(re.compile("blocked"))
        show(new_run, "Form")
        new_run.get_by_role("button", name=button, exact=True).click()
        expect(editor(new_run)).to_be_visible()
        expect(new_run.locator(".launch-note")).to_contain_text("Not started yet.")
    expect(new_run.locator(".preflight .figures").first).to_have_class("figures old")
    write_yaml(new_run, good)
    expect(note).to_be_hidden()
    expect(happening).to_have_class("happening")
    for button in ("Launch", "Try one step"):
        expect(new_run.get_by_role("button", name=button, exact=True)).not_to_have_class(re.compile("blocked"))
    new_run.set_viewport_size({"width": 390, "height": 844})
    new_run.reload()
    expect(new_run.locator("#launch-count")).to_have_text("✓ No problems found")
    expect(note).to_be_hidden()  # which spoke of problems, as long as all this was out of sight


def test_the_columns_move_nothing_when_they_come(new_run: Page) -> None:
    """Where the fields below them are, before and after."""
    new_run.add_init_script(
        """const look = () => {
          const box = document.querySelector(".mapping .answers .field");
          if (box) (window.seen ??= new Set()).add(Math.round(box.getBoundingClientRect().top + scrollY));
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""
    )
    new_run.reload()
    expect(new_run.locator(".as-template .chips .chip").first).to_be_visible(timeout=180_000)
    tops = new_run.evaluate("[...window.seen]")
    drawn = new_run.evaluate(
        "Math.round(document.querySelector('.mapping .answers .field').getBoundingClientRect().top + scrollY)"
    )
    assert drawn in tops
    moved = new_run.evaluate("""() => {
      const chips = document.querySelector('.as-template .chips');
      const before = chips.offsetHeight;
      chips.replaceChildren(chips.firstElementChild);
      return before - chips.offsetHeight;
    }""")
    assert moved == 0


def test_what_stands_below_the_data_keeps_its_place_while_it_is_read(with_file: Page) -> None:
    """A button that moves as it is pressed is missed: the click was lost."""
    answers = Held(with_file, "read_answer")
    with_file.reload()
    waiting = with_file.locator(".preview.unread .wait")
    expect(waiting).to_have_text("Reading the data…")
    launch_button = with_file.get_by_role("button", name="Launch", exact=True)
    button = with_file.locator(".rewards").get_by_role("button", name="Add a reward")
    before = _place_of(button)
    answers.release()
    expect(with_file.locator(".preview .histogram .bars")).to_be_visible(timeout=180_000)
    expect(with_file.locator(".preview.unread")).to_have_count(0)
    assert abs(_place_of(button) - before) < 12
    choose(with_file, "File")
    follows(with_file, "source: file:")
    choose(with_file, "Built-in task")
    follows(with_file, "source: task:arithmetic")
    expect(with_file.locator(".preview .histogram .bars")).to_be_visible(timeout=180_000)
    high = _height_of(with_file.locator(".preview"))
    expect(launch_button).to_have_css("opacity", "1")
    answers = Held(with_file, "read_answer")
    write_yaml(with_file, re.sub(r"source: '?task:arithmetic'?", "source: gym:chain_sum", yaml_of(with_file)))
    show(with_file, "Form")
    expect(waiting).to_have_text("Reading the data…")
    expect(with_file.locator("#launch-count")).to_have_text("Reading the data…")
    expect(launch_button).to_have_css("opacity", "0.55")
    expect(launch_button).to_have_attribute("title", re.compile("The data is being read"))
    assert abs(_height_of(with_file.locator(".preview")) - high) < 2
    happening = with_file.locator(".preflight")
    expect(happening.locator(".happening-note")).to_have_text("Once the data is read, this says what the run will do.")
    # what was counted is of the data before; no figure goes by an assumed length that the next moment corrects
    expect(happening.locator(".happening")).to_have_text("")
    memory = happening.locator(".figures .figure", has_text="Memory")
    expect(memory).to_have_text("Memory…once the prompts are counted")
    expect(happening.locator(".figures")).to_have_class(re.compile(r"\bold\b"))
    picture(with_file, "new-other-data-is-read")
    answers.release()
    expect(happening.locator(".happening p").nth(1)).to_be_visible(timeout=180_000)
    expect(happening.locator(".figures")).not_to_have_class(re.compile(r"\bold\b"))
    expect(memory).to_contain_text(re.compile(r"\d (MB|GB)"), timeout=180_000)
    expect(launch_button).to_have_css("opacity", "1")


def test_launch_waits_for_newly_chosen_data_until_all_that_it_brings_is_read(with_file: Page) -> None:
    """What the data changes (the run's name, its rows) has it read again, which is no moment to look ready in between;
    and no other setting keeps Launch waiting."""
    page = with_file
    button, said = page.get_by_role("button", name="Launch", exact=True), page.locator("#launch-count")
    expect(button).to_have_css("opacity", "1", timeout=90_000)
    page.evaluate(
        """() => {
            const button = document.querySelector("[data-do=launch]");
            const said = document.querySelector("#launch-count");
            window.looked = [];
            const look = () => {
                if (said.textContent === "Reading the data…")
                    window.looked.push(button.matches(".waits, .blocked"));
            };
            new MutationObserver(look).observe(button.parentElement,
                { subtree: true, childList: true, characterData: true, attributes: true });
        }"""
    )
    choose(page, "File")
    files = page.get_by_label("File in the home")
    expect(files.locator("option[value='file:zahlen-anna.csv']")).to_be_attached()
    edits = Held(page, "edit_settings")
    files.select_option("file:zahlen-anna.csv")
    expect(button).to_have_css("opacity", "0.55")
    expect(said).to_have_text("Reading the data…")
    edits.release()
    follows(page, "holdout: 4")
    expect(said).not_to_have_text("Reading the data…", timeout=90_000)
    expect(button).not_to_have_class(re.compile(r"\bwaits\b"))
    assert page.evaluate("window.looked.length && window.looked.every(Boolean)")
    answers = Held(page, "read_answer")
    write_yaml(page, yaml_of(page).replace("holdout: 4\n", "holdout: 4\n  limit: 30\n"))
    show(page, "Form")
    expect(said).to_have_text("Reading the data…")
    expect(button).not_to_have_class(re.compile(r"\bwaits\b"))
    answers.release()


def test_a_corrected_file_of_the_same_name_is_read_as_the_one_before(with_file: Page, tmp_path: Path) -> None:
    take_file(with_file)
    follows(with_file, "name: zahlen-anna")
    write_yaml(with_file, re.sub(r"(zahlen-anna\.csv'?)", r"\1\n  skip_lines: 3", yaml_of(with_file)))
    show(with_file, "Form")
    expect(with_file.locator(".preview .of")).to_have_text("of 37", timeout=180_000)
    corrected = tmp_path / "zahlen-anna.csv"
    corrected.write_text(ROWS + "Frage mehr;7\n")
    with_file.locator("input[aria-label='Data file']").set_input_files(corrected)
    follows(with_file, "source: file:zahlen-anna-2.csv")
    expect(with_file.locator(".upload-note")).to_contain_text("is not used here. It is read as that was.")
    expect(with_file.locator(".preview .of")).to_have_text("of 38", timeout=180_000)
    assert "skip_lines: 3" in yaml_of(with_file)
    (paths.data_folder() / "zahlen-anna-2.csv").unlink()


def test_a_count_is_of_exactly_the_data_that_was_asked_about(new_run: Page) -> None:
    """“Start over” left the rows of another limit: problems that a healthy spec does not have, and Launch was grey."""
    page = new_run
    happening, said = page.locator(".preflight .happening"), page.locator(".verdict", has_text="rows are held out")
    count = page.locator(".preview .of")
    expect(count).to_have_text("of 2,500", timeout=180_000)
    write_yaml(page, "name: short\nmodel: {id: starter}\ndata: {limit: 20}\nrewards: correctness\n")
    expect(happening).to_contain_text("20 prompts", timeout=180_000)
    expect(count).to_have_text("of 20", timeout=180_000)
    expect(page.locator("#launch-count")).not_to_contain_text(re.compile("Reading|Checking"), timeout=180_000)
    page.reload()
    expect(happening).to_contain_text("20 prompts", timeout=180_000)
    expect(page.locator("#launch-count")).not_to_contain_text(re.compile("Reading|Checking"), timeout=180_000)
    answers = Held(page, "read_answer")
    page.get_by_role("button", name="Start over").click()
    expect(happening).to_contain_text("2,484 prompts", timeout=180_000)  # which a built-in task needs no answer for
    expect(said).to_have_count(0)
    expect(page.locator("#launch-count")).to_have_text("Reading the data…")
    show(page, "Form")
    for part in (".of", ".results"):  # nothing of the data before, drawn or not when the page came
        expect(page.locator(f".preview {part}", has_text=re.compile(r"\d")).locator("visible=true")).to_have_count(0)
    answers.release()
    expect(page.locator("#launch-count")).to_have_text("✓ No problems found", timeout=180_000)
    expect(count).to_have_text("of 2,500")
    expect(count).to_have_css("visibility", "visible")
    expect(happening).to_contain_text("2,484 prompts")
    page.get_by_text("Which rows", exact=True).click()
    for limit, trained in (("40", "24 prompts"), ("2500", "2,484 prompts")):
        page.get_by_label("Rows", exact=True).fill(limit)
        expect(happening).to_contain_text(trained, timeout=180_000)
        expect(page.locator("#launch-count")).not_to_contain_text(re.compile("Reading|Checking"), timeout=180_000)
        expect(happening).to_contain_text(trained)
    page.get_by_role("button", name="Undo").click()
    expect(happening).to_contain_text("24 prompts", timeout=180_000)
    page.wait_for_timeout(1500)
    expect(happening).to_contain_text("24 prompts")


def test_a_name_from_a_file_follows_it_also_where_the_next_one_cannot_be_read(with_file: Page) -> None:
    broken = paths.data_folder() / "broken.jsonl"
    broken.write_text('{"question": "1+1?", "answer": "2"}\nno\n')
    with_file.reload()
    take_file(with_file)
    follows(with_file, "name: zahlen-anna")
    with_file.get_by_label("File in the home").select_option("file:broken.jsonl")
    follows(with_file, "name: broken")
    with_file.get_by_label("Name", exact=True).fill("mine")
    follows(with_file, "name: mine")
    take_file(with_file)
    expect(with_file.locator(".preview .of")).to_have_text("of 40", timeout=180_000)
    assert "name: mine" in yaml_of(with_file)
    broken.unlink()


def test_another_way_of_reading_is_said_at_once_also_of_a_busy_server(with_file: Page) -> None:
    page = with_file
    take_file(page)
    follows(page, "name: zahlen-anna")
    expect(page.locator(".preview .of")).to_have_text("of 40", timeout=180_000)
    page.get_by_text("Change how it is read").click()
    answers = Held(page, "edit_settings")
    page.get_by_label("Encoding").select_option("mac-roman")
    expect(page.locator(".read-as")).to_have_class(re.compile("reread"))  # while the answer is held back
    expect(page.locator(".read-as [role=status]:visible")).to_have_text("Reading the data…")
    expect(page.locator(".preview .wait")).to_have_text("Reading the data…")
    expect(page.locator(".preview .body")).to_have_css("opacity", "0.45")
    answers.release()
    expect(page.locator(".read-as [role=status]:visible")).to_contain_text("Mac Roman", timeout=180_000)
    expect(page.locator(".reread")).to_have_count(0)
    expect(page.locator(".preview .wait")).to_be_hidden()


def _place_of(node: Locator) -> float:
    place: float = node.evaluate("node => node.getBoundingClientRect().y + scrollY")
    return place


def _height_of(node: Locator) -> float:
    height: float = node.evaluate("node => node.getBoundingClientRect().height")
    return height
