"""Damaged files of every kind: a sentence of ours says what is wrong, where and what to do, no library's words."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from groupwise.storage.checks.data import MEANWHILE
from groupwise.storage.home import paths
from groupwise.storage.registry.messages.preview import PreviewQuestion
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data import data, preview

CSV = b"question,answer\n" + b"".join(b"what is %d,%d\n" % (n, n) for n in range(300))
ROW = b'{"question":"a","answer":"1"}\n'
NUL = " has a zero byte (NUL), which no text has: the file is damaged there. Save or download it again, or delete "
RAW = ("magic bytes", "thrift", "snappy", "Cfb error", "File not found", "delimiter:", "Traceback", "errno", "at line")


def parquet() -> bytes:
    sink = io.BytesIO()
    rows = {"question": [f"what is {n}" for n in range(500)], "answer": [str(n) for n in range(500)]}
    pa.parquet.write_table(pa.table(rows), sink)
    return sink.getvalue()


def workbook(part: str = "", cut: bool = False) -> bytes:
    """A workbook; without one of its parts, or with half of it."""
    book, sink, out = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    for n in range(200):
        book.active.append([f"q{n}", n])
    book.save(sink)
    with zipfile.ZipFile(sink) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if part and part in name:
                content = content[: len(content) // 2] if cut else b""
            if content:
                new.writestr(name, content)
    return out.getvalue()


def flip(content: bytes, at: int, size: int) -> bytes:
    return content[:at] + bytes(255 - byte for byte in content[at : at + size]) + content[at + size :]


WHOLE, BOOK = parquet(), workbook()
DAMAGED = [
    ("cut.parquet", WHOLE[:-200], "cannot be read as Parquet: its end is missing, as when a download or"),
    ("footer.parquet", flip(WHOLE, len(WHOLE) - 100, 60), "its list of columns (the footer) is damaged, or newer"),
    ("rows.parquet", flip(WHOLE, 60, 400), "the rows in it are damaged. Save or download it again."),
    ("short.parquet", WHOLE[:-8] + b"\xff\xff\xff\x7fPAR1", "it is shorter than it says. Save or download it again."),
    ("secret.parquet", b"PARE" + WHOLE[4:-4] + b"PARE", "it is a Parquet file that is encrypted. Save it again."),
    ("nul.csv", CSV.replace(b"what is 24,", b"what is\x00 24,"), "line 26 of nul.csv" + NUL),
    ("late.csv", CSV * 1000 + b"a\0,2\n", "line 301,001 of late.csv" + NUL),
    ("latin.csv", "ä,b\n".encode("cp1252") * 90_000 + b"a\0,2\n", "line 90,001 of latin.csv" + NUL),
    ("end.csv", CSV[:200] + bytes(500), "line 16 of end.csv and all after it are zero bytes: the end is lost"),
    ("zeros.csv", bytes(500), "zeros.csv holds zero bytes only: its content was lost, as when a disk is full"),
    ("nuls.csv", b"question,answer\n" + b"\0\0a,\0b\n" * 10,
     "line 2 of nuls.csv and others after it have zero bytes (NUL), which no text has: the file is damaged there."),
    ("padded.csv", b"question,answer\r\n" + b"ab\0\0\0\0,1\0\0\0\r\n" * 10,
     "line 2 of padded.csv and others after it have zero bytes (NUL)"),
    ("joined.csv", b"question,answer\nwhat,1\n" + "wer,2\nwo,3\n".encode("utf-16-le") * 30,
     "begins as plain text, and is UTF-16 from line 3 on: two files were joined that are written differently"),
    ("elf.csv", b"\x7fELF\x02\x01\x01" + bytes(9) + bytes(range(256)) * 9, "it is a program. Choose the file that has"),
    ("nul.jsonl", ROW + ROW.replace(b"a", b"\0", 1), "line 2 of nul.jsonl" + NUL),
    ("late.jsonl", ROW * 300_000 + ROW.replace(b'"a"', b'"\0"'), "line 300,001 of late.jsonl" + NUL),
    ("open.jsonl", ROW + b'{"question":"b","ans', "line 2 is not JSON: a text in it is never closed"),
    ("comma.jsonl", ROW + b'{"question":"b" "answer":"2"}\n', "line 2 is not JSON: a comma is missing in it"),
    ("names.jsonl", ROW + b"{'question':'b'}\n", "line 2 is not JSON: a name in it does not stand in double quotes"),
    ("value.jsonl", ROW + b'{"question":None}\n', "line 2 is not JSON: a value is missing in it, or is not valid"),
    ("end.csv.gz", gzip.compress(CSV)[:-20], "end.csv.gz is damaged: it cannot be unpacked. Pack it again."),
    ("flip.csv.gz", flip(gzip.compress(CSV), 60, 30), "flip.csv.gz is damaged: it cannot be unpacked. Pack it again."),
    ("cut.xlsx", BOOK[: len(BOOK) // 2], "cut.xlsx cannot be read as a workbook. It may be damaged, or need a"),
    ("half.xlsx", workbook("sheet1.xml", cut=True), "the sheet “Sheet” of half.xlsx cannot be read: it holds no"),
    ("none.xlsx", workbook("xl/"), "none.xlsx cannot be read as a workbook. It may be damaged, or need a"),
    ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 9, "x.xls cannot be read as a workbook."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), DAMAGED, ids=[name for name, *_ in DAMAGED])
def test_a_damaged_file_is_a_sentence_of_ours_on_the_page_or_when_it_trains(
    registry_home: Path, name: str, content: bytes, words: str
) -> None:
    (paths.data_folder() / name).write_bytes(content)
    asked = DataSpec(source=f"file:{name}", prompt_template="{question}")
    with pytest.raises(preview.DataError) as trained:
        data.load_data(asked, chat=True)
    assert words in str(trained.value)
    answer = preview.answer_preview(preview.PreviewQuestion(data=asked))  # which looks for a second
    said = getattr(answer, "error", "")
    assert said == "" or words in said
    assert not any(raw in text for raw in RAW for text in (said, str(trained.value)))


def test_a_row_of_another_kind_says_which_column_and_which_kinds(registry_home: Path) -> None:
    first = b'{"question":"a","answer":1}\n'
    (paths.data_folder() / "a.jsonl").write_bytes(first * 400_000 + b'{"question":"a","answer":"x"}\n')
    words = "row 400001 of a.jsonl does not fit the rows before it: its “answer” is a text, where theirs is a number"
    with pytest.raises(preview.DataError, match=words):
        data.load_data(DataSpec(source="file:a.jsonl"), chat=True)


ANOTHER = "Choose another file"


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        ("heading.csv", b"question,answer\n", [ANOTHER, "It is a row: there is no heading"]),
        ("six.jsonl", b"no\n" * 6 + ROW, [ANOTHER, MEANWHILE.label]),
    ],
)
def test_another_file_can_be_chosen_where_one_gives_no_rows(
    name: str, content: bytes, labels: list[str], registry_home: Path
) -> None:
    (paths.data_folder() / name).write_bytes(content)
    [problem] = preview.answer_preview(PreviewQuestion(data=DataSpec(source=f"file:{name}"))).blocking()
    assert [fix.label for fix in problem.fixes] == labels
    assert problem.field == "data.source"
    assert [fix.leads for fix in problem.fixes] == [label == ANOTHER for label in labels]
