"""Files that hold their rows packed: workbooks, Parquet, gzip. What is in a zip archive, and why one of them cannot be
opened at all. Nothing that it unpacks to is kept."""

import gzip
import zipfile
import zlib
from pathlib import Path

from groupwise.storage.spec.rows import other_kinds
from groupwise.storage.spec.rows.beginnings import OPEN_SHEET, WORKBOOK, ZIP
from groupwise.storage.spec.rows.file_format import data_suffix
from groupwise.storage.spec.rows.text_kinds import DAMAGED, PACKED

NO_WORKBOOK = (
    "{name} cannot be read as a workbook. It may be damaged, or need a password. Open it, and save it as .xlsx or "
    ".csv without one."
)
NO_PARQUET = "{name} cannot be read as Parquet: {fault}"
PARQUET_MARK = b"PAR1"
FOOTER = 8  # bytes at the end of a Parquet file: how long its list of columns is, and its mark
# What a zip archive is, by a file in it.
PARTS = {"word/": other_kinds.DOCUMENT, "ppt/": other_kinds.SLIDES, "xl/": WORKBOOK}
OPEN_DOCUMENTS = {
    b"application/vnd.oasis.opendocument.text": other_kinds.DOCUMENT,
    b"application/vnd.oasis.opendocument.presentation": other_kinds.SLIDES,
    b"application/vnd.oasis.opendocument.spreadsheet": OPEN_SHEET,
}
UNPACKED, BLOCK = 128 * 2**20, 2**20  # bytes of packed text that are looked through, and at once


def kind_of_zip(path: Path) -> str:
    """What office programs write is a zip archive: which of them, by the files in it; ZIP where it is none of these, or
    cannot be opened."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:1000]
            mime = _first_bytes(archive, "mimetype") if "mimetype" in names else b""
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
        return ZIP
    return OPEN_DOCUMENTS.get(mime) or next(
        (kind for part, kind in PARTS.items() if any(name.startswith(part) for name in names)), ZIP
    )


def container_fault(path: Path, name: str) -> str:
    """Why a file of this name, which begins as that says, cannot be opened; "" where it can, as far as is looked."""
    suffix = data_suffix(name)
    if suffix in (".xlsx", ".ods") and kind_of_zip(path) == ZIP:
        return NO_WORKBOOK.format(name=name)
    if suffix == ".parquet" and (fault := parquet_end_fault(path)):
        return NO_PARQUET.format(name=name, fault=fault)
    return DAMAGED.format(name=name) if suffix.endswith(PACKED) and not _unpacks(path) else ""


def parquet_end_fault(path: Path) -> str:
    """What is wrong with the end of a Parquet file, which says how it is read; "" where nothing is seen to be."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - FOOTER, 0))
        end = file.read()
    if not end.endswith(PARQUET_MARK):
        return "its end is missing, as when a download or a copy stops. Save or download it again."
    if size < int.from_bytes(end[:4], "little") + FOOTER + len(PARQUET_MARK):
        return "it is shorter than it says. Save or download it again."
    return ""


def _unpacks(path: Path) -> bool:
    """Whether packed text can be unpacked, as far as is looked."""
    try:
        with gzip.open(path) as file:
            for _ in range(UNPACKED // BLOCK):
                if not file.read(BLOCK):
                    break
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return False
    return True


def _first_bytes(archive: zipfile.ZipFile, part: str) -> bytes:
    """What a part begins with: all of it may unpack to any size."""
    with archive.open(part) as file:
        return file.read(80)
