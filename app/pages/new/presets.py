"""What a new run begins with: a preset that ships, one's own, or the settings of a run."""

import itertools
import re
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from groupwise.app.core import format, setting_words
from groupwise.app.core.end_reason import reason_of
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import edits, url_settings, yaml_edit
from groupwise.app.pages.new.changed_functions import ChangedFunction, changed_since
from groupwise.app.pages.new.url_settings import Change
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.checks import script_reader
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.hub_models import HUB_MODELS, HubModel
from groupwise.storage.library.presets import Preset, PresetExists
from groupwise.storage.record import run_files, states
from groupwise.storage.registry import registry
from groupwise.storage.spec.rows.file_format import no_file_words
from groupwise.storage.spec.shapes import shape_fault
from groupwise.storage.spec.spec import MOST_NAME, line_numbers
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml import yaml_text

SHIPPED = Path(__file__).with_name("shipped_presets")
QUICKSTART = "quickstart"
ABOUT_DATA = (QUICKSTART, "gsm8k", "small-gpu", "large-gpu")  # others speak of the method, on whatever data


@dataclass(frozen=True)
class Beginning:
    """What a new run begins with. `text`: the YAML. `origin`: where it is from, in a few words. `run`: the run whose
    settings they are, by id and name, and why it `failed`, with the file that it did not find (`lost`), if by that
    (None: of none); `name`: what the new one is called instead. `newer`: functions that have changed since that run.
    `changes` and `refused`: what the address changed of them, and sentences on what it could not. `missing`: a sentence
    where it asked for what is not there, and nothing of it was done. `other_data`: the text before other data took the
    place of its own, "" where none did; `data`: what that other data is called."""

    text: str
    origin: str
    run: dict[str, str] | None = None
    name: str = ""
    changes: tuple[Change, ...] = ()
    refused: str = ""
    missing: str = ""
    other_data: str = ""
    data: str = ""
    newer: tuple[ChangedFunction, ...] = ()

    def arrival(self, shown: Mapping[str, str]) -> dict[str, Any] | None:
        """What a person should be told on arrival; None where nothing was changed and they are of no run. `shown`: what
        each field shows then, by which a change is known that does not stand any more."""
        if not (self.run or self.changes or self.refused):
            return None
        changes = [asdict(change) | {"shown": shown.get(change.field, "")} for change in self.changes]
        newer = [asdict(one) for one in self.newer]
        about = {"run": self.run, "name": self.name, "changes": changes, "data": self.data}
        return {**about, "refused": self.refused, "newer": newer}


def begin(
    run_id: str,
    name: str,
    reward: str = "",
    settings: object = None,
    offer: Offer | None = None,
    *,
    as_is: bool = False,
    stage: int = 0,
    fixed: str = "",
    without: str = "",
    data: object = None,
) -> Beginning:
    """What to begin with. Where that is not there, it is said, and the quickstart is there with nothing changed.
    `reward`: a function that is to be among its rewards. `settings`: changes on top, “FIELD=VALUE” each. `as_is`: a
    run's name stays, too, as where its settings are to be a preset. `stage`: the first of the run's stages that is to
    be trained, where those before it are done (0: all of them). `fixed`: the reward function that a run failed by and
    that was saved anew since. `without`: one that it goes without. `data`: what its data is to be, all of it."""
    found, known = _find_beginning(run_id, name, as_is=as_is), offer or Offer()
    if found.missing:
        return found
    text, refused = found.text, [found.refused] if found.refused else []
    changes: list[Change] = []
    if (rest := from_stage(text, stage)) != text:
        text, changes = rest, [Change("Stages", "all", f"from stage {stage} on")]
    own_data = text
    text, of_data = url_settings.replace_data(text, data, known) if data else (text, [])
    changes += of_data
    if reward and (unknown := unknown_reward(reward, known)):
        refused.append(unknown)
    elif reward:
        before, text = text, with_reward(text, reward)
        place = f"rewards.{len((yaml_edit.load(text) or {}).get('rewards') or [0]) - 1}.name"
        changes += [Change(f"Reward “{reward}”", "", url_settings.ADDED, place)] if text != before else []
    if settings:
        text, more, not_made = url_settings.change(text, settings, known)
        changes += more
        refused += [not_made] if not_made else []
    if found.run:
        changes += url_settings.steps_from_model(text, changes, paths.run_folder(found.run["id"]).path)
    changes = url_settings.with_fixed_function(text, changes, fixed) if fixed else changes
    if without:  # last: settings name a function by its place
        text, more, not_made = url_settings.without_function(text, without)
        changes += more
        refused += [not_made] if not_made else []
    other_data = own_data if of_data else ""
    called = (
        setting_words.source_words(str(edits.value_at(yaml_edit.load(text) or {}, "data.source"))) if of_data else ""
    )
    changed = changed_since(run_id, text, known) if found.run else ()
    newer = tuple(one for one in changed if one.name != fixed)  # which is among the changes
    return replace(
        found, text=text, changes=tuple(changes), refused=" ".join(refused), other_data=other_data, data=called,
        newer=newer,
    )  # fmt: skip


