"""Packed files, workbooks and spreadsheets are read as people see them; hostile and damaged files are sentences."""

from __future__ import annotations

import codecs
import datetime
import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import datasets
import openpyxl
import pytest

from groupwise.storage.home import paths
from groupwise.storage.registry.messages.preview import PreviewQuestion
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.storage.spec.words.problem import ADVICE
from groupwise.worker.data import data_checks, preview, read_as
from groupwise.worker.data.files import file_reading, plain_file, workbook
from groupwise.worker.data.files.data_error import DataError
from tests.support.data_files import opened, put, rows_of, shown


# ---- packed, lists, workbooks ----
def test_packed_text_and_lists_are_read(registry_home: Path) -> None:
    put("a.csv.gz", gzip.compress("ä;b\n1;2\n".encode("cp1252")))
    assert rows_of("a.csv.gz") == [["ä", "b"], ["1", "2"]]
    entries = [{"q": "a\nb", "n": 12345678901234567}, {"q": "“c”", "n": 2}]
    for name, content in (("l.json", json.dumps(entries, indent=2)), ("m.jsonl", json.dumps(entries))):
        put(name, content)
        assert list(opened(name).rows()) == entries
        assert opened(name).row(1) == (entries[1], True)
    put("l.json.gz", gzip.compress(json.dumps(entries).encode("utf-16")))
    assert list(opened("l.json.gz").rows()) == entries
    put("lines.json", '{"q": "a"}\n{"q": "b"}\n')
    assert list(opened("lines.json").rows()) == [{"q": "a"}, {"q": "b"}]


def book(name: str, **sheets: list[list[Any]]) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(paths.data_folder() / name)
    return made


def test_cells_that_a_spreadsheet_shows_otherwise_are_said_where_they_are_used(registry_home: Path) -> None:
    rows = [["Frage", "Anteil", "Uhr"], ["Wie viel?", 0.025, datetime.time(15, 30)], ["Und nun?", 0.5, 7]]
    made = book("shown.xlsx", Blatt=rows)
    made["Blatt"]["B2"].number_format = "0.0%"
    made["Blatt"]["B3"].number_format = '0.0"%"'  # which is no per cent, only its sign
    made.save(paths.data_folder() / "shown.xlsx")
    for answer, said in (
        ("Anteil", ["in “Anteil” 1 cell is read differently from what a spreadsheet shows: 2.5 % is 0.025 here."]),
        ("Uhr", ["in “Uhr” 1 cell is read differently from what a spreadsheet shows: 15:30 is 15:30:00 here."]),
        ("Frage", []),
    ):
        asked = DataSpec(source="file:shown.xlsx", prompt_column="Frage", answer_column=answer)
        found = [one.message for one in preview.preview(asked, ModelSpec(id="starter")).problems]
        notes = [one for one in found if "read differently" in one]
        assert [one.partition(" Write them as text")[0] for one in notes] == said


def test_cells_of_a_workbook_are_text_as_people_read_them(registry_home: Path) -> None:
    at = datetime.datetime(2024, 3, 1, 10, 30)
    book("a.xlsx", Cover=[["Title"]], Zwei=[
        ["Frage Nr.", "n", "wann", "ja"], ["ä\nb", 58.0, at, True], [None] * 4, ["007", 58.5, at.date(), False],
        [None, 10**15, at.time(), None], [0, -3, datetime.timedelta(hours=30, seconds=5), "x"],
    ])  # fmt: skip
    assert rows_of("a.xlsx") == [
        ["Frage Nr.", "n", "wann", "ja"], ["ä\nb", "58", "2024-03-01T10:30:00", "true"],
        ["007", "58.5", "2024-03-01", "false"], ["", "1000000000000000", "10:30:00", ""],
        ["0", "-3", "30:00:05", "x"],
    ]  # fmt: skip
    said = shown("a.xlsx", prompt_template="{n}", answer_column=None).read_as
    assert (said.words, said.sheets) == ("the sheet “Zwei”", ["Cover", "Zwei"])
    assert said.settings == {"data.sheet": "Zwei", "data.skip_lines": 0, "data.heading": "line"}
    assert [shown("a.xlsx", row=n, prompt_template="{n}", answer_column=None).note for n in (0, 1, 3)] == [
        "4 rows. Row 1 here is row 2 of the sheet “Zwei”.", "4 rows. Row 2 here is row 4 of the sheet “Zwei”.",
        "4 rows. Row 4 here is row 6 of the sheet “Zwei”.",
    ]  # fmt: skip
    with pytest.raises(DataError, match="has only a heading and no rows"):
        opened("a.xlsx", sheet="Cover")
    with pytest.raises(DataError, match="has no sheet “Drei”. It has “Cover”, “Zwei”"):
        opened("a.xlsx", sheet="Drei")
    with pytest.raises(DataError, match="the sheet “Cover” of a.xlsx has nothing below its first 5 lines. Skip fewer"):
        opened("a.xlsx", sheet="Cover", skip_lines=5)
    book("b.xlsx", A=[[None]], B=[["q"], ["x"]])
    with pytest.raises(DataError, match="the sheet “A” of b.xlsx is empty. Choose another"):
        opened("b.xlsx", sheet="A")


