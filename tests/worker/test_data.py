"""Data as a spec describes it: files of each kind, mapping, and sentences for what cannot be used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, load_dataset

from groupwise.storage.home import paths
from groupwise.storage.registry.questions import PREVIEW
from groupwise.storage.spec.spec import DataSpec, Example
from groupwise.worker.data import data, sources, unasked
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions import server

ROWS = [{"q": f"What is {n}?", "solution": f"Because.\n#### {n}", "level": n % 3} for n in range(10)]


def write(name: str) -> DataSpec:
    path = paths.data_folder() / name
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
    train, held_out = data.load_data(write(name), chat=True)
    assert held_out is not None
    assert (len(train), len(held_out)) == (8, 2)
    assert train[0]["prompt"] == [{"role": "user", "content": "What is 2? (level 2)"}]
    assert [row["answer"] for row in held_out] == ["0", "1"]
    assert train[0]["level"] == ("2" if name == "rows.csv" else 2)


def test_a_model_without_a_chat_template_gets_plain_text(registry_home: Path) -> None:
    spec = write("rows.jsonl").model_copy(update={"system_prompt": "Be brief.", "limit": 5})
    train, _ = data.load_data(spec, chat=False)
    assert len(train) == 3
    assert train[0]["prompt"] == "Be brief.\n\nWhat is 2? (level 2)"
    train, _ = data.load_data(spec, chat=True)
    assert train[0]["prompt"][0] == {"role": "system", "content": "Be brief."}


def test_a_template_reaches_columns_and_nothing_else(registry_home: Path) -> None:
    """Not attributes, not items, as str.format would; braces that are no column's name are text."""
    spec = write("rows.jsonl").model_copy(update={"prompt_template": '{"json": [1]} {{q}} {q}'})
    train, _ = data.load_data(spec, chat=True)
    assert train[0]["prompt"][0]["content"] == '{"json": [1]} {What is 2?} What is 2?'
    for template in ("{q.__class__}", "{0} {q}", "{Frage Nr} {q}"):
        with pytest.raises(data.DataError, match="but the columns are q, solution, level"):
            data.load_data(spec.model_copy(update={"prompt_template": template}), chat=True)


def test_a_column_may_have_any_name(registry_home: Path) -> None:
    (paths.data_folder() / "de.csv").write_text("Frage Nr,Lösung\n1+1?,2\n2+2?,4\n")
    spec = DataSpec(source="file:de.csv", prompt_template="{Frage Nr}", answer_column="Lösung")
    train, _ = data.load_data(spec, chat=True)
    assert [(row["prompt"][0]["content"], row["answer"]) for row in train] == [("1+1?", "2"), ("2+2?", "4")]


def test_an_answer_that_is_not_found_is_none() -> None:
    assert data.answer_of_cell("no mark here", r"#### (.+)") is None
    assert data.answer_of_cell("x #### 12 ", r"#### (.+)") == "12"
    assert data.answer_of_cell("x 12", r"\d+") == "12"


@pytest.mark.parametrize(
    ("name", "content"),
    [("bad.jsonl", b"{\n"), ("bad.parquet", b"not parquet"), ("bad.jsonl", b"\xff\xfe\x00binary")],
)
def test_a_damaged_file_is_a_sentence(registry_home: Path, name: str, content: bytes) -> None:
    (paths.data_folder() / name).write_bytes(content)
    with pytest.raises(data.DataError, match=f"{name} (cannot be read as|is not in UTF-16)"):
        data.load_data(DataSpec(source=f"file:{name}"), chat=True)


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
        data.load_data(write("rows.jsonl").model_copy(update=change), chat=True)


def loaded(name: str = "rows.jsonl", *, chat: bool = True, **changes: Any) -> Dataset:
    return data.load_data(write(name).model_copy(update={"holdout": 0, **changes}), chat=chat)[0]


def asked(rows: Dataset) -> list[str]:
    return [row["prompt"][-1]["content"] for row in rows]


def test_rows_are_filtered_shuffled_cut_and_split_in_this_order(registry_home: Path) -> None:
    spec = {"prompt_template": "{q}", "filter": ["level = 1"], "shuffle": 7, "limit": 2}
    odd = [row["q"] for row in ROWS if row["level"] == 1]
    whole = asked(loaded(prompt_template="{q}", filter=["level = 1"], shuffle=7))
    assert sorted(whole) == sorted(odd) and whole != odd
    assert asked(loaded(**spec)) == whole[:2]
    assert asked(loaded(**{**spec, "shuffle": 8, "limit": 3})) != whole
    train, held_out = data.load_data(
        write("rows.jsonl").model_copy(update={**spec, "limit": 3, "holdout": 1}), chat=True
    )
    assert held_out is not None and asked(held_out) + asked(train) == whole


