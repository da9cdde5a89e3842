"""Writes a data file anew as UTF-8 text, a row in each line, in a process that may be ended.

`python -m groupwise.worker.data.convert SOURCE TARGET HOW` (a FileReading as JSON) prints {"sheets", "sheet", "rows",
"notes"},
or {"error", "field"}: why not.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from groupwise.storage.home import disk
from groupwise.storage.home.process import go_with
from groupwise.storage.spec.file_format import ENCODING_WORDS
from groupwise.storage.spec.mixed_text import new_decoder
from groupwise.worker.data import workbook
from groupwise.worker.data.data_error import DataError
from groupwise.worker.data.file_reading import FileReading, file_faults, open_bytes

MEMORY = 4 * 2**30  # bytes of address space
BLOCK = 2**20  # bytes that are read at once
ALWAYS = 256 * 2**20  # bytes that any file may unpack to
TIMES = 50  # of its own size that a larger one may
MOST = 64 * 2**30
ENTRY = 16 * 2**20  # characters: a longer entry of a list is no row of prompts
GAP = " \t\r\n,"


def convert(source: Path, target: Path, reading: FileReading) -> dict[str, Any]:
    """Write the text; what was found on the way. Raises DataError."""
    if reading.kind == "sheet":
        return workbook.write_sheet(source, target, reading.sheet, reading.skip_lines, reading.heading)
    text = _decoded(source, reading)
    with target.open("w", encoding="utf-8", newline="") as sink:
        for piece in _entries(text, source.name) if reading.as_list else text:
            sink.write(piece)
            _refuse_full_disk(sink, source)
    return {"sheets": [], "sheet": "", "rows": [], "notes": []}


def _refuse_full_disk(sink: IO[str], source: Path) -> None:
    if disk.lacks(Path(sink.name).parent, disk.TO_BEGIN):
        raise DataError(f"the disk has no room for what {source.name} unpacks to. Free some space.")


def _blocks(source: Path, packed: bool) -> Iterator[bytes]:
    """The bytes of a file, unpacked, as long as they are in proportion to its size. Raises DataError."""
    most, total = unpacked_text_limit(source.stat().st_size), 0
    with file_faults(source), open_bytes(source, packed) as file:
        while block := file.read(BLOCK):
            total += len(block)
            if packed and total > most:
                raise DataError(
                    f"{source.name} unpacks to more than {most / 2**20:,.0f} MB, which is out of proportion to its "
                    "size. Unpack it, and look at what is in it."
                )
            yield block


def unpacked_text_limit(size: int) -> int:
    """Bytes that a packed text of this size may unpack to."""
    return min(max(ALWAYS, TIMES * size), MOST)


def _decoded(source: Path, reading: FileReading) -> Iterator[str]:
    """The text of a file, piece by piece. Raises DataError, at the encoding, for bytes that it does not have."""
    decoder = new_decoder(reading.encoding)
    lines, first = 1, True
    for block in _with_end(_blocks(source, reading.packed)):
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
    text = text.lstrip()[1:]
    while True:
        text = text.lstrip(GAP)
        if text.startswith("]"):
            return
        try:
            _, end = read(text)
            if end == len(text) and not done:
                raise ValueError  # a number may go on
        except RecursionError as error:
            raise DataError(f"entry {number + 1:,} of {name} is nested too deeply.") from error
        except ValueError as error:
            more = next(pieces, None)
            done = more is None
            if more is None or len(text) > ENTRY:
                raise DataError(_wrong_entry(name, number, len(text) > ENTRY)) from error
            text += more
            continue
        number += 1
        yield " ".join(text[:end].splitlines()) + "\n"
        text = text[end:]


def _wrong_entry(name: str, number: int, long: bool) -> str:
    why = f"is longer than {ENTRY >> 20} MB" if long else "is no whole JSON value, or the list is never closed"
    return f"{name} cannot be read as a JSON list: entry {number + 1:,} {why}."


def main(source: str, target: str, how: str) -> int:
    """Convert within bounds of memory, and print what came of it."""
    go_with(os.getppid(), signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    said = json.loads(how)
    reading = FileReading(**{**said, "sheets": (), "notes": (), "sheet_rows": (), "doubt": None, "odd": None})
    try:
        found = convert(Path(source), Path(target), reading)
    except DataError as error:
        found = {"error": str(error), "field": error.field}
    except MemoryError:
        found = {"error": f"{Path(source).name} finds no room in {MEMORY >> 30} GB of memory. Make it smaller.",
                 "field": "data.source"}  # fmt: skip
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
