"""A recipe's names in a spec that is typed: each is answered with where it stands, and moved where that is free."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import from_dict
from groupwise.storage.spec.words.problem import Problem

NAMES = ("project", "learning_rate", "max_completion_length", "max_steps")
OFFER = Offer(training={name: {} for name in NAMES})


def problem_of(name: str, value: Any, **parts: Any) -> Problem:
    raw = {
        "name": "a",
        "model": {"id": "starter"},
        "data": {"source": "task:sums"},
        "rewards": [{"name": "format"}],
        **parts,
    }
    raw["training"] = {**parts.get("training", {}), name: value}
    return next(one for one in examine_spec(from_dict(raw), OFFER) if one.field == f"training.{name}")


@pytest.mark.parametrize(
    ("name", "value", "settings", "words"),
    [
        ("wandb_project", "p", {"training.project": "p"}, "Did you mean “project”?"),
        ("max_len", 99, {"training.max_completion_length": 99}, "Did you mean “max_completion_length”?"),
        ("use_peft", True, {"lora": {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05}}, "has the part “lora”."),
        ("use_peft", False, None, "has the part “lora”."),
        ("load_in_4bit", True, {"model.quantization": "4bit"}, "here it is “model.quantization: 4bit”."),
        ("load_in_8bit", False, None, "here it is “model.quantization: 8bit”."),
        ("lora_r", 8, {"lora.r": 8}, "belongs under lora as r."),
        ("lora_task_type", "CAUSAL_LM", {"lora.task_type": "CAUSAL_LM"}, "belongs under lora as task_type."),
        ("dataset_streaming", True, {"data.streaming": True}, "belongs under data as streaming."),
        ("dataset_config", "main", {"data.config": "main"}, "belongs under data as config."),
        ("torch_dtype", "bfloat16", {"model.dtype": "bfloat16"}, "belongs under model as dtype."),
        ("wandb_entity", "e", None, "is not set here: W&B reads WANDB_ENTITY"),
        ("benchmarks", ["a"], None, "is not set here: benchmarks are not run here."),
    ],
)
def test_a_recipes_name_is_answered_with_its_place(
    name: str, value: Any, settings: dict[str, Any] | None, words: str
) -> None:
    found = problem_of(name, value)
    assert words in found.message
    assert [fix.settings for fix in found.fixes] == ([settings, {}] if settings else [{}])


@pytest.mark.parametrize(
    ("name", "value", "parts"),
    [
        ("wandb_project", "p", {"training": {"project": "q"}}),
        ("use_peft", True, {"lora": {"r": 4}}),
        ("use_peft", True, {"training": {"lora_r": 4}}),
        ("load_in_4bit", True, {"model": {"id": "starter", "quantization": "8bit"}}),
        ("lora_r", 8, {"lora": {"r": 4}}),
    ],
)
def test_no_click_writes_over_what_is_set(name: str, value: Any, parts: dict[str, Any]) -> None:
    assert [fix.label for fix in problem_of(name, value, **parts).fixes] == ["Remove it"]
