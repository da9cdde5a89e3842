"""The models on this machine: where a spec's model lies, what its files say, and which ones can be chosen."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groupwise.storage.home import paths
from groupwise.storage.library.models import hub_cache
from groupwise.storage.library.models.hub_cache import snapshot
from groupwise.storage.library.models.model_facts import ADAPTER, CONFIG, ModelFacts, facts, has_tokenizer
from groupwise.storage.library.models.weights import ModelError
from groupwise.storage.spec.spec import ModelSpec

__all__ = ["ModelAtHand", "ModelError", "ModelFacts", "as_written", "at_hand", "facts", "facts_at_hand", "folder_of",
           "has_tokenizer", "model_folder", "size", "snapshot"]  # fmt: skip


@dataclass(frozen=True)
class ModelAtHand:
    """A model that can be chosen without downloading anything. where: "starter", "home" (its models folder) or
    "cache" (the hub client's); revision: the one that is here, where that is not main."""

    id: str
    label: str
    where: str
    revision: str | None = None


def model_folder(model_id: str) -> Path | None:
    """The folder a model id means; None for the starter and for hub ids."""
    if model_id.startswith(("/", "~", "./", "../")):
        return paths.expand_home(model_id)
    return None


def as_written(words: str, model_id: str) -> str:
    """Words that name a model's folder, or a file in it, by the name that was written: with its ~."""
    folder = model_folder(model_id)
    if folder is None or not model_id.startswith("~") or len(folder.parts) < 2:
        return words
    return words.replace(str(folder), model_id.rstrip("/"))


def folder_of(spec: ModelSpec) -> Path | None:
    """Where a spec's model lies on this machine; None where it does not: a hub id that was not downloaded, the
    starter before the worker has put it there, a folder that does not exist."""
    if spec.id == "starter":
        found: Path | None = paths.models_folder() / "starter"
    else:
        found = model_folder(spec.id) or snapshot(spec.id, spec.revision)
    try:
        return found if found and found.is_absolute() and found.is_dir() else None
    except (OSError, ValueError):
        return None


def facts_at_hand(spec: ModelSpec) -> ModelFacts | None:
    """What is known of a spec's model from its files; None where they are not on this machine, or not sound."""
    folder = folder_of(spec)
    try:
        return facts(folder) if folder else None
    except ModelError:
        return None


def at_hand() -> list[ModelAtHand]:
    """The starter, the models in the home's models folder, and what of the hub client's cache is whole and can be
    trained. Those in the home are there also where something is wrong with them, which the label then says."""
    starter = paths.models_folder() / "starter"
    found = [ModelAtHand("starter", _label("starter", starter) or "starter", "starter")]
    for path in _subfolders(paths.models_folder()):
        if path != starter:
            found.append(ModelAtHand(str(path), _label(path.name, path) or f"{path.name} · cannot be used", "home"))
    for repository, revision, path in hub_cache.repositories():
        label = _label(repository.rsplit("/", 1)[-1], path, *([f"at {revision[:12]}"] if revision else []), "cached")
        if label:
            found.append(ModelAtHand(repository, label, "cache", revision))
    return found


def size(parameters: int) -> str:
    """A number of parameters as people say it: 0.8 M, 494 M, 1.5 B."""
    for unit, name in ((10**9, "B"), (10**6, "M")):
        if parameters >= 0.9995 * unit:
            return f"{parameters / unit:.{0 if parameters >= 99.95 * unit else 1}f} {name}"
    return f"{parameters / 1e6:.1f} M" if parameters >= 50_000 else f"{parameters / 1e3:.0f} k"


def _label(name: str, folder: Path, *more: str) -> str | None:
    """“Qwen2.5-1.5B-Instruct · 1.5 B · cached”; None for what cannot be trained."""
    try:
        model = facts(folder)
    except ModelError:
        return None
    if model.weights != "safetensors" or model.missing or model.adapter or model.causal is False:
        return None
    return " · ".join([name, *([size(model.parameters)] if model.parameters else []), *more])


def _subfolders(place: Path) -> Iterator[Path]:
    """The folders in the models folder that look as if a model were meant."""
    try:
        found = sorted(path for path in place.iterdir() if not path.name.startswith("."))[: hub_cache.MAX_REPOSITORIES]
    except OSError:
        return
    yield from (path for path in found if (path / CONFIG).is_file() or (path / ADAPTER).is_file())
