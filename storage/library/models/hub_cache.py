"""The hub client's cache on this machine, as it lays it out: which repositories are here, and where."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from groupwise.storage.home import paths
from groupwise.storage.library.models.weights import ModelError, read_start

COMMIT = re.compile(r"[0-9a-f]{40}")
REVISION = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*")
MAX_REPOSITORIES = 2000


def folder() -> Path:
    """Where the hub's client keeps what it downloads; the same settings, in the same order, as it reads them."""
    base = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    place = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or os.path.join(base, "hub")
    return paths.expand_home(os.path.expandvars(place))


def is_offline() -> bool:
    """Whether the hub's client may download nothing; as it reads its settings."""
    said = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return said.upper() in ("1", "TRUE", "YES", "ON")


def snapshot(repository: str, revision: str | None = None) -> Path | None:
    """The folder with a repository's files at a revision (null: main), as far as they were downloaded; None where
    they were not."""
    place = folder() / f"models--{repository.replace('/', '--')}"
    name = revision or "main"
    if not REVISION.fullmatch(name):
        return None
    commit = name if COMMIT.fullmatch(name) else _commit(place / "refs" / name)
    found = place / "snapshots" / commit if commit else None
    return found if found and found.is_dir() else None


def _commit(ref: Path) -> str | None:
    try:
        commit = read_start(ref, 64).decode("ascii", "replace").strip()
    except ModelError:
        return None
    return commit if COMMIT.fullmatch(commit) else None


def repositories() -> Iterator[tuple[str, str | None, Path]]:
    """(id, revision, folder) of each model repository here: at main, or, where that was never asked for, at another
    revision."""
    try:
        with os.scandir(folder()) as entries:
            names = sorted(entry.name for entry, _ in zip(entries, range(MAX_REPOSITORIES), strict=False))
    except OSError:
        return
    for name in names:
        if name.startswith("models--"):
            repository = name.removeprefix("models--").replace("--", "/")
            for revision in (None, *_others(folder() / name)):
                place = snapshot(repository, revision)
                if place:
                    yield repository, revision, place
                    break


def _others(place: Path) -> list[str]:
    """The revisions by which a repository is here besides main: names first, then commits."""
    found = []
    for below in ("refs", "snapshots"):
        try:
            found += sorted(path.name for path in (place / below).iterdir() if path.name != "main")[:10]
        except OSError:
            continue
    return found