def test_of_several_tables_the_one_with_the_most_rows_is_read(registry_home: Path) -> None:
    table = [["q", "a"], *([f"{n} + {n}?", 2 * n] for n in range(5))]
    book("c.xlsx", Notes=[["who", "what"], ["Ann", "wrote it"]], List=[["x"]] * 9, Tasks=table, Old=table[:4])
    assert shown("c.xlsx", prompt_template="{q}", answer_column="a").read_as.settings["data.sheet"] == "Tasks"


ODS_SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (("office", "office"), ("table", "table"), ("text", "text"))
)


def spreadsheet(name: str, sheets: dict[str, list[list[str | float]]]) -> None:
    """A file of LibreOffice: a zip with the parts that ODF asks for, by hand."""

    def cell(value: str | float) -> str:
        said = (
            'office:value-type="string"'
            if isinstance(value, str)
            else f'office:value-type="float" office:value="{value}"'
        )
        return f"<table:table-cell {said}><text:p>{value}</text:p></table:table-cell>"

    def row(cells: list[str | float]) -> str:
        return f"<table:table-row>{''.join(map(cell, cells))}</table:table-row>"

    tables = "".join(
        f'<table:table table:name="{title}">{"".join(map(row, rows))}</table:table>' for title, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {ODS_SPACES} office:version="1.3">'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    entries = "".join(
        f'<m:file-entry m:full-path="{path}" m:media-type="{media}"/>'
        for path, media in (("/", kind), ("content.xml", "text/xml"))
    )
    with zipfile.ZipFile(paths.data_folder() / name, "w") as archive:
        archive.writestr("mimetype", kind)  # first, and not packed
        archive.writestr("content.xml", content, zipfile.ZIP_DEFLATED)
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}">{entries}</m:manifest>')


def test_a_spreadsheet_of_libreoffice_is_read(registry_home: Path) -> None:
    spreadsheet("a.ods", {"Deckblatt": [["Übungen"]], "Aufgaben": [["Frage", "Lösung"], ["2 + 2?", 4], ["1/2?", 0.5]]})
    assert rows_of("a.ods") == [["Frage", "Lösung"], ["2 + 2?", "4"], ["1/2?", "0.5"]]
    said = shown("a.ods", prompt_template="{Frage}", answer_column="Lösung").read_as
    assert said.words == "the sheet “Aufgaben”" and said.sheets == ["Deckblatt", "Aufgaben"]
    with pytest.raises(DataError, match="a.ods has no sheet “Drei”. It has “Deckblatt”, “Aufgaben”."):
        opened("a.ods", sheet="Drei")
    (paths.data_folder() / "b.ods").write_bytes((paths.data_folder() / "a.ods").read_bytes()[:200])
    with pytest.raises(DataError, match="b.ods cannot be read as a workbook. It may be damaged"):
        opened("b.ods")
    with zipfile.ZipFile(paths.data_folder() / "c.ods", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "x" * 1000)
    packed = (paths.data_folder() / "c.ods").read_bytes()
    (paths.data_folder() / "c.ods").write_bytes(packed[:38] + b"\xff" * 8 + packed[46:])  # the text no longer unpacks
    with pytest.raises(DataError, match="c.ods cannot be read as a workbook. It may be damaged"):
        opened("c.ods")


