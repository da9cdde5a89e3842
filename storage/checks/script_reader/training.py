"""What a script says of the training itself: which trainer is trained, GRPOConfig, LoraConfig."""

import ast
from typing import Any

from groupwise.storage.checks.script_reader import model_config
from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.command_line import PARSERS
from groupwise.storage.checks.script_reader.config_changes import held_in_training, note_config_changes
from groupwise.storage.checks.script_reader.config_class import class_defaults
from groupwise.storage.checks.script_reader.moments import (
    Moment,
    changes_of,
    held_at,
    making_moment,
    note_changes,
    options_of,
    training_moment,
)
from groupwise.storage.checks.script_reader.places import PLACES, is_config, is_trainer
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.tracker_calls import tracker_settings
from groupwise.storage.checks.script_reader.trainer_attributes import attribute_settings
from groupwise.storage.checks.script_reader.unclear_config import join_configs, note_unfollowed
from groupwise.storage.checks.script_reader.unsaid import FROM_SCRIPT, NO_CHANGE
from groupwise.storage.checks.script_reader.values import (
    Either,
    Function,
    Made,
    Mapping,
    Plain,
    Value,
    beginning,
    plain_or,
)
from groupwise.storage.spec.python_source import literal
from groupwise.storage.spec.spec import MOST_NAME

_STARTS = ("__init__",)


def find_trainer(reading: Reading) -> None:
    """Let `reading.trainer` be the arguments of the trainer that is trained, and say what there is of others."""
    script = reading.script
    if not _trainers(reading):
        for function in _uncalled_functions(reading):
            script.follow_uncalled(function)
            reading.note(function.name, function, "is called nowhere in the script: it was followed with its defaults.")
            if _trainers(reading):
                break
    made = _trainers(reading)
    trained = [call.receiver for call in script.calls if call.path == ".train"]
    ready = [one for one in made if any(one in options_of(value) for value in trained)] or made
    if not ready:
        return
    chosen = ready[0]
    reading.made_trainer = chosen
    reading.trainer = dict(zip(PLACES, chosen.arguments, strict=False)) | chosen.keywords
    reading.account_one(chosen)
    _read_config_as_args(reading, chosen)
    if reading.own:  # which makes its trainers by its stages, and its own class for weights that change
        return
    reading.note_dark(chosen.dark, "the trainer's settings")
    if chosen.name != "GRPOTrainer":
        reading.note(f"{chosen.name}", chosen, "was read as TRL's GRPOTrainer, which trains here.")
    for extra in chosen.arguments[len(PLACES) :]:
        reading.note_computed("An argument of the trainer", extra)
    _note_others(reading, made, ready, chosen)
    _note_class(reading, chosen)
    if id(chosen) in script.repeated:
        reading.note("The trainer", chosen, "is made in a loop: one run was taken. Add stages for the others.")


def _read_config_as_args(reading: Reading, chosen: Made) -> None:
    """A config under another name than `args`, which TRL would refuse."""
    if "args" in reading.trainer:
        return
    for name in [name for name, value in reading.trainer.items() if name not in PLACES and is_config(value)]:
        reading.trainer["args"] = reading.trainer.pop(name)
        reading.note(name, chosen, "is no argument of TRL's GRPOTrainer: it was read as args.")
        return


def _trainers(reading: Reading) -> list[Made]:
    return [call for call in reading.script.calls if is_trainer(call)]


def _uncalled_functions(reading: Reading) -> list[Function]:
    """The functions with a trainer in them that the script calls nowhere: main(script_args, …) and its like."""
    found = [
        value
        for value in reading.script.module.names.values()
        if isinstance(value, Function) and id(value.node) not in reading.script.followed
    ]
    reach = {"GRPOTrainer", "GRPOConfig"}
    while more := {one.name for one in found if one.name not in reach and _names_in(one.node) & reach}:
        reach |= more
    last = [one for one in found if one.name in reach]
    called = set().union(*(_names_in(one.node) - {one.name} for one in last))
    return [one for one in last if one.name not in called] or last


def _names_in(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} | {
        name.attr for name in ast.walk(node) if isinstance(name, ast.Attribute)
    }


