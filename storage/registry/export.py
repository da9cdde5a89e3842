"""A run's completions, flat: one row each, the same columns for all, in slices that fit in memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from groupwise.storage.record import find
from groupwise.storage.record.find import Wanted
from groupwise.storage.registry import notes

SLICE = 200  # rows in memory at once
SECONDS = 60.0  # for reading texts: someone waits for a file, not for a page

# Name → what it holds. “json”: messages, or a row's columns, which only JSONL can nest.
FIRST = {
    "run": "text", "attempt": "whole", "mode": "text", "step": "whole", "group": "whole", "index": "whole",
    "prompt": "json", "columns": "json", "completion": "text", "tokens": "whole", "truncated": "truth",
    "reward": "number", "advantage": "number",
}  # fmt: skip
LAST = {"extra": "json", "starred": "truth", "note": "text"}


class TooSlow(Exception):
    """Reading every text took longer than the time for it; the message says what helps."""


def columns(functions: Sequence[str]) -> dict[str, str]:
    """The columns of an export, in order, with what they hold: two for each reward function."""
    scores = {
        f"{kind}/{name}": holds for name in functions for kind, holds in (("score", "number"), ("status", "text"))
    }
    return {**FIRST, **scores, **LAST}


def ids(path: Path, wanted: Wanted, sort: str) -> array[int]:
    """Which completions to export, in order: 8 bytes each. Raises TooSlow and find_text.BadPattern."""
    found = find.search_completions(path, wanted, most=2**62, seconds=SECONDS)
    if not found.is_whole:
        raise TooSlow(
            f"In {SECONDS:.0f} s, {found.looked:,} of {found.of:,} completions were searched, so "
            "nothing was exported. Choose a narrower range of steps."
        )
    return array("q", (hit[0] for hit in find.sort_hits(found.hits, sort)))


def slices(run_id: str, path: Path, chosen: Sequence[int], functions: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """The rows, some at a time; the record is open only while each slice is read."""
    said = {(note.grp, note.idx): note for note in notes.of_run(run_id)}
    for start in range(0, len(chosen), SLICE):
        rows = find.rows(path, list(chosen[start : start + SLICE]))
        yield [_flat(run_id, row, functions, said.get((row["grp"], row["idx"]))) for row in rows]


def _flat(run_id: str, row: dict[str, Any], functions: Sequence[str], note: notes.Note | None) -> dict[str, Any]:
    flat = {
        "run": run_id, "attempt": row["attempt"], "mode": row["mode"], "step": row["step"], "group": row["grp"],
        "index": row["idx"], "prompt": row["prompt"], "columns": row["columns"], "completion": row["text"],
        "tokens": row["tokens"], "truncated": bool(row["truncated"]), "reward": _finite(row["reward"]),
        "advantage": _finite(row["advantage"]),
    }  # fmt: skip
    for name in functions:
        value, status = row["scores"].get(name, (None, "absent"))
        flat |= {f"score/{name}": _finite(value), f"status/{name}": status}
    starred, words = (note.starred, note.words) if note is not None else (False, "")
    return {**flat, "extra": row["extra"], "starred": starred, "note": words}


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity."""
    return value if value is not None and math.isfinite(value) else None
