"""The names that recipes of TRL and open-r1 have for what stands elsewhere in a spec, or nowhere: one table for who
imports a recipe and for who types one's names into a spec. Pure."""

from collections.abc import Mapping
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.setting_names import REMOVED, removed_words

# Name → the part of a spec, and what it is called there.
RECIPE_PLACES = {
    "lora_r": ("lora", "r"), "lora_alpha": ("lora", "lora_alpha"), "lora_dropout": ("lora", "lora_dropout"),
    "lora_target_modules": ("lora", "target_modules"), "lora_target_parameters": ("lora", "target_parameters"),
    "lora_modules_to_save": ("lora", "modules_to_save"), "use_rslora": ("lora", "use_rslora"),
    "use_dora": ("lora", "use_dora"), "lora_task_type": ("lora", "task_type"),
    "model_name_or_path": ("model", "id"), "model_revision": ("model", "revision"), "torch_dtype": ("model", "dtype"),
    "dataset_config": ("data", "config"), "dataset_train_split": ("data", "split"),
    "dataset_prompt_column": ("data", "prompt_column"), "dataset_streaming": ("data", "streaming"),
    "wandb_project": ("training", "project"), "num_processes": ("launch", "processes"),
}  # fmt: skip
LORA_OF_RECIPES = {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05}  # TRL's ModelConfig
_GONE = ("vllm_device", "wandb_log_unique_prompts")  # which recipes still have
# What has no place in a spec, with the reason.
RECIPE_ONLY = {
    **{name: f"it {removed_words(name)}" for name in _GONE},
    "chat_template": "the model's own chat template is used.",
    "accelerate_config": "processes are started by Groupwise itself, as many as launch.processes says.",
    "num_machines": "a run is on one machine.",
    "env": "environment variables are set where Groupwise is started.",
    "benchmarks": "benchmarks are not run here.",
    "callbacks": "a run takes no custom callbacks.",
    "hub_model_revision": "a run has no such setting.",
    "overwrite_hub_revision": "a run has no such setting.",
    "push_to_hub_revision": "a run has no such setting.",
    "wandb_project": "the recipe has another project.",
    "wandb_entity": "W&B reads WANDB_ENTITY from the environment that Groupwise is started in.",
    "wandb_run_group": "W&B reads WANDB_RUN_GROUP from the environment that Groupwise is started in.",
    "dataset_mixture": "a run has one dataset. Join them in one file.",
    "datasets": "a run has one dataset. Join them in one file.",
    "ignore_bias_buffers": "a run has no such setting.",
    "gradient_checkpointing_use_reentrant": "set training.gradient_checkpointing_kwargs.",
    "code_language": "“code_tests” runs Python here.",
    "code_eval_test_batch_size": "“code_tests” has no such parameter.",
    "code_eval_scoring_mode": "“code_tests” has no such parameter.",
    "parallel_code_exec_per_proc": "“code_tests” has its own parameter “concurrency”.",
    "code_provider": "“code_tests” runs code in Groupwise's own sandbox.",
    "ioi_provider": "there is no such reward here.",
    "e2b_router_url": "“code_tests” runs code in Groupwise's own sandbox.",
    "morph_router_url": "“code_tests” runs code in Groupwise's own sandbox.",
    "num_completions_to_print": "the page of a run shows every completion.",
}  # fmt: skip
# What stands in accelerate's own file, and in recipes that were joined with it.
ACCELERATE = frozenset({
    "compute_environment", "deepspeed_config", "distributed_type", "downcast_bf16", "dynamo_config",
    "enable_cpu_affinity", "gpu_ids", "machine_rank", "main_process_ip", "main_process_port", "main_training_function",
    "megatron_lm_config", "mixed_precision", "rdzv_backend", "same_network", "tpu_env", "tpu_use_cluster",
    "tpu_use_sudo",
})  # fmt: skip
OF_ACCELERATE = "Groupwise starts the processes itself, as many as launch.processes says."
_PARTS = ("", "training", "model", "lora")  # under which they are typed
_QUANTIZED = {"load_in_4bit": "4bit", "load_in_8bit": "8bit"}


def recipe_problem(path: str, value: Any, given: Mapping[str, Any], line: int | None = None) -> Problem | None:
    """The problem of a recipe's name at `path` that a spec says in another way, or not at all; None of one that is not.
    `given`: what the parts hold, by their name. No click writes over what is set."""
    parent, _, name = path.rpartition(".")
    remove = Fix("Remove it", {}, (path,))
    if parent.rpartition(".")[2] not in _PARTS or name in REMOVED or name in RECIPE_PLACES:
        return None
    if name == "use_peft":
        message = "is TRL's word: here a run trains LoRA where it has the part “lora”"
        if given.get("lora"):
            return Problem(path, f"{message}, and it has.", line, fixes=(remove,))
        use = Fix("Use LoRA of rank 16", {"lora": dict(LORA_OF_RECIPES)}, (path,))
        fits = value is True and not _has_lora(given)
        return Problem(path, f"{message}.", line, fixes=(use, remove) if fits else (remove,))
    if name in _QUANTIZED:
        place, meant = "model.quantization", _QUANTIZED[name]
        message = f"is TRL's word: here it is “{place}: {meant}”"
        if "quantization" in (given.get("model") or ()):
            return Problem(path, f"{message}, and {place} is set already.", line, fixes=(remove,))
        use = Fix(f"Write it as “{place}: {meant}”", {place: meant}, (path,))
        return Problem(path, f"{message}.", line, fixes=(use, remove) if value is True else (remove,))
    reason = RECIPE_ONLY.get(name, f"it is accelerate's. {OF_ACCELERATE}" if name in ACCELERATE else "")
    return Problem(path, f"is not set here: {reason}", line, fixes=(remove,)) if reason else None


def _has_lora(given: Mapping[str, Any]) -> bool:
    """Whether settings of LoRA wait elsewhere to be moved under “lora”."""
    training = given.get("training")
    names = {*given, *(training if isinstance(training, Mapping) else ())}
    return any(RECIPE_PLACES.get(str(name), ("",))[0] == "lora" for name in names)
