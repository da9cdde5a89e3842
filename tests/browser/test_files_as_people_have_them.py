"""From a file as Excel writes it to a run that learns from it: read, said, changed, its answers made numbers."""

from __future__ import annotations

import re
import time
from pathlib import Path

import openpyxl
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry, trash
from groupwise.storage.spec import spec
from tests.browser.conftest import OpenPage, bring, no_sideways_scroll, picture
from tests.browser.new_run_page import follows, launch, show, yaml_of
from tests.browser.test_nothing_lost import choose
from tests.support.homes import wait_for
from tests.support.runs import ended_run

ANSWERS = ["{n},0", "{n} Stück", "= {n}", "1.{n:03},5", "{n} €"]
HEADING = ["Nr.", "Frage (Übung)", "Lösung (€)", "Preis {netto}"]


def german_rows(count: int = 40) -> list[list[str]]:
    rows = [
        [str(n), f"Wie viel ist „{n} + {n}“; genau?", ANSWERS[n % 5].format(n=2 * n), "1,50 €"] for n in range(count)
    ]
    return [HEADING, *rows]


def german_csv(place: Path) -> Path:
    """As Excel in German saves “CSV (Trennzeichen-getrennt)”, with a title above the heading."""
    lines = [
        "Übungen der Klasse 3b;;;",
        ";;;",
        "Stand: März;;;",
        *(";".join(f'"{cell}"' if ";" in cell else cell for cell in row) for row in german_rows()),
    ]
    file = place / "Prüfung März.csv"
    file.write_bytes("".join(f"{line}\r\n" for line in lines).encode("cp1252"))
    return file


