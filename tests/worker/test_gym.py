"""reasoning-gym's tasks: what is published of them, their rows, and their own scores as a reward."""

from __future__ import annotations

import json
import time
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.gym_values import fitted
from groupwise.storage.spec.spec import DataSpec, from_dict
from groupwise.worker.capabilities import gym_tasks
from groupwise.worker.data import data, gym
from groupwise.worker.data.files.data_error import DataError
from tests.worker.rewards.test_rewards import load

reasoning_gym = pytest.importorskip("reasoning_gym")
gym_score = load("gym_score")


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    found = gym_tasks.describe_tasks()
    assert found is not None
    return found


def test_every_task_of_the_package_is_described_in_plain_values(described: dict[str, Any]):
    from reasoning_gym.factory import DATASETS

    assert set(described) == set(DATASETS) and json.loads(json.dumps(described)) == described
    parameters = described["chain_sum"]["parameters"]
    assert parameters["min_terms"] == {"types": ["int"], "default": 2, "choices": None, "help": ""}
    assert "size" not in parameters and parameters["seed"]["default"] == 0
    assert described["word_sorting"]["parameters"]["min_words"]["help"]


def test_rows_are_the_same_each_time_and_of_plain_text():
    rows = gym.gym_rows("chain_sum", 3, {"min_terms": 3})
    assert rows == gym.gym_rows("chain_sum", 5, {"min_terms": 3})[:3] != gym.gym_rows("chain_sum", 3, {"seed": 1})
    assert set(rows[0]) == {"question", "answer", "metadata"} and all(type(v) is str for v in rows[0].values())
    assert json.loads(rows[0]["metadata"])["parameters"] == {"min_terms": 3}
    assert "parameters" not in json.loads(gym.gym_rows("chain_sum", 1, {})[0]["metadata"])


def test_no_task_has_metadata_of_the_name_that_ours_goes_by(described: dict[str, Any]):
    for name in described:
        if name != "composite":
            assert "parameters" not in json.loads(gym.gym_rows(name, 1, {})[0]["metadata"]), name


@pytest.mark.parametrize(
    ("name", "parameters", "field", "words"),
    [
        ("chain_sums", {}, "data.source", "Did you mean “chain_sum”?"),
        ("chain_sum", {"size": 5}, "data.parameters.size", "use data.limit instead"),
        ("chain_sum", {"min_term": 5}, "data.parameters.min_term", "Did you mean “min_terms”?"),
        ("chain_sum", {"min_terms": 0}, "data.parameters.min_terms", "min_terms must be positive"),
        ("chain_sum", {"min_terms": "three"}, "data.parameters", "cannot be made"),
        ("calendar_arithmetic", {"tasks": 3}, "data.parameters", "cannot be made"),
        ("composite", {}, "data.parameters", "at least one dataset"),
        ("time_intervals", {"min_date": "yesterday"}, "data.parameters.min_date", "cannot be"),
        ("word_sorting", {"transformation": "louder"}, "data.parameters.transformation", "cannot be"),
        # A setting of the scorer that the library's config has no field for, so that nobody can set it:
        ("polynomial_equations", {"penalty_missing_factor": 0.1}, "data.parameters.penalty_missing_factor", "no such"),
    ],
)
def test_parameters_that_do_not_fit_are_a_sentence_at_their_field(
    name: str, parameters: dict[str, Any], field: str, words: str
):
    with pytest.raises(DataError, match=words) as caught:
        gym.gym_rows(name, 2, parameters)
    assert caught.value.field == field


def test_parameters_may_be_dates_tuples_and_parts_of_a_mixture():
    assert gym.gym_rows("time_intervals", 1, {"min_date": "2001-01-01", "max_date": "2001-12-31"})
    assert gym.gym_rows("word_sorting", 1, {"transformation": "uppercase"})
    parts = [{"name": "chain_sum", "weight": 1, "config": {}}, {"name": "leg_counting", "weight": 2, "config": {}}]
    rows = gym.gym_rows("composite", 20, {"datasets": parts})
    sources = {json.loads(row["metadata"])["source_dataset"] for row in rows}
    assert sources == {"chain_sum", "leg_counting"}
    dated = {"name": "time_intervals", "weight": 1, "config": {"task_types": ["date"], "min_date": "1999-01-01",
                                                               "max_date": "1999-12-31"}}  # fmt: skip
    for row in gym.gym_rows("composite", 8, {"datasets": [dated]}):
        assert "1999" in row["question"]


def test_a_run_s_rows_come_from_the_task():
    train, held_out = data.load_data(DataSpec(source="gym:leg_counting", limit=10, holdout=2), chat=True)
    assert held_out is not None and (len(train), len(held_out)) == (8, 2)
    assert train.column_names == ["prompt", "question", "answer", "metadata"]


