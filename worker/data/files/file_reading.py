"""How a data file is read: what a spec says of it, and what is found in the file where it says nothing.

Only a bounded part of the file is looked at, and nothing of it is run; the same file always gives the same answer.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.file_format import (
    ENCODING_WORDS,
    FILE_SETTINGS,
    QUOTE_WORDS,
    SEPARATOR_WORDS,
    data_suffix,
    file_kind,
    usual_separator,
)
from groupwise.storage.spec.rows.mixed_text import MIXED, new_decoder
from groupwise.storage.spec.rows.text_kinds import DAMAGED, binary_words, is_binary
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data.files import separators, text_encoding
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.mixed_lines import OddLines, find_odd_lines
from groupwise.worker.data.files.mixed_separators import MixedSeparators, find_mixed
from groupwise.worker.data.files.text_encoding import Encoded, find_encoding
from groupwise.worker.data.files.wrapped_list import refuse_wrapped


@dataclass(frozen=True)
class FileReading:
    """How a file is read, in the names of a spec; "" for what its kind does not have. `sheets`: the names in a
    workbook, known once it was opened; `sheet_rows`: (row from 0, its number in the sheet) at the first row and behind
    each gap; `notes`: sentences worth saying about it; `doubt`: its encoding, where another fits about as well; `odd`:
    lines in another encoding than the rest; `mixed`: rows that are separated otherwise than the heading."""

    kind: str
    separator: str = ""
    quote: str = ""
    encoding: str = ""
    skip_lines: int = 0
    heading: str = ""
    sheet: str = ""
    packed: bool = False
    as_list: bool = False  # JSON that is one list
    sheets: tuple[str, ...] = ()
    sheet_rows: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = field(default=())
    doubt: Encoded | None = None
    odd: OddLines | None = None
    mixed: MixedSeparators | None = None

    def settings(self) -> dict[str, Any]:
        """What its kind of file has, as settings of a spec's data that find nothing by themselves."""
        return {name: getattr(self, name) for name, kinds in FILE_SETTINGS.items() if self.kind in kinds}

    def in_words(self) -> str:
        """“semicolons, Windows-1252”."""
        said = [f"the sheet “{self.sheet}”"] if self.sheet else []
        said += [SEPARATOR_WORDS[self.separator]] if self.separator else []
        said += [QUOTE_WORDS[self.quote]] if self.quote not in ("", "double") else []
        said += ["a JSON list" if self.as_list else "JSON lines"] if self.kind == "json" else []
        said += [ENCODING_WORDS[self.encoding]] if self.encoding else []
        said += [f"heading in line {self.skip_lines + 1}"] if self.skip_lines and self.heading != "none" else []
        said += ["no heading"] if self.heading == "none" else []
        said += ["columns of one name numbered"] if self.heading == "numbered" else []
        return ", ".join([*said, *(["gzip"] if self.packed else [])])

    def row_words(self, index: int) -> str:
        """Where a row, from 0, stands: “row 3”, or of a workbook “row 4 of the sheet “Tabelle1””."""
        number = self.sheet_row(index)
        return f"row {index + 1:,}" if number is None else f"row {number:,} of the sheet “{self.sheet}”"

    def sheet_row(self, index: int) -> int | None:
        """The number in its sheet of a row, from 0; None for what is no workbook."""
        before = [gap for gap in self.sheet_rows if gap[0] <= index]
        return before[-1][1] + index - before[-1][0] if before else None

    def converts(self) -> bool:
        """Whether the file has to be written anew before it can be read line by line: it is no UTF-8 text of rows."""
        return self.kind == "sheet" or self.packed or self.as_list or self.encoding not in ("", "utf-8")


def find_reading(path: Path, data: DataSpec) -> FileReading:
    """How a file is read. Raises DataError for what is no such file."""
    kind, heading = file_kind(path.name), data.heading or "line"
    if kind == "parquet":
        return FileReading(kind)
    if kind == "sheet":
        return FileReading(kind, sheet=data.sheet or "", skip_lines=data.skip_lines or 0, heading=heading)
    packed = data_suffix(path.name).endswith(".gz")
    with file_faults(path), open_bytes(path, packed) as file:
        found = _said_encoding(data.encoding, file, path.name) if data.encoding else find_encoding(file.read, path.name)
        file.seek(0)
        odd = None if data.encoding or found.name.startswith("utf-16") else find_odd_lines(file.read)
        found = Encoded(MIXED) if odd else found
        file.seek(0)
        head = file.read(text_encoding.HEAD)
    text = _decode(head, found.name)
    doubt = found if found.rival else None
    if kind == "json":
        refuse_wrapped(path.name, text, whole=len(head) < text_encoding.HEAD)
        as_list = text.lstrip().startswith("[")
        return FileReading(kind, encoding=found.name, packed=packed, as_list=as_list, doubt=doubt, odd=odd)
    said = {name: value for name in ("separator", "quote") if (value := getattr(data, name)) is not None}
    whole = len(head) < text_encoding.HEAD
    layout = separators.find_layout(
        text, whole=whole, usual=usual_separator(path.name), said=said, skip=data.skip_lines, headed=heading != "none"
    )
    return FileReading(
        kind, layout.separator, layout.quote, found.name, layout.skip_lines, heading, packed=packed, doubt=doubt,
        odd=odd, mixed=find_mixed(text, layout, whole=whole),
    )  # fmt: skip


def _said_encoding(encoding: str, file: IO[bytes], name: str) -> Encoded:
    """The encoding that a person chose. Raises DataError for what is no text in any of its kind: in UTF-16, letters
    may be any bytes."""
    if not encoding.startswith("utf-16") and is_binary(file.read(text_encoding.HEAD)):
        raise DataError(binary_words(name))
    return Encoded(encoding)


def with_found(data: DataSpec) -> DataSpec:
    """The spec's data with what is found in its file written down, as far as a look at its beginning tells; as it is
    where the file cannot be read, which is said where it is needed."""
    kind, _, name = data.source.partition(":")
    if kind != "file" or file_kind(name) not in ("csv", "json"):
        return data
    try:
        found = find_reading(paths.data_file(name), data)
    except (DataError, ValueError):
        return data
    return data.model_copy(update=found.settings())


def open_bytes(path: Path, packed: bool) -> IO[bytes]:
    """The bytes of a file, or of what is packed in it."""
    return cast(IO[bytes], gzip.open(path, "rb")) if packed else path.open("rb")


def _decode(head: bytes, encoding: str) -> str:
    """The beginning of a file as text. What does not fit is said when the file is read."""
    decoder = new_decoder("utf-16-le" if encoding == "utf-16" and not _has_mark(head) else encoding, "replace")
    return decoder.decode(head).removeprefix("\ufeff")


def _has_mark(head: bytes) -> bool:
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@contextlib.contextmanager
def file_faults(path: Path) -> Iterator[None]:
    """Turns what reading the bytes of a file may raise into a DataError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(DAMAGED.format(name=path.name)) from error
    except OSError as error:
        raise DataError(f"“{path.name}” cannot be read: {error.strerror or error}.") from error
