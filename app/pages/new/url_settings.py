"""Settings that an address asks for on top of those it begins with: `/new?from=RUN&set=training.beta=0.04`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupwise.app.core import field_labels, format, setting_words
from groupwise.app.pages.new import edits, field_values, form, form_rows, yaml_edit
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import DataSpec

MOST, LONGEST = 20, 300  # changes in one address; characters of each
NOT_THERE = "not set"
ADDED = "added, weight 1"  # of a reward function: it was not there before
MODEL, STEPS = "model.id", "training.max_steps"
REWARDS = re.compile(r"(stages\.[0-9]{1,4}\.)?rewards")


@dataclass(frozen=True)
class Change:
    """A setting that an address changed: what a person calls it, what it was and what it is, as a field shows them, and
    its path. With nothing `before`, `after` says what happened."""

    label: str
    before: str
    after: str
    field: str = ""


def change(text: str, asked: object, offer: Offer) -> tuple[str, list[Change], str]:
    """The text with the changes `asked` for (“FIELD=VALUE” each; “FIELD=” removes) made as the form would; each of
    them; and a sentence on those that were refused, empty where none was."""
    listed = [one[:LONGEST] for one in asked[:MOST] if isinstance(one, str)] if isinstance(asked, list) else []
    made, refused = [], []
    for one in listed:
        field, _, value = (part.strip() for part in one.partition("="))
        raw = yaml_edit.load(text)
        if _is_next_reward(raw, field) and value in offer.rewards:
            text = edits.apply(text, [edits.Edit(field, {"name": value, "weight": 1.0})])
            made.append(Change(f"Reward “{value}”", "", ADDED, f"{field}.name"))
            continue
        types = _types(raw, offer)
        removes = "=" in one and not value and "none" in types.get(field, ())  # as a prompt column, beside a template
        if field not in types or not (value or removes):
            refused.append(format.shorten(field or one, 80))
            continue
        before = _words_of(raw, field, offer)
        text = edits.apply(text, edits.read_edits([{"path": field, "typed": value}], types))
        if yaml_edit.load(text) != raw:
            after = _words_of(yaml_edit.load(text), field, offer) if _is_of_data(field) else value or NOT_THERE
            made.append(Change(_label(field, text), before, after, field))
    return text, made, _refusal(refused, offer)


def steps_from_model(text: str, changes: Sequence[Change], of_run: Path) -> list[Change]:
    """That the steps are made on top, where a change lets a run begin from a model that `of_run` trained: the setting
    is the same number as there, and nothing else says what it counts from. Not where stages or epochs say how many."""
    if not any(one.field == MODEL and Path(one.after).is_relative_to(of_run) for one in changes):
        return []
    raw = yaml_edit.load(text)
    steps = edits.value_at(raw or {}, STEPS)
    if not isinstance(steps, int) or steps <= 0 or edits.value_at(raw or {}, "stages") is not yaml_edit.ABSENT:
        return []
    return [Change(_label(STEPS, text), "", f"{steps:,} more, from this model", STEPS)]


def replace_data(text: str, asked: object, offer: Offer) -> tuple[str, list[Change]]:
    """The text with the data `asked` for, {setting: value}, and nothing of the data that was there before; each change.
    As it is where that says no source."""
    before = yaml_edit.load(text)
    if before is None or not isinstance(asked, dict) or not isinstance(asked.get("source"), str):
        return text, []
    known = {name: value for name, value in asked.items() if name in DataSpec.model_fields}
    made = edits.apply(text, [edits.Edit("data", known)])
    after = yaml_edit.load(made)
    paths = [f"data.{name}" for name in DataSpec.model_fields]
    pairs = [(path, *(_words_of(raw, path, offer) for raw in (before, after))) for path in paths]
    return made, [Change(field_labels.place_label(path), old, new, path) for path, old, new in pairs if old != new]


def with_fixed_function(text: str, changes: list[Change], name: str) -> list[Change]:
    """The changes with that of a reward function which the run failed by and which was saved anew since: named also
    where the settings take the newest version anyway."""
    places = form_rows.reward_places(yaml_edit.load(text))
    place = next((path for path, reward in places if reward.get("name") == name), "")
    label = f"Version of {format.shorten(name, 80)}"
    saved = [Change(label, "as it failed", "as it is saved now", f"{place}.name")] if place else []
    return [*saved, *(one for one in changes if one.label != label)]


def without_function(text: str, name: str) -> tuple[str, list[Change], str]:
    """The text without a reward function, in every stage; the changes; and why there is none, empty where there is."""
    gone = {path: one for path, one in form_rows.reward_places(yaml_edit.load(text)) if one.get("name") == name}
    short = format.shorten(name, 80)
    if not gone:
        return text, [], f"“{short}” is none of these rewards, so none was removed."
    before = field_values.field_text(next(iter(gone.values())).get("weight", 1.0)).removesuffix(".0")
    text = edits.apply(text, [edits.Edit(path, yaml_edit.ABSENT) for path in reversed(gone)])
    return text, [Change(f"Reward “{short}”", f"weight {before}", "removed")], ""


def _is_next_reward(raw: Any, field: str) -> bool:
    """Whether a field is the place after the last reward function, of the run or of a stage."""
    place, _, number = field.rpartition(".")
    listed = edits.value_at(raw or {}, place) if REWARDS.fullmatch(place) else None
    return isinstance(listed, list) and number == str(len(listed))


def _types(raw: Any, offer: Offer) -> dict[str, list[str]]:
    """What each field takes, those too that a stage has of its own."""
    types = form.types(offer) | form.reward_types(raw, offer)
    types |= {f"{path}.version": ["str"] for path, _ in form_rows.reward_places(raw)}
    own = {path: types[setting] for path, setting in form_rows.stage_settings(raw) if setting in types}
    return types | own


def _is_of_data(field: str) -> bool:
    return field.startswith("data.")


def _words_of(raw: dict[str, object] | None, field: str, offer: Offer) -> str:
    """What a setting is: of the data in the words of the form, which chooses most of that from lists; else as a person
    would type it. Its default where it is not said."""
    value = _value_of(raw, field, offer)
    if field == "data.source" and isinstance(value, str):
        return setting_words.source_words(value)
    if _is_of_data(field):
        return setting_words.compared_words(field, None if value in (yaml_edit.ABSENT, "") else value)
    return field_values.field_text(value) or NOT_THERE


def _value_of(raw: dict[str, object] | None, field: str, offer: Offer) -> Any:
    value = edits.value_at(raw, field) if raw is not None else yaml_edit.ABSENT
    if value is yaml_edit.ABSENT and field.startswith("training."):
        value = (offer.training or {}).get(field.removeprefix("training."), {}).get("default")
    elif value is yaml_edit.ABSENT:
        value = form.own_fields().get(field, {}).get("default")
    return value


def _label(field: str, text: str) -> str:
    """What a person calls a setting: Learning rate, Weight of format, KL weight in stage 2, Top p."""
    part, _, name = field.rpartition(".")
    stage, _, inner = field.removeprefix("stages.").partition(".")
    if field.startswith("stages.") and inner.startswith("training."):
        return f"{field_labels.own_label(inner)} in stage {int(stage) + 1}"
    plain = yaml_edit.load(text) or {}
    if part.endswith(".parameters"):
        return f"{name} of {format.shorten(str(edits.value_at(plain, part.removesuffix('parameters') + 'name')), 80)}"
    reward = edits.value_at(plain, part)
    if isinstance(reward, dict) and isinstance(reward.get("name"), str) and name == "version":
        return f"Version of {format.shorten(reward['name'], 80)}"
    if isinstance(reward, dict) and isinstance(reward.get("name"), str) and name in field_labels.REWARD:
        return f"{field_labels.REWARD[name][0]} of {format.shorten(reward['name'], 80)}"
    return field_labels.own_label(field)


def _refusal(refused: list[str], offer: Offer) -> str:
    if not refused:
        return ""
    why = "the worker has not listed the settings yet" if offer.training is None else "there is no such setting"
    return f"Not changed: {', '.join(f'“{one}”' for one in refused)}; {why}."
