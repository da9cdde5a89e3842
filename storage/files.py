"""Small files written whole or not at all, and whether files were written to."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

# Nanoseconds. The time of a file is that of the last tick of the kernel's clock: some milliseconds apart.
TICK = 20_000_000
Stamp = tuple[tuple[int, int, int] | None, ...]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader, or a crash, sees the old text or the new, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def write_json(path: Path, value: Any) -> None:
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=1))


def read_json(path: Path) -> Any | None:
    """The file's value; None where it is missing or not JSON (a copied or damaged folder)."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def stamp(*paths: Path) -> Stamp | None:
    """What the disk says of these files and folders: something else as soon as one of them was written to.

    None just after a write, as the next one could leave the same time and size.
    """
    now = time.time_ns()
    found = tuple(_mark(path) for path in paths)
    return found if all(mark is None or now - mark[2] > TICK for mark in found) else None


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