def unknown_reward(name: str, offer: Offer) -> str:
    """Why a reward function cannot be added: a sentence; empty where there is one of this name."""
    if name in offer.rewards:
        return ""
    if offer.training is None:
        return f"“{name[:80]}” was not added: the worker has not listed the reward functions yet."
    return f"There is no reward function “{name[:80]}”, so none was added."


def from_stage(text: str, number: int) -> str:
    """A spec's text without the stages before this one; with the settings of the last in place of its only stage."""
    stages = (yaml_edit.load(text) or {}).get("stages")
    rest = stages[number - 1 :] if isinstance(stages, list) and number > 1 else []
    if len(rest) > 1:
        return edits.apply(text, [edits.Edit("stages", rest)])
    if not rest or not isinstance(rest[0], dict):
        return text
    own = rest[0].get("training")
    made = [edits.Edit(f"training.{name}", value) for name, value in (own if isinstance(own, dict) else {}).items()]
    made += [edits.Edit("rewards", rest[0]["rewards"])] if rest[0].get("rewards") else []
    return edits.apply(text, [*made, edits.Edit("stages", yaml_edit.ABSENT)])


def add_to_draft(text: str, name: str, offer: Offer) -> dict[str, Any]:
    """A draft's text with a function among its rewards: {text, words: what was done, or why not, done: whether it is
    among them now, stay: those that it was added to, unreadable: whether the text cannot be read}."""
    said = {"text": text, "done": False, "stay": [], "unreadable": yaml_edit.load(text) is None}
    if unknown := unknown_reward(name, offer):
        return {**said, "words": unknown}
    if said["unreadable"]:
        return {**said, "words": f"“{name}” was not added: the YAML of this draft cannot be read."}
    changed = with_reward(text, name)
    there = f"“{name}” is one of this draft’s rewards already."
    if changed == text:
        return {**said, "done": True, "words": there}
    words = f"“{name}” was added to this draft’s rewards, with weight 1."
    return {**said, "text": changed, "done": True, "stay": _reward_names(text), "words": words}


def _reward_names(text: str) -> list[str]:
    listed = (yaml_edit.load(text) or {}).get("rewards")
    entries = listed if isinstance(listed, list) else []
    names = (one.get("name") for one in entries if isinstance(one, dict))
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


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


def _find_beginning(run_id: str, name: str, *, as_is: bool) -> Beginning:
    """Where a run or a preset leads, with nothing changed but a run's name, and `as_is` not even that."""
    if run_id:
        text, why = _settings_of(run_id)
        said = ""
        if why and (script := _settings_in_script(run_id)):
            text, said = script, f"{why}. These settings were read from its train.py, which has the same."
        elif why:
            return _begin_without(why)
        begun = Beginning(text, f"The settings of {run_id}") if as_is else _begin_from_run(run_id, text)
        return replace(begun, refused=said)
    shipped = {preset.name: preset for preset in presets.shipped_presets(SHIPPED)}
    found = shipped.get(name or QUICKSTART)
    if found is None:
        return _begin_without(f"There is no preset “{format.shorten(name, 80)}”")
    return Beginning(found.text, f"Preset: {found.title}")


def _settings_of(run_id: str) -> tuple[str, str]:
    """The YAML of a run, and why there is none."""
    none = f"There is no run “{format.shorten(run_id, 80)}”"
    try:
        folder = paths.run_folder(run_id)
        if not folder.path.is_dir():
            return "", none
        text = run_files.spec_text(folder)
    except FileNotFoundError:
        return "", f"The folder of “{run_id}” has no spec.yaml"
    except UnicodeDecodeError:
        return "", f"The spec.yaml of “{run_id}” cannot be read: it is not text in UTF-8"
    except OSError as error:
        return "", f"The spec.yaml of “{run_id}” cannot be read ({error.strerror or error})"
    except ValueError:
        return "", none
    settings = yaml_edit.load(text)
    if settings is None:
        return "", f"The spec.yaml of “{run_id}” cannot be read: it is not YAML"
    fault = shape_fault(settings, line_numbers(text))
    return (text, "") if not fault else ("", f"The spec.yaml of “{run_id}” is damaged ({fault})")


def _settings_in_script(run_id: str) -> str:
    """The YAML of a run as the plain script in its folder has it; "" where there is none that can be read."""
    try:
        found = script_reader.read_script(run_files.script_text(paths.run_folder(run_id)))
    except (OSError, ValueError, SpecError):
        return ""
    return yaml_text.dump(found.raw)


def _begin_without(why: str) -> Beginning:
    """The quickstart as it is, where what was asked for is not there."""
    return Beginning(quickstart_text(), "Preset: Quickstart", missing=f"{why}. Nothing was taken from it or changed.")


