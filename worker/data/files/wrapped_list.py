"""JSON whose rows are a list under a key of one object, {"data": [{…}, {…}]}, told from a row that holds one. Pure."""

import json
import re
from typing import Any

from groupwise.storage.spec.rows.column_names import CHATS
from groupwise.storage.spec.rows.file_format import data_suffix
from groupwise.worker.data.files.data_error import DataError

USUAL = ("data", "rows", "examples", "items", "records", "samples", "entries", "train")
BEGINS = re.compile(r'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*\[\s*\{')


def refuse_wrapped(name: str, head: str, *, whole: bool) -> None:
    """Raises DataError where a .json file begins so. `whole`: `head` is all of it."""
    if data_suffix(name).removesuffix(".gz") != ".json":
        return
    key = key_of_rows(head, whole=whole)
    if key is not None:
        message = f"{name} is one object, with its rows in a list under “{key[:80]}”. Save that list alone as a file."
        raise DataError(message)


def key_of_rows(head: str, *, whole: bool) -> str | None:
    """The key that holds the rows; None where the text is no such object, or may be a row of its own."""
    if whole:
        try:
            found = json.loads(head)
        except (ValueError, RecursionError):
            return None
        return _key_in(found) if isinstance(found, dict) else None
    begins = BEGINS.match(head)
    if begins is None or begins[1] in CHATS or _ends_in_line(head):
        return None
    return begins[1]


def _ends_in_line(head: str) -> bool:
    """Whether the first line is a whole row."""
    first, end, _ = head.lstrip().partition("\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(end)


def _key_in(found: dict[str, Any]) -> str | None:
    keys = [key for key, value in found.items() if _holds_rows(value)]
    if len(keys) != 1 or keys[0] in CHATS:
        return None
    return keys[0] if len(found) == 1 or keys[0].lower() in USUAL else None


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
