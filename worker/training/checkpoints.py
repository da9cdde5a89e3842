"""Checkpoints that are known to be whole: a manifest written last says so, and resume trusts nothing else.

checkpoints/checkpoint-20              a run without stages
checkpoints/stage-2/checkpoint-20      the 20th step of stage 2; its manifest has the step of the run
checkpoints/stage-1/model              what stage 1 ended with, and stage 2 begins from
"""

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.value_types import Form, Text, Whole, value_if_fitting

MANIFEST = "manifest.json"
MODEL = "model"
MOST_FILES = 10_000  # of one checkpoint
MOST_STATE = 256 * 2**20  # bytes of a trainer_state.json, which has all that was logged
# Without these transformers resumes silently with a fresh optimizer, schedule or random state.
NEEDED = ("trainer_state.json", "optimizer.pt", "scheduler.pt")


def stage_folder(folder: Path, number: int) -> Path:
    """Where a stage's checkpoints are, inside the run's."""
    return folder / f"stage-{number}"


def stage_of(point: Path) -> int:
    """The stage that a checkpoint, or a stage's model, belongs to; 0 in a run without stages."""
    return max(_number(point.parent.name), 0) if point.parent.name.startswith("stage-") else 0


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


class Entry(Form):
    """What a manifest says of one file."""

    bytes: Whole
    sha256: Text


class Manifest(Form):
    """What lies in a checkpoint, by paths below its folder; and the run's step, where its name does not tell it."""

    step: Whole | None = None
    files: Annotated[dict[Text, Entry], Field(max_length=MOST_FILES)]


class Reached(Form):
    """How far a trainer was, as its trainer_state.json says."""

    global_step: Whole
    max_steps: Whole


_MANIFEST, _REACHED = TypeAdapter(Manifest), TypeAdapter(Reached)


def _manifest(checkpoint: Path) -> Manifest | None:
    """What was sealed; None where that did not happen, or cannot be read."""
    return value_if_fitting(_MANIFEST, files.read_json(checkpoint / MANIFEST))


def problem(checkpoint: Path, *, deep: bool = True) -> str | None:
    """What is wrong with a checkpoint, in words; None when it is whole. `deep` also reads every byte."""
    manifest = _manifest(checkpoint)
    if manifest is None:
        return "was not saved to the end" if not (checkpoint / MANIFEST).is_file() else "has a damaged manifest"
    for name, entry in manifest.files.items():
        path = checkpoint / name
        if not path.is_relative_to(checkpoint) or ".." in Path(name).parts:  # it would speak of files elsewhere
            return "has a damaged manifest"
        try:
            with files.open_file(path) as file:
                is_whole = os.fstat(file.fileno()).st_size == entry.bytes
                if not is_whole or (deep and hashlib.file_digest(file, "sha256").hexdigest() != entry.sha256):
                    return f"has a damaged {name}"
        except FileNotFoundError:
            return f"lacks {name}"
        except (OSError, ValueError):
            return f"has a {name} that cannot be read"
    return None


def latest_whole(folder: Path) -> tuple[Path | None, list[str]]:
    """The newest whole point to go on from (a checkpoint, or the model that a stage ended with), and a sentence for
    each newer one that was passed over."""
    passed: list[str] = []
    for point in _points(folder):
        wrong = problem(point)
        if wrong is None:
            return point, passed
        passed.append(f"{_describe_point(point)} {wrong}, so it was passed over.")
    return None, passed


def _points(folder: Path) -> list[Path]:
    """All there is to go on from, whole or not, newest first. No links: what they lead to is not this run's."""
    if not files.is_folder(folder):
        return []
    found = [path for pattern in ("checkpoint-*", "stage-*/checkpoint-*", f"stage-*/{MODEL}")
             for path in folder.glob(pattern) if files.is_folder(path) and files.is_folder(path.parent)]  # fmt: skip
    return sorted(found, key=lambda point: (stage_of(point), point.name == MODEL, _number(point.name)), reverse=True)


def _describe_point(point: Path) -> str:
    stage = stage_of(point)
    if point.name == MODEL:
        return f"The model of stage {stage}"
    return f"{point.name} of stage {stage}" if stage else point.name


def _sealed_folders(folder: Path) -> list[Path]:
    """Those whose manifest and file sizes are right, newest first."""
    return [point for point in _points(folder) if problem(point, deep=False) is None]


def latest_sealed(folder: Path) -> Path | None:
    """The newest of them: enough to speak of it. Resume looks closer (`latest_whole`)."""
    return next(iter(_sealed_folders(folder)), None)


def rotate(folder: Path, keep: int) -> None:
    """Remove all but the newest whole checkpoints, of all stages. After sealing, so that at every moment one of them
    is whole."""
    for checkpoint in [point for point in _sealed_folders(folder) if point.name != MODEL][keep:]:
        shutil.rmtree(checkpoint)


def is_last(checkpoint: Path) -> bool:
    """Whether training was over when it was saved."""
    state = value_if_fitting(_REACHED, files.read_json(checkpoint / "trainer_state.json", MOST_STATE))
    return state is not None and state.global_step >= state.max_steps > 0


def copy_model(checkpoint: Path, target: Path) -> None:
    """The model that a checkpoint holds, without what only a resume needs."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(checkpoint, target, ignore=shutil.ignore_patterns(*NEEDED, "rng_state*.pth", MANIFEST))


def step_of(point: Path) -> int:
    """The run's step at which it was saved; -1 where there is none."""
    if stage_of(point):
        manifest = _manifest(point)
        if manifest is not None and manifest.step is not None:
            return manifest.step
    return _number(point.name)


def before_stage(checkpoint: Path) -> int:
    """How many steps the run had done when the stage of this checkpoint began."""
    return step_of(checkpoint) - _number(checkpoint.name)


def _number(name: str) -> int:
    number = re.fullmatch(r".*-([0-9]{1,15})", name)
    return int(number[1]) if number else -1


def _digest(path: Path) -> str:
    with files.open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
