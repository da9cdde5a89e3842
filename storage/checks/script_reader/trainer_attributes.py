"""What a script sets on the trainer itself once it is made (`trainer.beta = 0.3`): of its attributes TRL reads some as
it trains, and has used others up by then. Which do which is TRL 1.16's; a test reads it from what is installed."""

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import Made, Mapping, Part, Plain, Value, plain_or

# Read at each step, or as training begins: attribute → setting of GRPOConfig.
READ_IN_TRAINING = {
    **{name: name for name in (
        "beta", "reward_weights", "num_generations", "num_generations_eval", "num_iterations", "epsilon_high",
        "loss_type",
        "scale_rewards", "importance_sampling_level", "mask_truncated_completions", "top_entropy_quantile",
        "multi_objective_aggregation", "off_policy_mask_threshold", "shuffle_dataset", "chat_template_kwargs",
        "pad_to_multiple_of", "vllm_importance_sampling_correction", "vllm_importance_sampling_mode",
        "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min", "log_completions",
        "log_unique_prompts", "num_completions_to_print",
    )},
    "epsilon_low": "epsilon",
}  # fmt: skip
# Read once, as the trainer is made, for what it generates and scores with from then on.
USED_UP = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_completion_length")
_OF_GENERATION = {"max_new_tokens": "max_completion_length"}  # transformers' name → TRL's
_EPSILON = 0.2  # TRL's own
_TENSORS = {"tensor", "as_tensor", "Tensor", "FloatTensor"}
_MOVES = {"to", "float", "cuda", "cpu", "clone", "detach"}


def attribute_settings(reading: Reading, given: dict[str, Value], trained: int) -> dict[str, Value]:
    """The settings of GRPOConfig that come to what is set on the trainer, each with a note. `given`: those of its
    config; `trained`: how many calls of the script come before its training."""
    trainer = reading.made_trainer
    found: dict[str, Value] = {}
    if trainer is None:
        return {}
    _of_generation(reading, given, found, trained)
    for setting in reading.script.settings:
        name = setting.name
        if setting.of is not trainer or name not in (*READ_IN_TRAINING, *USED_UP):
            continue
        reading.account_one(setting)
        said = f"trainer.{name}"
        if setting.order > trained:
            reading.note(said, setting.node, "is set after the training: it was not taken.")
        elif name in USED_UP:
            after = "is set after the trainer was made, where it has no effect in TRL: it was not taken."
            reading.note(said, setting.node, after)
            reading.account(setting.value)
        else:
            reading.note(said, setting.node, "is set after the trainer was made, and TRL reads it there: it was taken.")
            found[READ_IN_TRAINING[name]] = _without_tensor(reading, trainer.later[name])
    if "epsilon" in found and "epsilon_high" not in found and plain_or(given.get("epsilon_high")) is None:
        found["epsilon_high"] = given.get("epsilon", Plain(trainer.later["epsilon_low"].node, _EPSILON))
    return found


def _of_generation(reading: Reading, given: dict[str, Value], found: dict[str, Value], trained: int) -> None:
    """Take what is set on `trainer.generation_config`, from which TRL generates at each step, as settings."""
    for setting in reading.script.settings:
        of = setting.of
        if not (isinstance(of, Part) and of.of is reading.made_trainer and of.name == "generation_config"):
            continue
        reading.account_one(setting)
        said = f"trainer.generation_config.{setting.name}"
        if setting.order > trained:
            reading.note(said, setting.node, "is set after the training: it was not taken.")
            continue
        more = found.get("generation_kwargs", given.get("generation_kwargs"))
        entries = dict(more.entries) if isinstance(more, Mapping) else {}
        name = _OF_GENERATION.get(setting.name, setting.name)
        if name in USED_UP and setting.name not in entries:
            also = " The loss uses it here as well." if name == "temperature" else ""
            reading.note(
                said, setting.node, f"is set after the trainer was made: it was taken as training.{name}.{also}"
            )
            found[name] = setting.value
        else:
            after = "is set after the trainer was made: it was taken into training.generation_kwargs."
            reading.note(said, setting.node, after)
            dark = more.dark if isinstance(more, Mapping) else []
            found["generation_kwargs"] = Mapping(setting.node, entries | {setting.name: setting.value}, list(dark))


def _without_tensor(reading: Reading, value: Value) -> Value:
    """[0.2, 0.8], of torch.tensor([0.2, 0.8]).to(device)."""
    inner: Value | None = value
    while isinstance(inner, Made) and inner.name in _MOVES and inner.receiver is not None:
        inner = inner.receiver
    if not (isinstance(inner, Made) and inner.name in _TENSORS and inner.arguments):
        return value
    reading.account(value)
    return inner.arguments[0]