def _note_others(reading: Reading, made: list[Made], ready: list[Made], chosen: Made) -> None:
    if len(ready) > 1 and all(one.node is chosen.node for one in ready):
        after = f"is made {len(ready)} times: only the first was taken. Add stages for the others."
        reading.note("The trainer", chosen, after)
    elif len(ready) > 1:
        reading.note(f"The script has {len(ready)} trainers; only the first", chosen, "was taken.")
    for other in made:
        reading.account_one(other)
        if other not in ready and other.node is chosen.node:
            times = sum(one.node is chosen.node for one in made)
            reading.note("The trainer", chosen, f"is made {times} times: only the one that is trained was taken.")
        elif other not in ready:
            reading.note("GRPOTrainer", other, "is made and never trained: it was not taken.")
        if other is not chosen:
            for value in (*other.arguments, *other.keywords.values(), *other.dark):
                if value not in reading.trainer.values():
                    reading.account(value)
                    reading.account_one(*changes_of(reading, value))
            for setting in (one for one in reading.script.settings if beginning(one.of) is other):
                reading.account_one(setting)
                reading.account(setting.value)


def _note_class(reading: Reading, chosen: Made) -> None:
    """A class of the script that derives from the trainer: what it changes is not taken."""
    cls = chosen.cls
    while cls is not None:
        for name, member in cls.members.items():
            what = f"{cls.name}.{name}"
            kind = "its own method" if isinstance(member, Function) else "its own setting"
            if not name.startswith("__") or name in _STARTS:
                reading.note(what, member, f"is {kind}, which was not taken: TRL's GRPOTrainer trains here.")
        cls = next((base for base in cls.bases if hasattr(base, "members")), None)  # type: ignore[assignment]


def config_of(reading: Reading) -> Made | None:
    """The GRPOConfig that reaches the trainer; where no trainer is made, the script's last."""
    value = reading.trainer.get("args")
    if is_config(value):
        assert isinstance(value, Made)
        return value
    if isinstance(value, Either) and (joined := join_configs(reading, value)) is not None:
        return joined
    if reading.made_trainer is not None:
        if value is not None and not (isinstance(value, Plain) and value.value is None):
            reading.note_computed("args", value)
            note_unfollowed(reading, value)
        return None
    made = [call for call in reading.script.calls if is_config(call)]
    return made[-1] if made else None


def config_values(reading: Reading) -> dict[str, Value]:
    """What the config is given, and what is set on it, and on the trainer, afterwards."""
    config, moment = config_of(reading), training_moment(reading)
    if config is None:
        return attribute_settings(reading, {}, moment)
    reading.account_one(config, *_changes_before_copied(reading, config))
    given = class_defaults(reading, config) | dict(zip(["output_dir"], config.arguments, strict=False))
    given = held_in_training(reading, given | config.keywords, config)
    given |= attribute_settings(reading, given, moment)
    changes = changes_of(reading, config)
    note_config_changes(reading, config, changes, given, lambda change: _after_made(reading, change))
    return given | tracker_settings(reading, given)


def _after_made(reading: Reading, change: Setting) -> str:
    """What is said of a setting that counts and is set once the trainer has its config."""
    trainer = reading.made_trainer
    late = trainer is not None and change.order > trainer.order
    return "is set after the trainer was made: it was taken all the same." if late else ""


def _changes_before_copied(reading: Reading, config: Made) -> list[Setting]:
    """What was set on the config that this one is a copy of, and came along."""
    found: list[Setting] = []
    while (old := reading.script.copied.get(id(config))) is not None:
        found += [one for one in changes_of(reading, old) if one.order <= config.order]
        config = old
    return found


def training(reading: Reading) -> dict[str, Any]:
    """The training settings that the script gives."""
    config = config_of(reading)
    read_from = config if config is not None and config.parsed else _parser(reading) if config is None else None
    if read_from is not None:
        after = "are read from the command line or a file: set them here, or import a recipe in YAML instead."
        reading.note("The training settings", read_from, after)
    _note_besides(reading)
    if config is None:
        return reading.settings("training", config_values(reading))
    reading.note_dark(config.dark, "the settings under training")
    for extra in config.arguments[1:]:
        reading.note_computed("An argument of GRPOConfig", extra)
    return reading.settings("training", _without_tools(reading, _with_sampling(reading, config_values(reading))))


