"""Whether what a process has imported is still what is installed."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.home import paths

ROOMS = [Path(file).parents[1] for file in (paths.__file__, __file__)]  # storage and worker
_JUST = 10 * 10**9  # nanoseconds before this began in which a file may have been read and then changed
_ABOUT_A_PACKAGE = (".dist-info", ".egg-info", ".egg-link", ".pth")
Mark = tuple[int, int, int, int]  # of a file: inode, size, times of the last change of its content and of itself (ns)


class Loaded:
    """Made before the imports; `note` after them."""

    def __init__(self) -> None:
        self._begun = time.time_ns() - _JUST
        self._installed: set[str] = set()
        self._marks: dict[str, Mark | None] = {}

    def note(self) -> None:
        """Remember the imported files as they are now."""
        self._installed = set(_package_marks())
        self._marks = {path: _mark(path) for path in {*_sources(), *self._installed}}

    def has_changed(self) -> bool:
        """Whether one of them changed since the imports began, or a package was installed, upgraded or removed."""
        return set(_package_marks()) != self._installed or any(
            mark is None or mark[3] > self._begun or mark != _mark(path) for path, mark in self._marks.items()
        )


def _sources() -> Iterator[str]:
    """The files of all imported modules, and all of Groupwise's own that a run may import later."""
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and os.path.isabs(path):  # torch names two that are in no file
            yield path
    for room in ROOMS:
        yield from map(str, room.rglob("*.py"))


def _package_marks() -> Iterator[str]:
    """What says, where modules are looked for, which packages there are. (Other files may come and go there.)"""
    for folder in filter(os.path.isabs, sys.path):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if entry.name.endswith(_ABOUT_A_PACKAGE))


def _mark(path: str) -> Mark | None:
    """None where it is gone."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
