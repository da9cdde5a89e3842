"""The form is what is installed: drawn from the published catalogue, with nothing about TRL written down twice."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.core import field_labels
from groupwise.app.pages.new import form, reward_choices
from groupwise.storage.checks.check import OWNED
from groupwise.storage.library.capabilities import Offer
from groupwise.worker.capabilities import catalogue
from tests.support import offer


@pytest.fixture(scope="module")
def installed() -> Offer:
    """What the TRL and PEFT of this environment offer, as the worker would publish it."""
    built = catalogue.build().as_dict()
    return Offer(built["training"], built["lora"], gym=built.get("gym"))


def by_path(found: list[form.Field]) -> dict[str, form.Field]:
    return {one["path"]: one for one in found}


def test_a_made_up_field_in_the_catalogue_is_in_the_form_with_everything_about_it() -> None:
    made_up = {
        "types": ["int", "none"], "default": 7, "choices": None, "help": "Turns the moon.", "section": "Moons",
        "order": 0,
    }  # fmt: skip
    fields = by_path(form.describe(Offer({**offer.TRAINING, "moon_phase": made_up}, offer.LORA)))
    assert fields["training.moon_phase"] == {
        "path": "training.moon_phase", "name": "moon_phase", "label": "Moon phase", "advice": "", "default": "7",
        "help": "Turns the moon.", "types": ["int", "none"], "choices": [], "section": "Moons",
        "short": False, "long": False, "most": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "label"),
    [("training.beta", "KL weight"), ("training.per_device_eval_batch_size", "Per device eval batch size"),
     ("training.vllm_gpu_memory_utilization", "vLLM GPU memory utilization"), ("training.fp16", "fp16"),
     ("training.lr_scheduler_kwargs", "Learning rate scheduler arguments"), ("lora.use_rslora", "Use rsLoRA"),
     ("training.fsdp_config", "FSDP config"), ("training.top_p", "Top p")],
)  # fmt: skip
def test_a_setting_has_one_label_ours_or_its_name_in_words(path: str, label: str) -> None:
    assert field_labels.own_label(path) == label


def test_what_trl_gave_up_is_said_and_no_help_has_the_marks_of_a_docstrings_link(installed: Offer) -> None:
    gone = form.removed_settings(installed)
    assert gone["max_prompt_length"].startswith("max_prompt_length was removed in TRL 0.28.")
    assert not set(gone) & set(installed.training or {})
    assert not [one["path"] for one in form.describe(installed) if "](http" in one["help"]]
    said_twice = [one["path"] for one in form.describe(installed) if one["help"].lower() == one["label"].lower() != ""]
    assert said_twice == []  # PEFT's help for lora_alpha is “Lora alpha”


def test_no_two_settings_of_the_installed_training_share_a_label(installed: Offer) -> None:
    labels = [one["label"] for one in form.describe(installed) if one["path"].startswith("training.")]
    assert not [label for label in labels if labels.count(label) > 1] and not [one for one in labels if "_" in one]


def test_every_field_of_the_installed_configs_is_there_but_those_groupwise_decides(installed: Offer) -> None:
    from peft import LoraConfig
    from trl import GRPOConfig

    fields = by_path(form.describe(installed))
    wanted = {f"training.{name}" for name in inspect.signature(GRPOConfig).parameters if name not in OWNED}
    wanted |= {f"lora.{name}" for name in inspect.signature(LoraConfig).parameters}
    assert wanted <= set(fields)
    assert len(wanted) > 200
    assert fields["training.beta"]["default"] == "0.0"
    assert all(fields[path]["section"] for path in wanted)


def test_every_field_of_the_short_list_exists(installed: Offer) -> None:
    missing = set(field_labels.SHORT) - set(by_path(form.describe(installed)))
    assert missing == set()


def test_what_trl_says_is_not_written_down_twice(installed: Offer) -> None:
    """No default or help of the catalogue stands in our own words: labels and advice are ours alone."""
    assert installed.training is not None
    helps = {about["help"] for about in installed.training.values() if len(about["help"]) > 20}
    written = {
        node.value
        for path in (Path(field_labels.__file__), *Path(form.__file__).parent.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert not helps & written


def test_what_lora_begins_with_is_taken_by_peft() -> None:
    from peft import LoraConfig

    assert LoraConfig(**field_labels.USUAL_LORA).r == 16


@pytest.mark.parametrize(
    ("path", "types"),
    [("model.id", ["str"]), ("data.limit", ["int", "none"]), ("data.holdout", ["float", "int"]),
     ("launch.processes", ["int"])],
)  # fmt: skip
def test_our_own_settings_are_read_from_the_spec(path: str, types: list[str]) -> None:
    assert form.types(Offer())[path] == types


def test_choices_of_our_own_settings_are_those_the_spec_allows() -> None:
    fields = by_path(form.describe(Offer()))
    assert fields["model.dtype"]["choices"] == ["auto", "float32", "bfloat16", "float16"]
    assert fields["model.quantization"]["choices"] == ["8bit", "4bit"]


def test_parameters_of_a_gym_task_are_fields(installed: Offer) -> None:
    tasks = {task["name"]: task for task in form.gym(installed)}
    names = {one["name"] for one in tasks["leg_counting"]["parameters"]}
    assert {"min_animals", "max_animals"} <= names
    assert form.types(installed)["data.parameters.min_animals"] == ["int"]


def test_the_settings_of_a_reward_are_typed_by_its_own_parameters_and_version() -> None:
    def version(digest: str, kind: str) -> dict[str, Any]:
        about = {"name": "most", "types": [kind], "default": None, "choices": None, "help": "how many"}
        return {"own": True, "hash": digest, "at": 0.0, "network": False, "parameters": [about]}

    offered = Offer(rewards={"mine": version("aa" * 8, "int")}, versions={"mine": [version("bb" * 8, "str")]})
    raw = {
        "rewards": [{"name": "mine", "schedule": [{}]}, 7, {"name": "mine", "version": "bb" * 8}],
        "stages": [None, {"rewards": [{"name": "mine"}]}],
    }
    types = form.reward_types(raw, offered)
    assert types["rewards.0.parameters.most"] == types["stages.1.rewards.0.parameters.most"] == ["int"]
    assert types["rewards.2.parameters.most"] == ["str"]
    assert (types["rewards.0.schedule.0.step"], types["rewards.0.adapt.every"]) == (["int"], ["int"])
    [about] = reward_choices.reward_functions(offered)
    assert about["parameters"][0]["advice"] == "how many"
    assert [one["hash"] for one in about["versions"]] == ["bb" * 8]


def test_without_a_catalogue_there_is_still_a_form() -> None:
    fields: Any = form.describe(Offer())
    assert {"name", "model.id", "data.source"} <= set(by_path(fields))
    assert form.gym(Offer()) == []
