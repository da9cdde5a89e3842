"""The last part of the bookkeeping: what a script calls and sets that was neither taken nor noted yet gets its note."""

import ast

from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.chosen_rows import step_arguments
from groupwise.storage.checks.script_reader.imported_rewards import imported_reward
from groupwise.storage.checks.script_reader.joined import joins
from groupwise.storage.checks.script_reader.members import is_builtin
from groupwise.storage.checks.script_reader.moments import (
    options_of,
    training_moment,
    training_words,
    trainings,
    trains,
)
from groupwise.storage.checks.script_reader.places import is_config, owner_of_dict
from groupwise.storage.checks.script_reader.reading import Reading, short_path
from groupwise.storage.checks.script_reader.rounds import note_rounds
from groupwise.storage.checks.script_reader.seeds import SEEDING, seed_words
from groupwise.storage.checks.script_reader.source import is_source
from groupwise.storage.checks.script_reader.table_file import reads_file
from groupwise.storage.checks.script_reader.tracker_calls import note_tracker, note_variable
from groupwise.storage.checks.script_reader.training import config_values
from groupwise.storage.checks.script_reader.unmet import note_unmet
from groupwise.storage.checks.script_reader.unsaid import BY_TRL, FOR_THE_SHELL, NO_CHANGE, list_names
from groupwise.storage.checks.script_reader.values import (
    Column,
    Deleted,
    Either,
    Function,
    Item,
    Items,
    Made,
    Mapping,
    Outer,
    Part,
    Plain,
    Row,
    Text,
    Value,
    beginning,
    plain_or,
    script_line,
)

# What neither trains nor changes what is trained.
_QUIET_ROOTS = {
    "print", "logging", "logger", "log", "warnings", "time", "datetime", "re", "json", "pathlib", "Path", "math",
    "typing", "collections", "itertools", "functools", "gc", "tqdm", "pprint", "dataclasses", "argparse", "string",
    "textwrap", "enum", "uuid", "rich", "traceback", "getpass", "display", "IPython", "inspect", "copy", "operator",
    "partial", "field", "dataclass", "defaultdict", "Counter", "namedtuple", "matplotlib", "plt", "sys", "platform",
    "importlib", "ast", "io", "contextlib", "statistics", "hashlib", "np", "numpy",
    "typer", "click", "fire", "tyro", "hydra", "OmegaConf", "omegaconf",
}  # fmt: skip
_QUIET_PATHS = ("os.path", "os.makedirs", "os.getcwd", "os.environ.get", "os.environ.keys", "os.getenv",
                "torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.cuda.empty_cache",
                "torch.cuda.get_device", "torch.cuda.device_count", "torch.cuda.max_memory", "torch.cuda.memory",
                "torch.device", "transformers.logging", "datasets.logging", "trl.trainer.utils.disable",
                "os.listdir", "shutil", "accelerate.logging", "unsloth.is_bfloat16_supported",
                "is_bfloat16_supported", "transformers.utils.logging")  # fmt: skip
_QUIET_METHODS = {"print_trainable_parameters", "num_parameters", "state_dict", "parameters", "named_parameters",
                  "get_memory_footprint", "column_names", "features", "info", "warning", "debug", "to_pandas", "head",
                  "print", "read", "readlines", "write", "close", "items", "keys", "values", "get", "isdir", "exists",
                  "mkdir", "join", "strip"}  # fmt: skip
_LOOKS = {"apply_chat_template", "decode", "batch_decode", "encode", "get_added_vocab", "get_vocab", "tokenize",
          "convert_tokens_to_ids", "convert_ids_to_tokens"}  # fmt: skip
