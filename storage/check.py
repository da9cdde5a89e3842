"""What keeps a spec from running, found without starting anything: names, types, batch arithmetic, files.

Pure over the spec, what the worker published, and a look at the named files. The worker checks again with TRL's own
GRPOConfig, which has the last word.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storage import home, registry
from storage.spec import Problem, RunSpec, nearest

# Settings of GRPOConfig that Groupwise decides itself, and where a person says it instead.
OWNED = {
    "output_dir": "each run has its own folder.",
    "overwrite_output_dir": "each run has its own folder.",
    "logging_dir": "each run has its own folder.",
    "report_to": "every metric is recorded in the run's own file.",
    "reward_weights": "say weight at each of the rewards.",
    "resume_from_checkpoint": "use Resume on the run's page.",
    "model_init_kwargs": "say it under model.",
    "trust_remote_code": "code from a model's repository is never run.",
    "hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
    "push_to_hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
}
# What decides how completions are batched: with one of them wrong the arithmetic cannot be judged.
BATCH_FIELDS = (
    "num_generations", "num_generations_eval", "per_device_train_batch_size", "per_device_eval_batch_size",
    "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size",
)  # fmt: skip
DATA_SUFFIXES = (".jsonl", ".csv", ".parquet")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")

_KINDS = {
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "list": lambda v: isinstance(v, list),
    "dict": lambda v: isinstance(v, dict),
    "none": lambda v: v is None,
}
_WORDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text", "list": "a list",
    "dict": "a mapping", "none": "null",
}  # fmt: skip


@dataclass(frozen=True)
class Offer:
    """What the installed worker can do. Fields map a name to {types, default, choices, help}; None: not known yet."""

    training: dict[str, dict[str, Any]] | None = None
    lora: dict[str, dict[str, Any]] | None = None
    rewards: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def published(cls) -> Offer:
        """As the worker of this home last published it."""
        catalogue = registry.published("catalogue") or {}
        built_in = registry.published("built_in") or {}
        return cls(
            catalogue.get("training"), catalogue.get("lora"), built_in.get("rewards", {}), built_in.get("tasks", {})
        )


def check(spec: RunSpec, offer: Offer, lines: dict[str, int] | None = None) -> list[Problem]:
    """Every problem that would keep this spec from running; an empty list means it can be launched."""
    found = [
        *_settings("training", spec.training, offer.training),
        *_settings("lora", spec.lora or {}, offer.lora),
        *_rewards(spec, offer),
        *_data(spec, offer),
        *_model(spec),
    ]
    if not {problem.field for problem in found} & {f"training.{name}" for name in BATCH_FIELDS}:
        found += _batch(spec, offer)
    placed = [Problem(p.field, p.message, p.line or _line(p.field, lines or {})) for p in found]
    return sorted(placed, key=lambda problem: problem.line or 0)


def _line(path: str, lines: dict[str, int]) -> int | None:
    parts = path.split(".")
    return next((lines[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in lines), None)


def _settings(section: str, values: dict[str, Any], fields: dict[str, dict[str, Any]] | None) -> list[Problem]:
    """Unknown names, wrong types and impossible choices, by the published fields."""
    found = []
    for name, value in values.items():
        path = f"{section}.{name}"
        if section == "training" and name in OWNED:
            found.append(Problem(path, f"cannot be set here: {OWNED[name]}"))
        elif fields is not None and name not in fields:
            library = "TRL's GRPOConfig" if section == "training" else "PEFT's LoraConfig"
            found.append(Problem(path, f"{library} has no such field.{nearest(name, list(fields))}"))
        elif fields is not None:
            message = _misfit(value, fields[name])
            if message:
                found.append(Problem(path, message))
    return found


def _misfit(value: Any, field: dict[str, Any]) -> str | None:
    types, choices = field["types"], field.get("choices")
    if types and not any(_KINDS[kind](value) for kind in types):
        wanted = " or ".join(_WORDS[kind] for kind in types if kind != "none") or "null"
        quoted = isinstance(value, str) and {"int", "float"} & set(types) and re.fullmatch(r"[-+.\deE]*\d", value)
        hint = " Write it without quotes." if quoted else ""
        return f"should be {wanted}, not {json.dumps(value, default=str)[:60]}.{hint}"
    if choices and value is not None and value not in choices:
        near = nearest(value, choices) if isinstance(value, str) else ""
        return f"should be one of {', '.join(map(str, choices))}.{near}"
    return None


def _rewards(spec: RunSpec, offer: Offer) -> list[Problem]:
    found, seen = [], set()
    for index, reward in enumerate(spec.rewards):
        path = f"rewards.{index}.name"
        if reward.name in seen:
            found.append(Problem(path, f"“{reward.name}” is listed twice."))
        elif offer.rewards and reward.name not in offer.rewards:
            names = list(offer.rewards)
            near = nearest(reward.name, names) or f" There are {', '.join(names)}."
            found.append(Problem(path, f"there is no reward function “{reward.name}”.{near}"))
        seen.add(reward.name)
    return found


def _data(spec: RunSpec, offer: Offer) -> list[Problem]:
    found = []
    kind, _, name = spec.data.source.partition(":")
    if kind == "task":
        if offer.tasks and name not in offer.tasks:
            near = nearest(name, list(offer.tasks)) or f" There are {', '.join(offer.tasks)}."
            found.append(Problem("data.source", f"there is no built-in task “{name}”.{near}"))
    elif kind == "file":
        found += _data_file(name)
    else:
        found.append(Problem("data.source", "should be task:NAME or file:NAME (a file in the home's data folder)."))
    if spec.data.answer_pattern:
        try:
            re.compile(spec.data.answer_pattern)
        except re.error as error:
            found.append(Problem("data.answer_pattern", f"is not a regular expression: {error}."))
    return found


def _data_file(name: str) -> list[Problem]:
    try:
        path = home.data_file(name)
    except ValueError as error:
        return [Problem("data.source", str(error))]
    if not path.is_file():
        return [
            Problem("data.source", f"there is no file “{name}” in {home.data_folder()}. Upload it, or copy it there.")
        ]
    if path.suffix.lower() not in DATA_SUFFIXES:
        return [
            Problem("data.source", f"“{name}” should be a JSONL, CSV or Parquet file ({', '.join(DATA_SUFFIXES)}).")
        ]
    if path.stat().st_size == 0:
        return [Problem("data.source", f"“{name}” is empty.")]
    return []


def model_folder(model_id: str) -> Path | None:
    """The folder a model id means; None for the starter and for hub ids."""
    if model_id.startswith(("/", "~", "./", "../")):
        return Path(model_id).expanduser()
    return None


def _model(spec: RunSpec) -> list[Problem]:
    model_id = spec.model.id
    if model_id == "starter":
        return []
    folder = model_folder(model_id)
    if folder is not None and not folder.is_absolute():
        return [Problem("model.id", "should be the folder's whole path, beginning with / or ~.")]
    if folder is None:
        if not HUB_ID.fullmatch(model_id):
            return [
                Problem(
                    "model.id", "should be starter, a folder (beginning with / or ~), or a hub id such as org/name."
                )
            ]
        return []
    if not folder.is_dir():
        return [Problem("model.id", f"there is no folder {folder}.")]
    missing = [
        what
        for what, there in (
            ("config.json", (folder / "config.json").is_file()),
            ("a tokenizer", any(folder.glob("tokenizer*"))),
            ("weights in safetensors form", any(folder.glob("*.safetensors"))),
        )
        if not there
    ]
    return (
        [Problem("model.id", f"{folder} is not a model folder: it lacks {' and '.join(missing)}.")] if missing else []
    )


def _batch(spec: RunSpec, offer: Offer) -> list[Problem]:
    """The group and batch arithmetic of GRPOConfig, in words. Silent while TRL's defaults are not known."""
    if offer.training is None:
        return []
    fields, processes = offer.training, spec.launch.processes

    def value(name: str) -> Any:
        given = spec.training.get(name)
        return given if given is not None else fields.get(name, {}).get("default")

    size, device_batch = value("num_generations"), value("per_device_train_batch_size")
    per_generation = value("steps_per_generation") or value("gradient_accumulation_steps")
    if size < 2:
        return [Problem("training.num_generations", "a group needs at least 2 completions to be compared.")]
    low = [name for name in BATCH_FIELDS if value(name) is not None and value(name) < 1]
    if low:
        return [Problem(f"training.{name}", "should be at least 1.") for name in low]
    if value("generation_batch_size") and value("steps_per_generation"):
        return [Problem("training.generation_batch_size", "cannot be given together with steps_per_generation.")]
    found = []
    given = value("generation_batch_size")
    if given and given % (device_batch * processes):
        message = f"should be a multiple of the {device_batch * processes} completions that all devices take at once."
        found.append(Problem("training.generation_batch_size", message))
    batch = value("generation_batch_size") or device_batch * processes * per_generation
    if batch % size:
        found.append(
            Problem(
                "training.num_generations",
                f"each generation makes {batch} completions ({_product(device_batch, processes, per_generation)}), "
                f"which groups of {size} do not divide. {_nearest_sizes(batch, size)}",
            )
        )
    if value("eval_strategy") not in (None, "no"):
        eval_batch, eval_size = value("per_device_eval_batch_size") * processes, value("num_generations_eval") or size
        if not spec.data.holdout:
            found.append(Problem("data.holdout", "evaluation needs held-out rows: 64, say."))
        if eval_batch % eval_size:
            found.append(
                Problem(
                    "training.per_device_eval_batch_size",
                    f"an evaluation batch of {eval_batch} does not hold whole groups of {eval_size}: "
                    f"use a multiple of {eval_size}.",
                )
            )
    return found


def _product(device_batch: int, processes: int, per_generation: int) -> str:
    parts = [f"{device_batch} a device", f"{processes} processes" if processes > 1 else "",
             f"{per_generation} steps" if per_generation > 1 else ""]  # fmt: skip
    return " × ".join(part for part in parts if part)


def _nearest_sizes(batch: int, size: int) -> str:
    fitting = sorted((n for n in range(2, batch + 1) if batch % n == 0), key=lambda n: (abs(n - size), n))[:2]
    return f"Use groups of {' or '.join(map(str, sorted(fitting)))}." if fitting else "Use a larger batch."
