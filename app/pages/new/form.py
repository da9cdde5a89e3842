"""The form: every setting that is installed here, with its type, default and help, for the page to draw. Pure.

Of TRL and PEFT nothing is written down twice: their fields come from the published catalogue, ours from RunSpec.
"""

import functools
import re
from typing import Any

from groupwise.app.core import field_labels
from groupwise.app.pages.new import form_rows
from groupwise.app.pages.new.field_values import field_text
from groupwise.storage.checks.check import OWNED
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.setting_names import REMOVED, removed_words

Field = dict[str, Any]
OPERATORS = [*row_filter.OPERATORS, *row_filter.LENGTHS]
_LINK = re.compile(r"\[([^\]]+)\]\(https?://[^()\s]*\)")  # as docstrings write one
_JSON_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
    "null": "none",
}  # fmt: skip


def describe(offer: Offer) -> list[Field]:
    """Every field, in the order of the catalogue: path, label, advice, help, types, default (as a field shows it),
    choices, section, and whether it is on the short list."""
    ours = [_field(path, about, section="") for path, about in own_fields().items()]
    training = [
        _field(f"training.{name}", about, section=about.get("section") or "Other settings")
        for name, about in sorted((offer.training or {}).items(), key=lambda item: item[1].get("order", 0))
        if name not in OWNED
    ]
    lora = [_field(f"lora.{name}", about, section="LoRA") for name, about in (offer.lora or {}).items()]
    return ours + training + lora


def removed_settings(offer: Offer) -> dict[str, str]:
    """Settings that TRL or transformers had and gave up, each with since when and what there is instead."""
    gone = (name for name in REMOVED if name not in (offer.training or {}))
    return {name: f"{name} {removed_words(name)}" for name in gone}


def gym(offer: Offer) -> list[dict[str, Any]]:
    """reasoning-gym's tasks by name, each with its help and its parameters as fields."""
    return [
        {
            "name": name,
            "help": task.get("help") or "",
            "parameters": [
                _field(f"data.parameters.{parameter}", about, section="") | {"advice": about.get("help") or ""}
                for parameter, about in task.get("parameters", {}).items()
            ],
        }
        for name, task in sorted((offer.gym or {}).items())
    ]


def types(offer: Offer) -> dict[str, list[str]]:
    """What each field takes, by path."""
    catalogue = {f"training.{name}": about["types"] for name, about in (offer.training or {}).items()}
    catalogue |= {f"lora.{name}": about["types"] for name, about in (offer.lora or {}).items()}
    gym = {
        f"data.parameters.{name}": about["types"]
        for task in (offer.gym or {}).values()
        for name, about in task["parameters"].items()
    }
    return {path: about["types"] for path, about in own_fields().items()} | catalogue | gym


def reward_fields() -> dict[str, list[Field]]:
    """The settings of a reward function that are one value each, their paths below the function's: its weight and time
    limit, and those of a weight that follows success (`adapt`)."""
    return {part: [_field(path, about, section="") for path, about in fields.items()]
            for part, fields in _reward_parts().items()}  # fmt: skip


def parameter_fields(about: dict[str, Any]) -> list[Field]:
    """What can be adjusted of a reward function, as fields; `about`: storage.library.capabilities says it."""
    return [
        _field(f"parameters.{one['name']}", one, section="") | {"advice": one.get("help") or ""}
        for one in about.get("parameters") or []
    ]


def reward_types(raw: Any, offer: Offer) -> dict[str, list[str]]:
    """What each field of the reward functions takes that a spec's plain values have, by path; those of stages too."""
    found: dict[str, list[str]] = {}
    fields = {path: about["types"] for part in _reward_parts().values() for path, about in part.items()}
    for path, reward in form_rows.reward_places(raw):
        version = reward.get("version")
        about = offer.function(str(reward.get("name")), version if isinstance(version, str) else None) or {}
        found |= {f"{path}.{name}": types for name, types in fields.items()}
        found |= {f"{path}.parameters.{one['name']}": one["types"] for one in about.get("parameters") or []}
        points = reward.get("schedule")
        for number in range(len(points) if isinstance(points, list) else 0):
            found |= {f"{path}.schedule.{number}.step": ["int"], f"{path}.schedule.{number}.weight": ["float"]}
    return found


@functools.cache
def _reward_parts() -> dict[str, dict[str, Field]]:
    schema = RunSpec.model_json_schema()["$defs"]
    own, adapt = schema["RewardSpec"]["properties"], schema["AdaptSpec"]["properties"]
    return {
        "own": {name: _about(own[name]) for name in ("weight", "timeout")},
        "adapt": {f"adapt.{name}": _about(about) for name, about in adapt.items()},
    }


def _field(path: str, about: Field, *, section: str) -> Field:
    part, _, name = path.rpartition(".")
    _, advice = field_labels.SHORT.get(path) or field_labels.REWARD.get(path) or ("", "")
    is_argument = part.endswith("parameters")  # of a function, which has its name from whoever wrote that
    label, told = name if is_argument else field_labels.own_label(path), _LINK.sub(r"\1", about.get("help") or "")
    return {
        "path": path,
        "name": name,
        "label": label,
        "advice": advice,
        "help": "" if told.rstrip(".").casefold() == label.casefold() else told,
        "types": about["types"],
        "default": field_text(about.get("default")),
        "choices": [field_text(choice) for choice in about.get("choices") or []],
        "most": about.get("most"),
        "section": section,
        "short": path in field_labels.SHORT,
        "long": path in field_labels.LONG_TEXTS,
    }


@functools.cache
def own_fields() -> dict[str, Field]:
    """RunSpec's own settings that are one value each, by dotted path, in the form of the catalogue."""
    schema = RunSpec.model_json_schema()
    found: dict[str, Field] = {"name": _about(schema["properties"]["name"])}
    for part, definition in (("model", "ModelSpec"), ("data", "DataSpec"), ("kl", "KlSpec"), ("launch", "LaunchSpec")):
        for name, about in schema["$defs"][definition]["properties"].items():
            found[f"{part}.{name}"] = _about(about)
    return found


def _about(schema: dict[str, Any]) -> Field:
    options = schema.get("anyOf") or [schema]
    choices = [choice for option in options for choice in option.get("enum") or []]
    choices += [option["const"] for option in options if "const" in option]
    return {
        "types": sorted({_JSON_TYPES[option["type"]] for option in options if "type" in option}),
        "default": schema.get("default"),
        "choices": choices,
        "most": next((option["maxLength"] for option in options if "maxLength" in option), None),  # characters
        "help": "",
    }
