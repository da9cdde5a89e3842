"""How a data file gets into the home: under a plain name, never over another one, and whole or not at all."""

import filecmp
import os
import re
import secrets
import shutil
import unicodedata
from itertools import count
from pathlib import Path

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.file_format import data_suffix

MEGABYTE = 1024 * 1024
MAX_FILE = 100 * MEGABYTE  # one uploaded file
UNFIT = re.compile(rf"[^\w{paths.SIGNS} .-]+")
BRACKETS = re.compile(r"[()\[\]{}]")  # of a second download: sums (1).csv
NOT_FIRST = re.compile(r"^[\W_]+")
MOST_LETTERS, MOST_BYTES = 100, 200  # of a name without its ending


def copy_into_home(source: Path, name: str = "") -> tuple[Path, bool]:
    """The file in the home's data folder that has this one's content, and whether it was made for it. `name`: what it
    is called, if not as its path says.

    Found by its name: where that is taken by other content, name-2, name-3, … are tried. Copied under a hidden name
    first: no reader sees half a file, and a full disk (OSError) leaves none.
    """
    stem, suffix = _parts_of(name or source.name)
    draft = paths.data_folder() / f".draft-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        draft.touch(mode=0o600, exist_ok=False)
        shutil.copyfile(source, draft)
        for number in count(1):
            target = paths.data_file(f"{stem}{'' if number == 1 else f'-{number}'}{suffix}")
            if target.is_file() and filecmp.cmp(draft, target, shallow=False):
                return target, False
            if _claim_name(target):
                return _move_into_place(draft, target), True
    finally:
        draft.unlink(missing_ok=True)
    raise AssertionError("there is always a next number")


def name_in_home(name: str) -> str:
    """What a file of this name is called in the home, where no other has its name."""
    return "".join(_parts_of(name))


def why_renamed(name: str) -> str:
    """Why a file of this name is called otherwise in the home."""
    stem = name[: len(name) - len(data_suffix(name) or Path(name).suffix)]
    if len(stem) > MOST_LETTERS or len(stem.encode()) > MOST_BYTES:
        return f"its name has {len(name)} characters, more than fit here"
    return "its name has characters that names here cannot have"


def _parts_of(name: str) -> tuple[str, str]:
    """The stem and the ending of a name, as the home can hold them."""
    suffix = data_suffix(name) or UNFIT.sub("-", Path(name).suffix.lower())
    return _plain_name(name[: len(name) - len(suffix)]) or "data", suffix


def _plain_name(name: str) -> str:
    """A name with its letters, of whatever language, and without what a file of the home cannot be called by."""
    plain = NOT_FIRST.sub("", UNFIT.sub("-", BRACKETS.sub("", unicodedata.normalize("NFC", name))))[:MOST_LETTERS]
    return plain.encode()[:MOST_BYTES].decode(errors="ignore").rstrip(" ._-")


def _move_into_place(draft: Path, target: Path) -> Path:
    try:
        return draft.replace(target)
    except OSError:
        target.unlink(missing_ok=True)  # the empty file that held the name
        raise


def _claim_name(target: Path) -> bool:
    """Take a name, unless someone has it."""
    try:
        target.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True
