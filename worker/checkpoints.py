"""Checkpoints that are known to be whole: a manifest written last says so, and resume trusts nothing else."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

from storage import files

MANIFEST = "manifest.json"
# Without these transformers resumes silently with a fresh optimizer, schedule or random state.
NEEDED = ("trainer_state.json", "optimizer.pt", "scheduler.pt")


def seal(checkpoint: Path) -> int:
    """Write the manifest of a checkpoint that was just saved; its size in bytes.

    Raises ValueError when a file that resume needs is missing.
    """
    missing = [name for name in NEEDED if not (checkpoint / name).is_file()]
    if missing or not any(checkpoint.glob("rng_state*.pth")):
        raise ValueError(f"{checkpoint.name} lacks {', '.join(missing) or 'the random state'}")
    listed: dict[str, dict[str, Any]] = {
        str(path.relative_to(checkpoint)): {"bytes": path.stat().st_size, "sha256": _digest(path)}
        for path in sorted(checkpoint.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    files.write_json(checkpoint / MANIFEST, {"files": listed})
    return sum(entry["bytes"] for entry in listed.values())


def problem(checkpoint: Path, *, deep: bool = True) -> str | None:
    """What is wrong with a checkpoint, in words; None when it is whole. `deep` also reads every byte."""
    manifest = files.read_json(checkpoint / MANIFEST)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        return "was not saved to the end"
    for name, entry in manifest["files"].items():
        path = checkpoint / name
        if not path.is_file():
            return f"lacks {name}"
        if path.stat().st_size != entry["bytes"] or (deep and _digest(path) != entry["sha256"]):
            return f"has a damaged {name}"
    return None


def latest_whole(folder: Path) -> tuple[Path | None, list[str]]:
    """The newest whole checkpoint, and a sentence for each newer one that was passed over."""
    passed: list[str] = []
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=step_of, reverse=True):
        wrong = problem(checkpoint)
        if wrong is None:
            return checkpoint, passed
        passed.append(f"{checkpoint.name} {wrong}, so it was passed over.")
    return None, passed


def _sealed(folder: Path) -> list[Path]:
    """The checkpoints whose manifest and file sizes are right, newest first."""
    found = sorted(folder.glob("checkpoint-*"), key=step_of, reverse=True)
    return [checkpoint for checkpoint in found if problem(checkpoint, deep=False) is None]


def latest_sealed(folder: Path) -> Path | None:
    """The newest of them: enough to speak of it. Resume looks closer (`latest_whole`)."""
    return next(iter(_sealed(folder)), None)


def rotate(folder: Path, keep: int) -> None:
    """Remove all but the newest whole checkpoints. After sealing, so that at every moment one of them is whole."""
    for checkpoint in _sealed(folder)[keep:]:
        shutil.rmtree(checkpoint)


def is_last(checkpoint: Path) -> bool:
    """Whether training was over when it was saved."""
    state = files.read_json(checkpoint / "trainer_state.json")
    return isinstance(state, dict) and state.get("global_step", 0) >= state.get("max_steps", 0) > 0


def copy_model(checkpoint: Path, target: Path) -> None:
    """The model that a checkpoint holds, without what only a resume needs."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(checkpoint, target, ignore=shutil.ignore_patterns(*NEEDED, "rng_state*.pth", MANIFEST))


def step_of(checkpoint: Path) -> int:
    """The step in a checkpoint folder's name; -1 where there is none."""
    number = checkpoint.name.rpartition("-")[2]
    return int(number) if number.isdigit() else -1


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
