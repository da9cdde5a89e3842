"""The settings of several runs, by dotted names, and those in which they differ. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from groupwise.storage.library.models import learning_rates
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS, settings_of_source
from groupwise.storage.spec.spec import RewardSpec, RunSpec

STEPS = "training.max_steps"
SMALL = 1e-3  # below which a number is written as people type a learning rate
Value = dict[str, Any]  # value; set: whether the spec says it, or it is the default


def flat(spec: RunSpec, defaults: Mapping[str, Any] | None = None) -> dict[str, Value]:
    """Every setting that the spec says, or that has a default of ours: `training.learning_rate`,
    `rewards.correctness.weight`, `stages.1.training.beta`. `defaults`: those of GRPOConfig by name, as published."""
    found: dict[str, Value] = {}
    for part in ("model", "data", "kl", "launch"):
        _model(found, part, getattr(spec, part))
    for name in set(FILE_SETTINGS).difference(settings_of_source(spec.data.source)):
        if not found[f"data.{name}"]["set"]:
            del found[f"data.{name}"]  # nothing is found in a file where there is none
    _tree(found, "training", spec.training)
    for name, value in (defaults or {}).items():
        found.setdefault(f"training.{name}", {"value": value, "set": False})
    _tree(found, "lora", spec.lora if spec.lora is not None else {})
    found["lora"] = {"value": "off" if spec.lora is None else "on", "set": spec.lora is not None}
    _rewards(found, "rewards", spec.rewards)
    for number, stage in enumerate(spec.stages, 1):
        _tree(found, f"stages.{number}.training", stage.training)
        _rewards(found, f"stages.{number}.rewards", stage.rewards or [])
    return found


def of_whole_run(spec: RunSpec, defaults: Mapping[str, Any] | None = None) -> dict[str, Value]:
    """The same as a run is laid beside others by: the steps of one in stages are those of all of them, and left to the
    epochs where one's are."""
    found = flat(spec, defaults)
    steps = [stage.training.get("max_steps") for stage in spec.by_stage()]
    known = [count for count in steps if isinstance(count, int) and count > 0]
    if spec.stages and known:
        found[STEPS] = {"value": sum(known) if len(known) == len(steps) else -1, "set": True}
    return found


def differing_fields(runs: Sequence[Mapping[str, Value] | None], first: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The fields in which the runs that are known differ: name, and each run's value, None where the run is not known
    or has no such field. `first`: the settings that a person looks for before all others."""
    known = [run for run in runs if run is not None]
    names = dict.fromkeys(name for run in known for name in run)
    found = []
    for name in names:
        values = [run.get(name) if run is not None else None for run in runs]
        there = {_key(run[name]["value"]) if name in run else "" for run in known}
        if "" in there and all(run[name]["value"] is None for run in known if name in run):
            continue  # of a file that says nothing, and of no file
        if len(there) > 1 and not _only_comes_along(name, [run.get(name) for run in known]):
            found.append({"name": name, "values": values})
    return sorted(found, key=lambda field: _place(field["name"], first))


def _only_comes_along(name: str, values: Sequence[Value | None]) -> bool:
    """Whether this is a default of a reward that some of the runs do not use: that they do not says its weight."""
    return ".rewards." in f".{name}" and not name.endswith(".weight") and None in values and not any(
        value["set"] for value in values if value is not None
    )  # fmt: skip


def words(value: Any) -> str:
    """A setting as a person writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if 0 < abs(value) < SMALL:
            return learning_rates.as_typed(value)
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _place(name: str, first: Sequence[str]) -> tuple[bool, int, int, str]:
    """What one changes on purpose comes first, of the data what it is; then other settings of TRL and PEFT, then what
    differs of itself, and last how a file is read, which follows from the file."""
    order = ("training", "kl", "rewards", "lora", "model", "data", "stages", "launch")
    chosen = ("data.source", "data.prompt_template", "data.prompt_column")
    part, _, setting = name.partition(".")
    if part == "data" and setting in FILE_SETTINGS:
        rank = len(order) + 1
    elif name in ("training.seed", "training.data_seed", "training.output_dir", "training.run_name"):
        rank = len(order)
    else:
        rank = order.index(part)
    known = (*chosen, *first)
    seldom = bool(first) and part in ("training", "lora") and name not in (*first, "lora")
    return seldom or rank >= len(order), rank, known.index(name) if name in known else len(known), name


def _model(found: dict[str, Value], prefix: str, part: BaseModel) -> None:
    for name in type(part).model_fields:
        value, known = getattr(part, name), name in part.model_fields_set
        if isinstance(value, dict):
            _tree(found, f"{prefix}.{name}", value)
        else:
            plain = [one.model_dump() if isinstance(one, BaseModel) else one for one in value] if isinstance(
                value, list) else value  # fmt: skip
            found[f"{prefix}.{name}"] = {"value": plain, "set": known}


def _tree(found: dict[str, Value], prefix: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            _tree(found, f"{prefix}.{name}", value)
        else:
            found[f"{prefix}.{name}"] = {"value": value, "set": True}


def _rewards(found: dict[str, Value], prefix: str, rewards: Sequence[RewardSpec]) -> None:
    for reward in rewards:
        for name in RewardSpec.model_fields:
            value, known = getattr(reward, name), name in reward.model_fields_set
            if name == "parameters":
                _tree(found, f"{prefix}.{reward.name}.parameters", value)
            elif name != "name":
                plain = reward.model_dump().get(name, value) if name in ("schedule", "adapt") else value
                found[f"{prefix}.{reward.name}.{name}"] = {"value": plain or None if name == "schedule" else plain,
                                                          "set": known}  # fmt: skip


def _key(value: Any) -> str:
    """Equal for what means the same: 1 and 1.0 do."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    return json.dumps(value, sort_keys=True, default=str)
