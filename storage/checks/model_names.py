"""Which model was meant by a name that is on this machine nowhere: one that is at hand, or that a run here used."""

import contextlib
import difflib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.home import paths
from groupwise.storage.library.models import hub_cache, model_files
from groupwise.storage.registry import registry
from groupwise.storage.spec.words.problem import Fix

ALIKE = 0.8  # of a name to another, from where on it is a slip of it
MOST = 200  # names that are looked at


def near_model(name: str) -> str | None:
    """The id of the model that was probably meant; None where no name is near. Sizes and versions are no slips: a name
    with another number is another model."""
    known = {label.casefold(): model for label, model in _at_hand()}
    numbers = re.findall(r"\d+", name)
    alike = [label for label, model in known.items() if model != name and re.findall(r"\d+", label) == numbers]
    close = difflib.get_close_matches(name.casefold(), alike, n=1, cutoff=ALIKE)
    return known[close[0]] if close else None


def near_model_words(name: str) -> tuple[str, tuple[Fix, ...]]:
    """“ Did you mean …?” and the button that takes that model; nothing where no name is near."""
    near = near_model(name)
    if near is None:
        return "", ()
    return f" Did you mean “{near}”?", (Fix(f"Use {near}", {"model.id": near, "model.revision": None}),)


def _at_hand() -> Iterator[tuple[str, str]]:
    """(name, id) of each model whose files are on this machine, as far as names tell."""
    yield "starter", "starter"
    with contextlib.suppress(OSError):
        folders = sorted(path for path in paths.models_folder().iterdir() if (path / "config.json").is_file())
        yield from ((path.name, str(path)) for path in folders[:MOST] if path.name != "starter")
    yield from ((name, name) for name, _, _ in hub_cache.repositories())
    yield from ((Path(model).name, model) for model in _used_folders())


def _used_folders() -> list[str]:
    """The folders of models, elsewhere on this machine, that runs of this home used."""
    try:
        used = registry.models_used()[:MOST]
    except (OSError, sqlite3.Error, registry.RegistryError):
        return []
    folders = ((model, model_files.model_folder(model)) for model in used)
    return [model for model, folder in folders if folder is not None and (folder / "config.json").is_file()]
