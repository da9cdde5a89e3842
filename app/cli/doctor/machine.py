"""The sandbox for people's reward functions, and what there is to train on: as published, and as it is now."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groupwise.app.cli.doctor.finding import NOTE, OK, PROBLEM, Finding
from groupwise.app.core import format
from groupwise.app.core.worker_process import ROOT
from groupwise.storage.home import process
from groupwise.storage.registry import registry, registry_check
from groupwise.storage.registry.messages.facts import Hardware, Sandbox

LONGEST = 20.0  # seconds for importing torch; from a cold disk it takes ten
LITTLE_MEMORY = 2 * 10**9  # bytes under which a training hardly begins: torch and TRL take half a gigabyte
NVIDIA = "0x10de"  # its number among makers of devices, as /sys has it
DEVICES = Path("/sys/bus/pci/devices")
BUBBLEWRAP = "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap) and start Groupwise again."
SECCOMP = "Install libseccomp (Debian and Ubuntu: apt-get install libseccomp2) and start Groupwise again."


class Asked:
    """A process of its own that looks at the hardware and imports torch, while other things are looked at."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "groupwise.worker.capabilities.installation"],
            cwd=ROOT, env=process.child_environment(), start_new_session=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def answer(self) -> dict[str, Any]:
        """What it told in time; `failed`: its last words where it did not get to the end."""
        late = False
        try:
            out, errors = self._child.communicate(timeout=max(0.1, LONGEST - (time.monotonic() - self._begun)))
        except subprocess.TimeoutExpired:
            late = True
            self.end()
            out, errors = self._child.communicate()
        told: dict[str, Any] = {}
        for line in out.splitlines():
            with contextlib.suppress(ValueError):
                told |= json.loads(line)
        if self._child.returncode:
            last = (errors.strip().splitlines() or [f"it ended with code {self._child.returncode}"])[-1]
            told["failed"] = f"it took more than {LONGEST:.0f} s" if late else format.shorten(last, 300)
        return told

    def end(self) -> None:
        """End it, and what it started, where it still runs."""
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)


@contextlib.contextmanager
def asking() -> Iterator[Asked]:
    """The process, ended with the block."""
    asked = Asked()
    try:
        yield asked
    finally:
        asked.end()


def look_at_sandbox(readable: bool) -> list[Finding]:
    """Where reward functions of people's own run. `readable`: whether the registry can be read."""
    if readable and registry.is_trusted():
        says = "Reward functions of people's own run without a sandbox (--trust-reward-code)."
        return [Finding("Sandbox", NOTE, says, "Start the dashboard without --trust-reward-code.")]
    fact = registry.read_fact(Sandbox) if readable else None
    lacks = " ".join(_what_lacks())
    if fact is None:
        if lacks:
            return [
                Finding("Sandbox", NOTE, "The best sandbox for people's own reward code cannot be made here.", lacks)
            ]
        return [Finding("Sandbox", OK, "bubblewrap and libseccomp are installed; the first worker tries them.")]
    at = registry_check.time_of_fact(Sandbox)
    says = f"{fact.sentence} (Tried {format.age(at)}.)"
    if fact.name == "bubblewrap" and not lacks:
        return [Finding("Sandbox", OK, says), *_network(fact)]
    again = (
        "What it needs is installed. If it was installed just now, start Groupwise again; else see the reason above."
    )
    return [Finding("Sandbox", NOTE, says, lacks or again), *_network(fact)]


def _network(fact: Sandbox) -> list[Finding]:
    """Why functions with leave to use the network cannot run."""
    if not fact.network or fact.name == "none":
        return []
    says = f"Reward functions that may use the network cannot run: {fact.network}"
    return [Finding("Sandbox network", NOTE, says, "Once the reason is gone, start Groupwise again.")]


def _what_lacks() -> list[str]:
    """How to install what the best sandbox needs and is not here."""
    lacking = [] if shutil.which("bwrap") else [BUBBLEWRAP]
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        lacking.append(SECCOMP)
    return lacking


