"""The rows that completions are about: which ones, the prompt that each becomes, and the columns that rewards get."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

from groupwise.storage.home.redaction import to_json
from groupwise.storage.spec import row_filter
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import data, preview, preview_source, tokens
from groupwise.worker.data.data_error import DataError
from groupwise.worker.questions.workbench.request import Refused, whole

MOST = 64  # rows in one question
FARTHEST = 10**12
LOOKED_AT = 20_000  # rows that are looked through for some that the filter keeps


@dataclass(frozen=True)
class Row:
    """One row: `prompt` is text or messages, `columns` what the rewards get beside it, as JSON can say it."""

    index: int | None
    prompt: Any
    columns: dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """The parts of a spec that a question is about. `training`: the settings of the first stage."""

    data: DataSpec
    model: ModelSpec
    training: dict[str, Any]


def asked(payload: dict[str, Any]) -> Asked:
    """The spec of a question, as far as it matters here. Raises Refused and DataError."""
    spec = payload.get("spec")
    if not isinstance(spec, dict):
        raise Refused("The spec should be a mapping of settings.", "spec")
    of_data, model = preview.specs({"data": spec.get("data") or {}, "model": spec.get("model")})
    training = spec.get("training") or {}
    stages = spec.get("stages") or []
    first = stages[0] if isinstance(stages, list) and stages and isinstance(stages[0], dict) else {}
    changed = first.get("training") or {}
    if not isinstance(training, dict) or not isinstance(changed, dict):
        raise Refused("The training settings should be a mapping.", "training")
    return Asked(of_data, model, {**training, **changed})


def chosen(payload: dict[str, Any]) -> int | list[int]:
    """How many rows, or which ones. Raises Refused."""
    rows = payload.get("rows", 4)
    if isinstance(rows, list):
        if not 1 <= len(rows) <= MOST:
            raise Refused(f"Choose from 1 to {MOST} rows.", "rows")
        return [whole(row, "rows", "A row's number", least=0, most=FARTHEST) for row in rows]
    return whole(rows, "rows", "How many rows", least=1, most=MOST)


def found(parts: Asked, wanted: int | list[int]) -> list[Row]:
    """The rows: those of these numbers (as the preview counts them), or the first that the filter keeps. Raises
    DataError."""
    table = preview_source.table_of(parts.data)
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
    keep = [row_filter.parse(written) for written in spec.filter]
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
