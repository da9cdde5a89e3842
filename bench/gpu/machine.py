"""The machine as it is measured from outside: its devices and what they hold, what is installed."""

from __future__ import annotations

import importlib.metadata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupwise.storage.home import process
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.worker.capabilities import extras, hardware
from groupwise.worker.helpers import Helpers
from tests.support.homes import fresh_home

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "flash-attn", "vllm")


@dataclass(frozen=True)
class Machine:
    """`dry`: without a GPU, where the memory that a run's processes hold stands for that of a device. `offer` and
    `catalogue`: what the worker publishes of this installation."""

    dry: bool
    offer: Offer
    catalogue: Catalogue

    @classmethod
    def described(cls, dry: bool) -> Machine:
        """As a worker in a home of its own describes it."""
        with fresh_home():
            helpers = Helpers()
            helpers.publish()
            if helpers.reader is None or helpers.reader.wait():
                raise RuntimeError("TRL's settings could not be read")
            return cls(dry, Offer.read_published(), registry.read_fact(Catalogue))

    @property
    def gpus(self) -> list[dict[str, Any]]:
        return self.offer.hardware["gpus"]  # type: ignore[no-any-return]

    def used(self, tag: str = "", devices: int = 1) -> int:
        """Bytes in use on the first devices, whoever holds them; in a dry run by the processes with this tag."""
        if self.dry:
            return sum(map(resident, process.tagged_anywhere(tag))) if tag else 0
        return sum(gpu.memory - gpu.free for gpu in hardware.describe_hardware().gpus[:devices])

    def free(self) -> int:
        """Bytes that the first device, or the machine, has left."""
        if self.dry:
            return next(
                int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if line.startswith("MemAvailable:")
            )
        return hardware.describe_hardware().gpus[0].free


def facts(machine: Machine) -> dict[str, Any]:
    """What a table of figures is worth nothing without."""
    return {**machine.offer.hardware, "dry": machine.dry, "versions": versions()}


def versions() -> dict[str, str]:
    """The packages that decide the figures, as far as they are installed."""
    found = {}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def has(package: str) -> bool:
    return extras.is_installed(package)


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where it is gone."""
    with suppress(OSError):
        return sum(int(line.split()[1]) * 1024 for line in _lines(f"/proc/{pid}/status") if line.startswith("VmRSS:"))
    return 0


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="ascii", errors="replace").splitlines()