def german_workbook(place: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Deckblatt"
    book.active.append(["Übungen der Klasse 3b"])
    book.active.append(["nur zur Ansicht"])
    notes = book.create_sheet("Notizen")
    for row in (["Wer", "Was"], ["Frau Kurz", "prüft"]):
        notes.append(row)
    sheet = book.create_sheet("Aufgaben")
    for row in german_rows():
        sheet.append(row)
    for cell in sheet["C"]:
        cell.data_type = "s"  # “= 4” is an answer, no formula
    book.save(file := place / "Aufgaben.xlsx")
    return file


def upload(page: Page, file: Path) -> None:
    page.locator("label", has_text="File").first.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(file)
    if file.suffix != ".docx":  # the first answer of a worker that has just begun takes a while on a busy machine
        expect(page.locator(".read-as")).to_contain_text(" row", timeout=180_000)


def test_a_preview_without_a_prompt_says_which_setting_is_missing(new_run: Page, tmp_path: Path) -> None:
    (file := tmp_path / "sums.csv").write_text("prompt,answer\n" + "\n".join(f"{n}+{n}?,{2 * n}" for n in range(40)))
    upload(new_run, file)
    shown = new_run.locator(".preview .shown")
    expect(shown).to_have_text("No prompt yet: choose the column that holds it, or write a template.")
    picture(new_run, "new-no-prompt")
    new_run.locator("#f-data-prompt_template").fill("{sum}")
    expect(shown).to_have_text("No prompt yet: it comes once “Template” is fixed.")
    new_run.get_by_role("button", name="Use this mapping").click()
    expect(shown).to_contain_text("0+0?")


def test_of_a_wide_table_any_column_can_be_put_into_the_prompt(new_run: Page, tmp_path: Path) -> None:
    (file := tmp_path / "wide.csv").write_text(
        "".join(",".join(f"{cell}{n}" for n in range(1, 201)) + "\n" for cell in ("part", "one ", "two "))
    )
    upload(new_run, file)
    expect(new_run.locator(".read-as")).to_contain_text("2 rows; 30 of 200 columns shown")
    expect(new_run.locator(".as-template .chips .chip")).to_have_count(12)
    template = new_run.locator("#f-data-prompt_template")
    template.fill("")
    every = new_run.get_by_label("Insert a column")
    expect(every.locator("option").first).to_have_text("all 200 columns…")
    every.select_option("part150")
    expect(template).to_have_value("{part150}")
    expect(new_run.locator(".preview .shown")).to_contain_text("one 150")
    assert no_sideways_scroll(new_run)


def test_a_german_excel_file_becomes_a_launched_run_without_help(new_run: Page, tmp_path: Path) -> None:
    begun = time.monotonic()
    upload(new_run, german_csv(tmp_path))
    read_as = new_run.locator(".read-as")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:Prüfung März.csv")
    expect(read_as).to_contain_text("semicolons, Windows-1252, heading in line 4, 40 rows")
    expect(read_as.locator("th")).to_have_text(HEADING)
    expect(read_as.locator("tbody tr").first).to_contain_text("Wie viel ist „0 + 0“; genau?")
    mapping = new_run.get_by_role("button", name="Use this mapping")
    expect(mapping).to_be_visible()
    missing = new_run.locator("[data-path='data.answer_column'] option", has_text="not in this data")
    expect(missing).to_have_text("answer: not in this data")  # the default, which is no column of this file
    template = new_run.locator("[data-path='data.prompt_template']")

    def stands_above() -> bool:  # the button is drawn anew as more of the file is known
        suggested, first = mapping.bounding_box(), template.bounding_box()
        return bool(suggested and first and suggested["y"] < first["y"])

    wait_for("a suggestion above the fields that it fills", lambda: new_run.wait_for_timeout(30) or stands_above())
    mapping.click()
    follows(new_run, "answer_column: Lösung (€)")
    expect(missing).to_have_count(0)
    expect(new_run.locator(".preview .message.user")).to_contain_text("Wie viel ist")
    numbers = new_run.locator(".answer-numbers")
    expect(numbers).to_contain_text("None of the 40 answers is a plain number (for example “0,0”, “2 Stück”, “= 4”)")
    expect(numbers).to_contain_text("a completion that says 0 wrong")
    expect(numbers.locator("tbody tr").nth(1)).to_contain_text("2 Stück")
    picture(new_run, "new-german-file")
    assert no_sideways_scroll(new_run)
    numbers.get_by_role("button", name="Keep only the number (decimal comma)").click()
    follows(new_run, "answer_numbers: comma")
    expect(numbers).to_contain_text("Only the number is kept (decimal comma): all 40 answers change")
    new_run.get_by_label("Row", exact=True).fill("4")
    new_run.get_by_label("Row", exact=True).press("Enter")
    expect(new_run.locator(".preview .answer")).to_have_text("Answer: 1006.5 written “1.006,5”")
    picture(new_run, "new-german-numbers")
    new_run.get_by_label("Steps", exact=True).fill("2")
    expect(new_run.locator("#launch-count")).not_to_contain_text("to fix")
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = registry.list_runs()[0]
    asked = spec.parse_spec(run.folder.spec.read_text()).data
    assert (asked.separator, asked.quote, asked.encoding, asked.skip_lines) == ("semicolon", "double", "cp1252", 3)
    assert asked.answer_numbers == "comma"
    wait_for("its first step", lambda: registry.list_runs()[0].step >= 1)
    assert time.monotonic() - begun < 180
    assert 'SEPARATOR = ";"' in run.folder.script.read_text()


def test_another_sheet_is_chosen_where_the_one_that_is_read_cannot_be(new_run: Page, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Größer"
    for row in [["A", "A"], *([n, n] for n in range(40))]:
        book.active.append(row)
    book.create_sheet("Daten & <b>").append(["B", "B"])
    book["Daten & <b>"].append([1, 2])
    book.save(file := tmp_path / "sheets.xlsx")
    new_run.locator("label", has_text="File").first.click()
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(file)
    read_as = new_run.locator(".read-as")
    expect(read_as).to_contain_text("One of 2 sheets can be read.", timeout=180_000)
    expect(new_run.locator(".verdicts")).to_contain_text("the sheet “Größer” of sheets.xlsx has “A” twice")
    sheet = read_as.get_by_label("Sheet")
    expect(sheet.locator("option")).to_have_text(["find it", "Größer", "Daten & <b>"])
    picture(new_run, "new-sheet-unreadable")
    sheet.select_option("Daten & <b>")
    expect(new_run.locator(".verdicts")).to_contain_text("the sheet “Daten & <b>” of sheets.xlsx has “B” twice")
    expect(sheet.locator("option")).to_have_count(3)
    (bad := tmp_path / "bad.csv").write_text("a,b\n1,2,3\n")
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name=re.compile("file", re.I)).first.click()
    chooser.value.set_files(bad)
    expect(read_as).to_contain_text("not readable this way")
    expect(read_as.get_by_label("Separator").locator("option")).not_to_have_count(1)
    expect(read_as.get_by_label("Encoding").locator("option")).not_to_have_count(1)


def test_a_workbook_shows_its_sheets_and_a_wrong_choice_is_said(new_run: Page, tmp_path: Path) -> None:
    upload(new_run, german_workbook(tmp_path))
    read_as = new_run.locator(".read-as")
    expect(read_as).to_contain_text("the sheet “Aufgaben”, 40 rows")
    expect(read_as.locator("th")).to_have_text(HEADING)
    expect(read_as).to_contain_text("One of 3 sheets is read: the table with the most rows.")
    picture(new_run, "new-workbook")
    read_as.get_by_label("Sheet").select_option("Deckblatt")
    expect(read_as).to_contain_text("the sheet “Deckblatt”, 1 row")
    expect(read_as).to_contain_text("One of 3 sheets is read.")
    read_as.locator("summary").click()
    read_as.get_by_label("Lines to skip").fill("50")
    said = "The sheet “Deckblatt” of Aufgaben.xlsx has nothing below its first 50 lines. Skip fewer."
    expect(new_run.locator(".verdicts")).to_contain_text(said)
    picture(new_run, "new-workbook-wrong")
    new_run.locator(".verdicts").get_by_role("button", name=re.compile("^Detect the .*lines to skip")).click()
    expect(read_as).to_contain_text("the sheet “Aufgaben”, 40 rows")
    new_run.get_by_role("button", name="Use this mapping").click()
    follows(new_run, "answer_column: Lösung (€)")
    numbers = new_run.locator(".answer-numbers")
    numbers.get_by_role("button", name="Keep only the number (decimal comma)").click()
    follows(new_run, "answer_numbers: comma")
    new_run.locator("#f-data-prompt_template").fill("{Aufgabe}")
    wrong = new_run.locator(".verdict.blocking", has_text="data.prompt_template")
    expect(wrong).to_contain_text("There is no column “Aufgabe”")
    expect(new_run.locator(".checks.asking")).to_have_count(0)
    expect(wrong).to_have_count(1)  # what all rows lack for the same reason is not said beside it
    expect(wrong.get_by_role("button", name="Detect the")).to_have_count(0)
    wrong.get_by_role("button", name="Use “Frage (Übung)”").click()
    new_run.get_by_label("Steps", exact=True).fill("1")
    expect(new_run.locator("#launch-count")).not_to_contain_text("to fix")
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = registry.list_runs()[0]
    asked = spec.parse_spec(run.folder.spec.read_text()).data
    assert (asked.source, asked.sheet, asked.answer_numbers) == ("file:Aufgaben.xlsx", "Aufgaben", "comma")
    wait_for("its first step", lambda: registry.list_runs()[0].step >= 1)


def unsolved_workbook(place: Path) -> Path:
    """Of 120 rows, 35 have their answer as a formula that no spreadsheet has worked out."""
    book = openpyxl.Workbook()
    book.active.append(["Aufgabe", "Lösung"])
    for n in range(120):
        book.active.append([f"Was ist {n} + {n}?", f"={n}+{n}" if n < 35 else str(2 * n)])
    book.save(file := place / "Übungen Klasse 4.xlsx")
    return file


def warnings_are_counted_as_listed(page: Page) -> None:
    heading, listed = page.locator(".verdicts .of-level.warning"), page.locator(".verdicts .verdict.warning")
    expect(heading).to_have_count(1)
    expect(heading).to_contain_text(re.compile(rf"\b{listed.count()} warnings?\b"))


def test_what_a_file_brought_is_said_once_and_goes_with_it(new_run: Page, tmp_path: Path) -> None:
    page, verdicts, happening = new_run, new_run.locator(".verdicts"), new_run.locator(".happening")
    upload(page, unsolved_workbook(tmp_path))
    page.get_by_role("button", name="Use this mapping").click()
    expect(verdicts).to_contain_text("35 of 120 rows have no answer in “Lösung”")
    formulas = "In “Lösung” 35 of 120 cells hold formulas whose results the file does not have"
    expect(verdicts.locator(".verdict", has_text=formulas)).to_have_count(1)
    expect(page.locator(".source > .said p", has_text=formulas)).to_have_count(1)
    warnings_are_counted_as_listed(page)
    picture(page, "new-formulas")
    verdicts.get_by_role("button", name="Keep rows where Lösung is not empty").click()
    expect(verdicts).not_to_contain_text("have no answer in “Lösung”")
    expect(verdicts).not_to_contain_text(formulas)  # those rows are left out
    expect(page.locator(".fitted")).to_contain_text("12 rows are held out for evaluation.")
    for kind in ("Hub dataset", "File"):
        choose(page, kind)
        if kind == "Hub dataset":
            expect(happening).to_have_text("Choose the data first.")
            expect(page.locator(".right .figures .figure")).to_have_count(0)
            expect(page.locator(".preview")).to_contain_text("No data yet.")
            expect(page.get_by_label("Name", exact=True)).to_have_value("Übungen Klasse 4")  # no other data's
            picture(page, "new-no-data")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Übungen Klasse 4")
    expect(happening).to_contain_text(" of 73 prompts ")
    (paths.data_folder() / "Übungen Klasse 4.xlsx").unlink()
    launch(page)
    expect(page.locator(".launch-note")).to_contain_text("Not started yet. There is no file “Übungen Klasse 4.xlsx”")
    for rows in (".preview .body", ".read-as"):
        expect(page.locator(rows)).to_be_hidden()
    expect(happening).not_to_contain_text("prompts")
    picture(page, "new-file-gone")
    verdicts.get_by_role("button", name="Choose another file").click()
    expect(page.get_by_label("File in the home")).to_be_focused()
    follows(page, "source: file:Übungen Klasse 4.xlsx")  # as long as no other is chosen


def test_separator_and_encoding_can_be_chosen_and_what_looks_wrong_is_said(
    new_run: Page, open_page: OpenPage, tmp_path: Path
) -> None:
    file = tmp_path / "utf8.csv"
    file.write_text("Frage;Antwort\nWie heißt „süß“?;süß\nGröße?;groß\n", encoding="utf-8")
    upload(new_run, file)
    read_as = new_run.locator(".read-as")
    expect(read_as).to_contain_text("semicolons, UTF-8, 2 rows")
    read_as.locator("summary").click()
    read_as.get_by_label("Encoding").select_option("cp1252")
    expect(new_run.locator(".verdicts")).to_contain_text("Looks wrong: “")
    expect(read_as.locator("tbody")).to_contain_text("sÃ¼ÃŸ")
    read_as.get_by_label("Encoding").select_option("")
    expect(read_as.locator("tbody")).to_contain_text("süß")
    read_as.get_by_label("Separator").select_option("comma")
    expect(new_run.locator(".verdicts")).to_contain_text("only one column; it looks separated by semicolons")
    expect(read_as.locator("th")).to_have_count(1)
    show(new_run, "YAML")
    assert "separator: comma" in yaml_of(new_run)
    show(new_run, "Form")
    new_run.locator(".verdicts").get_by_role("button", name="Separate by semicolons").click()
    expect(read_as.locator("th")).to_have_count(2)
    show(new_run, "Script")
    expect(new_run.locator(".script pre")).to_contain_text('SEPARATOR = ";"')


def test_what_cannot_be_read_is_refused_with_what_to_do(new_run: Page, tmp_path: Path) -> None:
    file = tmp_path / "Aufgaben.docx"
    file.write_bytes(b"PK\x03\x04")
    upload(new_run, file)
    expect(new_run.locator(".source")).to_contain_text(
        "“Aufgaben.docx” is a text document, which holds no rows that can be read. Copy its table into a spreadsheet"
    )


def drop(page: Page, file: Path, onto: Locator) -> None:
    """Drag a file from outside the browser, and let it fall there."""
    onto.scroll_into_view_if_needed()
    box = onto.bounding_box()
    assert box is not None
    client = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + min(box["height"] / 2, 20)}
        client.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})
    client.detach()