def test_a_first_line_that_is_a_row_is_noticed_and_taken_for_one(registry_home: Path) -> None:
    put("a.csv", "What is 1+1?,2\nWhat is 2+2?,4\nWhat is 3+3?,6\n")
    ((level, message, fixes),) = [
        (each.level, each.message, each.fixes) for each in shown("a.csv").problems if each.field == "data.heading"
    ]
    mapped = {"data.prompt_template": "{Column 1}", "data.answer_column": "Column 2"}
    assert (level, fixes[0].settings) == ("blocking", {"data.heading": "none", **mapped})
    assert [fix.label for fix in fixes] == [
        "It is a row: there is no heading",
        "Keep the first line as the heading, then choose the columns",
    ]
    assert len(shown("a.csv").problems) == 1 and shown("a.csv").guess == {}  # one cause, one problem
    chosen = shown("a.csv", prompt_template="{What is 1+1?}", answer_column=None).problems
    assert [(each.level, each.fixes[0].settings) for each in chosen] == [("warning", {"data.heading": "none"})]
    assert len(shown("a.csv", heading="line").problems) == 2
    assert message == "the first line looks like a row, but is taken for the heading: “What is 1+1?”, “2”."
    assert rows_of("a.csv", heading="none")[:2] == [["Column 1", "Column 2"], ["What is 1+1?", "2"]]
    found = shown("a.csv", heading="none")
    assert found.read_as.words == "commas, UTF-8, no heading" and found.rows.count == 3
    assert found.guess["data.prompt_template"] == "{Column 1}" and found.guess["data.answer_column"] == "Column 2"
    book("a.xlsx", A=[["q", "q"], [1, 2]])
    with pytest.raises(DataError, match="the heading of the sheet “A” of a.xlsx has “q” twice"):
        opened("a.xlsx")
    book("a.xlsx", A=[["Was ist 1 + 1?", 2], ["Was ist 2 + 2?\u200b", 4]])
    asked = DataSpec(
        source="file:a.xlsx", heading="none", prompt_template="{Column 1}", answer_column="Column 2", holdout=0
    )  # fmt: skip
    told = " ".join(each.message for each in data_checks.check_data(asked, ModelSpec(), 64, True).problems)
    assert "zero-width space in “Column 1” of row 2 of the sheet “A”" in told
    assert rows_of("a.xlsx", heading="none") == [
        ["Column 1", "Column 2"], ["Was ist 1 + 1?", "2"], ["Was ist 2 + 2?\u200b", "4"],
    ]  # fmt: skip
    put("one.txt", "What is 1+1?\n")
    with pytest.raises(DataError) as error:
        opened("one.txt")
    assert error.value.fixes[0].settings == {"data.heading": "none"}


def test_a_sheet_that_cannot_be_read_leaves_the_others_to_choose(registry_home: Path) -> None:
    names = ["Deckblatt", "Daten & <b>", "Größer"]
    data = [["Frage", "Antwort"], *([f"{n}?", n] for n in range(20))]
    larger = [["A", "A"], *([n, n] for n in range(40))]
    book("three.xlsx", **dict(zip(names, [[["Übungen"]], data, larger], strict=True)))
    assert shown("three.xlsx").read_as.settings["data.sheet"] == "Daten & <b>"  # the largest whose heading reads
    assert shown("three.xlsx", heading="none").read_as.settings["data.sheet"] == "Größer"

    def told(name: str, **said: Any) -> dict[str, Any]:
        asked = DataSpec(source=f"file:{name}", **said)
        return preview.answer_preview(PreviewQuestion(data=asked)).as_dict()

    heading = told("three.xlsx", sheet="Größer")
    assert heading["error"].startswith("the heading of the sheet “Größer” of three.xlsx has “A” twice")
    for answer in (heading, told("three.xlsx", sheet="gone"), told("three.xlsx", sheet="Deckblatt", skip_lines=9)):
        assert answer["error"] and answer["sheets"] == names
    book("bad.xlsx", One=[["A", "A"], [1, 2]], Two=[["B", "B"], [1, 2], [3, 4]])
    assert told("bad.xlsx")["sheets"] == ["One", "Two"] and "“Two”" in told("bad.xlsx")["error"]
    put("none.xlsx", "no workbook")
    assert told("none.xlsx")["sheets"] == []


@pytest.mark.parametrize("text", [
    "question,answer\nWhat is 1+1?,2\n", "Frage (was wird gefragt?),Lösung\nwas,2\n", "2023,2024\nten apples,x\n",
    "text,2\nWhat is 1 and 1?,two\n", "q.,a.\nWhat is it here now?,1\n",
])  # fmt: skip
def test_a_heading_is_not_taken_for_a_row(registry_home: Path, text: str) -> None:
    put("a.csv", text)
    assert [each.message for each in shown("a.csv").problems if each.field == "data.heading"] == []


