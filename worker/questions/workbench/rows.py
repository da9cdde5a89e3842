"""The rows that completions are about: which ones, the prompt that each becomes, and the columns that rewards get."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

from groupwise.storage.home.redaction import to_json
from groupwise.storage.registry.messages.completions import SpecPart
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import data, preview, preview_source, tokens
from groupwise.worker.data.files.data_error import DataError

LOOKED_AT = 20_000  # rows that are looked through for some that the filter keeps


@dataclass(frozen=True)
class Row:
    """One row: `prompt` is text or messages, `columns` what the rewards get beside it, as JSON can say it."""

    index: int | None
    prompt: Any
    columns: dict[str, Any]


def find_rows(parts: SpecPart, wanted: int | list[int]) -> list[Row]:
    """The rows: those of these numbers (as the preview counts them), or the first that the filter keeps. Raises
    DataError."""
    table = preview_source.table_of(parts.data)
    preview.refuse_all_empty(table, list(itertools.islice(table.rows(), preview.FIRST)), parts.data)
    data.check_pattern(parts.data)
    data.check_columns(parts.data, table.columns)
    chat = _chats(parts.model)
    columns = data.given_to_rewards(parts.data, table.columns)
    if isinstance(wanted, list):
        rows = [(index, table.row(index)[0]) for index in wanted]
    else:
        rows = _first(parts.data, table, wanted)
    return [_row(index, row, parts.data, chat, columns) for index, row in rows]


def _first(spec: DataSpec, table: Any, count: int) -> list[tuple[int, dict[str, Any]]]:
    keep = [row_filter.parse_condition(written) for written in spec.filter]
    looked = itertools.islice(enumerate(table.rows()), LOOKED_AT)
    kept = list(itertools.islice(((index, row) for index, row in looked if data.keeps(row, keep)), count))
    if not kept:
        message = f"The filter keeps none of the first {LOOKED_AT:,} rows." if keep else "There are no rows."
        raise DataError(message, "data.filter" if keep else "data.source")
    return kept


def _row(index: int, row: dict[str, Any], spec: DataSpec, chat: bool, columns: list[str]) -> Row:
    shaped = {**row, **data.shape(row, spec, chat)}
    kept = {name: shaped.get(name) for name in columns}
    prompt, given = json.loads(to_json([shaped["prompt"], kept]))
    return Row(index, prompt, given)


def _chats(model: ModelSpec) -> bool:
    """Whether prompts are messages; so they are taken where the tokenizer is not to be had."""
    try:
        return tokens.reader(model).chat
    except DataError:
        return True
