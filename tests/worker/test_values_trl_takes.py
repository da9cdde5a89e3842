"""Our check of a setting's value, over every field of the installed GRPOConfig and LoraConfig: what their own
__post_init__ makes something of passes, and what it refuses is refused."""

from __future__ import annotations

import copy
import logging
import re
import warnings
from typing import Any

import pytest
from peft import LoraConfig
from trl import GRPOConfig

from groupwise.storage.checks.check import OWNED, check_spec
from groupwise.storage.checks.stages import PROCESS_WIDE
from groupwise.storage.checks.values import fixes_of_value, value_fault
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.words.problem import BLOCKING
from groupwise.worker.questions import build
from tests.support.runs import make_spec

VALUES: tuple[Any, ...] = (
    True, False, None, 0, 1, -1, 0.5, 1e-4, "0", "1", "0.5", "true", "none", "auto", "text", "", [], ["a"], [1], {},
    {"a": 1},
)  # fmt: skip
# A config must be told these to be made anywhere; what only other processes or devices can answer is asked elsewhere
# (tests/worker/test_build.py).
ANYWHERE = {"output_dir": "/nonexistent", "report_to": "none", "use_cpu": True, "bf16": False}
APART = {*OWNED, *PROCESS_WIDE, "tf32", "bf16", "fp16", "bf16_full_eval", "torch_compile", "parallelism_config",
         "report_to"}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> None:
    """transformers says the same of hundreds of configs."""
    logging.getLogger("transformers.training_args").setLevel(logging.ERROR)


def made(config: type, name: str, value: Any, **usual: Any) -> tuple[Any, str]:
    """(what the config makes of a value, what it raises for it)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(config(**{**usual, name: copy.deepcopy(value)}), name), ""
        except Exception as error:  # of any kind, for a wrong value
            return None, f"{type(error).__name__}: {error}"


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize(
    ("config", "fields", "usual"),
    [(GRPOConfig, build.training_fields, ANYWHERE), (LoraConfig, build.lora_fields, {})],
    ids=["training", "lora"],
)
def test_what_the_library_makes_a_legal_value_of_is_accepted(config: type, fields: Any, usual: dict[str, Any]) -> None:
    """A value that it turns into a legal one of another kind: false into “none”."""
    refused = []
    for name, field in fields().items():
        for value in () if name in APART else VALUES:
            result, error = made(config, name, value, **usual)
            turned = not error and field["choices"] and not same(result, value)
            if turned and getattr(result, "value", result) in field["choices"] and value_fault(value, field):
                refused.append((name, value, result))
    # PEFT calls it LORA whatever is said, and loaders set it: nobody means anything by it
    assert [one for one in refused if one[0] not in ("peft_type",)] == []
    assert not value_fault(False, build.training_fields()["scale_rewards"])


def test_every_value_that_trl_refuses_is_refused_here() -> None:
    """By the check that needs no worker, or else by the real config in the question server."""
    fields = build.training_fields()
    offer = Offer(training=fields, lora=build.lora_fields())
    passed, looked = [], 0
    for name, field in fields.items():
        for value in () if name in APART else (*VALUES, *(field["choices"] or [])):
            _, error = made(GRPOConfig, name, value, **ANYWHERE)
            if not error or value_fault(value, field):
                continue
            looked += 1
            usual = {"per_device_train_batch_size": 8, "num_generations": 8, "save_strategy": "steps"}
            spec = make_spec(training={**usual, name: value})
            found = check_spec(spec, offer) or build.settings_problems(spec, None)
            if not [one for one in found if one.level == BLOCKING]:
                passed.append((name, value, error[:80]))
    assert looked > 10 and passed == []


def test_true_and_false_mean_what_trl_makes_of_them() -> None:
    """Neither is refused; what was put in quotes is offered as what it means, never as the opposite."""
    field = build.training_fields()["scale_rewards"]
    assert field["booleans"] == {"true": "group", "false": "none"}
    assert [made(GRPOConfig, "scale_rewards", value, **ANYWHERE)[0] for value in (True, False)] == ["group", "none"]
    for value in (True, False, 0, 1):
        spec = make_spec(training={"scale_rewards": value})
        assert check_spec(spec, Offer(training=build.training_fields())) == []
        assert build.settings_problems(spec, None) == []
    fault = value_fault("False", field)
    assert fault.startswith("should be one of batch, group, none.")
    assert fixes_of_value("training.scale_rewards", "False", field)[0].settings == {"training.scale_rewards": "none"}
    assert value_fault(False, build.training_fields()["loss_type"]).startswith("should be text, not false")


def test_a_setting_without_a_value_is_said_as_such_or_is_one_that_trl_takes() -> None:
    """Never in the words of a Python exception, whichever it is; what TRL takes null for may be empty."""
    for section, fields in (("training", build.training_fields()), ("lora", build.lora_fields())):
        offer = Offer(training=build.training_fields(), lora=build.lora_fields())
        for name, field in fields.items():
            spec = make_spec(**{section: {**({"r": 4} if section == "lora" else {}), name: None}})
            found = [*check_spec(spec, offer), *build.settings_problems(spec, None)]
            assert not [one for one in found if re.search("NoneType|object|Error", one.message)], (name, found)
            own = [one.message for one in found if one.field == f"{section}.{name}"]
            if "none" not in field["types"] and name not in OWNED:
                assert own and own[0].startswith("has no value: it should be "), (name, own)
    assert build.training_fields()["num_generations"]["types"] == ["int"]  # whatever TRL's hint says
    assert "none" in build.training_fields()["max_completion_length"]["types"]
