"""LoRA as TRL's get_peft_config(ModelConfig(use_peft=True, …)) makes it."""

from typing import Any

from groupwise.storage.checks.script_reader.moments import Moment, changes_of, held_at, note_changes
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.unsaid import NO_CHANGE
from groupwise.storage.checks.script_reader.values import Made, Plain, Value, plain_or

# TRL's names for LoraConfig's settings, and what its ModelConfig has where a script says nothing; a test compares both.
NAMES = {
    "lora_r": "r", "lora_alpha": "lora_alpha", "lora_dropout": "lora_dropout", "lora_target_modules": "target_modules",
    "lora_target_parameters": "target_parameters", "lora_modules_to_save": "modules_to_save",
    "use_rslora": "use_rslora", "use_dora": "use_dora",
}  # fmt: skip
USUAL = {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05}


_READ = "is set after get_peft_config(…) read it: it was not taken."


def of_call(value: Value) -> Made | None:
    """The ModelConfig that get_peft_config is called with, where the script makes it itself."""
    if not isinstance(value, Made) or value.receiver is not None or value.name != "get_peft_config":
        return None
    given = value.arguments[0] if value.arguments else value.keywords.get("model_args")
    known = isinstance(given, Made) and given.receiver is None and given.cls is None and not given.parsed
    return given if known and given.name == "ModelConfig" else None  # type: ignore[union-attr, return-value]


def lora_of(reading: Reading, call: Made, config: Made) -> dict[str, Any] | None:
    """The LoRA settings that it comes to; None without use_peft."""
    said = dict(zip(["model_name_or_path"], config.arguments, strict=False)) | config.keywords
    changes, moment = changes_of(reading, config), Moment.of(call)
    said = held_at(said, config, changes, moment)
    reading.account_one(call, config)
    note_changes(reading, config, changes, moment, lambda change: "", "ModelConfig's {}", lambda change: _READ)
    reading.note_dark(config.dark, "ModelConfig's settings")
    _note_rest(reading, said)
    uses = plain_or(said.get("use_peft", Plain(config.node, False)), ...)
    if uses is not True:
        if uses is not False:
            reading.note_computed("use_peft", said["use_peft"])
        return None
    reading.account(said["use_peft"])
    found = reading.settings("lora", _as_lora_config(said))
    for name, number in USUAL.items():
        if name not in found:
            reading.unsaid.set(f"lora.{name}", number, "as TRL's ModelConfig has it")
    return USUAL | found


def _as_lora_config(said: dict[str, Value]) -> dict[str, Value]:
    """The settings under PEFT's names. A list of one module is that module's name, as ModelConfig has it."""
    given = {NAMES[name]: value for name, value in said.items() if name in NAMES and plain_or(value, 0) is not None}
    modules = plain_or(given.get("target_modules"))
    if isinstance(modules, list) and len(modules) == 1:
        given["target_modules"] = Plain(given["target_modules"].node, modules[0])
    return given


def _note_rest(reading: Reading, said: dict[str, Value]) -> None:
    """What else the ModelConfig says, and the model is not loaded with."""
    for name, value in said.items():
        if name in NAMES or name == "use_peft" or reading.is_said(value):
            continue
        if plain_or(value, 0) in (None, False) or (name, plain_or(value)) == ("lora_task_type", "CAUSAL_LM"):
            reading.leave_out(name, value, NO_CHANGE)
        else:
            reading.note(f"ModelConfig's {name}", value, "was not taken: set the model under Model.")
        reading.account(value)
