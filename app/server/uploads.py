"""The private folder where uploads wait: its size is bounded, and what nobody came back for goes after a day."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.home import paths

QUOTA = 1024**3  # bytes of all uploads together
SMALLEST = 64 * 1024  # bytes that a file counts for at least: else a quota of bytes is one of a billion files
STEP = 1024**2  # bytes that an upload which announced nothing is given at a time
KEEP_SECONDS = 24 * 3600


def prepare() -> Path:
    """The folder, made if needed and rid of what is old."""
    folder = paths.uploads_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep()
    return folder


class Room:
    """The room that is left for uploads: what is stored, and what those under way have been given of it.

    Given before a byte is taken in, or all would find room that is there once. For one event loop: no method waits.
    """

    def __init__(self) -> None:
        self._stored = 0
        self._under_way: set[Upload] = set()

    def begin(self, announced: int) -> Upload | None:
        """An upload of so many bytes (0: it did not say), or None where there is no room for it."""
        if not self._under_way:
            self._stored = _bytes()
        upload = Upload(self)
        if not self.give(upload, max(1, announced)):
            return None
        self._under_way.add(upload)
        return upload

    def give(self, upload: Upload, size: int) -> bool:
        """Give an upload so many bytes in all; whether they are there. Removes what is old where they are not."""
        others = sum(other.given for other in self._under_way if other is not upload)
        if self._stored + others + size > QUOTA:
            self._stored -= sweep()
        if self._stored + others + size > QUOTA:
            return False
        upload.given = size
        return True

    def end(self, upload: Upload, kept: int) -> None:
        """Take back what an upload was given; `kept`: its bytes that are stored now."""
        self._under_way.discard(upload)
        self._stored = self._stored + kept if self._under_way else _bytes()


class Upload:
    """One upload, from its first byte until it is stored or gone."""

    def __init__(self, room: Room) -> None:
        self._room, self.given, self._came = room, 0, 0

    def take(self, size: int) -> bool:
        """Count bytes that have come; whether there is room for them."""
        self._came += size
        return self._came <= self.given or self._room.give(self, self._came + STEP) or self._room.give(self, self._came)

    def end(self, *, stored: bool) -> None:
        """End the upload: it has arrived and its files are in the folder, or (not `stored`) they were removed."""
        self._room.end(self, self._came if stored else 0)


def sweep() -> int:
    """Remove what is older than a day; its bytes. Gradio removes what it knows of: after a kill, nothing."""
    gone = 0
    for path, status in _files():
        if time.time() - status.st_mtime > KEEP_SECONDS:
            path.unlink(missing_ok=True)
            gone += _size(status)
    return gone


def _bytes() -> int:
    return sum(_size(status) for _, status in _files())


def _size(status: os.stat_result) -> int:
    return max(status.st_size, SMALLEST)


def _files() -> Iterator[tuple[Path, os.stat_result]]:
    for path in paths.uploads_folder().rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # Gradio gives an upload its name while we look
        if stat.S_ISREG(status.st_mode):
            yield path, status
