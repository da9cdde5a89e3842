"""Stars and notes on completions, as a page asks for them."""

import sqlite3
from typing import Any

from groupwise.app.ui.live import Payload, Unanswerable, answer, record_of, run_of, whole_number
from groupwise.app.ui.safe_text import escape
from groupwise.storage.record import groups
from groupwise.storage.registry import notes, registry


@answer
def annotate_completion(payload: Payload) -> dict[str, Any]:
    """Star a completion (`group`, `idx`; `star` true or false), or say something of it (`words`). The answer is what
    now stands there."""
    run = run_of(payload)
    group, idx = whole_number(payload, "group", 0), whole_number(payload, "idx", -1)
    if not groups.has_completion(record_of(run), group, idx):
        raise Unanswerable("There is no such completion in this run.")
    star, words = payload.get("star"), payload.get("words")
    try:
        if isinstance(star, bool):
            notes.star(run.id, group, idx, star)
        if isinstance(words, str):
            notes.annotate(run.id, group, idx, words)
        now = notes.of_group(run.id, group).get(idx)
    except (sqlite3.Error, registry.RegistryError) as error:
        raise Unanswerable(f"This could not be saved ({error}). Try it again in a moment.") from error
    return {
        "starred": bool(now and now.starred),
        "words": now.words if now else "",
        "html": escape(now.words if now else ""),
    }
