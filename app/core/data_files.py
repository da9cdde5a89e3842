"""How a data file gets into the home: under a plain name, never over another one, and whole or not at all."""

import filecmp
import os
import re
import secrets
import shutil
from itertools import count
from pathlib import Path

from groupwise.storage.home import paths

MEGABYTE = 1024 * 1024
MAX_FILE = 100 * MEGABYTE  # one uploaded file
UNFIT = re.compile(r"[^A-Za-z0-9 ._-]+")


def copy_into_home(source: Path) -> tuple[Path, bool]:
    """The file in the home's data folder that has this one's content, and whether it was made for it.

    Found by its name: where that is taken by other content, name-2, name-3, … are tried. Copied under a hidden name
    first: no reader sees half a file, and a full disk (OSError) leaves none.
    """
    stem = UNFIT.sub("-", source.stem).strip(" ._-")[:100] or "data"
    suffix = UNFIT.sub("-", source.suffix.lower())
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