def test_a_share_is_held_out_rounded_down(registry_home: Path) -> None:
    train, held_out = data.load_data(write("rows.jsonl").model_copy(update={"holdout": 0.25}), chat=True)
    assert held_out is not None and (len(train), len(held_out)) == (8, 2)
    assert data.load_data(write("rows.jsonl").model_copy(update={"holdout": 0.01}), chat=True)[1] is None


def test_cells_of_a_csv_are_text_as_they_were_written(registry_home: Path) -> None:
    (paths.data_folder() / "raw.csv").write_text("q,answer\nNA,007\n1.0,\nnull,True\n")
    train, _ = data.load_data(DataSpec(source="file:raw.csv", prompt_template="{q}"), chat=True)
    assert [(content, row["answer"]) for content, row in zip(asked(train), train, strict=True)] == [
        ("NA", "007"), ("1.0", ""), ("null", "True")
    ]  # fmt: skip


def test_examples_stand_between_the_system_prompt_and_the_question(registry_home: Path) -> None:
    spec = {
        "system_prompt": "Be brief.",
        "examples": [Example(prompt="1+1?", completion="2")],
        "prompt_template": "{q}",
    }
    assert loaded(**spec)[0]["prompt"] == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2"}, {"role": "user", "content": "What is 0?"},
    ]  # fmt: skip
    assert loaded(chat=False, **spec)[0]["prompt"] == "Be brief.\n\n1+1?\n\n2\n\nWhat is 0?"


CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]  # fmt: skip


def chats(*messages: list[dict[str, str]], **changes: Any) -> Dataset:
    (paths.data_folder() / "chats.jsonl").write_text("".join(json.dumps({"messages": m}) + "\n" for m in messages))
    spec = DataSpec(source="file:chats.jsonl", prompt_column="messages", answer_column=None)
    return data.load_data(spec.model_copy(update=changes), chat=changes.pop("chat", True))[0]


def test_a_chat_is_kept_up_to_where_the_model_is_to_speak(registry_home: Path) -> None:
    assert chats(CHAT)[0]["prompt"] == CHAT[:3]
    own = [{"role": "system", "content": "Mine."}, *CHAT]
    introduced = {"system_prompt": "Yours.", "examples": [Example(prompt="a", completion="b")]}
    assert [m["content"] for m in chats(own, **introduced)[0]["prompt"]] == ["Mine.", "a", "b", "Hi", "Hello", "2+2?"]
    assert [m["content"] for m in chats(CHAT, **introduced)[0]["prompt"]][:2] == ["Yours.", "a"]


def test_a_chat_that_asks_nothing_is_a_sentence(registry_home: Path) -> None:
    with pytest.raises(DataError, match="has no user message"):
        chats(CHAT[1:2])
    (paths.data_folder() / "odd.jsonl").write_text('{"messages": [1, 2]}\n')
    with pytest.raises(DataError, match="should hold chats"):
        data.load_data(DataSpec(source="file:odd.jsonl", prompt_column="messages", answer_column=None), chat=True)


def test_a_prompt_column_of_text_is_given_as_it_is(registry_home: Path) -> None:
    assert loaded(prompt_column="q")[0]["prompt"] == "What is 0?"
    assert loaded(prompt_column="q", system_prompt="Be brief.")[0]["prompt"] == "Be brief.\n\nWhat is 0?"


def test_rewards_get_the_columns_they_are_to_get(registry_home: Path) -> None:
    assert loaded().column_names == ["prompt", "q", "solution", "level", "answer"]
    assert loaded(columns=["level"]).column_names == ["prompt", "level", "answer"]
    assert loaded(columns=[], answer_column=None, answer_pattern=None).column_names == ["prompt"]


def test_columns_by_the_names_of_trl_s_own_arguments_do_not_reach_the_rewards(registry_home: Path) -> None:
    row = {"prompt": "1+1?", "answer": "2", "prompts": "x", "completion_ids": [1], "images": ["a.png"], "id": 3}
    (paths.data_folder() / "names.jsonl").write_text(json.dumps(row) + "\n")
    spec = DataSpec(source="file:names.jsonl", prompt_template="{prompt}")
    assert sorted(data.load_data(spec, chat=True)[0].column_names) == ["answer", "id", "prompt"]
    with pytest.raises(DataError, match="TRL calls them with its own"):
        data.load_data(spec.model_copy(update={"columns": ["prompts"]}), chat=True)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"filter": ["level"]}, "data.filter.0", "is not a condition"),
        ({"filter": ["nope = 1"]}, "data.filter.0", "needs a column “nope”; the columns are q, solution, level"),
        ({"filter": ["level = 9"]}, "data.filter", "keeps none of the rows"),
        ({"columns": ["nope"]}, "data.columns.0", "no column “nope”"),
        ({"prompt_column": "nope"}, "data.prompt_column", "no prompt column “nope”"),
        ({"answer_pattern": "("}, "data.answer_pattern", "not a regular expression"),
        ({"source": "file:nope.jsonl"}, "data.source", "there is no file “nope.jsonl”"),
        ({"source": "http://169.254.169.254/latest"}, "data.source", "is not a data source"),
        ({"source": "hub:/etc"}, "data.source", "is not the id of a hub dataset"),
        ({"source": "hub:csv"}, "data.source", "is not the id of a hub dataset"),
        ({"source": "hub:storage/checks/script"}, "data.source", "is not the id of a hub dataset"),
        ({"source": "gym:nope"}, "data.source", "no task “nope”"),
        ({"source": "hub:org/name", "streaming": True}, "data.source", "could not be reached"),
        ({"source": "hub:org/name", "revision": "main"}, "data.source", "could not be reached"),
    ],
)
def test_what_does_not_fit_names_its_field(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], field: str, message: str
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=message) as caught:
        loaded(**change)
    assert caught.value.field == field


