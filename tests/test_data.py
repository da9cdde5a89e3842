"""Data as a spec describes it: files of each kind, mapping, and sentences for what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from datasets import Dataset

from storage import home
from storage.spec import DataSpec
from worker import data

ROWS = [{"q": f"What is {n}?", "solution": f"Because.\n#### {n}", "level": n % 3} for n in range(10)]


def write(name: str) -> DataSpec:
    path = home.data_folder() / name
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in ROWS))
    elif path.suffix == ".csv":
        Dataset.from_list(ROWS).to_csv(str(path))
    else:
        Dataset.from_list(ROWS).to_parquet(str(path))
    return DataSpec(source=f"file:{name}", prompt_template="{q} (level {level})", answer_column="solution",
                    answer_pattern=r"#### (.+)", holdout=2)  # fmt: skip


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_each_kind_of_file(registry_home: Path, name: str) -> None:
    train, held_out = data.load(write(name), chat=True)
    assert held_out is not None
    assert (len(train), len(held_out)) == (8, 2)
    assert train[0]["prompt"] == [{"role": "user", "content": "What is 2? (level 2)"}]
    assert [row["answer"] for row in held_out] == ["0", "1"]
    assert train[0]["level"] == 2


def test_a_model_without_a_chat_template_gets_plain_text(registry_home: Path) -> None:
    spec = write("rows.jsonl").model_copy(update={"system_prompt": "Be brief.", "limit": 5})
    train, _ = data.load(spec, chat=False)
    assert len(train) == 3
    assert train[0]["prompt"] == "Be brief.\n\nWhat is 2? (level 2)"
    train, _ = data.load(spec, chat=True)
    assert train[0]["prompt"][0] == {"role": "system", "content": "Be brief."}


def test_a_template_reaches_columns_and_nothing_else(registry_home: Path) -> None:
    """Not attributes, not items, as str.format would; braces that are no column's name are text."""
    spec = write("rows.jsonl").model_copy(update={"prompt_template": '{"json": [1]} {{q}} {q}'})
    train, _ = data.load(spec, chat=True)
    assert train[0]["prompt"][0]["content"] == '{"json": [1]} {What is 2?} What is 2?'
    for template in ("{q.__class__}", "{0} {q}", "{Frage Nr} {q}"):
        with pytest.raises(data.DataError, match="but the columns are q, solution, level"):
            data.load(spec.model_copy(update={"prompt_template": template}), chat=True)


def test_a_column_may_have_any_name(registry_home: Path) -> None:
    (home.data_folder() / "de.csv").write_text("Frage Nr,Lösung\n1+1?,2\n2+2?,4\n")
    spec = DataSpec(source="file:de.csv", prompt_template="{Frage Nr}", answer_column="Lösung")
    train, _ = data.load(spec, chat=True)
    assert [(row["prompt"][0]["content"], row["answer"]) for row in train] == [("1+1?", 2), ("2+2?", 4)]


def test_an_answer_that_is_not_found_is_none() -> None:
    assert data.answer("no mark here", r"#### (.+)") is None
    assert data.answer("x #### 12 ", r"#### (.+)") == "12"
    assert data.answer("x 12", r"\d+") == "12"


@pytest.mark.parametrize(
    ("name", "content"),
    [("bad.jsonl", b"{\n"), ("bad.parquet", b"not parquet"), ("bad.jsonl", b"\xff\xfe\x00binary")],
)
def test_a_damaged_file_is_a_sentence(registry_home: Path, name: str, content: bytes) -> None:
    (home.data_folder() / name).write_bytes(content)
    with pytest.raises(data.DataError, match=f"{name} cannot be read as"):
        data.load(DataSpec(source=f"file:{name}"), chat=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt_template": "{nope}"}, "uses {nope}, but the columns are q, solution, level"),
        ({"answer_column": "nope"}, "no answer column “nope”"),
        ({"holdout": 10}, "leaves none to train on"),
        ({"prompt_template": "always the same"}, "names no column; the columns are q"),
        ({"answer_pattern": r"(\d{7})"}, "found in none of the 10 rows"),
    ],
)
def test_a_mapping_that_does_not_fit_is_a_sentence(
    registry_home: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(data.DataError, match=message):
        data.load(write("rows.jsonl").model_copy(update=change), chat=True)