def _without_tools(reading: Reading, given: dict[str, Value]) -> dict[str, Value]:
    """Without what is set for tools alone, which are not taken either."""
    value = given.get("max_tool_calling_iterations")
    if value is None:
        return given
    reading.account(value)
    reading.note("max_tool_calling_iterations", value, "was not taken: models cannot call tools here.")
    return {name: one for name, one in given.items() if one is not value}


def _note_besides(reading: Reading) -> None:
    """Note what setters of the config set that the script does not say."""
    for name, node, besides in reading.script.besides:
        said = ", ".join(f"{setting} {literal(value)}" for setting, value in besides.items())
        reading.note(f"{name}(…)", node, f"also sets what it is not given, to its own defaults: {said}.")


_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")


def _with_sampling(reading: Reading, given: dict[str, Value]) -> dict[str, Value]:
    """What Unsloth's vllm_sampling_params=SamplingParams(…) says, as GRPOConfig's own settings."""
    params = given.get("vllm_sampling_params")
    if not isinstance(params, Made) or params.name != "SamplingParams":
        return given
    reading.account(params)
    taken = {name: value for name, value in given.items() if name != "vllm_sampling_params"}
    others: dict[Any, Value] = {}
    for name, value in params.keywords.items():
        what = f"vllm_sampling_params' {name}"
        if name not in _SAMPLING:
            others[name] = value
        elif plain_or(value, 0) == -1:  # vLLM's word for all tokens, which is TRL's default
            reading.leave_out(what, value, NO_CHANGE)
        elif name in given and plain_or(given[name], ...) != plain_or(value, 0):
            reading.note(what, value, f"was not taken: training.{name} has another value already.")
        else:
            taken[name] = value
    return taken | _other_sampling(reading, params, taken, others)


# With the seed in each request vLLM would write the same for every completion of a group.
_OF_GROUPS = {
    "seed": "all completions of a group would be the same. training.seed is the run's.",
    "n": "training.num_generations says how many there are.",
    "max_tokens": "training.max_completion_length says how long they are.",
}


def _other_sampling(
    reading: Reading, params: Made, given: dict[str, Value], others: dict[Any, Value]
) -> dict[str, Value]:
    """What SamplingParams takes and GRPOConfig has no name for: TRL hands it on from generation_kwargs where vLLM
    generates."""
    kept: dict[Any, Value] = {}
    for name, value in others.items():
        what = f"vllm_sampling_params' {name}"
        if name in _OF_GROUPS:
            reading.note(what, value, f"was not taken: {_OF_GROUPS[name]}")
        elif plain_or(given.get("use_vllm")) is not True:
            reading.note(what, value, "was not taken: training.generation_kwargs takes it where use_vllm is true.")
        elif "generation_kwargs" in given:
            reading.note(what, value, "was not taken: training.generation_kwargs is set already. Add it there.")
        elif plain_or(value, ...) is not ...:
            kept[name] = value
        else:
            reading.note_computed(what, value)
    return {"generation_kwargs": Mapping(params.node, kept)} if kept else {}


def _parser(reading: Reading) -> Made | None:
    """The first parser of dataclasses that the script makes."""
    return next((call for call in reading.script.calls if call.name in PARSERS), None)


def run_name(reading: Reading) -> str:
    """The run's name: what the script calls its output."""
    found = config_values(reading)
    for field in ("run_name", "output_dir"):
        given = plain_or(found.get(field))
        last = given.replace("\\", "/").rstrip("/").rpartition("/")[2].strip() if isinstance(given, str) else ""
        if last.strip("."):
            reading.unsaid.set("name", last[:MOST_NAME], f"from {field}")
            return last[:MOST_NAME]
    reading.unsaid.set("name", FROM_SCRIPT)
    return FROM_SCRIPT


