"""What the installed worker can do, as it last published it: the fields of TRL's and PEFT's configs, rewards, tasks,
optional packages, hardware."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from storage import registry


@dataclass(frozen=True)
class Offer:
    """What the installed worker can do. Fields map a name to {types, default, choices, help}; None: not known yet."""

    training: dict[str, dict[str, Any]] | None = None
    lora: dict[str, dict[str, Any]] | None = None
    rewards: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    # reasoning-gym's tasks: name → {help, parameters: fields as above}; None where it is not installed.
    gym: dict[str, dict[str, Any]] | None = None
    model_types: tuple[str, ...] | None = None  # the kinds of text model that transformers can load without hub code
    extras: dict[str, str] = field(default_factory=dict)  # optional packages that are installed: name → version
    hardware: dict[str, Any] = field(default_factory=dict)  # as worker.offering.hardware describes it

    @classmethod
    def published(cls) -> Offer:
        """As the worker of this home last published it."""
        catalogue = registry.published("catalogue") or {}
        built_in = registry.published("built_in") or {}
        return cls(
            catalogue.get("training"),
            catalogue.get("lora"),
            built_in.get("rewards", {}),
            built_in.get("tasks", {}),
            catalogue.get("gym"),
            tuple(catalogue["model_types"]) if catalogue.get("model_types") else None,
            built_in.get("extras", {}),
            registry.published("hardware") or {},
        )
