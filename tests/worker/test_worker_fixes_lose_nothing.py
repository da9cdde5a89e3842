"""No click on what the worker proposes writes over what was typed elsewhere, or takes it away, without saying so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, yaml_edit
from groupwise.storage.home import paths
from groupwise.storage.registry.messages.data_checks import CheckDataQuestion
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.storage.registry.messages.model import ModelQuestion
from groupwise.storage.registry.messages.preview import PreviewQuestion
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec.spec import RunSpec, parse_spec
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.data.data_checks import answer_data_checks
from groupwise.worker.data.preview import answer_preview
from groupwise.worker.questions import build
from groupwise.worker.questions.describe_model import answer_model
from tests.support.fixes import lost_unsaid

# A spec in which everything is typed that a fix of the worker's might reach.
WHOLE = """
name: mine
model: {id: starter, revision: null, dtype: float32}
data: {source: 'file:sums.csv', split: test, limit: 40, holdout: 4, system_prompt: Think., shuffle: 3,
  prompt_template: 'Q: {question}', answer_column: answer, answer_pattern: '(.+)', columns: [level],
  filter: ["answer != ''"], separator: semicolon, encoding: utf-8}
rewards:
- {name: format, weight: 0.25}
- {name: correctness, weight: 3.0, timeout: 7.0}
training: {num_generations: 4, per_device_train_batch_size: 16, learning_rate: 1e-4, max_completion_length: 48,
  beta: 0.02, max_steps: 20, temperature: 1.0, eval_steps: 9, adam_beta1: 0.8, use_cpu: true}
launch: {processes: 1}
"""
ROWS = "question;answer;level;solution\n" + "".join(f"{n}+1?;{n + 1};1;so #### {n + 1}\n" for n in range(30))
WRONG: dict[str, dict[str, Any]] = {
    "a template of no column": {"data.prompt_template": "{frage}"},
    "a template that names none": {"data.prompt_template": "hello"},
    "no such prompt column": {"data.prompt_column": "qestion"},
    "no such answer column": {"data.answer_column": "anser"},
    "no answer column and no pattern": {"data.answer_column": "antwort", "data.answer_pattern": None},
    "an answer that is marked": {"data.answer_column": "solution", "data.answer_pattern": None},
    "a filter of no column": {"data.filter": ["nothing > 3", "answer != ''"]},
    "a filter that keeps nothing": {"data.filter": ["answer == 'x'"]},
    "no such column for the rewards": {"data.columns": ["level", "levl"]},
    "the wrong separator": {"data.separator": "tab"},
    "more held out than there is": {"data.holdout": 40},
    "completions that leave no room": {"training.max_completion_length": 511},
    "a pattern that finds little": {"data.answer_pattern": "([12]7)"},
    "vLLM that is not installed": {"training.use_vllm": True},
    "evaluation without rows": {"data.holdout": yaml_edit.ABSENT, "training.eval_on_start": True},
    "an optimizer of another package": {"training.optim": "adamw_bnb_8bit"},
    "a reference model that is not there": {"training.beta": 0.0, "training.sync_ref_model": True},
    "push to the hub": {"training.push_to_hub": True},
    "columns that are taken away": {"training.remove_unused_columns": True},
    "an impossible beta of Adam": {"training.adam_beta1": 7.0},
    "fsdp on one process": {"training.fsdp": "full_shard"},
    "LoRA for inference": {"lora": {"r": 8, "inference_mode": True, "task_type": "SEQ_CLS"}},
    "no such scheduler": {"training.lr_scheduler_type": "cosin"},
}


def said_by_worker(spec: RunSpec) -> list[Problem]:
    """All that the questions of New run come to."""
    found = build.settings_problems(spec, Hardware(gpus=[], cores=2, memory=8 * 10**9, sentence=""))
    longest = spec.training.get("max_completion_length")
    for answer in (
        answer_preview(PreviewQuestion(data=spec.data, model=spec.model)),
        answer_data_checks(CheckDataQuestion(data=spec.data, model=spec.model, longest_completion=longest)),
        answer_model(ModelQuestion(model=spec.model)),
    ):
        found += answer.blocking() if isinstance(answer, Failed) else [one.problem() for one in answer.problems]
    return found


@pytest.mark.parametrize("what", WRONG)
def test_a_fix_of_the_worker_says_on_its_button_what_else_it_changes(what: str, registry_home: Path) -> None:
    (paths.data_folder() / "sums.csv").write_text(ROWS)
    text = edits.apply(WHOLE, [edits.Edit(path, value) for path, value in WRONG[what].items()])
    fixes = [(problem, fix) for problem in said_by_worker(parse_spec(text)) for fix in problem.fixes]
    assert fixes, "nothing was offered"
    unsaid = [(problem.field, fix.label, lost) for problem, fix in fixes if (lost := lost_unsaid(text, problem, fix))]
    assert unsaid == []
