"""What lies in a run's checkpoints, and which of it is whole: a manifest written last says so, and nothing else is
trusted. All of it is read as if an enemy had written it.

checkpoints/checkpoint-20                   a run without stages
checkpoints/stage-2/checkpoint-20           the 20th step of stage 2; its manifest has the step of the run
checkpoints/stage-1/model                   what stage 1 ended with, and stage 2 begins from
checkpoints/before-attempt-3/checkpoint-40  set aside when attempt 3 went on from an earlier one
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.value_types import Form, Text, Whole, value_if_fitting

MANIFEST = "manifest.json"
MODEL = "model"
ADAPTER = "adapter_config.json"  # of a LoRA adapter, which is no whole model
MOST_FILES = 10_000  # of one checkpoint
ASIDE = "before-attempt-"
_PATTERNS = ("checkpoint-*", "stage-*/checkpoint-*", f"stage-*/{MODEL}")


class Entry(Form):
    """What a manifest says of one file."""

    bytes: Whole
    sha256: Text


class Manifest(Form):
    """What lies in a checkpoint, by paths below its folder; and the run's step, where its name does not tell it."""

    step: Whole | None = None
    files: Annotated[dict[Text, Entry], Field(max_length=MOST_FILES)]


_MANIFEST = TypeAdapter(Manifest)


def stage_of(point: Path) -> int:
    """The stage that a checkpoint, or a stage's model, belongs to; 0 in a run without stages."""
    return max(number_of(point.parent.name), 0) if point.parent.name.startswith("stage-") else 0


def step_of(point: Path) -> int:
    """The run's step at which it was saved; -1 where there is none."""
    if stage_of(point):
        manifest = _manifest(point)
        if manifest is not None and manifest.step is not None:
            return manifest.step
    return number_of(point.name)


def before_stage(checkpoint: Path) -> int:
    """How many steps the run had done when the stage of this checkpoint began."""
    return step_of(checkpoint) - number_of(checkpoint.name)


def number_of(name: str) -> int:
    """The number that a folder's name ends with; -1 where there is none."""
    number = re.fullmatch(r".*-([0-9]{1,15})", name)
    return int(number[1]) if number else -1


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


def _manifest(checkpoint: Path) -> Manifest | None:
    """What was sealed; None where that did not happen, or cannot be read."""
    return value_if_fitting(_MANIFEST, files.read_json(checkpoint / MANIFEST))


def points(folder: Path) -> list[Path]:
    """All there is to go on from, whole or not, newest first. No links: what they lead to is not this run's."""
    return sorted(_folders_in(folder), key=_age, reverse=True)


def set_aside_points(folder: Path) -> list[Path]:
    """What was set aside when the run went on from an earlier checkpoint; of the newest attempt first."""
    if not files.is_folder(folder):
        return []
    aside = sorted(folder.glob(f"{ASIDE}*"), key=lambda place: number_of(place.name), reverse=True)
    return [point for place in aside for point in points(place)]


def remove_set_aside(folder: Path, attempt: int) -> int:
    """Remove what was set aside as this attempt began; how many bytes that were. Raises OSError; FileNotFoundError
    where nothing was set aside then. Nothing ever goes on from it by itself."""
    aside = folder / f"{ASIDE}{attempt}"
    if not files.is_folder(folder) or not files.is_folder(aside):
        raise FileNotFoundError(aside)
    freed = sum(size_of(point) for point in points(aside))
    shutil.rmtree(aside)
    return freed


def remove_point(folder: Path, step: int) -> int:
    """Remove the checkpoint of this step of the run; how many bytes that were. Raises OSError; FileNotFoundError where
    there is none."""
    point = next((one for one in points(folder) if one.name != MODEL and step_of(one) == step), None)
    if point is None:
        raise FileNotFoundError(folder / f"checkpoint-{step}")
    freed, doomed = size_of(point), point.with_name(f"removed-{point.name}")
    point.rename(doomed)  # at once no more a checkpoint, however long removing it takes
    shutil.rmtree(doomed)
    return freed


def _folders_in(folder: Path) -> Iterator[Path]:
    if not files.is_folder(folder):
        return
    for pattern in _PATTERNS:
        for path in folder.glob(pattern):
            if files.is_folder(path) and files.is_folder(path.parent):
                yield path


def _age(point: Path) -> tuple[int, bool, int]:
    return stage_of(point), point.name == MODEL, number_of(point.name)


def sealed_points(folder: Path) -> list[Path]:
    """Those whose manifest and file sizes are right, newest first."""
    return [point for point in points(folder) if problem(point, deep=False) is None]


def latest_sealed(folder: Path) -> Path | None:
    """The newest of them: enough to speak of it. Resume looks closer (worker.training.checkpoints.latest_whole)."""
    return next(iter(sealed_points(folder)), None)


def sealed_at(folder: Path, step: int) -> Path | None:
    """The sealed checkpoint of this step of the run; None where there is none."""
    found = [point for point in points(folder) if point.name != MODEL and step_of(point) == step]
    return next((point for point in found if problem(point, deep=False) is None), None)


def newer_points(folder: Path, point: Path) -> list[Path]:
    """What a resume from `point` leaves behind: all that a plain resume would rather go on from."""
    return [other for other in points(folder) if _age(other) > _age(point)]


def size_of(point: Path) -> int:
    """Bytes of all that its manifest lists; 0 where it has none."""
    manifest = _manifest(point)
    return sum(entry.bytes for entry in manifest.files.values()) if manifest else 0


def digests_of(point: Path) -> dict[str, str]:
    """The SHA-256 of each file, by its path, as the manifest lists them; none where it has none."""
    manifest = _manifest(point)
    return {name: entry.sha256 for name, entry in manifest.files.items()} if manifest else {}


def is_adapter(point: Path) -> bool:
    """Whether this folder holds a LoRA adapter, which is loaded on top of its base model."""
    return (point / ADAPTER).is_file()
