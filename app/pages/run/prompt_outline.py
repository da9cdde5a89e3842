"""A prompt as one line of the Statistics' table. Pure."""

from collections.abc import Mapping
from typing import Any

from groupwise.app.core import format
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.statistics.pass_at_k import PromptRate

LONGEST = 90  # characters of a prompt
MOST = 2  # columns that tell rows with the same prompt apart
SHOWN = 20  # characters of a column's value


def outline(row: PromptRate, prompt: Any, cells: list[float | None], apart: str = "") -> dict[str, Any]:
    """`apart`: what tells it from others with the same words; `cells`: its solve rate in each stretch of steps."""
    return {
        "prompt": row.prompt, "text": visible_text(format.shorten(format.message_text(prompt), LONGEST)),
        "cells": cells, "groups": row.groups, "rate": row.rate, "early": row.early, "late": row.late, "apart": apart,
    }  # fmt: skip


def columns_apart(prompts: Mapping[int, Any], columns: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """Of each of the prompts whose words others have, too, by id: the columns in which their rows differ, “stufe 3”."""
    same: dict[str, list[int]] = {}
    for number, prompt in prompts.items():
        same.setdefault(format.message_text(prompt), []).append(number)
    return {
        number: _in_words(columns.get(number, {}), _differing([columns.get(one, {}) for one in numbers]))
        for numbers in same.values()
        if len(numbers) > 1
        for number in numbers
    }


def _differing(rows: list[Mapping[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [name for name in names if len({str(row.get(name)) for row in rows}) > 1]


def _in_words(row: Mapping[str, Any], names: list[str]) -> str:
    told = [f"{format.shorten(name, SHOWN)} {format.shorten(str(row.get(name, '')), SHOWN)}" for name in names[:MOST]]
    return visible_text(", ".join(told))