_QUIET_NAMES = {"SimpleNamespace", "Namespace", "EasyDict", "getLogger", "get_logger", "TrlParser", "HfArgumentParser"}
_LOUD = {"exec", "eval", "setattr", "open", "compile"}  # of Python's own
_NOT_TOLD = "was not taken: what it sets is known only when the script runs. Set it here."
_TOKENS = "was not taken: tokens belong in the environment (HF_TOKEN)."
_SAVED = "was not taken: each run keeps its model in its own folder."
_HUB = "was not taken: set training.push_to_hub and hub_model_id to push what was trained."
_TRACKER = "was not taken: every metric is recorded in the run's own file."
_UNTRAINED = "does not reach the trainer as its training data: it was not taken."
_NO_LORA = "does not reach the trainer: no LoRA was taken."
_BY_NAME = {
    **dict.fromkeys(SEEDING, ""),  # seed_words
    "wandb.login": "was not taken: keys belong in the environment of Groupwise (WANDB_API_KEY).",
    "login": _TOKENS, "notebook_login": _TOKENS, "interpreter_login": _TOKENS,
    "save_model": _SAVED, "save_pretrained": _SAVED, "save_state": _SAVED, "save_lora": _SAVED, "save_metrics": _SAVED,
    "log_metrics": _SAVED, "create_model_card": _SAVED, "save_pretrained_merged": _SAVED,
    "save_pretrained_gguf": _SAVED,
    "push_to_hub": _HUB, "push_to_hub_merged": _HUB, "push_to_hub_gguf": _HUB, "upload_folder": _HUB,
    "create_repo": _HUB,
    "add_callback": "was not taken: a run takes no custom callbacks.",
    "remove_callback": "was not taken: a run takes no custom callbacks.",
    "init": _TRACKER, "finish": _TRACKER, "log": _TRACKER,
    "evaluate": "was not taken: set training.eval_strategy to evaluate while it trains.",
    "LoraConfig": _NO_LORA,
    "GRPOConfig": "does not reach the trainer: it was not taken.",
    "BitsAndBytesConfig": "does not reach the model: it was not taken.",
    "load_dataset": _UNTRAINED,
    "gradient_checkpointing_enable": "was not taken: training.gradient_checkpointing says it here.",
    "enable_input_require_grads": "was not taken: TRL does that itself where it is needed.",
    "PatchFastRL": "is Unsloth's own, and was not taken: TRL trains here.",
    "for_inference": "is Unsloth's own, and was not taken.",
    "for_training": "is Unsloth's own, and was not taken.",
    "from_pretrained": "does not reach the trainer: it was not taken.",
    "get_peft_model": _NO_LORA,
    "add_adapter": "was not taken: set LoRA under lora here.",
    "set_device": "was not taken: the environment of Groupwise sets which GPUs a run may use (CUDA_VISIBLE_DEVICES).",
    "get_last_checkpoint": "was not taken: use Resume on the run's page.",
    "notebook_launcher": "was not taken: launch.processes says how many processes train.",
}  # fmt: skip
_OF_NO_USE = {"LoraConfig": "trainer", "BitsAndBytesConfig": "model"}  # where the script does not hand it over
_NO_TRAINER = {"SFTTrainer", "DPOTrainer", "RewardTrainer", "PPOTrainer", "KTOTrainer", "Trainer", "RLOOTrainer"}
_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "is set: it was not taken. Start Groupwise with it, or set launch.processes.",
    "HF_TOKEN": "is set: it was not taken. Tokens belong in the environment of Groupwise.",
}
_TOKENIZER_DEFAULTS = {"pad_token", "pad_token_id", "padding_side"}  # TRL sets these itself


def note_leftovers(reading: Reading) -> None:
    """Note every call and every setting that has to do with training, and was not said yet."""
    config_values(reading)  # which says what of the trackers was taken
    for setting in reading.script.settings:
        if not reading.is_said(setting):
            _note_setting(reading, setting)
    note_rounds(reading, trainings(reading))
    after = training_moment(reading).order
    begins = {id(call.node): call.order for call in reversed(reading.script.calls)}  # when a line calls it first
    inside: set[int] = set()
    lost: set[int] = set()
    late: list[Made] = []
    for call in reversed(reading.script.calls):  # the outermost of an expression comes last
        hidden = id(call.node) in inside and not _has_own_words(call)
        if reading.is_said(call) or id(call) in lost or hidden or _is_quiet(call):
            continue
        if call.path == ".train" and trains(reading, call):
            _note_train(reading, call)
        elif call.path == ".train" and _trains_another(call):
            continue  # said of that trainer
        elif begins[id(call.node)] > after and call.name not in _BY_NAME:
            late.append(call)
        else:
            _note_call(reading, call, lost)
        # what is in it is said with it; not the call itself, which a loop or a function makes again
        inside |= {id(node) for node in ast.walk(call.node) if node is not call.node}
    _note_late(reading, list(reversed(late)))
    note_unmet(reading)
    for statement in reading.script.skipped:
        _note_handler(reading, statement)


