"""What people call the source of the data and held-out rows under `data`, and a misspelt setting of LoRA."""

from __future__ import annotations

import dataclasses

import pytest
from peft import LoraConfig

from groupwise.storage.spec.spec import parse_spec
from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.words.setting_names import meant_name

LORA_FIELDS = {field.name for field in dataclasses.fields(LoraConfig)}
NO_SUCH = "there is no such field."


def said(data: str) -> Problem:
    with pytest.raises(SpecError) as error:
        parse_spec(f"name: a\nrewards: [{{name: format}}]\ndata: {{{data}}}\n")
    [problem] = error.value.problems
    return problem


@pytest.mark.parametrize(
    ("data", "message", "label", "settings"),
    [
        ("task: arithmetic", f"{NO_SUCH} The source names the task: “source: task:arithmetic”.",
         "Write it as “source: task:arithmetic”", {"data.source": "task:arithmetic"}),
        ("task: 'task:arithmetic', source: task", f"{NO_SUCH} The source names the task: “source: task:arithmetic”.",
         "Write it as “source: task:arithmetic”", {"data.source": "task:arithmetic"}),
        ("gym: leg_counting", f"{NO_SUCH} The source names the task: “source: gym:leg_counting”.",
         "Write it as “source: gym:leg_counting”", {"data.source": "gym:leg_counting"}),
        ("eval_rows: 50", f"{NO_SUCH} Did you mean “holdout”?", "Rename it to holdout", {"data.holdout": 50}),
        ("eval_split: 0.1", f"{NO_SUCH} Did you mean “holdout”?", "Rename it to holdout", {"data.holdout": 0.1}),
    ],
)  # fmt: skip
def test_what_others_call_it_is_written_as_a_spec_has_it(
    data: str, message: str, label: str, settings: dict[str, object]
) -> None:
    problem = said(data)
    assert (problem.message, problem.fixes[0].label, problem.fixes[0].settings) == (message, label, settings)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("task: arithmetic, source: file:x.csv", f"{NO_SUCH} The source names the task, and is set already."),
        ("eval_rows: 50, holdout: 16", f"{NO_SUCH} Did you mean “holdout”? It is set already."),
        ("eval_split: test",
         f"{NO_SUCH} Rows are held out of the same data: “holdout” is how many, or a share of them."),
        ("eval_rows: true",
         f"{NO_SUCH} Rows are held out of the same data: “holdout” is how many, or a share of them."),
        ("task: [arithmetic]", NO_SUCH),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_or_would_write_over_another_is_not_taken_over(data: str, message: str) -> None:
    problem = said(data)
    assert problem.message == message
    assert [fix.settings for fix in problem.fixes] == [{}]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("dropuot", "lora_dropout"), ("dropot", "lora_dropout"), ("alhpa", "lora_alpha"), ("rnak", "r"),
        ("targte", "target_modules"), ("rank_patern", "rank_pattern"), ("tank", None), ("alto", None), ("output", None),
    ],
)  # fmt: skip
def test_a_misspelt_field_of_lora_is_offered_with_and_without_its_prefix(typed: str, meant: str | None) -> None:
    assert meant_name(typed, LORA_FIELDS) == meant
