"""The rows of a spec's text, looked at without the parser: which of them are settings, and how much a button shows."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.odd_spaces import ODD

SHOWN = 40  # of it on a button
TEXTS = ("system_prompt", "prompt_template")  # in which anything may stand

_OPENS_TEXT = re.compile(rf"[ {ODD}]*\S.*[:-] *[|>][-+0-9]*\s*(?:#.*)?")


def rows_outside_text(rows: list[str]) -> Iterator[int]:
    """The rows but for those of texts that stand below their names (“|”, “>”), in which any space is meant."""
    inside: int | None = None
    for row, line in enumerate(rows):
        column = len(line) - len(line.lstrip(" "))
        if inside is not None and (not line.strip() or column > inside):
            continue
        inside = column if _OPENS_TEXT.fullmatch(line) else None
        yield row


def shorten(words: str) -> str:
    """The beginning of what stands on a button."""
    return words if len(words) <= SHOWN else f"{words[: SHOWN - 1]}…"
