"""A small catalogue in the form the worker publishes: enough of GRPOConfig and LoraConfig to check specs against."""

from __future__ import annotations

from typing import Any

from storage import registry
from storage.check import Offer


def _field(types: str, default: Any, choices: list[Any] | None = None) -> dict[str, Any]:
    return {"types": types.split(), "default": default, "choices": choices, "help": ""}


TRAINING = {
    "num_generations": _field("int none", 8),
    "num_generations_eval": _field("int none", None),
    "per_device_train_batch_size": _field("int", 8),
    "per_device_eval_batch_size": _field("int", 8),
    "gradient_accumulation_steps": _field("int", 1),
    "steps_per_generation": _field("int none", None),
    "generation_batch_size": _field("int none", None),
    "learning_rate": _field("float", 1e-6),
    "beta": _field("float", 0.0),
    "max_steps": _field("int", -1),
    "logging_steps": _field("float", 500),
    "bf16": _field("bool none", None),
    "loss_type": _field("str", "dapo", ["grpo", "dapo", "dr_grpo", "bnpo"]),
    "eval_strategy": _field("str", "no", ["no", "steps", "epoch"]),
    "lr_scheduler_kwargs": _field("dict str none", None),
}
LORA = {"r": _field("int", 8), "lora_alpha": _field("int none", 8), "target_modules": _field("list str none", None)}
REWARDS: dict[str, dict[str, Any]] = {"format": {"help": ""}, "correctness": {"help": ""}, "length": {"help": ""}}
TASKS: dict[str, dict[str, Any]] = {"arithmetic": {"help": ""}}
OFFER = Offer(TRAINING, LORA, REWARDS, TASKS)


def publish() -> None:
    """Say it as a worker would."""
    registry.publish("catalogue", {"training": TRAINING, "lora": LORA})
    registry.publish("built_in", {"rewards": REWARDS, "tasks": TASKS})
