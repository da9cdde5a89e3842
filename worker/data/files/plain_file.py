"""A data file as UTF-8 text, a row in each line: the file itself, or what is made of it once, in `datasets`' cache.

A workbook, packed text, a JSON list and text in another encoding are written anew by a process that may be ended
(worker.data.files.convert).
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import datasets

from groupwise.storage.home import files
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.reading_process import ask_process, file_mark, new_draft

LONGEST = 600.0  # seconds in which any file is converted
FORM = 3  # of what is written: what an older form lacks is written anew
ABOUT = "about.json"  # what was found on the way, beside the text


def make_plain(path: Path, reading: FileReading) -> tuple[Path, FileReading]:
    """Where the text of a file is, and how the file is read, with what only opening it could tell. Raises DataError."""
    if not reading.converts():
        return path, reading
    folder = _cache_folder(path, reading)
    if not (folder / ABOUT).exists():
        how = json.dumps(dataclasses.asdict(dataclasses.replace(reading, doubt=None, odd=None, mixed=None)))
        with new_draft(folder.parent) as draft:
            draft.mkdir()
            target = str(draft / _text_name(path))
            files.write_json(draft / ABOUT, ask_process("convert", path, target, how, seconds=LONGEST))
            _move(draft, folder)
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    more: dict[str, Any] = {"sheets": tuple(about["sheets"]), "sheet": about["sheet"], "notes": tuple(about["notes"])}
    more["sheet_rows"] = tuple((row, number) for row, number in about["rows"])
    return folder / _text_name(path), dataclasses.replace(reading, **more)


def _text_name(path: Path) -> str:
    """The name under which it is spoken of. pandas would unpack what ends in .gz."""
    return path.name.removesuffix(".gz").removesuffix(".GZ")


def _cache_folder(path: Path, reading: FileReading) -> Path:
    """Where the text of this file, as it is now and read so, is kept. How its cells are separated changes nothing."""
    how = (reading.kind, reading.encoding, reading.sheet, reading.packed, reading.as_list)
    skipped = (reading.skip_lines, reading.heading) if reading.kind == "sheet" else ()
    return Path(datasets.config.HF_DATASETS_CACHE) / "groupwise" / file_mark(path, FORM, how, skipped)


def _move(draft: Path, folder: Path) -> None:
    try:
        draft.rename(folder)
    except OSError:
        if not (folder / ABOUT).exists():  # else another process was as quick, with the same text
            raise
