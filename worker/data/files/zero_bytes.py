"""What zero bytes in a text file mean, in a sentence: another encoding, a damaged place, a lost end, or no text."""

from collections.abc import Callable
from pathlib import Path

from groupwise.storage.spec.rows.text_kinds import binary_words, is_binary, order_of_utf16
from groupwise.worker.data.files.data_error import DataError

BLOCK = 2**20
AGAIN = "Save or download it again."


def find_utf16(head: bytes, name: str) -> str:
    """UTF-16 without its mark. Raises DataError for zero bytes that are none of it."""
    if b"\0" in head.partition(b"\n")[0] and (found := order_of_utf16(head)):
        return found
    raise DataError(_fault_of(head, name))


def _fault_of(head: bytes, name: str) -> str:
    at = head.index(b"\0")
    line = head.count(b"\n", 0, at) + 1
    if not head.strip(b"\0"):
        return f"{name} holds zero bytes only: its content was lost, as when a disk is full or a copy stops. {AGAIN}"
    if is_binary(head):
        return binary_words(name)
    if not head[at:].strip(b"\0"):
        return (
            f"line {line:,} of {name} and all after it are zero bytes: the end is lost, as when a copy stops. {AGAIN}"
        )
    if line > 1 and order_of_utf16(head[head.rindex(b"\n", 0, at) + 1 :]):
        return (
            f"{name} begins as plain text, and is UTF-16 from line {line:,} on: two files were joined that are written "
            "differently. Save both as UTF-8, and join them again."
        )
    damaged = sum(b"\0" in each for each in head.split(b"\n"))
    return damaged_line(name, line) if damaged == 1 else _damaged_lines(name, line)


def damaged_line(name: str, line: int) -> str:
    """What to say of a line of text that has a zero byte."""
    return (
        f"line {line:,} of {name} has a zero byte (NUL), which no text has: the file is damaged there. Save or "
        "download it again, or delete that character in an editor."
    )


def _damaged_lines(name: str, first: int) -> str:
    return (
        f"line {first:,} of {name} and others after it have zero bytes (NUL), which no text has: the file is damaged "
        "there. Save or download it again, or delete those characters in an editor."
    )


def refuse_zero_bytes(path: Path, going_on: Callable[[], bool] = lambda: True) -> None:
    """Raises DataError for the first line of a text in UTF-8 that has a zero byte, as far as is looked (`going_on`)."""
    lines = 0
    with path.open("rb") as file:
        while going_on() and (block := file.read(BLOCK)):
            if b"\0" in block:
                raise DataError(damaged_line(path.name, lines + block.count(b"\n", 0, block.index(b"\0")) + 1))
            lines += block.count(b"\n")
