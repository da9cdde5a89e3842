"""sqlite-utils, imported without pandas and numpy: it would import both for the types of their columns, which no row of
ours has. That is most of a second of every command, and of the worker's start.
"""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """These packages cannot be imported meanwhile, but by whoever has them already."""
    hide = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hide))  # type: ignore[arg-type]  # None: "there is no such module"
    try:
        yield
    finally:
        for name in hide:
            del sys.modules[name]


with _hidden("pandas", "numpy"):
    from sqlite_utils import Database, Migrations

__all__ = ["Database", "Migrations"]
