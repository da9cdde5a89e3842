"""What kinds of data files there are, and how one of text may be written: the names that a spec gives them. Pure."""

from pathlib import Path
from typing import Literal

from groupwise.storage.home.paths import BRING_FILE

Separator = Literal["comma", "semicolon", "tab", "pipe"]
Quote = Literal["double", "single", "none"]
Encoding = Literal[
    "utf-8", "utf-8+cp1252", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "iso8859-15", "mac-roman",
    "cp437", "cp850", "cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "shift-jis", "euc-jp", "gb18030", "big5", "euc-kr",
]  # fmt: skip
DecimalMark = Literal["point", "comma"]
Heading = Literal["line", "numbered", "none"]

SEPARATORS: dict[str, str] = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
QUOTES: dict[str, str] = {"double": '"', "single": "'", "none": ""}
SEPARATOR_WORDS = {"comma": "commas", "semicolon": "semicolons", "tab": "tabs", "pipe": "pipes (|)"}
HEADING_WORDS = {
    "line": "first line", "numbered": "first line, same names numbered (question_2)", "none": "none (Column 1, 2, …)",
}  # fmt: skip
QUOTE_WORDS = {"double": "double quotes", "single": "single quotes", "none": "no quotes"}
# By Python's names of the codecs; utf-8+cp1252 is ours (mixed_text.py).
ENCODING_WORDS: dict[str, str] = {
    "utf-8": "UTF-8", "utf-8+cp1252": "UTF-8 and Windows-1252 mixed",
    "utf-16": "UTF-16", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE",
    "cp1252": "Windows-1252", "latin-1": "Latin-1", "iso8859-15": "Latin-9", "mac-roman": "Mac Roman",
    "cp437": "DOS 437", "cp850": "DOS 850", "cp1250": "Windows-1250 (Central European)",
    "iso8859-2": "Latin-2 (Central European)", "cp1251": "Windows-1251 (Cyrillic)", "koi8-r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)", "cp1254": "Windows-1254 (Turkish)", "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)", "cp1257": "Windows-1257 (Baltic)", "shift-jis": "Shift JIS (Japanese)",
    "euc-jp": "EUC-JP (Japanese)", "gb18030": "GB 18030 (Chinese)", "big5": "Big5 (Chinese)",
    "euc-kr": "EUC-KR (Korean)",
}  # fmt: skip

_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "json", ".json": "json", ".parquet": "parquet",
    ".xlsx": "sheet", ".xls": "sheet", ".ods": "sheet",
}  # fmt: skip
PACKED = tuple(f"{suffix}.gz" for suffix, kind in _KINDS.items() if kind in ("csv", "json"))
DATA_SUFFIXES = (*_KINDS, *PACKED)
# The settings of how a file is read, by the kinds of file that have them.
FILE_SETTINGS = {
    "separator": ("csv",), "quote": ("csv",), "encoding": ("csv", "json"), "skip_lines": ("csv", "sheet"),
    "heading": ("csv", "sheet"), "sheet": ("sheet",),
}  # fmt: skip
SETTING_OWNERS = {
    "separator": "a CSV file", "quote": "a CSV file", "encoding": "a CSV or JSON file",
    "skip_lines": "a CSV file or a spreadsheet", "heading": "a CSV file or a spreadsheet",
    "sheet": "a spreadsheet",
}  # fmt: skip


def file_kind(name: str) -> str:
    """csv, json (a list, or a line for each row), parquet or sheet, by a file's name; "" where it is none of them."""
    suffix = data_suffix(name).removesuffix(".gz")
    return _KINDS.get(suffix, "")


def no_file_words(name: str) -> str:
    """That the home has no data file of this name, mid-sentence, before where it was looked for."""
    return f"there is no file “{name}”"


def missing_file_words(name: str, folder: Path, *, upload: bool = True) -> str:
    """That a folder has no file of this name, and how one gets there. `upload`: whether the pages put files there."""
    return f"{no_file_words(name)} in {folder}. {BRING_FILE if upload else 'Copy it there, or correct the path.'}"


def settings_of_source(source: str) -> list[str]:
    """Those of FILE_SETTINGS that a spec's `data.source` has: none where it is no file."""
    scheme, _, name = source.partition(":")
    kind = file_kind(name) if scheme == "file" else ""
    return [setting for setting, kinds in FILE_SETTINGS.items() if kind in kinds]


def data_suffix(name: str) -> str:
    """How the name of a data file ends: .csv, .csv.gz; "" where it cannot be read."""
    found = (suffix for suffix in DATA_SUFFIXES if name.lower().endswith(suffix))
    return max(found, key=len, default="")


def format_words(name: str) -> str:
    """What the name of a data file says that it is, as people write it: CSV, JSON lines, Parquet."""
    suffix = data_suffix(name).removesuffix(".gz")
    return {".jsonl": "JSON lines", ".parquet": "Parquet"}.get(suffix, suffix[1:].upper())


def usual_separator(name: str) -> str:
    """What separates the cells of a file where nobody said and nothing was found."""
    return "tab" if data_suffix(name).startswith(".tsv") else "comma"
