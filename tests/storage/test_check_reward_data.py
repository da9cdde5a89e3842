"""Reward functions against the run's data and lengths: columns missing or mistaken, scores that nobody can reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import from_dict
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Problem
from tests.support.offered_rewards import MINE, OFFERED, after_a_click, problems


@pytest.mark.parametrize(
    ("data", "field", "level"),
    [
        ({"source": "task:arithmetic"}, "rewards.0.name", BLOCKING),
        ({"source": "gym:chain_sum"}, "rewards.0.name", BLOCKING),
        ({"source": "hub:org/rows", "columns": ["question"]}, "data.columns", BLOCKING),
        ({"source": "hub:org/rows"}, "", ""),
        ({"source": "hub:org/rows", "columns": ["level"]}, "", ""),
    ],
)
def test_a_column_that_a_function_needs_is_there(data: dict[str, Any], field: str, level: str):
    found = [one for one in problems(MINE, data=data) if "level" in one.message]
    assert [(one.field, one.level) for one in found] == ([(field, level)] if field else [])
    for problem in found:
        mended = after_a_click({"name": "a", "rewards": [MINE, {"name": "format"}], "data": data}, problem)
        assert [one for one in examine_spec(from_dict(mended), OFFERED) if one.level == BLOCKING] == []


@pytest.mark.parametrize(
    ("data", "column", "field", "level"),
    [
        ({"source": "task:arithmetic"}, None, "rewards.0.parameters.column", BLOCKING),
        ({"source": "task:arithmetic"}, "question", "", ""),
        ({"source": "hub:org/rows", "columns": ["level"]}, None, "data.columns", BLOCKING),
        ({"source": "hub:org/rows", "columns": ["level"]}, "checks", "data.columns", BLOCKING),
        ({"source": "hub:org/rows", "columns": ["level", "tests"]}, None, "", ""),
        ({"source": "hub:org/rows"}, None, "rewards.0.parameters.column", WARNING),
        ({"source": "hub:org/rows"}, "leve", "rewards.0.parameters.column", WARNING),
        ({"source": "hub:org/rows"}, "level", "", ""),
    ],
)
def test_a_column_that_a_parameter_names_is_there(data: dict[str, Any], column: str | None, field: str, level: str):
    reward = {"name": "code_tests", "parameters": {"column": column} if column else {}}
    seen = None if "columns" in data else ["question", "level"]
    found = examine_spec(from_dict({"name": "a", "rewards": [reward], "data": data}), OFFERED, columns=seen)
    assert [(one.field, one.level) for one in found] == ([(field, level)] if field else [])
    for problem in found:
        assert f"column “{column or 'tests'}”" in problem.message and problem.fixes
        for number in range(len(problem.fixes)):
            mended = after_a_click({"name": "a", "rewards": [reward], "data": data}, problem, number)
            assert examine_spec(from_dict(mended), OFFERED, columns=seen) == []


def test_columns_that_the_preview_has_seen_make_a_warning():
    spec = from_dict({"name": "a", "rewards": [MINE], "data": {"source": "hub:org/rows"}})
    [problem] = examine_spec(spec, OFFERED, columns=["question", "levels"])
    assert (problem.level, problem.field) == (WARNING, "rewards.0.name") and "“levels”" in problem.message
    assert examine_spec(spec, OFFERED) == []


def test_a_column_that_a_file_surely_lacks_blocks_and_no_other_reward_comes_in_its_place():
    def found(offered: Offer, columns: list[str]) -> Problem:
        raw = {"name": "a", "rewards": [MINE], "data": {"source": "file:x.jsonl", "answer_column": "solution"}}
        said = examine_spec(from_dict(raw), offered, columns=columns)
        (problem,) = (one for one in said if one.field == "rewards.0.name")
        return problem

    columns = ["question", "solution"]
    assert found(OFFERED, columns).level == BLOCKING
    assert [fix.label for fix in found(OFFERED, columns).fixes] == ["Remove the reward mine"]
    target = {**OFFERED.rewards["mine"], "arguments": ["completions", "target"]}
    assert found(replace(OFFERED, rewards={**OFFERED.rewards, "mine": target}), columns).message == (
        "“mine” needs a column “target”, which this data does not have. The row's answer is given as “answer”: under "
        "Rewards, rename its argument to that."
    )
    more = [*columns, *(f"c{number}" for number in range(200))]  # there may be some that the preview does not tell of
    assert found(OFFERED, more).level == WARNING


def test_functions_that_compare_need_an_answer():
    for name in ("correctness", "math_equivalence", "cosine_length"):
        [problem] = problems({"name": name}, data={"source": "hub:org/rows", "answer_column": None})
        assert problem.field == "data.answer_column" and f"“{name}”" in problem.message


@pytest.mark.parametrize("answer", ["answer", "Lösung", None])
def test_an_answer_column_that_is_empty_is_not_offered_and_what_compares_with_it_is_said_at_once(answer: str | None):
    """It was offered, and the next problem said that it is empty: one went in a circle. And only once it was said that
    there is no answer, another problem said that the reward wants one."""
    data = {"source": "file:x.jsonl", "answer_column": answer}
    raw = {"name": "a", "data": data, "rewards": [{"name": "format"}, {"name": "correctness"}]}
    found = examine_spec(from_dict(raw), OFFERED, columns=["Frage", "Lösung"], empty=["Lösung"])
    (problem,) = [one for one in found if one.field.startswith(("rewards.", "data.answer"))]
    assert problem.message == "“correctness” compares with the answer, and “Lösung” is empty: use another reward."
    assert (problem.field, [fix.label for fix in problem.fixes]) == (
        "rewards.1.name", ["Remove the reward correctness"],
    )  # fmt: skip


@pytest.mark.parametrize(("columns", "meant"), [(["question", "answer"], "answer"), (["Frage", "Lösung"], "Lösung")])
def test_an_answer_column_that_the_preview_has_seen_is_offered(columns: list[str], meant: str):
    raw = {"name": "a", "data": {"source": "file:x.jsonl", "answer_column": None}, "rewards": [{"name": "correctness"}]}
    found = examine_spec(from_dict(raw), OFFERED, columns=columns)
    (problem,) = [one for one in found if one.field == "data.answer_column"]
    assert [fix.label for fix in problem.fixes][0] == f"Use the column “{meant}”"
    assert after_a_click(raw, problem)["data"]["answer_column"] == meant


def test_a_column_that_a_shipped_function_would_take_for_its_parameter_is_said():
    """Every call of it would fail: a parameter is one value, a column a list."""
    raw = {"name": "a", "data": {"source": "file:x.jsonl"}, "rewards": [{"name": "length"}, {"name": "mine"}]}

    def found(spec: dict[str, Any]) -> list[Problem]:
        seen = examine_spec(from_dict(spec), OFFERED, columns=["question", "level", "mode", "most"])
        return [one for one in seen if one.field.startswith("rewards.")]

    (problem,) = found(raw)
    assert (problem.field, problem.level) == ("rewards.0.parameters.mode", WARNING)
    assert problem.message == ("this data has a column “mode”, which “length” would take for its parameter “mode”.")
    assert problem.fixes[0].label == "Set it to its default (shorter)"
    assert found(after_a_click(raw, problem)) == []
    raw["data"]["columns"] = ["level"]  # the function does not get it
    assert found(raw) == []


@pytest.mark.parametrize(
    ("parameters", "longest", "gives"),
    [
        ({}, 48, 1),
        ({}, 64, 1),
        ({"low": 300}, None, 1),
        ({"mode": "longer"}, 48, 0),
        ({"low": 100, "high": 900}, 96, 1),
    ],
)
def test_a_length_that_no_completion_can_reach_is_said_before_launch(
    parameters: dict[str, Any], longest: int | None, gives: int
) -> None:
    raw = {"name": "length", "parameters": parameters}
    training = {} if longest is None else {"max_completion_length": longest}
    said = "It can tell no completions apart."
    (problem,) = (one for one in problems({"name": "correctness"}, raw, training=training) if said in one.message)
    low, most = parameters.get("low", 64), longest or 256
    unset = "" if "low" in parameters else " (the default of “low”)"
    assert (problem.level, problem.field) == (WARNING, "rewards.1.name")
    assert problem.message == (
        f"gives every completion {gives}: up to {low} tokens{unset} all earn the same, and none is longer than {most} "
        f"(Max completion length). {said}"
    )
    spec = {"name": "a", "rewards": [{"name": "correctness"}, raw], "training": training}
    fixed = after_a_click(spec, problem)["rewards"][1]
    assert (fixed["parameters"]["low"], fixed["parameters"]["high"]) == (most // 2, most)
    assert not any(said in one.message for one in problems({"name": "correctness"}, fixed, training=training))


@pytest.mark.parametrize(
    ("parameters", "longest"), [({}, 65), ({}, 256), ({"mode": "target"}, 48), ({"low": 20}, 48), ({"low": "x"}, 48)]
)
def test_a_length_that_tells_completions_apart_is_not_warned_of(parameters: dict[str, Any], longest: int) -> None:
    raw = {"name": "length", "parameters": parameters}
    found = problems({"name": "correctness"}, raw, training={"max_completion_length": longest})
    assert not any("tell no completions apart" in problem.message for problem in found)