def look_at_hardware(asked: Asked, readable: bool) -> list[Finding]:
    """What there is to train on, and whether torch can use it."""
    told = asked.answer()
    if "hardware" not in told:
        do = "Reinstall Groupwise (make run), and check again."
        says = f"The hardware could not be read: {told.get('failed', 'no answer')}."
        return [Finding("Hardware", PROBLEM, says, do)]
    now = Hardware.from_plain(told["hardware"])
    return [_devices(now), *_published(now, readable), _memory(now, told.get("free")), _torch(now, told)]


def _devices(now: Hardware) -> Finding:
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    if now.gpus:
        each = ", ".join(f"{gpu.name} ({format.size(gpu.free)} of {format.size(gpu.memory)} free)" for gpu in now.gpus)
        return Finding("GPU", OK, f"{each}{f'; CUDA_VISIBLE_DEVICES is {hidden}' if hidden is not None else ''}.")
    if hidden is not None and shutil.which("nvidia-smi"):
        says = f"No GPU is visible: CUDA_VISIBLE_DEVICES is “{hidden}”."
        return Finding("GPU", NOTE, says, "Unset it where Groupwise is started.")
    if _has_nvidia():
        do = "Install NVIDIA’s driver with nvidia-smi; in a container, start it with the GPU (docker run --gpus all)."
        return Finding("GPU", NOTE, "This machine has an NVIDIA device, but nvidia-smi shows none that works.", do)
    return Finding("GPU", OK, "None: runs train on the CPU, which is enough for tiny models such as the starter.")


def _has_nvidia() -> bool:
    for device in DEVICES.glob("*"):
        with contextlib.suppress(OSError):
            is_display = (device / "class").read_text().startswith("0x03")
            if is_display and (device / "vendor").read_text().strip() == NVIDIA:
                return True
    return False


def _published(now: Hardware, readable: bool) -> list[Finding]:
    """What the worker said when it began, where that is something else."""
    fact = registry.read_fact(Hardware) if readable else None
    if fact is None or [gpu.name for gpu in fact.gpus] == [gpu.name for gpu in now.gpus]:
        return []
    says = f"New run uses what the worker found {format.age(registry_check.time_of_fact(Hardware))}: {fact.sentence}."
    return [Finding("Published hardware", NOTE, says, "The next worker updates it: start Groupwise again.")]


def _memory(now: Hardware, free: int | None) -> Finding:
    cores = format.plural(now.cores, "core")
    says = f"{format.size(now.memory)} of memory{f', {format.size(free)} free' if free is not None else ''}; {cores}."
    if free is not None and free < LITTLE_MEMORY:
        do = "End what is not needed, or use a larger machine."
        return Finding("Memory", NOTE, f"{says} Training may run out of it.", do)
    return Finding("Memory", OK, says)


def _torch(now: Hardware, told: dict[str, Any]) -> Finding:
    found = told.get("torch")
    if found is None:
        says = f"torch could not be imported: {str(told.get('failed', 'no answer')).rstrip('.')}."
        late = "it took more than" in says
        again = f"Run {shlex.quote(sys.executable)} -m pip install --force-reinstall torch"
        do = "Check again when the machine is less busy." if late else again
        return Finding("torch", NOTE if late else PROBLEM, says, do)
    says = f"{found['version']}, built for {found['built_for'] or 'the CPU'}"
    if now.gpus and not found["usable"]:
        why = f" {format.shorten(found['said'], 200)}" if found["said"] else ""
        do = (
            "Install a torch that fits the driver: nvidia-smi names its CUDA, pytorch.org/get-started the torch for it."
        )
        return Finding("torch", NOTE, f"{says}, and uses none of the GPUs here: runs train on the CPU.{why}", do)
    used = f", and can use {format.plural(found['usable'], 'GPU')}" if found["usable"] else ""
    return Finding("torch", OK, f"{says}{used}.")
