"""A data file as UTF-8 text, a row in each line: the file itself, or what is made of it once, in `datasets`' cache.

A workbook, packed text, a JSON list and text in another encoding are written anew by a process that may be ended
(worker.data.convert): a few megabytes can mean as many gigabytes as their writer likes.
"""

import dataclasses
import hashlib
import json
import logging
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets

from groupwise.storage.home import files
from groupwise.storage.home.process import child_environment
from groupwise.worker.data.data_error import DataError
from groupwise.worker.data.file_reading import FileReading

log = logging.getLogger("groupwise.data")
LONGEST = 600.0  # seconds in which any file is converted
FORM = 2  # of what is written: what an older form lacks is written anew
ABOUT = "about.json"  # what was found on the way, beside the text


def make_plain(path: Path, reading: FileReading) -> tuple[Path, FileReading]:
    """Where the text of a file is, and how the file is read, with what only opening it could tell. Raises DataError."""
    if not reading.converts():
        return path, reading
    folder = _cache_folder(path, reading)
    if not (folder / ABOUT).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = folder.with_name(f".{os.getpid()}-{secrets.token_hex(4)}")
        draft.mkdir()
        try:
            files.write_json(draft / ABOUT, _convert(path, draft / _text_name(path), reading))
            _move(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    more: dict[str, Any] = {"sheets": tuple(about["sheets"]), "sheet": about["sheet"], "notes": tuple(about["notes"])}
    more["sheet_rows"] = tuple((row, number) for row, number in about["rows"])
    return folder / _text_name(path), dataclasses.replace(reading, **more)


def _text_name(path: Path) -> str:
    """The name under which it is spoken of. pandas would unpack what ends in .gz."""
    return path.name.removesuffix(".gz").removesuffix(".GZ")


def _cache_folder(path: Path, reading: FileReading) -> Path:
    """Where the text of this file, as it is now and read so, is kept. How its cells are separated changes nothing."""
    now = path.stat()
    how = (reading.kind, reading.encoding, reading.sheet, reading.packed, reading.as_list)
    skipped = (reading.skip_lines, reading.heading) if reading.kind == "sheet" else ()
    about = f"{FORM}\0{path.resolve()}\0{now.st_ino}\0{now.st_mtime_ns}\0{now.st_size}\0{how}\0{skipped}"
    name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return Path(datasets.config.HF_DATASETS_CACHE) / "groupwise" / name


def _move(draft: Path, folder: Path) -> None:
    try:
        draft.rename(folder)
    except OSError:
        if not (folder / ABOUT).exists():  # else another process was as quick, with the same text
            raise


def _convert(path: Path, target: Path, reading: FileReading) -> dict[str, Any]:
    """What the process that converts says: sheets, sheet, notes. Raises DataError."""
    how = json.dumps(dataclasses.asdict(dataclasses.replace(reading, doubt=None, odd=None)))
    words = [sys.executable, "-m", "groupwise.worker.data.convert", str(path), str(target), how]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, env=child_environment(), check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"{path.name} was not read in {LONGEST / 60:.0f} minutes. Make it smaller.") from error
    if done.returncode < 0:
        raise DataError(f"{path.name} finds no room in memory: it unpacks to far more than its size. Save it again.")
    if done.returncode:
        log.warning("%s cannot be read: %s", path.name, done.stderr.decode("utf-8", "replace")[-2000:])
        raise DataError(
            f"{path.name} cannot be read: what does that ended with code {done.returncode}. The "
            "file may be damaged: save it again, as .csv if you can."
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        raise DataError(answer["error"], answer["field"])
    return answer