def test_what_is_odd_in_a_workbook_is_said(registry_home: Path) -> None:
    made = book("a.xlsx", A=[["Klasse 3b", None, None, None], ["q", "a", None, None], ["x", "=1+1", "y", None]])
    made["A"].merge_cells("A1:C1")
    made.save(paths.data_folder() / "a.xlsx")
    notes = " ".join(opened("a.xlsx").notes)
    assert "columns without a heading; they are called Column 2, Column 3." in notes
    assert "cells of the heading of the sheet “A” of a.xlsx are merged" in notes
    one = "in “Column 2” 1 of 2 cells holds a formula whose result the file does not have, and is empty here. Open the"
    assert one in notes
    assert rows_of("a.xlsx", skip_lines=1) == [["q", "a", "Column 3"], ["x", "", "y"]]
    assert "merged" not in " ".join(opened("a.xlsx", skip_lines=1).notes)


def test_formulas_without_results_are_counted_by_the_columns_of_the_sheet_that_is_read(registry_home: Path) -> None:
    rows: list[list[Any]] = [[f"{n} + {n}?", f"={n}+{n}" if n < 35 else 2 * n] for n in range(120)]
    made = book("a.xlsx", Notizen=[["=1+1"]], Übungen=[["Aufgabe", "Lösung"], *rows])
    assert opened("a.xlsx").notes == [
        "in “Lösung” 35 of 120 cells hold formulas whose results the file does not have, and are empty here. "
        "Open the file in Excel or LibreOffice and save it again."
    ]
    made["Übungen"].append([None, None])
    made["Übungen"].append(["=A1", None])  # a row that reads as empty, and is one of them all the same
    made.save(paths.data_folder() / "b.xlsx")
    [note] = opened("b.xlsx").notes
    assert note.startswith("in “Lösung” 35 of 121 cells and in “Aufgabe” 1 of 121 cells hold formulas")
    assert "in “Column 2” 35 of 122 cells" in opened("b.xlsx", heading="none").notes[0]


def test_empty_cells_of_formulas_are_not_said_of_rows_that_the_filter_leaves_out(registry_home: Path) -> None:
    rows = [[f"{n} + {n}?", f"={n}+{n}" if n < 35 else 2 * n, n] for n in range(120)]
    book("a.xlsx", Übungen=[["Aufgabe", "Lösung", "Stufe"], *rows])
    table = opened("a.xlsx")

    def said(*wanted: str, answer: str | None = "Lösung") -> list[str]:
        asked = DataSpec(source="file:a.xlsx", prompt_column="Aufgabe", answer_column=answer, filter=list(wanted))
        return read_as.notes_of_used(table, asked)

    assert said() == said("Stufe > 3") == said("Lösung is empty") == said("broken") == table.notes != []
    assert said("Lösung is not empty") == said("Stufe > 3", "Lösung > 10") == said("Lösung > 10", answer=None) == []
    kept = ["Lösung is not empty"]
    asked = DataSpec(source="file:a.xlsx", prompt_column="Aufgabe", answer_column="Lösung", filter=kept)
    left_out = [one for one in read_as.note_problems(table, [], asked) if one.level == ADVICE]
    said_so = f"{table.notes[0]} Until then, the condition leaves these rows out."
    assert [one.message for one in left_out] == [said_so], "rows would be missing without a word"