def test_the_hub_s_errors_are_said_at_their_field() -> None:
    spec = DataSpec(source="hub:org/name", split="tset")
    said = sources.hub_error(ValueError("Unknown split \"tset\". Should be one of ['train', 'test']."), spec)
    assert said.field == "data.split" and [fix.settings for fix in said.fixes] == [
        {"data.split": "train"}, {"data.split": "test"}
    ]  # fmt: skip
    said = sources.hub_error(ValueError("Config name is missing. Please pick one among: ['main', 'socratic']"), spec)
    assert said.field == "data.config" and said.fixes[1].settings == {"data.config": "socratic"}
    said = sources.hub_error(RuntimeError("Dataset scripts are no longer supported, but found name.py"), spec)
    assert "such code is never run" in str(said)


def cached(place: Path, rows: list[dict[str, Any]]) -> None:
    """A hub dataset as `datasets` leaves it in its cache after a download."""
    source = place / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    load_dataset("json", data_files=str(source), cache_dir=str(place / "made"))
    [made] = (place / "made" / "json").glob("*/*/*/")
    target = place / "cache" / "org___tiny" / "default" / "0.0.0" / made.name
    shutil.copytree(made, target)
    (target / "json-train.arrow").rename(target / "tiny-train.arrow")
    about = json.loads((target / "dataset_info.json").read_text())
    about |= {"dataset_name": "tiny", "config_name": "default"}
    about["splits"]["train"]["dataset_name"] = "tiny"
    (target / "dataset_info.json").write_text(json.dumps(about))


def test_a_hub_dataset_that_is_on_this_machine_needs_no_network(
    registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tmp_path, ROWS)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    spec = write("rows.jsonl").model_copy(update={"source": "hub:org/tiny"})
    train, held_out = data.load_data(spec, chat=True)
    assert held_out is not None and (len(train), len(held_out)) == (8, 2)
    assert train[0]["prompt"][0]["content"] == "What is 2? (level 2)"
    shown = server.answer_question(PREVIEW, {"data": spec.model_dump(), "model": {}, "row": 9})
    assert shown["messages"][0]["content"] == "What is 9? (level 0)" and shown["rows"] == {"count": 10, "exact": True}
    with pytest.raises(DataError) as caught:
        data.load_data(spec.model_copy(update={"split": "nope"}), chat=True)
    assert caught.value.field == "data.split" and caught.value.fixes[0].settings == {"data.split": "train"}


@pytest.mark.parametrize(
    ("questions", "limit", "words"),
    [
        (
            ["1+1?", "", "2+2?", None, "3+3?", ""],
            2,
            "2 of the 5 rows that were read have no prompt, and are left out",
        ),
        (["1+1?", "", "  ", "3+3?", ""], 9, "3 of the 5 rows that were read have no prompt, and are left out"),
        (["1+1?", "", "2+2?"], 9, "1 of the 3 rows that were read has no prompt, and is left out"),
        (["1+1?", "2+2?"], 2, ""),
    ],
)
def test_of_a_stream_too_it_is_said_how_many_rows_ask_nothing(questions: list[Any], limit: int, words: str) -> None:
    spec = DataSpec(source="hub:org/name", streaming=True, limit=limit, prompt_template="{question}")
    stream = Dataset.from_dict({"question": questions}).to_iterable_dataset()
    said: list[str] = []
    left = unasked.leave_out(stream, spec, said.append)
    rows = sources.first_rows(left.rows, spec)
    left.tell()
    assert all(str(row["question"]).strip() for row in rows)
    assert said == ([f"{words}: “question” is empty there."] if words else [])


def test_a_stream_in_which_nothing_is_asked_is_refused() -> None:
    spec = DataSpec(source="hub:org/name", streaming=True, limit=5, prompt_template="{question}")
    left = unasked.leave_out(Dataset.from_dict({"question": ["", " "]}).to_iterable_dataset(), spec, print)
    sources.first_rows(left.rows, spec)
    with pytest.raises(DataError, match="none of the 2 rows that were read has a prompt: “question” is empty there"):
        left.tell()
