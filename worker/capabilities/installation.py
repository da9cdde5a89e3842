"""Which Groupwise this is; and what it has to train with, looked at anew.

`python -m groupwise.worker.capabilities.installation` prints the hardware as a line of JSON, and after it what torch
says: importing that takes a second, or minutes, or fails, which is what `groupwise doctor` wants to know.
"""

import importlib.metadata
import json
import sys
import warnings
from typing import Any

from groupwise.storage.home import process_log
from groupwise.storage.registry.messages.facts import Worker
from groupwise.worker.capabilities import hardware


def describe_worker() -> Worker:
    """The version of this Groupwise ("": it is not installed as a package), and where its Python is."""
    try:
        version = importlib.metadata.version("groupwise")
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return Worker(version=version, environment=sys.prefix)


def _describe_torch() -> dict[str, Any]:
    """Its version, what it was built for, how many GPUs it can use, and what it says where it can use none."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        import torch

        usable = torch.cuda.device_count() if torch.cuda.is_available() else 0
    cuda, rocm = torch.version.cuda, torch.version.hip
    built = f"CUDA {cuda}" if cuda else f"ROCm {rocm}" if rocm else ""
    about = [str(one.message) for one in said if "CUDA" in str(one.message) or "driver" in str(one.message)]
    return {"version": str(torch.__version__), "built_for": built, "usable": usable, "said": about[0] if about else ""}


if __name__ == "__main__":
    process_log.keep_secrets()
    print(json.dumps({"hardware": hardware.describe_hardware().as_dict(), "free": hardware.free_memory()}), flush=True)
    print(json.dumps({"torch": _describe_torch()}), flush=True)
