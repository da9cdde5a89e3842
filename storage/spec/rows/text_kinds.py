"""What a file of text is by its beginning, where its name says another kind: CSV called .json, JSON called .csv, or no
text at all. Pure."""

import codecs
import csv
import io
import json
import re
import zlib
from itertools import islice
from typing import Literal

from groupwise.storage.spec.rows.beginnings import TEXT, kind_of_start
from groupwise.storage.spec.rows.file_format import SEPARATORS, data_suffix, file_kind, format_words

TextKind = Literal["csv", "jsonl", "json"]
TEXT_WORDS: dict[TextKind, str] = {"csv": "CSV", "jsonl": "JSON lines", "json": "a JSON list"}
PACKED = ".gz"
DAMAGED = "{name} is damaged: it cannot be unpacked. Pack it again."
CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # bytes that no text has
MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
FEW, SOME = 0.01, 0.03  # shares of them: with zero bytes among the rest, without
EVEN = 200  # bytes beyond ASCII from which on their spread tells
OF_TWO_BYTES = ("gb18030", "shift-jis", "big5", "euc-jp", "euc-kr")
SEVERAL = 6  # different ones: LaTeX whose \a, \b, \f and \v a program took for signs has fewer
LATEX = {b"\a", b"\b", b"\v"}
ROWS = 5  # of a table that are looked at
JSON_LIST = re.compile(r'\[\s*\{\s*("|\})')


def is_binary(head: bytes) -> bool:
    """Whether what begins so is no text, in whatever encoding."""
    found = CONTROL.findall(head)
    if head.startswith(tuple(MARKS)) or order_of_utf16(head):
        return False
    if _is_spread_evenly(head):
        return True
    if b"\0" in head and len(found) > FEW * len(head):
        return True
    # Of a few bytes even noise has no six different ones; but letters beyond ASCII and control characters go together
    # in no text that is not UTF-8.
    several = len(set(found)) >= SEVERAL or (not set(found) <= LATEX and not decodes(head, "utf-8"))
    return several and len(found) > SOME * len(head)


def _is_spread_evenly(head: bytes) -> bool:
    """Whether the bytes beyond ASCII are about as many of each kind, as in noise: those of letters are not, unless
    they are a list of all that an encoding of two bytes a letter has."""
    if head.isascii():
        return False
    rows = [sum(head.count(byte) for byte in range(start, start + 16)) for start in range(0x80, 0x100, 16)]
    mean = sum(rows) / len(rows)
    even = sum(rows) >= EVEN and min(rows) > 0.5 * mean and max(rows) < 1.5 * mean
    return even and not any(decodes(head, name) for name in OF_TWO_BYTES)


def decodes(head: bytes, encoding: str) -> bool:
    """Whether bytes, which may end within a letter, are text in an encoding."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def binary_words(name: str) -> str:
    """What to say of a file of this name that is no text."""
    return f"{name} is not text: it is binary. Choose another file, or export its rows again where they come from."


def order_of_utf16(text: bytes) -> str:
    """Which UTF-16 a text is in; "" where it is in none. In UTF-16 one of the two bytes of a plain letter is zero, and
    always the same one."""
    even, odd = (text[start::2].count(0) / max(len(text[start::2]), 1) for start in (0, 1))
    if max(even, odd) <= 0.3 or min(even, odd) >= 0.05:
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def misnamed_text(name: str, head: bytes) -> tuple[str, TextKind | None]:
    """What to say of a file of this name whose text begins so, and what it plainly is instead; "" where it may be what
    its name says. `head`: of what is packed in it, where it is packed."""
    kind = file_kind(name)
    if kind not in ("csv", "json"):
        return "", None
    if is_binary(head):
        return binary_words(name), None
    text = _as_text(head).lstrip()
    is_json = text.startswith(("{", "["))
    other = _json_kind(text) if kind == "csv" else _table_kind(text)
    if other:
        return looks_like(name, other), other
    if kind == "json" and text and not is_json:
        said = 'it begins with no object, such as {"question": "1+1?"}, and with no list of them.'
        return f"{name} cannot be read as {format_words(name)}: {said}", None
    return "", None


def text_named_otherwise(name: str, head: bytes) -> TextKind | None:
    """What text that begins so plainly is, where its name says a workbook or Parquet; None where that is not known."""
    if file_kind(name) not in ("sheet", "parquet") or kind_of_start(head) != TEXT or is_binary(head):
        return None
    text = _as_text(head).lstrip()
    return _json_kind(text) or _table_kind(text)


def looks_like(name: str, other: TextKind) -> str:
    """What to say of a file of this name that is plainly another kind of text."""
    return f"{name} cannot be read as {format_words(name)}. This looks like {TEXT_WORDS[other]}."


def named_as(name: str, kind: TextKind) -> str:
    """The name with the ending of another kind of text; packed as it was."""
    suffix = data_suffix(name)
    return f"{name.removesuffix(name[-len(suffix) :])}.{kind}{PACKED if suffix.endswith(PACKED) else ''}"


def unpack_head(head: bytes) -> bytes:
    """The beginning of what is packed (.gz) in a file that begins so and can be unpacked, no longer than that."""
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, max(len(head), 1))


def _as_text(head: bytes) -> str:
    """Enough of it to see what it is: which letters it has beyond the plain ones changes nothing."""
    marked = next((encoding for mark, encoding in MARKS.items() if head.startswith(mark)), "")
    text = head.removeprefix(codecs.BOM_UTF8).decode(marked or order_of_utf16(head) or "latin-1", "replace")
    return text.lstrip("\ufeff")


def _table_kind(text: str) -> TextKind | None:
    """CSV, where the first rows of what is no JSON have cells, as many in each as in the first."""
    if text.startswith(("{", "[")):
        return None
    return "csv" if any(_cells_in_rows(text, mark) > 1 for mark in SEPARATORS.values()) else None


def _cells_in_rows(text: str, mark: str) -> int:
    """How many cells each of the first rows has; 0 where they have not the same number, or there is one row alone."""
    try:
        rows = list(islice(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark)), ROWS))
    except csv.Error:
        return 0
    return len(rows[0]) if len(rows) > 1 and len({len(row) for row in rows}) == 1 else 0


def _json_kind(text: str) -> TextKind | None:
    if JSON_LIST.match(text):
        return "json"
    try:
        return "jsonl" if isinstance(json.loads(text.partition("\n")[0]), dict) else None
    except (ValueError, RecursionError):
        return None
