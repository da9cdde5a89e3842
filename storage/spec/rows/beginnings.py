"""What a file is by what it begins with, where its name says another kind: a picture called .csv, say.
Pure."""

from groupwise.storage.spec.rows import other_kinds
from groupwise.storage.spec.rows.file_format import data_suffix, format_words

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


def kind_of_start(head: bytes) -> str:
    """What a file is by its first LOOKED_AT bytes. What office programs write is a zip archive."""
    kind = next((words for magic, words in BYTES.items() if head.startswith(magic)), TEXT)
    if kind == other_kinds.SOUND and head[8:12] == b"WEBP":
        return other_kinds.PICTURE
    start = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return other_kinds.WEB_PAGE if start.startswith((b"<!doctype html", b"<html")) else kind


def misnamed_kind(name: str, kind: str) -> str:
    """What to say of a file of this name that is of such a kind; "" where it may be."""
    suffix = data_suffix(name)
    if kind in BY_NAME.get(suffix[-3:] if suffix.endswith(".gz") else suffix, (TEXT,)):
        return ""
    return f"{name} cannot be read as {format_words(name)}: it is {_words_and_advice(kind, suffix)}"


def _words_and_advice(kind: str, suffix: str) -> str:
    if suffix in WORKBOOKS and kind in (TEXT, *BY_NAME[".xls"], ZIP, other_kinds.WEB_PAGE):
        words = "no workbook" if kind == TEXT else kind
        return f"{words}. Open it, and save it as .xlsx or .csv without a password."
    if kind == TEXT:
        return f"no {'Parquet' if suffix == '.parquet' else 'gzip'} file. Save it again."
    if kind in ADVICE:
        return f"{kind}. {ADVICE[kind]}"
    return f"{kind}. {'Unpack it first.' if 'compressed' in kind or 'archive' in kind else 'Save it again.'}"
