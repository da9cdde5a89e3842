"""Beside a setting that is given twice every other problem keeps its near name and its buttons; and what is near is
named, wherever it stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, view
from tests.app.test_left_out import OFFER as LEFT_OUT
from tests.support import offer

MODES: dict[str, Any] = {"types": ["str"], "default": "colocate", "choices": ["colocate", "server"], "help": ""}
WARMUP: dict[str, Any] = {"types": ["float"], "default": 0, "choices": None, "help": ""}
LENGTH: dict[str, Any] = {"types": ["int"], "default": 256, "choices": None, "help": ""}
MIXUP: dict[str, Any] = {"types": ["float"], "default": 0.6, "choices": None, "help": ""}
TRAINING = {"vllm_mode": MODES, "warmup_steps": WARMUP, "max_completion_length": LENGTH, "ref_model_mixup_alpha": MIXUP}
OFFER = replace(LEFT_OUT, training=offer.TRAINING | TRAINING)
HEAD = "name: a\nrewards: [{name: format}]\n"
STEPS = "  max_steps: 5\n"
TEXT = f"""\
name: a  # mine
lora: true
data: {{answer: foo}}
rewards:
- format
- {{name: mine, parms: {{low: 5}}}}  # last
training:
  warmup_ratio: 0.1
{STEPS}  vllm_mode: colocat
launch: {{gpus: 4}}
lr: 1e-4
"""
CLICKS = [
    ("lora", "Use LoRA of rank 16"), ("lora", "Leave it out"), ("data.answer", "Rename it to answer_column"),
    ("rewards.0", "Write it as “- name: format”"), ("rewards.0", "Remove this entry"),
    ("rewards.1.parms", "Rename it to parameters"), ("training.warmup_ratio", "Use warmup_steps"),
    ("training.vllm_mode", "Use colocate"), ("launch.gpus", "Rename it to processes"),
    ("lr", "Move it under training as learning_rate"), ("lr", "Remove it"),
]  # fmt: skip


def problems_of(text: str) -> list[dict[str, Any]]:
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    listed: list[dict[str, Any]] = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
    return listed


def clicked(text: str, field: str, label: str) -> str:
    [fix] = [fix for one in problems_of(text) if one["field"] == field for fix in one["fixes"] if fix["label"] == label]
    return edits.apply(edits.cut_out(text, [{"fix": fix}]), edits.of_fix(fix))


@pytest.mark.parametrize(("field", "label"), CLICKS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_button_beside_a_duplicate_does_what_it_does_without(
    field: str, label: str, newline: str, own_home: Path
) -> None:
    twice = TEXT.replace(STEPS, STEPS + "  max_steps: 8\n").replace("\n", newline)
    after = clicked(twice, field, label)
    assert after.replace(newline, "\n").replace("  max_steps: 8\n", "") == clicked(TEXT, field, label) != TEXT


def test_nothing_is_moved_to_a_part_that_is_given_twice(own_home: Path) -> None:
    """Either of the two may go."""
    text = HEAD + "lr: 1e-4\ntraining:\n  max_steps: 5\ntraining:\n  bf16: true\nlora: true\n"
    labels = {one["field"]: [fix["label"] for fix in one["fixes"]] for one in problems_of(text)}
    assert labels["lr"] == ["Remove it"] and labels["lora"] == ["Use LoRA of rank 16", "Leave it out"]


@pytest.mark.parametrize(("word", "labels"), [
    ("yes", ["Use LoRA of rank 16", "Leave it out"]), ("On", ["Use LoRA of rank 16", "Leave it out"]),
    ("no", ["Leave it out"]), ("off", ["Leave it out"]),
])  # fmt: skip
def test_yes_and_on_are_true_of_lora_too(word: str, labels: list[str], own_home: Path) -> None:
    [said] = [one for one in problems_of(f"{HEAD}lora: {word}\n") if one["field"] == "lora"]
    assert [fix["label"] for fix in said["fixes"]] == labels


@pytest.mark.parametrize(("setting", "words", "labels"), [
    ("ref_model_mixup: 0.5", "Did you mean “ref_model_mixup_alpha”?",
     ["Rename it to ref_model_mixup_alpha", "Remove it"]),
    ("max_lenght: 30", "max_completion_length counts the completion alone.",
     ["Use it as max_completion_length (30)", "Remove it"]),
    ("num_generation: 2\n  n_generations: 4",
     "no such field. “num_generation” (line 4) and “n_generations” (line 5) both mean num_generations: keep one.",
     ["Remove it"]),
])  # fmt: skip
def test_a_name_is_told_what_it_is_near_and_what_is_taken_for_that(
    setting: str, words: str, labels: list[str], own_home: Path
) -> None:
    said = problems_of(f"{HEAD}training:\n  {setting}\n")
    last = [one for one in said if one["level"] == "blocking"][-1]
    assert last["message"].endswith(words) and [fix["label"] for fix in last["fixes"]] == labels


def test_what_is_warned_of_is_said_beside_a_slip_and_two_names_of_a_rewards_setting_are_told_of(own_home: Path) -> None:
    rewards = "rewards: [{name: format, wieght: 3, weights: 4}]\n"
    training = "training: {max_steps: 1e9999, learning_rate: 0.1, beta: 0.1, beta: 0.2}\n"
    said = problems_of(f"name: a\ndata: {{source: task:arithmetic}}\n{training}{rewards}")
    [warned] = [one["message"] for one in said if one["level"] == "warning"]
    assert warned.startswith("0.1 is far too high for training all weights")
    words = {one["field"]: one["message"] for one in said}
    assert words["rewards.0.weights"].endswith("no such field. “wieght” and “weights” both mean weight: keep one.")
    assert words["training.max_steps"] == "should be a whole number, not 1e9999.", "as it is written, and not inf"


def test_two_names_of_one_setting_are_not_written_over_one_another(own_home: Path) -> None:
    text = HEAD + "training:\n  num_generation: 2\n  n_generations: 4\n"
    once = clicked(text, "training.num_generation", "Rename it to num_generations")
    [other] = [one for one in problems_of(once) if one["field"] == "training.n_generations"]
    assert other["message"].endswith("Did you mean “num_generations”? It is set already.")


def test_of_a_long_text_few_buttons_are_made_so_and_nothing_is_said_twice(own_home: Path) -> None:
    """Each such button takes a reading of the whole text."""
    many = "".join(f"  max_length_of_{n}: 1\n" for n in range(990))
    said = problems_of(TEXT.replace(STEPS, STEPS * 2 + many))
    made = [fix for one in said for fix in one["fixes"] if one["field"] != "training.max_steps"]
    assert 0 < len(made) <= 6
    said = problems_of(TEXT.replace(STEPS, STEPS * 2))
    told = [(one["field"], one["message"]) for one in said]
    assert len(told) == len(set(told))
