"""What a new run can be made of: models and data files at hand, and how an uploaded file gets in."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from storage import home
from storage.check import DATA_SUFFIXES, Offer

SUFFIXES = DATA_SUFFIXES
MOST_BYTES = 2 * 1024**3


def models() -> list[tuple[str, str]]:
    """(label, id): the starter, then the model folders of the home."""
    folder = home.models_folder()
    found = sorted(path for path in folder.iterdir() if (path / "config.json").is_file()) if folder.is_dir() else []
    return [("starter · 0.8 M", "starter")] + [(path.name, str(path)) for path in found if path.name != "starter"]


def sources() -> list[tuple[str, str]]:
    """(label, source): the built-in tasks, then the files of the home's data folder."""
    tasks = Offer.published().tasks or {"arithmetic": {}}
    found = [(f"{name} (built in)", f"task:{name}") for name in tasks]
    folder = home.data_folder()
    files = sorted(path.name for path in folder.iterdir() if _usable(path)) if folder.is_dir() else []
    return found + [(name, f"file:{name}") for name in files]


def _usable(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in SUFFIXES and bool(home.DATA_NAME.fullmatch(path.name))


def keep(upload: str | None) -> str:
    """Copy an uploaded file into the home's data folder, never over another one; the name it got.

    Raises ValueError, in words, for what is no data file.
    """
    path = Path(upload) if isinstance(upload, str) else None
    if path is None or not path.is_file() or path.is_symlink():
        raise ValueError("The file did not arrive. Try again.")
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"“{path.name[:80]}” should be a JSONL, CSV or Parquet file ({', '.join(SUFFIXES)}).")
    if not 0 < path.stat().st_size <= MOST_BYTES:
        raise ValueError(f"“{path.name[:80]}” is empty, or larger than 2 GB.")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:100] or "data"
    for number in range(1, 1000):
        name = f"{stem}{'' if number == 1 else f'-{number}'}{path.suffix.lower()}"
        try:
            descriptor = os.open(home.data_file(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as target, path.open("rb") as source:
            shutil.copyfileobj(source, target)
        return name
    raise ValueError(f"There are a thousand files called “{stem}” already. Rename this one.")