def test_a_file_is_dropped_on_the_data_and_nowhere_else(new_run: Page, tmp_path: Path) -> None:
    data, large, huge = (
        new_run.locator(".panel", has=new_run.locator(".source")),
        tmp_path / "l.csv",
        tmp_path / "h.csv",
    )
    large.write_bytes(b"question,answer\n" + b"what is it,1\n" * (30 * 2**20 // 13))
    with huge.open("wb") as file:
        file.truncate(120 * 2**20)
    address, note = new_run.url, new_run.locator(".upload-note")
    drop(new_run, huge, data.locator("h2"))
    expect(note).to_have_text("“h.csv” is 120 MB; 100 MB is the limit. Copy it to the home's data folder instead; "
                              "then it is in the list.")  # fmt: skip
    assert "source: task:" in yaml_of(new_run)
    picture(new_run, "new-dropped-too-large")
    drop(new_run, large, new_run.get_by_role("heading", name="New run"))
    assert new_run.url == address and not (paths.data_folder() / "l.csv").exists()
    drop(new_run, large, data.locator("h2"))
    expect(note).to_have_text("l.csv is uploaded.", timeout=180_000)
    follows(new_run, "source: file:l.csv")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:l.csv")
    expect(new_run.locator(".read-as")).to_contain_text("commas, UTF-8", timeout=180_000)
    expect(note).to_have_text("l.csv is uploaded.")
    new_run.get_by_label("File in the home").select_option("file:")
    follows(new_run, "source: 'file:'")
    expect(note).not_to_contain_text("l.csv")  # it spoke of another file


def test_how_one_sheet_is_read_is_not_taken_for_another(new_run: Page, tmp_path: Path) -> None:
    """Lines to skip, accepted for one sheet, cut the heading and the first rows off the other."""
    book = openpyxl.Workbook()
    book.active.title = "Übungen"
    for row in (["Mathe 5b"], [], ["Aufgabe", "Lösung"], *([f"{n}+1", n + 1] for n in range(30))):
        book.active.append(row)
    book.create_sheet("Noten")
    for row in (["Name", "Note"], ["Aylin", 1], ["Jonas", 2], ["Mia", 3]):
        book["Noten"].append(row)
    book.save(file := tmp_path / "mathe.xlsx")
    upload(new_run, file)
    read_as, sheet = new_run.locator(".read-as"), new_run.locator(".read-as").get_by_label("Sheet")
    new_run.get_by_role("button", name=re.compile("^The heading is in line 3")).first.click()
    expect(read_as).to_contain_text("the sheet “Übungen”, heading in line 3, 30 rows")
    sheet.select_option("Noten")
    expect(read_as).to_contain_text("the sheet “Noten”, 3 rows")
    expect(read_as.locator("th")).to_have_text(["Name", "Note"])
    expect(read_as.locator("tbody tr").first).to_contain_text("Aylin")
    sheet.select_option("Übungen")  # what was accepted of it is there again
    expect(read_as).to_contain_text("the sheet “Übungen”, heading in line 3, 30 rows")
    follows(new_run, "skip_lines: 2")


def test_a_file_whose_rows_are_all_empty_says_just_that(new_run: Page, tmp_path: Path) -> None:
    empty = tmp_path / "leer.csv"
    empty.write_text("frage,antwort\n,\n,\n", encoding="utf-8")
    new_run.locator("label", has_text="File").first.click()
    new_run.locator("input[aria-label='Data file']").set_input_files(empty)
    verdict = new_run.locator(".verdict.blocking", has_text="leer.csv has a heading, and its 2 rows are empty.")
    expect(verdict.get_by_role("button", name="Choose another file")).to_be_visible(timeout=180_000)
    expect(new_run.locator(".verdict.blocking:visible")).to_have_count(1)
    picture(new_run, "new-empty-rows")


ODD = """question,answer
"a\x07b\u200bc",1
\ufeffd,2
"""


def test_a_file_of_a_heading_alone_leads_to_another_one(new_run: Page, tmp_path: Path) -> None:
    heading = tmp_path / "heading.csv"
    heading.write_text("question,answer\n")
    new_run.locator("label", has_text="File").first.click()
    new_run.locator("input[aria-label='Data file']").set_input_files(heading)
    verdict = new_run.locator(".verdict.blocking", has_text="heading.csv has only a heading and no rows.")
    ways = ["Choose another file", "It is a row: there is no heading"]  # the likely one first
    expect(verdict.locator(".fix")).to_have_text(ways, timeout=180_000)
    verdict.get_by_role("button", name="Choose another file").click()
    expect(new_run.get_by_label("File in the home")).to_be_focused()


def test_what_is_odd_in_a_file_is_said_beside_its_rows(new_run: Page, tmp_path: Path) -> None:
    odd, mixed, picture_file = tmp_path / "odd.csv", tmp_path / "mixed.csv", tmp_path / "photo.csv"
    odd.write_text(ODD, encoding="utf-8")
    upload(new_run, odd)
    expect(new_run.locator(".read-as tbody tr").first).to_contain_text("a⟨BEL⟩b⟨zero-width space⟩c")
    expect(new_run.locator(".preview .message.user")).to_have_text("usera⟨BEL⟩b⟨zero-width space⟩c")
    expect(new_run.locator(".verdicts")).to_contain_text("zero-width space in “question” of row 1")
    mixed.write_bytes("question,answer\nsüß?,1\n".encode() + "größer?,2\n".encode("cp1252"))
    upload(new_run, mixed)
    expect(new_run.locator(".read-as")).to_contain_text("UTF-8 and Windows-1252 mixed")
    expect(new_run.locator(".read-as tbody tr").nth(1)).to_contain_text("größer?")
    expect(new_run.locator(".verdicts")).to_contain_text("Line 3 of mixed.csv is not in UTF-8 as the rest is")
    picture(new_run, "new-two-encodings")
    assert no_sideways_scroll(new_run)
    empty = tmp_path / "empty.csv"
    empty.touch()
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(empty)
    expect(new_run.locator(".upload-note")).to_have_text("“empty.csv” is empty. mixed.csv stays chosen.")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:mixed.csv")
    picture(new_run, "new-upload-refused")
    picture_file.write_bytes(b"\x89PNG\r\n\x1a\n")
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(picture_file)
    note = new_run.locator(".upload-note")
    expect(note).to_contain_text("photo.csv cannot be read as CSV: it is a picture. Choose the")
    expect(note).to_contain_text("mixed.csv stays chosen.")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:mixed.csv")
    assert not (paths.data_folder() / "photo.csv").exists()
    wrong = tmp_path / "wrong.json"
    wrong.write_text("question,answer\nwhat?,1\nwho?,2\n")
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(wrong)
    expect(note).to_contain_text("wrong.json cannot be read as JSON. This looks like CSV. mixed.csv stays chosen.")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:mixed.csv")
    picture(new_run, "new-upload-of-another-kind")
    note.get_by_role("button", name="Read it as CSV").click()
    expect(note).to_have_text("wrong.csv is uploaded.")
    follows(new_run, "source: file:wrong.csv")
    new_run.get_by_label("File in the home").select_option("file:mixed.csv")
    expect(new_run.locator(".read-as")).to_contain_text("UTF-8 and Windows-1252 mixed")  # what moves the page is there
    expect(new_run.locator(".read-as tbody tr").nth(1)).to_contain_text("größer?")
    new_run.get_by_text("Which rows").click()
    held_out = new_run.get_by_label("Held out", exact=True)
    held_out.fill("2")
    said = new_run.locator(".verdict.blocking", has_text="2 rows are held out, but there are only 2")
    expect(said).to_have_count(1)
    expect(new_run.locator(".verdict.blocking", has_text="Each generation takes")).to_have_count(0)
    said.get_by_role("button", name="Hold out none").click()
    follows(new_run, "holdout: 0")


def test_a_long_wait_says_how_long_it_lasts(bare_page: Page) -> None:
    waits = [["Reading…", 4], ["Reading…", 12], ["It goes on by itself.", 61], ["Reading…", 130], ["", 9]]
    said = bring(bare_page, "ui/wait_words.js", "waitWords").evaluate(
        "waits => waits.map(([words, seconds]) => waitWords(words, 0, seconds * 1000))", waits
    )
    assert said == ["Reading…", "Reading… 12 s", "It goes on by itself. (1 min so far)", "Reading… 2 min", ""]


def test_a_file_is_read_as_the_run_read_it_that_used_it_last(new_run: Page) -> None:
    (paths.data_folder() / "Klasse5.csv").write_text("Aufgaben\nFrage;Lösung\n" + "1 + 1?;2,0\n2 + 1?;3,0\n" * 20)
    data = "{source: 'file:Klasse5.csv', skip_lines: 1, separator: semicolon, prompt_template: '{Frage}', "
    data += "answer_column: Lösung, answer_numbers: comma, filter: ['Frage contains 1 + 1', 'Lösung is not empty']}"
    text = f"name: Klasse 5\ndata: {data}\nrewards: [{{name: correctness}}]\n"
    run_id = ended_run(text, state=states.FINISHED, step=3)
    new_run.reload()
    new_run.locator("label", has_text="File").first.click()
    new_run.get_by_label("File in the home").select_option("file:Klasse5.csv")
    said = new_run.locator(".past-reading")
    expect(said).to_contain_text(
        "Read and mapped as in run “Klasse 5”. "
        "It used only the rows where Frage contains 1 + 1 and Lösung is not empty. Use only those"
    )
    for line in ("skip_lines: 1", "answer_column: Lösung", "answer_numbers: comma", "{Frage}"):
        follows(new_run, line)
    expect(new_run.locator(".preview .message.user")).to_contain_text("1 + 1?", timeout=180_000)
    expect(new_run.get_by_role("button", name="Use this mapping")).to_be_hidden()
    picture(new_run, "new-file-of-a-run")
    usual = new_run.locator("#f-rewards-1-parameters-decimal option").first
    expect(usual).to_have_text("default (comma, as “Numbers in answers” has it)")
    assert "filter" not in yaml_of(new_run)
    said.get_by_role("button", name="Use only those").click()
    follows(new_run, "- Lösung is not empty")
    expect(said).to_have_text("Read and mapped as in run “Klasse 5”. Read it as a new file")
    assert no_sideways_scroll(new_run)
    new_run.get_by_label("Numbers in answers").select_option("")
    expect(said).to_be_hidden()  # it is not read as there any more
    expect(usual).to_have_text("default (point)")
    (paths.data_folder() / "other.csv").write_text("question,answer\n1+1?,2\n")
    new_run.reload()
    choose_file = new_run.get_by_label("File in the home")
    choose_file.select_option("file:other.csv")
    follows(new_run, "source: file:other.csv")
    choose_file.select_option("file:Klasse5.csv")
    expect(said).to_contain_text("Read and mapped as you set it here before.")  # it outlives a reload
    choose_file.select_option("file:other.csv")  # with the mapping of the one before, which nobody set of it
    follows(new_run, "source: file:other.csv")
    expect(said).to_be_hidden()
    choose_file.select_option("file:Klasse5.csv")
    expect(said).to_contain_text("Read and mapped as you set it here before.")
    follows(new_run, "skip_lines: 1")
    assert "answer_numbers" not in yaml_of(new_run)
    said.get_by_role("button", name="Read it as a new file").click()
    expect(said).to_be_hidden()
    wait_for("nothing that the run set", lambda: new_run.wait_for_timeout(30) or "skip_lines" not in yaml_of(new_run))
    trash.delete_run(run_id)
