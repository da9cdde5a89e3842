"""What a script sets on the trainer itself once it is made (`trainer.beta = 0.3`): of its attributes TRL reads some as
it trains, and has used others up by then. Which do which is TRL 1.16's; a test reads it from what is installed."""

from collections.abc import Container
from dataclasses import replace

from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.moments import (
    Moment,
    changes_of,
    held_at,
    making_moment,
    note_changes,
)
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
_TAKEN = "is set after the trainer was made, and TRL reads it there: it was taken."
_NO_EFFECT = "is set after the trainer was made, where it has no effect in TRL: it was not taken."
_OF_GENERATION = {"max_new_tokens": "max_completion_length"}  # transformers' name → TRL's
_EPSILON = 0.2  # TRL's own
_TENSORS = {"tensor", "as_tensor", "Tensor", "FloatTensor"}
_MOVES = {"to", "float", "cuda", "cpu", "clone", "detach"}


def attribute_settings(reading: Reading, given: dict[str, Value], moment: Moment) -> dict[str, Value]:
    """The settings of GRPOConfig that come to what is set on the trainer, each with a note. `given`: those of its
    config; `moment`: when it trains."""
    trainer = reading.made_trainer
    if trainer is None:
        return {}
    found = _of_generation(reading, given, trainer, moment)
    changes = changes_of(reading, trainer)
    read = [one for one in changes if one.name in READ_IN_TRAINING]
    plainly = [replace(one, value=_without_tensor(reading, one.value)) for one in read]
    before = {name: given[setting] for name, setting in READ_IN_TRAINING.items() if setting in given}
    held = held_at(before, trainer, plainly, moment)
    reading.account_one(*read)
    set_here = {one.name for one in read if one.order <= moment.order}
    found |= {setting: held[name] for name, setting in READ_IN_TRAINING.items() if name in set_here}
    note_changes(reading, trainer, plainly, moment, lambda change: _TAKEN, "trainer.{}")
    used_up = [one for one in changes if one.name in USED_UP]
    made = making_moment(reading)
    note_changes(reading, trainer, used_up, made, lambda change: "", "trainer.{}", lambda change: _NO_EFFECT)
    reading.account(*(one.value for one in used_up))
    if "epsilon" in found and "epsilon_high" not in found and plain_or(given.get("epsilon_high")) is None:
        found["epsilon_high"] = given.get("epsilon", Plain(held["epsilon_low"].node, _EPSILON))
    return found


def _of_generation(reading: Reading, given: dict[str, Value], trainer: Made, moment: Moment) -> dict[str, Value]:
    """What is set on `trainer.generation_config`, from which TRL generates at each step, as settings."""
    changes = [one for one in reading.script.settings if _is_of_generation(one, trainer)]
    more = given.get("generation_kwargs")
    kept = dict(more.entries) if isinstance(more, Mapping) else {}
    found, others = dict[str, Value](), dict[str, Value]()
    for name, value in held_at({}, trainer, changes, moment).items():
        setting = _setting_of(name, kept)
        found |= {setting: value} if setting else {}
        others |= {} if setting else {name: value}
    if others:
        dark = list(more.dark) if isinstance(more, Mapping) else []
        found["generation_kwargs"] = Mapping(next(iter(others.values())).node, kept | others, dark)
    subject = "trainer.generation_config.{}"
    note_changes(reading, trainer, changes, moment, lambda change: _generates(_setting_of(change.name, kept)), subject)
    return found


def _is_of_generation(change: Setting, trainer: Made) -> bool:
    return isinstance(change.of, Part) and change.of.of is trainer and change.of.name == "generation_config"


def _setting_of(name: str, kept: Container[str]) -> str:
    """The setting of GRPOConfig that an attribute of the generation's config is; "" for none, and for what is `kept`
    among generation_kwargs."""
    setting = _OF_GENERATION.get(name, name)
    return setting if setting in USED_UP and name not in kept else ""


def _generates(setting: str) -> str:
    """What becomes of an attribute of the generation's config, which is this setting."""
    if not setting:
        return "is set after the trainer was made: it was taken into training.generation_kwargs."
    also = " The loss uses it here as well." if setting == "temperature" else ""
    return f"is set after the trainer was made: it was taken as training.{setting}.{also}"


def _without_tensor(reading: Reading, value: Value) -> Value:
    """[0.2, 0.8], of torch.tensor([0.2, 0.8]).to(device)."""
    inner: Value | None = value
    while isinstance(inner, Made) and inner.name in _MOVES and inner.receiver is not None:
        inner = inner.receiver
    if not (isinstance(inner, Made) and inner.name in _TENSORS and inner.arguments):
        return value
    reading.account(value)
    return inner.arguments[0]