def _begin_from_run(run_id: str, text: str) -> Beginning:
    """A run's settings under a name of the new run's own: two of one name are mistaken for each other."""
    taken: set[str] = set()
    try:
        run = registry.get_run(run_id)
        taken = registry.run_names()
    except sqlite3.Error:
        run = None
    written = (yaml_edit.load(text) or {}).get("name")
    before = run.name if run else written if isinstance(written, str) and written else run_id
    name = next_name(before, taken)
    failed, lost = _why_failed(run, text) if run and run.state == states.FAILED else ("", "")
    about = {"id": run_id, "name": format.shorten(before, 80), "failed": visible_text(failed), "lost": lost}
    renamed = edits.apply(text, [edits.Edit("name", name)])
    return Beginning(renamed, f"From run “{about['name']}”", about, name)


def _why_failed(run: registry.Run, text: str) -> tuple[str, str]:
    """Why a run failed, and the `data.source` that it did not find, where it was that: two times "" once it is there.
    `text`: its settings."""
    source = edits.value_at(yaml_edit.load(text) or {}, "data.source")
    kind, _, name = source.partition(":") if isinstance(source, str) else ("", "", "")
    if kind != "file" or no_file_words(name) not in run.sentence:
        return reason_of(run), ""
    try:
        is_there = paths.data_file(name).is_file()
    except (OSError, ValueError):
        is_there = False
    return ("", "") if is_there else (reason_of(run), f"file:{name}")


def next_name(name: str, taken: Collection[str]) -> str:
    """A name like this one that no run has, counted on from it: arithmetic-2 after arithmetic, two words-3 after two
    words-2, run-2024-2 after run-2024. A lower number may be free, of a run that was renamed: it says “before”."""
    base, number = _split_count(name, taken)
    endings = (f"-{number}" for number in itertools.count(number + 1))
    names = (f"{base[: MOST_NAME - len(ending)]}{ending}" for ending in endings)
    return next(new for new in names if new not in taken)


def _split_count(name: str, taken: Collection[str]) -> tuple[str, int]:
    """A name without the number that `next_name` put after it (or, behind a space, a person), and that number, 1 where
    there is none. Any other number at its end is part of what it says, as in lr-1e-5: a number of ours follows the name
    of a run, and is no higher than there are runs."""
    found = re.fullmatch(r"(.+)[- ]([2-9]|[1-9]\d{1,3})", name, re.S)
    base, number = found.groups() if found else (name, "0")
    return (base, int(number)) if found and base in taken and int(number) <= len(taken) + 1 else (name, 1)


def quickstart_text() -> str:
    """The quickstart's YAML, from its file: there also while the registry is not."""
    return (SHIPPED / f"{QUICKSTART}.yaml").read_text(encoding="utf-8")


def data_comments() -> list[str]:
    """The comments on top of shipped presets that speak of their own data."""
    texts = [(SHIPPED / f"{name}.yaml").read_text(encoding="utf-8") for name in ABOUT_DATA]
    return ["".join(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines(True))) for text in texts]


def preset_text(name: str) -> str:
    """A preset's YAML. Raises PresetError for a name there is none of."""
    return presets.get_preset(name, SHIPPED).text


def list_presets(*, own: bool = True) -> list[dict[str, Any]]:
    """Every preset for the page: one's own, then those that ship."""
    return [
        {"name": preset.name, "title": preset.title, "sentence": _describe_preset(preset), "own": preset.own}
        for preset in (presets.all_presets(SHIPPED) if own else presets.shipped_presets(SHIPPED))
    ]


def _describe_preset(preset: Preset) -> str:
    """Its sentence; of one that ships also which model it brings, where that is downloaded."""
    model = None if preset.own else _hub_model_in(preset.text)
    return f"{preset.sentence} Model: {model.id}, {model.download_words}." if model else preset.sentence


@lru_cache(maxsize=32)
def _hub_model_in(text: str) -> HubModel | None:
    wanted = (yaml_edit.load(text) or {}).get("model", {}).get("id")
    return next((model for model in HUB_MODELS if model.id == wanted), None)


def store_preset(name: str, sentence: str, text: str, *, replace: bool) -> dict[str, Any]:
    """Save a text as one's own preset; all presets then. `taken`: one of this name is there, and stays."""
    try:
        presets.save_preset(name, sentence, text, SHIPPED, replace=replace)
    except PresetExists as error:
        return {"taken": True, "sentence": f"{error} Save again to replace it."}
    except SpecError as error:
        raise Unanswerable(f"Only a valid spec can be saved as a preset: {error.problems[0]}") from error
    return {"presets": list_presets()}


def remove_preset(name: str) -> dict[str, Any]:
    """Delete one of one's own; all presets then."""
    presets.delete_preset(name)
    return {"presets": list_presets()}
