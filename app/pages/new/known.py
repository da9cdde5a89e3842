"""What a page has found out of a run's data (its preview and data checks), taken only for the data it is about: a count
of another source than the one that is shown is none."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from groupwise.storage.checks.reward_columns import source_kind_and_name
from groupwise.storage.registry.messages.data_checks import EXAMPLE
from groupwise.storage.spec.spec import DataSpec

# What is made of the rows there are: all else decides which those are, and what stands in them.
MADE_OF_ROWS = {
    "filter", "shuffle", "limit", "holdout", "system_prompt", "examples", "prompt_template", "prompt_column",
    "answer_column", "answer_pattern", "answer_numbers", "columns",
}  # fmt: skip
MOST_COLUMNS, LONGEST_NAME = 1000, 200
# What is said before a row's prompt: how many rows there are has nothing to do with it.
BEFORE_A_PROMPT = {"system_prompt", "examples"}
NO_ROWS = "No row is left to train on."


@dataclass(frozen=True)
class Known:
    """Each is None while it is not known. `rows`: as they were counted, before `limit` and `holdout`; `prompt_tokens`:
    of the longest prompt; `sums`: whether every prompt is one of the sums that the starter knows; `unreadable`: whether
    the data cannot be read as it is set; `point`: an answer with a decimal point, where the prompts have a comma;
    `tags`: those in the prompts; `empty`: the columns that hold nothing in the rows that were read first."""

    rows: int | None = None
    prompt_tokens: int | None = None
    columns: list[str] | None = None
    sums: bool = False
    unreadable: bool = False
    point: str = ""
    tags: list[str] | None = None
    empty: list[str] | None = None


def known_of(sent: Any, data: DataSpec) -> Known:
    """What of that which a page sent is about this data: {source, columns, empty, unreadable, rows_of, rows_read,
    rows, prompt_tokens, sums, point, tags}, where `source` and `rows_of` are the keys of what was asked about: what was
    counted under another limit, say, is no answer. `rows_read`, those there are, says nothing of how many a filter
    keeps; `rows` is what the check of all of them counted. A Known is about it already."""
    if isinstance(sent, Known):
        return sent
    if not isinstance(sent, dict) or sent.get("source") != source_key(data):
        return Known()
    columns, unreadable = _names(sent.get("columns")), sent.get("unreadable") is True
    empty = _names(sent.get("empty"))
    if sent.get("rows_of") != rows_key(data):
        return Known(columns=columns, unreadable=unreadable, empty=empty)
    rows = _count(sent.get("rows"))
    if rows is None and not data.filter:
        rows = _count(sent.get("rows_read"))
    point = str(sent.get("point") or "")[:EXAMPLE]
    tokens, tags = _count(sent.get("prompt_tokens")), _names(sent.get("tags"))
    return Known(rows, tokens, columns, sent.get("sums") is True, unreadable, point, tags, empty)


def is_chosen(data: DataSpec) -> bool:
    """Whether a source is named, and not only its kind."""
    return bool(source_kind_and_name(data)[1].strip())


def source_key(data: DataSpec) -> str:
    """Which rows there are, in a few characters."""
    return short_hash(data.model_dump(exclude=MADE_OF_ROWS))


def rows_key(data: DataSpec) -> str:
    """Which of them are used, and for what: whatever a count of them depends on."""
    return short_hash(data.model_dump(exclude=BEFORE_A_PROMPT))


def short_hash(settings: dict[str, Any]) -> str:
    """Sixteen characters that differ where the settings do."""
    return hashlib.sha256(json.dumps(settings, default=str).encode()).hexdigest()[:16]


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**53 else None


def _names(sent: Any) -> list[str] | None:
    if not isinstance(sent, list):
        return None
    return [name[:LONGEST_NAME] for name in sent[:MOST_COLUMNS] if isinstance(name, str)] or None
