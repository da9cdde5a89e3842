"""What a script sets on its config: until the trainer is made all of it counts, afterwards only what is read while it
trains. Which settings that leaves out is TRL 1.16's and transformers'; a test reads it from what is installed."""

from collections.abc import Callable, Iterable

from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.moments import (
    changes_of,
    held_at,
    making_moment,
    note_changes,
    training_moment,
)
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import Made, Value, plain_or
from groupwise.storage.spec.python_source import literal

# Read as the trainer is made, and never again.
COPIED = frozenset({
    "beta", "cache_implementation", "chat_template_kwargs", "ddp_find_unused_parameters", "disable_dropout",
    "disable_tqdm", "entropy_coef", "epsilon", "epsilon_high", "generation_kwargs", "gradient_checkpointing",
    "importance_sampling_level", "label_names", "label_smoothing_factor", "log_completions", "log_completions_hub_repo",
    "log_multimodal", "log_unique_prompts", "loss_type", "mask_truncated_completions", "max_completion_length",
    "max_tool_calling_iterations", "min_p", "model_init_kwargs", "multi_objective_aggregation", "neftune_noise_alpha",
    "num_completions_to_print", "num_generations", "num_generations_eval", "num_iterations",
    "off_policy_mask_threshold", "pad_to_multiple_of", "per_device_train_batch_size", "repetition_penalty",
    "reward_weights", "router_aux_loss_coef", "scale_rewards", "shuffle_dataset", "skip_memory_metrics",
    "sync_ref_model", "temperature", "top_entropy_quantile", "top_k", "top_p",
    "transformers_continuous_batching_config", "trust_remote_code", "use_adaptive_entropy", "use_cache",
    "use_transformers_continuous_batching", "use_vllm", "vllm_enable_sleep_mode", "vllm_gpu_memory_utilization",
    "vllm_group_port", "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min",
    "vllm_importance_sampling_correction", "vllm_importance_sampling_mode", "vllm_max_model_length", "vllm_mode",
    "vllm_model_impl", "vllm_server_base_url", "vllm_server_host", "vllm_server_port", "vllm_server_timeout",
    "vllm_structured_outputs_regex", "vllm_tensor_parallel_size",
})  # fmt: skip
_COPIED = "is set after the trainer was made, which has copied it by then"


def held_in_training(reading: Reading, given: dict[str, Value], config: Made) -> dict[str, Value]:
    """The settings that the training has of a config that was made with those it is `given`."""
    copied, read = _by_use(changes_of(reading, config))
    made = held_at(given, config, copied, making_moment(reading))
    return held_at(made, config, read, training_moment(reading))


def note_config_changes(
    reading: Reading, config: Made, changes: Iterable[Setting], held: dict[str, Value], words: Callable[[Setting], str]
) -> None:
    """Say of each change of a config what becomes of it. `held`: what the training has; `words`: of a change that
    counts, "" for none."""
    copied, read = _by_use(changes)
    made, trained = making_moment(reading), training_moment(reading)

    def late(change: Setting) -> str:
        return _copied_words(held.get(change.name)) if change.order <= trained.order else ""

    note_changes(reading, config, copied, made, lambda change: "", late=late)
    reading.account(*(one.value for one in copied if one.order > made.order))
    note_changes(reading, config, read, trained, words)


def _by_use(changes: Iterable[Setting]) -> tuple[list[Setting], list[Setting]]:
    """The changes of what the trainer copies as it is made, and those of what is read as it trains."""
    every = list(changes)
    return [one for one in every if one.name in COPIED], [one for one in every if one.name not in COPIED]


def _copied_words(held: Value | None) -> str:
    """What is said of a setting that the trainer has copied, with the value that it `held` then."""
    known = plain_or(held, ...)
    if held is None or known is ...:
        return f"{_COPIED}: it was not taken."
    return f"{_COPIED}: {literal(known)} was taken, as the script trains with it."
