"""How a script reads a file of text, with pandas or datasets: what a spec has a place for is taken, else it is said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.storage.test_script_nothing_dropped import read, script

READERS = {
    "load_dataset": "load_dataset('csv', data_files={{'train': 'd/x.csv'}}, split='train', {})",
    "read_csv": "Dataset.from_pandas(pd.read_csv('d/x.csv', {}))",
    "from_csv": "Dataset.from_csv('d/x.csv', {})",
}


def of_file(reader: str, given: str) -> tuple[dict[str, Any], str]:
    raw, said = read(script("import pandas as pd\nfrom datasets import Dataset", data=READERS[reader].format(given)))
    return {name: value for name, value in raw["data"].items() if not name.endswith("_column")}, said


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("sep=';'", {"separator": "semicolon"}),
        ("delimiter='\\t', encoding='cp1252'", {"separator": "tab", "encoding": "cp1252"}),
        ("encoding='ISO-8859-1'", {"encoding": "latin-1"}),
        ("encoding='Windows-1251', skiprows=2", {"encoding": "cp1251", "skip_lines": 2}),
        ("nrows=40", {"limit": 40}),
        ("delimiter=None, encoding=None, skiprows=None, quotechar='\"', decimal='.'", {}),
    ],
)
def test_how_a_table_is_written_is_taken(reader: str, given: str, taken: dict[str, Any]) -> None:
    found, said = of_file(reader, given)
    assert found == {"source": "file:x.csv", **taken}
    assert "could not" not in said


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("sep='::'", "sep"), ("encoding='utf-7'", "encoding"), ("encoding='no such'", "encoding"),
        ("skiprows=[1, 3]", "skiprows"), ("quotechar=\"'\"", "quotechar"), ("column_names=['q', 'a']", "column_names"),
        ("decimal=','", "decimal"), ("header=None", "header"), ("delimiter=mark()", "delimiter"),
    ],
)  # fmt: skip
def test_what_has_no_place_is_said_with_its_line(reader: str, given: str, name: str) -> None:
    found, said = of_file(reader, given)
    assert found == {"source": "file:x.csv"}
    assert f"{reader}'s {name} (line 9) could not be taken" in said


def test_of_a_number_of_rows_and_a_split_the_smaller_one_counts() -> None:
    data = "load_dataset('csv', data_files='x.csv', split='train[:{}]', nrows=50)"
    assert [read(script(data=data.format(most)))[0]["data"]["limit"] for most in (20, 90)] == [20, 50]


def test_json_has_no_separator() -> None:
    raw, said = read(script(data="load_dataset('json', data_files='x.jsonl', split='train', sep=';')"))
    assert "separator" not in raw["data"] and "load_dataset's sep (line 9) could not be taken." in said