def score(row: dict[str, Any], completion: str) -> float | None:
    [found] = gym_score(
        completions=[[{"role": "assistant", "content": completion}]], prompts=["?"], completion_ids=[[1]],
        **{name: [value] for name, value in row.items()},
    )  # fmt: skip
    return found


def test_the_right_answer_of_every_task_gets_the_task_s_own_score(described: dict[str, Any]):
    for name in described:
        if name == "composite":
            continue
        made = reasoning_gym.create_dataset(name, size=2, seed=5)
        for entry in (made[0], made[1]):
            if entry["answer"] is None:  # the task has no one answer
                continue
            expected = made.score_answer(answer=entry["answer"].strip(), entry=entry)
            assert score(gym.row(entry, {}), f"<think>so</think><answer>{entry['answer']}</answer>") == expected, name


LETTERS = {"alphabet": list("abcdefghij"), "col_delimiter": ","}
DAYS, CLOCK = {"task_types": ["date"], "min_date": "2001-01-01"}, {"task_types": ["time"]}
FIVES = {"min_word_length": 5, "max_word_length": 5}
TENTHS = {"min_num_decimal_places": 1, "max_num_decimal_places": 1}
COUNTED = [  # (task, parameters that its scorer goes by, what is answered where the right answer is given)
    ("puzzle24", {"max_value": 5}, lambda right: "4*6*1*1"),
    ("puzzle24", {"min_value": 2}, lambda right: "4*6*1*1"),
    ("decimal_arithmetic", TENTHS, lambda right: str(float(right) + 0.05)),
    ("time_intervals", {**DAYS, "max_date_difference_days": 900}, lambda right: f"{int(right.split()[0]) + 30} days"),
    ("time_intervals", {**CLOCK, "max_time_difference_seconds": 3600}, lambda right: "00:00" if right > "1" else "1:1"),
    ("arc_agi", {"board_format_opts": LETTERS}, lambda right: right),
    ("rearc", {"board_format_opts": LETTERS}, lambda right: right),
    ("word_ladder", FIVES, lambda right: right),
]


@pytest.mark.parametrize(("task", "parameters", "answered"), COUNTED)
def test_a_row_is_scored_with_the_parameters_it_was_made_with(
    task: str, parameters: dict[str, Any], answered: Callable[[str], str]
):
    from reasoning_gym.factory import DATASETS

    [row], hints = gym.gym_rows(task, 1, parameters), typing.get_type_hints(DATASETS[task][1])
    settings = {name: fitted(value, hints[name], dict(DATASETS)) for name, value in parameters.items()}
    made, given = reasoning_gym.create_dataset(task, size=1, seed=0, **settings), answered(row["answer"])
    expected = made.score_answer(answer=given, entry=made[0])
    assert score(row, given) == expected != scored_by_default(row, given)


def scored_by_default(row: dict[str, Any], given: str) -> float | None:
    metadata = json.loads(row["metadata"])
    del metadata["parameters"]
    return score({**row, "metadata": json.dumps(metadata)}, given)


def test_each_part_of_a_mixture_is_scored_with_its_own_parameters():
    parts = [{"name": "puzzle24", "weight": 1, "config": {"max_value": 5}},
             {"name": "word_ladder", "weight": 1, "config": FIVES}]  # fmt: skip
    rows = gym.gym_rows("composite", 20, {"datasets": parts})
    ladders = [row for row in rows if "word_ladder" in row["metadata"].partition("parameters")[0]]
    assert 0 < len(ladders) < 20
    for row in rows:
        given, expected = (row["answer"], 1.0) if row in ladders else ("4*6*1*1", 0.01)
        assert score(row, given) == expected != scored_by_default(row, given)


@pytest.mark.parametrize("parameters", [3, [], {"max_value": "9"}, {"max_value": 99}, {"max_value": True}, {"none": 1},
                                        {"datasets": 3}, {"datasets": [1, {"name": "puzzle24", "config": 2}]},
                                        {"operators": None}, {"seed": "x"}])  # fmt: skip
def test_parameters_that_cannot_be_applied_are_left_at_their_defaults(parameters: Any):
    [row] = gym.gym_rows("puzzle24", 1, {})
    row["metadata"] = json.dumps({**json.loads(row["metadata"]), "parameters": parameters})
    assert score(row, "<answer>4*6*1*1") == 0.0  # never closed
    assert score(row, "4*6*1*1") == 1.0 and score(row, "4*12/2*1") == 0.01


