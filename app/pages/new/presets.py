"""What a new run begins with: a preset that ships, one's own, or the settings of a run."""

import sqlite3
from pathlib import Path
from typing import Any

from groupwise.app.core import format
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import edits, url_settings, yaml_edit
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.presets import PresetExists
from groupwise.storage.record import run_files
from groupwise.storage.registry import registry
from groupwise.storage.spec.problem import SpecError

SHIPPED = Path(__file__).with_name("shipped_presets")
QUICKSTART = "quickstart"


def begin(
    run_id: str, name: str, reward: str = "", settings: object = None, offer: Offer | None = None
) -> tuple[str, str]:
    """The YAML to begin with and a sentence on where it is from. What cannot be opened is said; the quickstart is
    there. `reward`: a function that is to be among its rewards. `settings`: changes on top, “FIELD=VALUE” each."""
    text, origin, more = _find_beginning(run_id, name)
    with_what = [f"with the reward {reward}"] if reward else []
    if reward:
        text = with_reward(text, reward)
    if settings:
        text, said = url_settings.change(text, settings, offer or Offer())
        with_what += [said] if said else []
    said = ", ".join([origin, *with_what])
    return text, said if more is None and not with_what else f"{said}. {more or ''}".strip()


def with_reward(text: str, name: str) -> str:
    """A spec's text in which a function is one of the rewards; every other line stays as it is."""
    raw = yaml_edit.load(text)
    listed = raw.get("rewards") if raw is not None else None
    rewards = listed if isinstance(listed, list) else []
    if any(isinstance(reward, dict) and reward.get("name") == name for reward in rewards):
        return text
    place = f"rewards.{len(rewards)}" if rewards else "rewards"
    reward = {"name": name, "weight": 1.0}
    return edits.apply(text, [edits.Edit(place, reward if rewards else [reward])])


def _find_beginning(run_id: str, name: str) -> tuple[str, str, str | None]:
    """The YAML; where it is from, without a full stop; and what else there is to say (None: it is no sentence)."""
    if run_id:
        try:
            text = run_files.spec_text(paths.run_folder(run_id))
            return text, f"The settings of {_run_label(run_id)}", "Change what you like; that run stays as it is."
        except (OSError, ValueError):
            missing = f"There is no run “{run_id[:80]}” to take settings from. This is the quickstart"
            return quickstart_text(), missing, ""
    shipped = {preset.name: preset for preset in presets.shipped_presets(SHIPPED)}
    found = shipped.get(name or QUICKSTART)
    if found is None:
        return quickstart_text(), f"There is no preset “{name[:80]}”. This is the quickstart", ""
    return found.text, f"Preset: {found.title}", None


def _run_label(run_id: str) -> str:
    """A run by its name, and its id, as several may have the same name; by its id while the registry is unreadable."""
    try:
        run = registry.get_run(run_id)
    except sqlite3.Error:
        run = None
    return f"“{format.shorten(run.name, 80)}” ({run_id})" if run else run_id


def quickstart_text() -> str:
    """The quickstart's YAML, from its file: there also while the registry is not."""
    return (SHIPPED / f"{QUICKSTART}.yaml").read_text(encoding="utf-8")


def preset_text(name: str) -> str:
    """A preset's YAML. Raises PresetError for a name there is none of."""
    return presets.get_preset(name, SHIPPED).text


def list_presets(*, own: bool = True) -> list[dict[str, Any]]:
    """Every preset for the page: one's own, then those that ship."""
    return [
        {"name": preset.name, "title": preset.title, "sentence": preset.sentence, "own": preset.own}
        for preset in (presets.all_presets(SHIPPED) if own else presets.shipped_presets(SHIPPED))
    ]


def store_preset(name: str, sentence: str, text: str, *, replace: bool) -> dict[str, Any]:
    """Save a text as one's own preset; all presets then. `taken`: one of this name is there, and stays."""
    try:
        presets.save_preset(name, sentence, text, SHIPPED, replace=replace)
    except PresetExists as error:
        return {"taken": True, "sentence": f"{error} Save again to replace it."}
    except SpecError as error:
        raise Unanswerable(f"Only what is a spec can be kept as one: {error.problems[0]}") from error
    return {"presets": list_presets()}


def remove_preset(name: str) -> dict[str, Any]:
    """Delete one of one's own; all presets then."""
    presets.delete_preset(name)
    return {"presets": list_presets()}