def lora(reading: Reading, wrapped: list[Made]) -> dict[str, Any] | None:
    """The LoRA settings that reach the trainer. `wrapped`: the get_peft_model calls that its model went through."""
    value = reading.trainer.get("peft_config")
    found: dict[str, Any] | None = None
    for call in reversed(wrapped):
        if value is not None and plain_or(value, 0) is not None:
            reading.note("peft_config", value, "was not taken: the model has LoRA already.")
            reading.account(value)
            value = None
        found = _of_wrapper(reading, call)
    if value is None or (isinstance(value, Plain) and value.value is None):
        return found
    return _of_config(reading, value, making_moment(reading))


def _of_wrapper(reading: Reading, call: Made) -> dict[str, Any] | None:
    """LoRA as peft.get_peft_model(model, LoraConfig(…)) or Unsloth's get_peft_model(model, r=…) says it."""
    reading.account_one(call)
    reading.adapter = call
    if len(call.arguments) > 1 or "peft_config" in call.keywords:
        return _of_config(reading, call.keywords.get("peft_config") or call.arguments[1], Moment.of(call))
    reading.note_dark(call.dark, "the settings under lora")
    given = {name: value for name, value in call.keywords.items() if name != "model"}
    for name in [name for name in given if name in UNSLOTH]:
        value = given.pop(name)
        if plain_or(value, 0) is not None:
            reading.note(f"get_peft_model's {name}", value, UNSLOTH[name])
        reading.account(value)
    found = reading.settings("lora", given)
    for name in ("loftq_config", "target_modules"):
        if name in found and found[name] is None:
            del found[name]
    if "Model.get_peft_model" not in call.path:
        return found
    usual = {name: value for name, value in {"r": 16, "lora_alpha": 16}.items() if name not in found}
    for name, number in usual.items():
        reading.unsaid.set(f"lora.{name}", number, "as Unsloth has it")
    return usual | found


# By then the model has its LoRA.
LATE_LORA = "is set after the LoRA was made, where it has no effect: it was not taken."
UNSLOTH = {
    "use_gradient_checkpointing": "is Unsloth's own: training.gradient_checkpointing says it here.",
    "random_state": "was not taken: training.seed decides here.",
    "max_seq_length": "was not taken: training.max_completion_length limits a completion here.",
    "finetune_vision_layers": "was not taken: lora.target_modules says what is trained.",
    "finetune_language_layers": "was not taken: lora.target_modules says what is trained.",
    "finetune_attention_modules": "was not taken: lora.target_modules says what is trained.",
    "finetune_mlp_modules": "was not taken: lora.target_modules says what is trained.",
    "layers_to_transform": "was not taken: set it under lora, where PEFT's LoraConfig has it.",
    "temporary_location": "is Unsloth's own, and was not taken.",
    "qat_scheme": "is Unsloth's own, and was not taken.",
}


def _of_config(reading: Reading, value: Value, moment: Moment) -> dict[str, Any] | None:
    """The settings of a config for LoRA. `moment`: when the model gets it, after which nothing reads it."""
    if isinstance(value, Made) and (config := model_config.of_call(value)) is not None:
        reading.adapter = config
        return model_config.lora_of(reading, value, config)
    if not isinstance(value, Made) or value.name != "LoraConfig":
        what = (
            "A PEFT method other than LoRA"
            if isinstance(value, Made) and value.name.endswith("Config")
            else "peft_config"
        )
        if what == "peft_config":
            reading.note_computed(what, value)
        else:
            reading.note(what, value, "was not taken: Groupwise trains all weights or LoRA.")
            reading.account(value)
        return None
    reading.account_one(value)
    reading.adapter = value
    reading.note_dark(value.dark, "the settings under lora")
    changes = changes_of(reading, value)
    given = dict(zip(["task_type"], value.arguments, strict=False)) | value.keywords
    given = held_at(given, value, changes, moment)
    note_changes(reading, value, changes, moment, lambda change: "", "LoraConfig's {}", lambda change: LATE_LORA)
    task = given.get("task_type")
    found = reading.settings("lora", given)
    if task is not None and found.get("task_type") == "CAUSAL_LM":
        del found["task_type"]
        reading.leave_out("task_type", task, "a run sets it by itself")
    return found
