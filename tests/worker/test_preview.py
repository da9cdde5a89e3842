"""What a person sees of their data before a run: the very prompt the model reads, what does not fit, and what would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import view
from groupwise.storage.home import paths
from groupwise.storage.registry.messages.data_checks import BINS
from groupwise.storage.registry.messages.preview import CELL
from groupwise.storage.registry.questions import CHECK_DATA, PREVIEW
from groupwise.storage.spec.spec import DataSpec, from_dict
from groupwise.worker.builtin import models
from groupwise.worker.data import data, data_checks, preview_source, tokens
from groupwise.worker.data.data_error import DataError
from groupwise.worker.questions import server
from tests.support.runs import make_spec

GSM = [{"problem": f"Tom has {n} apples and buys {n}.", "solution": f"{n}+{n}\n#### {2 * n}"} for n in range(1, 31)]
MAPPED = {"source": "file:gsm.jsonl", "prompt_template": "{problem}", "answer_column": "solution",
          "answer_pattern": r"####\s*(.+)"}  # fmt: skip


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> None:
    write("gsm.jsonl", GSM)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    (paths.data_folder() / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def ask(row: int = 0, model: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    found = server.answer_question(PREVIEW, {"data": parts, "model": model or {}, "row": row})
    return json.loads(json.dumps(found))  # it travels as JSON


def check(all_: bool = False, completion: int | None = 256, **parts: Any) -> dict[str, Any]:
    asked = {"data": parts, "model": {}, "longest_completion": completion, "all": all_}
    return json.loads(json.dumps(server.answer_question(CHECK_DATA, asked)))


def fixed(parts: dict[str, Any], problem: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """The data settings after one click."""
    fix = problem["fixes"][number]
    changed = {**parts, **{path.removeprefix("data."): value for path, value in fix["settings"].items()}}
    return {name: value for name, value in changed.items() if f"data.{name}" not in fix["removed"]}


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


def test_one_click_maps_the_columns_that_were_not_found():
    parts: dict[str, Any] = {"source": "file:gsm.jsonl"}
    found = ask(**parts)
    assert [(p["field"], p["level"]) for p in found["problems"]] == [
        ("data.prompt_template", "blocking"), ("data.answer_column", "blocking"),
    ]  # fmt: skip
    assert [p["message"] for p in found["problems"]] == [
        "choose what is asked: a column, or a text with columns in braces, such as {problem}. "
        "The columns are problem, solution.",
        "choose the column with the right answers. The columns are problem, solution.",
    ]
    written = ask(**{**parts, "prompt_template": "Ask: {question}", "answer_column": "antwort"})["problems"]
    assert [p["message"].split(".")[0] for p in written] == [
        "there is no column “question”", "there is no column “antwort”",
    ]  # fmt: skip
    assert found["problems"][0]["fixes"][0]["label"] == "Use “problem”"
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


def test_a_check_of_good_data_finds_nothing_wrong():
    found = check(**MAPPED, holdout=0.1)
    assert found["problems"] == [] and found["note"] == "All rows were checked: 27 to train on, 3 held out."
    assert (found["checked"], found["kept"], found["held_out"], found["filtered"]) == (30, 27, 3, 0)
    assert found["rows"] == {"count": 30, "exact": True} and found["room"] == 512 - 256
    assert sum(found["lengths"]["counts"]) == 30 and found["lengths"]["unit"] == "tokens"
    longest = found["lengths"]["longest"]
    assert longest["row"] == 9 and longest["text"] == GSM[9]["problem"]
    assert (
        found["lengths"]["edges"][0] <= found["lengths"]["median"] <= longest["length"] < found["lengths"]["edges"][-1]
    )
    assert found["answers"]["distinct"] == 30


def problem_of(found: dict[str, Any], words: str) -> dict[str, Any]:
    matching = [problem for problem in found["problems"] if words in problem["message"]]
    assert len(matching) == 1, found["problems"]
    return matching[0]


def messy() -> list[dict[str, Any]]:
    rows = [{"question": f"Is {n} even?", "answer": "yes" if n % 5 else "no"} for n in range(40)]
    rows += [
        {"question": "Is 1 even?", "answer": "no"},
        {"question": " ", "answer": "no"},
        {"question": None, "answer": "no"},
    ]
    rows += [{"question": "Is it even?", "answer": None}, {"question": "Is it odd?", "answer": ""}]
    return rows + [{"question": "Why? " * 90, "answer": "yes"}]


def test_each_kind_of_bad_row_is_counted_and_said():
    write("messy.jsonl", messy())
    found = check(source="file:messy.jsonl")
    counted = {name: found[name] for name in ("checked", "empty", "duplicates", "missing_answers", "too_long")}
    assert counted == {"checked": 46, "empty": 2, "duplicates": 1, "missing_answers": 2, "too_long": 1}
    assert found["lengths"]["longest"]["row"] == 45
    assert [problem["level"] for problem in found["problems"]] == ["warning", "warning", "warning", "advice", "advice"]
    assert "of the answers are “yes”" in problem_of(found, "always says so")["message"]
    assert "more than 256 tokens, which with a completion of 256 is more than the 512" in str(found["problems"])


@pytest.mark.parametrize(
    ("words", "count"),
    [("nothing to ask", "empty"), ("no answer in", "missing_answers"), ("is more than the 512", "too_long")],
)
def test_one_click_leaves_the_bad_rows_out(words: str, count: str):
    write("messy.jsonl", messy())
    parts: dict[str, Any] = {"source": "file:messy.jsonl"}
    found = check(**parts)
    mended = check(**fixed(parts, problem_of(found, words)))
    assert found[count] > 0 and mended[count] == 0
    left_out_anyway = found[count] if count == "empty" else 0
    assert mended["filtered"] == found[count] and mended["kept"] == found["kept"] - found[count] + left_out_anyway


def test_overlong_prompts_may_also_have_shorter_completions():
    write("messy.jsonl", messy())
    problem = problem_of(check(source="file:messy.jsonl", completion=100), "more than 412 tokens")
    shorter = problem["fixes"][1]["settings"]["training.max_completion_length"]
    assert check(source="file:messy.jsonl", completion=shorter)["too_long"] == 0


def test_a_pattern_that_misses_some_rows_is_said():
    write("mixed.jsonl", [*GSM, {"problem": "No mark", "solution": "no mark"}])
    parts = {**MAPPED, "source": "file:mixed.jsonl"}
    problem = problem_of(check(**parts), "the pattern finds nothing")
    assert problem["level"] == "warning" and check(**fixed(parts, problem))["missing_answers"] == 0
    none = check(**{**parts, "answer_pattern": r"(\d{9})"})
    assert problem_of(none, "the pattern finds nothing")["level"] == "blocking"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"filter": ["problem = nope"]}, "data.filter"),
        ({"holdout": 30}, "data.holdout"),
        ({"filter": ["problem contains 3"], "holdout": 29}, "data.holdout"),
    ],
)
def test_nothing_left_to_train_on_blocks_with_a_fix(change: dict[str, Any], field: str):
    parts = {**MAPPED, **change}
    [problem] = check(**parts)["problems"]
    assert (problem["field"], problem["level"]) == (field, "blocking")
    assert check(**fixed(parts, problem))["problems"] == []


def test_a_look_at_the_first_rows_estimates_the_rest_and_all_counts_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data_checks, "FEW", 1000)
    write("many.jsonl", [{"question": f"Is {n} even?", "answer": n % 2} for n in range(3000)])
    some = check(source="file:many.jsonl", filter=["answer = 0"], holdout=100)
    assert some["note"] == "The first 1,000 of 3,000 rows were checked: about 1,400 to train on, about 100 held out."
    every = check(all_=True, source="file:many.jsonl", filter=["answer = 0"], holdout=100)
    assert every["note"] == "All rows were checked: 1,400 to train on, 100 held out."
    assert (every["checked"], every["filtered"], every["kept"]) == (3000, 1500, 1400)


@pytest.mark.parametrize("conditions", [["answer is not empty", "question is not empty"], ["answer is not empty"], []])
def test_what_training_loads_is_what_was_counted(conditions: list[str]):
    write("messy.jsonl", messy())
    parts = {"source": "file:messy.jsonl", "filter": conditions, "holdout": 0.2}
    said: list[str] = []
    asked = DataSpec.model_validate({**parts, "shuffle": 1})
    train, held_out = data.load_data(asked, chat=True, say=said.append)
    found = check(all_=True, **parts)
    assert held_out is not None and (found["kept"], found["held_out"]) == (len(train), len(held_out))
    rows = {0: 46, 1: 44}.get(len(conditions))
    gone = f"2 of {rows} rows have nothing to ask, and are left out: “question” is empty there."
    assert said == ([gone] if rows else [])
    assert not [row for row in train if "None" in str(row["prompt"]) or not row["prompt"][0]["content"].strip()]


def test_rows_that_ask_nothing_are_left_out_with_their_count_and_alone_they_are_refused():
    write("one.jsonl", [{"question": None, "answer": "1"}, {"question": "1+1?", "answer": "2"}])
    [problem] = check(source="file:one.jsonl")["problems"]
    assert (problem["level"], problem["message"]) == ("warning", "1 of 2 rows has nothing to ask and is left out.")
    write("none.jsonl", [{"question": None, "answer": "1"}, {"question": "  ", "answer": "2"}])
    [problem] = check(source="file:none.jsonl")["problems"]
    assert (problem["level"], problem["field"]) == ("blocking", "data.prompt_template")
    assert problem["message"] == "none of the rows asks anything: “question” is empty."
    with pytest.raises(DataError, match="none of the 2 rows asks anything: “question” is empty there"):
        data.load_data(DataSpec(source="file:none.jsonl"), chat=True)
    [problem] = check(source="file:none.jsonl", prompt_column="question", prompt_template="{question}")["problems"]
    assert problem["field"] == "data.prompt_column"


def test_a_cell_that_is_missing_says_nothing_beside_one_that_is_there():
    write("alpaca.jsonl", [{"instruction": "Add.", "input": None, "answer": 1}, {"instruction": "Go.", "input": "x"}])
    asked = DataSpec(source="file:alpaca.jsonl", prompt_template="{instruction}|{input}")
    assert [row["prompt"] for row in data.load_data(asked, chat=False)[0]] == ["Add.|", "Go.|x"]


@pytest.mark.parametrize(
    ("cell", "kind"), [({"a": 1}, "a mapping"), ([{"role": "user", "content": "Hi"}], "a list of mappings")]
)
def test_a_mapping_is_no_prompt(cell: Any, kind: str):
    """It was read out as Python writes it."""
    write("odd.jsonl", [{"question": cell, "answer": "1"}])
    words = f"“question” holds {kind}, which a prompt cannot say (data.prompt_template)."
    for found in (check(source="file:odd.jsonl"), ask(source="file:odd.jsonl")):
        said = [problem for problem in found["problems"] if problem["message"].startswith(words[:-1])]
        assert [(one["field"], one["level"]) for one in said] == [("data.prompt_template", "blocking")]
    with pytest.raises(DataError, match="which a prompt cannot say"):
        data.load_data(DataSpec(source="file:odd.jsonl"), chat=True)
    asked = DataSpec(source="file:odd.jsonl", prompt_column="question")
    if kind == "a mapping":
        with pytest.raises(DataError, match=r"cannot say \(data.prompt_column\)"):
            data.load_data(asked, chat=True)
    else:
        assert data.load_data(asked, chat=True)[0][0]["prompt"] == cell


def test_every_length_is_in_a_bin():
    assert data_checks.histogram([]) == ([], [])
    assert data_checks.histogram([7, 7]) == ([7, 8], [2])
    edges, counts = data_checks.histogram([1, 2, 1000])
    assert len(counts) <= BINS and sum(counts) == 3
    assert len(edges) == len(counts) + 1 and edges[0] <= 1 and edges[-1] > 1000


def test_a_source_of_no_kind_is_refused():
    with pytest.raises(DataError, match="is not a data source"):
        preview_source.table_of(DataSpec(source="ftp:x"))


@pytest.mark.parametrize("length", ["many", 0, -5, 1.5, [48], None])
def test_the_data_is_checked_though_the_longest_completion_is_no_length(registry_home: Path, length: Any):
    usual = server.answer_question(CHECK_DATA, {"data": {"limit": 8}, "model": {}})
    spec = make_spec(data={"limit": 8}, training={"max_completion_length": length})
    assert server.answer_question(CHECK_DATA, view.about_lengths(spec).as_dict()) == usual
    assert usual["lengths"] and "error" not in usual
