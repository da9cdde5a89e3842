"""What this machine has to train with, asked without importing torch."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

from groupwise.storage.registry.messages.facts import Gpu, Hardware

_ALWAYS = "index,uuid,name,memory.total,memory.free"
QUERIES = (f"{_ALWAYS},compute_cap", _ALWAYS)  # drivers before 2021 do not know the capability
GROUP = Path("/sys/fs/cgroup")  # where a container sees the limits of its own (cgroup v2)


def describe_hardware() -> Hardware:
    """Devices, cores and memory (bytes), and one sentence that says it."""
    gpus, cores, memory = _gpus(), len(os.sched_getaffinity(0)), _memory()
    return Hardware(gpus=gpus, cores=cores, memory=memory, sentence=_sentence(gpus, cores, memory))


def free_memory() -> int | None:
    """Bytes of memory that can still be taken: on this machine, or below the limit of our control group where that is
    less. None where it cannot be known."""
    machine, group = _free_of_machine(), _free_of_group()
    return machine if machine is None or group is None else min(machine, group)


def _free_of_machine() -> int | None:
    try:
        facts = _pairs(Path("/proc/meminfo"))
        return facts["MemAvailable:"] * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_of_group() -> int | None:
    """What is left below the group's limit; the files it has read can be let go of, and count as free."""
    try:
        limit = (GROUP / "memory.max").read_text().strip()
        facts = _pairs(GROUP / "memory.stat")
        used = int((GROUP / "memory.current").read_text()) - facts["active_file"] - facts["inactive_file"]
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, KeyError, ValueError):
        return None


def _pairs(path: Path) -> dict[str, int]:
    """The first two words of each line: a name, and its number."""
    return {words[0]: int(words[1]) for words in map(str.split, path.read_text().splitlines()) if len(words) > 1}


def _gpus() -> list[Gpu]:
    """The NVIDIA devices that a training will see, in its order: {name, memory, free, capability where it is known}.
    By nvidia-smi, which every driver brings; none where it is missing or fails."""
    if not shutil.which("nvidia-smi"):
        return []
    listed = next((answer for fields in QUERIES if (answer := _ask_nvidia_smi(fields)) is not None), "")
    rows = list(csv.reader(listed.splitlines(), skipinitialspace=True))
    return _visible([gpu for row in rows if (gpu := _describe_gpu(row)) is not None])


def _ask_nvidia_smi(fields: str) -> str | None:
    """What nvidia-smi says; None where it does not know one of the fields, or does not answer."""
    try:
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):  # a driver that hangs must not keep runs from being watched
        return ""
    return answer.stdout if answer.returncode == 0 else None


def _describe_gpu(row: list[str]) -> Gpu | None:
    """A device by its line; None where the line is none, or the device does not work."""
    if len(row) < 5:
        return None
    index, uuid, name, total, free, *capability = row
    memory = _bytes(total)
    if not index.isdigit() or memory is None:
        return None
    known = capability[0] if capability and re.fullmatch(r"\d+\.\d+", capability[0]) else None
    return Gpu(index=int(index), uuid=uuid, name=name, memory=memory, free=_bytes(free) or 0, capability=known)


def _bytes(mebibytes: str) -> int | None:
    """A size that nvidia-smi gives; the machine's, of a device that has no memory of its own."""
    if mebibytes.isdigit():
        return int(mebibytes) * 2**20
    return _memory() if mebibytes == "[N/A]" else None


def _visible(gpus: list[Gpu]) -> list[Gpu]:
    """Those that CUDA_VISIBLE_DEVICES leaves, in the order that it gives them: numbers or the beginnings of UUIDs, up
    to the first that there is none of (CUDA's documentation, “Environment Variables”). What a part of a device (MIG)
    has is not known from outside: where one is named, all are listed."""
    said = os.environ.get("CUDA_VISIBLE_DEVICES")
    if said is None or "MIG-" in said:
        return gpus
    found: list[Gpu] = []
    for name in (part.strip() for part in said.split(",")):
        one = next((gpu for gpu in gpus if name and (name == str(gpu.index) or gpu.uuid.startswith(name))), None)
        if one is None:
            break
        found.append(one)
    return found


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _sentence(gpus: list[Gpu], cores: int, memory: int) -> str:
    if not gpus:
        return f"CPU, {cores} cores, {memory / 1e9:.0f} GB"
    names = sorted({gpu.name.removeprefix("NVIDIA ") for gpu in gpus})
    free = sum(gpu.free for gpu in gpus) / 1e9
    return f"{len(gpus)}× {', '.join(names)}, {free:.0f} GB free"
