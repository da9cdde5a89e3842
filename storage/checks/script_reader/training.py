"""What a script says of the training itself: the trainer, GRPOConfig, LoraConfig, the model."""

import ast
from typing import Any

from groupwise.storage.checks.check import OWNED
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.syntax import Script, dotted_name

NOT_WORTH_A_NOTE = {"output_dir", "overwrite_output_dir", "logging_dir", "report_to", "reward_weights", "use_cpu"}
DTYPES = ("auto", "float32", "bfloat16", "float16")


class Reading:
    """A script, and the sentences about what of it could not be taken."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.notes: list[str] = []
        trainers = [call for name in trainers_of(script) for call in script.calls.get(name, [])]
        self.trainer, dark = script.arguments(trainers[0], "model", "reward_funcs", "args", "train_dataset",
                                              "eval_dataset") if trainers else ({}, [])  # fmt: skip
        self._note_dark(dark, "the trainer's settings")
        if len(trainers) > 1:
            self.note(f"The script has {len(trainers)} trainers; only the first", trainers[0], "was taken.")

    def note(self, before: str, node: ast.AST, after: str) -> None:
        """Note once what was not taken, with its line."""
        sentence = f"{before} (line {getattr(node, 'lineno', 1)}) {after}"
        if sentence not in self.notes:
            self.notes.append(sentence)

    def note_computed(self, what: str, node: ast.AST) -> None:
        """Note that the script computes something."""
        self.note(f"{what}", node, "is computed by the script: set it here.")

    def _note_dark(self, dark: list[ast.expr], what: str) -> None:
        for node in dark:
            self.note(f"Some of {what}", node, "come from what the script computes: set them here.")

    def call(self, name: str, node: ast.expr | None) -> ast.Call | None:
        """The call of `name` that an expression stands for; without that, the first in the script."""
        found = self.script.resolve(node) if node is not None else None
        if isinstance(found, ast.Call) and dotted_name(found.func).rpartition(".")[2] == name:
            return found
        return next(iter(self.script.calls.get(name, [])), None)

    def settings(self, section: str, call: ast.Call, *positional: str) -> dict[str, Any]:
        """The literal keywords of a GRPOConfig or LoraConfig call; a note for each that is none."""
        found, dark = self.script.arguments(call, *positional)
        self._note_dark(dark, f"the settings under {section}")
        taken: dict[str, Any] = {}
        for name, node in found.items():
            if section == "training" and name in OWNED:
                if name not in NOT_WORTH_A_NOTE and name != "model_init_kwargs":
                    self.note(name, node, f"was left out: {OWNED[name]}")
                continue
            try:
                taken[name] = self.script.value(node)
            except Unknown:
                if _enum(node) is not None:
                    taken[name] = _enum(node)
                elif name not in NOT_WORTH_A_NOTE:
                    self.note_computed(name, node)
        return taken


def trainers_of(script: Script) -> list[str]:
    """GRPOTrainer, and the classes that the script derives from it."""
    classes = [node for node in ast.walk(script.tree) if isinstance(node, ast.ClassDef)]
    own = [one.name for one in classes if any(dotted_name(base).endswith("GRPOTrainer") for base in one.bases)]
    return [*own, "GRPOTrainer"]


def config_call(reading: Reading) -> tuple[ast.Call | None, dict[str, ast.expr]]:
    """The GRPOConfig call, with what the script sets on it afterwards (args.beta = 0.1)."""
    node = reading.trainer.get("args")
    call = reading.call("GRPOConfig", node)
    return call, reading.script.attributes.get(dotted_name(node), {}) if isinstance(node, ast.Name) else {}


def training(reading: Reading) -> dict[str, Any]:
    """The training settings that the script gives."""
    call, later = config_call(reading)
    if call is None:
        parsers = [name for name in ("TrlParser", "HfArgumentParser") if name in reading.script.calls]
        if parsers:
            reading.note("The training settings", reading.script.calls[parsers[0]][0],
                         "are read from the command line or a file: set them here.")  # fmt: skip
        return {}
    combined = ast.Call(call.func, call.args, [*call.keywords, *(ast.keyword(k, v) for k, v in later.items())])
    return reading.settings("training", ast.copy_location(combined, call), "output_dir")


def name(reading: Reading) -> str:
    """The run's name: what the script calls its output."""
    call, _ = config_call(reading)
    found = reading.script.arguments(call, "output_dir")[0] if call else {}
    for field in ("run_name", "output_dir"):
        given = reading.script.value_or(found.get(field))
        last = given.replace("\\", "/").rstrip("/").rpartition("/")[2].strip() if isinstance(given, str) else ""
        if last.strip("."):
            return last[:80]
    return "from-script"


def lora(reading: Reading) -> dict[str, Any] | None:
    """The LoRA settings that the script gives."""
    call = reading.call("LoraConfig", reading.trainer.get("peft_config"))
    if call is None:
        if "peft_config" in reading.trainer and reading.script.value_or(reading.trainer["peft_config"], 0) is not None:
            reading.note_computed("peft_config", reading.trainer["peft_config"])
        return None
    found = reading.settings("lora", call, "task_type")
    if _enum(reading.script.arguments(call)[0].get("task_type")) == "CAUSAL_LM":
        del found["task_type"]  # this product sets it itself
    return found


