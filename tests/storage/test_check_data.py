"""What can be said of a spec's data without reading rows, each with what one click does about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.data import CHOOSE_ANOTHER, MEANWHILE, check_data
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import DataSpec, from_dict
from groupwise.storage.spec.words.problem import Fix, Problem

OFFER = Offer(
    tasks={"arithmetic": {"help": ""}},
    gym={"chain_sum": {"help": "", "parameters": {"min_terms": {"types": ["int"], "default": 2, "choices": None}}}},
    hardware={"sentence": "CPU"},
)


def problems(data: dict[str, Any], reward: str = "format") -> list[Problem]:
    return check_data(from_dict({"name": "a", "rewards": [{"name": reward}], "data": data}), OFFER)


def after(data: dict[str, Any], fix: Fix) -> dict[str, Any]:
    """The data settings after one click."""
    changed = {**DataSpec().model_dump(), **data}
    for path, value in fix.settings.items():
        _, name, *inner = path.split(".")
        changed[name] = {**changed[name], inner[0]: value} if inner else value
    for path in fix.removed:
        _, name, *inner = path.split(".")
        if inner and isinstance(changed[name], list):
            changed[name] = [one for place, one in enumerate(changed[name]) if str(place) != inner[0]]
        elif inner:
            changed[name] = {key: value for key, value in changed[name].items() if key != inner[0]}
        else:
            changed[name] = getattr(DataSpec(), name)
    return changed


CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"source": "task:arithmetics"}, "data.source", "Did you mean “arithmetic”?"),
    ({"source": "gym:chainsum"}, "data.source", "Did you mean “chain_sum”?"),
    (
        {"source": "gym:chain_sum", "parameters": {"min_term": 3}},
        "data.parameters.min_term",
        "Did you mean “min_terms”?",
    ),
    ({"source": "gym:chain_sum", "parameters": {"min_terms": "3"}}, "data.parameters.min_terms", "a whole number"),
    ({"source": "gym:chain_sum", "parameters": {"size": 9}}, "data.parameters.size", "data.limit"),
    ({"source": "file:rows.json"}, "data.source", "Did you mean “rows.jsonl”?"),
    ({"source": "file:gone.jsonl"}, "data.source", "Upload it, or copy it there."),
    ({"source": "rows.jsonl"}, "data.source", "Did you mean “file:rows.jsonl”?"),
    ({"source": "openai/gsm8k"}, "data.source", "Did you mean “hub:openai/gsm8k”?"),
    *(
        ({"source": written}, "data.source", "Did you mean “hub:openai/gsm8k”?")
        for written in [
            "https://huggingface.co/datasets/openai/gsm8k",
            "hub:https://huggingface.co/datasets/openai/gsm8k/viewer/main",
            "hf.co/datasets/openai/gsm8k?a=b",
            "hf:openai/gsm8k",
            "hf://datasets/openai/gsm8k",
            "datasets/openai/gsm8k",
            "hub: openai/gsm8k",
            "‘openai/gsm8k’",
        ]
    ),
    *(
        ({"source": written}, "data.source", "Did you mean “file:rows.jsonl”?")
        for written in [
            "./data/rows.jsonl",
            "data/rows.jsonl",
            "/home/me/rows.jsonl",
            "C:\\data\\rows.jsonl",
            "File: data/rows.jsonl",
        ]
    ),
    ({"source": "file:./data/rows.jsonl"}, "data.source", "Did you mean “rows.jsonl”?"),
    ({"source": "taks:arithmetic"}, "data.source", "Did you mean “task:arithmetic”?"),
    ({"source": "arithmetic"}, "data.source", "Did you mean “task:arithmetic”?"),
    ({"source": "arithmetics"}, "data.source", "Did you mean “task:arithmetic”?"),
    ({"source": "chain_sum"}, "data.source", "Did you mean “gym:chain_sum”?"),
    ({"source": "rows"}, "data.source", "Did you mean “file:rows.jsonl”?"),
    ({"source": "‘task:arithmetic’"}, "data.source", "Did you mean “task:arithmetic”?"),
    ({"source": "hub:gsm8k"}, "data.source", "the dataset's id on the hub"),
    ({"source": "hub:../../etc"}, "data.source", "the dataset's id on the hub"),
    ({"source": "hub:https://evil/x"}, "data.source", "the dataset's id on the hub"),
    ({"source": "hub:org/a..b"}, "data.source", "the dataset's id on the hub"),
    ({"source": "https://evil/x.jsonl"}, "data.source", "should be task:NAME"),
    ({"source": "file:///etc/passwd"}, "data.source", "is not the name of a file"),
    ({"source": "hub:org/name", "streaming": True}, "data.limit", "streaming needs a limit"),
    ({"source": "task:arithmetic", "split": "test"}, "data.split", "is not used: only a dataset of the hub"),
    ({"source": "task:arithmetic", "streaming": True}, "data.streaming", "is not used"),
    ({"source": "task:arithmetic", "parameters": {"a": 1}}, "data.parameters", "only a reasoning-gym task"),
    ({"filter": ["level"]}, "data.filter.0", "is not a condition"),
    ({"prompt_template": "always the same"}, "data.prompt_template", "names no column"),
    ({"prompt_template": "Solve {problem}!"}, "data.prompt_template", "there is no column “problem”"),
    ({"prompt_column": "nope"}, "data.prompt_column", "there is no column “nope”"),
    ({"prompt_column": "question", "prompt_template": "{answer}"}, "data.prompt_template", "is not used"),
    ({"answer_column": "solution"}, "data.answer_column", "there is no column “solution”"),
    ({"filter": ["level < 3"]}, "data.filter.0", "there is no column “level”"),
    ({"columns": ["level"]}, "data.columns.0", "there is no column “level”"),
    ({"answer_pattern": "("}, "data.answer_pattern", "is not a regular expression"),
    ({"answer_column": None, "answer_pattern": "x"}, "data.answer_pattern", "there is no answer column"),
    ({"limit": 10, "holdout": 10}, "data.holdout", "leaves none to train on"),
    ({"holdout": 4000}, "data.holdout", "leaves none to train on"),
]


@pytest.mark.parametrize(("data", "field", "words"), CASES, ids=[f"{field}-{words[:30]}" for _, field, words in CASES])
def test_each_problem_is_said_at_its_field_and_any_of_its_fixes_mends_it(
    registry_home: Path, data: dict[str, Any], field: str, words: str
):
    (paths.data_folder() / "rows.jsonl").write_text("{}")
    [problem] = problems(data)
    assert problem.field == field and words in problem.message
    assert problem.fixes and (data.get("source") != "file:gone.jsonl" or problem.fixes == (CHOOSE_ANOTHER, MEANWHILE))
    for fix in problem.fixes:
        if not fix.leads:  # that one leads to the field, and changes nothing
            assert problems(after(data, fix)) == []


@pytest.mark.parametrize(
    "data",
    [
        {"source": "hub:openai/gsm8k", "config": "main", "split": "train[:100]", "revision": "abc", "streaming": False},
        {"source": "hub:org/name", "streaming": True, "limit": 10},
        {"source": "gym:chain_sum", "parameters": {"min_terms": 3}},
        {"holdout": 0.5, "limit": 2},
        {"filter": ["answer > 50", "length of question < 9"]},
        {"prompt_template": '{"json": 1} {question}'},
        {"prompt_column": "question"},
    ],
)
def test_good_data_has_no_problem(data: dict[str, Any]):
    assert problems(data) == []


def test_correctness_needs_an_answer():
    [problem] = problems({"answer_column": None}, reward="correctness")
    assert problem.field == "data.answer_column"
    assert [fix.settings for fix in problem.fixes] == [
        {"data.answer_column": "answer"},
        {"rewards.0": {"name": "format", "weight": 1.0}},
    ]
    assert problems({"answer_column": None}, reward="format") == []


def test_what_is_not_published_yet_is_not_held_against_anyone():
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], "data": {"source": "gym:anything"}})
    assert check_data(spec, Offer()) == []
    assert "pip install reasoning-gym" in check_data(spec, Offer(hardware={"sentence": "CPU"}))[0].message


@pytest.mark.parametrize(
    ("template", "columns", "name", "label"),
    [
        ("{Antwort", ["Frage", "Antwort"], "Antwort", ["Use {Antwort}"]),
        ("Q: {Fragen", ["Frage", "Antwort"], "Fragen", ["Use Q: {Frage}"]),
        ("{Preis (€) bitte", ["Preis", "Preis (€)"], "Preis (€)", ["Use {Preis (€)} bitte"]),
        ("{zzz", ["Frage", "Antwort"], "zzz", []),
        ("{Frage", None, "Frage", ["Use {Frage}"]),
    ],
)  # fmt: skip
def test_a_brace_that_is_not_closed_is_said_and_closed(
    template: str, columns: list[str] | None, name: str, label: list[str], registry_home: Path
):
    data = {"source": "file:a.csv", "prompt_template": template}
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], "data": data})
    found = [one for one in check_data(spec, OFFER, columns) if one.field == "data.prompt_template"]
    assert [[fix.label for fix in one.fixes] for one in found] == [label]
    assert found[0].message.startswith(f"the brace before “{name}” is not closed.")


def test_a_brace_that_is_not_closed_behind_one_that_is_warns(registry_home: Path):
    data = {"source": "file:a.csv", "prompt_template": "{Frage} {Antwort bitte"}
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], "data": data})
    (found,) = [one for one in check_data(spec, OFFER, ["Frage", "Antwort"]) if one.field == "data.prompt_template"]
    assert found.message == "the brace before “Antwort” is not closed, so prompts show the name, not its value."
    assert (found.level, found.fixes[0].settings) == ("warning", {"data.prompt_template": "{Frage} {Antwort} bitte"})
    unknown = [one for one in check_data(spec, OFFER) if one.field == "data.prompt_template"]
    assert unknown == [], "where the columns are not known, it may be text"


def test_a_data_file_that_is_not_there_is_told_alike_with_how_it_gets_there() -> None:
    for name in ("gone.csv", "./gone.csv"):
        [problem] = problems({"source": f"file:{name}"})
        assert problem.message.endswith(f"{paths.data_folder()}. Upload it, or copy it there.")
