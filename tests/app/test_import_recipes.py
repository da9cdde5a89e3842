"""Recipes as people bring them to New run: a file or a paste, with what was wrong in them said."""

from __future__ import annotations

import pytest

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import launch
from groupwise.app.pages.new.imports import RECIPE, describe_brought, read_brought, take_brought
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.words.recipe_names import OF_ACCELERATE, recipe_problem

TWICE = "model_name_or_path: a/b\nreward_funcs:\n- accuracy\nseed: 1\nreward_funcs:\n- format\nseed: 2\n"


@pytest.mark.parametrize("name", ["recipe.yaml", ""])
def test_a_recipe_that_says_a_setting_twice_is_read_with_the_last(name: str) -> None:
    brought = read_brought(name, TWICE)
    assert brought.kind == RECIPE and brought.raw["training"] == {"seed": 2}
    assert [one["name"] for one in brought.raw["rewards"]] == ["regular_expression"]
    assert brought.notes[:2] == [
        "reward_funcs is given twice (lines 2 and 5): the last was taken.",
        "seed is given twice (lines 4 and 7): the last was taken.",
    ]


def test_a_spec_that_says_a_setting_twice_is_refused() -> None:
    with pytest.raises(Unanswerable, match="name, line 2: given twice|given twice"):
        read_brought("run.yaml", "name: a\nname: b\n")


def test_a_recipe_for_wandb_brings_its_project() -> None:
    text = "model_name_or_path: a/b\nreport_to: [wandb]\nwandb_project: p\nwandb_entity: e\n"
    found = read_brought("r.yaml", text)
    assert "project: p" in found.text and "wandb_project" not in "".join(found.notes)
    words = "W&B reads WANDB_ENTITY from the environment that Groupwise is started in."
    assert f"wandb_entity (line 4) was not taken: {words}" in found.notes


def test_what_is_accelerates_is_said_in_one_note() -> None:
    text = "model_name_or_path: a/b\nnum_processes: 8\ndistributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2}\n"
    found = read_brought("r.yaml", text)
    assert found.raw["launch"] == {"processes": 8} and "deepspeed_config" not in found.raw["training"]
    assert "num_processes (line 2) is accelerate's, and was taken as launch.processes." in found.notes
    assert [note for note in found.notes if "distributed_type" in note] == [
        f"distributed_type (line 3) and deepspeed_config (line 4) are accelerate's, and were not taken: {OF_ACCELERATE}"
        " training.deepspeed takes DeepSpeed's own config."
    ]
    typed = recipe_problem("training.distributed_type", "NO", {})
    assert typed is not None and typed.message == f"is not set here: it is accelerate's. {OF_ACCELERATE}"


JOINED = """
from datasets import concatenate_datasets, load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward
data = concatenate_datasets([load_dataset("AI-MO/x", split="train"), load_dataset("trl-lib/y", split="train[:9]")])
trainer = GRPOTrainer(model=name, reward_funcs=accuracy_reward, args=GRPOConfig(), train_dataset=data)
trainer.train()
"""


def test_what_was_not_found_is_to_be_chosen_and_never_the_quickstarts() -> None:
    brought = read_brought("a.py", JOINED)
    shown = describe_brought(brought, Offer())
    assert shown["summary"][:2] == [
        ["Model", "not found: choose one after the import"], ["Data", "several: choose one below"],
    ]  # fmt: skip
    assert shown["datasets"] == ["AI-MO/x", "trl-lib/y"] and shown["untaken"] == []
    taken = take_brought(brought, [], Offer())
    said = {problem.field: problem.message for problem in launch.problems_of_text(taken["text"])}
    assert said["data.source"].startswith("choose a dataset") and said["model.id"].startswith("choose a model")
    second = take_brought(read_brought("a.py", JOINED, dataset=2), [], Offer())
    assert "source: hub:trl-lib/y\n  split: train\n  limit: 9" in second["text"]
    (said_of_it,) = [note for note in second["notes"] if "concatenate_datasets" in note]
    assert said_of_it.endswith("a run has one dataset: trl-lib/y was chosen. AI-MO/x was left out.")
    recipe = describe_brought(read_brought("r.yaml", "reward_funcs: [accuracy]\nlearning_rate: 1.0e-6\n"), Offer())
    assert recipe["summary"][0][1].startswith("not found") and "source: 'hub:'" in recipe["text"]


def test_one_setting_is_not_some_settings() -> None:
    said = describe_brought(
        read_brought("r.yaml", "model_name_or_path: a/b\nreward_funcs: [accuracy]\nseed: 1\n"), Offer()
    )
    assert ["Training", "1 setting"] in said["summary"]


def test_what_a_reward_imports_and_is_not_here_is_said() -> None:
    code = (
        "from trl import GRPOConfig, GRPOTrainer\n\ndef exact(completions, **kwargs):\n"
        "    import re, numpy\n    from rewards.math import same\n    return [float(same(c)) for c in completions]\n"
        "\nGRPOTrainer('a/m', exact, GRPOConfig('o')).train()\n"
    )
    notes = read_brought("train.py", code).notes
    [note] = [note for note in notes if "not installed" in note]
    assert note.startswith(
        "“exact” imports rewards.math, which is not installed here: install it, or put what it needs"
    )
