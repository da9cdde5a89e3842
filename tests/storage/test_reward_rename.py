"""A function that asks for a column under another name is told what the data calls it, and one click renames it."""

from __future__ import annotations

import pytest

from groupwise.storage.library.rewards.rename import rename_argument
from groupwise.storage.library.rewards.signature import analyse, problems_for
from groupwise.storage.spec.rows.column_names import column_of_same_meaning

CODE = """def other(solution):
    return solution

def f(completions, solution, **kwargs):
    inner = lambda solution: solution  # its own
    ü = [solution for _ in completions]; x = "solution"
    return [float(s == c) for s, c in zip(solution, completions)]
"""
RENAMED = """def other(solution):
    return solution

def f(completions, answer, **kwargs):
    inner = lambda solution: solution  # its own
    ü = [answer for _ in completions]; x = "solution"
    return [float(s == c) for s, c in zip(answer, completions)]
"""


def test_the_column_of_the_same_meaning_is_named():
    (problem,) = problems_for(analyse(CODE, "f").functions[0], {"question", "answer"})
    assert problem.message == "“f” takes “solution”; in your data it is “answer”."
    assert problem.rename == ("f", "solution", "answer")
    (mapped,) = problems_for(analyse(CODE.replace("solution", "answer"), "f").functions[0], {"Frage", "Lösung"})
    assert mapped.message == (
        "“f” takes “answer”; in your data it is “Lösung”. Choose “Lösung” as the answer column under New run: then it "
        "is given as “answer”."
    )
    (near,) = problems_for(analyse(CODE.replace("solution", "anser"), "f").functions[0], {"answer"})
    assert near.message.endswith("Did you mean “answer”?") and near.rename == ("f", "anser", "answer")
    (none,) = problems_for(analyse(CODE, "f").functions[0], {"question"})
    assert none.message == "“f” takes “solution”, which this dataset does not have." and none.rename is None


@pytest.mark.parametrize(
    ("asked", "columns", "meant"),
    [("ground_truth", ["Solution", "x"], "Solution"), ("solution", ["label", "target"], "target"),
     ("solution", ["label", "answer"], "answer"), ("gold", ["Antwort", "Frage"], "Antwort"),
     ("problem", ["question", "answer"], "question"),
     ("length", ["answer"], ""), ("", ["answer"], "")],
)  # fmt: skip
def test_only_a_column_that_means_the_same_is_offered(asked: str, columns: list[str], meant: str):
    assert column_of_same_meaning(asked, columns) == (meant or None)


def test_an_argument_is_renamed_wherever_its_function_uses_it_and_nowhere_else():
    assert rename_argument(CODE, "f", "solution", "answer") == RENAMED


@pytest.mark.parametrize(
    ("code", "new"),
    [(CODE, "x"), (CODE, "not a name"), (CODE, "class"), ("def f(:", "answer"), ("x = 1", "answer")],
)  # fmt: skip
def test_where_the_name_is_taken_or_none_nothing_changes(code: str, new: str):
    assert rename_argument(code, "f", "solution", new) == code