def test_a_formula_that_came_to_an_empty_text_has_its_result(registry_home: Path) -> None:
    book("a.xlsx", A=[["q", "a"], ["x", '=IF(A2="x","",1)'], ["y", 2]])
    path = paths.data_folder() / "a.xlsx"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<c r="B2">', b'<c r="B2" t="str">')
    with zipfile.ZipFile(paths.data_folder() / "b.xlsx", "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    assert [len(opened(name).notes) for name in ("a.xlsx", "b.xlsx")] == [1, 0]


# ---- hostile ----
def test_what_unpacks_to_far_more_than_its_size_is_refused(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("bomb.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * (80 * 2**20), 1))
    killed = Path(datasets.config.HF_DATASETS_CACHE) / "groupwise" / ".123-abcd"
    killed.mkdir(parents=True)
    os.utime(killed, (0, 0))  # so long ago that no process can still be at it
    with pytest.raises(DataError, match="unpacks to more than 256 MB, which is out of proportion"):
        opened("bomb.csv.gz")
    # of this process and of the killed one: others may be at theirs
    assert not list(killed.parent.glob(f".{os.getpid()}-*")) and not killed.exists()
    book("a.xlsx", A=[["q"], ["x"]])
    monkeypatch.setattr(workbook, "UNPACKED", 1000)
    with pytest.raises(DataError, match="unpacks to more than 0 GB"):
        workbook.write_sheet(paths.data_folder() / "a.xlsx", paths.data_folder() / "t", "", 0)


def test_a_sheet_that_reaches_over_all_cells_is_refused_and_the_process_may_die(registry_home: Path) -> None:
    made = book("wide.xlsx", A=[["q", "a"], ["x", "y"]])
    made["A"].cell(1_048_576, 16_384).value = "far"
    made.save(paths.data_folder() / "wide.xlsx")
    with pytest.raises(DataError, match="too many to read|does not fit in memory"):
        opened("wide.xlsx")


def zipped(name: str) -> bytes:
    """What an office program writes, as far as its kind is known by: a zip archive with such a file."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, "")
    return sink.getvalue()


HOSTILE = [
    ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99)[:-9], "a.csv.gz is damaged: it cannot be unpacked"),
    ("a.csv.gz", b"a,b\n1,2\n", "it is no gzip file"),
    ("a.csv.gz", gzip.compress(bytes(1000)), "a.csv.gz holds zero bytes only: its content was lost"),
    ("a.xlsx", b"PK\x03\x04rubbish", "cannot be read as a workbook. It may be damaged, or need a password"),
    ("a.xlsx", b"\xd0\xcf\x11\xe0rest", "one that needs a password. Open it, and save it as .xlsx or .csv"),
    ("a.xls", b"\xd0\xcf\x11\xe0rest", "cannot be read as a workbook"),
    ("a.xls", b"<html><table>", "cannot be read as XLS: it is a web page. Open it, and save it as .xlsx"),
    ("a.csv", b"PK\x03\x04rest", "it is a zip archive. If it is an Excel workbook, let its name end in .xlsx"),
    ("a.csv", codecs.BOM_UTF32_LE + "a,b\n1,2".encode("utf-32-le"), "is in UTF-32. Save it as UTF-8 text"),
    ("a.json", b'[{"a": 1}, {"b"', "entry 2 is no whole JSON value, or the list is never closed"),
    ("a.json", b"[" + b'{"a":' * 50_000, "nested|never closed"),
    ("a.json", b'{"a": [1,\n2]}', "each line should be one whole object"),
    ("a.docx", b"x", "“a.docx” is a text document, which holds no rows that can be read. Copy its table into a spread"),
    ("a.exe", b"MZ", "“a.exe” is a program, which holds no rows that can be read. Choose the file that has the rows"),
    ("a.zip", b"PK", "“a.zip” is an archive, which holds no rows that can be read. Unpack it, and choose the data"),
    ("a.xyz", b"x", "“a.xyz” is of a kind that cannot be read. Save it as .xlsx or .csv"),
    ("rows", b"a,b\n1,2\n", "“rows” has no ending that says what it is. Let a table of text end in .csv"),
    ("p.csv", b"\x89PNG\r\n", "p.csv cannot be read as CSV: it is a picture. Choose the file that has the rows"),
    ("p.txt", b"GIF89a,b\n1,2", "p.txt cannot be read as TXT: it is a picture."),
    (
        "p.jsonl",
        b"%PDF-1.7",
        "p.jsonl cannot be read as JSON lines: it is a PDF document. Copy its table into a spreadsheet",
    ),
    ("w.csv", b"<!DOCTYPE html><html><table>", "w.csv cannot be read as CSV: it is a web page. Copy its table"),
    ("w.csv", zipped("word/document.xml"), "w.csv cannot be read as CSV: it is a text document. Copy its table"),
    (
        "w.csv",
        zipped("xl/workbook.xml"),
        "w.csv cannot be read as CSV: it is an Excel workbook. Let its name end in",
    ),
    ("w.xlsx", zipped("word/document.xml"), "w.xlsx cannot be read as XLSX: it is a text document. Copy its table"),
]


@pytest.mark.parametrize(("name", "content", "words"), HOSTILE, ids=[f"{n} {w[:25]}" for n, _, w in HOSTILE])
def test_hostile_and_damaged_files_are_sentences(registry_home: Path, name: str, content: bytes, words: str) -> None:
    put(name, content)
    with pytest.raises(DataError, match=words):
        opened(name)
    answer = preview.answer_preview(preview.PreviewQuestion(data=DataSpec(source=f"file:{name}")))
    assert answer.error  # type: ignore[attr-defined]


def test_a_converted_file_is_made_once_and_anew_when_it_changes(registry_home: Path) -> None:
    path = put("a.csv", "ä;b\n1;2\n".encode("cp1252"))
    reading = file_reading.find_reading(path, DataSpec())
    first, _ = plain_file.make_plain(path, reading)
    made = first.stat().st_mtime_ns
    assert plain_file.make_plain(path, reading)[0].stat().st_mtime_ns == made
    put("a.csv", "ä;b\n1;3\n4;5\n".encode("cp1252"))
    assert rows_of("a.csv") == [["ä", "b"], ["1", "3"], ["4", "5"]]
