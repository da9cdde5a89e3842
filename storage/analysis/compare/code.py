"""The reward code that runs scored with: which functions differ between them, and how. Pure, but for the reading."""

import difflib

from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder

MOST_BYTES = 64 * 1024  # of one function's file: the library's own limit
MOST_LINES = 2000
MOST_FILES = 64


def code_by_function(folder: RunFolder) -> dict[str, str]:
    """Name → code of each reward function as it lies in the run's folder; none where that has no code (yet)."""
    if not files.is_folder(folder.rewards):
        return {}
    found = {}
    for path in sorted(folder.rewards.glob("*.py"))[:MOST_FILES]:
        if files.is_file(path) and path.name != "__init__.py":
            with files.open_file(path) as file:
                found[path.stem] = file.read(MOST_BYTES).decode("utf-8", "replace")
    return found


def diff(before: str, after: str) -> list[tuple[str, str]] | None:
    """The unified diff of two texts: each line's kind (“@”, “-”, “+”, “ ”) and its words; None where they are too long
    to be compared here."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return None
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [(line[:1], line if line.startswith("@") else line[1:]) for line in lines]