def _note_train(reading: Reading, call: Made) -> None:
    """trainer.train(resume_from_checkpoint=…)."""
    given = dict(zip(["resume_from_checkpoint"], call.arguments, strict=False)) | call.keywords
    for name, value in given.items():
        if _resumes_nothing(value):
            continue
        after = "was not taken: use Resume on the run's page." if name == "resume_from_checkpoint" else "was not taken."
        reading.note(f"train's {name}", value, after)


def _has_own_words(call: Made) -> bool:
    """Whether more is said of a call than that a spec has no place for it: log(trainer.train(…)) is both."""
    return call.path == ".train" or call.name in _BY_NAME or call.name.endswith("Trainer")


def _resumes_nothing(value: Value) -> bool:
    """Whether training begins anew: by None or False, or by what a config that the script makes has by default."""
    known = plain_or(value, ...)
    unset = isinstance(value, Part) and is_config(value.of) and value.name == "resume_from_checkpoint"
    return unset or known is None or known is False


def _trains_another(call: Made) -> bool:
    """Whether a call trains by a trainer, of whatever kind."""
    return any(isinstance(one, Made) and one.name.endswith("Trainer") for one in options_of(call.receiver))


def _is_quiet(call: Made) -> bool:
    if _sets_unknown(call):
        return False
    if _is_look(call) or (call.name.startswith("is_") and call.name.endswith("_available")):
        return True
    if call.receiver is not None:
        root = beginning(call.receiver)
        if call.name in _BY_NAME and not (
            isinstance(root, (Outer, Made)) and root.path.partition(".")[0] in _QUIET_ROOTS
        ):
            return False
        if isinstance(root, Made) and root.receiver is None and _is_quiet(root) and root is not call:
            return True
        if isinstance(root, Outer):
            return is_builtin(root.path) or root.path.partition(".")[0] in _QUIET_ROOTS
        return call.name in _QUIET_METHODS or isinstance(root, (Plain, Items, Mapping, Column, Text, Row, Function))
    first = call.path.partition(".")[0]
    if call.name in _BY_NAME and first not in _QUIET_ROOTS:
        return False
    if call.cls is not None and call.path == call.cls.name:
        return True  # an object of the script's own
    if is_builtin(call.path):
        return call.path not in _LOUD
    return first in _QUIET_ROOTS or call.path.startswith(_QUIET_PATHS) or call.name in _QUIET_NAMES


def _is_look(call: Made) -> bool:
    """Whether a call only looks at a row of the data or at what a tokenizer does: dataset[0]["answer"].split("x")."""
    if call.name in _LOOKS and call.receiver is not None and not _is_data(call):
        return True
    value: Value | None = call.receiver
    while isinstance(value, (Made, Part, Item)):
        if isinstance(value, Item) and type(plain_or(value.key)) is int and not isinstance(value.of, (Items, Mapping)):
            root = beginning(value)
            return isinstance(root, Made) and is_source(root)
        value = value.receiver if isinstance(value, Made) else value.of
    return False


def _note_call(reading: Reading, call: Made, lost: set[int]) -> None:
    """`lost`: the datasets of which it was said that what is made of them was not taken."""
    name = call.name
    if name == "push_to_hub" and call.receiver is not None and trains(reading, call):
        _note_push(reading, call)
    elif name in _NO_TRAINER or (name.endswith("Trainer") and not is_config(call)):
        reading.note(
            f"{name}(…)", call, "was not taken: Groupwise trains by GRPO. What it trains can be this run's model."
        )
    elif name not in _BY_NAME and _is_data(call):
        _note_data(reading, call, lost)
    elif joins(root := beginning(call)) and not reading.is_said(root):
        reading.note("A dataset", root, _UNTRAINED)
    elif ast.unparse(call.node).startswith("get_ipython()"):
        reading.leave_out(f"get_ipython().{name}", call, FOR_THE_SHELL)
    elif call.path.startswith("subprocess."):
        reading.leave_out(f"{short_path(call)}(…)", call, NO_CHANGE)
    elif _sets_unknown(call):
        reading.note(f"{short_path(call)}(…)", call, _NOT_TOLD)
    elif note_tracker(reading, call):
        pass
    elif (known := imported_reward(reading, call)) is not None:
        same = f" The built-in “{known.name}” does the same." if known.name else ""
        reading.note(f"{short_path(call)}(…)", call, "was not taken: it is not among the reward functions that the "
                     f"script uses by its defaults.{same}")  # fmt: skip
    elif name in _BY_NAME:
        reading.note(f"{short_path(call)}(…)", call, _say_by_name(reading, call))
    elif not _comes_along(reading, call):
        reading.note(f"{short_path(call)}(…)", call, "was not taken: a spec has no place for it.")


