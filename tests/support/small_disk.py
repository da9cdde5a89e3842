"""Disks of a few megabytes, for what happens when they are full: real ones, in memory."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.home import disk

NEAR = 512 * 1024  # bytes that are taken one page after the other
PAGE = 4096
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")


@contextlib.contextmanager
def small_disk(place: Path, megabytes: float) -> Iterator[Path]:
    """A folder that is a disk of this size."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={int(megabytes * 1024)}k", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, leave: int = 0) -> Path:
    """Take all of a disk's room but so many bytes; the file that takes it."""
    filler = place / "filler"
    with filler.open("ab", buffering=0) as file:
        while (room := disk.free_bytes(place) - leave) >= PAGE:
            with contextlib.suppress(OSError):  # others write meanwhile: what is left of it is taken next
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), max(room - NEAR, PAGE))
    return filler
