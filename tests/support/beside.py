"""What the Makefile installs beside the tests' environment: bitsandbytes. TRL, transformers and PEFT import it wherever
they find it, which takes a sixth of their imports; so only the processes that a test names the place to find it."""

import importlib.util
import os
import sys
from pathlib import Path

BESIDE = Path(sys.prefix) / "beside"


def has_bitsandbytes() -> bool:
    """Whether it is installed, there or in the environment itself."""
    return (BESIDE / "bitsandbytes").is_dir() or importlib.util.find_spec("bitsandbytes") is not None


def environment() -> dict[str, str]:
    """This process's, for one that finds it."""
    return os.environ | {"PYTHONPATH": str(BESIDE)}
