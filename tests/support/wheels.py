"""The wheel built and installed, as pip does both for whoever has no checkout."""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
from pathlib import Path

from tests.conftest import REPOSITORY

ROOMS = ("app", "worker", "storage")


def copy_source(place: Path) -> Path:
    """What a wheel is built from, and nothing else."""
    for room in ROOMS:
        shutil.copytree(REPOSITORY / room, place / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, place / name)
    return place


def build(source: Path) -> Path:
    """The wheel, beside its source."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(source.parent), "."]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    return next(source.parent.glob("groupwise-*.whl"))


def install(wheel: Path) -> Path:
    """The bin folder of a new environment with the wheel. What it depends on is lent to it: to install torch again
    would take minutes, and is what `make run` does. An editable install of ours is not lent."""
    place = wheel.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=60)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text("\n".join(site.getsitepackages()))
    python = str(place / "bin" / "python")
    into = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(into, check=True, capture_output=True, timeout=120)
    return place / "bin"
