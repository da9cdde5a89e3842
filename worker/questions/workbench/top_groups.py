"""The groups that a re-scoring changes most, with their completions, both ways."""

from typing import Any

from groupwise.storage.registry.messages.rescore import CELL, MOST_TEXT, SHOWN_GROUPS, TEXT
from groupwise.worker.data import mapping
from groupwise.worker.questions.workbench import analysis, compare
from groupwise.worker.questions.workbench.history import Record


def describe_groups(record: Record, weighed: Any) -> list[dict[str, Any]]:
    """[{group, step, change, prompt, columns, completions: [{index, text, tokens, old, new: {scores, total,
    advantage}}]}], the most changed first. `change`: the mean absolute change of its advantages."""
    listed = compare.most_changed(weighed.old_advantages, weighed.new_advantages, weighed.starts, SHOWN_GROUPS)
    found, left = [], MOST_TEXT
    for number, change in listed:
        group = _describe_group(record, weighed, number, change)
        left -= sum(len(one["text"]) for one in group["completions"])
        if left < 0:
            break
        found.append(group)
    return found


def _describe_group(record: Record, weighed: Any, number: int, change: float) -> dict[str, Any]:
    group = weighed.groups[number]
    prompt, columns = record.prompt(group.prompt_id)
    completions = [
        {
            "index": index, "text": mapping.shorten_cell(text, TEXT), "tokens": tokens,
            "old": _row_of(weighed.names, weighed.old_scores, weighed.old, weighed.old_advantages, group.first + index),
            "new": _row_of(weighed.names, weighed.scores, weighed.new, weighed.new_advantages, group.first + index),
        }
        for _, index, text, tokens, _, _ in record.completions([group])
    ]  # fmt: skip
    return {
        "group": group.id,
        "step": group.step,
        "change": change,
        "prompt": _shorten_prompt(prompt),
        "columns": {name: mapping.shorten_cell(value, CELL) for name, value in columns.items()},
        "completions": completions,
    }


def _shorten_prompt(prompt: Any) -> Any:
    if isinstance(prompt, str):
        return mapping.shorten_cell(prompt, TEXT)
    return [{**message, "content": mapping.shorten_cell(message.get("content"), TEXT)} for message in prompt]


def _row_of(names: list[str], scores: Any, totals: Any, advantages: Any, row: int) -> dict[str, Any]:
    return {
        "scores": {name: analysis.json_number(scores[row, k]) for k, name in enumerate(names)},
        "total": analysis.json_number(totals[row]), "advantage": float(advantages[row]),
    }  # fmt: skip