def _enum(node: ast.expr | None) -> str | None:
    """The value of TaskType.CAUSAL_LM and its like, where it is its name."""
    path = dotted_name(node) if isinstance(node, ast.Attribute) else ""
    return path.rpartition(".")[2] if path.rpartition(".")[0].endswith("TaskType") else None


def model(reading: Reading) -> dict[str, Any]:
    """id, revision, dtype, attn_implementation, quantization, as far as they are said."""
    script = reading.script
    node = reading.trainer.get("model")
    found: dict[str, ast.expr] = {}
    taken: dict[str, Any] = {}
    load = _loading(script, node)
    if load is not None:
        found = script.arguments(load, "pretrained_model_name_or_path")[0]
        node = found.get("pretrained_model_name_or_path", found.get("model_name"))
    else:
        # TRL itself loads a model that it is given by name, with model_init_kwargs, else in float32.
        call, _ = config_call(reading)
        options = script.arguments(call)[0].get("model_init_kwargs") if call else None
        found = script.mapping_items(options)[0] if options is not None else {}
        taken["dtype"] = "float32"
    named = _model_id(script, node, taken) if node is not None else None
    if named is None:
        if node is not None:
            reading.note_computed("The model", node)
        return {}
    taken["id"] = named
    for field in ("revision", "attn_implementation"):
        given = script.value_or(found.get(field))
        if isinstance(given, str):
            taken[field] = given
    dtype = found.get("dtype", found.get("torch_dtype"))
    if dtype is not None:
        taken["dtype"] = _dtype(reading, dtype)
    quantized = _quantization(reading, found)
    return taken | ({"quantization": quantized} if quantized else {})


def _loading(script: Script, node: ast.expr | None) -> ast.Call | None:
    """The from_pretrained call that a model expression stands for; without one, the script's first for a model."""
    for _ in range(8):
        found = script.resolve(node) if node is not None else None
        path = dotted_name(found.func) if isinstance(found, ast.Call) else ""
        if not isinstance(found, ast.Call) or path.endswith("from_pretrained"):
            break
        if isinstance(found.func, ast.Attribute) and isinstance(script.resolve(found.func.value), ast.Call):
            node = found.func.value  # from_pretrained(…).to("cuda")
        elif found.args:
            node = found.args[0]  # get_peft_model(model, …) and its like
        else:
            break
    if isinstance(found, ast.Call) and path.endswith(".from_pretrained"):
        return found
    if isinstance(found, ast.Constant):
        return None
    loads = [call for call in script.calls.get("from_pretrained", []) if "Model" in dotted_name(call.func)]
    return loads[0] if loads else None


def _model_id(script: Script, node: ast.expr, taken: dict[str, Any]) -> str | None:
    """The id that an expression means: a text, this product's own ways to write one, a snapshot of a revision."""
    node = script.resolve(node)
    given = script.value_or(node)
    if isinstance(given, str) and given:
        return given
    if not isinstance(node, ast.Call) and not isinstance(node, ast.BoolOp):
        return None
    constants = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    if isinstance(node, ast.BoolOp):
        return "starter" if "starter" in constants else None
    path = dotted_name(node.func)
    if path == "str" and "expanduser" in ast.unparse(node) and len(constants) == 1:
        return str(constants[0])
    if path.endswith("snapshot_download"):
        found = script.arguments(node, "repo_id")[0]
        revision = script.value_or(found.get("revision"))
        if isinstance(revision, str):
            taken["revision"] = revision
        return _model_id(script, found["repo_id"], taken) if "repo_id" in found else None
    return None


def _dtype(reading: Reading, node: ast.expr) -> str:
    resolved = reading.script.resolve(node)
    said = reading.script.value_or(resolved)
    if isinstance(resolved, ast.Attribute):
        said = {"half": "float16", "float": "float32"}.get(resolved.attr, resolved.attr)
    if said is None and isinstance(resolved, ast.Constant):
        return "auto"
    if said in DTYPES:
        return str(said)
    reading.note_computed("The model's dtype", node)
    return "auto"


def _quantization(reading: Reading, found: dict[str, ast.expr]) -> str | None:
    """4bit or 8bit, said to the loader itself or in a BitsAndBytesConfig."""
    script = reading.script
    config = found.get("quantization_config", reading.trainer.get("quantization_config"))
    resolved = script.resolve(config) if config is not None else None
    if isinstance(resolved, ast.Call):
        found = found | script.arguments(resolved)[0]
    for field, words in (("load_in_4bit", "4bit"), ("load_in_8bit", "8bit")):
        if script.value_or(found.get(field)) is True:
            return words
    if config is not None and script.value_or(config, 0) is not None:
        reading.note_computed("The quantization", config)
    return None
