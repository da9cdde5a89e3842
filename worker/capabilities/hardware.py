"""What this machine has to train with, asked without importing torch."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from typing import Any


def describe() -> dict[str, Any]:
    """Devices, cores and memory (bytes), and one sentence that says it."""
    gpus, cores, memory = _gpus(), len(os.sched_getaffinity(0)), _memory()
    return {"gpus": gpus, "cores": cores, "memory": memory, "sentence": _sentence(gpus, cores, memory)}


def _gpus() -> list[dict[str, Any]]:
    """NVIDIA devices by nvidia-smi, which every driver brings; none where it is missing or fails."""
    if not shutil.which("nvidia-smi"):
        return []
    try:
        answer = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):  # a driver that hangs must not keep runs from being watched
        return []
    lines = answer.stdout.splitlines() if answer.returncode == 0 else []
    return [
        {"name": name, "memory": int(total) * 2**20, "free": int(free) * 2**20}
        for name, total, free in csv.reader(lines, skipinitialspace=True)
        if total.isdigit() and free.isdigit()
    ]


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _sentence(gpus: list[dict[str, Any]], cores: int, memory: int) -> str:
    if not gpus:
        return f"CPU, {cores} cores, {memory / 1e9:.0f} GB"
    names = sorted({gpu["name"].removeprefix("NVIDIA ") for gpu in gpus})
    free = sum(gpu["free"] for gpu in gpus) / 1e9
    return f"{len(gpus)}× {', '.join(names)}, {free:.0f} GB free"
