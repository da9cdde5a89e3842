"""What is offered in place of a value that was refused is near in meaning, installed, and never another number."""

from __future__ import annotations

from typing import Any

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import from_dict
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.questions.build import lora_fields, training_fields


def about(field: str, **parts: Any) -> Problem:
    spec = from_dict({"name": "small", "rewards": [{"name": "format"}], **parts})
    found = examine_spec(spec, Offer(training=training_fields(), lora=lora_fields()))
    return next(problem for problem in found if problem.field == field)


def test_adamw_means_the_adamw_of_torch_and_few_names_are_said() -> None:
    found = about("training.optim", training={"optim": "adamw"})
    assert found.message.startswith("should be one of adamw_torch_fused, adamw_torch, adafactor, sgd,")
    assert " and 33 more. Did you mean “adamw_torch”?" in found.message
    assert [fix.label for fix in found.fixes] == ["Use adamw_torch", "Use the default (adamw_torch_fused)"]
    assert about("training.optim", training={"optim": "adamw_torhc"}).fixes[0].label == "Use adamw_torch"


def test_names_in_one_text_are_offered_as_a_list() -> None:
    for text in ("q_proj, v_proj", "q_proj v_proj", "['q_proj', 'v_proj']"):
        found = about("lora.target_modules", lora={"target_modules": text})
        assert found.fixes[0].settings == {"lora.target_modules": ["q_proj", "v_proj"]}
        assert "write q_proj, v_proj as a list" in found.message


def test_a_number_with_its_unit_keeps_its_number() -> None:
    found = about("training.max_completion_length", training={"max_completion_length": "48 tokens"})
    assert found.fixes[0].settings == {"training.max_completion_length": 48}
    assert "Did you mean 48?" in found.message


def test_a_share_in_per_cent_is_offered_as_a_share() -> None:
    found = about("training.top_p", training={"top_p": 95})
    assert found.message == "should be above 0 and at most 1."
    assert found.fixes[0].settings == {"training.top_p": 0.95}


def test_a_setting_without_a_default_is_left_out() -> None:
    labels = [fix.label for fix in about("training.bf16", training={"bf16": "maybe"}).fixes]
    assert labels[-1] == "Leave it out"


def test_a_clip_range_that_is_turned_round_is_a_warning() -> None:
    found = about("training.epsilon_high", training={"epsilon_high": 0.1})
    assert found.level == "warning" and found.message.startswith("is below epsilon (0.2)")
    assert found.fixes[0].settings == {"training.epsilon_high": 0.2}
