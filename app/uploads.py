"""The private folder where uploads wait: its size is bounded, and what nobody came back for goes after a day."""

from __future__ import annotations

import time
from pathlib import Path

from storage import home

QUOTA = 1024**3  # bytes of all uploads together
KEEP_SECONDS = 24 * 3600


def prepare() -> Path:
    """The folder, made if needed and rid of what is old."""
    folder = home.uploads_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep()
    return folder


def is_full() -> bool:
    """Whether no more may be taken in. Looks for old files to remove first."""
    if _bytes() <= QUOTA:
        return False
    sweep()
    return _bytes() > QUOTA


def sweep() -> None:
    """Remove what is older than a day. Gradio removes what it knows of; an upload cut off half-way it forgets."""
    for path in _files():
        if time.time() - path.stat().st_mtime > KEEP_SECONDS:
            path.unlink(missing_ok=True)


def _bytes() -> int:
    return sum(path.stat().st_size for path in _files())


def _files() -> list[Path]:
    return [path for path in home.uploads_folder().rglob("*") if path.is_file() and not path.is_symlink()]
