"""Refuses a file that is of another kind than its name says, however it got into the home."""

from pathlib import Path

from groupwise.storage.spec.rows.beginnings import LOOKED_AT, ZIP, kind_of_start, misnamed_kind
from groupwise.storage.spec.rows.containers import kind_of_zip
from groupwise.storage.spec.rows.text_kinds import looks_like, text_named_otherwise
from groupwise.worker.data.files.data_error import DataError


def refuse_other_kinds(path: Path) -> None:
    """Raises DataError for a file that is of another kind than its name says."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    if not head:
        raise DataError(f"“{path.name}” is empty.")
    if other := text_named_otherwise(path.name, head):
        raise DataError(f"{looks_like(path.name, other)} Let its name end in .{other}.")
    kind = kind_of_start(head)
    if said := misnamed_kind(path.name, kind_of_zip(path) if kind == ZIP else kind):
        raise DataError(said)
