"""What a page asks of the registry at every keystroke: read again only where that was written to."""

import functools
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

from groupwise.storage.home import paths
from groupwise.storage.registry import registry

KEPT = 16  # answers of one function
Read = TypeVar("Read")


def until_written(function: Callable[..., Read]) -> Callable[..., Read]:
    """Keep what a function reads of the registry for as long as nobody writes to it. What is raised is not kept."""

    @functools.lru_cache(maxsize=KEPT)
    def read(registry_at: Path, stamp: tuple[int, int, int], *given: Hashable) -> Read:
        return function(*given)

    @functools.wraps(function)
    def kept(*given: Hashable) -> Read:
        return read(paths.registry_path(), registry.change_stamp(), *given)

    return kept
