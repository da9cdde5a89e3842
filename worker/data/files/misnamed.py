"""Refuses a file that is of another kind than its name says, however it got into the home."""

import zipfile
import zlib
from pathlib import Path

from groupwise.storage.spec.rows import other_kinds
from groupwise.storage.spec.rows.beginnings import LOOKED_AT, OPEN_SHEET, WORKBOOK, ZIP, kind_of_start, misnamed_kind
from groupwise.storage.spec.rows.text_kinds import looks_like, text_named_otherwise
from groupwise.worker.data.files.data_error import DataError

# What a zip archive is, by a file in it.
PARTS = {"word/": other_kinds.DOCUMENT, "ppt/": other_kinds.SLIDES, "xl/": WORKBOOK}
OPEN_DOCUMENTS = {
    b"application/vnd.oasis.opendocument.text": other_kinds.DOCUMENT,
    b"application/vnd.oasis.opendocument.presentation": other_kinds.SLIDES,
    b"application/vnd.oasis.opendocument.spreadsheet": OPEN_SHEET,
}


def refuse_other_kinds(path: Path) -> None:
    """Raises DataError for a file that is of another kind than its name says."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    if not head:
        raise DataError(f"“{path.name}” is empty.")
    if other := text_named_otherwise(path.name, head):
        raise DataError(f"{looks_like(path.name, other)} Let its name end in .{other}.")
    kind = kind_of_start(head)
    if said := misnamed_kind(path.name, _kind_of_zip(path) if kind == ZIP else kind):
        raise DataError(said)


def _kind_of_zip(path: Path) -> str:
    """What office programs write is a zip archive: which of them, by the files in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:1000]
            mime = _first_bytes(archive, "mimetype") if "mimetype" in names else b""
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
        return ZIP
    return OPEN_DOCUMENTS.get(mime) or next(
        (kind for part, kind in PARTS.items() if any(name.startswith(part) for name in names)), ZIP
    )


def _first_bytes(archive: zipfile.ZipFile, part: str) -> bytes:
    """What a part begins with: all of it may unpack to any size."""
    with archive.open(part) as file:
        return file.read(80)
