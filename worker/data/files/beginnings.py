"""What a file is by what it begins with, where its name says another kind: a picture called .csv, say."""

import zipfile
import zlib
from pathlib import Path

from groupwise.storage.spec.rows import other_kinds
from groupwise.storage.spec.rows.file_format import data_suffix
from groupwise.worker.data.files.data_error import DataError

LOOKED_AT = 64 * 1024  # bytes
GZIP, ZIP, PARQUET = "compressed (gzip)", "a zip archive", "a Parquet file"
OLD_WORKBOOK = "an Excel workbook of the older kind (.xls), or one that needs a password"
WORKBOOK, OPEN_SHEET = "an Excel workbook", "a spreadsheet of LibreOffice"
# What other kinds of file begin with: `datasets` would unpack some of them, however large they turn out.
BYTES = {
    b"\x1f\x8b": GZIP, b"PK\x03\x04": ZIP, b"BZh": "compressed (bzip2)", b"\xfd7zXZ": "compressed (xz)",
    b"\x28\xb5\x2f\xfd": "compressed (zstd)", b"\x04\x22\x4d\x18": "compressed (lz4)", b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive", b"\x89PNG": other_kinds.PICTURE, b"\xff\xd8\xff": other_kinds.PICTURE,
    b"GIF87a": other_kinds.PICTURE, b"GIF89a": other_kinds.PICTURE, b"II*\0": other_kinds.PICTURE,
    b"MM\0*": other_kinds.PICTURE, b"%PDF": other_kinds.PDF, b"{\\rtf": other_kinds.DOCUMENT,
    b"ID3\x03": other_kinds.SOUND, b"ID3\x04": other_kinds.SOUND, b"OggS\0": other_kinds.SOUND,
    b"RIFF": other_kinds.SOUND, b"MZ\x90\0": other_kinds.PROGRAM, b"\x7fELF": other_kinds.PROGRAM,
    b"\xcf\xfa\xed\xfe": other_kinds.PROGRAM, b"ARROW1": other_kinds.ARROW,
    b"SQLite format 3": other_kinds.DATABASE, b"PAR1": PARQUET, b"PARE": "a Parquet file that is encrypted",
    b"\xd0\xcf\x11\xe0": OLD_WORKBOOK,
}  # fmt: skip
# What a zip archive is, by a file in it.
PARTS = {"word/": other_kinds.DOCUMENT, "ppt/": other_kinds.SLIDES, "xl/": WORKBOOK}
OPEN_DOCUMENTS = {
    b"application/vnd.oasis.opendocument.text": other_kinds.DOCUMENT,
    b"application/vnd.oasis.opendocument.presentation": other_kinds.SLIDES,
    b"application/vnd.oasis.opendocument.spreadsheet": OPEN_SHEET,
}
# What a file of each name begins with; text begins with none of these.
BY_NAME = {".gz": (GZIP,), ".xlsx": (ZIP, WORKBOOK), ".ods": (ZIP, OPEN_SHEET), ".parquet": (PARQUET,),
           ".xls": (OLD_WORKBOOK,)}  # fmt: skip
TEXT = "something else"
WORKBOOKS = (".xlsx", ".xls", ".ods")
ADVICE = {
    GZIP: "Unpack it first, or let its name end in .gz.",
    ZIP: "If it is an Excel workbook, let its name end in .xlsx; else unpack it first.",
    PARQUET: "Let its name end in .parquet.",
    OLD_WORKBOOK: "Let its name end in .xls.",
    WORKBOOK: "Let its name end in .xlsx.",
    OPEN_SHEET: "Let its name end in .ods.",
    **other_kinds.ADVICE,
}


def refuse_other_kinds(path: Path) -> None:
    """Raises DataError for a file that is of another kind than its name says."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    name, suffix = path.name, data_suffix(path.name)
    if not head:
        raise DataError(f"“{name}” is empty.")
    kind = _kind_of_bytes(head, path)
    wanted = BY_NAME.get(suffix[-3:] if suffix.endswith(".gz") else suffix, (TEXT,))
    if kind not in wanted:
        raise DataError(f"{name} cannot be read as {suffix[1:].upper()}: it is {_words_and_advice(kind, suffix)}")


def _kind_of_bytes(head: bytes, path: Path) -> str:
    kind = next((words for magic, words in BYTES.items() if head.startswith(magic)), TEXT)
    if kind == ZIP:
        return _kind_of_zip(path)
    if kind == other_kinds.SOUND and head[8:12] == b"WEBP":
        return other_kinds.PICTURE
    start = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return other_kinds.WEB_PAGE if start.startswith((b"<!doctype html", b"<html")) else kind


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


def _words_and_advice(kind: str, suffix: str) -> str:
    if suffix in WORKBOOKS and kind in (TEXT, *BY_NAME[".xls"], ZIP, other_kinds.WEB_PAGE):
        words = "no workbook" if kind == TEXT else kind
        return f"{words}. Open it, and save it as .xlsx or .csv without a password."
    if kind == TEXT:
        return f"no {'Parquet' if suffix == '.parquet' else 'gzip'} file. Save it again."
    if kind in ADVICE:
        return f"{kind}. {ADVICE[kind]}"
    return f"{kind}. {'Unpack it first.' if 'compressed' in kind or 'archive' in kind else 'Save it again.'}"
