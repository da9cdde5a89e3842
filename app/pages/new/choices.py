"""What a new run can be made of: models and data files at hand, and how an uploaded file gets in."""

import unicodedata
from pathlib import Path

from groupwise.app.core import data_files
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import hub_models, model_files
from groupwise.storage.library.models.hub_models import HubModel
from groupwise.storage.spec.rows.beginnings import LOOKED_AT, ZIP, kind_of_start, misnamed_kind
from groupwise.storage.spec.rows.containers import container_fault, kind_of_zip
from groupwise.storage.spec.rows.file_format import data_suffix, file_kind
from groupwise.storage.spec.rows.other_kinds import unreadable_kind
from groupwise.storage.spec.rows.text_kinds import (
    PACKED,
    TextKind,
    looks_like,
    misnamed_text,
    named_as,
    text_named_otherwise,
    unpack_head,
)

LIMIT = f"{data_files.MAX_FILE // data_files.MEGABYTE} MB"
Choice = dict[str, str]


def upload_advice() -> str:
    """What may be uploaded, and what becomes of it."""
    kinds = "Excel (.xlsx, .xls), OpenDocument (.ods), CSV, TSV, JSON, JSONL or Parquet, text also in .gz"
    return f"{kinds}; at most {LIMIT}. A larger file: copy it into {paths.data_folder()}."


def models() -> list[Choice]:
    """The models at hand: the starter, the home's model folders, and what the hub's cache on this machine holds; below
    them a few of the hub that are not here. `note`: what else is to be known of it."""
    here = model_files.at_hand()
    found = [
        {"value": model.id, "label": model.label, "note": "" if model.where == "starter" else model.id,
         "revision": model.revision or ""}
        for model in here
    ]  # fmt: skip
    names = {model.id if model.where == "cache" else Path(model.id).name for model in here}
    return [*found, *map(_describe_hub_model, hub_models.to_download(names))]


def _describe_hub_model(model: HubModel) -> Choice:
    note = f"{model.download_words}, not on this machine yet; {model.needs}"
    label = f"{model.id} · {model_files.size(model.parameters)}"
    return {"value": model.id, "label": label, "note": note, "revision": ""}


def tasks(offer: Offer) -> list[Choice]:
    """The built-in tasks that a run can be trained on, as choices."""
    return [{"value": f"task:{name}", "label": name} for name in offer.tasks or {"arithmetic": {}}]


def home_data_files() -> list[Choice]:
    """The data files in the home's data folder, as choices."""
    folder = paths.data_folder()
    names = sorted(path.name for path in folder.iterdir() if _usable(path)) if folder.is_dir() else []
    return [{"value": f"file:{name}", "label": name} for name in names]


def _usable(path: Path) -> bool:
    return path.is_file() and bool(file_kind(path.name)) and bool(paths.DATA_NAME.fullmatch(path.name))


class OtherText(ValueError):
    """A file of text is plainly of another kind than its name says: of `kind`."""

    def __init__(self, words: str, kind: TextKind) -> None:
        super().__init__(words)
        self.kind = kind


def keep_upload(upload: str | None, called: str = "", read_as: TextKind | None = None) -> tuple[str, str]:
    """Copy an uploaded file into the home's data folder, never over another one; the name it has there, and a sentence
    that says so. `called`: its name on the machine that it is from, of which an upload loses some letters. `read_as`:
    what it is, whatever its name says; it gets that ending.

    Raises ValueError, in words, for what is no data file, OtherText where it is another one, and OSError, with nothing
    kept, for a full disk.
    """
    path = Path(upload) if isinstance(upload, str) else None
    if path is None or not path.is_file() or path.is_symlink():
        raise ValueError(f"The file did not arrive. Try again; it may have at most {LIMIT}.")
    if not file_kind(path.name):
        raise ValueError(unreadable_kind(path.name[:80]))
    if path.stat().st_size == 0:
        raise ValueError(f"“{path.name[:80]}” is empty.")
    name = called if file_kind(called) and not set(called) & set("/\\\0") else path.name
    name = named_as(name, read_as) if read_as else name
    _refuse_unreadable(path, named_as(path.name, read_as) if read_as else path.name)
    kept = data_files.copy_into_home(path, name)[0].name
    return kept, _say_kept(unicodedata.normalize("NFC", name), kept)


def _refuse_unreadable(path: Path, name: str) -> None:
    """Raises ValueError, OtherText where that is known, for a file that is plainly not what this name says, of a
    packed one also for what is packed in it, or that cannot be opened at all."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    if other := text_named_otherwise(name, head):
        raise OtherText(looks_like(name, other), other)
    kind = kind_of_start(head)
    if said := misnamed_kind(name, kind_of_zip(path) if kind == ZIP else kind) or container_fault(path, name):
        raise ValueError(said)
    if data_suffix(name).endswith(PACKED):
        head = unpack_head(head)
        inner = name[: -len(PACKED)]
        if said := misnamed_kind(inner, kind_of_start(head)):
            raise ValueError(said.replace(inner, name, 1))
    said, other = misnamed_text(name, head)
    if said:
        raise OtherText(said, other) if other else ValueError(said)


def earlier_of_its_name(called: str, kept: str) -> str:
    """The file that has the name of an upload, which was kept under another; "" where it was not."""
    wanted = data_files.name_in_home(unicodedata.normalize("NFC", called))
    return wanted if wanted != kept and called.casefold() != kept.casefold() else ""


def _say_kept(name: str, kept: str) -> str:
    """That a file was uploaded, and why it has another name than it had."""
    if kept.casefold() == name.casefold():
        return f"{kept} is uploaded."
    if earlier := earlier_of_its_name(name, kept):
        return f"{kept} is chosen: your upload, renamed. The earlier {earlier} has other content, and is not used here."
    return f"“{name[:80]}” is uploaded as {kept}: {data_files.why_renamed(name)}."
