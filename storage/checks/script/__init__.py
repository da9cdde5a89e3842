"""The same run as a plain TRL script: RunSpec → Python that runs with no Groupwise installed.

It stands in the run's folder, beside the reward code it imports, and makes the same first steps at the same seed.
storage.checks.script_reader reads it back.
"""

import ast

from groupwise.storage.checks.script import prompts, rewards, training
from groupwise.storage.spec.answer_numbers import as_scored
from groupwise.storage.spec.python_source import literal, module_docstring
from groupwise.storage.spec.spec import LaunchSpec, RunSpec
from groupwise.storage.spec.syntax_tree import parse_module

TITLE = ": a GRPO run as a plain TRL script."
UNUSED = "UNUSED"
# A run's folder may be copied to where its data home is not.
FOLDER_WITH = '''
def folder_with(name, folder):
    """Where a file of the run is: beside this script, or in this folder of the data home that it was launched in."""
    for place in (HERE, HERE.parent.parent / folder):
        if (place / name).exists():
            return place
    other = " Or give any model's folder: MODEL=/where/it/is python train.py" if folder == "models" else ""
    raise SystemExit(f"{name} is not here. Copy it to {HERE / name}: it was in {folder}/ of the data home.{other}")
'''


def to_script(spec: RunSpec) -> str:
    """The text of the run folder's train.py."""
    spec = as_scored(spec)
    constants = (
        training.model_constants(spec.model)
        + prompts.constants(spec.data)
        + rewards.kl_constant(spec)
        + _unused_settings(spec)
    )
    functions = prompts.data_functions(spec.data)
    main = training.main(spec)
    here = "HERE = Path(__file__).resolve().parent\nsys.path.insert(0, str(HERE))\n\n"
    found = f"{FOLDER_WITH}\n\n" if "folder_with(" in constants + functions else ""
    body = f"{here}{rewards.imports(spec)}\n{found}{constants}{rewards.helpers(spec)}{functions}{main}"
    return f"{_title(spec)}\n\n{_imports(body)}\n{body}"


def _title(spec: RunSpec) -> str:
    command = "python train.py"
    if spec.launch.processes > 1:
        command = f"accelerate launch --multi_gpu --num_processes {spec.launch.processes} train.py"
    return module_docstring(spec.name + TITLE, f"Run it in this folder: {command}")


# Every import that a script can need.
_STANDARD = [
    "codecs", "csv", "dataclasses", "datetime", "enum", "functools", "gzip", "inspect", "json", "os", "re", "typing",
]  # fmt: skip
_THIRD = {
    "numpy": [], "torch": [], "reasoning_gym": [],
    "datasets": ["Dataset", "Features", "Value", "load_dataset"],
    "huggingface_hub": ["snapshot_download"],
    "python_calamine": ["CalamineWorkbook"],
    "peft": ["LoraConfig", "TaskType"],
    "transformers": ["AutoModelForCausalLM", "AutoTokenizer", "BitsAndBytesConfig"],
    "trl": ["GRPOConfig", "GRPOTrainer"],
}  # fmt: skip


def _imports(body: str) -> str:
    """The import lines for the names that a script's body uses."""
    used = {node.id for node in ast.walk(parse_module(body)) if isinstance(node, ast.Name)}
    standard = "".join(f"import {module}\n" for module in sorted({"sys", *(used & set(_STANDARD))}))
    standard += "from importlib import import_module\n" if "import_module" in used else ""
    plain = "".join(f"import {module}\n" for module in sorted(_THIRD) if module in used)
    named = {module: ", ".join(name for name in names if name in used) for module, names in _THIRD.items()}
    third = plain + "".join(f"from {module} import {names}\n" for module, names in sorted(named.items()) if names)
    return f"{standard}from pathlib import Path\n\n{third}"


def _unused_settings(spec: RunSpec) -> str:
    """What the spec says and the script has no use for, so that it can be read back all the same."""
    values = {f"model.{name}": getattr(spec.model, name) for name in training.unused_model_settings(spec.model)}
    values |= {f"data.{name}": getattr(spec.data, name) for name in prompts.unused_data_settings(spec.data)}
    values |= {f"rewards.{name}": value for name, value in rewards.unused_reward_settings(spec.rewards).items()}
    for index, stage in enumerate(spec.stages):
        own = rewards.unused_reward_settings(stage.rewards or [])
        values |= {f"stages.{index}.rewards.{name}": value for name, value in own.items()}
    if spec.launch.reward_failures != LaunchSpec().reward_failures:
        values["launch.reward_failures"] = spec.launch.reward_failures
    return f"\n# Unused here; kept for Groupwise.\n{UNUSED} = {literal(values, 0, 9)}\n" if values else ""
