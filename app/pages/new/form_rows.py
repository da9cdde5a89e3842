"""Settings that the form shows as rows: conditions on the data as (column, operator, value), stages with their training
settings as text, and where a spec has reward functions. Pure."""

from collections.abc import Iterator
from typing import Any

from groupwise.app.pages.new import yaml_edit
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.yaml import yaml_text

Row = dict[str, Any]
MOST = 64  # rows taken from a page


def condition_rows(listed: Any) -> list[Row]:
    """The conditions of a spec for the builder; one that cannot be read stands as the value of a row of its own."""
    return [_condition_row(str(written)) for written in (listed if isinstance(listed, list) else [])]


def _condition_row(written: str) -> Row:
    try:
        column, operator, value = row_filter.to_form(row_filter.parse_condition(written))
    except row_filter.ConditionError:
        return {"column": "", "operator": "", "value": written}
    return {"column": column, "operator": operator, "value": value}


def conditions_of(rows: Any) -> list[str]:
    """What the builder's rows mean; what is not finished is kept as it is written, for the check to name."""
    return [_condition(row) for row in (rows if isinstance(rows, list) else [])[:MOST] if isinstance(row, dict)]


def _condition(row: Row) -> str:
    column, operator, value = (str(row.get(name) or "")[:1000] for name in ("column", "operator", "value"))
    try:
        return str(row_filter.from_form(column, operator, value))
    except row_filter.ConditionError:
        return " ".join(part for part in (column, operator, value) if part)


def reward_places(raw: Any) -> Iterator[tuple[str, Row]]:
    """(path, settings) of each reward function of a spec's plain values: “rewards.0”, “stages.1.rewards.0”."""
    yield from _rewards_at(raw, "rewards")
    for path, stage in _stages(raw):
        yield from _rewards_at(stage, f"{path}.rewards")


def stage_settings(raw: Any) -> Iterator[tuple[str, str]]:
    """(path, the run's setting that it is in place of) of each training setting that a stage has of its own:
    “stages.1.training.beta”, “training.beta”."""
    for path, stage in _stages(raw):
        training = stage.get("training") if isinstance(stage, dict) else None
        for name in training if isinstance(training, dict) else ():
            yield f"{path}.training.{name}", f"training.{name}"


def _stages(raw: Any) -> Iterator[tuple[str, Any]]:
    stages = raw.get("stages") if isinstance(raw, dict) else None
    for number, stage in enumerate(stages if isinstance(stages, list) else []):
        yield f"stages.{number}", stage


def _rewards_at(part: Any, path: str) -> Iterator[tuple[str, Row]]:
    listed = part.get("rewards") if isinstance(part, dict) else None
    for number, reward in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(reward, dict):
            yield f"{path}.{number}", reward


def stage_rows(listed: Any) -> list[Row]:
    """The stages of a spec for the form: name, rewards (None: the run's), and the training settings as YAML text."""
    stages = listed if isinstance(listed, list) else []
    return [_stage_row(stage if isinstance(stage, dict) else {}) for stage in stages]


def _stage_row(stage: Row) -> Row:
    rewards = stage.get("rewards")
    return {
        "name": stage.get("name"),
        "rewards": rewards if isinstance(rewards, list) else None,
        "training_text": _as_text(stage.get("training")),
    }


def _as_text(training: Any) -> str:
    if isinstance(training, dict):
        return yaml_text.dump(training) if training else ""
    return "" if training is None else str(training)


def training_of(written: str) -> Any:
    """What a stage's training settings mean as they are typed; what cannot be read stays text, for the check to
    name."""
    words = written[:20_000]
    settings = yaml_edit.load(words) if words.strip() else {}
    return words if settings is None else settings
