"""Checkpoints as a training process writes them: sealed with a manifest when they are whole, found again by a resume,
and removed when there are too many. How they lie, and which are whole: storage.record.checkpoint_files.
"""

import hashlib
import shutil
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.value_types import Form, Whole, value_if_fitting
from groupwise.storage.record import checkpoint_files
from groupwise.storage.record.checkpoint_files import ASIDE, MANIFEST, MODEL, points, problem, sealed_points, stage_of

MOST_STATE = 256 * 2**20  # bytes of a trainer_state.json, which has all that was logged
# Without these transformers resumes silently with a fresh optimizer, schedule or random state.
NEEDED = ("trainer_state.json", "optimizer.pt", "scheduler.pt")


def stage_folder(folder: Path, number: int) -> Path:
    """Where a stage's checkpoints are, inside the run's."""
    return folder / f"stage-{number}"


def seal(checkpoint: Path, step: int | None = None) -> int:
    """Write the manifest of a checkpoint that was just saved; its size in bytes. `step` is the run's, where that is
    not the one in the folder's name.

    Raises ValueError when a file that resume needs is missing.
    """
    missing = [name for name in NEEDED if not (checkpoint / name).is_file()]
    if missing or not any(checkpoint.glob("rng_state*.pth")):
        raise ValueError(f"{checkpoint.name} lacks {', '.join(missing) or 'the random state'}")
    return _write_manifest(checkpoint, {} if step is None else {"step": step})


def seal_model(model: Path, step: int) -> None:
    """Write the manifest of a model that a stage ended with, at this step of the run."""
    _write_manifest(model, {"step": step})


def _write_manifest(folder: Path, facts: dict[str, Any]) -> int:
    listed: dict[str, dict[str, Any]] = {
        str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": _digest(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    files.write_json(folder / MANIFEST, {**facts, "files": listed})
    return sum(entry["bytes"] for entry in listed.values())


class Reached(Form):
    """How far a trainer was, as its trainer_state.json says."""

    global_step: Whole
    max_steps: Whole


_REACHED = TypeAdapter(Reached)


def latest_whole(folder: Path) -> tuple[Path | None, list[str]]:
    """The newest whole point to go on from (a checkpoint, or the model that a stage ended with), and a sentence for
    each newer one that was passed over."""
    passed: list[str] = []
    for point in points(folder):
        wrong = problem(point)
        if wrong is None:
            return point, passed
        passed.append(f"{_describe_point(point)} {wrong}, so it was skipped.")
    return None, passed


def _describe_point(point: Path) -> str:
    stage = stage_of(point)
    if point.name == MODEL:
        return f"The model of stage {stage}"
    return f"{point.name} of stage {stage}" if stage else point.name


def set_newer_aside(folder: Path, step: int, attempt: int) -> bool:
    """Make the checkpoint of this step the newest, so that `attempt` goes on from it: those after it are moved to
    before-attempt-N, beside. False where there is no such checkpoint. Asked twice, the second time changes nothing."""
    point = checkpoint_files.sealed_at(folder, step)
    if point is None:
        return False
    for newer in checkpoint_files.newer_points(folder, point):
        target = folder / f"{ASIDE}{attempt}" / newer.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        newer.rename(target)
    return True


def rotate(folder: Path, keep: int) -> None:
    """Remove all but the newest whole checkpoints, of all stages. After sealing, so that at every moment one of them
    is whole."""
    for checkpoint in [point for point in sealed_points(folder) if point.name != MODEL][keep:]:
        shutil.rmtree(checkpoint)


def is_last(checkpoint: Path) -> bool:
    """Whether training was over when it was saved."""
    state = value_if_fitting(_REACHED, files.read_json(checkpoint / "trainer_state.json", MOST_STATE))
    return state is not None and state.global_step >= state.max_steps > 0


def copy_model(checkpoint: Path, target: Path) -> None:
    """The model that a checkpoint holds, without what only a resume needs."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(checkpoint, target, ignore=shutil.ignore_patterns(*NEEDED, "rng_state*.pth", MANIFEST))


def _digest(path: Path) -> str:
    with files.open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
