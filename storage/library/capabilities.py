"""What the installed worker can do, as it last published it: the fields of TRL's and PEFT's configs, rewards, tasks,
optional packages, hardware."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry, tried
from groupwise.storage.registry.messages.facts import Catalogue, Fact, Hardware, Sandbox, Shipped
from groupwise.storage.registry.tried import FailedTry


@dataclass(frozen=True)
class Offer:
    """What the installed worker can do. Fields map a name to {types, default, choices, help}; None: not known yet."""

    training: dict[str, dict[str, Any]] | None = None
    lora: dict[str, dict[str, Any]] | None = None
    # name → {help, code, needs, parameters, arguments, columns: parameters that name one}; one's own also {own: True,
    # hash, network}.
    rewards: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    # reasoning-gym's tasks: name → {help, parameters: fields as above}; None where it is not installed.
    gym: dict[str, dict[str, Any]] | None = None
    model_types: tuple[str, ...] | None = None  # the kinds of text model that transformers can load without hub code
    extras: dict[str, str] = field(default_factory=dict)  # optional packages that are installed: name → version
    hardware: dict[str, Any] = field(default_factory=dict)  # as worker.capabilities.hardware describes it
    # One's own by name, also those that were deleted → every version, the newest first: {hash, at, network, parameters,
    # arguments}.
    versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    # Code that failed when it was last tried, by name and hash; also drafts that were not saved.
    failed_tries: dict[tuple[str, str], FailedTry] = field(default_factory=dict)
    sandbox: dict[str, Any] = field(default_factory=dict)  # as worker.sandbox.tiers describes it; or unknown
    trusted: bool = False  # whether one's own functions may run without a sandbox

    @classmethod
    def read_published(cls) -> Offer:
        """What the worker of this home last published, with one's own reward functions beside the built-in ones.

        What ships keeps its name where one's own function, saved before it shipped, has the same.
        """
        catalogue, built_in = _as_plain(Catalogue), _as_plain(Shipped)
        return cls(
            catalogue.get("training"),
            catalogue.get("lora"),
            {**library.offered_functions(), **built_in.get("rewards", {})},
            built_in.get("tasks", {}),
            catalogue.get("gym"),
            tuple(catalogue["model_types"]) if catalogue.get("model_types") else None,
            built_in.get("extras", {}),
            _as_plain(Hardware),
            versions=library.all_versions(),
            failed_tries=tried.failed_tries(),
            sandbox=_as_plain(Sandbox),
            trusted=registry.is_trusted(),
        )

    def function(self, name: str, version: str | None = None) -> dict[str, Any] | None:
        """What is known of a reward function: of one's own in the version that a spec says, where it says one. None:
        nothing is."""
        known = self.rewards.get(name)
        if version is None or (known is not None and (not known.get("own") or known.get("hash") == version)):
            return known
        return next((one for one in self.versions.get(name, []) if one["hash"] == version), None)


def _as_plain(fact: type[Fact]) -> dict[str, Any]:
    """A published fact as plain values; empty where there is none."""
    known = registry.read_fact(fact)
    return known.plain if known is not None else {}
