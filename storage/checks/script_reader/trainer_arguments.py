"""The trainer's other arguments: none of them is dropped without a word."""

import ast

from groupwise.storage.checks.script_reader.model import ModelReader, model_id
from groupwise.storage.checks.script_reader.places import PLACES
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.training import config_values
from groupwise.storage.checks.script_reader.unsaid import BY_TRL, NO_CHANGE, list_names
from groupwise.storage.checks.script_reader.values import Item, Items, Made, Value, plain_or

READ_ELSEWHERE = {"model", "reward_funcs", "args", "train_dataset", "eval_dataset", "quantization_config",
                  "peft_config", "processing_class", "tokenizer", "changes"}  # fmt: skip
_USUAL = {"padding_side": "left", "trust_remote_code": False, "use_fast": True, "truncation_side": "left"}
_NOTES = {
    "reward_processing_classes": "was not taken: reward models bring their own tokenizer.",
    "callbacks": "was not taken: a run takes no custom callbacks.",
    "optimizers": "was not taken: training.optim and lr_scheduler_type choose optimizer and schedule.",
    "tools": "was not taken: models cannot call tools here.",
    "rollout_func": "was not taken: TRL generates the completions here.",
    "environment_factory": "was not taken: there are no environments here.",
}


def note_arguments(reading: Reading, model: ModelReader) -> None:
    """Note the arguments that have no place in a spec, and a tokenizer that is not the model's."""
    for name, value in reading.trainer.items():
        if name in READ_ELSEWHERE or _says_nothing(value):
            reading.account(value if name not in READ_ELSEWHERE else None)
            continue
        unknown = (
            "was not taken: a spec has no place for it."
            if name in PLACES
            else "was not taken: TRL's GRPOTrainer has no such argument."
        )
        more = _set_by_optimizer(reading, value) if name == "optimizers" else ""
        reading.note(name, _argument_place(reading, name, value), _NOTES.get(name, unknown) + more)
        reading.account(value)
    for name in ("processing_class", "tokenizer"):
        if name in reading.trainer and not _says_nothing(reading.trainer[name]):
            _note_tokenizer(reading, model, name, reading.trainer[name])


def _argument_place(reading: Reading, name: str, value: Value) -> Value | ast.AST:
    """Where the trainer is given it: what it is may be made far from there."""
    call = reading.made_trainer.node if reading.made_trainer is not None else None
    given = call.keywords if isinstance(call, ast.Call) else []
    return next((one for one in given if one.arg == name), value)


_OPTIMIZER = {"lr": "learning_rate", "weight_decay": "weight_decay", "eps": "adam_epsilon"}


def _set_by_optimizer(reading: Reading, value: Value) -> str:
    """What an optimizer of the script's own is made with, which in TRL counts in place of the config's settings."""
    made = value.items[0] if isinstance(value, Items) and value.items else None
    if not isinstance(made, Made):
        return ""
    given = {name: said for name, said in made.keywords.items() if name != "params"}
    given |= {"lr": made.arguments[1]} if len(made.arguments) > 1 else {}
    config = config_values(reading)
    said = []
    for name, one in given.items():
        known, setting = plain_or(one, ...), _OPTIMIZER.get(name)
        if known is ... or known is None:
            continue
        now = plain_or(config.get(setting or ""))
        over = f", in place of the config’s {now}" if now is not None and now != known else ""
        said.append(f"{name} {known}" + (f" (here training.{setting}{over})" if setting else ""))
    return f" It was made with {list_names(said)}: set that here." if said else ""


def _says_nothing(value: Value) -> bool:
    """None, [] and (None, None)."""
    if isinstance(value, Items) and not value.open:
        return all(plain_or(item, 0) is None for item in value.items)
    return plain_or(value, 0) is None


def _note_tokenizer(reading: Reading, model: ModelReader, name: str, value: Value) -> None:
    """The model's own tokenizer needs no word; another, or one that was changed, does."""
    load = value.of if isinstance(value, Item) and isinstance(value.of, Made) else value
    if load is model.load and load is not None:
        return
    if not isinstance(load, Made) or load.name != "from_pretrained":
        reading.note(name, value, "was not taken: the model's own tokenizer is used here.")
        reading.account(value)
        return
    reading.account_one(load)
    source = load.arguments[0] if load.arguments else load.keywords.get("pretrained_model_name_or_path")
    mine = model_id(source)[0] if source is not None else None
    theirs = model.named
    if mine is None or mine != theirs:
        reading.note(
            name, value, f"is another tokenizer ({mine or 'computed'}): it was not taken. The model's own is used."
        )
    for option, given in load.keywords.items():
        if option in ("pretrained_model_name_or_path", "revision"):
            continue
        if option == "cache_dir" or plain_or(given, 0) == _USUAL.get(option, ...):
            reading.leave_out(option, given, BY_TRL if option == "padding_side" else NO_CHANGE)
            continue
        reading.note(f"The tokenizer's {option}", given, "was not taken: a spec has no place for it.")
