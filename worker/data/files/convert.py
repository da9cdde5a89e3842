"""Writes a data file anew as UTF-8 text, a row in each line, in a process that may be ended
(worker.data.files.reading_process).

`python -m groupwise.worker.data.files.convert SOURCE TARGET HOW` (a FileReading as JSON) prints {"sheets", "sheet",
"rows", "notes"}, or why not.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groupwise.storage.spec.rows.file_format import ENCODING_WORDS
from groupwise.storage.spec.rows.mixed_text import new_decoder
from groupwise.worker.data.files import workbook
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.file_reading import FileReading, file_faults, open_bytes
from groupwise.worker.data.files.reading_process import answer_asker, refuse_full_disk, unpacked_limit

BLOCK = 2**20  # bytes that are read at once
ALWAYS = 256 * 2**20  # bytes that any file may unpack to
ENTRY = 16 * 2**20  # characters: a longer entry of a list is no row of prompts
GAP = set(" \t\r\n,")


def convert(source: Path, target: Path, reading: FileReading) -> dict[str, Any]:
    """Write the text; what was found on the way. Raises DataError."""
    if reading.kind == "sheet":
        return workbook.write_sheet(source, target, reading.sheet, reading.skip_lines, reading.heading)
    text = _decoded(source, target, reading)
    with target.open("w", encoding="utf-8", newline="") as sink:
        sink.writelines(_entries(text, source.name) if reading.as_list else text)
    return {"sheets": [], "sheet": "", "rows": [], "notes": []}


def _blocks(source: Path, target: Path, packed: bool) -> Iterator[bytes]:
    """The bytes of a file, unpacked, as long as they are in proportion to its size, and the disk has room for them at
    the target. Raises DataError."""
    most, total = unpacked_limit(source.stat().st_size, ALWAYS), 0
    with file_faults(source), open_bytes(source, packed) as file:
        while block := file.read(BLOCK):
            total += len(block)
            if packed and total > most:
                raise DataError(
                    f"{source.name} unpacks to more than {most / 2**20:,.0f} MB, which is out of proportion to its "
                    "size. Unpack it, and look at what is in it."
                )
            refuse_full_disk(target, source)
            yield block


def _decoded(source: Path, target: Path, reading: FileReading) -> Iterator[str]:
    """The text of a file, piece by piece. Raises DataError, at the encoding, for bytes that it does not have."""
    decoder = new_decoder(reading.encoding)
    lines, first = 1, True
    for block in _with_end(_blocks(source, target, reading.packed)):
        try:
            text = decoder.decode(block or b"", final=block is None)
        except UnicodeError as error:  # UTF-16 without its mark is one without a place
            before = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line = lines + before.count(b"\n")
            raise DataError(_not_in(source.name, line, reading.encoding), "data.encoding") from error
        lines += text.count("\n")
        yield text.removeprefix("\ufeff") if first else text
        first = first and not text


def _not_in(name: str, line: int, encoding: str) -> str:
    return f"line {line:,} of {name} is not in {ENCODING_WORDS[encoding]}. Choose another encoding."


def _with_end(blocks: Iterator[bytes]) -> Iterator[bytes | None]:
    yield from blocks
    yield None


def _entries(pieces: Iterator[str], name: str) -> Iterator[str]:
    """The entries of a JSON list, each a line, exactly as they are written. Raises DataError."""
    read, text, done, number = json.JSONDecoder().raw_decode, "", False, 0
    while not text.lstrip():
        text = next(pieces, "]")
    at = text.index(text.lstrip()[0]) + 1
    while True:
        while text[at : at + 1] in GAP:
            at += 1
        if text.startswith("]", at):
            return
        try:
            _, end = read(text, at)
            if end == len(text) and not done:
                raise ValueError  # a number may go on
        except RecursionError as error:
            raise DataError(f"entry {number + 1:,} of {name} is nested too deeply.") from error
        except ValueError as error:
            more = next(pieces, None)
            done = more is None
            if more is None or len(text) - at > ENTRY:
                raise DataError(_wrong_entry(name, number, len(text) - at > ENTRY)) from error
            text, at = text[at:] + more, 0
            continue
        number += 1
        yield " ".join(text[at:end].splitlines()) + "\n"
        at = end


def _wrong_entry(name: str, number: int, long: bool) -> str:
    why = f"is longer than {ENTRY >> 20} MB" if long else "is no whole JSON value, or the list is never closed"
    return f"{name} cannot be read as a JSON list: entry {number + 1:,} {why}."


def main(source: str, target: str, how: str) -> int:
    """Convert, and print what came of it."""
    # What is not known yet, or of no matter here.
    unknown = {**dict.fromkeys(("sheets", "notes", "sheet_rows"), ()), **dict.fromkeys(("doubt", "odd", "mixed"))}
    reading, path = FileReading(**{**json.loads(how), **unknown}), Path(source)
    return answer_asker(path.name, lambda: convert(path, Path(target), reading))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
