"""How much room a disk has, and how little is too little: the same for who trains, starts runs and shows them."""

import errno
import re
import shutil
from pathlib import Path

MEGABYTE = 2**20
TO_BEGIN = 256 * MEGABYTE  # bytes under which no run is begun
FLOOR = 16 * MEGABYTE  # bytes under which training waits: what a step records, and how a run ended, must find room
# As SQLite, safetensors and torch.save (the last three) say it: none of them passes the system's own error on.
_WORDS = re.compile(
    r"no space left|disk is full|quota exceeded|os error (28|122)\b|"
    r"file write failed|unexpected pos \d+|iostream error",
    re.IGNORECASE,
)


def free_bytes(folder: Path) -> int:
    """Bytes that this user may still write to the disk of a folder. Raises OSError where there is no such folder."""
    return shutil.disk_usage(folder).free


def lacks(folder: Path, needed: int) -> bool:
    """Whether fewer than so many bytes are free there; False where the folder is gone, and nothing can be said."""
    try:
        return free_bytes(folder) < needed
    except OSError:
        return False


def is_full(error: BaseException) -> bool:
    """Whether this is how a full disk, or a used-up quota, shows itself."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return bool(_WORDS.search(str(error)))


def megabytes(size: int) -> str:
    """Bytes in words: 1,234 MB."""
    return f"{size / MEGABYTE:,.0f} MB"