def _comes_along(reading: Reading, call: Made) -> bool:
    """Whether a reward that comes along has the line of the call in its code: client = OpenAI()."""
    line = reading.lines[script_line(call) - 1].strip()
    return any(line in map(str.strip, code.split("\n")) for code in reading.codes)


def _say_by_name(reading: Reading, call: Made) -> str:
    """What is said of a call by its name; of LoRA that goes nowhere, beside one that was taken, which that is."""
    if call.name in SEEDING:
        return seed_words(reading, call)
    said = _BY_NAME.get(call.path, _BY_NAME[call.name])
    if call.name == "load_dataset" and reading.makes_rows:
        return "was not taken: where the script makes its rows of it, choose it here, and say prompt and answer."
    if said.startswith("does not reach") and (times := _times_beside_taken(reading, call)):
        return f"is called {times} times: only what reaches the trainer was taken."
    if said != _NO_LORA or reading.adapter is None:
        return said
    taken = f"{short_path(reading.adapter)}(…) ({reading.place(script_line(reading.adapter))})"
    return f"does not reach the trainer: it was not taken. LoRA is that of {taken}."


def _times_beside_taken(reading: Reading, call: Made) -> int:
    """How often a loop or a function makes a call of which one was taken; 0 where none was."""
    same = [one for one in reading.script.calls if one.node is call.node]
    return len(same) if any(map(reading.is_said, same)) else 0


def _sets_unknown(call: Made) -> bool:
    """setattr(args, name, value), vars(args).update(more): where it cannot be told which attributes are set."""
    return call.name in ("setattr", "__setattr__") or (
        call.name == "update" and owner_of_dict(call.receiver) is not None
    )


def _note_data(reading: Reading, call: Made, lost: set[int]) -> None:
    """What is made of a dataset beside the training data: once a dataset, unless its loading is noted by itself."""
    root = beginning(call)
    if call.name == "set_transform":
        reading.note("set_transform(…)", call, "on the data was not taken: set prompt and answer here.")
        return None
    within = any(node is root.node for node in ast.walk(call.node))
    if any(setting.value is call and beginning(setting.of) is root for setting in reading.script.settings):
        return _note_part(reading, call)  # splits["train"] = splits["train"].remove_columns(…)
    if reads_file(root) and reading.is_said(root):  # a table that is trained on: what is made beside changes nothing
        if plain_or(call.keywords.get("inplace")) is True:
            reading.note(f"{call.name}(…)", call, "on the data was not taken: a spec has no place for it.")
        return None
    if id(root) not in lost and (within or reading.is_said(root)):
        reading.note("A dataset", call, _UNTRAINED)
        lost.add(id(root))
    return None


def _note_part(reading: Reading, call: Made) -> None:
    """A step on a part of the training data, which takes its place."""
    if call.name == "remove_columns":
        if plain_or(step_arguments(call, "column_names").get("column_names")) == []:
            return
        reading.note("Removing columns", call, "was not taken: rewards get every column. data.columns says which.")
    else:
        reading.note(f"{call.name}(…)", call, "on a part of the data was not taken.")


def _note_push(reading: Reading, call: Made) -> None:
    """trainer.push_to_hub(…) does what training.push_to_hub says, if that was taken."""
    said = config_values(reading)
    to = plain_or(said.get("hub_model_id"))
    where = f" to “{to}”" if isinstance(to, str) else ""
    if plain_or(said.get("push_to_hub")) is True:
        after = f"is training.push_to_hub here, which was taken: what is saved is pushed{where}."
    elif where:
        after = f"was not taken: set training.push_to_hub to push{where} (hub_model_id, which was taken)."
    else:
        after = _HUB
    reading.note(f"{short_path(call)}(…)", call, after)
    for name, value in call.keywords.items():
        reading.note(f"push_to_hub's {name}", value, "was not taken.")


def _is_data(call: Made) -> bool:
    """Whether a call is a step on a dataset that was loaded."""
    root = beginning(call)
    return isinstance(root, Made) and root is not call and is_source(root)


