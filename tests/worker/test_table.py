"""Data files row by row: what is shown is what training gets, whatever the file, and every fault is a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import time
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.heading_names import numbered_names
from groupwise.storage.spec.rows.text_kinds import is_binary
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data import sources
from groupwise.worker.data.files import jsonl_table, table
from groupwise.worker.data.files.csv_table import CsvTable
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.jsonl_table import JsonlTable

datasets.disable_progress_bars()


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    before = datasets.config.HF_DATASETS_CACHE
    datasets.config.HF_DATASETS_CACHE = tmp_path_factory.mktemp("datasets")
    yield
    datasets.config.HF_DATASETS_CACHE = before


def write(name: str, content: bytes | str) -> Path:
    paths.data_folder().mkdir(parents=True, exist_ok=True)
    path = paths.data_folder() / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def opened(name: str, content: bytes | str) -> table.Table:
    write(name, content)
    return table.open_table(table.find_data_file(name), DataSpec())


def everything(found: table.Table) -> list[dict[str, Any]]:
    return list(found.rows())


def training(name: str) -> list[dict[str, Any]]:
    return sources.load_source(DataSpec(source=f"file:{name}")).to_list()


# Texts that look like something else to a reader of JSON or CSV; no lone surrogates, which no UTF-8 file can hold.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8) | st.sampled_from(
    ["NA", "null", "007", "1.0", "2024-01-01", "2024-01-01 10:00:00", "true", "", " ", '"', "a,b", "\n", "\r\n", "####"]
)
CELL = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | TEXT
    | st.lists(TEXT, max_size=2)
    | st.fixed_dictionaries({"role": TEXT, "content": TEXT})
)
slow = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(st.lists(st.fixed_dictionaries({"q": TEXT}, optional={"a": CELL, "n": CELL}), min_size=1, max_size=6))
@example([{"q": "x", "n": 1}, {"q": "y", "n": 2.5}])
@example([{"q": "2024-01-01"}, {"q": "not a day"}])
@example([{"q": "2024-01-01"}, {"q": "2024-01-02"}])
@example([{"q": "x", "a": 1}, {"q": "y", "a": "two"}])
@example([{"q": "x", "a": {"b": 1}}, {"q": "y", "a": {"c": "2"}}])
def test_jsonl_shows_what_training_gets(own_home: Path, rows: list[dict[str, Any]]):
    content = "\n".join(json.dumps(row) for row in rows)
    try:
        found = opened("rows.jsonl", content)
        shown = everything(found)
    except DataError:
        with pytest.raises(DataError):
            training("rows.jsonl")
        return
    assert shown == training("rows.jsonl")
    assert [found.row(index)[0] for index in range(len(shown))] == shown
    assert found.count() == (len(rows), True)


@slow
@given(st.lists(st.lists(TEXT.filter(lambda text: "\r" not in text), min_size=2, max_size=2), min_size=1, max_size=6))
@example([["NA", "007"], ["", "null"], ["x\ny", 'say "hi"'], ["1.0", "True"]])
@example([["\x01\x02\x03\x04\x05\x06\x07\x08"] * 2] * 6)
def test_csv_shows_what_training_gets_which_is_text(own_home: Path, rows: list[list[str]]):
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["q", "a b"], *rows])
    assume(not is_binary(file.getvalue().encode()))  # rows of hardly anything but control characters
    found = opened("rows.csv", file.getvalue())
    shown = everything(found)
    assert [list(row.values()) for row in shown] == rows
    assert shown == training("rows.csv")
    assert [found.row(index)[0] for index in range(len(shown))] == shown
    assert found.count() == (len(rows), True)


@slow
@given(st.lists(st.fixed_dictionaries({"q": TEXT, "n": st.none() | st.integers(-9, 9)}), min_size=1, max_size=9))
def test_parquet_shows_what_training_gets(own_home: Path, rows: list[dict[str, Any]]):
    paths.data_folder().mkdir(parents=True, exist_ok=True)
    path = paths.data_folder() / "rows.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    found = table.open_table(table.find_data_file("rows.parquet"), DataSpec())
    assert everything(found) == training("rows.parquet")
    assert [found.row(index)[0] for index in range(len(rows))] == rows
    assert found.count() == (len(rows), True)


def test_blank_lines_and_a_byte_order_mark_are_no_rows(registry_home: Path):
    found = opened("a.jsonl", b"\xef\xbb\xbf\n" + b'{"q": "one"}\n\n  \r\n{"q": "two"}\r\n\n')
    assert [row["q"] for row in everything(found)] == ["one", "two"] and found.count() == (2, True)
    assert found.row(1) == ({"q": "two"}, True)
    found = opened("a.csv", "\ufeffq,a\n\n1,2\n\n3,4\n\n")
    assert [row["q"] for row in everything(found)] == ["1", "3"] and found.count() == (2, True)


def test_any_row_of_a_large_file_is_found(registry_home: Path):
    rows = 30_000
    content = "".join(json.dumps({"q": f"row {number}", "pad": "x" * (number % 700)}) + "\n" for number in range(rows))
    assert len(content) > 2 * jsonl_table.BLOCK
    found = opened("large.jsonl", content)
    for index in (0, rows - 1, 11_111, 12_345, 25_000):
        assert found.row(index)[0]["q"] == f"row {index}"
    assert found.count() == (rows, True)
    with pytest.raises(DataError, match="has 30,000 rows, so there is no row 30001"):
        found.row(rows)


def test_what_is_too_large_to_look_through_is_estimated(registry_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jsonl_table, "SCAN_SECONDS", 0.0)
    monkeypatch.setattr(jsonl_table, "BLOCK", 10_000)
    content = "".join(json.dumps({"q": f"row {number:05}"}) + "\n" for number in range(5000))
    path = write("slow.jsonl", content)
    found = JsonlTable(path)
    found._end = (19 * 500, 500)  # as after one block
    row, exact = found.row(4000)
    assert not exact and abs(int(row["q"].split()[1]) - 4000) < 10
    count, exact = found.count()
    assert not exact and abs(count - 5000) < 10


def test_a_changed_file_is_read_anew(registry_home: Path):
    assert opened("a.jsonl", lines({"q": "old"})).row(0)[0] == {"q": "old"}
    assert opened("a.jsonl", lines({"q": "newer"}, {"q": "x"})).count() == (2, True)


ZEROS = gzip.compress(bytes(10 * 2**20))
ROWS_OF_THEIR_OWN = [
    lines({"messages": [{"role": "user", "content": "1+1?"}]}),
    lines({"question": "1+1?", "tests": [{"in": 1, "out": 2}]}),
    lines({"pairs": [{"q": 1}]}, {"pairs": [{"q": 2}]}),
    lines(*[{"pairs": [{"q": "x" * 90}]}] * 4000),
]


@pytest.mark.parametrize("content", ROWS_OF_THEIR_OWN, ids=["chat", "tests", "two", "long"])
def test_a_row_that_holds_a_list_is_a_row(registry_home: Path, content: str):
    assert opened("a.json", content).count() == (content.count("\n"), True)


FAULTS: list[tuple[str, bytes | str, str]] = [
    ("a.jsonl", "", "“a.jsonl” is empty"),
    ("a.jsonl", "\n\n \n", "a.jsonl"),
    ("a.jsonl", "{}\n{}\n", "holds no rows|cannot be read"),
    (
        "a.jsonl",
        lines({"q": 1}) + "{broken\n",
        "line 2 is not JSON: a name in it does not stand in double quotes, or a comma is too many; each",
    ),
    ("a.jsonl", "hello\n", "line 1 is not JSON"),
    (
        "a.jsonl",
        lines({"q": 1}) + '{"q": 2,\n' * 3,
        "line 2 is not JSON: its object or list is never closed; .*Lines 3 and 4 cannot be read either",
    ),
    ("a.jsonl", lines({"q": 1}) + "no\n" + lines({"q": 1}) + "no\n", r"line 2 is .*\. Line 4 cannot be read either\."),
    (
        "a.jsonl",
        lines({"q": 1}) + 'no\nno\n{"q": null, "a": NaN}\n',
        "Line 3 cannot be read either. Line 4 holds NaN, which is no number in JSON, and no answer equals it; "
        "write null. Its “q” is null: a row with an empty prompt is left out",
    ),
    ("a.jsonl", lines({"q": 1}) + "no\n" * 6, "line 2 is .* Lines 3, 4 and 3 others cannot be read either"),
    ("a.jsonl", "no\n" * 6 + lines({"q": 1}), "line 1 is not .* Lines 2, 3 and 3 others cannot be read either"),
    ("a.jsonl", "\nno\n" + lines({"q": 1}) + "no\n", r"line 2 is not JSON.*\. Line 4 cannot be read either\.$"),
    ("a.jsonl", lines({"q": 1}) + '{"q": 2\n', "line 2 is not JSON: its object or list is never closed"),
    ("a.jsonl", lines({"q": 1}) + "\n" + '{"q": 2, "r"\n', "line 3 is not JSON: .* object. It is “{.q.: 2, .r.”"),
    ("a.jsonl", '\n\n"hello ' + "x" * 99 + '"\n', "line 3 is JSON, but not .*It begins with “.hello x{53}…”"),
    ("a.jsonl", lines({"q": 1}) + '{"q": 1, "q": 2}\n', "line 2 has “q” twice; a name has one value. It is “{.q.: 1"),
    ("a.jsonl", lines({"q": "1"}) + '{"q": ' + "1" * 50 + "}\n", "line 2 has the number 1{20}…, which has too many"),
    ("a.jsonl", lines({"q": 1}) + '{"q": -1e999}\n', "line 2 has the number -1e999, which is too large to be read"),
    ("a.json", '[{"q": 1},\n{"q": 1e999}]', "a JSON list: entry 2 has the number 1e999, which is too large to be read"),
    ("a.jsonl", '{"q": "' + "x" * 2**24 + '"}\n', "line 1 of a.jsonl is longer than 16 MB: .* It begins with “{.q.: "),
    ("a.jsonl", lines({"q": 1}) * 9 + '{"q": "' + "x" * 2**25 + '"}\n', "line 10 of a.jsonl is longer than 16 MB"),
    ("a.jsonl", "[1, 2]\n", "is JSON, but not an object with columns"),
    ("a.jsonl", '[{"q": 1},\n{"q": 2}', "cannot be read as a JSON list: entry 2 is no whole JSON value"),
    ("a.json", "[]", "holds no rows"),
    (
        "a.json",
        '{"data": [{"q": 1}, {"q": 2}]}',
        "one object, with its rows in a list under “data”. Save that list alone",
    ),
    ("a.json", '{\n "fragen": [\n  {"q": 1}\n ]\n}\n', "its rows in a list under “fragen”"),
    ("a.json", '{"version": "1.1", "data": [{"q": 1}]}', "its rows in a list under “data”"),
    ("a.json", '{"rows": [' + '{"q": 1}, ' * 40_000 + '{"q": 2}]}', "its rows in a list under “rows”"),
    ("a.json", '[{"q": 1}, {"q": 2}, 3]', "cannot be read as a JSON list: entry 3 is JSON, but not an object"),
    ("a.json", '["a", {"q": 2}]', "it should be a list of objects|cannot be read as a JSON list: entry 1 is"),
    ("a.jsonl", '{"q":\n "pretty"}\n', "cannot be read as JSON lines"),
    ("a.jsonl", "3\n4\n", "line 1 is JSON, but not an object"),
    ("a.jsonl", '{"q": "äöüäöü"}\n'.encode() + b'{"q": "\xff"}\n', "line 2 of a.jsonl is not UTF-8"),
    ("a.jsonl", "[" * 100_000, "entry 1 of a.jsonl is nested too deeply"),
    ("a.jsonl", '{"q":' + "[" * 100_000 + "]" * 100_000 + "}", "nested"),
    ("a.jsonl", b'{"q": "a"}\0\n', "line 1 of a.jsonl has a zero byte .NUL., which no text has"),
    ("a.jsonl", '{"q": "x"}\n{"q": "\\ud83d"}\n', "line 2 holds half a character"),
    ("a.jsonl", ZEROS, "compressed .gzip.*Unpack it first"),
    ("a.csv", ZEROS, "compressed"),
    ("a.csv", b"PK\x03\x04rest", "zip archive"),
    ("a.csv", b"PAR1 and so on", "it is a Parquet file"),
    ("a.csv", random.Random(1).randbytes(3000).replace(b"\0", b""), "is not text: it is binary. Choose another file"),
    ("a.csv", bytes(random.Random(1).choices(range(128, 256), k=5000)), "is not text: it is binary. Choose another"),
    ("a.csv", "q,a\n", "a.csv has only a heading and no rows"),
    ("a.csv", "q,q\n1,2\n", "has “q” twice.*or let heading: numbered do so"),
    ("a.csv", "q,\n1,2\n", "empty name .column 2"),
    ("a.csv", "q,q,,a,,a\n1,2,3,4,5,6\n", "has “q” and “a” twice and empty names .columns 3 and 5"),
    ("a.csv", "q,a\n1,2,3\n", "line 2 of a.csv has 3 cells, but the heading has 2"),
    ("a.csv", "q,a\n1,2\n1,2,3\n", "line 3 of a.csv has 3 cells"),
    ("a.csv", 'q,a\n1,2\n"x,3\n4\n', "line 3 of a.csv cannot be read: a quoted cell that begins there is never closed"),
    ("a.csv", "q,a\nüäöß,1\n".encode() * 9 + b"1,\x81\n", "line 19 of a.csv is not UTF-8"),
    ("a.csv", "q,a\r1,2\r3,4\r", "old Macintosh"),
    ("a.csv", "q," * 3000 + "z\n", "3001 columns"),
    ("a.csv", "q," * 1999 + "q\n" + "1," * 1999 + "1\n", "has “q” more than once"),
    ("a.parquet", b"PAR1 not really PAR1", "cannot be read as Parquet"),
    ("a.parquet", b"q,a\n", "it is no Parquet file"),
    ("a.docx", "q", "is a text document, which holds no rows that can be read. Copy its table"),
    ("a.csv", "q,a\n" + "x" * (17 * 2**20) + ",1\n", "line 2 of a.csv is longer than 16 MB"),
    ("a.txt", "q", "a.txt has only a heading and no rows"),
    ("a.xlsx", lines({"q": 1}), "cannot be read as XLSX. This looks like JSON lines. Let its name end in .jsonl."),
    ("a.xlsx", '[{"q": 1}]', "cannot be read as XLSX. This looks like a JSON list. Let its name end in .json."),
    ("a.xls", "q\ta\n1\t2\n", "cannot be read as XLS. This looks like CSV. Let its name end in .csv."),
    ("a.parquet", "q,a\n1,2\n", "cannot be read as Parquet. This looks like CSV. Let its name end in .csv."),
    ("a.xlsx", "<html><table>q,a\n1,2\n", "cannot be read as XLSX: it is a web page"),
    ("a.xlsx", "no workbook", "cannot be read as XLSX: it is no workbook"),
]


def test_columns_of_one_name_and_of_none_are_numbered_by_one_button(registry_home: Path):
    with pytest.raises(DataError) as refused:
        opened("a.csv", "q,q,,a,,a\n1,2,3,4,5,6\n")
    (fix,) = refused.value.fixes
    assert (fix.label, fix.settings) == ("Number them: q_2, column_3, column_5, …", {"data.heading": "numbered"})
    spec = DataSpec(source="file:a.csv", heading="numbered", prompt_column="q_2", answer_column="a_2", holdout=0)
    found = table.open_table(table.find_data_file("a.csv"), spec)
    assert found.columns == ["q", "q_2", "column_3", "a", "column_5", "a_2"]
    assert numbered_names(["a", "a", "a_2"]) == ["a", "a_3", "a_2"]
    (row,) = sources.load_source(spec).to_list()
    assert list(row.values()) == list("123456") and list(row) == found.columns


@pytest.mark.parametrize(("name", "content", "words"), FAULTS, ids=[f"{n}-{w[:30]}" for n, _, w in FAULTS])
def test_every_fault_of_a_file_is_a_sentence_in_preview_and_in_training(
    registry_home: Path, name: str, content: bytes | str, words: str
):
    begun = time.monotonic()
    with pytest.raises(DataError, match=words):
        everything(opened(name, content))
    with pytest.raises(DataError):
        training(name)
    assert time.monotonic() - begun < 30


def test_a_file_of_no_rows_in_parquet(registry_home: Path):
    pyarrow.parquet.write_table(pa.table({"q": pa.array([], pa.string())}), paths.data_folder() / "none.parquet")
    with pytest.raises(DataError, match="holds no rows"):
        table.open_table(table.find_data_file("none.parquet"), DataSpec())


@pytest.mark.parametrize("name", ["../x.jsonl", "/etc/passwd", "file:///etc/passwd", "a/b.jsonl", "", ".hidden.jsonl",
                                  "link.jsonl", "x\0.jsonl", "pipe.jsonl", "folder.jsonl", "none.jsonl",
                                  "http://169.254.169.254/x.jsonl", "zip::x.jsonl"])  # fmt: skip
def test_only_a_plain_file_of_the_home_is_opened(registry_home: Path, tmp_path: Path, name: str):
    import os

    (tmp_path / "outside.jsonl").write_text(lines({"secret": 1}))
    (paths.data_folder() / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (paths.data_folder() / "folder.jsonl").mkdir()
    os.mkfifo(paths.data_folder() / "pipe.jsonl")
    with pytest.raises(DataError):
        table.find_data_file(name)


def test_an_endless_line_is_no_row(registry_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jsonl_table, "LINE", 100_000)
    monkeypatch.setattr(jsonl_table, "BLOCK", 50_000)
    path = write("long.jsonl", lines({"q": "x"}) + json.dumps({"q": "y" * 300_000}))
    with pytest.raises(DataError, match="too long for a row"):
        JsonlTable(path).count()


def test_short_rows_of_a_csv_are_filled_and_said_once(registry_home: Path):
    found = opened("a.csv", "q,a\n1\n2\n")
    assert everything(found) == [{"q": "1", "a": ""}, {"q": "2", "a": ""}] == training("a.csv")
    as_empty = "missing cells are taken as empty."
    assert found.notes == [f"both rows of a.csv have fewer cells than the heading (line 2: 1 of 2): {as_empty}"]
    one = opened("b.csv", "q,a\n1,2\n3\n")
    assert one.notes == [f"line 3 of b.csv has 1 cell, but the heading has 2: {as_empty}"]
    text = "q;a\n" + "".join(f"{n}+2;{n + 2}\n{n}+1,{n + 1}\n" for n in range(20))
    mixed = table.open_table(write("c.csv", text), DataSpec(separator="semicolon"))
    assert mixed.notes == [
        "c.csv mixes semicolons and commas: 20 of 40 rows are not separated as the heading is, such as line 3: "
        "“0+1,1”. Save it with one separator throughout."
    ]


def test_a_wide_cell_is_read(registry_home: Path):
    path = write("wide.csv", 'q,a\n"' + "x" * 300_000 + '",1\n')
    assert len(CsvTable(path).row(0)[0]["q"]) == 300_000


def test_a_row_that_does_not_fit_the_first_ones_is_named(registry_home: Path):
    rows = [{"q": number, "pad": "x" * 10_000} for number in range(1200)]
    write("late.jsonl", lines(*rows) + lines({"q": "text"}))
    found = table.open_table(table.find_data_file("late.jsonl"), DataSpec())
    assert found.row(0)[0]["q"] == 0
    with pytest.raises(DataError, match="row 1201 of late.jsonl does not fit the rows before it"):
        found.row(1200)
    with pytest.raises(DataError, match="row 1201 of late.jsonl does not fit"):
        training("late.jsonl")
    shown = found.rows()
    assert [next(shown)["q"] for _ in range(1200)] == list(range(1200))
    with pytest.raises(DataError, match="row 1201 of late.jsonl does not fit"):
        next(shown)


def test_rows_of_mixed_kinds_are_shown_as_training_gets_them_wherever_they_are(registry_home: Path):
    rows = [{"q": "x", "a": 1.0000000149}, {"q": "2024-01-01", "a": "007"}, *({"q": "y", "a": [n]} for n in range(300))]
    found = opened("mixed.jsonl", lines(*rows))
    assert everything(found) == training("mixed.jsonl") == [found.row(index)[0] for index in range(302)]
    assert found.count() == (302, True)
    with pytest.raises(DataError, match="has 302 rows, so there is no row 303"):
        found.row(302)
    pad = [{"q": "x" * 100_000, "a": n % 2 or "two"} for n in range(110)]
    deep = '{"q": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    with pytest.raises(DataError, match="line 111 of deep.jsonl is nested more than 64 levels deep"):
        opened("deep.jsonl", lines(*pad) + deep)


def test_a_column_that_comes_late_is_named(registry_home: Path):
    rows = [{"q": str(number), "pad": "x" * 10_000} for number in range(1200)]
    with pytest.raises(DataError, match="row 1202 of more.jsonl has a column “extra” that the first rows lack"):
        everything(opened("more.jsonl", lines(*rows, {"q": "x"}, {"q": "y", "extra": 1})))
