"""Settings that the form shows as rows: conditions on the data as (column, operator, value), stages with their training
settings as text. Both ways, and pure."""

from __future__ import annotations

from typing import Any

from app.configure import yaml_edit
from storage import conditions

Row = dict[str, Any]
MOST = 64  # rows taken from a page


def condition_rows(listed: Any) -> list[Row]:
    """The conditions of a spec for the builder; one that cannot be read stands as the value of a row of its own."""
    return [_condition_row(str(written)) for written in (listed if isinstance(listed, list) else [])]


def _condition_row(written: str) -> Row:
    try:
        column, operator, value = conditions.to_form(conditions.parse(written))
    except conditions.ConditionError:
        return {"column": "", "operator": "", "value": written}
    return {"column": column, "operator": operator, "value": value}


def conditions_of(rows: Any) -> list[str]:
    """What the builder's rows mean; what is not finished is kept as it is written, for the check to name."""
    return [_condition(row) for row in (rows if isinstance(rows, list) else [])[:MOST] if isinstance(row, dict)]


def _condition(row: Row) -> str:
    column, operator, value = (str(row.get(name) or "")[:1000] for name in ("column", "operator", "value"))
    try:
        return str(conditions.from_form(column, operator, value))
    except conditions.ConditionError:
        return " ".join(part for part in (column, operator, value) if part)


def stage_rows(listed: Any) -> list[Row]:
    """The stages of a spec for the form: name, rewards, and the training settings as YAML text."""
    return [
        {
            "name": stage.get("name"),
            "rewards": stage.get("rewards") if isinstance(stage.get("rewards"), list) else None,
            "training_text": _as_text(stage.get("training")),
        }
        for stage in (listed if isinstance(listed, list) else [])
        if isinstance(stage, dict)
    ]


def _as_text(training: Any) -> str:
    if isinstance(training, dict):
        return yaml_edit.dump(training) if training else ""
    return "" if training is None else str(training)


def stages_of(rows: Any) -> list[Row]:
    """What the form's stages mean; settings that cannot be read stay text, for the check to name."""
    return [_stage(row) for row in (rows if isinstance(rows, list) else [])[:MOST] if isinstance(row, dict)]


def _stage(row: Row) -> Row:
    name, rewards = row.get("name"), row.get("rewards")
    written = str(row.get("training_text") or "")[:20_000]
    training = yaml_edit.load(written) if written.strip() else {}
    return {
        **({"name": str(name)[:200]} if name else {}),
        **({"rewards": rewards} if isinstance(rewards, list) and rewards else {}),
        "training": written if training is None else training,
    }
