"""The setters of transformers' TrainingArguments, `args.set_training(learning_rate=5e-6)`: each sets all that it has an
argument for, also what it is not given, to its own default. Those are of transformers 5; a test reads them from it."""

import ast
from typing import Any

from groupwise.storage.checks.script_reader.members import Arguments, from_python
from groupwise.storage.checks.script_reader.values import Made, Value

_ASKED = object()  # of an argument without a default
# setter → argument, in their order → the setting, and the setter's default
SETTERS: dict[str, dict[str, tuple[str, Any]]] = {
    "set_training": {
        "learning_rate": ("learning_rate", 5e-5), "batch_size": ("per_device_train_batch_size", 8),
        "weight_decay": ("weight_decay", 0), "num_epochs": ("num_train_epochs", 3), "max_steps": ("max_steps", -1),
        "gradient_accumulation_steps": ("gradient_accumulation_steps", 1), "seed": ("seed", 42),
        "activation_checkpointing": ("gradient_checkpointing", False),
        "gradient_checkpointing": ("gradient_checkpointing", None),
    },
    "set_evaluate": {
        "strategy": ("eval_strategy", "no"), "steps": ("eval_steps", 500),
        "batch_size": ("per_device_eval_batch_size", 8), "accumulation_steps": ("eval_accumulation_steps", None),
        "delay": ("eval_delay", None), "loss_only": ("prediction_loss_only", False),
    },
    "set_testing": {"batch_size": ("per_device_eval_batch_size", 8), "loss_only": ("prediction_loss_only", False)},
    "set_save": {
        "strategy": ("save_strategy", "steps"), "steps": ("save_steps", 500),
        "total_limit": ("save_total_limit", None), "on_each_node": ("save_on_each_node", False),
    },
    "set_logging": {
        "strategy": ("logging_strategy", "steps"), "steps": ("logging_steps", 500), "report_to": ("report_to", "none"),
        "level": ("log_level", "passive"), "first_step": ("logging_first_step", False),
        "nan_inf_filter": ("logging_nan_inf_filter", False), "on_each_node": ("log_on_each_node", False),
        "replica_level": ("log_level_replica", "passive"),
    },
    "set_push_to_hub": {
        "model_id": ("hub_model_id", _ASKED), "strategy": ("hub_strategy", "every_save"),
        "token": ("hub_token", None), "private_repo": ("hub_private_repo", None),
        "always_push": ("hub_always_push", False), "revision": ("hub_revision", None),
    },
    "set_optimizer": {
        "name": ("optim", "adamw_torch"), "learning_rate": ("learning_rate", 5e-5), "weight_decay": ("weight_decay", 0),
        "beta1": ("adam_beta1", 0.9), "beta2": ("adam_beta2", 0.999), "epsilon": ("adam_epsilon", 1e-8),
        "args": ("optim_args", None),
    },
    "set_lr_scheduler": {
        "name": ("lr_scheduler_type", "linear"), "num_epochs": ("num_train_epochs", 3.0),
        "max_steps": ("max_steps", -1), "warmup_steps": ("warmup_steps", 0),
    },
    "set_dataloader": {
        "train_batch_size": ("per_device_train_batch_size", 8), "eval_batch_size": ("per_device_eval_batch_size", 8),
        "drop_last": ("dataloader_drop_last", False), "num_workers": ("dataloader_num_workers", 0),
        "pin_memory": ("dataloader_pin_memory", True), "persistent_workers": ("dataloader_persistent_workers", False),
        "prefetch_factor": ("dataloader_prefetch_factor", None),
        "multiprocessing_context": ("dataloader_multiprocessing_context", None),
        "in_order": ("dataloader_in_order", True), "auto_find_batch_size": ("auto_find_batch_size", False),
        "ignore_data_skip": ("ignore_data_skip", False), "sampler_seed": ("data_seed", None),
    },
}  # fmt: skip
# The settings of which a setter's default is not that of GRPOConfig.
OTHER_DEFAULTS = {
    "learning_rate", "gradient_checkpointing", "eval_steps", "logging_steps", "logging_nan_inf_filter",
    "log_on_each_node", "log_level_replica", "optim",
}  # fmt: skip


def set_by_call(config: Made, name: str, call: Arguments, node: ast.AST) -> tuple[dict[str, Value], dict[str, Any]]:
    """What a setter is given, and what it sets besides: its defaults, where the config has something else."""
    arguments = SETTERS[name]
    given = dict(zip(arguments, call.given, strict=False)) | call.named
    found = {arguments[argument][0]: value for argument, value in given.items() if argument in arguments}
    has = {**config.keywords, **config.later}
    besides = {
        setting: default
        for setting, default in arguments.values()
        if setting not in found and default is not _ASKED and (setting in has or setting in OTHER_DEFAULTS)
    }
    if name == "set_training" and "gradient_checkpointing" not in found:
        besides["gradient_checkpointing"] = False
    if name == "set_push_to_hub":
        found["push_to_hub"] = from_python(node, True)
    return found, besides
