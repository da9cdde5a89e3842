"""How Gradio is imported: without the files for editors (`.pyi`) that it would compare with its own sources, component
by component, each time; that is half of the seconds that its import takes, and nothing the dashboard does reads them.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType

from groupwise.storage.home.large_imports import no_collections

WRITES_THEM = "gradio.component_meta"


class _Finder:
    """Finds that one module of Gradio's, and no other."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the module lies, with our loader for it; None where it is another, or lies in no Python file."""
        found = PathFinder.find_spec(name, path, target) if name == WRITES_THEM else None
        if found is None or not isinstance(found.loader, SourceFileLoader):
            return None
        return spec_from_file_location(name, found.origin, loader=_Loader(name, found.loader.path))


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run its code; what writes the files then does nothing, if it is there."""
        super().exec_module(module)
        if hasattr(module, "create_or_modify_pyi"):
            setattr(module, "create_or_modify_pyi", _write_nothing)  # noqa: B010  # mypy knows no such name


def _write_nothing(*_: object) -> None:
    """In the place of what looks through a component's source."""


def import_gradio() -> None:
    """Import it, if nobody has."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        with no_collections():
            import gradio  # noqa: F401
    finally:
        sys.meta_path.remove(finder)
