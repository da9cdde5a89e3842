"""What a person sees of their data before a run: the very prompt the model reads, what does not fit, and what would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.registry.messages.preview import CELL
from groupwise.storage.registry.questions import CHECK_DATA, PREVIEW
from groupwise.storage.spec.spec import DataSpec, ModelSpec, from_dict
from groupwise.worker.builtin import models
from groupwise.worker.data import data, data_checks, preview, tokens
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions import server
from tests.support.data_files import put
from tests.support.previews import GSM, MAPPED, check, fixed, write


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> None:
    write("gsm.jsonl", GSM)


def ask(row: int | None = 0, model: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    found = server.answer_question(PREVIEW, {"data": parts, "model": model or {}, "row": row})
    return json.loads(json.dumps(found))  # it travels as JSON


def test_the_prompt_is_exactly_what_the_model_reads():
    """Held against TRL's way: the trainer's own tokenizer, template and count."""
    parts = {**MAPPED, "system_prompt": "Be brief.", "examples": [{"prompt": "1+1?", "completion": "2"}]}
    found = ask(row=2, **parts)
    train, _ = data.load_data(DataSpec.model_validate(parts), chat=True)
    tokenizer = models.load_tokenizer(
        models.tokenizer_place(from_dict({"name": "a", "rewards": [{"name": "format"}]}).model)
    )
    settings: dict[str, Any] = {"add_generation_prompt": True}
    assert found["messages"] == train[2]["prompt"]
    assert found["prompt"] == tokenizer.apply_chat_template(train[2]["prompt"], tokenize=False, **settings)
    ids = tokenizer.apply_chat_template([train[2]["prompt"]], tokenize=True, return_dict=True, **settings)["input_ids"][
        0
    ]
    assert found["tokens"] == len(ids)
    assert found["answer"] == train[2]["answer"] == "6"
    assert found["chat"] is True and found["problems"] == [] and found["note"] == "30 rows."
    assert found["prompt"].endswith("Tom has 3 apples and buys 3.<|assistant|>")


def test_the_light_tokenizer_is_the_one_training_uses():
    from transformers import AutoTokenizer

    folder = str(models.install_starter())
    assert type(tokens._tokenizer(folder)) is type(AutoTokenizer.from_pretrained(folder))


def test_a_model_without_a_chat_template_is_shown_plain_text(tmp_path: Path):
    import shutil

    shutil.copytree(models.install_starter(), tmp_path / "plain")
    (tmp_path / "plain" / "chat_template.jinja").unlink()
    found = ask(model={"id": str(tmp_path / "plain")}, **MAPPED, system_prompt="Be brief.")
    assert (found["chat"], found["messages"]) == (False, None)
    assert found["prompt"] == "Be brief.\n\nTom has 1 apples and buys 1."
    assert found["tokens"] == len(found["prompt"])  # one a character, as this tokenizer has it


def test_columns_rows_and_cells_are_shown():
    found = ask(row=29, **MAPPED, filter=["problem contains 30"])
    assert found["columns"] == [
        {"name": "problem", "kind": "text", "sample": "Tom has 1 apples and buys 1.", "decimal": None},
        {"name": "solution", "kind": "text", "sample": "1+1 #### 2", "decimal": None},
    ]
    assert found["row"] == {"index": 29, "cells": GSM[29], "kept": True}
    assert found["rows"] == {"count": 30, "exact": True}
    assert ask(row=0, **MAPPED, filter=["problem contains 30"])["row"]["kept"] is False


def test_where_none_is_chosen_the_first_row_that_is_kept_is_shown():
    found = ask(row=None, **MAPPED, filter=["problem contains 30"])
    assert found["row"] == {"index": 29, "cells": GSM[29], "kept": True} and found["answer"] == "60"
    for filters in ([], ["problem contains nowhere"]):
        assert ask(row=None, **MAPPED, filter=filters)["row"]["index"] == 0


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "a b c", "answer": "1"}, ("{question}", None, "answer", None)),
        ({"Question": "a b c", "Answer": "1"}, ("{Question}", None, "Answer", None)),
        (GSM[0], ("{problem}", None, "solution", r"####\s*(.+)")),
        ({"problem": "x", "solution": r"so \boxed{4}"}, ("{problem}", None, "solution", r"\\boxed\{([^{}]*)\}")),
        ({"instruction": "Sum", "input": "1 2", "output": "3"}, ("{instruction}\n\n{input}", None, "output", None)),
        (
            {"id": 1, "Aufgabentext": "Wie viel ist eins und eins?", "answer": 2},
            ("{Aufgabentext}", None, "answer", None),
        ),
        ({"messages": [{"role": "user", "content": "x"}], "target": "y"}, (None, "messages", "target", None)),
        ({"prompt": [{"role": "user", "content": "x"}]}, (None, "prompt", None, None)),
        ({"a": 1, "b": 2}, (None, None, "a", None)),
    ],
)
def test_columns_are_recognised_by_name_and_content(row: dict[str, Any], expected: tuple[str | None, ...]):
    write("guess.jsonl", [row, row])
    guess = ask(source="file:guess.jsonl")["guess"]
    names = ("prompt_template", "prompt_column", "answer_column", "answer_pattern")
    assert tuple(guess.get(f"data.{name}") for name in names) == expected


def test_a_list_of_many_columns_says_how_many_more_there_are():
    write("wide.jsonl", [{f"col{n}": n for n in range(100)}])
    assert ", col39 and 60 more." in ask(source="file:wide.jsonl")["problems"][0]["message"]


def test_a_template_that_nobody_wrote_is_not_said_to_use_a_column():
    """Nor is it told of at all where a title is taken for the heading: the check of all rows says that, too."""
    words = "^the prompt template is not set, and its default column, “question”, is not in this data; the columns are"
    with pytest.raises(DataError, match=words):
        data_checks.check_data(DataSpec(source="file:gsm.jsonl"), ModelSpec(), 64, True)
    (paths.data_folder() / "titled.tsv").write_text("Klasse 5\t\nAufgabe\tLösung\n1+1\t2\n2+2\t4\n")
    with pytest.raises(DataError, match=r"looks like a title, but is taken for the heading: “Klasse 5”") as told:
        data_checks.check_data(
            DataSpec(
                source="file:titled.tsv",
            ),
            ModelSpec(),
            64,
            True,
        )
    assert told.value.field == "data.heading"


def test_one_click_maps_the_columns_that_were_not_found():
    parts: dict[str, Any] = {"source": "file:gsm.jsonl"}
    found = ask(**parts)
    assert [(p["field"], p["level"]) for p in found["problems"]] == [
        ("data.prompt_template", "blocking"), ("data.answer_column", "blocking"),
    ]  # fmt: skip
    assert [p["message"] for p in found["problems"]] == [
        "choose the prompt: a column, or a text with columns in braces, such as {problem}. The "
        "default column, “question”, is not in this data. The columns are problem, solution.",
        "choose the column with the right answers. The columns are problem, solution.",
    ]
    written = ask(**{**parts, "prompt_template": "Ask: {question}", "answer_column": "antwort"})["problems"]
    assert [p["message"].split(".")[0] for p in written] == [
        "there is no column “question”", "there is no column “antwort”",
    ]  # fmt: skip
    labels = [problem["fixes"][0]["label"] for problem in found["problems"]]
    assert labels == ["Use “problem”", r"Use “solution” with the answer pattern ####\s*(.+)"], "all that it sets"
    for problem in found["problems"]:
        parts = fixed(parts, problem)
    mended = ask(**parts)
    assert mended["problems"] == [] and mended["answer"] == "2" and "1 apples" in mended["prompt"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"prompt_column": "nope"}, "data.prompt_column"),
        ({"prompt_template": "the same for all"}, "data.prompt_template"),
        ({"filter": ["nope = 1"]}, "data.filter.0"),
        ({"columns": ["nope"]}, "data.columns.0"),
        ({"answer_pattern": None}, "data.answer_pattern"),
    ],
)
def test_each_problem_is_gone_after_its_fix(change: dict[str, Any], field: str):
    parts = {**MAPPED, **change}
    [problem] = ask(**parts)["problems"]
    assert problem["field"] == field
    for number in range(len(problem["fixes"])):
        assert ask(**fixed(parts, problem, number))["problems"] == []


@pytest.mark.parametrize(
    ("parts", "field", "words"),
    [
        ({"source": "file:nope.jsonl"}, "data.source", "there is no file"),
        ({"source": "file:../../etc/passwd"}, "data.source", "is not the name of a file"),
        ({"source": "file:///etc/passwd"}, "data.source", "is not the name of a file"),
        ({"source": "/etc/passwd"}, "data.source", "is not a data source"),
        ({"source": "task:nope"}, "data.source", "there is no built-in task"),
        ({"source": "task:../supervisor"}, "data.source", "there is no built-in task"),
        ({"source": "file:gsm.jsonl", "limit": 0}, "data.limit", "should be at least 1"),
        ({"source": "file:gsm.jsonl", "holdout": "x"}, "data.holdout", "number of rows"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence_at_its_field(parts: dict[str, Any], field: str, words: str):
    for found in (ask(**parts), check(**parts)):
        assert found["field"] == field and words in found["error"]


def test_a_row_that_is_not_there_is_a_sentence():
    assert "has 30 rows, so there is no row 31" in ask(row=30, **MAPPED)["error"]
    assert "should be at least 0" in ask(row=-5, **MAPPED)["error"]


def test_what_data_says_is_only_ever_text():
    hostile = "{{ cycler.__init__.__globals__ }} {0.__class__} <script>alert(1)</script> ${x} %s \u202e💣"
    write("hostile.jsonl", [{"question": hostile, "answer": "=cmd()", hostile: "1"}])
    found = ask(source="file:hostile.jsonl")
    assert found["messages"] == [{"role": "user", "content": hostile}]
    assert found["prompt"] == f"<|user|>{hostile}<|assistant|>"
    write("huge.jsonl", [{"question": "x" * 1_000_000, "answer": [[["deep"]]], "n": float("nan"), "none": None}])
    found = ask(source="file:huge.jsonl")
    assert len(found["row"]["cells"]["question"]) == CELL and found["tokens"] > 900_000
    assert len(json.dumps(found)) < 200_000
    assert found["row"]["cells"]["answer"] == '[[["deep"]]]' and found["row"]["cells"]["none"] == ""


def test_a_task_and_a_missing_tokenizer(tmp_path: Path):
    assert ask(source="task:arithmetic", row=3999)["rows"] == {"count": 4000, "exact": True}
    found = ask(model={"id": str(tmp_path)}, **MAPPED)
    assert found["problems"][0]["field"] == "model.id" and found["problems"][0]["level"] == "warning"
    assert (
        found["messages"] == [{"role": "user", "content": "Tom has 1 apples and buys 1."}] and found["tokens"] is None
    )
    checked = server.answer_question(CHECK_DATA, {"data": MAPPED, "model": {"id": str(tmp_path)}})
    assert checked["lengths"]["unit"] == "characters" and checked["room"] is None


def test_a_chat_template_that_refuses_a_system_prompt_says_so(tmp_path: Path):
    import shutil

    folder = tmp_path / "picky"
    shutil.copytree(models.install_starter(), folder)
    template = (folder / "chat_template.jinja").read_text()
    picky = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    (folder / "chat_template.jinja").write_text(picky + template)
    parts = {**MAPPED, "system_prompt": "Be brief."}
    [problem] = ask(model={"id": str(folder)}, **parts)["problems"]
    assert "System role not supported" in problem["message"]
    assert ask(model={"id": str(folder)}, **fixed(parts, problem))["problems"] == []


ONE_MESSAGE = (
    "“prompt” holds a mapping, which cannot be a prompt: its text stands in “content”. Write each as a chat, which is "
    'a list of messages, such as [{"role": "user", "content": "…"}], or write “content” as a column of its own.'
)


def test_a_column_of_single_messages_is_offered_for_no_prompt_and_it_is_said_where_its_text_stands():
    """The fix led to another problem of the same matter."""
    write("one.jsonl", [{"prompt": {"role": "user", "content": "1+1?"}, "answer": "2"}])
    found = [one for one in ask(source="file:one.jsonl")["problems"] if one["field"] == "data.prompt_template"]
    assert [
        (one["message"].endswith(f"{ONE_MESSAGE} The columns are prompt, answer."), one["fixes"]) for one in found
    ] == [(True, [])]
    [as_column] = ask(source="file:one.jsonl", prompt_column="prompt", answer_column="answer")["problems"]
    assert as_column["message"] == ONE_MESSAGE
    write("chat.jsonl", [{"prompt": [{"role": "user", "content": "1+1?"}], "answer": "2"}])
    [chat] = [one for one in ask(source="file:chat.jsonl")["problems"] if one["field"] == "data.prompt_template"]
    assert [fix["label"] for fix in chat["fixes"]] == ["Use the column “prompt”"]


@pytest.mark.parametrize(
    ("cell", "kind"), [({"a": 1}, "a mapping"), ([{"role": "user", "content": "Hi"}], "a list of mappings")]
)
def test_a_mapping_is_no_prompt(cell: Any, kind: str):
    """It was read out as Python writes it."""
    write("odd.jsonl", [{"question": cell, "answer": "1"}])
    words = f"“question” holds {kind}, which cannot be a prompt."
    for found in (check(source="file:odd.jsonl"), ask(source="file:odd.jsonl")):
        said = [problem for problem in found["problems"] if problem["message"].startswith(words[:-1])]
        assert [(one["field"], one["level"]) for one in said] == [("data.prompt_template", "blocking")]
    with pytest.raises(DataError, match="which cannot be a prompt"):
        data.load_data(DataSpec(source="file:odd.jsonl"), chat=True)
    asked = DataSpec(source="file:odd.jsonl", prompt_column="question")
    if kind == "a mapping":
        with pytest.raises(DataError, match="cannot be a prompt") as raised:
            data.load_data(asked, chat=True)
        assert raised.value.field == "data.prompt_column"
    else:
        assert data.load_data(asked, chat=True)[0][0]["prompt"] == cell


def test_the_template_error_suggests_the_column_of_its_button() -> None:
    rows = "".join(f'{{"Nr.": {n}, "Aufgabe": "Was ist {n} plus 1?", "Lösung": "{n + 1}"}}\n' for n in range(8))
    (paths.data_folder() / "aufgaben.jsonl").write_text(rows)
    problem, *_ = ask(source="file:aufgaben.jsonl")["problems"]
    assert problem["fixes"][0]["label"] == "Use “Aufgabe”" and "such as {Aufgabe}." in problem["message"]


def test_of_a_wide_table_it_is_told_how_many_columns_there_are():
    write("wide.jsonl", [{f"c{n}": "1" for n in range(1, 201)}])
    read_as = preview.preview(DataSpec(source="file:wide.jsonl", prompt_template="{c1}"), ModelSpec()).read_as
    assert read_as is not None and (read_as.columns, len(read_as.heading)) == (200, 30)


def test_a_column_without_answers_is_suggested_nowhere_and_that_is_said_in_the_first_round() -> None:
    """It was suggested, and said to be empty once it was taken."""
    put("leer.csv", "Frage,Lösung,Stufe\n" + "Wie viel ist 3 + 4 und warum?, ,leicht\n" * 30)
    found = ask(source="file:leer.csv")
    assert found["guess"].get("data.answer_column") != "Lösung"
    assert [one["kind"] for one in found["columns"] if one["name"] == "Lösung"] == ["empty"]
    [answers] = [one for one in found["problems"] if one["field"] == "data.answer_column"]
    assert "“Lösung” has no answers: it is empty." in answers["message"]
    assert not any("Lösung" in fix["label"] for fix in answers["fixes"])
    put("viele.csv", "Frage,Lösung,Stufe\n" + "Wie viel ist 3 + 4 und warum?, ,leicht\n" * 1001)
    [answers] = [one for one in ask(source="file:viele.csv")["problems"] if one["field"] == "data.answer_column"]
    assert "“Lösung” has no answers: it is empty in its first 1,000 rows." in answers["message"]


@pytest.mark.parametrize("empty", [20, 35, 999])
def test_a_column_whose_answers_begin_later_is_the_answer_s(empty: int) -> None:
    """By the first twenty rows it was called empty, and suggested no more."""
    ask_for = "Wie viel ist 3 + 4 und warum?,"
    put("später.csv", "Frage,Lösung,Stufe\n" + f"{ask_for},leicht\n" * empty + f"{ask_for}7,leicht\n" * 40)
    found = ask(source="file:später.csv")
    assert found["guess"]["data.answer_column"] == "Lösung"
    assert [(one["kind"], one["sample"]) for one in found["columns"] if one["name"] == "Lösung"] == [("text", "7")]
    [answers] = [one for one in found["problems"] if one["field"] == "data.answer_column"]
    assert "“Lösung”" in answers["fixes"][0]["label"]
