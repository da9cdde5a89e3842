"""An answer of a chat, pasted as a whole: the settings stand between its fences (```), and what is said around them
goes with those by one click."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.yaml.line_above import PARTS
from groupwise.storage.spec.yaml.plain_rows import rows_outside_text
from groupwise.storage.spec.yaml.repairs import Repair

AROUND = "the text around the ``` lines is not a setting."
LABEL = "Keep only what is between the ``` lines"
FENCE = re.compile(r"\s*(?:```+|~~~+)\s*[\w-]*\s*")
_PART = re.compile(rf"\s*[\"']?(?:{'|'.join(PARTS)})[\"']?\s*:|\s*\{{")


def chat_around(rows: list[str]) -> Iterator[Repair]:
    """The rows without what stands outside of the fences, where something does and none of it is a part of a spec."""
    fences = [row for row in rows_outside_text(rows) if FENCE.fullmatch(rows[row])]
    begins, ends = [0, *(row + 1 for row in fences)], [*fences, len(rows)]
    specs = [(begin, end) for begin, end in zip(begins, ends, strict=True) if any(map(_PART.match, rows[begin:end]))]
    if not fences or len(specs) != 1:
        return
    [(first, last)] = specs
    around = [row for row in (*range(first), *range(last, len(rows))) if rows[row].strip() and row not in fences]
    if around:
        blank = [rows[row] if first <= row < last else "" for row in range(len(rows))]
        yield Repair(0, blank, LABEL, AROUND, put="\n".join(rows[first:last]), here=True)