def _note_late(reading: Reading, late: list[Made]) -> None:
    """What is done after the training, in one sentence."""
    if not late:
        return
    names = list(dict.fromkeys(short_path(call) for call in late))
    reading.note(f"What comes after {training_words(reading)}", late[0], f"was not taken: {list_names(names)}.")


def _note_setting(reading: Reading, setting: Setting) -> None:
    """An attribute or key that is set on what the script does not define."""
    path = _path_of(setting.of)
    root = beginning(setting.of)
    if isinstance(setting.value, Deleted):
        after = "is deleted, which was not taken: a spec has no place for it."
        reading.note(f"“{_target(setting)}”", setting.node, after)
    elif path == "os.environ" and setting.name.startswith("UNSLOTH_"):
        reading.note(setting.name, setting.node, "is Unsloth's own, and was not taken: TRL trains here.")
    elif path == "os.environ" and note_variable(reading, setting):
        pass
    elif path == "os.environ":
        after = _ENVIRONMENT.get(setting.name, "is set in the environment: it was not taken. Start Groupwise with it.")
        reading.note(setting.name or "A variable", setting.node, after)
    elif isinstance(root, Outer) and root.path.partition(".")[0] in _QUIET_ROOTS:
        return
    elif isinstance(root, Made) and is_source(root) and not reads_file(root):
        return  # a column of a dataset, of which is said that it was not taken
    elif isinstance(root, Made) and root.cls is not None and root.path == root.cls.name:
        return  # an object of the script's own
    elif setting.name in _TOKENIZER_DEFAULTS and _is_default(setting):
        reading.leave_out(_target(setting), setting.node, BY_TRL)
    elif _is_trainer_args(reading, setting):
        return
    elif isinstance(setting.of, Either) and any(map(is_config, setting.of.options)):
        reading.note(f"“{_target(setting)}”", setting.node, "is set on a config that depends on a condition, which was "
                     "not taken: set it here.")  # fmt: skip
    elif is_config(setting.of) and setting.name:
        after = "is set on a config that does not reach the trainer: it was not taken."
        reading.note(f"“{_target(setting)}”", setting.node, after)
    elif where := _reaches_nothing(reading, setting.of):
        after = f"is set on a {where}: it was not taken."
        reading.note(f"“{_target(setting)}”", setting.node, after)
    else:
        unknown = owner_of_dict(setting.of) is not None
        after = _NOT_TOLD if unknown else "is set, which was not taken: a spec has no place for it."
        reading.note(f"“{_target(setting)}”", setting.node, after)


def _reaches_nothing(reading: Reading, config: Value) -> str:
    """Of a config that was not taken as it goes nowhere: its class and that it does not; "" of anything else."""
    if not isinstance(config, Made) or config.name not in _OF_NO_USE or reading.is_said(config):
        return ""
    return f"{config.name} that does not reach the {_OF_NO_USE[config.name]}"


def _target(setting: Setting) -> str:
    """What is set, as the script writes it."""
    return ast.unparse(getattr(setting.node, "targets", [setting.node])[0])[:60]


def _is_default(setting: Setting) -> bool:
    """pad_token = eos_token, padding_side = "left": what TRL does by itself."""
    if setting.name == "padding_side":
        return plain_or(setting.value) == "left"
    return isinstance(setting.value, (Part, Outer)) and ast.unparse(setting.value.node).endswith(
        ("eos_token", "eos_token_id")
    )


def _is_trainer_args(reading: Reading, setting: Setting) -> bool:
    return is_config(setting.of) and reading.is_said(setting.of) and isinstance(setting.value, Plain)


def _path_of(value: Value) -> str:
    if isinstance(value, Part):
        return f"{_path_of(value.of)}.{value.name}"
    return value.path if isinstance(value, (Outer, Made)) else ""


def _note_handler(reading: Reading, statement: ast.stmt) -> None:
    """What the script does where something fails: what would be told of elsewhere by its name, and what it sets."""
    for node in ast.walk(statement):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        root, _, last = name.rpartition(".")
        by_name = (last in _BY_NAME or last in ("train", "setattr")) and root.partition(".")[0] not in _QUIET_ROOTS
        if last.endswith(("Trainer", "Config", "from_pretrained")) or by_name:
            reading.note(f"{name[:60]}(…)", node, "is called where something fails: it was not taken.")
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            reading.note(f"“{ast.unparse(node)[:60]}”", node, "is set where something fails: it was not taken.")
