"""What the installed TRL and PEFT can be told: every field of GRPOConfig and LoraConfig, read from the libraries.

`python -m groupwise.worker.capabilities.catalogue` publishes it, in a process of its own, because reading it means
importing torch.
"""

import dataclasses
import enum
import importlib.metadata
import logging
import sys
import typing
from typing import Any

from groupwise.storage.home import process_log
from groupwise.storage.home.large_imports import no_collections
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.worker.builtin import models
from groupwise.worker.capabilities import docstrings, extras, field_types

FORM = "4"  # of what is published: another one is published anew though the libraries are the same
LIBRARIES = ("trl", "transformers", "peft")
log = logging.getLogger("groupwise.catalogue")


def versions() -> dict[str, str]:
    """What the catalogue depends on: its form, and the installed versions; reasoning_gym's where it is there."""
    known = {"form": FORM, **{name: importlib.metadata.version(name) for name in LIBRARIES}}
    gym = extras.installed_versions().get("reasoning_gym")
    return known if gym is None else {**known, "reasoning_gym": gym}


def build() -> Catalogue:
    """All that is published of the installed libraries."""
    with no_collections():
        import trl.trainer.grpo_trainer  # noqa: F401  # its code says what values some fields take
        from peft import LoraConfig
        from trl import GRPOConfig

    return Catalogue.from_plain(
        {
            "versions": versions(),
            "training": fields_of(GRPOConfig),
            "lora": fields_of(LoraConfig, section="LoRA"),
            "gym": _gym(),
            "model_types": models.text_models(),
        }
    )


def _gym() -> Any:
    """reasoning-gym's tasks; None where it is not installed, or cannot be read."""
    if not extras.is_installed("reasoning_gym"):
        return None
    from groupwise.worker.capabilities import gym_tasks

    try:
        return gym_tasks.describe_tasks()
    except Exception:  # a broken optional package must not take the form with it
        log.exception("reasoning-gym could not be read")
        return None


def fields_of(config: type, section: str = docstrings.OTHER) -> dict[str, dict[str, Any]]:
    """The fields of a dataclass as plain values, by name, in the order a person reads them: section by section.

    `section` is where fields stand whose docstring says none.
    """
    hints = typing.get_type_hints(config)
    entries, compared = docstrings.of_class(config), docstrings.compared_texts(config)
    fields = [field for field in dataclasses.fields(config) if field.init]
    order = _order([field.name for field in fields], entries)
    own = {name: entry.section for name, entry in entries.items()}
    choices = {f.name: _choices(f, hints[f.name], compared.get(f.name, set())) for f in fields}
    return {
        field.name: {
            "types": _kinds_taken(config, field, field_types.kinds(hints[field.name])),
            "default": _default(field),
            "choices": choices[field.name],
            "booleans": _booleans(config, field.name, choices[field.name] or []),
            "help": _help(field, entries.get(field.name)),
            "section": own[field.name] if own.get(field.name, docstrings.OTHER) != docstrings.OTHER else section,
            "order": order[field.name],
        }
        for field in fields
    }


def _order(names: list[str], entries: dict[str, docstrings.Entry]) -> dict[str, int]:
    """A number for each field: by where its section begins, then by its place in it; what has no entry comes last."""
    begins: dict[str, int] = {}
    for entry in entries.values():
        begins[entry.section] = min(entry.place, begins.get(entry.section, entry.place))
    begins[docstrings.OTHER] = sys.maxsize

    def place(name: str) -> tuple[int, int]:
        entry = entries.get(name)
        return (begins[entry.section], entry.place) if entry else (sys.maxsize, sys.maxsize)

    return {name: number for number, name in enumerate(sorted(names, key=place))}


def _help(field: dataclasses.Field[Any], entry: docstrings.Entry | None) -> str:
    """The field's own words, or else its docstring's."""
    said = " ".join(str(field.metadata.get("help") or "").replace("%%", "%").split())
    return said or (entry.text if entry else "")


def _choices(field: dataclasses.Field[Any], hint: Any, compared: set[str]) -> list[Any] | None:
    """What the hint or the field lists; else, for a field of plain text, what the library's code compares it with,
    where that is several values and the default is among them."""
    listed = field_types.choices(hint) or list(field.metadata.get("choices") or [])
    if not listed and field_types.kinds(hint) == ["str"] and len(compared) > 1 and field.default in compared:
        listed = sorted(compared)
    return listed or None


# With these a GRPOConfig can be made anywhere, and touches nothing.
_ANYWHERE = {"output_dir": "/nonexistent", "report_to": "none", "use_cpu": True, "bf16": False}


def _kinds_taken(config: type, field: dataclasses.Field[Any], kinds: list[str]) -> list[str]:
    """The kinds of value that a field takes: without null where the config fails with it, whatever the hint says.
    Tried on a real one, where null is not the default anyway; what is a table is used as one later."""
    usual = field_types.default(field)
    if "none" not in kinds or usual is None or (not isinstance(usual, dict) and _takes(config, field.name, None)):
        return kinds
    return [kind for kind in kinds if kind != "none"]


def _takes(config: type, name: str, value: Any) -> bool:
    try:
        config(**{**_usual(config), name: value})
    except Exception:  # whatever a config raises for a value that it does not take
        return False
    return True


def _usual(config: type) -> dict[str, Any]:
    there = {field.name for field in dataclasses.fields(config)}
    return {known: value for known, value in _ANYWHERE.items() if known in there}


def _booleans(config: type, name: str, choices: list[Any]) -> dict[str, str]:
    """Which choice the config itself makes of true and false, for a field that lists texts: tried on a real one."""
    if not choices or not all(isinstance(choice, str) for choice in choices):
        return {}
    usual, found = _usual(config), {}
    for flag in (True, False):
        try:
            made = getattr(config(**{**usual, name: flag}), name)
        except Exception:  # whatever a config raises for a value that it does not take
            continue
        if isinstance(made, str) and made in choices:
            found[str(flag).lower()] = str(getattr(made, "value", made))
    return found if len(set(found.values())) > 1 else {}


def _default(field: dataclasses.Field[Any]) -> Any:
    """The default as JSON can say it; None where a value must be given."""
    value = field_types.default(field)
    if isinstance(value, enum.Enum):
        return value.value
    return value if isinstance(value, (int, float, bool, str, list, dict, type(None))) else str(value)


if __name__ == "__main__":
    process_log.keep_secrets()
    registry.publish_fact(build())