def test_an_answer_that_cannot_be_read_gets_nothing_whatever_the_task(described: dict[str, Any]):
    for name in described:
        if name != "composite":
            row = gym.gym_rows(name, 1, {})[0]
            for text in ("", "no idea", "[1, 2", "{}", "[[1]]", "None", "-1"):
                assert 0 <= (found := score(row, text)) <= 1, (name, text, found)  # type: ignore[operator]


@pytest.mark.parametrize("task", ["string_insertion", "spiral_matrix", "binary_matrix", "n_queens", "countdown",
                                  "puzzle24", "simple_integration", "intermediate_integration",
                                  "polynomial_multiplication"])  # fmt: skip
def test_what_a_model_writes_is_never_run_and_ends(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The library's own scorers call eval() and sympy's parse_expr() on answers, which runs them."""
    row, trap = gym.gym_rows(task, 1, {})[0], tmp_path / "it-ran"
    for text in (
        f"__import__('pathlib').Path('{trap}').touch()", f"[open('{trap}', 'w')]", f"exec(\"open('{trap}','w')\")",
        "9**9**9**9", "(((9**999)**999)**999)", "9**(9*9*9*9*9*9*9*9)", "x.__class__", "factorial(10**9)",
        "99999999999!", "N(pi, 99999999)", "S(1)", "a" * 100_000, "(" * 400 + ")" * 400, "lambda: 1", "[0]*10**12",
    ):  # fmt: skip
        begun = time.monotonic()
        found = score(row, f"<answer>{text}</answer>")
        assert found is not None and found < 0.5 and time.monotonic() - begun < 20, text
    assert not trap.exists()


def test_no_task_runs_what_a_model_writes(described: dict[str, Any], tmp_path: Path):
    """Also none that a later version of the library adds, or changes."""
    trap = tmp_path / "it-ran"
    for name in described:
        if name != "composite":
            row = gym.gym_rows(name, 1, {})[0]
            for text in (
                f"open('{trap}', 'w')",
                f"[open('{trap}', 'w')]",
                f"__import__('pathlib').Path('{trap}').touch()",
            ):
                score(row, f"<answer>{text}</answer>")
                assert not trap.exists(), name


def test_the_library_would_run_it(tmp_path: Path):
    """If this fails, the guards are no longer needed."""
    import subprocess
    import sys

    code = (
        "import reasoning_gym as g; d = g.create_dataset('spiral_matrix', size=1, seed=0); "
        f"d.score_answer(answer=\"[open('{tmp_path}/ran', 'w')]\", entry=d[0])"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "ran").exists()


def test_rows_from_elsewhere_do_not_apply():
    assert gym_score(completions=["4"], answer=["4"]) == [None]
    assert score({"answer": "4", "metadata": "nothing"}, "4") is None
    assert score({"answer": "4", "metadata": json.dumps({"page": 3})}, "4") is None


def problems(offer: Offer, **parts: Any) -> list[tuple[str, str]]:
    spec = from_dict({"name": "a", "rewards": [{"name": "format"}], **parts})
    return [(problem.field, problem.message) for problem in examine_spec(spec, offer)]


def test_a_spec_is_held_against_the_published_tasks(described: dict[str, Any]):
    offer = Offer(gym=described)
    assert problems(offer, data={"source": "gym:chain_sum", "parameters": {"min_terms": 3}}) == []
    for data_, field, words in (
        ({"source": "gym:chainsum"}, "data.source", "Did you mean “chain_sum”?"),
        ({"source": "gym:chain_sum", "parameters": {"min_term": 3}}, "data.parameters.min_term", "no such parameter"),
        ({"source": "gym:chain_sum", "parameters": {"min_terms": 3.5}}, "data.parameters.min_terms", "a whole number"),
        ({"source": "gym:chain_sum", "parameters": {"size": 3}}, "data.parameters.size", "use data.limit instead"),
        ({"source": "task:arithmetic", "parameters": {"a": 1}}, "data.parameters", "only a reasoning-gym task"),
    ):
        [(where, message)] = problems(offer, data=data_)
        assert where == field and words in message
    without = Offer(gym=None, hardware={"sentence": "CPU"})
    assert "pip install reasoning-gym" in problems(without, data={"source": "gym:chain_sum"})[0][1]


def test_gym_score_is_for_these_tasks_and_needs_their_columns(described: dict[str, Any]):
    own = {"rewards": [{"name": "gym_score"}]}
    offer = Offer(gym=described)
    assert problems(offer, **own, data={"source": "gym:chain_sum"}) == []
    assert problems(offer, **own, data={"source": "task:arithmetic"})[0][0] == "rewards.0.name"
    assert problems(offer, **own, data={"source": "gym:chain_sum", "columns": ["question"]})[0][0] == "data.columns"
    assert problems(offer, **own, data={"source": "gym:chain_sum", "answer_column": None})[0][0] == "data.answer_column"
