"""No click writes over what was typed elsewhere, or takes it away, without saying so on its button."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, launch, presets
from groupwise.app.pages.new.known import Known
from tests.support import offer
from tests.support.fixes import lost_unsaid

GYM = {"leg_counting": {"help": "", "parameters": {"min_animals": {"types": ["int"], "default": 3}}}}
OFFER = replace(offer.OFFER, gym=GYM, rewards={**offer.OFFER.rewards, "gym_score": {"help": "", "parameters": []}})
# A spec in which everything is typed that a fix might reach.
WHOLE = """
name: mine
model: {id: starter, revision: null}
data: {source: 'task:arithmetic', limit: 40, holdout: 4, prompt_template: 'Q: {question}', filter: [answer > 3]}
rewards:
- {name: format, weight: 0.25}
- {name: correctness, weight: 3.0, timeout: 7.0}
training: {num_generations: 8, per_device_train_batch_size: 16, gradient_accumulation_steps: 2, learning_rate: 1e-3,
  max_completion_length: 48, beta: 0.02, max_steps: 200, temperature: 1.0, save_steps: 7, save_strategy: 'no',
  eval_steps: 9, per_device_eval_batch_size: 8, save_total_limit: 3}
"""
WRONG: dict[str, dict[str, Any]] = {
    "a removed setting beside the near one": {"training.max_prompt_length": 786},
    "a removed setting and what replaces it": {"training.warmup_ratio": 0.1, "training.warmup_steps": 5},
    "an unknown name near a set one": {"training.num_generation": 4},
    "groups that do not fit": {"training.num_generations": 7, "training.generation_batch_size": 32},
    "both batch settings": {"training.generation_batch_size": 32, "training.steps_per_generation": 3},
    "a group of one": {"training.num_generations": 1},
    "few rows": {"data.limit": 5, "training.steps_per_generation": 2},
    "no evaluation of what is held out": {"training.per_device_eval_batch_size": 3},
    "evaluation without rows": {"training.eval_strategy": "steps", "data.holdout": 0},
    "a gym reward elsewhere": {"rewards.1": {"name": "gym_score", "weight": 3.0, "timeout": 7.0}},
    "gym without its reward": {"data.source": "gym:leg_counting"},
    "gym's size beside a limit": {"data.source": "gym:leg_counting", "data.parameters": {"size": 99}},
    "a reward of no name": {"rewards": [{"name": "formatt", "weight": 0.25, "schedule": [{"step": 3, "weight": 2.0}]}]},
    "a reward twice": {"rewards.1": {"name": "format", "weight": 9.0}},
    "a schedule of two at a step": {
        "rewards.0.schedule": [{"step": 5, "weight": 1.0}, {"step": 5, "weight": 2.0}, {"step": 1, "weight": 3.0}]
    },
    "a stage's setting that the run has": {
        "training.use_cpu": True, "stages": [{"training": {"use_cpu": False}}, {"training": {"beta": 0.1}}],
    },
    "no answer to compare with": {"data.answer_column": None},
    "a column beside a template": {"data.prompt_column": "question"},
    "a temperature of nothing": {"training.temperature": 0.0},
    "no such folder": {"model.id": "/no/such"},
    "a wrong type": {"training.max_steps": "many"},
    "settings of a hub dataset": {"data.config": "main", "data.split": "test"},
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_fix_says_on_its_button_what_else_it_changes(what: str, own_home: Path) -> None:
    text = edits.apply(WHOLE, [edits.Edit(path, value) for path, value in WRONG[what].items()])
    reading = launch.check_text(text, OFFER)
    estimated = launch.estimates(reading.sound, OFFER, Known(rows=5)).problems if reading.sound else []
    fixes = [(problem, fix) for problem in (*reading.problems, *estimated) for fix in problem.fixes]
    assert fixes, "nothing was offered"
    unsaid = [(problem.field, fix.label, lost) for problem, fix in fixes if (lost := lost_unsaid(text, problem, fix))]
    assert unsaid == []


def test_of_a_removed_setting_every_fix_leaves_the_near_one(own_home: Path) -> None:
    """What once lost a length: 786 was written over 256."""
    text = presets.quickstart_text().replace(
        "max_completion_length: 48", "max_completion_length: 48\n  max_prompt_length: 786"
    )
    [problem] = [one for one in launch.check_text(text, OFFER).problems if one.field == "training.max_prompt_length"]
    assert "was removed in TRL 0.28" in problem.message
    assert [fix.label for fix in problem.fixes] == ["Remove it"]
    for fix in problem.fixes:
        after = edits.apply(text, edits.of_fix(json.loads(json.dumps(asdict(fix)))))
        assert "max_completion_length: 48" in after and "786" not in after
